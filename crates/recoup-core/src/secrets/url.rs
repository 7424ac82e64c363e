//! Passwords in addresses: `scheme://user:password@host`, for databases,
//! brokers, proxies and repositories alike.

use std::ops::Range;

use super::placeholder;
use super::word_form::looks_random;

/// Longer than any address that people or programs write.
const LONGEST: usize = 512;

/// Matches at the literal `://`.
pub(super) fn find_url_password(text: &[u8], at: usize) -> Option<Range<usize>> {
    if !at.checked_sub(1).is_some_and(|before| text[before].is_ascii_alphanumeric()) {
        return None;
    }
    let start = at + 3;
    let rest = &text[start..text.len().min(start + LONGEST)];
    let authority =
        &rest[..rest.iter().position(|&byte| ends_authority(byte)).unwrap_or(rest.len())];
    let user_info = &authority[..authority.iter().rposition(|&byte| byte == b'@')?];
    let Some(colon) = user_info.iter().position(|&byte| byte == b':') else {
        // `https://TOKEN@host/`. In the address of an error tracker such a token is public.
        let host = &authority[user_info.len() + 1..];
        let public = host.windows(6).any(|window| window == b"sentry");
        let token = looks_random(user_info) && !public && !placeholder::is_placeholder(user_info);
        return token.then(|| start..start + user_info.len());
    };
    let (user, password) = (&user_info[..colon], &user_info[colon + 1..]);
    let host = &authority[user_info.len() + 1..];
    let real = !host.is_empty()
        && is_real_password(user, password)
        && !is_local_default(user, password, host);
    real.then(|| start + colon + 1..start + user_info.len())
}

fn ends_authority(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte.is_ascii_control() || b"/?#\"'`<>\\,|^".contains(&byte)
}

fn is_real_password(user: &[u8], password: &[u8]) -> bool {
    let stand_in = placeholder::is_stand_in(password);
    let names = user.is_ascii() && !user.iter().any(|byte| b"<{[(".contains(byte));
    let code = password.starts_with(b"$") || password.iter().any(|byte| b"{}()<>[]".contains(byte));
    let numeric = password.iter().all(u8::is_ascii_digit) && password.len() < 6;
    names
        && password.len() >= 2
        && !stand_in
        && !code
        && !numeric
        && !placeholder::is_placeholder(password)
        && !(password.starts_with(b"%") && password.len() < 4)
}

/// True for `postgres:postgres@localhost`: well-known defaults of fresh installations.
fn is_local_default(user: &[u8], password: &[u8], host: &[u8]) -> bool {
    let local: [&[u8]; 5] = [b"localhost", b"127.0.0.1", b"db", b"[::1]", b"example."];
    user.eq_ignore_ascii_case(password) && local.iter().any(|name| host.starts_with(name))
}
