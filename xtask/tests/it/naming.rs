//! House rules on names and doc comments: a type's name tells it from its neighbours, and a doc
//! comment makes sense alone on a page.

use std::collections::BTreeMap;
use std::path::Path;

use syn::visit::{self, Visit};

use crate::files;

/// Words that begin a clause, not a description.
const NOT_FIRST: [&str; 9] =
    ["What", "Whether", "Where", "Who", "Whoever", "Whose", "Those", "The same", "It"];

/// How many types of a package may share a name.
const SHARED: usize = 2;

#[test]
fn a_type_name_is_used_at_most_twice_in_a_package() {
    let mut problems = Vec::new();
    for (package, types) in packages() {
        for (name, places) in by_name(&types, |_| true) {
            if places.len() > SHARED {
                problems.push(format!(
                    "{package}: {name} × {}: {}",
                    places.len(),
                    places.join(", ")
                ));
            }
        }
    }
    assert!(problems.is_empty(), "give each its own name:\n{}\n", problems.join("\n"));
}

#[test]
fn no_two_public_types_of_a_package_share_a_name() {
    let mut problems = Vec::new();
    for (package, types) in packages() {
        for (name, places) in by_name(&types, |found| found.is_public) {
            if places.len() > 1 {
                problems.push(format!("{package}: {name}: {}", places.join(", ")));
            }
        }
    }
    assert!(problems.is_empty(), "give each its own name:\n{}\n", problems.join("\n"));
}

#[test]
fn doc_comments_begin_with_a_noun_or_a_verb() {
    let root = files::workspace();
    let mut problems = Vec::new();
    for file in sources(&root) {
        let mut in_comment = false;
        for (number, line) in files::read(&file).lines().enumerate() {
            let text = doc_text(line);
            if let Some(text) = text
                && !in_comment
                && let Some(word) = NOT_FIRST.iter().find(|word| begins_with(text, word))
            {
                let place = files::label(&root, &file);
                problems.push(format!("{place}:{}: begins with {word:?}", number + 1));
            }
            in_comment = text.is_some();
        }
    }
    assert!(
        problems.is_empty(),
        "say what the thing is (\"The …\", \"Returns …\", \"True if …\"):\n{}\n",
        problems.join("\n")
    );
}

/// The text of a doc comment's line.
fn doc_text(line: &str) -> Option<&str> {
    let line = line.trim_start();
    line.strip_prefix("///").or_else(|| line.strip_prefix("//!")).map(str::trim_start)
}

fn begins_with(text: &str, word: &str) -> bool {
    text.strip_prefix(word).is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric()))
}

struct TypeDefinition {
    name: String,
    is_public: bool,
    place: String,
}

/// Every type that a package defines outside of tests.
fn packages() -> Vec<(String, Vec<TypeDefinition>)> {
    let root = files::workspace();
    let folders = files::entries(&root.join("crates"));
    let read = |folder: &Path| {
        let mut found = TypeFinder::default();
        for file in files::rust_files(&folder.join("src")) {
            let text = files::read(&file);
            let syntax = syn::parse_file(&text)
                .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
            found.file = files::label(&root, &file);
            found.visit_file(&syntax);
        }
        (files::label(&root, folder), found.types)
    };
    folders.iter().map(|folder| read(folder)).collect()
}

fn sources(root: &Path) -> Vec<std::path::PathBuf> {
    let folders = files::entries(&root.join("crates"));
    folders.iter().flat_map(|folder| files::rust_files(&folder.join("src"))).collect()
}

fn by_name(
    types: &[TypeDefinition],
    counts: impl Fn(&TypeDefinition) -> bool,
) -> BTreeMap<&str, Vec<String>> {
    let mut names: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for found in types.iter().filter(|found| counts(found)) {
        names.entry(&found.name).or_default().push(found.place.clone());
    }
    names
}

#[derive(Default)]
struct TypeFinder {
    file: String,
    types: Vec<TypeDefinition>,
}

impl TypeFinder {
    fn add(&mut self, name: &proc_macro2::Ident, visibility: &syn::Visibility) {
        self.types.push(TypeDefinition {
            name: name.to_string(),
            is_public: matches!(visibility, syn::Visibility::Public(_)),
            place: format!("{}:{}", self.file, name.span().start().line),
        });
    }
}

impl<'ast> Visit<'ast> for TypeFinder {
    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.add(&item.ident, &item.vis);
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        self.add(&item.ident, &item.vis);
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        self.add(&item.ident, &item.vis);
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if item.ident != "tests" {
            visit::visit_item_mod(self, item);
        }
    }
}
