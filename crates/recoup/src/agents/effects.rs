//! Everything that an answer causes beside being printed, from the cache or not: hooks before and
//! after the run, and the outputs that the file declares.

use std::io::Write as _;
use std::process::{Command, Stdio};

use recoup_core::base::fsx;
use recoup_core::error::IoContext as _;
use recoup_core::{Error, ErrorKind, Result};

use super::agent_file::{AgentFile, DeclaredOutput};
use super::answer::AgentAnswer;
use super::runner::AgentRunner;
use super::tools::RestRequest;
use crate::mcp_client::{HttpFault, header_map};

/// Name of the agent, for its hooks.
const AGENT_VARIABLE: &str = "RECOUP_AGENT";

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

    fn deliver(
        &self,
        agent: &AgentFile,
        output: &DeclaredOutput,
        answer: &AgentAnswer,
    ) -> Result<()> {
        match output {
            DeclaredOutput::File { path } => {
                let path = self.app.settings.project.root().join(self.expand(agent, path)?);
                fsx::ensure_dir(fsx::parent(&path))?;
                fsx::write_output(&path, format!("{}\n", answer.text).as_bytes())
            }
            DeclaredOutput::Http { url, method, headers } => {
                let url = self.expand(agent, url)?;
                let wrong = |what: &str| Error::usage(format!("not a valid {what}"));
                let request = RestRequest {
                    method: method.parse().map_err(|_| wrong("HTTP method"))?,
                    url: url.parse().map_err(|_| wrong("URL"))?,
                    headers: header_map(headers.iter().map(|(name, value)| (name, value)))?,
                    body: Some(answer.text.clone()),
                };
                let sent =
                    request.send(agent.limits.tool_timeout, &|| self.observer.is_cancelled());
                sent.and_then(|answer| {
                    let refused =
                        |fault: HttpFault| Error::new(ErrorKind::Unavailable, fault.message);
                    answer.map(drop).map_err(refused)
                })
            }
        }
        .map_err(|error| error.context(format!("{}: writing the output", agent.name)))
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
