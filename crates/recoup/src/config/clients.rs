//! Directories in which clients keep their settings; looked up only by commands that need them.

use std::path::Path;

use recoup_core::base::project::Project;

use crate::clients::{AgentClient, ClientDirs, ClientPlaces};

use super::env;

/// Variables that move the settings of clients, and the path of these below the directory that a
/// variable names.
const MOVING_VARIABLES: [(AgentClient, &env::EnvVar, &str); 6] = [
    (AgentClient::ClaudeCode, &env::CLAUDE_CONFIG_DIR, ""),
    (AgentClient::Codex, &env::CODEX_HOME, ""),
    (AgentClient::Pi, &env::PI_CODING_AGENT_DIR, ""),
    (AgentClient::KimiCode, &env::KIMI_CODE_HOME, ""),
    (AgentClient::CopilotCli, &env::COPILOT_HOME, ""),
    (AgentClient::Gemini, &env::GEMINI_CLI_HOME, ".gemini"),
];

/// Finds the directories of clients that are started in `cwd`.
pub(crate) fn find_client_dirs(cwd: &Path) -> ClientDirs {
    let home = env::user_home().unwrap_or_default();
    let mut dirs = ClientDirs::below(&home);
    if let Some(config) = env::config_home() {
        dirs = dirs.with_config(config);
    }
    for (client, variable, inside) in MOVING_VARIABLES {
        if let Some(path) = env::path(variable) {
            let mut path =
                path.strip_prefix("~").map_or_else(|_| cwd.join(&path), |it| home.join(it));
            path.extend(Path::new(inside));
            dirs = dirs.with_moved(client, path);
        }
    }
    dirs
}

/// Asks about the settings of clients that are started in `cwd`.
pub(crate) fn ask_client_settings<T>(
    cwd: &Path,
    question: impl FnOnce(&ClientPlaces<'_>) -> T,
) -> T {
    let (dirs, project) = (find_client_dirs(cwd), Project::find(cwd).ok());
    let root = project.as_ref().map_or(cwd, Project::root);
    question(&ClientPlaces { dirs: &dirs, root, cwd: Some(cwd) })
}
