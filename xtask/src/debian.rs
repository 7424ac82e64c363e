//! Debian's packages without an installation: apt works in folders of its own,
//! so nothing on the system changes and no privileges are needed. From the
//! system it only reads: its sources, its keys and the list of what is
//! installed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::backports;
use crate::process;

/// apt with its state, caches and log under one folder of ours.
pub(crate) struct Apt {
    config: PathBuf,
}

impl Apt {
    /// Sets the folder up. Nothing is fetched yet.
    pub(crate) fn at(folder: &Path) -> Result<Self, String> {
        for sub in ["state", "lists/partial", "cache/archives/partial", "log"] {
            let path = folder.join(sub);
            fs::create_dir_all(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        }
        let config = folder.join("apt.conf");
        fs::write(&config, configuration(folder))
            .map_err(|error| format!("{}: {error}", config.display()))?;
        backports::write_sources(&folder.join("sources"))
            .map_err(|error| format!("{}: {error}", folder.display()))?;
        Ok(Self { config })
    }

    /// Downloads `package`, and what it needs that is not installed, into
    /// `folder`. apt checks signatures and hashes.
    pub(crate) fn download(&self, package: &str, folder: &Path) -> Result<(), String> {
        // One unreachable source among many need not matter. If it does, the
        // next command fails, and the reason is here.
        let update = process::capture(self.command().arg("update"));
        self.wanted(package).and_then(|packages| self.fetch(&packages, folder)).map_err(|reason| {
            update.err().map_or(reason.clone(), |first| format!("{first}; {reason}"))
        })
    }

    /// `package` and the dependencies that are missing.
    fn wanted(&self, package: &str) -> Result<Vec<String>, String> {
        let mut command = self.command();
        command.args(["install", "--simulate", "--no-install-recommends", package]);
        process::capture(&mut command).map(|plan| packages_in(&plan, package))
    }

    fn fetch(&self, packages: &[String], folder: &Path) -> Result<(), String> {
        // `download` writes to the current folder, and takes no lock.
        let mut command = self.command();
        command.arg("download").args(packages).current_dir(folder);
        process::capture(&mut command).map(|_| ())
    }

    fn command(&self) -> Command {
        let mut command = Command::new("apt-get");
        command.env("APT_CONFIG", &self.config).env("LC_ALL", "C").arg("--quiet");
        command
    }
}

/// Unpacks a package's files below `root`; its install scripts do not run.
pub(crate) fn extract(package: &Path, root: &Path) -> Result<(), String> {
    process::capture(Command::new("dpkg-deb").arg("-x").arg(package).arg(root)).map(|_| ())
}

/// apt reads the file in `APT_CONFIG` first, then the system's `apt.conf.d`,
/// then `Dir::Etc::main`. That last one is this same file again, so that it
/// has the last word: the system's proxies hold, its hooks do not. (A hook
/// after `update` would clean the system's caches.)
fn configuration(folder: &Path) -> String {
    let folder = folder.display();
    format!(
        r#"Dir::Etc::main "{folder}/apt.conf";
{main}
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
Dir::Etc::sourcelist "/dev/null";
Dir::Etc::sourceparts "{folder}/sources";
Dir::State "{folder}/state";
Dir::State::lists "{folder}/lists";
Dir::State::status "/var/lib/dpkg/status";
Dir::Cache "{folder}/cache";
Dir::Log "{folder}/log";
APT::Sandbox::User "root";
APT::Update::Error-Mode "any";
Acquire::Languages "none";
Acquire::Retries "2";
Acquire::http::Timeout "20";
Acquire::https::Timeout "20";
"#,
        main = system_main(Path::new("/etc/apt/apt.conf")),
    )
}

/// The file that ours stands in for; most systems have none.
fn system_main(path: &Path) -> String {
    if path.is_file() { format!("#include \"{}\";", path.display()) } else { String::new() }
}

/// Reads what `apt-get install --simulate` says it would do: lines such as
/// `Inst NAME [OLD] (NEW ORIGIN [ARCH])`.
fn packages_in(plan: &str, package: &str) -> Vec<String> {
    let mut packages: Vec<String> = plan
        .lines()
        .filter_map(|line| line.strip_prefix("Inst ")?.split_whitespace().next())
        .map(str::to_owned)
        .collect();
    // Installed as a package, but not on the PATH: then only it is needed.
    if !packages.iter().any(|name| name == package) {
        packages.push(package.to_owned());
    }
    packages
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plan_names_the_package_and_what_it_needs() {
        let plan = "Reading package lists...\n\
                    Inst liblzf1 (3.6-3 Debian:12.15/oldstable [amd64])\n\
                    Inst redis-tools [5:7.0.14] (5:7.0.15 Debian:12.15/oldstable [amd64])\n\
                    Inst redis-server (5:7.0.15 Debian:12.15/oldstable [amd64])\n\
                    Conf liblzf1 (3.6-3 Debian:12.15/oldstable [amd64])\n";
        assert_eq!(packages_in(plan, "redis-server"), ["liblzf1", "redis-tools", "redis-server"]);
    }

    #[test]
    fn an_installed_package_is_still_wanted() {
        assert_eq!(packages_in("git is already the newest version.\n", "git"), ["git"]);
    }

    #[test]
    fn the_configuration_reads_itself_last_and_drops_the_hooks() {
        let text = configuration(Path::new("/t/apt"));
        assert!(text.starts_with("Dir::Etc::main \"/t/apt/apt.conf\";\n"));
        assert!(text.contains("#clear APT::Update::Post-Invoke;\n"));
    }

    #[test]
    fn a_missing_main_file_is_not_included() {
        assert_eq!(system_main(Path::new("/no/such/apt.conf")), "");
    }
}
