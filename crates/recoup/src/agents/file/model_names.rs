//! Names of models in agent files: `provider/model`.

use super::AgentDialect;
use crate::config::{AgentSettings, nearest_name};
use crate::llm::ModelName;

/// Parses the name of a model, or says what is wrong with it. `provider` is the one that the file
/// names for all of its models.
pub(super) fn parse_model(
    text: &str,
    dialect: AgentDialect,
    provider: Option<&str>,
    settings: &AgentSettings,
) -> Result<ModelName, String> {
    let text = text.trim();
    let known = |name: &str| settings.providers.iter().any(|it| it.name == name);
    let (provider, model) = match (provider, text.split_once('/')) {
        (Some(provider), _) => (provider, text),
        (None, Some((provider, model))) => (provider, model),
        (None, None) => {
            let guessed = guessed_provider(text);
            let may_guess = matches!(dialect, AgentDialect::AgentMd | AgentDialect::Lifecycle);
            let Some(provider) = guessed.filter(|_| may_guess) else {
                let provider = guessed.unwrap_or("PROVIDER");
                return Err(format!(
                    "expected provider/model, such as {provider}/{text} (got {text:?})"
                ));
            };
            (provider, text)
        }
    };
    if model.trim().is_empty() {
        return Err(format!("expected provider/model (got {text:?})"));
    }
    if let Some(reason) =
        settings.unusable_reason("providers", provider).filter(|_| !known(provider))
    {
        return Err(format!("the provider {provider} cannot be used: {reason}"));
    }
    if !known(provider) {
        let names = || settings.providers.iter().map(|it| it.name.as_str());
        let advice = match nearest_name(provider, names()) {
            Some(meant) => format!("did you mean {meant}/{model}?"),
            None => format!(
                "expected provider/model with one of {}, or a provider that is defined in [providers.{provider}]",
                names().collect::<Vec<_>>().join(", ")
            ),
        };
        return Err(format!("unknown provider {provider:?}; {advice}"));
    }
    Ok(ModelName { provider: provider.to_owned(), model: model.to_owned() })
}

/// The provider of a model with a well-known name.
fn guessed_provider(model: &str) -> Option<&'static str> {
    let is_numbered = |rest: &str| rest.starts_with(|c: char| c.is_ascii_digit());
    if model.starts_with("claude") {
        Some("anthropic")
    } else if model.starts_with("gpt") || model.strip_prefix('o').is_some_and(is_numbered) {
        Some("openai")
    } else {
        None
    }
}
