//! Everything that an answer causes beside being printed, from the cache or not: hooks before and
//! after the run, and the outputs that the file declares.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use recoup_core::base::fsx;
use recoup_core::error::IoContext as _;
use recoup_core::{Error, ErrorKind, Result, secrets};

use super::agent_file::{AgentFile, DeclaredOutput};
use super::answer::AgentAnswer;
use super::runner::AgentRunner;
use super::tools::{RestRequest, parse_url};
use crate::mcp_client::header_map;

/// Name of the agent, for its hooks.
const AGENT_VARIABLE: &str = "RECOUP_AGENT";

/// Place that an answer goes to.
#[expect(clippy::large_enum_variant, reason = "there is one of it for an output")]
enum OutputDestination {
    File(PathBuf),
    /// A request without its body.
    Http(RestRequest),
}

impl AgentRunner<'_> {
    /// Runs the hooks before a run; if one fails, the agent does not run.
    pub(super) fn before_answer(&self, agent: &AgentFile) -> Result<()> {
        agent.hooks.pre_run.iter().try_for_each(|hook| self.run_hook(agent, hook, ""))
    }

    /// Writes the declared outputs and runs the hooks after a run. An output that cannot be written
    /// is an error, although there is an answer; a failing hook is not.
    pub(super) fn after_answer(
        &self,
        agent: &AgentFile,
        answered: Result<AgentAnswer>,
    ) -> Result<AgentAnswer> {
        let answered = answered.and_then(|answer| {
            agent.outputs.iter().try_for_each(|output| self.deliver(agent, output, &answer))?;
            Ok(answer)
        });
        let (hooks, said) = match &answered {
            Ok(answer) => (&agent.hooks.post_success, answer.text.clone()),
            Err(error) => (&agent.hooks.post_error, error.to_string()),
        };
        for hook in hooks {
            if let Err(error) = self.run_hook(agent, hook, &said) {
                self.observer.warn(&error);
            }
        }
        answered
    }

    /// Checks that the declared outputs can be written to, as far as that is known before there is an
    /// answer.
    pub(super) fn check_outputs(&self, agent: &AgentFile) -> Result<()> {
        agent.outputs.iter().try_for_each(|output| self.destination(agent, output).map(drop))
    }

    fn deliver(
        &self,
        agent: &AgentFile,
        output: &DeclaredOutput,
        answer: &AgentAnswer,
    ) -> Result<()> {
        match self.destination(agent, output)? {
            OutputDestination::File(path) => fsx::ensure_dir(fsx::parent(&path))
                .and_then(|()| fsx::write_output(&path, format!("{}\n", answer.text).as_bytes())),
            OutputDestination::Http(mut request) => {
                request.body = Some(answer.text.clone());
                let is_cancelled = || self.observer.is_cancelled();
                request.send(agent.limits.tool_timeout, &is_cancelled).and_then(|sent| {
                    sent.map(drop).map_err(|why| Error::new(ErrorKind::Unavailable, why))
                })
            }
        }
        .map_err(|error| error.context(format!("{}: writing the output", agent.name)))
    }

    /// The destination of an output, with the values of variables.
    fn destination(&self, agent: &AgentFile, output: &DeclaredOutput) -> Result<OutputDestination> {
        let (url, method, headers) = match output {
            DeclaredOutput::File { path } => {
                let path = self.app.settings.project.root().join(self.expand(agent, path)?);
                return Ok(OutputDestination::File(path));
            }
            DeclaredOutput::Http { url, method, headers } => (url, method, headers),
        };
        let context = |error: Error, what: &str| {
            error.context(format!("{}: output: {what}", agent.path.display()))
        };
        // The values of variables may be secret, and the text of the file, too.
        let shown = format!("url {:?}", secrets::redact(url));
        let upper = method.to_ascii_uppercase();
        Ok(OutputDestination::Http(RestRequest {
            method: upper.parse().map_err(|_| {
                context(Error::usage(format!("{method:?} is not an HTTP method")), "method")
            })?,
            url: parse_url(&self.expand(agent, url)?).map_err(|error| context(error, &shown))?,
            headers: header_map(headers.iter().map(|(name, value)| (name, value)))
                .map_err(|error| context(error, "headers"))?,
            body: None,
            credentials_hint: "credentials are headers of the output in the agent file",
        }))
    }

    /// Runs a shell command in the project's root, with `said` on its stdin.
    fn run_hook(&self, agent: &AgentFile, hook: &str, said: &str) -> Result<()> {
        let doing = || format!("{}: hook `{hook}`", agent.name);
        let mut command = Command::new("sh");
        command.args(["-c", hook]).current_dir(self.app.settings.project.root());
        // Its output must not mix with the answer.
        command.stdin(Stdio::piped()).stdout(Stdio::null()).env(AGENT_VARIABLE, &agent.name);
        let mut child = command.spawn().with_context(doing)?;
        if let Some(mut input) = child.stdin.take() {
            // A hook need not read.
            let _ = input.write_all(said.as_bytes());
        }
        let status = child.wait().with_context(doing)?;
        if status.success() {
            return Ok(());
        }
        Err(Error::new(ErrorKind::Invalid, format!("{}: failed ({status})", doing())))
    }
}
