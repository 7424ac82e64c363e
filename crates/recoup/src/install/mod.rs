//! Installs Recoup into clients with one command and removes it with another. Every change is
//! worked out before a file is touched, and each file is replaced atomically.
//!
//! ```text
//! client ──► settings files ──► InstallPlan ──► FileChange ──► diff, consent ──► apply, receipt
//! receipt, or what is known to be ours ──► UndoPlan ──► FileChange ──► apply
//! ```

pub(crate) mod answers;
mod apply;
mod change;
mod client;
mod edit;
mod entries;
mod guard;
mod installations;
mod peers;
mod places;
mod plan;
mod program_copy;
pub(crate) mod purge;
mod receipt;
mod server_starts;
pub(crate) mod server_ttls;
mod undo;
mod version;
mod wrap;

pub(crate) use crate::clients::{AgentClient, InstallLevel, SettingsFile};
pub(crate) use answers::{AnswerValue, plan_keys};
pub(crate) use apply::{
    ApplyOutcome, BACKUPS, BackupList, InstallLock, apply_with_retry, install_changes,
};
pub(crate) use change::FileChange;
pub(crate) use edit::mask_private_values;
pub(crate) use installations::{
    ClientInstallation, HookCommand, InstalledServer, ProxiedServer, RecordedFile,
    find_installations, find_unread_hooks, recorded_files,
};
pub(crate) use peers::PeerEntry;
pub(crate) use places::{InstallPaths, is_program, stable_program_path as program_path};
pub(crate) use plan::{InstallPlan, InstallRequest};
pub(crate) use program_copy::ProgramCopy;
pub(crate) use server_starts::ServerStartChange;
pub(crate) use undo::{UndoPlan, UndoRequest};
pub(crate) use version::ask_claude_code;
pub(crate) use wrap::{ServerFile, WrapPlan, WrapRequest, find_server_files, named_server_files};

use entries::servers::SERVER;

/// Configuration for any MCP client, ready to be pasted.
pub(crate) fn any_client_config(program: &str) -> String {
    let ours = serde_json::json!({ "command": program, "args": ["mcp"] });
    format!("{:#}", serde_json::json!({ "mcpServers": { SERVER: ours } }))
}
