//! Extracts the id of a request from a line of any length, without keeping more than an id can
//! have.

use std::fmt;
use std::io::{self, BufReader, Read};

use rmcp::model::RequestId;
use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// Limit of an id in bytes.
const LONGEST: usize = 1024;

/// Parses an id.
pub(super) fn parse_id(text: &str) -> Option<RequestId> {
    let id: ParsedId = serde_json::from_str(text).ok()?;
    id.0
}

/// Finds the id of an object that is too large to be kept.
pub(super) fn find_id(object: impl Read) -> Option<RequestId> {
    #[derive(Deserialize)]
    struct IdEnvelope {
        id: ParsedId,
    }
    // Buffered, because JSON is read byte by byte.
    let envelope: IdEnvelope =
        serde_json::from_reader(BufReader::new(ShorteningReader::new(object))).ok()?;
    envelope.id.0
}

/// An id, or none if its place holds something else.
struct ParsedId(Option<RequestId>);

impl<'de> Deserialize<'de> for ParsedId {
    fn deserialize<D: Deserializer<'de>>(value: D) -> Result<Self, D::Error> {
        value.deserialize_any(IdVisitor)
    }
}

struct IdVisitor;

impl<'de> Visitor<'de> for IdVisitor {
    type Value = ParsedId;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an id")
    }

    fn visit_i64<E: Error>(self, id: i64) -> Result<ParsedId, E> {
        Ok(ParsedId(Some(RequestId::Number(id))))
    }

    fn visit_u64<E: Error>(self, id: u64) -> Result<ParsedId, E> {
        Ok(ParsedId(i64::try_from(id).ok().map(RequestId::Number)))
    }

    fn visit_str<E: Error>(self, id: &str) -> Result<ParsedId, E> {
        Ok(ParsedId((id.len() < LONGEST).then(|| RequestId::String(id.into()))))
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<ParsedId, E> {
        Ok(ParsedId(None))
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<ParsedId, E> {
        Ok(ParsedId(None))
    }

    fn visit_unit<E: Error>(self) -> Result<ParsedId, E> {
        Ok(ParsedId(None))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<ParsedId, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(ParsedId(None))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut items: A) -> Result<ParsedId, A::Error> {
        while items.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(ParsedId(None))
    }
}

/// Shortens long strings and numbers in JSON.
struct ShorteningReader<R> {
    input: R,
    place: JsonScanState,
    /// Bytes of the current string or number.
    length: usize,
    /// True while the rest of a string is left out.
    is_long: bool,
}

/// Token that the next byte belongs to.
#[derive(Clone, Copy)]
enum JsonScanState {
    Outside,
    String,
    /// Behind a backslash.
    Escape,
    /// Remaining digits of `\uXXXX`.
    Digits(u8),
}

impl<R: Read> ShorteningReader<R> {
    fn new(input: R) -> Self {
        Self { input, place: JsonScanState::Outside, length: 0, is_long: false }
    }

    /// True if the byte is kept. Strings are cut only between characters.
    fn keeps(&mut self, byte: u8) -> bool {
        self.length += 1;
        match (self.place, byte) {
            (JsonScanState::Outside | JsonScanState::String, b'"') => {
                let opens = matches!(self.place, JsonScanState::Outside);
                self.place = if opens { JsonScanState::String } else { JsonScanState::Outside };
                (self.length, self.is_long) = (0, false);
                return true;
            }
            (JsonScanState::Outside, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E') => {
                return self.length <= LONGEST;
            }
            (JsonScanState::Outside, _) => {
                self.length = 0;
                return true;
            }
            (JsonScanState::String, _) => {
                let begins = byte & 0xC0 != 0x80;
                self.is_long |= begins && self.length > LONGEST;
                if byte == b'\\' {
                    self.place = JsonScanState::Escape;
                }
            }
            (JsonScanState::Escape, b'u') => self.place = JsonScanState::Digits(4),
            (JsonScanState::Escape | JsonScanState::Digits(0 | 1), _) => {
                self.place = JsonScanState::String;
            }
            (JsonScanState::Digits(left), _) => self.place = JsonScanState::Digits(left - 1),
        }
        !self.is_long
    }
}

impl<R: Read> Read for ShorteningReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.input.read(buffer)?;
            let mut kept = 0;
            for at in 0..read {
                if self.keeps(buffer[at]) {
                    buffer[kept] = buffer[at];
                    kept += 1;
                }
            }
            // Zero would mean the end.
            if kept > 0 || read == 0 {
                return Ok(kept);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shortened(text: &str) -> String {
        let mut short = String::new();
        ShorteningReader::new(text.as_bytes()).read_to_string(&mut short).expect("text");
        short
    }

    #[test]
    fn what_is_long_is_cut_between_characters() {
        for unit in ["x", "é", "\\n", "\\u00e9", "\\\"", "\\\\"] {
            let text = format!("[\"{}\",1]", unit.repeat(5_000));
            let short = shortened(&text);
            assert!(short.len() < 2 * LONGEST, "{unit}: {}", short.len());
            let value: (String, u8) = serde_json::from_str(&short).expect(unit);
            assert_eq!(value.1, 1);
        }
        assert_eq!(shortened(&"7".repeat(5_000)).len(), LONGEST);
    }

    #[test]
    fn an_id_is_a_string_or_a_whole_number_and_found_among_anything() {
        let id = |text: &str| find_id(text.as_bytes());
        assert_eq!(id(r#"{"a":{"id":1},"id":2}"#), Some(RequestId::Number(2)));
        assert_eq!(id(r#"{"id":"a\"b"}"#), Some(RequestId::String("a\"b".into())));
        for none in
            ["{}", r#"{"id":null}"#, r#"{"id":1.5}"#, r#"{"id":[1,[2]]}"#, r#"{"id":{"id":1}}"#]
        {
            assert_eq!(id(none), None, "{none}");
        }
        assert_eq!(id(r#"{"id":18446744073709551615}"#), None);
        assert_eq!(id(&format!(r#"{{"id":"{}"}}"#, "x".repeat(5_000))), None);
    }

    proptest! {
        #[test]
        fn what_is_short_stays_as_it_is(text in "[\"\\\\a-zé0-9{}:,]{0,200}") {
            prop_assert_eq!(shortened(&text), text);
        }
    }
}
