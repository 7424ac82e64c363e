//! Server-sent events, parsed as their bytes arrive.

/// An event that is complete.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ServerEvent {
    /// Its name; empty for a plain message.
    pub(crate) name: String,
    pub(crate) data: Vec<u8>,
}

impl ServerEvent {
    /// True if its data is a message of the protocol.
    pub(crate) fn is_message(&self) -> bool {
        matches!(self.name.as_str(), "" | "message") && !self.data.is_empty()
    }
}

/// State between two pieces of a stream.
#[derive(Debug, Default)]
pub(crate) struct EventParser {
    line: Vec<u8>,
    /// True after a carriage return: a newline that follows belongs to it.
    after_return: bool,
    event: ServerEvent,
    has_data: bool,
    /// Id of the last event, from which a stream can be resumed.
    pub(crate) last_id: Option<String>,
    /// Milliseconds to wait before that.
    pub(crate) retry: Option<u64>,
}

impl EventParser {
    /// Number of bytes that wait for the rest of their event.
    pub(crate) fn waiting_bytes(&self) -> usize {
        self.line.len() + self.event.data.len()
    }

    /// Begins a stream that continues the last one.
    pub(crate) fn restart(&mut self) {
        let (last_id, retry) = (self.last_id.take(), self.retry);
        *self = Self { last_id, retry, ..Self::default() };
    }

    /// Takes a piece, and returns the events that it completes.
    pub(crate) fn push(&mut self, piece: &[u8]) -> Vec<ServerEvent> {
        let mut events = Vec::new();
        let mut rest = piece;
        if self.after_return && !rest.is_empty() {
            self.after_return = false;
            rest = rest.strip_prefix(b"\n").unwrap_or(rest);
        }
        while let Some(end) = memchr::memchr2(b'\n', b'\r', rest) {
            self.line.extend_from_slice(&rest[..end]);
            let is_return = rest[end] == b'\r';
            rest = &rest[end + 1..];
            if is_return {
                self.after_return = rest.is_empty();
                rest = rest.strip_prefix(b"\n").unwrap_or(rest);
            }
            let line = std::mem::take(&mut self.line);
            events.extend(self.end_line(line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&line)));
        }
        self.line.extend_from_slice(rest);
        events
    }

    fn end_line(&mut self, line: &[u8]) -> Option<ServerEvent> {
        if line.is_empty() {
            let event = std::mem::take(&mut self.event);
            return std::mem::take(&mut self.has_data).then_some(event);
        }
        let colon = memchr::memchr(b':', line).unwrap_or(line.len());
        let value = line.get(colon + 1..).unwrap_or_default();
        let value = value.strip_prefix(b" ").unwrap_or(value);
        let text = || String::from_utf8_lossy(value).into_owned();
        match &line[..colon] {
            b"data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.event.data.push(b'\n');
                }
                self.event.data.extend_from_slice(value);
            }
            b"event" => self.event.name = text(),
            b"id" if !value.contains(&0) => self.last_id = Some(text()).filter(|id| !id.is_empty()),
            b"retry" => self.retry = text().parse().ok().or(self.retry),
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(parser: &mut EventParser, text: &str, size: usize) -> Vec<(String, String)> {
        let pieces = text.as_bytes().chunks(size);
        let events = pieces.flat_map(|piece| parser.push(piece));
        let text = |data| String::from_utf8(data).expect("text");
        events.map(|event| (event.name, text(event.data))).collect()
    }

    #[test]
    fn events_are_the_same_however_they_are_cut() {
        let text = "\u{feff}: hello\r\nid: 7\r\nretry: 50\r\ndata: a\r\ndata:b\r\n\r\n\
                    event: ping\ndata\n\nid\r\revent: lost\n\ndata: {\"x\": 1}\n\ndata: cut";
        for size in 1..text.len() {
            let mut parser = EventParser::default();
            let found = events(&mut parser, text, size);
            let expected =
                [("", "a\nb"), ("ping", ""), ("", "{\"x\": 1}")].map(|(a, b)| (a.into(), b.into()));
            assert_eq!(found, expected, "in pieces of {size}");
            assert_eq!((parser.last_id, parser.retry), (None, Some(50)));
        }
    }

    #[test]
    fn an_empty_event_is_no_message() {
        let mut parser = EventParser::default();
        let primer = parser.push(b"id: 1\ndata: \n\n");
        assert_eq!((primer.len(), primer[0].is_message()), (1, false));
        assert_eq!(parser.last_id.as_deref(), Some("1"));
    }
}
