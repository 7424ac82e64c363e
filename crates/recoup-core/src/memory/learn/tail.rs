//! The end of a transcript: the last entries, and a text of them for a model. That text
//! is bounded and has no secrets; what is oldest is left out first.

use crate::base::text::shortened;
use crate::memory::learn::failure::{error_line, plain};
use crate::memory::transcript::{Action, Ended, Entry, Outcome, What, bounded};
use crate::secrets;

/// What is left out is said in so many bytes at most.
const NOTICE: usize = 48;

/// So many characters of one thing that was said, and of what a tool wrote.
const MOST_SAID: usize = 2_000;
const MOST_OUTPUT: usize = 800;

/// The last `count` entries in their order, from a reader that gives the newest first.
/// It is asked for no more than these.
pub fn last(newest_first: impl Iterator<Item = Entry>, count: usize) -> Vec<Entry> {
    let mut entries: Vec<Entry> = newest_first.take(count).collect();
    entries.reverse();
    entries
}

/// The entries as a text of at most `most` bytes. Each begins a line with who it was; the
/// lines behind that are indented, so that no text can pass for another entry.
pub fn render(entries: &[Entry], most: usize) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut room = most.saturating_sub(NOTICE);
    for entry in entries.iter().rev() {
        let part = part(entry);
        match room.checked_sub(part.len()) {
            Some(left) => room = left,
            None => break,
        }
        parts.push(part);
    }
    let left_out = entries.len() - parts.len();
    if left_out > 0 && most >= NOTICE {
        parts.push(format!("[{left_out} earlier entries left out]\n"));
    }
    parts.reverse();
    parts.concat()
}

fn part(entry: &Entry) -> String {
    let (who, text) = match &entry.what {
        What::Prompt(text) => ("user".to_owned(), cut(text, MOST_SAID)),
        What::Words(text) => ("agent".to_owned(), cut(text, MOST_SAID)),
        What::Call(call) => {
            (format!("call {}", call.tool), cut(&action(&call.action), MOST_OUTPUT))
        }
        What::Outcome(outcome) => (ended(outcome.ended), output(outcome)),
        What::Notification(news) => {
            (format!("background {}", news.status), cut(&news.summary, MOST_OUTPUT))
        }
        What::Compaction => ("compaction".to_owned(), String::new()),
        What::SubAgent(task) => ("sub-agent told".to_owned(), cut(task, MOST_OUTPUT)),
        What::Interruption => ("user stopped the agent".to_owned(), String::new()),
    };
    let who = match &entry.agent {
        Some(_) => format!("sub-agent's {who}"),
        None => who,
    };
    let who = who.replace(|c: char| c.is_control(), " ");
    let text = text.trim_end().replace('\n', "\n    ");
    format!("{who}: {text}").trim_end().to_owned() + "\n"
}

fn action(action: &Action) -> String {
    match action {
        Action::Shell(line) => line.clone(),
        Action::Edit(paths) => format!("edits {}", paths.join(", ")),
        Action::Write(path) => format!("writes {path}"),
        Action::Read(path) => format!("reads {path}"),
        Action::Agent => "starts a sub-agent".to_owned(),
        Action::Wait => "waits".to_owned(),
        Action::Other => String::new(),
    }
}

fn ended(ended: Ended) -> String {
    match ended {
        Ended::Succeeded => "ok".to_owned(),
        Ended::Failed { exit: Some(code) } => format!("failed with {code}"),
        Ended::Failed { exit: None } => "failed".to_owned(),
        Ended::Refused => "refused".to_owned(),
        Ended::Denied => "denied by the user".to_owned(),
        Ended::Interrupted => "stopped by the user".to_owned(),
    }
}

/// What a tool wrote: its end, and in front of that the error if it is not there.
fn output(outcome: &Outcome) -> String {
    let text = clean(&outcome.output);
    let count = text.chars().count();
    if count <= MOST_OUTPUT {
        return text;
    }
    let end: String = text.chars().skip(count - MOST_OUTPUT).collect();
    let failed = matches!(outcome.ended, Ended::Failed { .. });
    match error_line(&outcome.output).filter(|line| failed && !end.contains(line.as_str())) {
        Some(error) => format!("{error}\n…{end}"),
        None => format!("…{end}"),
    }
}

fn cut(text: &str, most: usize) -> String {
    shortened(&clean(text), most).into_owned()
}

/// Redacted before it is cut: half a secret is still one.
fn clean(text: &str) -> String {
    secrets::redact(&plain(&bounded(text))).into_owned()
}
