//! Faults of a request, of which an answer names so many that a person reads them and no more: a body of a mebibyte
//! can have a hundred thousand.

use std::borrow::Cow;

use crate::Fault;

/// Most faults that one answer names.
pub const MAX_FAULTS: usize = 100;
/// Most bytes of a pointer. Names in it are the caller's.
const MAX_POINTER: usize = 256;
/// Most bytes of the explanation of one fault.
const MAX_DETAIL: usize = 1000;

/// Faults of one request: the first ones, and how many there are in all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    named: Vec<Fault>,
    count: usize,
}

impl Faults {
    /// Counts a fault, and names it while there are few. The explanation is made only then.
    pub fn add(&mut self, pointer: &str, code: &str, detail: impl FnOnce() -> String) {
        self.count += 1;
        if self.named.len() < MAX_FAULTS {
            self.named.push(Fault {
                pointer: cut(pointer, MAX_POINTER).into_owned(),
                code: code.to_owned(),
                detail: cut(&detail(), MAX_DETAIL).into_owned(),
            });
        }
    }

    /// Returns whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns how many there are, named or not.
    pub const fn count(&self) -> usize {
        self.count
    }

    /// Returns the first ones.
    pub fn named(&self) -> &[Fault] {
        &self.named
    }

    /// Returns the first ones.
    pub fn into_named(self) -> Vec<Fault> {
        self.named
    }
}

impl From<Vec<Fault>> for Faults {
    fn from(all: Vec<Fault>) -> Self {
        let mut faults = Self::default();
        for fault in all {
            faults.add(&fault.pointer, &fault.code, || fault.detail);
        }
        faults
    }
}

/// Returns the beginning of a text that takes at most so many bytes in JSON.
pub(crate) fn cut(text: &str, most: usize) -> Cow<'_, str> {
    if text.len() * 6 <= most {
        return text.into();
    }
    let mut bytes = 0;
    for (at, letter) in text.char_indices() {
        bytes += match letter {
            '"' | '\\' => 2,
            '\0'..='\x1f' => 6,
            _ => letter.len_utf8(),
        };
        if bytes > most {
            return format!("{}…", &text[..at]).into();
        }
    }
    text.into()
}

#[cfg(test)]
mod tests {
    use super::{Faults, MAX_FAULTS, cut};

    #[test]
    fn a_hundred_are_named_and_all_are_counted() {
        let mut faults = Faults::default();
        let mut made = 0;
        for n in 0..250 {
            faults.add(&format!("/{n}"), "unknown_field", || {
                made += 1;
                "is unknown".to_owned()
            });
        }
        assert_eq!(
            (faults.count(), faults.named().len(), made),
            (250, MAX_FAULTS, 100)
        );
        assert_eq!(faults.named()[99].pointer, "/99");
    }

    #[test]
    fn names_are_cut_by_what_they_take_in_json() {
        let mut faults = Faults::default();
        faults.add(&format!("/{}", "\u{1}".repeat(10_000)), "x", || {
            "\u{1f33f}".repeat(10_000)
        });
        let named = &faults.named()[0];
        assert!(serde_json::to_string(named).unwrap().len() < 1400, "{named:?}");
        for whole in ["", "short", "\u{1f33f}"] {
            assert_eq!(cut(whole, 5), whole);
        }
        assert_eq!(cut("a\u{1f33f}b", 5), "a\u{1f33f}…");
        assert_eq!(cut("a\"b", 2), "a…");
    }
}
