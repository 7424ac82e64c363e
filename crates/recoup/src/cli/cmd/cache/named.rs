//! Flags that identify a result: a key, or the parts that a key is made from.

use clap::Args;
use recoup_core::cache::{ResolvedKey, ResultReference};
use recoup_core::{Error, Result};

/// `--key`, or `--paths --query --operation`, or both.
#[derive(Debug, Args)]
pub(in crate::cli) struct ResultSelectorArgs {
    /// The entry's key
    #[arg(long, value_name = "KEY", allow_hyphen_values = true)]
    key: Option<String>,
    /// In place of the key: what was looked at, separated by commas
    #[arg(long, value_name = "CSV", allow_hyphen_values = true)]
    paths: Option<String>,
    /// In place of the key: what was asked
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    query: Option<String>,
    /// In place of the key: the skill or operation
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    operation: Option<String>,
}

impl ResultSelectorArgs {
    pub(in crate::cli) fn is_given(&self) -> bool {
        let Self { key, paths, query, operation } = self;
        [key, paths, query, operation].into_iter().any(Option::is_some)
    }

    pub(in crate::cli) fn resolve(&self) -> Result<ResolvedKey> {
        let Self { key, paths, query, operation } = self;
        let naming = ResultReference {
            key: key.as_deref(),
            paths: paths.as_deref(),
            query: query.as_deref(),
            operation: operation.as_deref(),
            mark: "--",
        };
        naming.resolve()?.ok_or_else(|| {
            Error::usage(
                "which entry? Give --key KEY, or --paths CSV --query TEXT --operation NAME",
            )
        })
    }
}
