//! Commands that an agent runs itself and that are answered from the cache: those that `[commands]`
//! names. Hooks look them up and hand in their output; `recoup replay` prints it again.
//!
//! ```text
//! cd web && npm test     directory: web | line: npm test | replay: cd web && recoup replay KEY
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use recoup_core::Result;
use recoup_core::base::clock::Timestamp;
use recoup_core::base::project::{Project, ProjectOrigin};
use recoup_core::cache::{
    Cache, CacheMode, FillOutcome, FillRefusal, LookupExplanation, LookupRequest, PathContext,
    PeekOutcome, SinceToken, SourceLimits, last_project_file_change,
};
use recoup_core::entry::{Draft, Entry, ProducerIdentity, ProductionCost};
use recoup_core::key::command::{CommandRecipe, shell_quoted};
use recoup_core::key::{EntryId, KeyPart, KeyRecipe as _, Kind};
use recoup_core::memory::shell::{ShellToken, plain_tokens};
use recoup_core::secrets::SecretValues;

use super::look::read_transcript;
use super::record::{OutputRecording, OutputStream};
use super::{CommandEnd, OutputFds, ResolvedProgram, path_as_source, replay};
use crate::app::App;
use crate::config::{CommandRule, env};
use crate::process::own_program;

/// Name of this program.
pub(crate) const PROGRAM: &str = "recoup";
/// Assignment in front of a command with which an agent asks for a fresh run.
const OFF: &str = "RECOUP=off";
/// State of all files of the project: what a command depends on if its rule does not say.
const PROJECT_FILES: &str = "project:files";
/// Part of the key by which these commands differ from those of `recoup exec`: their output is as a
/// client reports it.
const KEY_EXTRA: &str = "agent";
/// Characters of a key that name an entry.
const SHORT_KEY_CHARS: usize = 16;

/// A command of an agent that a rule names.
#[derive(Debug)]
pub(crate) struct AgentCommand<'a> {
    app: &'a App,
    rule: &'a CommandRule,
    /// The directory that the line changes to first, as it names it.
    change: Option<String>,
    directory: PathBuf,
    tokens: Vec<ShellToken>,
}

/// Output of a command, as its client reports it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ReportedOutput {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) exit: i32,
    /// Duration in milliseconds.
    pub(crate) millis: Option<u64>,
    /// True if the client says that it changed files.
    pub(crate) changes_files: bool,
}

/// The entry of a command's output, with everything that it depends on.
#[derive(Debug)]
pub(crate) struct AgentCommandEntry<'a> {
    rule: &'a CommandRule,
    cache: Cache,
    id: EntryId,
    identity: ProducerIdentity,
    parts: Vec<KeyPart>,
    view: PathContext,
    sources: Vec<String>,
    withheld: SecretValues,
}

impl<'a> AgentCommand<'a> {
    /// Finds the rule for a line that is run in `cwd`; none for lines that no rule names.
    pub(crate) fn find(app: &'a App, line: &str, cwd: &Path) -> Option<Self> {
        let commands = &app.settings.commands;
        if commands.rules.is_empty() || env::is_replay_off() {
            return None;
        }
        let mut tokens = plain_tokens(line, false)?;
        let change = match &tokens[..] {
            [ShellToken::Word(cd), ShellToken::Word(dir), ShellToken::Operator(and), ..]
                if cd == "cd" && and == "&&" && !dir.is_empty() && !dir.starts_with('-') =>
            {
                Some(dir.clone())
            }
            _ => None,
        };
        if change.is_some() {
            tokens.drain(..3);
        }
        // `RECOUP=off` in front asks for a fresh run, whatever a pattern names.
        let is_off = |it: &ShellToken| matches!(it, ShellToken::Word(word) if word == OFF);
        let rule = commands.rule_for(&tokens).filter(|_| !tokens.iter().any(is_off))?;
        let directory = cwd.join(change.as_deref().unwrap_or_default()).canonicalize().ok()?;
        // A repository within the project is a project of its own.
        let found = Project::find(&directory).ok()?;
        let is_own =
            found.root().canonicalize().ok()? == app.settings.project.root().canonicalize().ok()?;
        is_own.then_some(Self { app, rule, change, directory, tokens })
    }

    /// The line without the change of directory.
    pub(crate) fn line(&self) -> String {
        line_of(&self.tokens)
    }

    /// True if the user has said that a replay needs no approval of its own.
    pub(crate) fn allows_replays(&self) -> bool {
        self.app.settings.commands.allows_replays
    }

    /// Each command of the line, by itself.
    pub(crate) fn commands(&self) -> Vec<String> {
        let commands = self.tokens.split(|it| matches!(it, ShellToken::Operator(_)));
        commands.map(line_of).collect()
    }

    /// True if it names a file or directory, beside its programs.
    pub(crate) fn names_files(&self) -> Result<bool> {
        let is_operator = |it: &ShellToken| matches!(it, ShellToken::Operator(_));
        let is_there = |it: &ShellToken| match it {
            ShellToken::Word(word) => self.directory.join(word).exists(),
            ShellToken::Operator(_) => false,
        };
        // `2>&1` has no file.
        let redirects = |it: &ShellToken| match it {
            ShellToken::Word(_) => false,
            ShellToken::Operator(it) => it.contains(['<', '>']) && !it.contains(">&"),
        };
        let mut arguments = self.tokens.split(is_operator).flat_map(|words| words.iter().skip(1));
        Ok(arguments.any(is_there)
            || self.tokens.iter().any(redirects)
            || self.programs()?.is_some_and(|(_, mentioned)| !mentioned.is_empty()))
    }

    /// Resolves its entry; none if one of its programs can't be found, such as an alias.
    pub(crate) fn entry(&self) -> Result<Option<AgentCommandEntry<'a>>> {
        let Some((program, mentioned)) = self.programs()? else { return Ok(None) };
        let (app, rule) = (self.app, self.rule);
        let root = app.settings.project.root();
        // A line of several commands, or with variables in front (`CI=1 npm test`), counts as a whole.
        let is_one = program.words().len() == self.tokens.len();
        let arguments = if is_one { program.words() } else { vec![self.line().into()] };
        let mut sources = rule.sources.clone();
        if sources.is_empty() {
            sources.push(PROJECT_FILES.to_owned());
        }
        let variable = |name: &String| (name.clone(), env::verbatim(name));
        let recipe = CommandRecipe {
            programs: program.executables_relative_to(root),
            arguments,
            directory: self.key_directory(),
            environment: rule.environment.iter().map(variable).collect::<BTreeMap<_, _>>(),
            stdin: None,
            sources: [&sources[..], &rule.outputs].concat(),
            auto_sources: true,
            tty: false,
            rules: app.rules_for_program(program.file(), &program.words())?,
            extra: Some(KEY_EXTRA.to_owned()),
        };
        let mentioned = mentioned.iter().map(|file| path_as_source(&self.directory.join(file)));
        let mentioned: Vec<String> = mentioned.collect::<Result<_>>()?;
        let withheld = env::credentials();
        let name = withheld.redact(&self.line()).into_owned();
        Ok(Some(AgentCommandEntry {
            rule,
            cache: app.cache_for_writing()?,
            id: EntryId::new(app.scope(), recipe.key()?),
            identity: ProducerIdentity { name: Some(name), ..program.identity() },
            parts: recipe.parts(),
            view: PathContext { root: root.to_owned(), cwd: root.to_owned() },
            sources: [sources, mentioned, program.program_files()?].concat(),
            withheld,
        }))
    }

    /// The programs of all commands of the line, as one, and the files that their arguments name.
    fn programs(&self) -> Result<Option<(ResolvedProgram, BTreeSet<String>)>> {
        let path = env::search_path();
        let mut all: Option<(ResolvedProgram, BTreeSet<String>)> = None;
        for words in self.tokens.split(|it| matches!(it, ShellToken::Operator(_))) {
            let words = words.iter().filter_map(|token| match token {
                ShellToken::Word(word) => Some(OsString::from(word)),
                ShellToken::Operator(_) => None,
            });
            let is_assignment = |it: &OsString| it.to_string_lossy().contains('=');
            let words: Vec<OsString> = words.skip_while(is_assignment).collect();
            if words.is_empty() {
                continue;
            }
            let Ok(program) = ResolvedProgram::find(words, path.as_deref(), &self.directory) else {
                return Ok(None);
            };
            let files = program.mentioned_files(&self.directory)?;
            match &mut all {
                None => all = Some((program, files)),
                Some((first, mentioned)) => {
                    first.executables.extend(program.executables);
                    mentioned.extend(files);
                }
            }
        }
        Ok(all)
    }

    /// Directory in the key: relative in a repository if the rule has sources, so that clones share
    /// entries. Else nothing but the place is known of what the command reads, such as packages that
    /// are installed in this checkout.
    fn key_directory(&self) -> PathBuf {
        let project = &self.app.settings.project;
        if self.rule.sources.is_empty() {
            return self.directory.clone();
        }
        let root = project.root().canonicalize().unwrap_or_else(|_| project.root().to_owned());
        match (project.origin(), self.directory.strip_prefix(root)) {
            (ProjectOrigin::Folder(_), _) | (_, Err(_)) => self.directory.clone(),
            (_, Ok(inside)) if inside.as_os_str().is_empty() => PathBuf::from("."),
            (_, Ok(inside)) => inside.to_owned(),
        }
    }

    /// The line that runs `replay` in the place of this one, with the age of its output in words.
    pub(crate) fn replay_line(&self, replay: &str, age: &str) -> String {
        let change = self.change.as_ref().map(|it| format!("cd {} && ", shell_quoted(it.as_ref())));
        // Nothing may end the comment, and clients ask about backslashes.
        let is_shown = |it: &char| !it.is_control() && *it != '\\';
        let line: String = self.line().chars().filter(is_shown).collect();
        format!("{}{replay} # {line}, {age} ago, nothing changed", change.unwrap_or_default())
    }
}

impl AgentCommandEntry<'_> {
    fn request(&self) -> LookupRequest<'_> {
        let Self { id, identity, parts, view, sources, withheld, .. } = self;
        LookupRequest {
            identity: Some(identity),
            parts,
            sources,
            ttl: self.rule.ttl.as_millis(),
            failures: self.rule.failures.then_some(u64::MAX),
            accepts_merged_streams: true,
            withheld: Some(withheld),
            ..LookupRequest::new(Kind::Command, id, view)
        }
    }

    /// Returns the age of the kept output in milliseconds, if it may be replayed. A miss is counted;
    /// a hit is counted by its replay.
    pub(crate) fn look_up(&self) -> Result<Option<u64>> {
        let found = self.cache.peek(&self.request());
        if let PeekOutcome::Hit(entry) = &found {
            return Ok(Some(self.cache.clock().now().millis_since(entry.head().header.created)));
        }
        let request = LookupRequest { mode: CacheMode::NoStore, ..self.request() };
        self.cache.lookup_after(&request, Some(found)).map(|_| None)
    }

    /// The command that prints its output: by the program's name if the shell finds this program.
    pub(crate) fn replay_command(&self) -> Result<String> {
        let (own, path) = (own_program()?, env::search_path().unwrap_or_default());
        let found = ResolvedProgram::find(vec![PROGRAM.into()], Some(&path), &self.view.cwd);
        let is_own = found.is_ok_and(|it| own.canonicalize().is_ok_and(|own| own == it.file()))
            // In another directory `node_modules/.bin` is another.
            && std::env::split_paths(&path).all(|dir| dir.is_absolute());
        let program = if is_own { PROGRAM.to_owned() } else { shell_quoted(own.as_os_str()) };
        let key: String = self.id.key.as_str().chars().take(SHORT_KEY_CHARS).collect();
        Ok(format!("{program} replay {key}"))
    }

    /// Captures the state of its sources before it runs.
    pub(crate) fn since_token(&self) -> Result<SinceToken> {
        self.cache.issue_since_token(&self.view, &self.sources)
    }

    /// Keeps the output of a run that began in the state of the token. `Err` is the reason why not.
    pub(crate) fn keep(
        &self,
        output: &ReportedOutput,
        since: &SinceToken,
    ) -> Result<Result<(), FillRefusal>> {
        if output.exit != 0 && !self.rule.failures {
            return Ok(Err(FillRefusal::Unkept(CommandEnd::Code(output.exit).to_string())));
        }
        if self.rule.outputs.is_empty() {
            if output.changes_files {
                return Ok(Err(FillRefusal::Unkept("it changed files".to_owned())));
            }
            let has_project = self.sources.iter().any(|it| it == PROJECT_FILES);
            if has_project && self.has_younger_files(since.time()) {
                return Ok(Err(FillRefusal::SourcesDiffer));
            }
        }
        let permit = self.cache.permit(&self.id, &self.view, &self.sources)?;
        let permit = match permit.require_unchanged_since(since) {
            Ok(permit) => permit.with_outputs(&self.rule.outputs)?,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let mut recording = OutputRecording::new(u64::MAX, false);
        let streams = [(OutputStream::Out, &output.stdout), (OutputStream::Err, &output.stderr)];
        for (stream, text) in streams {
            recording.push(stream, text.as_bytes());
            // Clients drop the last line end.
            if !text.is_empty() && !text.ends_with('\n') {
                recording.push(stream, b"\n");
            }
        }
        let Ok(body) = recording.into_body(output.exit) else { return Ok(Ok(())) };
        let draft = Draft {
            identity: self.identity.clone(),
            parts: self.parts.clone(),
            cost: ProductionCost { millis: output.millis, ..ProductionCost::default() },
            body,
            failure: output.exit != 0,
            withheld: self.withheld.clone(),
            ..Draft::new(Kind::Command, "")
        };
        Ok(match permit.fill(draft, self.rule.ttl)? {
            FillOutcome::Refused(refusal) => Err(refusal),
            FillOutcome::Stored(_) | FillOutcome::Off => Ok(()),
        })
    }

    /// True if a file of the project has changed since, and may have been another for a while: its
    /// state is one of contents alone.
    fn has_younger_files(&self, since: Timestamp) -> bool {
        let last = last_project_file_change(&self.view.root, SourceLimits::default());
        last.is_none_or(|last| last > since)
    }

    /// Explains why it would be replayed or run.
    pub(crate) fn explain(&self) -> LookupExplanation {
        self.cache.explain(&self.request())
    }
}

fn line_of(tokens: &[ShellToken]) -> String {
    let shown = tokens.iter().map(|token| match token {
        ShellToken::Word(word) => shell_quoted(word.as_ref()),
        ShellToken::Operator(operator) => operator.clone(),
    });
    shown.collect::<Vec<_>>().join(" ")
}

/// Looks up a kept output by its key alone, as a replay does: its sources must be as they were.
pub(crate) fn find_replay(app: &App, id: &EntryId) -> PeekOutcome {
    let view = app.view();
    let request = LookupRequest {
        failures: Some(u64::MAX),
        accepts_merged_streams: true,
        ..LookupRequest::new(Kind::Command, id, &view)
    };
    app.cache().read(&request)
}

/// Prints a kept output, and returns how its command ended; none if it is no command's.
pub(crate) fn replay_entry(entry: &Entry, outlets: OutputFds) -> Result<Option<CommandEnd>> {
    match read_transcript(entry)? {
        Some(transcript) => replay(&transcript, outlets).map(Some),
        None => Ok(None),
    }
}
