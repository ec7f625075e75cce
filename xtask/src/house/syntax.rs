//! Paths that a source file uses, found among its tokens: no parser, so that a run takes less than a second.
//!
//! Comments, literals and items behind `#[cfg(test)]` are left out. Paths within macros are found like others.

/// A word or a sign of the source text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lexeme<'a> {
    Word(&'a str),
    Sign(char),
}

/// A lexeme with its line, from 1.
#[derive(Clone, Copy, Debug)]
struct Token<'a> {
    lexeme: Lexeme<'a>,
    line: usize,
}

/// A path that a file uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct UsedPath {
    pub(super) segments: Vec<String>,
    /// Name under which a `use` declaration imports it; `None` for a path in an expression or a type.
    pub(super) name: Option<String>,
    /// True if the declaration is `pub` or `pub(…)`.
    pub(super) is_reexport: bool,
    /// Inline modules around it, from the outside to the inside.
    pub(super) inline_modules: Vec<String>,
    pub(super) line: usize,
}

/// Paths of a file, and the modules that it declares for tests only.
#[derive(Clone, Debug, Default)]
pub(super) struct FilePaths {
    pub(super) paths: Vec<UsedPath>,
    pub(super) test_modules: Vec<String>,
}

/// Reads the paths of a source text.
pub(super) fn read_paths(text: &str) -> FilePaths {
    let mut reader = PathReader {
        tokens: tokenize(text),
        position: 0,
        found: FilePaths::default(),
        depth: 0,
        inline_modules: Vec::new(),
    };
    reader.read();
    reader.found
}

/// Splits a source text into words and signs.
fn tokenize(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut line = 1;
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if let Some(length) = skipped_length(rest) {
            length
        } else if is_word(first) {
            let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
            let lexeme = Lexeme::Word(&rest[..length]);
            tokens.push(Token { lexeme, line });
            length
        } else {
            let lexeme = Lexeme::Sign(first);
            tokens.push(Token { lexeme, line });
            first.len_utf8()
        };
        line += rest[..length].matches('\n').count();
        rest = &rest[length..];
    }
    tokens
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Length of the space, comment or literal that a text begins with.
fn skipped_length(text: &str) -> Option<usize> {
    let first = text.chars().next()?;
    if first.is_whitespace() {
        return Some(first.len_utf8());
    }
    if text.starts_with("//") {
        return Some(text.find('\n').unwrap_or(text.len()));
    }
    if text.starts_with("/*") {
        return Some(block_comment_length(text));
    }
    if first == '\'' {
        return char_literal_length(text);
    }
    let prefix = text
        .find(|c| !matches!(c, 'b' | 'c' | 'r'))
        .filter(|length| *length <= 2)?;
    let literal = &text[prefix..];
    if text[..prefix].ends_with('r') {
        let hashes = literal.find(|c| c != '#')?;
        let end = format!("\"{}", &literal[..hashes]);
        let body = literal[hashes..].strip_prefix('"')?;
        let length = body.find(&end).map_or(body.len(), |place| place + end.len());
        return Some(prefix + hashes + 1 + length);
    }
    match literal.chars().next()? {
        '"' => Some(prefix + string_length(literal)),
        '\'' if prefix == 1 => char_literal_length(literal).map(|length| prefix + length),
        _ => None,
    }
}

/// Length of a comment that may hold others.
fn block_comment_length(text: &str) -> usize {
    let mut depth = 0;
    let mut position = 0;
    while position < text.len() {
        let rest = &text[position..];
        if rest.starts_with("/*") {
            depth += 1;
            position += 2;
        } else if rest.starts_with("*/") {
            depth -= 1;
            position += 2;
            if depth == 0 {
                return position;
            }
        } else {
            position += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}

/// Length of a string with its quotes.
fn string_length(text: &str) -> usize {
    let mut is_escaped = false;
    for (place, c) in text.char_indices().skip(1) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => return place + 1,
            _ => {}
        }
    }
    text.len()
}

/// Length of a character with its quotes; `None` for a lifetime.
fn char_literal_length(text: &str) -> Option<usize> {
    let mut chars = text.char_indices().skip(1);
    let (_, first) = chars.next()?;
    if first == '\\' {
        chars.next()?;
        return chars.find(|(_, c)| *c == '\'').map(|(place, _)| place + 1);
    }
    chars
        .next()
        .filter(|(_, c)| *c == '\'')
        .map(|(place, _)| place + 1)
}

/// A walk through the tokens of a file.
struct PathReader<'a> {
    tokens: Vec<Token<'a>>,
    position: usize,
    found: FilePaths,
    /// Open braces.
    depth: usize,
    /// Name of each inline module around the position, and the depth outside it.
    inline_modules: Vec<(String, usize)>,
}

impl<'a> PathReader<'a> {
    fn read(&mut self) {
        while self.position < self.tokens.len() {
            if self.is_test_attribute() {
                self.skip_test_item();
                continue;
            }
            match self.lexeme(0) {
                Some(Lexeme::Sign('{')) => self.depth += 1,
                Some(Lexeme::Sign('}')) => {
                    self.depth = self.depth.saturating_sub(1);
                    let depth = self.depth;
                    self.inline_modules.pop_if(|(_, outside)| *outside == depth);
                }
                Some(Lexeme::Word("mod")) => {
                    if let (Some(Lexeme::Word(name)), Some(Lexeme::Sign('{'))) =
                        (self.lexeme(1), self.lexeme(2))
                    {
                        self.inline_modules.push((name.to_owned(), self.depth));
                    }
                }
                Some(Lexeme::Word("use"))
                    if matches!(self.lexeme(1), Some(Lexeme::Word(_) | Lexeme::Sign('{'))) =>
                {
                    let is_reexport = self.is_public();
                    self.position += 1;
                    self.read_use_tree(&[], is_reexport);
                    continue;
                }
                Some(Lexeme::Word("crate" | "super" | "self")) if self.is_separator(1) => {
                    let line = self.tokens[self.position].line;
                    let segments = self.read_segments();
                    self.add_path(segments, None, false, line);
                    continue;
                }
                _ => {}
            }
            self.position += 1;
        }
    }

    /// The lexeme so many tokens after the position.
    fn lexeme(&self, offset: usize) -> Option<Lexeme<'a>> {
        self.tokens.get(self.position + offset).map(|token| token.lexeme)
    }

    /// True if `::` comes so many tokens after the position.
    fn is_separator(&self, offset: usize) -> bool {
        [offset, offset + 1]
            .iter()
            .all(|offset| self.lexeme(*offset) == Some(Lexeme::Sign(':')))
    }

    /// True if `pub` or `pub(…)` comes before the position.
    fn is_public(&self) -> bool {
        let mut before = self.tokens[..self.position]
            .iter()
            .rev()
            .map(|token| token.lexeme);
        match before.next() {
            Some(Lexeme::Word("pub")) => true,
            Some(Lexeme::Sign(')')) => {
                before.find(|lexeme| *lexeme == Lexeme::Sign('(')).is_some()
                    && before.next() == Some(Lexeme::Word("pub"))
            }
            _ => false,
        }
    }

    /// True at `#[cfg(test)]` and `#[cfg(all(test, …))]`.
    fn is_test_attribute(&self) -> bool {
        let starts_with = |expected: &[Lexeme<'_>]| {
            expected
                .iter()
                .enumerate()
                .all(|(offset, lexeme)| self.lexeme(offset) == Some(*lexeme))
        };
        let attribute = [
            Lexeme::Sign('#'),
            Lexeme::Sign('['),
            Lexeme::Word("cfg"),
            Lexeme::Sign('('),
        ];
        let all = [Lexeme::Word("all"), Lexeme::Sign('('), Lexeme::Word("test")];
        starts_with(&[&attribute[..], &[Lexeme::Word("test"), Lexeme::Sign(')')]].concat())
            || starts_with(&[&attribute[..], &all[..]].concat())
    }

    /// Skips attributes and the item after them.
    fn skip_test_item(&mut self) {
        let mut nesting = 0_usize;
        while let Some(lexeme) = self.lexeme(0) {
            if lexeme == Lexeme::Word("mod")
                && nesting == 0
                && let (Some(Lexeme::Word(name)), Some(Lexeme::Sign(';'))) = (self.lexeme(1), self.lexeme(2))
            {
                self.found.test_modules.push(name.to_owned());
            }
            self.position += 1;
            match lexeme {
                Lexeme::Sign('(' | '[' | '{') => nesting += 1,
                Lexeme::Sign(')' | ']') => nesting = nesting.saturating_sub(1),
                Lexeme::Sign('}') => {
                    nesting = nesting.saturating_sub(1);
                    if nesting == 0 {
                        return;
                    }
                }
                Lexeme::Sign(';') if nesting == 0 => return,
                _ => {}
            }
        }
    }

    /// Reads words with `::` between them; the position is behind the last word.
    fn read_segments(&mut self) -> Vec<String> {
        let mut segments = Vec::new();
        while let Some(Lexeme::Word(word)) = self.lexeme(0) {
            segments.push(word.to_owned());
            self.position += 1;
            if !self.is_separator(0) || !matches!(self.lexeme(2), Some(Lexeme::Word(_))) {
                break;
            }
            self.position += 2;
        }
        segments
    }

    /// Reads the rest of a `use` declaration, or one branch of its braces.
    fn read_use_tree(&mut self, prefix: &[String], is_reexport: bool) {
        let line = self.tokens.get(self.position).map_or(0, |token| token.line);
        let mut segments = prefix.to_vec();
        segments.extend(self.read_segments());
        if self.is_separator(0) {
            self.position += 2;
        }
        match self.lexeme(0) {
            Some(Lexeme::Sign('{')) => {
                self.position += 1;
                while !matches!(self.lexeme(0), None | Some(Lexeme::Sign('}'))) {
                    let before = self.position;
                    self.read_use_tree(&segments, is_reexport);
                    if self.lexeme(0) == Some(Lexeme::Sign(',')) || self.position == before {
                        self.position += 1;
                    }
                }
                self.position += 1;
            }
            Some(Lexeme::Sign('*')) => {
                self.position += 1;
                segments.push("*".to_owned());
                self.add_path(segments, None, is_reexport, line);
            }
            lexeme => {
                segments.pop_if(|name| name == "self");
                let mut name = segments.last().cloned();
                if lexeme == Some(Lexeme::Word("as"))
                    && let Some(Lexeme::Word(alias)) = self.lexeme(1)
                {
                    self.position += 2;
                    name = Some(alias.to_owned());
                }
                if !segments.is_empty() {
                    self.add_path(segments, name, is_reexport, line);
                }
            }
        }
    }

    fn add_path(&mut self, segments: Vec<String>, name: Option<String>, is_reexport: bool, line: usize) {
        self.found.paths.push(UsedPath {
            segments,
            name,
            is_reexport,
            inline_modules: self.inline_modules.iter().map(|(name, _)| name.clone()).collect(),
            line,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::read_paths;

    /// Line, inline modules, path, name and visibility of each path as one text.
    fn shown(text: &str) -> Vec<String> {
        let shown = read_paths(text).paths.into_iter().map(|path| {
            let inline = path.inline_modules.iter().map(|name| format!("[{name}]"));
            let name = path.name.map(|name| format!(" as {name}")).unwrap_or_default();
            let public = if path.is_reexport { " pub" } else { "" };
            let inline: String = inline.collect();
            format!("{}{inline} {}{name}{public}", path.line, path.segments.join("::"))
        });
        shown.collect()
    }

    #[test]
    fn use_trees_are_expanded() {
        let text = "use std::fs;\npub(crate) use crate::a::{self, b::{C, D as E},\n f::*};\npub use {super::G, h::I};";
        assert_eq!(
            shown(text),
            [
                "1 std::fs as fs",
                "2 crate::a as a pub",
                "2 crate::a::b::C as C pub",
                "2 crate::a::b::D as E pub",
                "3 crate::a::f::* pub",
                "4 super::G as G pub",
                "4 h::I as I pub",
            ]
        );
    }

    #[test]
    fn paths_are_found_in_expressions_types_and_macros() {
        let text = "fn a(b: crate::c::D<super::E>) {\n self::f::<u8>(self.g); $crate::h!() }";
        assert_eq!(
            shown(text),
            ["1 crate::c::D", "1 super::E", "2 self::f", "2 crate::h"]
        );
    }

    #[test]
    fn comments_and_literals_are_skipped() {
        let text = r##"
            // crate::a
            /* crate::b /* crate::c */ crate::d */
            fn e<'a>(f: &'a str) { g("crate::h \" crate::i", r#"crate::j " crate::k"#, b"crate::l", '"', '\'', b'"') }
            fn m() { crate::n() }
        "##;
        assert_eq!(shown(text), ["5 crate::n"]);
    }

    #[test]
    fn test_items_are_skipped_and_their_modules_named() {
        let text = "#[cfg(test)]\n#[path = \"a_tests.rs\"]\nmod a;\n#[cfg(test)]\nuse crate::b::{C};\n\
                    #[cfg(all(test, unix))]\nmod tests { use crate::d; fn e() { [crate::f; 2] } }\nuse crate::g;";
        assert_eq!(shown(text), ["8 crate::g as g"]);
        assert_eq!(read_paths(text).test_modules, ["a"]);
    }

    #[test]
    fn paths_know_the_inline_modules_around_them() {
        let text = "mod a { fn b() { {} super::c() } mod d { use super::e; } }\nuse super::f;";
        assert_eq!(
            shown(text),
            ["1[a] super::c", "1[a][d] super::e as e", "2 super::f as f"]
        );
    }
}
