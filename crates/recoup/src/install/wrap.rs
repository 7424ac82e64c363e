//! Plans `recoup mcp wrap`: our proxy in front of the MCP servers that clients have. Touches
//! nothing; `undo.rs` plans the way back.

use std::path::Path;

use recoup_core::{Error, ErrorKind, Result};

use super::change::{FileChange, InstallTarget, demand_inside, resolve_links};
use super::edit::SettingsText;
use super::entries::proxied::{self, ProxyChoice, ProxyOutcome};
use super::guard::{AllowedChanges, demand_only_ours};
use super::places::InstallPaths;
use super::server_starts::ServerStartChange;
use crate::clients::{AgentClient, InstallLevel, SettingsFile};

/// A file with MCP servers, and the target that it is for.
#[derive(Debug, Clone)]
pub(crate) struct ServerFile {
    pub(crate) file: SettingsFile,
    pub(crate) target: InstallTarget,
    /// Paths with the project that the file is in.
    places: InstallPaths,
}

/// Request to put our proxy in front of servers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WrapRequest<'a> {
    pub(crate) files: &'a [ServerFile],
    /// The path of our program.
    pub(crate) program: &'a str,
    /// Only these servers; all if empty.
    pub(crate) servers: &'a [String],
    /// True if the user has named the files: then an error of one is fatal.
    pub(crate) is_strict: bool,
}

/// Planned changes of clients' files.
#[derive(Debug, Default)]
pub(crate) struct WrapPlan {
    pub(crate) changes: Vec<FileChange>,
    /// Remarks for the user.
    pub(crate) notes: Vec<String>,
    /// Errors of files that cannot be parsed or written.
    pub(crate) faults: Vec<Error>,
    /// Chosen servers that are behind the proxy afterwards.
    pub(crate) proxied: Vec<String>,
    /// All servers of the files.
    pub(crate) names: Vec<String>,
}

/// Returns the files with servers of these clients at a level, as far as they exist.
pub(crate) fn find_server_files(
    clients: &[AgentClient],
    level: InstallLevel,
    places: &InstallPaths,
) -> Vec<ServerFile> {
    let clients = AgentClient::ALL.into_iter().filter(|it| clients.contains(it));
    let files = clients.flat_map(|client| client.server_files(level, places));
    files.filter(|file| file.path.exists()).map(|file| ServerFile::new(file, places)).collect()
}

/// Returns what clients have in a file that the user has named: a file of the user's, or one of any
/// project.
pub(crate) fn named_server_files(path: &Path, places: &InstallPaths) -> Result<Vec<ServerFile>> {
    let shown = places.display_path(path);
    if !path.exists() {
        return Err(Error::new(ErrorKind::Absent, format!("there is no {shown}")));
    }
    let real = resolve_links(path);
    let files_at = |level, places: &InstallPaths| {
        let all = find_server_files(&AgentClient::ALL, level, places).into_iter();
        all.filter(|it| resolve_links(&it.file.path) == real).collect::<Vec<_>>()
    };
    let mut found = files_at(InstallLevel::User, places);
    if found.is_empty() || real == resolve_links(&places.claude_json()) {
        found.extend(files_at(InstallLevel::Project, places));
    }
    let mut roots = path.ancestors().skip(1);
    while let Some(root) = roots.next().filter(|_| found.is_empty()) {
        found = files_at(InstallLevel::Project, &places.with_root(root));
    }
    if found.is_empty() {
        let message = format!(
            "{shown} is not a file in which a client that is known here has its MCP servers: put \
             `recoup mcp proxy --name NAME --` before the server's command by hand"
        );
        return Err(Error::usage(message));
    }
    Ok(found)
}

impl ServerFile {
    fn new(file: SettingsFile, places: &InstallPaths) -> Self {
        let target = InstallTarget::of(file.client, file.level, places).for_proxy();
        Self { file, target, places: places.clone() }
    }
}

impl WrapPlan {
    /// Plans the changes, and checks as far as possible that they can be written.
    pub(crate) fn make(wish: WrapRequest<'_>) -> Result<Self> {
        let mut this = Self::default();
        for of in wish.files {
            match this.add_file(of, wish) {
                Ok(()) => {}
                Err(error) if wish.is_strict => return Err(of.places.shorten_paths(error)),
                Err(error) => this.faults.push(of.places.shorten_paths(error)),
            }
        }
        let unknown = wish.servers.iter().find(|name| !this.names.contains(name));
        if let Some(name) = unknown.filter(|_| this.faults.is_empty()) {
            this.names.sort();
            this.names.dedup();
            let known = match this.names.join(", ") {
                all if all.is_empty() => "there is none at all".to_owned(),
                all => format!("there are {all}"),
            };
            let message = format!("no client has a server {name:?} there: {known}");
            return Err(Error::new(ErrorKind::Absent, message));
        }
        this.proxied.sort();
        this.proxied.dedup();
        Ok(this)
    }

    fn add_file(&mut self, of: &ServerFile, wish: WrapRequest<'_>) -> Result<()> {
        let ServerFile { file, target, places } = of;
        if file.level == InstallLevel::Project {
            demand_inside(&file.path, places)?;
        }
        let mut change =
            FileChange::unchanged(&file.path, Some(target.clone()))?.following(self.changes.iter());
        // A shared file must not hold a path of this machine.
        let program = if file.shared { "recoup" } else { wish.program };
        let choice = ProxyChoice { program, only: wish.servers };
        let place = places.display_path(&file.path);
        let Some(held) = file.holds.of_proxied() else { return Ok(()) };
        let wrap = || {
            let mut text = SettingsText::read(change.before.as_deref(), held.syntax())?;
            let at = held.servers_at().unwrap_or_default();
            proxied::wrap(&mut text, &at, choice).map(|outcome| (text.bytes(), outcome))
        };
        let (after, ProxyOutcome { done, proxied, names }) =
            wrap().map_err(|fault| Error::new(ErrorKind::Invalid, format!("{place}, {fault}")))?;
        if !done.said.is_empty() {
            change.after = Some(after);
            if file.shared {
                self.notes.push(format!(
                    "{place} is for everybody who works there: without `recoup` on their PATH, \
                     these servers no longer start for them"
                ));
            }
        }
        self.notes.extend(done.notes.iter().map(|note| format!("{place}: {note}")));
        change.done = done;
        change.done.servers = ServerStartChange::all_of(&change, &held);
        demand_only_ours(&change, AllowedChanges { holds: &[&held], peers: &[] }, places)?;
        change.held = Some(held);
        change.demand_possible()?;
        self.proxied.extend(proxied);
        self.names.extend(names);
        self.changes.push(change);
        Ok(())
    }
}
