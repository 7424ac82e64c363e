//! `recoup gateway status`: asks a gateway that runs.

use clap::Args;

use crate::cli::failure::report_as_json;
use crate::cli::{CommandAnswer, CommandResult, human, ui};
use crate::config::GatewaySettings;
use crate::gateway::{GatewayStatus, RuleStatus, StatusQuery};

#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct StatusArgs {
    /// The gateway's address [default: gateway.listen on this machine]
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// As JSON
    #[arg(long)]
    json: bool,
}

const AFTER_HELP: &str = "\
A gateway with tokens is asked with RECOUP_GATEWAY_TOKEN, or with the token of a tenant.

Exit codes: 0 it runs, 1 none answers, 2 wrong usage.";

impl StatusArgs {
    pub(super) fn run(&self, settings: &GatewaySettings) -> CommandResult {
        if !self.json {
            return print_status(&StatusQuery::new(self.url.as_deref(), settings)?.fetch()?);
        }
        report_as_json((|| {
            ui::json(&StatusQuery::new(self.url.as_deref(), settings)?.fetch()?)?;
            Ok(CommandAnswer::Yes)
        })())
    }
}

fn print_status(status: &GatewayStatus) -> CommandResult {
    let GatewayStatus { requests, store, .. } = status;
    let up = human::duration(status.uptime_seconds * 1000);
    let store = match (store.is_readable, store.errors) {
        (true, 0) => store.url.clone(),
        (true, errors) => format!("{} ({} errors)", store.url, human::count(errors)),
        (false, _) => format!("{} (cannot be read)", store.url),
    };
    let outcomes: Vec<String> = ["hit", "stale", "miss", "bypass"]
        .into_iter()
        .filter_map(|name| {
            let count = requests.by_outcome.get(name)?;
            Some(format!("{} {name}", human::count(*count)))
        })
        .collect();
    let rate = status.hit_rate.map(|rate| format!(" (hit rate {:.0} %)", rate * 100.0));
    let outcomes = if outcomes.is_empty() { "none".to_owned() } else { outcomes.join(", ") };
    let reload = match &status.last_reload {
        None => "none since the start".to_owned(),
        Some(reload) => match &reload.refused {
            None => reload.at.clone(),
            Some(why) => format!("{}, refused: {why}", reload.at),
        },
    };
    let mut fields = vec![
        ("gateway", format!("{} (recoup {}, up {up})", status.url, status.version)),
        ("store", store),
        ("connections", format!("{} of {}", status.connections, status.max_connections)),
        ("open answers", requests.open_answers.to_string()),
        ("requests", outcomes + &rate.unwrap_or_default()),
        (
            "saved",
            format!(
                "{} tokens, {}",
                human::count(requests.saved_tokens),
                human::dollars(requests.saved_micro_dollars)
            ),
        ),
        ("stored answers", human::count(requests.stored)),
        ("last reload", reload),
    ];
    fields.extend(status.upstreams.iter().map(|it| {
        let api = if it.api == it.name { String::new() } else { format!(" ({})", it.api) };
        ("upstream", format!("{} {}{api}", it.name, it.url))
    }));
    fields.extend(status.rules.iter().map(|rule| ("rule", describe_rule(rule))));
    fields.extend(status.tenants.iter().map(|name| ("tenant", name.clone())));
    fields.extend(status.traces.iter().map(|url| ("traces", url.clone())));
    ui::fields(&fields)?;
    Ok(CommandAnswer::Yes)
}

/// `7d for model claude-*, path /v1/messages`
fn describe_rule(rule: &RuleStatus) -> String {
    let RuleStatus { model, path, upstream, ttl, stale_while_revalidate } = rule;
    let meant = [("model", model), ("path", path), ("upstream", upstream)];
    let meant: Vec<String> = meant
        .into_iter()
        .filter_map(|(name, value)| Some(format!("{name} {}", value.as_ref()?)))
        .collect();
    let meant = if meant.is_empty() { "everything else".to_owned() } else { meant.join(", ") };
    let stale = stale_while_revalidate.as_ref().map(|time| format!(" (+ {time} stale)"));
    format!("{ttl}{} for {meant}", stale.unwrap_or_default())
}
