//! Every path in a source file that may lead to another module: `use` trees,
//! paths in expressions, types and attributes, and what macros are given.

use proc_macro2::{Ident, TokenStream};
use syn::visit::{self, Visit};
use syn::{Attribute, File, ItemMod, ItemUse, Path, UseTree};

use super::tokens;

/// A path, where it is written.
pub(super) struct Import {
    pub(super) line: usize,
    /// The module around it, with those that are written inline.
    pub(super) from: Vec<String>,
    pub(super) path: Vec<String>,
    /// The name that a `use` gives it here; a glob gives none.
    pub(super) name: Option<String>,
    pub(super) is_use: bool,
}

/// All paths in `file`, which is `module`.
pub(super) fn read(file: &File, module: &[String]) -> Vec<Import> {
    let mut reader = Reader { from: module.to_vec(), in_attribute: false, found: Vec::new() };
    reader.visit_file(file);
    reader.found
}

pub(super) struct Reader {
    from: Vec<String>,
    in_attribute: bool,
    found: Vec<Import>,
}

impl Reader {
    pub(super) fn add_path(&mut self, line: usize, path: Vec<String>) {
        let from = self.from.clone();
        self.found.push(Import { line, from, path, name: None, is_use: false });
    }

    /// Adds every leaf of a `use` tree that hangs below `prefix`.
    pub(super) fn add_use(&mut self, tree: &UseTree, prefix: &[String]) {
        match tree {
            UseTree::Path(path) => self.add_use(&path.tree, &joined(prefix, &path.ident)),
            UseTree::Name(leaf) => self.add_leaf(&leaf.ident, prefix, None),
            UseTree::Rename(leaf) => self.add_leaf(&leaf.ident, prefix, Some(&leaf.rename)),
            UseTree::Glob(glob) => self.add_glob(glob.star_token.span.start().line, prefix),
            UseTree::Group(group) => {
                group.items.iter().for_each(|tree| self.add_use(tree, prefix));
            }
        }
    }

    pub(super) fn add_glob(&mut self, line: usize, prefix: &[String]) {
        let (from, path) = (self.from.clone(), prefix.to_vec());
        self.found.push(Import { line, from, path, name: None, is_use: true });
    }

    fn add_leaf(&mut self, ident: &Ident, prefix: &[String], rename: Option<&Ident>) {
        let mut path = joined(prefix, ident);
        // `use a::b::{self}` is `use a::b`; but a lone `self` is a place.
        if path.len() > 1 && ident == "self" {
            path.pop();
        }
        let name = rename.map(Ident::to_string).or_else(|| path.last().cloned());
        let (line, from) = (ident.span().start().line, self.from.clone());
        self.found.push(Import { line, from, path, name, is_use: true });
    }
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_item_mod(&mut self, module: &'ast ItemMod) {
        self.from.push(module.ident.to_string());
        visit::visit_item_mod(self, module);
        self.from.pop();
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        self.add_use(&item.tree, &[]);
    }

    fn visit_path(&mut self, path: &'ast Path) {
        let names = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        let line = path.segments.first().map_or(0, |first| first.ident.span().start().line);
        self.add_path(line, names);
        visit::visit_path(self, path);
    }

    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        // What a comment mentions is not used.
        if attribute.path().is_ident("doc") {
            return;
        }
        self.in_attribute = true;
        visit::visit_attribute(self, attribute);
        self.in_attribute = false;
    }

    fn visit_token_stream(&mut self, stream: &'ast TokenStream) {
        // `#[serde(with = "crate::base::clock")]`: a path in a string is a path
        // in an attribute, and only there.
        tokens::scan(self, stream.clone(), self.in_attribute);
    }
}

fn joined(prefix: &[String], ident: &Ident) -> Vec<String> {
    prefix.iter().cloned().chain([ident.to_string()]).collect()
}
