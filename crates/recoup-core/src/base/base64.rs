//! Just enough base64 to look inside a token or a report, in both alphabets.

/// Decodes `text` into at most `most` bytes; `None` if it is not base64.
pub fn decode(text: &[u8], most: usize) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(most.min(text.len()));
    let (mut bits, mut held) = (0u32, 0);
    for &byte in text.iter().take_while(|&&byte| byte != b'=') {
        bits = bits << 6 | u32::from(decode_digit(byte)?);
        held += 6;
        if held >= 8 {
            held -= 8;
            let [.., low] = (bits >> held).to_be_bytes();
            bytes.push(low);
        }
        if bytes.len() == most {
            break;
        }
    }
    Some(bytes)
}

fn decode_digit(byte: u8) -> Option<u8> {
    match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    }
}
