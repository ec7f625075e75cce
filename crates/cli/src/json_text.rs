//! JSON on a terminal: text of websites in it is escaped where it would act.

use std::io::{self, Write};

use serde::Serialize;

/// Writes a value and a line end. Controls and signs of writing direction are escaped: the value stays the same, and nothing in
/// it commands a terminal or turns a line around.
pub fn write_json(out: &mut (impl Write + ?Sized), value: &impl Serialize) -> io::Result<()> {
    out.write_all(&to_json(value)?)?;
    writeln!(out)
}

/// Returns a value as such JSON.
pub(crate) fn to_json(value: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    let mut serializer = serde_json::Serializer::with_formatter(&mut text, Escaping);
    value.serialize(&mut serializer).map_err(io::Error::from)?;
    Ok(text)
}

/// Returns whether a character commands a terminal or changes the direction of what follows (UAX #9).
pub(crate) fn acts(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

struct Escaping;

impl serde_json::ser::Formatter for Escaping {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        let mut rest = fragment;
        while let Some(at) = rest.find(acts) {
            let (before, from) = rest.split_at(at);
            writer.write_all(before.as_bytes())?;
            let mut after = from.chars();
            // every one of them is below U+FFFF
            if let Some(acting) = after.next() {
                write!(writer, "\\u{:04x}", u32::from(acting))?;
            }
            rest = after.as_str();
        }
        writer.write_all(rest.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_acts_is_escaped() {
        let mut out = Vec::new();
        write_json(
            &mut out,
            &["a\u{9b}31m", "\u{202e}txt.exe", "zwei\nZeilen", "\u{7f}ü"],
        )
        .unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "[\"a\\u009b31m\",\"\\u202etxt.exe\",\"zwei\\nZeilen\",\"\\u007fü\"]\n"
        );
    }

    proptest! {
        #[test]
        fn the_value_stays_the_same(text: String) {
            let mut out = Vec::new();
            write_json(&mut out, &text).unwrap();
            prop_assert_eq!(serde_json::from_slice::<String>(&out).unwrap(), text);
            let line = String::from_utf8(out).unwrap();
            prop_assert!(!line.trim_end_matches('\n').contains(acts));
        }
    }
}
