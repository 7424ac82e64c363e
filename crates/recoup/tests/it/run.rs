//! `recoup run`: agent files that are answered by a scripted model, or from the cache.

mod answers;
mod breaks;
mod effects;
mod identity;
mod openapi;
mod other_agents;
mod recordings;

use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::model_server::{ModelTurn, Received, Server};
use crate::support::{Home, Output, finish};

/// A project with agent files, and the model that they ask.
struct AgentScene {
    home: Home,
    server: Server,
}

impl AgentScene {
    /// A model that answers as `turn` says.
    fn answering(turn: impl Fn(&Received) -> ModelTurn + Send + Sync + 'static) -> Self {
        Self { home: Home::new(), server: Server::answering(turn) }
    }

    /// A model with these answers, one after the other.
    fn scripted(turns: Vec<ModelTurn>) -> Self {
        Self { home: Home::new(), server: Server::scripted(turns) }
    }

    /// A model that counts: `answer 1`, `answer 2`, ….
    fn counting() -> Self {
        let count = AtomicUsize::new(0);
        Self::answering(move |_| {
            let number = count.fetch_add(1, Ordering::Relaxed) + 1;
            ModelTurn::text(&format!("answer {number}"))
        })
    }

    /// Writes an agent file with a model and these lines of front matter.
    fn agent(&self, name: &str, front: &str, body: &str) {
        let text = format!("---\nmodels: anthropic/claude-sonnet-4-5\n{front}---\n{body}\n");
        self.home.write(name, text);
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = self.home.command(&[&["run"], args].concat());
        command.env("ANTHROPIC_BASE_URL", self.server.url());
        command.env("ANTHROPIC_API_KEY", "test-key-of-nobody");
        command
    }

    /// `recoup run`
    fn run(&self, args: &[&str]) -> Output {
        finish(&mut self.command(args))
    }

    /// The answer of a run that succeeds.
    #[track_caller]
    fn answer(&self, args: &[&str]) -> String {
        self.run(args).expect(0).text().trim_end().to_owned()
    }

    /// How often the model was asked.
    fn asked(&self) -> usize {
        self.server.received().len()
    }

    /// The last words that the model was sent in a request.
    fn last_prompt(&self, request: usize) -> String {
        let body = self.server.received()[request].json();
        let messages = body["messages"].as_array().unwrap();
        messages.last().unwrap()["content"].to_string()
    }
}
