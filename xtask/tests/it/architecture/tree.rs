//! The packages as they lie on disk: their top-level modules, and every source
//! file with its place in the module tree.

use std::collections::BTreeSet;
use std::path::Path;

use crate::files;

/// The packages that have levels.
pub(super) const PACKAGES: [&str; 2] = ["recoup-core", "recoup"];

pub(super) struct Package {
    pub(super) name: &'static str,
    /// Its name in code.
    pub(super) crate_name: String,
    /// The modules directly in `src`.
    pub(super) modules: BTreeSet<String>,
    /// Every file but `lib.rs` and `main.rs`.
    pub(super) sources: Vec<Source>,
    /// `lib.rs`, for its re-exports.
    pub(super) root: Option<Source>,
}

pub(super) struct Source {
    /// The file, from the workspace's root.
    pub(super) label: String,
    /// Where it is in the module tree: `store/sqlite.rs` is `store`, `sqlite`.
    pub(super) module: Vec<String>,
    pub(super) syntax: syn::File,
}

impl Package {
    pub(super) fn read(root: &Path, name: &'static str) -> Result<Self, String> {
        let folder = root.join("crates").join(name).join("src");
        let (roots, sources): (Vec<_>, Vec<_>) = files::rust_files(&folder)
            .iter()
            .map(|file| Source::read(root, &folder, file))
            .collect::<Result<Vec<_>, _>>()?
            .into_iter()
            .partition(|source| source.module.is_empty());
        Ok(Self {
            name,
            crate_name: name.replace('-', "_"),
            modules: sources.iter().filter_map(|source| source.module.first().cloned()).collect(),
            sources,
            root: roots.into_iter().find(|source| source.label.ends_with("lib.rs")),
        })
    }
}

impl Source {
    fn read(root: &Path, folder: &Path, file: &Path) -> Result<Self, String> {
        let label = files::label(root, file);
        let syntax =
            syn::parse_file(&files::read(file)).map_err(|error| format!("{label}: {error}"))?;
        let inside = file.strip_prefix(folder).unwrap_or(file).with_extension("");
        let mut module: Vec<_> =
            inside.iter().map(|part| part.to_string_lossy().into_owned()).collect();
        let is_root = matches!(&*module, [only] if only == "lib" || only == "main");
        if is_root || module.last().is_some_and(|last| last == "mod") {
            module.pop();
        }
        Ok(Self { label, module, syntax })
    }
}
