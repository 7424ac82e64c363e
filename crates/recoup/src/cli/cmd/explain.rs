//! `recoup explain`: why something is a hit, or a miss.

use clap::{Args, Subcommand};
use recoup_core::cache::{Explanation, Request};
use recoup_core::key::{Id, Key, Kind, Part, Recipe};

use super::cache::named::NamedArgs;
use super::exec::ExecArgs;
use super::key::agent_run::AgentRunArgs;
use super::place::PlaceArgs;
use crate::cli::app::App;
use crate::cli::explain::Report;
use crate::cli::{Answer, Ended, ui};

/// Say why something is a hit or a miss.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, after_help = AFTER_HELP)]
pub(in crate::cli) struct ExplainArgs {
    #[command(subcommand)]
    asked: Option<Asked>,
    /// The entry's key
    #[arg(value_name = "KEY", conflicts_with = "key")]
    entry: Option<String>,
    #[command(flatten)]
    named: NamedArgs,
    /// As JSON
    #[arg(long, global = true)]
    json: bool,
    #[command(flatten)]
    place: PlaceArgs,
}

const AFTER_HELP: &str = "\
Examples:
  recoup explain exec --source 'src/**/*.rs' -- claude -p 'review src'
  recoup explain --paths src/auth.rs --query 'find sql injection' --operation security-audit
  recoup explain 29a54c34e14371b5

The same with --explain on `recoup exec` and `recoup cache get`. Nothing is run, counted or changed.
Where there is no entry, the one that is most like it is shown, and what differs.";

#[derive(Debug, Subcommand)]
enum Asked {
    /// Why a command would be replayed, or run: give what you would give `recoup exec`
    Exec(Box<ExecArgs>),
    /// Why there is an answer of an agent run, or none
    AgentRun(AgentRunArgs),
}

impl ExplainArgs {
    pub(in crate::cli) fn run(self) -> Ended {
        let Self { asked, entry, named, json, place } = self;
        let explanation = match asked {
            Some(Asked::Exec(args)) => match args.explain()? {
                Ok(explanation) => explanation,
                Err(end) => return Ok(Answer::Exit(end)),
            },
            Some(Asked::AgentRun(args)) => {
                let recipe = args.recipe()?;
                let app = App::load(&place.overrides())?;
                explain(app, recipe.key()?, &recipe.parts(), Some(Kind::AgentRun))
            }
            None => {
                let named = named.with_key(entry).resolve()?;
                let app = App::load(&place.overrides())?;
                let kind = (!named.parts.is_empty()).then_some(Kind::Result);
                explain(app, named.key, &named.parts, kind)
            }
        };
        let report = Report::new(&explanation);
        if json {
            ui::json(&report)?;
        } else {
            report.lines().into_iter().try_for_each(|line| ui::line(ui::printable(&line)))?;
        }
        Ok(Answer::Yes)
    }
}

/// Of a bare key the kind is known if the entry is there.
fn explain(app: &App, key: Key, parts: &[Part], kind: Option<Kind>) -> Explanation {
    let (cache, view, id) = (app.cache(), app.view(), Id::new(app.scope(), key));
    let stored = || cache.head(&id).ok().flatten().map(|head| head.header.kind);
    let kind = kind.or_else(stored).unwrap_or(Kind::Result);
    cache.explain(&Request { parts, ..Request::new(kind, &id, &view) })
}
