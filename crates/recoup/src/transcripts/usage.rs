//! Tokens of the requests to a model, as clients write them down.

use std::borrow::Cow;

use memchr::memmem;
use recoup_core::memory::HookClient;
use recoup_core::memory::capture::transcript::bound_name;
use serde::Deserialize;
use serde_json::value::RawValue;

/// Tokens of one request, and its model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct RequestUsage {
    /// Id of the answer: several lines may be about one request.
    pub(crate) id: Option<String>,
    pub(crate) model: Option<String>,
    /// Input that the provider's prompt cache had no part in.
    pub(crate) fresh_input: u64,
    pub(crate) output: u64,
    /// Input that was read from the provider's prompt cache, and that was written there.
    pub(crate) cache_read: u64,
    pub(crate) cache_written: u64,
    /// Written tokens that are kept for an hour, at a higher price.
    pub(crate) written_for_hour: u64,
}

impl RequestUsage {
    /// Length of the prompt.
    pub(crate) fn prompt(&self) -> u64 {
        self.fresh_input.saturating_add(self.cache_read).saturating_add(self.cache_written)
    }

    /// All tokens.
    pub(crate) fn tokens(&self) -> u64 {
        self.prompt().saturating_add(self.output)
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ClaudeUsage {
    input_tokens: u64,
    output_tokens: u64,
    cache_read_input_tokens: u64,
    cache_creation_input_tokens: u64,
    cache_creation: Option<ClaudeCacheWrites>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ClaudeCacheWrites {
    ephemeral_1h_input_tokens: u64,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CodexUsage {
    #[serde(rename = "input_tokens")]
    input: u64,
    #[serde(rename = "cached_input_tokens")]
    cached_input: u64,
    #[serde(rename = "output_tokens")]
    output: u64,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct PiUsage {
    input: u64,
    output: u64,
    cache_read: u64,
    cache_write: u64,
}

/// An assistant's message of Claude Code or Pi.
#[derive(Deserialize)]
struct UsageMessage<'a> {
    #[serde(borrow, default)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    model: Option<Cow<'a, str>>,
    #[serde(borrow)]
    usage: &'a RawValue,
}

#[derive(Deserialize)]
struct UsageLine<'a> {
    #[serde(borrow)]
    message: UsageMessage<'a>,
}

#[derive(Deserialize)]
struct TokenCountLine<'a> {
    #[serde(borrow)]
    payload: TokenCountPayload<'a>,
}

#[derive(Deserialize)]
struct TokenCountPayload<'a> {
    #[serde(borrow)]
    info: TokenCountInfo<'a>,
}

#[derive(Deserialize)]
struct TokenCountInfo<'a> {
    #[serde(borrow)]
    last_token_usage: &'a RawValue,
}

/// Parses the tokens of a line, if it has any.
pub(crate) fn parse_usage(client: HookClient, line: &[u8]) -> Option<RequestUsage> {
    let has = |word: &str| memmem::find(line, word.as_bytes()).is_some();
    if client == HookClient::Codex {
        let found: TokenCountLine<'_> =
            if has("\"token_count\"") { serde_json::from_slice(line).ok()? } else { return None };
        let usage: CodexUsage =
            serde_json::from_str(found.payload.info.last_token_usage.get()).ok()?;
        let cache_read = usage.cached_input.min(usage.input);
        let fresh_input = usage.input - cache_read;
        let output = usage.output;
        return Some(RequestUsage { fresh_input, output, cache_read, ..RequestUsage::default() });
    }
    if !has("\"usage\"") || !has("\"assistant\"") {
        return None;
    }
    let UsageLine { message } = serde_json::from_slice(line).ok()?;
    let (id, model) = (message.id.as_deref(), message.model.as_deref());
    let found = if client == HookClient::Pi {
        let usage: PiUsage = serde_json::from_str(message.usage.get()).ok()?;
        RequestUsage {
            fresh_input: usage.input,
            output: usage.output,
            cache_read: usage.cache_read,
            cache_written: usage.cache_write,
            ..RequestUsage::default()
        }
    } else {
        let usage: ClaudeUsage = serde_json::from_str(message.usage.get()).ok()?;
        RequestUsage {
            fresh_input: usage.input_tokens,
            output: usage.output_tokens,
            cache_read: usage.cache_read_input_tokens,
            cache_written: usage.cache_creation_input_tokens,
            written_for_hour: usage.cache_creation.unwrap_or_default().ephemeral_1h_input_tokens,
            ..RequestUsage::default()
        }
    };
    // The client's own texts cost nothing.
    let is_real = model != Some("<synthetic>") && found.tokens() > 0;
    is_real.then(|| RequestUsage { id: id.map(bound_name), model: model.map(bound_name), ..found })
}
