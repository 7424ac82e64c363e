//! Expands `${NAME}` in strings of files whose author may decide which variables are read: the
//! user, and repositories that the user trusts.

use super::configured_value::RawSetting;
use super::env;

/// `raw` with its variables expanded, or why that fails; none if it has no variables.
pub(super) fn expand_variables(raw: &RawSetting) -> Result<Option<RawSetting>, String> {
    if !raw.names_variables() {
        return Ok(None);
    }
    Ok(Some(match raw {
        RawSetting::Text(text) => RawSetting::Text(expand_text(text)?),
        RawSetting::Days(text) => RawSetting::Days(expand_text(text)?),
        RawSetting::Redis(block) => RawSetting::Redis(Box::new(block.try_map(expand_text)?)),
        RawSetting::Bool(_) | RawSetting::Number(_) | RawSetting::Word(_) => return Ok(None),
    }))
}

fn expand_text(text: &str) -> Result<String, String> {
    let mut pieces = text.split("${");
    let mut filled = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let Some((name, rest)) = piece.split_once('}').filter(|(name, _)| is_name(name)) else {
            return Err("expected the name of a variable in ${…}".to_owned());
        };
        let value =
            env::named_variable(name).ok_or_else(|| format!("the variable {name} is not set"))?;
        filled.push_str(&value);
        filled.push_str(rest);
    }
    Ok(filled)
}

fn is_name(name: &str) -> bool {
    let letter = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
    name.bytes().next().is_some_and(letter)
        && name.bytes().all(|byte| letter(byte) || byte.is_ascii_digit())
}
