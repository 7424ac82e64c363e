//! From a path as it is written to the top-level module that it leads to:
//! through `crate`, `self` and `super`, from one package to the other, and
//! through what `lib.rs` re-exports.

use std::path::Path;

use super::imports::{self, Import};
use super::tree::{PACKAGES, Package};

/// A re-export of a re-export is fine; a circle must end somewhere.
const MOST_HOPS: usize = 8;

/// Where a path leads.
pub(super) enum Home<'a> {
    Module {
        package: &'static str,
        module: &'a str,
    },
    /// A crate's root itself.
    Root,
    /// Something in a crate's root that is neither a module nor a re-export.
    Unknown,
}

/// A path from a package's root.
struct Place<'a> {
    package: &'a Package,
    path: Vec<String>,
}

pub(super) struct Packages(Vec<Package>);

impl Packages {
    pub(super) fn read(root: &Path) -> Result<Self, String> {
        PACKAGES.iter().map(|name| Package::read(root, name)).collect::<Result<_, _>>().map(Self)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Package> {
        self.0.iter()
    }

    /// Where `import`, written in `package`, leads; `None` is outside: another
    /// crate, or a name that is already in scope.
    pub(super) fn home<'a>(&'a self, package: &'a Package, import: &Import) -> Option<Home<'a>> {
        let mut place = self.place(package, import)?;
        for _ in 0..MOST_HOPS {
            let Some(first) = place.path.first() else { return Some(Home::Root) };
            if let Some(module) = place.package.modules.get(first) {
                return Some(Home::Module { package: place.package.name, module });
            }
            let Some(export) = export(place.package, first) else { return Some(Home::Unknown) };
            place = self.place(place.package, &export)?;
        }
        Some(Home::Unknown)
    }

    /// The path of `import` from the root of `package`, if it stays in there.
    pub(super) fn path_within(&self, package: &Package, import: &Import) -> Option<Vec<String>> {
        let place = self.place(package, import)?;
        (place.package.name == package.name).then_some(place.path)
    }

    fn place<'a>(&'a self, package: &'a Package, import: &Import) -> Option<Place<'a>> {
        let Import { from, path, .. } = import;
        let (head, rest) = path.split_first()?;
        if head == "crate" {
            return Some(Place { package, path: rest.to_vec() });
        }
        if head == "self" || head == "super" {
            return Some(Place { package, path: climb(from, path)? });
        }
        if let Some(package) = self.iter().find(|package| package.crate_name == *head) {
            return Some(Place { package, path: rest.to_vec() });
        }
        // In lib.rs a module's bare name is a path from the root.
        let in_root = from.is_empty() && package.modules.contains(head);
        in_root.then(|| Place { package, path: path.clone() })
    }
}

/// Follows `self` and `super` from the module `from`.
fn climb(from: &[String], path: &[String]) -> Option<Vec<String>> {
    let mut place = from.to_vec();
    let mut rest = path;
    while let [step, after @ ..] = rest {
        match step.as_str() {
            "self" => {}
            "super" => drop(place.pop()?),
            _ => break,
        }
        rest = after;
    }
    place.extend_from_slice(rest);
    Some(place)
}

/// The `use` in lib.rs that gives the root the name `name`. A private one
/// counts too: the modules below can see it.
fn export(package: &Package, name: &str) -> Option<Import> {
    let root = package.root.as_ref()?;
    imports::read(&root.syntax, &[])
        .into_iter()
        .find(|import| import.from.is_empty() && import.name.as_deref() == Some(name))
}
