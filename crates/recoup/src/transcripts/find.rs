//! Finds the transcripts on this machine, by the table of clients.

use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;

use ignore::WalkBuilder;
use recoup_core::base::clock::Timestamp;
use recoup_core::memory::HookClient;

use crate::clients::{AgentClient, ClientDirs};

/// A transcript's file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TranscriptSource {
    pub(crate) client: HookClient,
    pub(crate) path: PathBuf,
    pub(crate) bytes: u64,
    pub(crate) modified: Timestamp,
}

impl TranscriptSource {
    /// True for a file of Claude Code that has nothing but a sub-agent's conversation.
    pub(crate) fn is_sub_agent(&self) -> bool {
        let name = self.path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        self.client == HookClient::ClaudeCode && name.starts_with("agent-")
    }

    /// The conversation's own transcript, if this is a sub-agent's beside it:
    /// `SESSION/subagents/agent-ID.jsonl` beside `SESSION.jsonl`.
    pub(crate) fn parent_path(&self) -> Option<PathBuf> {
        let folder = self.path.parent().filter(|_| self.is_sub_agent())?;
        let session = folder.parent().filter(|_| folder.ends_with("subagents"))?;
        Some(session.with_extension("jsonl"))
    }
}

/// Finds the transcripts that were written to at `since` or later, in a fixed order. Links are not
/// followed, and what can't be read is passed over.
pub(crate) fn find_transcripts(dirs: &ClientDirs, since: Timestamp) -> Vec<TranscriptSource> {
    let mut found = Vec::new();
    for client in AgentClient::ALL {
        let Some(hook_client) = client.as_hook_client() else { continue };
        for folder in client.spec().transcripts {
            let folder = dirs.of(client).join(folder);
            if !folder.is_dir() {
                continue;
            }
            let files = WalkBuilder::new(folder).standard_filters(false).build().flatten();
            found.extend(files.filter_map(|file| {
                let is_transcript = file.path().extension().is_some_and(|it| it == "jsonl")
                    && file.file_type().is_some_and(|it| it.is_file());
                let metadata = file.metadata().ok().filter(|_| is_transcript)?;
                let modified = Timestamp::from_seconds(metadata.mtime());
                (modified.as_seconds() >= since.as_seconds()).then(|| TranscriptSource {
                    client: hook_client,
                    path: file.into_path(),
                    bytes: metadata.len(),
                    modified,
                })
            }));
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}
