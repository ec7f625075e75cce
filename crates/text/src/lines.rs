//! Lines of a text.

/// Returns the lines of a text without `\r`; their ends are searched many bytes at a time.
pub fn lines(text: &str) -> impl Iterator<Item = &str> + Clone {
    let last = (!text.is_empty() && !text.ends_with('\n')).then_some(text.len());
    let ends = memchr::memchr_iter(b'\n', text.as_bytes()).chain(last);
    let mut start = 0;
    ends.map(move |end| {
        let line = &text[start..end];
        start = end + 1;
        line
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert_eq, proptest};

    use super::lines;

    proptest! {
        #[test]
        fn lines_are_those_of_the_standard_library(text in "[aé\n]{0,20}") {
            prop_assert_eq!(lines(&text).collect::<Vec<_>>(), text.lines().collect::<Vec<_>>());
        }
    }
}
