//! A root directory with nothing in it but `busybox` and a shell, both static, as in a minimal
//! container: whatever runs there needs nothing else.

use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::packages::{copy_file, create_dir};
use crate::process;
use crate::tools::Origin;
use crate::unpacked::Shed;

/// Enters a root as a user who is nobody special: in a namespace of their own.
const ENTER: &str = "mount --bind /dev/null \"$0/dev/null\" && exec chroot \"$0\" \"$@\"";

pub(super) struct BareRoot {
    folder: PathBuf,
    is_privileged: bool,
}

impl BareRoot {
    pub(super) fn make(shed: &Shed, folder: &Path) -> Result<Self, String> {
        for name in ["bin", "dev", "media", "proc/self", "root", "tmp", "usr/bin"] {
            create_dir(&folder.join(name))?;
        }
        copy_file(&unpacked(shed, "busybox-static", "busybox")?, &folder.join("bin/busybox"))?;
        // BusyBox's own shell would start the other programs in it by `/proc/self/exe`.
        copy_file(&unpacked(shed, "bash-static", "bash-static")?, &folder.join("bin/sh"))?;
        let is_privileged = fs::metadata("/proc/self").is_ok_and(|found| found.uid() == 0);
        let root = Self { folder: folder.to_owned(), is_privileged };
        if is_privileged {
            let mut device = Command::new("mknod");
            device.args(["-m", "666"]).arg(root.path("dev/null")).args(["c", "1", "3"]);
            process::capture(&mut device)?;
        } else {
            fs::write(root.path("dev/null"), "").map_err(|error| error.to_string())?;
        }
        // It leaves our shell alone, and fails for that.
        let _ = root.run("/", &["/bin/busybox", "--install", "-s", "/bin"]);
        Ok(root)
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    pub(super) fn copy_in(&self, from: &Path, name: &str) -> Result<(), String> {
        copy_file(from, &self.path(name))
    }

    /// Cuts the last byte off a file.
    pub(super) fn truncate(&self, name: &str) -> Result<(), String> {
        let shorten = || {
            let file = fs::File::options().write(true).open(self.path(name))?;
            file.set_len(file.metadata()?.len() - 1)
        };
        shorten().map_err(|error: io::Error| format!("{name}: {error}"))
    }

    /// Runs a program that finds its own file by `/proc/self/exe`, although this root has no `/proc`.
    /// One that is linked dynamically, as builds for tests are, gets its libraries.
    pub(super) fn run_program(&self, program: &str, arguments: &[&str]) -> Result<String, String> {
        let file = self.path(program.trim_start_matches('/'));
        // Of a static program, ldd says so and fails.
        let libraries = process::capture(Command::new("ldd").arg(file)).unwrap_or_default();
        for library in libraries.split_whitespace().filter(|word| word.starts_with('/')) {
            self.copy_in(Path::new(library), &library[1..])?;
        }
        let link = self.path("proc/self/exe");
        let described = |error: io::Error| format!("{}: {error}", link.display());
        symlink(program, &link).map_err(described)?;
        let said = self.run("/", &[&[program], arguments].concat());
        // BusyBox would take the program for itself.
        fs::remove_file(&link).map_err(described)?;
        said
    }

    /// Runs a command in this root; returns what it printed.
    pub(super) fn run(&self, dir: &str, arguments: &[&str]) -> Result<String, String> {
        let mut command = if self.is_privileged {
            let mut command = Command::new("chroot");
            command.arg(&self.folder);
            command
        } else {
            let mut command = Command::new("unshare");
            command.args(["--map-root-user", "--mount", "sh", "-c", ENTER]).arg(&self.folder);
            command
        };
        command.env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").env("HOME", "/root");
        command.args(["sh", "-c", "cd \"$0\" && exec \"$@\"", dir]).args(arguments);
        process::capture(&mut command)
    }

    /// A command from outside, run by whoever the files in this root belong to.
    pub(super) fn as_its_owner(&self, program: &str) -> Command {
        if self.is_privileged {
            return Command::new(program);
        }
        let mut command = Command::new("unshare");
        command.args(["--map-root-user", program]);
        command
    }
}

/// A program of one of Debian's packages, which is unpacked first if it is not there.
fn unpacked(shed: &Shed, package: &'static str, program: &str) -> Result<PathBuf, String> {
    let folder = shed.folder(package);
    if !folder.is_dir() {
        eprintln!("unpacking {package} ...");
        shed.make(package, |partial| shed.fetch(&Origin::Debian(package), partial))?;
    }
    let places = ["root/bin", "root/usr/bin"].map(|it| folder.join(it).join(program));
    let found = places.into_iter().find(|it| it.is_file());
    found.ok_or_else(|| format!("{package} has no {program}"))
}
