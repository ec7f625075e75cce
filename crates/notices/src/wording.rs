//! Text of others in messages: a title of a website or a reason of a provider may hold anything.

/// Returns a text of others as one line of at most so many characters, without those that act on a reader or cannot be seen.
pub fn one_line(text: &str, most: usize) -> String {
    let mut line = String::new();
    let mut count = 0;
    for word in
        text.split(|c: char| c.is_whitespace() || c.is_control() || matches!(c, '\u{2028}' | '\u{2029}'))
    {
        let mut letters = word.chars().filter(|c| !is_hidden(*c)).peekable();
        if letters.peek().is_some() && count > 0 {
            line.push(' ');
            count += 1;
        }
        for letter in letters {
            if count >= most {
                line.push('\u{2026}');
                return line;
            }
            line.push(letter);
            count += 1;
        }
    }
    line
}

/// Returns a text of others as a sentence of at most so many characters; `None` if nothing is left of it.
pub fn sentence(text: &str, most: usize) -> Option<String> {
    let text = one_line(text, most);
    let mut letters = text.chars();
    let first = letters.next()?;
    // An address stays as it is.
    let text = if text.starts_with("http") {
        text
    } else {
        first.to_uppercase().collect::<String>() + letters.as_str()
    };
    let is_ended = text.ends_with(['.', '!', '?', '\u{2026}']);
    Some(if is_ended { text } else { text + "." })
}

const fn is_hidden(c: char) -> bool {
    matches!(c,
        '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// Returns a text for a chat with the escapes that Slack defines. A sign that would call people is kept from doing so in chats
/// that know no escapes.
pub fn for_chat(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '@' => escaped.push_str("@\u{200b}"),
            other => escaped.push(other),
        }
    }
    escaped
}

/// Returns a number with its noun, such as `1 post` or `12 posts`.
pub fn count(number: u64, one: &str, many: &str) -> String {
    if number == 1 {
        format!("1 {one}")
    } else {
        format!("{number} {many}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_of_others_is_one_harmless_line() {
        for (text, line) in [
            ("Oak\r\nBcc: all@example.com", "Oak Bcc: all@example.com"),
            ("a\u{202e}b\u{2066}c\u{0}d", "abc d"),
            ("  two \u{2028} lines\t", "two lines"),
            ("abcdef", "abcde\u{2026}"),
            ("abcde", "abcde"),
            ("\u{feff}", ""),
            ("\u{feff} a", "a"),
        ] {
            let most = if text.starts_with("abcde") { 5 } else { 40 };
            assert_eq!(one_line(text, most), line);
        }
    }

    #[test]
    fn nobody_is_called_in_a_chat() {
        assert_eq!(
            for_chat("<!channel> & <https://evil.example|here> @everyone"),
            "&lt;!channel&gt; &amp; &lt;https://evil.example|here&gt; @\u{200b}everyone"
        );
    }
}
