//! Expands `${NAME}` in strings of files whose author may decide which variables are read: the
//! user, and repositories that the user trusts.

use super::env;
use super::given::Raw;

/// `raw` with its variables expanded, or why that fails; none if it has no variables.
pub(super) fn expanded(raw: &Raw) -> Result<Option<Raw>, String> {
    if !raw.names_variables() {
        return Ok(None);
    }
    Ok(Some(match raw {
        Raw::Text(text) => Raw::Text(filled(text)?),
        Raw::Days(text) => Raw::Days(filled(text)?),
        Raw::Redis(block) => Raw::Redis(Box::new(block.try_map(filled)?)),
        Raw::Bool(_) | Raw::Number(_) | Raw::Word(_) => return Ok(None),
    }))
}

fn filled(text: &str) -> Result<String, String> {
    let mut pieces = text.split("${");
    let mut filled = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let Some((name, rest)) = piece.split_once('}').filter(|(name, _)| is_name(name)) else {
            return Err("expected the name of a variable in ${…}".to_owned());
        };
        let value = env::named(name).ok_or_else(|| format!("the variable {name} is not set"))?;
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
