//! What the clients write down, read by the library.

mod claude_code;
mod codex;
mod files;
mod laws;
mod lines;
mod pi;

use recoup::transcripts::parse_entries;
use recoup_core::memory::HookClient;
use recoup_core::memory::capture::transcript::{
    CallStatus, EntryKind, ToolAction, TranscriptEntry,
};

/// Entries, one line each, for people.
fn shown(entries: &[TranscriptEntry]) -> String {
    entries.iter().map(|entry| line(entry) + "\n").collect()
}

fn line(entry: &TranscriptEntry) -> String {
    let agent = entry.agent.as_ref().map_or(String::new(), |agent| format!("[{agent}] "));
    let what = match &entry.what {
        EntryKind::Prompt(text) => format!("prompt {:?}", text.as_str()),
        EntryKind::Words(text) => format!("words {text:?}"),
        EntryKind::Call(call) => format!("call {} {} {}", call.id, call.tool, action(&call.action)),
        EntryKind::Outcome(it) => {
            format!("outcome {} {} {:?}", it.call, ended(it.ended), it.output)
        }
        EntryKind::Notification(it) => {
            format!("notification {} {} {:?}", it.id, it.status, it.summary)
        }
        EntryKind::Compaction => "compaction".to_owned(),
        EntryKind::SubAgent(task) => format!("sub-agent {task:?}"),
        EntryKind::Interruption => "interruption".to_owned(),
    };
    agent + &what
}

fn action(action: &ToolAction) -> String {
    format!("{action:?}")
}

fn ended(ended: CallStatus) -> String {
    match ended {
        CallStatus::Failed { exit: Some(code) } => format!("Failed({code})"),
        CallStatus::Failed { exit: None } => "Failed".to_owned(),
        ended => format!("{ended:?}"),
    }
}

/// What one line says.
fn said(client: HookClient, line: &str) -> String {
    shown(&parse_entries(client, line.as_bytes()))
}
