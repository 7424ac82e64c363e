//! `cargo xtask tools` on machines that lack things: with stand-ins for
//! `apt-get` and `dpkg-deb`, so that nothing is fetched.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Command;

use tempfile::TempDir;

use crate::files;

/// Plans `git` and one library, and "downloads" a file for each.
const APT: &str = "case $2 in \
    install) echo 'Inst libz (1 Debian [amd64])'; echo 'Inst git (1 Debian [amd64])';; \
    download) shift 2; for name; do echo > $name.deb; done;; \
    esac";

/// "Unpacks" the program for one package, a library for the other.
const DPKG: &str = "case $2 in \
    */git.deb) mkdir -p $3/usr/bin; echo '#!/bin/sh' > $3/usr/bin/git; \
      echo 'echo git 1.0 $GIT_EXEC_PATH $LD_LIBRARY_PATH' >> $3/usr/bin/git; \
      chmod +x $3/usr/bin/git;; \
    */libz.deb) mkdir -p $3/usr/lib/any-linux-gnu;; \
    esac";

/// A machine with nothing on its PATH but what a test puts there.
struct Machine(TempDir);

impl Machine {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder for the machine"))
    }

    /// One that lacks nothing but `git`.
    fn without_git() -> Self {
        let answer = "echo version 1";
        ["redis-server", "valkey-server", "node", "pi-tsc"]
            .into_iter()
            .fold(Self::new(), |machine, program| machine.with(program, answer))
    }

    fn with(self, program: &str, script: &str) -> Self {
        let path = self.0.path().join("bin").join(program);
        files::write(&path, &format!("#!/bin/sh\nPATH=/usr/bin:/bin\n{script}\n"));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("executable");
        self
    }

    fn tool(&self) -> PathBuf {
        self.0.path().join("target/tools/git")
    }

    /// Whether `xtask tools` succeeded, and all that it said.
    fn tools(&self) -> (bool, String) {
        let output = Command::new(env!("CARGO_BIN_EXE_xtask"))
            .arg("tools")
            .env("PATH", self.0.path().join("bin"))
            .env("CARGO_TARGET_DIR", self.0.path().join("target"))
            .env_remove("LD_LIBRARY_PATH")
            .output()
            .expect("xtask starts");
        let said = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8_lossy(&said).into_owned())
    }
}

#[test]
fn a_program_on_the_path_is_used_as_it_is() {
    let machine = Machine::without_git().with("git", "echo git version 9");
    let (success, said) = machine.tools();
    assert!(success, "{said}");
    assert!(said.contains("bin/git (on the PATH): git version 9"), "{said}");
    assert!(!machine.tool().exists());
}

#[test]
fn a_missing_program_is_unpacked_once_and_starts_with_its_own_folders() {
    let machine = Machine::without_git().with("apt-get", APT).with("dpkg-deb", DPKG);
    let (success, said) = machine.tools();
    assert!(success, "{said}");
    for part in ["unpacking git", "tools/git/bin/git (unpacked): git 1.0 ", "root/usr/lib/git-core"]
    {
        assert!(said.contains(part), "`{part}` is not in: {said}");
    }
    assert!(said.contains("root/usr/lib/any-linux-gnu"), "the library's folder: {said}");
    assert!(!machine.tool().join("packages").exists());

    let machine = machine.with("apt-get", "exit 1");
    let (success, said) = machine.tools();
    assert!(success && !said.contains("unpacking"), "{said}");
}

#[test]
fn an_interrupted_or_broken_tool_is_never_taken_for_whole() {
    let machine = Machine::without_git().with("apt-get", APT).with("dpkg-deb", "exit 1");
    let (success, said) = machine.tools();
    assert!(!success && !machine.tool().exists(), "{said}");

    let machine = machine.with("dpkg-deb", DPKG);
    assert!(machine.tools().0);
    fs::write(machine.tool().join("root/usr/bin/git"), "#!/bin/sh\nexit 1\n").expect("broken");
    let (success, said) = machine.tools();
    assert!(success && said.contains("unpacking git"), "{said}");
}

#[test]
fn what_can_not_be_had_fails_and_says_what_to_install() {
    let (success, said) = Machine::new().tools();
    assert!(!success);
    assert!(said.contains("`git` is missing and could not be unpacked"), "{said}");
    assert!(said.contains("(apt-get could not be started"), "{said}");
    assert!(said.contains("install it (Debian: apt-get install git) and run again"), "{said}");
}

#[test]
fn a_source_that_could_not_be_read_is_part_of_the_reason() {
    let apt =
        "case $2 in update) echo 'E: no network' >&2;; *) echo 'E: no git' >&2;; esac; exit 100";
    let (success, said) = Machine::new().with("apt-get", apt).tools();
    assert!(!success);
    assert!(said.contains("(apt-get: E: no network; apt-get: E: no git)"), "{said}");
}
