//! Secret check before an entry is stored. Previews of the request are redacted; results, full
//! results, keys and tags that contain a secret are refused.

use crate::entry::{Body, ChunkSource as _, Draft, ProducerIdentity};
use crate::error::Result;
use crate::key::{EntryId, KeyPart, Kind};
use crate::secrets::{self, SecretValues};

/// How many bytes of a chunk are scanned again together with the next one, so that a secret across
/// two chunks is found. Private keys are the longest secrets.
const OVERLAP: usize = 32 << 10;

/// The name of the first secret rule that matches the draft.
pub(super) fn secret_in(id: &EntryId, draft: &Draft) -> Result<Option<&'static str>> {
    if let Some(rule) = secret_in_key_or_tags(id, draft) {
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
pub(super) fn secret_in_key_or_tags(id: &EntryId, draft: &Draft) -> Option<&'static str> {
    let mut words = std::iter::once(id.key.as_str()).chain(draft.tags.iter().map(String::as_str));
    words.find_map(|word| detect(word.as_bytes(), &draft.withheld))
}

fn secret_in_body(body: &Body, withheld: &SecretValues) -> Result<Option<&'static str>> {
    if let Body::Whole(bytes) = body {
        return Ok(detect(bytes, withheld));
    }
    let (mut rule, mut window) = (None, Vec::new());
    body.for_each_chunk(&mut |chunk| {
        if rule.is_none() {
            window.extend_from_slice(chunk);
            rule = detect(&window, withheld);
            window.drain(..window.len().saturating_sub(OVERLAP));
        }
        Ok(())
    })?;
    Ok(rule)
}

fn detect(text: &[u8], withheld: &SecretValues) -> Option<&'static str> {
    secrets::detect_secret(text).or_else(|| withheld.detect(text))
}

/// Redacts the secrets in an identity.
pub(super) fn redact_identity(
    identity: ProducerIdentity,
    withheld: &SecretValues,
) -> ProducerIdentity {
    let redacted = |text: Option<String>| {
        text.map(|text| withheld.redact(&secrets::redact(&text)).into_owned())
    };
    let ProducerIdentity { name, namespace, hash } = identity;
    ProducerIdentity { name: redacted(name), namespace: redacted(namespace), hash: redacted(hash) }
}

/// Redacts the secrets in the previews of the parts.
pub(super) fn redact_parts(
    kind: Kind,
    parts: Vec<KeyPart>,
    withheld: &SecretValues,
) -> Vec<KeyPart> {
    let redacted = |preview: String| {
        let preview = secrets::redact(&preview).into_owned();
        withheld.redact(&preview).into_owned()
    };
    // Redact before shortening: a cut-off secret may no longer match its rule.
    let cleaned = |part: KeyPart| {
        let nature = kind.part_kind(&part.name);
        KeyPart { preview: part.preview.map(redacted), ..part }.shorten_preview(nature)
    };
    parts.into_iter().map(cleaned).collect()
}
