//! `recoup run`: an agent file, answered from the cache or by a model.

use std::collections::BTreeMap;
use std::fmt;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Args;
use recoup_core::base::fsx;
use recoup_core::cache::{CacheMode, Ttl};
use recoup_core::secrets::SecretValues;
use recoup_core::{Error, ErrorKind, Result};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::place::StoreScopeArgs;
use crate::agents::{
    AgentAnswer, AgentQuestion, AgentRunner, AnswerOrigin, FormatKind, PermissionAnswer,
    PermissionPrompt, PreparedRun, RunJournal, RunObserver, RunOptions, ToolPermission, load_agent,
    parse_model_name, withheld_values,
};
use crate::cli::app::App;
use crate::cli::explain::ExplainReport;
use crate::cli::failure::{self, CommandError};
use crate::cli::{CommandAnswer, NO, USAGE, input, ui};
use crate::exec::{FAILED, NOT_CACHED};
use crate::human;
use crate::llm::{Cassette, ChatMessage, ReplyBlock};
use crate::toolbox::NamePattern;

#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that people type")]
pub(in crate::cli) struct RunArgs {
    /// The agent file: .ai, .agent.md, .lifecycle.yaml, or Markdown with front matter
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The question; - reads it from stdin
    #[arg(value_name = "PROMPT", allow_hyphen_values = true)]
    prompt: Option<String>,
    /// How long answers may be served from the cache: 30m, 12h, 7d, forever, off; overrides the files
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true)]
    cache: Option<String>,
    /// Override a setting of the file; only cache=DURATION is known, and it wins over --cache
    #[arg(long = "override", value_name = "KEY=VALUE")]
    overrides: Vec<String>,
    /// Format of the answer: text, markdown or json
    #[arg(long, value_name = "FORMAT")]
    format: Option<String>,
    /// Ask this model, in place of the files' own: PROVIDER/MODEL
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// Value of a variable in the file; may be given several times
    #[arg(long = "var", value_name = "NAME=VALUE")]
    variables: Vec<String>,
    /// Values of variables, one NAME=VALUE on each line
    #[arg(long, value_name = "FILE")]
    var_file: Option<PathBuf>,
    /// Let the agent use tools with this name that are not read-only, without asking: `files__write_*`
    #[arg(long = "allow", value_name = "PATTERN")]
    allowed: Vec<String>,
    /// Also write the answer to this file
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Earlier conversation, as JSON: [{"role": "user", "content": "…"}, {"role": "assistant", …}]
    #[arg(long, value_name = "FILE")]
    history: Option<PathBuf>,
    /// Always run the agent, its tools and its sub-agents, and store the results
    #[arg(long, conflicts_with_all = ["no_cache", "only_if_cached"])]
    refresh: bool,
    /// Always run, and store nothing
    #[arg(long, conflicts_with = "only_if_cached")]
    no_cache: bool,
    /// Never run: exit 124 if the answer is not in the cache
    #[arg(long)]
    only_if_cached: bool,
    /// Accept no answer that is older than this, whatever its TTL
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true)]
    max_age: Option<String>,
    /// Continue a run of this that did not finish: nothing is paid twice
    #[arg(long, conflicts_with_all = ["record", "replay"])]
    resume: bool,
    /// Record all answers of models and tools in this file
    #[arg(long, value_name = "FILE", conflicts_with_all = ["replay", "only_if_cached"])]
    record: Option<PathBuf>,
    /// Answer all requests from a recorded file; nothing is asked, started, paid or stored (the answer
    /// is stored with --refresh)
    #[arg(long, value_name = "FILE", conflicts_with = "only_if_cached")]
    replay: Option<PathBuf>,
    /// With --replay: from this answer of a model on, ask for real
    #[arg(long, value_name = "N", requires = "replay")]
    from: Option<usize>,
    /// Answer, cost and origin as JSON
    #[arg(long)]
    json: bool,
    /// Explain on stderr why it is a hit or a miss
    #[arg(long)]
    explain: bool,
    /// Report on stderr what is called, and what it cost
    #[arg(short, long)]
    verbose: bool,
    #[command(flatten)]
    place: StoreScopeArgs,
}

const AFTER_HELP: &str = "\
Examples:
  recoup run reviewer.md 'review src/auth.rs'
  git diff | recoup run reviewer.ai - --cache 1d
  recoup run planner.md 'plan the release' --record plan.jsonl

Answers are cached if --override cache=, --cache or the file gives a TTL. An answer is served again \
while the agent, everything it uses (models, tools, other agents, included files, rules) and the question \
are the same. `recoup agents show FILE` lists what counts; --refresh asks anew.

Exit codes: 0 an answer, 1 none, 2 wrong usage, configuration or agent file, 124 with \
--only-if-cached if there is no cached answer, 125 if recoup itself fails.";

/// Output of `--json`.
#[derive(Serialize)]
struct AnswerReport<'a> {
    agent: &'a str,
    /// A JSON value if the answer is JSON.
    answer: Value,
    status: &'static str,
    key: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    age_ms: Option<u64>,
    input_tokens: u64,
    output_tokens: u64,
    micro_dollars: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    saved: Option<recoup_core::entry::ProductionCost>,
}

/// Shows a run on the terminal.
pub(super) struct TerminalObserver {
    /// True if the answer is shown as it comes.
    pub(super) streams: bool,
    pub(super) verbose: bool,
    pub(super) line: OpenLine,
}

/// True while the last line of the answer on the terminal has no end: messages begin on a new one.
#[derive(Debug, Clone, Default)]
pub(super) struct OpenLine(Arc<AtomicBool>);

impl OpenLine {
    fn end(&self) {
        if self.0.swap(false, Ordering::Relaxed) {
            let _ = ui::data(&[b"\n"]);
        }
    }
}

impl RunObserver for TerminalObserver {
    fn text(&self, piece: &str) {
        if self.streams {
            // A reader that is gone does not need the answer; the cache does.
            let _ = ui::data(&[without_controls(piece).as_bytes()]);
            self.line.0.store(!piece.ends_with('\n'), Ordering::Relaxed);
        }
    }

    fn restarted(&self) {
        if self.streams {
            self.line.end();
            ui::say("the answer was cut off; it begins again:");
        }
    }

    fn notice(&self, line: fmt::Arguments<'_>) {
        self.line.end();
        ui::say(line);
    }

    fn detail(&self, line: fmt::Arguments<'_>) {
        if self.verbose {
            self.line.end();
            ui::say_dimmed(line);
        }
    }

    fn warn(&self, error: &Error) {
        self.line.end();
        failure::warn(error);
    }

    fn is_cancelled(&self) -> bool {
        false
    }
}

impl RunArgs {
    pub(super) fn run(self) -> CommandAnswer {
        ui::prefix_lines();
        let code = match self.execute() {
            Ok(()) | Err(CommandError::ReaderGone) => 0,
            Err(CommandError::Error(error) | CommandError::Told(error)) => {
                // An agent file may have several problems, one on each line.
                error.to_string().lines().for_each(ui::error);
                match error.kind() {
                    ErrorKind::Absent if self.only_if_cached => NOT_CACHED,
                    ErrorKind::Usage => USAGE,
                    ErrorKind::Invalid | ErrorKind::Absent | ErrorKind::Unavailable => NO,
                    _ => FAILED,
                }
            }
        };
        CommandAnswer::Exit(code)
    }

    fn execute(&self) -> Result<(), CommandError> {
        let app = App::load(&self.place.overrides())?;
        if let Some(dir) = self.output.as_deref().map(fsx::parent)
            && !(dir.as_os_str().is_empty() || dir.is_dir())
        {
            let message = format!("--output: {} is not a directory", dir.display());
            return Err(Error::usage(message).into());
        }
        let agent = load_agent(app, &self.file)?;
        let line = OpenLine::default();
        let options = self.options(app, &line)?;
        let is_json = options.format.unwrap_or(agent.output.kind) == FormatKind::Json;
        let streams = ui::stdout_is_terminal() && !self.json && !is_json;
        let observer = TerminalObserver { streams, verbose: self.verbose, line: line.clone() };
        agent.notices.iter().for_each(|notice| observer.notice(format_args!("{notice}")));
        let prompt = self.prompt.as_deref().map(prompt_text).transpose()?;
        let mut journal = self.journal(app, prompt.as_deref(), &options);
        let cassette = self.cassette(&withheld_values(app, &agent), journal.as_mut())?;
        let client = app.model_client(cassette.clone())?;
        let runner = AgentRunner::new(app, client, cassette.clone(), options, &observer);
        let question = AgentQuestion { prompt, parent_ttl: None, is_root: true };
        let prepared = runner.prepare(&agent, &question)?;
        if self.explain {
            let explained = prepared.slot.explain();
            let report = ExplainReport::with_rule_names(&explained, &app.rule_names());
            report.lines().iter().for_each(ui::say);
        }
        let answered = runner.answer_prepared(&prepared);
        let omissions = cassette.iter().flat_map(|cassette| cassette.omissions());
        omissions.for_each(|omission| observer.notice(format_args!("{omission}")));
        if let Some(cassette) = &cassette {
            // Best effort: only `recoup cassette prune` reads it.
            let _ = cassette.note_used(&app.settings.home);
        }
        // A run that failed by itself would fail again with the same answers.
        let is_over =
            answered.as_ref().err().is_none_or(|error| error.kind() == ErrorKind::Invalid);
        let done = answered.map_err(CommandError::from).and_then(|answer| {
            self.print(&prepared, &answer, is_json, &observer)?;
            if let Some(path) = &self.output {
                fsx::write_output(path, format!("{}\n", answer.text).as_bytes())?;
            }
            Ok(())
        });
        if let Some(journal) = journal.filter(|_| is_over)
            && let Err(error) = journal.remove()
        {
            observer.warn(&error);
        }
        done
    }

    /// Explains why the answer would be a hit or a miss.
    pub(in crate::cli) fn explain_lookup(&self) -> Result<ExplainReport, CommandError> {
        let app = App::load(&self.place.overrides())?;
        let agent = load_agent(app, &self.file)?;
        let observer =
            TerminalObserver { streams: false, verbose: self.verbose, line: OpenLine::default() };
        let client = app.model_client(None)?;
        let runner =
            AgentRunner::new(app, client, None, self.options(app, &observer.line)?, &observer);
        let prompt = self.prompt.as_deref().map(prompt_text).transpose()?;
        let question = AgentQuestion { prompt, parent_ttl: None, is_root: true };
        let explained = runner.prepare(&agent, &question)?.slot.explain();
        Ok(ExplainReport::with_rule_names(&explained, &app.rule_names()))
    }

    fn options(&self, app: &App, line: &OpenLine) -> Result<RunOptions> {
        let mut ttl =
            self.cache.as_deref().map(|it| Ttl::parse_with_unit("--cache", it)).transpose()?;
        for given in &self.overrides {
            let Some(("cache", value)) = given.split_once('=') else {
                return Err(Error::usage(format!(
                    "--override {given}: only cache=DURATION is known"
                )));
            };
            ttl = Some(Ttl::parse_with_unit("--override cache", value)?);
        }
        let format = match self.format.as_deref() {
            None => None,
            Some(name) => Some(FormatKind::parse(name).ok_or_else(|| {
                Error::usage(format!("--format {name}: expected text, markdown or json"))
            })?),
        };
        let mode = if self.no_cache || (self.replay.is_some() && !self.refresh) {
            CacheMode::Bypass
        } else if self.refresh || self.record.is_some() {
            CacheMode::Refresh
        } else if self.only_if_cached {
            CacheMode::OnlyIfCached
        } else {
            CacheMode::Use
        };
        let history = match &self.history {
            None => Vec::new(),
            Some(path) => read_history(path)?,
        };
        Ok(RunOptions {
            mode,
            max_age: input::duration("--max-age", self.max_age.as_deref())?,
            ttl,
            format,
            model: self.model.as_deref().map(|name| parse_model_name(app, name)).transpose()?,
            variables: self.read_variables()?,
            is_replay: self.replay.is_some(),
            permission: Arc::new(ToolPermission::new(
                self.allowed.iter().map(NamePattern::new).collect(),
                ui::can_ask().then(|| -> PermissionPrompt {
                    let line = line.clone();
                    Box::new(move |question| {
                        line.end();
                        ask_permission(question)
                    })
                }),
            )),
            history,
        })
    }

    /// Variables of --var-file, and on top those of --var.
    fn read_variables(&self) -> Result<BTreeMap<String, String>> {
        let text = match &self.var_file {
            None => String::new(),
            Some(path) => input::decode_utf8("--var-file", read_named_file("--var-file", path)?)?,
        };
        let lines =
            text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let lines = lines.map(|line| ("--var-file", line));
        let flags = self.variables.iter().map(|given| ("--var", given.as_str()));
        let pair = |(flag, given): (&str, &str)| match given.split_once('=') {
            Some((name, value)) if !name.trim().is_empty() => {
                Ok((name.trim().to_owned(), value.to_owned()))
            }
            _ => Err(Error::usage(format!("{flag}: expected NAME=VALUE (got {given:?})"))),
        };
        lines.chain(flags).map(pair).collect()
    }

    /// Recorded answers that are used or made; in an ordinary run, the journal that --resume reads.
    fn cassette(
        &self,
        withheld: &SecretValues,
        journal: Option<&mut RunJournal>,
    ) -> Result<Option<Arc<Cassette>>> {
        let cassette = match (&self.record, &self.replay, journal) {
            (Some(file), ..) => Cassette::record(file, withheld)?,
            (_, Some(file), _) if self.model.is_some() => {
                Cassette::replay(file, self.from)?.ignoring_model()
            }
            (_, Some(file), _) => Cassette::replay(file, self.from)?,
            (None, None, None) => return Ok(None),
            (None, None, Some(journal)) => {
                if self.resume && !journal.take_over() {
                    let message = "nothing to resume: there is no unfinished run of this agent \
                                   with this question";
                    return Err(Error::usage(message));
                }
                if journal.has_unfinished() && !self.resume {
                    ui::say("an earlier run of this did not finish; --resume would continue it");
                }
                Cassette::journal(&journal.own, self.resume, withheld)?
            }
        };
        Ok(Some(Arc::new(cassette)))
    }

    /// The journals of what the user asks; none if nothing is journalled.
    fn journal(&self, app: &App, prompt: Option<&str>, options: &RunOptions) -> Option<RunJournal> {
        if self.record.is_some() || self.replay.is_some() || self.only_if_cached {
            return None;
        }
        let file = fsx::resolve_path(&self.file).unwrap_or_else(|| self.file.clone());
        let variables = json!(options.variables).to_string();
        let (file, prompt) = (file.as_os_str().as_bytes(), prompt.unwrap_or_default().as_bytes());
        let other =
            [&self.model, &self.format].map(|it| it.as_deref().unwrap_or_default().as_bytes());
        let inputs = [file, prompt, variables.as_bytes(), other[0], other[1]];
        Some(RunJournal::find(&app.settings.home, &inputs))
    }

    fn print(
        &self,
        prepared: &PreparedRun<'_>,
        answer: &AgentAnswer,
        is_json: bool,
        observer: &TerminalObserver,
    ) -> Result<(), CommandError> {
        let TerminalObserver { streams: streamed, line, .. } = observer;
        let AgentAnswer { text, origin, paid, .. } = answer;
        let (status, age_ms, saved) = match origin {
            AnswerOrigin::Cached { age_millis, saved } => ("hit", Some(*age_millis), Some(*saved)),
            AnswerOrigin::Fresh(_) => ("miss", None, None),
        };
        if self.json {
            let parsed = is_json.then(|| serde_json::from_str(text).ok()).flatten();
            ui::json(&AnswerReport {
                agent: &prepared.agent.name,
                answer: parsed.unwrap_or_else(|| Value::from(text.as_str())),
                status,
                key: prepared.slot.id().key.as_str(),
                age_ms,
                input_tokens: paid.usage.input,
                output_tokens: paid.usage.output,
                micro_dollars: paid.micro_dollars,
                saved,
            })?;
        } else if *streamed && status == "miss" && !prepared.is_answered_by_others() {
            // It was shown as it came.
            line.end();
        } else if ui::stdout_is_terminal() {
            ui::line(without_controls(text))?;
        } else {
            ui::line(text)?;
        }
        if self.verbose {
            match age_ms {
                Some(age) => ui::say_dimmed(format_args!("hit: {} old", human::long_duration(age))),
                None => ui::say_dimmed(format_args!(
                    "{} tokens in, {} out, {}, {} requests",
                    paid.usage.input,
                    paid.usage.output,
                    human::dollars(paid.micro_dollars),
                    paid.requests
                )),
            }
        }
        Ok(())
    }
}

/// Text of a model as a terminal may get it: nothing in it moves the cursor or sets the clipboard.
fn without_controls(text: &str) -> String {
    text.replace(|c: char| c.is_control() && !matches!(c, '\n' | '\t'), "\u{fffd}")
}

/// The prompt as it was typed, or stdin.
fn prompt_text(given: &str) -> Result<String> {
    let text = match given {
        "-" => input::decode_utf8("the prompt", input::stdin()?)?.trim_end().to_owned(),
        given => given.to_owned(),
    };
    // Such as `git diff | recoup run review.md -` without changes: not worth a question.
    if text.trim().is_empty() {
        let place = if given == "-" { ": stdin has no text" } else { "" };
        return Err(Error::usage(format!("the prompt is empty{place}")));
    }
    Ok(text)
}

/// Asks the user if a tool may run.
fn ask_permission(question: &str) -> PermissionAnswer {
    match ui::ask(format_args!("{question} [y/N/a] (a: always in this run)")).as_str() {
        "y" | "yes" => PermissionAnswer::Once,
        "a" | "always" => PermissionAnswer::Always,
        _ => PermissionAnswer::No,
    }
}

/// A file that the user names: if it cannot be read, the name is wrong.
fn read_named_file(flag: &str, path: &Path) -> Result<Vec<u8>> {
    input::file(flag, path).map_err(|error| Error::usage(error.to_string()))
}

/// A message of `--history`.
#[derive(Deserialize)]
struct HistoryMessage {
    role: String,
    content: String,
}

fn read_history(path: &Path) -> Result<Vec<ChatMessage>> {
    let bytes = read_named_file("--history", path)?;
    let invalid = |why: String| Error::usage(format!("--history {}: {why}", path.display()));
    let messages: Vec<HistoryMessage> =
        serde_json::from_slice(&bytes).map_err(|error| invalid(error.to_string()))?;
    let message = |HistoryMessage { role, content }: HistoryMessage| match role.as_str() {
        "user" => Ok(ChatMessage::User(content)),
        "assistant" => Ok(ChatMessage::Assistant(vec![ReplyBlock::Text { text: content }])),
        _ => Err(invalid(format!("unknown role {role:?}: expected user or assistant"))),
    };
    messages.into_iter().map(message).collect()
}
