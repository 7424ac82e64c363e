//! The Debian package: the tarball's files where Debian has them, and what its policy asks for.

use std::env;
use std::path::Path;
use std::process::Command;

use super::licences;
use super::packages::{COMPLETIONS, PackageSet, VERSION, copy_file, read, write};
use crate::process;
use crate::unpacked;

const COPYRIGHT: &str = include_str!("../../dist/copyright");
const OVERRIDES: &str = "\
# One static file starts fastest, and runs on every release.
recoup: statically-linked-binary [usr/bin/recoup]
# SQLite, zlib and zstd are part of it for the same reason.
recoup: embedded-library *
";
const SUMMARY: &str = "durable cache and memory for AI agents";
const LONG: &str =
    " Recoup keeps what agents, tools and commands returned, and gives it back for as
 long as the files behind it stay the same. It also keeps what you told an
 agent, and gives that to every later session.
";

/// Builds the package of the files in `tree`; `root` is where they are laid out.
pub(super) fn make(set: &PackageSet, tree: &Path, root: &Path) -> Result<(), String> {
    let share = root.join("usr/share");
    let documents = share.join("doc/recoup");
    copy_file(&tree.join("bin/recoup"), &root.join("usr/bin/recoup"))?;
    for (_, file) in COMPLETIONS {
        let place = file.replace("zsh/site-functions", "zsh/vendor-completions");
        copy_file(&tree.join("share").join(file), &share.join(place))?;
    }
    let pages = unpacked::entries(&tree.join("share/man/man1"));
    for page in pages.map_err(|error| error.to_string())? {
        let name = page.file_name().unwrap_or_default();
        copy_file(&page, &share.join("man/man1").join(name))?;
    }
    for name in ["README.md", "NOTICE", "CHANGELOG.md", licences::FILE] {
        copy_file(&tree.join("share/doc/recoup").join(name), &documents.join(name))?;
    }
    let licence = read(&tree.join("share/doc/recoup/LICENSE-MIT"))?;
    let licence: String = licence.lines().skip(2).map(indented).collect();
    write(&documents.join("copyright"), &COPYRIGHT.replace("@MIT@\n", &licence))?;
    write(&documents.join("changelog"), &changelog(set)?)?;
    write(&share.join("lintian/overrides/recoup"), OVERRIDES)?;
    // Policy: manual pages and changelogs are compressed.
    let mut gzip = Command::new("sh");
    gzip.args(["-c", "gzip -n9 man/man1/* doc/recoup/changelog doc/recoup/*.md doc/recoup/*.txt"]);
    process::capture(gzip.current_dir(&share))?;
    write(&root.join("DEBIAN/control"), &control(set, root)?)?;
    let mut finish = Command::new("sh");
    finish.arg("-c").arg(
        "find usr -type f | LC_ALL=C sort | xargs md5sum > DEBIAN/md5sums && \
         chmod -R u+rw,go+rX,go-w .",
    );
    process::capture(finish.current_dir(root))?;
    let mut build = Command::new("dpkg-deb");
    build.env("SOURCE_DATE_EPOCH", &set.time).args(["--root-owner-group", "--build"]);
    // xz takes a minute for a debug build, and nobody keeps its package.
    build.args(if set.level == "1" { ["-Zgzip", "-z1"] } else { ["-Zxz", "-z9"] });
    process::capture(build.arg(root).arg(set.debian_package())).map(drop)
}

fn control(set: &PackageSet, root: &Path) -> Result<String, String> {
    let mut usage = Command::new("du");
    let usage = process::capture(usage.args(["-sk", "usr"]).current_dir(root))?;
    let size = usage.split_whitespace().next().unwrap_or("0");
    Ok(format!(
        "Package: recoup\nVersion: {VERSION}\nArchitecture: {}\nMaintainer: {}\n\
         Installed-Size: {size}\nSection: utils\nPriority: optional\nDescription: {SUMMARY}\n{LONG}",
        set.processor.debian,
        maintainer()
    ))
}

fn changelog(set: &PackageSet) -> Result<String, String> {
    let mut date = Command::new("date");
    let date = process::capture(date.args(["-u", "-R", "-d", &format!("@{}", set.time)]))?;
    Ok(format!(
        "recoup ({VERSION}) unstable; urgency=low\n\n  * CHANGELOG.md.gz has the changes.\n\n \
         -- {}  {date}",
        maintainer()
    ))
}

/// Whoever packages, as Debian's own tools are told.
fn maintainer() -> String {
    let name = env::var("DEBFULLNAME").unwrap_or_else(|_| "The Recoup developers".to_owned());
    let mail = env::var("DEBEMAIL").unwrap_or_else(|_| "recoup@example.org".to_owned());
    format!("{name} <{mail}>")
}

/// A line in a paragraph of a field.
fn indented(line: &str) -> String {
    if line.is_empty() { " .\n".to_owned() } else { format!(" {line}\n") }
}
