//! Server-sent events (WHATWG HTML, section 9.2.6), taken apart as the bytes come.
//!
//! Our own, because the parsers that exist either end the stream at a line the standard says to ignore,
//! or hide the error of the connection beneath them, on which it depends here whether we may ask again.

/// One event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Event {
    /// `event` field; empty for a plain message.
    pub name: String,
    /// `data` lines, joined by line feeds.
    pub data: String,
}

/// Collects lines into events. Bytes may come in any pieces.
#[derive(Debug, Default)]
pub struct Parser {
    line: Vec<u8>,
    /// The last byte was a carriage return: a line feed right after it ends no second line.
    returned: bool,
    begun: bool,
    name: String,
    data: Option<String>,
}

impl Parser {
    /// Takes bytes and adds the events they complete.
    pub fn push(&mut self, bytes: &[u8], events: &mut Vec<Event>) {
        for &byte in bytes {
            let feed_after_return = byte == b'\n' && self.returned;
            self.returned = byte == b'\r';
            match byte {
                b'\n' if feed_after_return => {}
                b'\n' | b'\r' => self.end_line(events),
                _ => self.line.push(byte),
            }
        }
    }

    fn end_line(&mut self, events: &mut Vec<Event>) {
        let mut line = std::mem::take(&mut self.line);
        if !std::mem::replace(&mut self.begun, true) && line.starts_with(b"\xEF\xBB\xBF") {
            line.drain(..3);
        }
        if line.is_empty() {
            let name = std::mem::take(&mut self.name);
            events.extend(self.data.take().map(|data| Event { name, data }));
            return;
        }
        let text = String::from_utf8_lossy(&line);
        let (field, value) = text.split_once(':').unwrap_or((&text, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.name),
            "data" => match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.data = Some(value.to_owned()),
            },
            // Comments begin with a colon; `id` and `retry` serve reconnecting, which is never done here.
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Event, Parser};

    fn parse<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<Event> {
        let (mut parser, mut events) = (Parser::default(), Vec::new());
        for piece in pieces {
            parser.push(piece, &mut events);
        }
        events
    }

    fn event(name: &str, data: &str) -> Event {
        Event {
            name: name.to_owned(),
            data: data.to_owned(),
        }
    }

    #[test]
    fn the_examples_of_the_standard() {
        let stocks = b"data: YHOO\ndata: +2\ndata: 10\n\n";
        assert_eq!(parse([&stocks[..]]), [event("", "YHOO\n+2\n10")]);
        let four =
            b": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n";
        assert_eq!(
            parse([&four[..]]),
            [
                event("", "first event"),
                event("", "second event"),
                event("", " third event")
            ]
        );
        assert_eq!(
            parse([&b"data\n\ndata\ndata\n\ndata:"[..]]),
            [event("", ""), event("", "\n")]
        );
        assert_eq!(
            parse([&b"data:test\n\ndata: test\n\n"[..]]),
            [event("", "test"), event("", "test")]
        );
    }

    #[test]
    fn names_and_line_ends() {
        let all_ends = b"\xEF\xBB\xBFevent: a\r\ndata: 1\r\n\r\nevent: b\rdata: 2\r\revent: c\n\ndata: 3\n\n";
        assert_eq!(
            parse([&all_ends[..]]),
            [event("a", "1"), event("b", "2"), event("", "3")],
            "an event without data is none, and its name is forgotten"
        );
        assert_eq!(
            parse([&b"event: a\nevent: b\nretry: soon\ndata: 1\n\n"[..]]),
            [event("b", "1")]
        );
        assert!(
            parse([&b"data: cut"[..]]).is_empty(),
            "an event that does not end never happened"
        );
    }

    fn stream() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            Just(b"data: ".to_vec()),
            Just(b"data:{\"a\":\"\xC3\xA9\"}".to_vec()),
            Just(b"event: message_stop".to_vec()),
            Just(b": comment".to_vec()),
            Just(b"\n".to_vec()),
            Just(b"\r".to_vec()),
            Just(b"\r\n".to_vec()),
            Just(b"\n\n".to_vec()),
            Just(b"\xEF\xBB\xBF".to_vec()),
            prop::collection::vec(any::<u8>(), 0..6),
        ];
        prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn any_chunking_gives_the_same_events(
            bytes in stream(),
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
        ) {
            let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
            at.extend([0, bytes.len()]);
            at.sort_unstable();
            let pieces = at.windows(2).map(|w| &bytes[w[0]..w[1]]);
            let whole = parse([&bytes[..]]);
            prop_assert_eq!(&parse(pieces), &whole);
            prop_assert_eq!(&parse(bytes.chunks(1)), &whole);
        }

        #[test]
        fn what_is_written_is_read(data in prop::collection::vec(("[a-z]{0,5}", "[^\r\n]{0,20}(\n[^\r\n]{0,9}){0,2}"), 0..6)) {
            let mut text = String::new();
            for (name, data) in &data {
                if !name.is_empty() {
                    text += &format!("event: {name}\n");
                }
                for line in data.split('\n') {
                    text += &format!("data: {line}\n");
                }
                text += "\n";
            }
            let expected: Vec<Event> = data.iter().map(|(name, data)| event(name, data)).collect();
            prop_assert_eq!(parse([text.as_bytes()]), expected);
        }
    }
}
