//! Cost of a result, as reported by the caller.

use clap::Args;
use recoup_core::cache::Ttl;
use recoup_core::entry::{ProductionCost, to_micro_dollars};
use recoup_core::{Error, Result};

use crate::cli::ui;
use crate::config::PriceTable;

/// `--took`, `--input-tokens`, `--output-tokens`, `--model`, `--dollars`.
#[derive(Debug, Args)]
pub(super) struct CostArgs {
    /// How long the work took, such as 850ms, 90s or 2m: a later hit has saved that
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true)]
    took: Option<String>,
    /// How many tokens went in
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    input_tokens: Option<u64>,
    /// How many tokens came out
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    output_tokens: Option<u64>,
    /// Which model it was: what its tokens cost is then looked up
    #[arg(long, value_name = "MODEL", conflicts_with = "dollars")]
    model: Option<String>,
    /// The cost in dollars
    #[arg(long, value_name = "X", allow_hyphen_values = true)]
    dollars: Option<String>,
}

impl CostArgs {
    pub(super) fn resolve(&self, prices: &PriceTable) -> Result<ProductionCost> {
        let Self { took, input_tokens, output_tokens, model, dollars } = self;
        let millis = took.as_deref().map(parse_took).transpose()?;
        let tokens = (input_tokens.unwrap_or(0), output_tokens.unwrap_or(0));
        let micro_dollars = match (dollars, model) {
            (Some(dollars), _) => Some(parse_dollars(dollars)?),
            (None, Some(_)) if input_tokens.is_none() && output_tokens.is_none() => {
                return Err(Error::usage(
                    "--model says what tokens cost: give --input-tokens and --output-tokens too",
                ));
            }
            (None, Some(model)) => price_of_tokens(model, tokens, prices),
            (None, None) => None,
        };
        Ok(ProductionCost {
            millis,
            input_tokens: *input_tokens,
            output_tokens: *output_tokens,
            micro_dollars,
        })
    }
}

/// Price of the tokens. An unknown model only warns: the result is still stored.
fn price_of_tokens(model: &str, (input, output): (u64, u64), prices: &PriceTable) -> Option<u64> {
    let price = prices.price_of(model);
    if price.is_none() {
        ui::warn(format_args!(
            "no price is known for the model {model:?}; give --dollars, or a table \
             [prices.{model:?}] in your configuration (`recoup config path`)"
        ));
    }
    price.map(|price| price.cost(input, output))
}

fn parse_took(text: &str) -> Result<u64> {
    match Ttl::parse_with_unit("--took", text)? {
        Ttl::Off => Ok(0),
        ttl => ttl.as_millis().ok_or_else(|| Error::usage("--took: nothing takes for ever")),
    }
}

fn parse_dollars(text: &str) -> Result<u64> {
    let dollars = text.trim().trim_start_matches('$').parse::<f64>().ok();
    dollars.and_then(to_micro_dollars).ok_or_else(|| {
        Error::usage(format!("invalid --dollars {text:?}: expected a sum such as 0.042"))
    })
}
