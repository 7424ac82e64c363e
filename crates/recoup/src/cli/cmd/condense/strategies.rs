//! `recoup condense strategies`.

use clap::Args;
use recoup_core::condense::{CondenseStrategy, StrategyInfo};
use serde::Serialize;

use crate::cli::{CommandAnswer, CommandResult, ui};

/// List the strategies.
#[derive(Debug, Args)]
pub(super) struct StrategiesArgs {
    /// As JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct StrategiesReport {
    strategies: [StrategyInfo; 3],
    default: &'static str,
}

impl StrategiesArgs {
    pub(super) fn run(self) -> CommandResult {
        let strategies = CondenseStrategy::ALL.map(CondenseStrategy::info);
        let default = CondenseStrategy::default().name();
        if self.json {
            ui::json(&StrategiesReport { strategies, default })?;
            return Ok(CommandAnswer::Yes);
        }
        let row = |about: &StrategyInfo| {
            vec![
                about.name.to_owned(),
                format!("~{}", about.target_tokens),
                about.description.to_owned(),
                about.best_for.join(", "),
            ]
        };
        ui::table(
            &["STRATEGY", "TOKENS", "WHAT IT DOES", "BEST FOR"],
            &strategies.iter().map(row).collect::<Vec<_>>(),
        )?;
        ui::line(
            "\nTOKENS is the median of reports of cargo, ESLint, JUnit, pytest, ripgrep and SARIF.\n\
             recoup condense estimate --input FILE measures yours.",
        )?;
        ui::line(format_args!("\nDefault strategy: {default}"))?;
        Ok(CommandAnswer::Yes)
    }
}
