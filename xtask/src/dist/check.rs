//! Installs each package where nothing else is (a bare root, an empty virtual environment, an empty
//! npm cache), and runs the program there.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use super::bare_root::BareRoot;
use super::packages::{PackageSet, VERSION, create_dir, read, write};
use super::web_server::WebServer;
use crate::node::{self, Node};
use crate::process;
use crate::unpacked::Shed;
use crate::workspace;

/// The program's own check: it goes through the main commands.
const TOUR: [&str; 2] = ["tour", "--plain"];

/// Installs and runs all packages; `scratch` is made anew.
pub(super) fn install_all(set: &PackageSet, scratch: &Path) -> Result<(), String> {
    if scratch.exists() {
        fs::remove_dir_all(scratch).map_err(|error| format!("{}: {error}", scratch.display()))?;
    }
    let shed = Shed::open(&workspace::tools_dir())?;
    let python = node::python(&shed)?;
    eprintln!("tarball: install.sh in a bare root ...");
    check_tarball(set, &shed, &python, &scratch.join("tarball"))?;
    eprintln!("Debian package: in a bare root ...");
    check_debian_package(set, &shed, &scratch.join("debian"))?;
    eprintln!("wheel: in an empty virtual environment ...");
    check_wheel(set, &python, &scratch.join("wheel"))?;
    eprintln!("npm packages: with npx, and beside nothing else ...");
    check_npm(set, &Node::installed(&shed)?, &python, &scratch.join("npm"))?;
    fs::remove_dir_all(scratch).map_err(|error| format!("{}: {error}", scratch.display()))
}

fn check_tarball(
    set: &PackageSet,
    shed: &Shed,
    python: &Path,
    scratch: &Path,
) -> Result<(), String> {
    let root = BareRoot::make(shed, scratch)?;
    let tarball = set.tarball();
    let files = ["SHA256SUMS", "install.sh", file_name(&tarball)];
    for file in files {
        root.copy_in(&set.folder.join(file), &format!("media/{file}"))?;
    }
    let said = root.run("/", &["busybox", "sh", "media/install.sh"])?;
    expect(said.contains("/root/.local/bin is not on your PATH"), "a PATH that lacks it", &said)?;
    run_in(&root, "/root/.local/bin/recoup")?;
    for file in ["share/man/man1/recoup.1", "share/bash-completion/completions/recoup"] {
        expect(root.path("root/.local").join(file).is_file(), file, "install.sh put it nowhere")?;
    }
    // From a URL, into a directory that is on the PATH.
    let server = WebServer::start(python, &set.folder)?;
    let url = format!("RECOUP_INSTALL_URL={}", server.url());
    let command = ["env", &url, "busybox", "sh", "install.sh", "--prefix", "/usr"];
    let said = root.run("/media", &command)?;
    expect(said.contains("Next: recoup init"), "a PATH that has it", &said)?;
    run_in(&root, "/usr/bin/recoup")?;
    // A tarball that is not the one of the checksum.
    root.truncate(&format!("media/{}", file_name(&tarball)))?;
    let refused = root.run("/", &["sh", "media/install.sh", "--prefix", "/opt"]);
    let said = refused.err().unwrap_or_default();
    expect(said.contains("nothing was installed"), "a wrong checksum", &said)?;
    expect(!root.path("opt").exists(), "a wrong checksum", "something was installed")
}

fn check_debian_package(set: &PackageSet, shed: &Shed, scratch: &Path) -> Result<(), String> {
    let root = BareRoot::make(shed, scratch)?;
    for folder in ["info", "updates", "triggers"] {
        create_dir(&root.path("var/lib/dpkg").join(folder))?;
    }
    for file in ["status", "available"] {
        write(&root.path("var/lib/dpkg").join(file), "")?;
    }
    let package = set.debian_package();
    let within = format!("--root={}", scratch.display());
    let dpkg = |arguments: &[&OsStr]| {
        let mut command = root.as_its_owner("dpkg");
        // dpkg wants ldconfig on the PATH, which not every user has there.
        command.env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").arg(&within).args(arguments);
        process::capture(&mut command)
    };
    dpkg(&["--install".as_ref(), package.as_ref()])?;
    let said = dpkg(&["--verify".as_ref(), "recoup".as_ref()])?;
    expect(said.is_empty(), "files of the Debian package", &said)?;
    run_in(&root, "/usr/bin/recoup")?;
    dpkg(&["--purge".as_ref(), "recoup".as_ref()])?;
    expect(!root.path("usr/bin/recoup").exists(), "dpkg --purge", "the program is still there")
}

fn check_wheel(set: &PackageSet, python: &Path, scratch: &Path) -> Result<(), String> {
    let wheel = set.wheel();
    let verify = workspace::root().join("xtask/dist/check_wheel.py");
    process::capture(Command::new(python).arg(verify).arg(&wheel))?;
    let environment = scratch.join("environment");
    process::capture(Command::new(python).args(["-m", "venv", "--without-pip"]).arg(&environment))?;
    // pip from outside, and nothing else from there: the environment stays empty.
    let mut ask = Command::new(python);
    let pip = process::capture(ask.args(["-c", "import pip; print(pip.__path__[0])"]))?;
    create_dir(&scratch.join("pip"))?;
    let link = scratch.join("pip/pip");
    std::os::unix::fs::symlink(pip.trim(), &link).map_err(|error| format!("{pip}: {error}"))?;
    let pip = |arguments: &[&OsStr]| {
        let mut command = Command::new(environment.join("bin/python"));
        command.env("PYTHONPATH", scratch.join("pip")).env_remove("PYTHONHOME");
        command.args(["-m", "pip", "--isolated", "--disable-pip-version-check"]).args(arguments);
        process::capture(&mut command)
    };
    pip(&["install".as_ref(), "--no-index".as_ref(), wheel.as_ref()])?;
    let said = pip(&["check".as_ref()])?;
    expect(said.contains("No broken requirements"), "pip check", &said)?;
    let program = environment.join("bin/recoup");
    run_at(&program, &scratch.join("home"))?;
    pip(&["uninstall".as_ref(), "--yes".as_ref(), "recoup".as_ref()])?;
    expect(!program.exists(), "pip uninstall", "the program is still there")
}

fn check_npm(set: &PackageSet, node: &Node, python: &Path, scratch: &Path) -> Result<(), String> {
    let [main, native] = set.npm_names();
    // A registry of two packages: what npm asks it is a file for each.
    let (registry, home) = (scratch.join("registry"), scratch.join("home"));
    create_dir(&registry)?;
    create_dir(&home.join(".claude"))?;
    let server = WebServer::start(python, &registry)?;
    let url = server.url();
    for name in [&main, &native] {
        let archive = set.npm_archive(name);
        let mut unpack = Command::new("tar");
        unpack.arg("xzOf").arg(&archive).arg("package/package.json");
        let manifest = process::capture(&mut unpack)?;
        let manifest = manifest.trim_end().trim_end_matches('}').trim_end();
        let file = file_name(&archive);
        let answer = format!(
            r#"{{"name":"{name}","dist-tags":{{"latest":"{VERSION}"}},"versions":{{"{VERSION}":
            {manifest}, "dist": {{"tarball": "{url}/-/{file}"}} }} }} }}"#
        );
        write(&registry.join(name), &answer)?;
        super::packages::copy_file(&archive, &registry.join("-").join(file))?;
    }
    let npm = |arguments: &[&str]| {
        let mut npm = node.npm();
        npm.env_clear()
            .env("PATH", format!("{}:/usr/bin:/bin", node.bin().display()))
            .env("HOME", &home)
            .current_dir(&home)
            .args(["--registry", &url, "--no-audit", "--no-fund", "--no-update-notifier"])
            .args(arguments);
        process::capture(&mut npm)
    };
    let npx = |arguments: &[&str]| npm(&[&["exec", "--yes", "--", "recoup"], arguments].concat());
    let toured = npx(&TOUR)?;
    expect_tour(&toured)?;
    // npx clears its cache one day, so that clients get a copy.
    npx(&["init", "--yes", "--client", "claude-code"])?;
    expect_client_starts(&home, &home.join(".recoup/bin/recoup"))?;
    npm(&["install", "--prefix", "lasting", "recoup"])?;
    let modules = home.join("lasting/node_modules");
    let path = [modules.join(".bin"), node.bin(), "/usr/bin".into(), "/bin".into()];
    let path = std::env::join_paths(path).map_err(|error| error.to_string())?;
    let mut init = Command::new(modules.join(".bin/recoup"));
    init.args(["init", "--yes", "--client", "claude-code"]).current_dir(&home);
    process::capture(init.env_clear().env("PATH", &path).env("HOME", &home))?;
    expect_client_starts(&home, &modules.join(&native).join("bin/recoup"))?;
    // The exit code of the program is the shim's.
    let mut miss = Command::new(modules.join(".bin/recoup"));
    miss.args(["cache", "get", "--key", "none"]).current_dir(&home);
    miss.stderr(Stdio::null());
    let status = miss.env_clear().env("PATH", &path).env("HOME", &home).status();
    let code = status.map_err(|error| error.to_string())?.code();
    expect(code == Some(1), "the shim's exit code for a miss", &format!("{code:?}"))
}

/// An error unless all that `recoup init` wrote starts `program`, and no Node.js.
fn expect_client_starts(home: &Path, program: &Path) -> Result<(), String> {
    let wanted = format!("\"command\": \"{}\"", program.display());
    for file in [".claude/settings.json", ".claude.json"] {
        let text = read(&home.join(file))?;
        let commands = text.lines().filter(|line| line.contains("\"command\":"));
        let other = commands.clone().find(|line| !line.contains(&wanted));
        expect(commands.count() > 0, file, "`recoup init` wrote no command")?;
        expect(other.is_none(), &format!("only {wanted} in {file}"), other.unwrap_or_default())?;
    }
    process::capture(Command::new(program).arg("--version")).map(drop)
}

fn run_in(root: &BareRoot, program: &str) -> Result<(), String> {
    expect_tour(&root.run_program(program, &TOUR)?)
}

fn run_at(program: &Path, home: &Path) -> Result<(), String> {
    create_dir(home)?;
    let mut command = Command::new(program);
    command.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", home).current_dir(home);
    expect_tour(&process::capture(command.args(TOUR))?)
}

/// The tour checks its own steps, and fails at the first that goes wrong.
fn expect_tour(said: &str) -> Result<(), String> {
    expect(said.contains("recoup exec"), "a tour with `recoup exec` in it", said)
}

fn expect(holds: bool, what: &str, found: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(format!("expected {what}, but: {found}")) }
}

fn file_name(path: &Path) -> &str {
    path.file_name().and_then(OsStr::to_str).unwrap_or_default()
}
