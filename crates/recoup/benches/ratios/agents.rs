//! `recoup run` beside a process that does nothing, and beside the model's own time; cached answers
//! through the library.

use std::hint::black_box;
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};

use recoup_core::cache::{Cache, CacheOptions, LookupRequest, Outcome, Ttl};
use recoup_core::entry::Draft;
use recoup_core::key::agent::{AgentAnswerRecipe, AgentIdentity};
use recoup_core::key::{EntryId, KeyRecipe as _, Kind, Scope};
use tempfile::TempDir;

use crate::library::view;
use crate::measure::{Figure, Ratio, compare};
use crate::model_server::{ModelTurn, Server};
use crate::scene::{Scene as Store, in_clean_environment};

const RECOUP: &str = env!("CARGO_BIN_EXE_recoup");
const TRUE: &str = "/bin/true";
const SERVER: &str = "mcp-server-filesystem";
/// How long the model thinks.
const MODEL_TIME: Duration = Duration::from_millis(20);
/// Answers through the library in one round.
const RUNS: usize = 1_000;

/// A home and a project with an agent that has a server's tools and two sub-agents.
struct Scene {
    home: TempDir,
    project: TempDir,
    model: Server,
}

impl Scene {
    fn new() -> Self {
        let model = Server::answering(|_| {
            std::thread::sleep(MODEL_TIME);
            ModelTurn::text("forty-two")
        });
        let scene = Self { home: TempDir::new().unwrap(), project: TempDir::new().unwrap(), model };
        let config = format!("[mcpServers.files]\ncommand = \"{SERVER}\"\nargs = [\".\"]\n");
        std::fs::write(scene.home.path().join("config.toml"), config).unwrap();
        let front = "---\nmodels: anthropic/claude-sonnet-4-5\n";
        let write = |name: &str, text: String| {
            std::fs::write(scene.project.path().join(name), text).unwrap();
        };
        for name in ["one.md", "two.md"] {
            write(name, format!("{front}description: Helps with {name}\n---\nYou help.\n"));
        }
        let more = "cache: 1h\nagents: [one.md, two.md]\n";
        write("lead.md", format!("{front}{more}tools: [files]\n---\nYou lead.\n"));
        write("alone.md", format!("{front}cache: 1h\n---\nYou answer.\n"));
        scene
    }

    fn run(&self, program: &str, args: &[&str]) {
        let status = in_clean_environment(program)
            .args(args)
            .current_dir(self.project.path())
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("RECOUP_HOME", self.home.path())
            .env("ANTHROPIC_BASE_URL", self.model.url())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        assert!(status.unwrap().success(), "{program} {args:?}");
    }
}

/// A hit, with tools and two sub-agents configured.
pub(crate) fn hit_against_true() -> Ratio {
    let scene = Scene::new();
    let args = ["run", "lead.md", "how many?"];
    scene.run(RECOUP, &args);
    compare(6.0, 300, 1, || scene.run(TRUE, &[]), || scene.run(RECOUP, &args))
}

/// Time that a miss adds to the model's own, with everything that a process costs.
pub(crate) fn miss() -> Figure {
    let scene = Scene::new();
    let mut times: Vec<Duration> = (0..100)
        .map(|number: usize| {
            let began = Instant::now();
            scene.run(RECOUP, &["run", "alone.md", &format!("how many are {number}?")]);
            began.elapsed().saturating_sub(MODEL_TIME)
        })
        .collect();
    times.sort_unstable();
    Figure { time: times[times.len() / 2], goal: Duration::from_millis(5) }
}

/// A thousand cached answers through the library: key, look-up, sources, checksum.
pub(crate) fn library_runs() -> Figure {
    let store = Store::with_entries(RUNS);
    let cache = Cache::new(Arc::new(store.store()), CacheOptions::default());
    let view = view();
    let mut identity = AgentIdentity::default();
    identity.push_shown("system prompt", &"You review code. ".repeat(100));
    identity.push_models(["anthropic/claude-sonnet-4-5"]);
    let recipe = |number: usize| AgentAnswerRecipe {
        identity: identity.clone(),
        prompt: format!("review module {number}"),
        variables: std::collections::BTreeMap::new(),
        format: "text".to_owned(),
        schema: None,
        history: None,
    };
    let look_up = |number: usize| {
        let recipe = recipe(number);
        let (id, parts) = (EntryId::new(Scope::global(), recipe.key().unwrap()), recipe.parts());
        let request =
            LookupRequest { parts: &parts, ..LookupRequest::new(Kind::Agent, &id, &view) };
        match cache.lookup(&request).unwrap() {
            Outcome::Hit(entry) => assert!(black_box(entry.body()).to_bytes().unwrap().len() > 10),
            Outcome::Miss(permit, _) => {
                let draft = Draft { parts, ..Draft::new(Kind::Agent, "looks good to me") };
                permit.fill(draft, Ttl::days(1)).map(drop).unwrap();
            }
            other => panic!("{other:?}"),
        }
    };
    (0..RUNS).for_each(look_up);
    let began = Instant::now();
    (0..RUNS).for_each(look_up);
    Figure { time: began.elapsed(), goal: Duration::from_secs(1) }
}
