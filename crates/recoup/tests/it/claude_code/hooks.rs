//! What the client is told to start at its events: the hook under test, and
//! beside it a witness that keeps what the client has sent.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::install::EVENTS;
use crate::support::RECOUP;

/// In seconds, for each hook.
const TIMEOUT: u32 = 20;

/// What is started at every event.
#[derive(Clone, Debug)]
pub(crate) enum Hook {
    /// `recoup hook`, the one under test.
    Recoup,
    /// Nothing but the witness.
    None,
    /// A shell script in its place, with the payload on stdin.
    Script(String),
}

/// Keeps each payload in a file of its own, with what can be seen only from
/// inside a hook, and at that moment. The names sort by time.
const WITNESS: &str = r#"payload=$(cat)
    transcript=$(printf %s "$payload" | sed -n 's/.*"transcript_path":"\([^"]*\)".*/\1/p')
    [ -e "$transcript" ] && there=true || there=false
    file=$0/$(date +%s%N)-$$
    printf '{"payload":%s,"entrypoint":"%s","transcript":%s}' \
        "$payload" "$CLAUDE_CODE_ENTRYPOINT" $there > "$file.part"
    mv "$file.part" "$file.json""#;

impl Hook {
    fn entry(&self) -> Option<Value> {
        match self {
            Self::Recoup => Some(entry(RECOUP, &["hook"])),
            Self::None => None,
            Self::Script(text) => Some(shell(text, "hook")),
        }
    }
}

/// The exec form: no shell of the client's stands between.
fn entry(command: impl AsRef<Path>, args: &[&str]) -> Value {
    let command = command.as_ref();
    json!({ "type": "command", "command": command, "args": args, "timeout": TIMEOUT })
}

fn shell(script: &str, name: &str) -> Value {
    entry("/bin/sh", &["-c", script, name])
}

/// The client's `settings.json`.
pub(crate) fn settings(hook: &Hook, witnessed: &Path) -> Value {
    let witness = shell(WITNESS, witnessed.to_str().unwrap());
    let hooks: Vec<_> = hook.entry().into_iter().chain([witness]).collect();
    let events = EVENTS.into_iter().chain(["PostToolBatch"]);
    let hooks = events.map(|event| (event.to_owned(), json!([{ "hooks": hooks }])));
    json!({ "permissions": { "allow": ["Bash"] }, "hooks": hooks.collect::<Value>() })
}

/// One event, as the witness saw it.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) payload: Value,
    /// `CLAUDE_CODE_ENTRYPOINT`.
    pub(crate) entrypoint: String,
    /// Whether there was a file at `transcript_path`.
    pub(crate) transcript: bool,
}

impl Seen {
    /// All that was witnessed, in order.
    pub(crate) fn all(witnessed: &Path) -> Vec<Self> {
        let mut files: Vec<PathBuf> =
            fs::read_dir(witnessed).unwrap().map(|entry| entry.unwrap().path()).collect();
        // Others are still being written.
        files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
        files.sort();
        files.iter().map(|file| Self::read(file)).collect()
    }

    fn read(file: &Path) -> Self {
        let mut seen: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
        Self {
            payload: seen["payload"].take(),
            entrypoint: seen["entrypoint"].as_str().unwrap().to_owned(),
            transcript: seen["transcript"].as_bool().unwrap(),
        }
    }

    pub(crate) fn event(&self) -> &str {
        self.field("hook_event_name")
    }

    /// A field of the payload, empty if it is missing.
    pub(crate) fn field(&self, name: &str) -> &str {
        self.payload[name].as_str().unwrap_or_default()
    }
}
