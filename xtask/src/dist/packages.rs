//! Packages of a program that was built: a tarball with its installer, a Python wheel, two packages
//! of npm, one of Debian, and the checksums of all. The same program and time give the same bytes.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{debian_package, licences};
use crate::node;
use crate::process;
use crate::unpacked::{self, Shed};
use crate::workspace;

/// The version of everything: the workspace's.
pub(super) const VERSION: &str = env!("CARGO_PKG_VERSION");

const INSTALLER: &str = include_str!("../../dist/install.sh");
const SHIM: &str = include_str!("../../dist/recoup.js");
/// Documents that go into every package.
const DOCUMENTS: [&str; 6] =
    ["README.md", "CHANGELOG.md", "LICENSE", "LICENSE-APACHE", "LICENSE-MIT", "NOTICE"];
/// Shells, and the files of their completions below `share`.
pub(super) const COMPLETIONS: [(&str, &str); 3] = [
    ("bash", "bash-completion/completions/recoup"),
    ("zsh", "zsh/site-functions/_recoup"),
    ("fish", "fish/vendor_completions.d/recoup.fish"),
];

/// The names of one processor.
pub(super) struct Processor {
    /// As `uname -m` and Rust name it.
    pub(super) machine: &'static str,
    node: &'static str,
    pub(super) debian: &'static str,
}

const PROCESSORS: [Processor; 2] = [
    Processor { machine: "x86_64", node: "x64", debian: "amd64" },
    Processor { machine: "aarch64", node: "arm64", debian: "arm64" },
];

/// Packages in a folder of their own.
pub(super) struct PackageSet {
    pub(super) folder: PathBuf,
    pub(super) processor: &'static Processor,
    /// Seconds since 1970 that archives say.
    pub(super) time: String,
    /// Compression, from 1 to 9.
    pub(super) level: &'static str,
}

impl PackageSet {
    /// Makes all packages of `program`, in place of those that were in `folder`.
    pub(super) fn make(program: &Path, folder: &Path, level: &'static str) -> Result<Self, String> {
        let processor = PROCESSORS
            .iter()
            .find(|it| cfg!(target_os = "linux") && it.machine == env::consts::ARCH)
            .ok_or("packages are made on Linux, for x86-64 and arm64; this is another platform")?;
        let set = Self { folder: folder.to_owned(), processor, time: source_time(), level };
        if folder.exists() {
            fs::remove_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        }
        let work = folder.join("work");
        let tree = work.join(set.name());
        lay_out(program, &tree)?;
        set.archive(&set.tarball(), &work, &set.name())?;
        let installer =
            INSTALLER.replace("@VERSION@", VERSION).replace("@MACHINE@", processor.machine);
        write(&folder.join("install.sh"), &installer)?;
        set.make_wheel(&tree)?;
        set.make_npm_packages(&tree, &work)?;
        debian_package::make(&set, &tree, &work.join("debian"))?;
        fs::remove_dir_all(&work).map_err(|error| format!("{}: {error}", work.display()))?;
        set.write_checksums()?;
        Ok(set)
    }

    /// The name of the tarball, without its extension, and of the directory in it.
    pub(super) fn name(&self) -> String {
        format!("recoup-{VERSION}-linux-{}", self.processor.machine)
    }

    pub(super) fn tarball(&self) -> PathBuf {
        self.folder.join(format!("{}.tar.gz", self.name()))
    }

    pub(super) fn wheel(&self) -> PathBuf {
        self.folder.join(format!("recoup-{VERSION}-{}.whl", self.wheel_tags()))
    }

    /// A static program needs no C library, so it suits those with glibc and with musl.
    fn wheel_tags(&self) -> String {
        let machine = self.processor.machine;
        format!("py3-none-manylinux_2_17_{machine}.manylinux2014_{machine}.musllinux_1_1_{machine}")
    }

    /// The main package of npm, and the one with the program.
    pub(super) fn npm_names(&self) -> [String; 2] {
        ["recoup".to_owned(), format!("recoup-linux-{}", self.processor.node)]
    }

    pub(super) fn npm_archive(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}-{VERSION}.tgz"))
    }

    pub(super) fn debian_package(&self) -> PathBuf {
        self.folder.join(format!("recoup_{VERSION}_{}.deb", self.processor.debian))
    }

    fn make_wheel(&self, tree: &Path) -> Result<(), String> {
        let python = node::python(&Shed::open(&workspace::tools_dir())?)?;
        let mut command = Command::new(python);
        command
            .arg(workspace::root().join("xtask/dist/wheel.py"))
            .arg(tree.join("bin/recoup"))
            .arg(tree.join("share/doc/recoup"))
            .arg(&self.folder)
            .args([VERSION, &self.wheel_tags(), &description()?, &self.time, self.level]);
        process::capture(&mut command).map(drop)
    }

    fn make_npm_packages(&self, tree: &Path, work: &Path) -> Result<(), String> {
        let [main, native] = self.npm_names();
        let common = format!(
            r#""version": "{VERSION}",
  "description": "{}",
  "license": "MIT OR Apache-2.0""#,
            description()?
        );
        let main_manifest = format!(
            r#"{{
  "name": "{main}",
  {common},
  "bin": {{ "recoup": "recoup.js" }},
  "engines": {{ "node": ">=14.18" }},
  "optionalDependencies": {{ "{native}": "{VERSION}" }}
}}
"#
        );
        let native_manifest = format!(
            r#"{{
  "name": "{native}",
  {common},
  "os": ["linux"],
  "cpu": ["{cpu}"],
  "preferUnplugged": true
}}
"#,
            cpu = self.processor.node
        );
        let documents = tree.join("share/doc/recoup");
        for (name, manifest) in [(&main, main_manifest), (&native, native_manifest)] {
            let folder = work.join(name).join("package");
            write(&folder.join("package.json"), &manifest)?;
            for document in unpacked::entries(&documents).map_err(|error| error.to_string())? {
                let name = document.file_name().unwrap_or_default();
                copy_file(&document, &folder.join(name))?;
            }
            if *name == main {
                write(&folder.join("recoup.js"), SHIM)?;
            } else {
                copy_file(&tree.join("bin/recoup"), &folder.join("bin/recoup"))?;
            }
            self.archive(&self.npm_archive(name), &work.join(name), "package")?;
        }
        Ok(())
    }

    /// Packs `entry` of `folder`, whatever the modes and owners of this machine are.
    fn archive(&self, archive: &Path, folder: &Path, entry: &str) -> Result<(), String> {
        let mut tar = Command::new("tar");
        tar.args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--format=ustar"])
            .args(["--mode=u+rw,go+rX,go-w".to_owned(), format!("--mtime=@{}", self.time)])
            .arg(format!("--use-compress-program=gzip -n{}", self.level))
            .arg("-cf")
            .arg(archive)
            .arg("-C")
            .arg(folder)
            .arg(entry);
        process::capture(&mut tar).map(drop)
    }

    fn write_checksums(&self) -> Result<(), String> {
        let files = unpacked::entries(&self.folder).map_err(|error| error.to_string())?;
        let names = files.iter().filter_map(|file| file.file_name());
        let mut command = Command::new("sha256sum");
        let sums = process::capture(command.args(names).current_dir(&self.folder))?;
        write(&self.folder.join("SHA256SUMS"), &sums)
    }
}

/// The description in the program's manifest.
pub(super) fn description() -> Result<String, String> {
    let manifest = read(&workspace::root().join("crates/recoup/Cargo.toml"))?;
    let line = manifest.lines().find_map(|line| line.strip_prefix("description = \""));
    let text = line.and_then(|line| line.strip_suffix('"'));
    text.map(str::to_owned).ok_or_else(|| "crates/recoup/Cargo.toml has no description".to_owned())
}

/// The time of the last commit, unless the environment says another, as for all reproducible
/// builds.
fn source_time() -> String {
    let is_number =
        |text: &String| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let of_commit = || {
        let mut git = Command::new("git");
        git.args(["log", "-1", "--format=%ct"]).current_dir(workspace::root());
        process::capture(&mut git).ok().map(|time| time.trim().to_owned())
    };
    let given = env::var("SOURCE_DATE_EPOCH").ok();
    given.or_else(of_commit).filter(is_number).unwrap_or_else(|| "0".to_owned())
}

pub(super) fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

pub(super) fn create_dir(path: &Path) -> Result<(), String> {
    fs::create_dir_all(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// Writes a file, and the folders above it.
pub(super) fn write(path: &Path, text: &str) -> Result<(), String> {
    path.parent().map_or(Ok(()), create_dir)?;
    fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

/// Copies a file with its mode, and makes the folders above the copy.
pub(super) fn copy_file(from: &Path, to: &Path) -> Result<(), String> {
    to.parent().map_or(Ok(()), create_dir)?;
    fs::copy(from, to).map(drop).map_err(|error| format!("{}: {error}", from.display()))
}

/// The files of the tarball: the program, and what it says of itself.
fn lay_out(program: &Path, tree: &Path) -> Result<(), String> {
    let copy = tree.join("bin/recoup");
    copy_file(program, &copy)?;
    // Debug builds have more in them than anybody installs.
    process::capture(Command::new("strip").arg(&copy))?;
    let share = tree.join("share");
    for (shell, file) in COMPLETIONS {
        let script = process::capture(Command::new(&copy).args(["completions", shell]))?;
        write(&share.join(file), &script)?;
    }
    let pages = share.join("man/man1");
    create_dir(&pages)?;
    process::capture(Command::new(&copy).args(["man", "--dir"]).arg(&pages))?;
    let documents = share.join("doc/recoup");
    for name in DOCUMENTS {
        copy_file(&workspace::root().join(name), &documents.join(name))?;
    }
    write(&documents.join(licences::FILE), &licences::collect()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cargo_binstall_finds_the_tarball_and_the_program_in_it() {
        let manifest = read(&workspace::root().join("crates/recoup/Cargo.toml")).unwrap();
        let expanded = |key: &str| {
            let start = format!("{key} = \"");
            let line = manifest.lines().find_map(|line| line.strip_prefix(&start)).unwrap();
            [
                ("name", "recoup"),
                ("bin", "recoup"),
                ("version", VERSION),
                ("target-family", "linux"),
                ("target-arch", "x86_64"),
            ]
            .iter()
            .fold(line.trim_end_matches('"').to_owned(), |text, (variable, value)| {
                text.replace(&format!("{{ {variable} }}"), value)
            })
        };
        let processor = &PROCESSORS[0];
        let set = PackageSet { folder: "/x".into(), processor, time: "0".into(), level: "1" };
        let tarball = set.tarball().display().to_string().replace("/x/", "/");
        assert!(expanded("pkg-url").ends_with(&tarball), "{}", expanded("pkg-url"));
        assert_eq!(expanded("bin-dir"), format!("{}/bin/recoup", set.name()));
    }

    #[test]
    fn every_package_has_the_program_s_own_version() {
        let lock = read(&workspace::root().join("Cargo.lock")).unwrap();
        for name in ["recoup", "recoup-core", "xtask"] {
            let entry = format!("name = \"{name}\"\nversion = \"{VERSION}\"\n");
            assert!(lock.contains(&entry), "{name}");
        }
    }
}
