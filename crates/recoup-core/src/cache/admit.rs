//! Secret check before an entry is stored. Previews of the request are redacted; results, full
//! results, keys and tags that contain a secret are refused.

use crate::entry::{Body, Chunks as _, Draft, Identity};
use crate::error::Result;
use crate::key::{Id, Kind, Part};
use crate::secrets::{self, Values};

/// How many bytes of a chunk are scanned again together with the next one, so that a secret across
/// two chunks is found. Private keys are the longest secrets.
const OVERLAP: usize = 32 << 10;

/// The name of the first secret rule that matches the draft.
pub(super) fn secret_in(id: &Id, draft: &Draft) -> Result<Option<&'static str>> {
    if let Some(rule) = secret_in_words(id, draft) {
        return Ok(Some(rule));
    }
    for body in std::iter::once(&draft.body).chain(&draft.full) {
        if let Some(rule) = secret_in_body(body, &draft.withheld)? {
            return Ok(Some(rule));
        }
    }
    Ok(None)
}

/// The name of the first secret rule that matches the key or the tags, which are known before the
/// work.
pub(super) fn secret_in_words(id: &Id, draft: &Draft) -> Option<&'static str> {
    let mut words = std::iter::once(id.key.as_str()).chain(draft.tags.iter().map(String::as_str));
    words.find_map(|word| detect(word.as_bytes(), &draft.withheld))
}

fn secret_in_body(body: &Body, withheld: &Values) -> Result<Option<&'static str>> {
    if let Body::Whole(bytes) = body {
        return Ok(detect(bytes, withheld));
    }
    let (mut rule, mut window) = (None, Vec::new());
    body.each(&mut |chunk| {
        if rule.is_none() {
            window.extend_from_slice(chunk);
            rule = detect(&window, withheld);
            window.drain(..window.len().saturating_sub(OVERLAP));
        }
        Ok(())
    })?;
    Ok(rule)
}

fn detect(text: &[u8], withheld: &Values) -> Option<&'static str> {
    secrets::detect(text).or_else(|| withheld.detect(text))
}

/// Redacts the secrets in an identity.
pub(super) fn named_without_secrets(identity: Identity, withheld: &Values) -> Identity {
    let redacted = |text: Option<String>| {
        text.map(|text| withheld.redact(&secrets::redact(&text)).into_owned())
    };
    let Identity { name, namespace, hash } = identity;
    Identity { name: redacted(name), namespace: redacted(namespace), hash: redacted(hash) }
}

/// Redacts the secrets in the previews of the parts.
pub(super) fn without_secrets(kind: Kind, parts: Vec<Part>, withheld: &Values) -> Vec<Part> {
    let redacted = |preview: String| {
        let preview = secrets::redact(&preview).into_owned();
        withheld.redact(&preview).into_owned()
    };
    // Redact before shortening: a cut-off secret may no longer match its rule.
    let cleaned = |part: Part| {
        let nature = kind.nature(&part.name);
        Part { preview: part.preview.map(redacted), ..part }.kept(nature)
    };
    parts.into_iter().map(cleaned).collect()
}
