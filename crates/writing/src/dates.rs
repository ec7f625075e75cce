//! Dates as people write them.

use std::ops::Range;

use super::numbers::digit;

/// A date in a text; what is not said is `None`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Date {
    /// Four digits.
    pub year: Option<u16>,
    /// Possible readings of month and day: `5/6/2024` is read both ways.
    pub days: Vec<(u8, Option<u8>)>,
    /// Position in the text, in bytes.
    pub span: Range<usize>,
}

/// Year, month and day, as far as they are said.
pub type Key = (Option<u16>, u8, Option<u8>);

impl Date {
    /// Returns year, month and day of every reading.
    pub fn keys(&self) -> impl Iterator<Item = Key> {
        self.days.iter().map(|(month, day)| (self.year, *month, *day))
    }

    /// Returns every reading and the less precise dates that follow from it: a day of May 2024 is a day of May, and in
    /// May 2024.
    pub fn implied(&self) -> impl Iterator<Item = Key> {
        self.keys()
            .flat_map(|(year, month, day)| [(year, month, day), (None, month, day), (year, month, None)])
    }
}

/// Names of the months and what they are abbreviated to, in the languages of the readability formulas and a few more.
const MONTHS: [&str; 12] = [
    "january jan januar jänner janvier enero gennaio januari janeiro января январь stycznia",
    "february feb februar février febrero febbraio februari fevereiro февраля февраль lutego",
    "march mar märz mars marzo maart março марта март marca",
    "april apr avril abril aprile апреля апрель kwietnia",
    "may mai mayo maggio mei maio мая май maja",
    "june jun juni juin junio giugno junho июня июнь czerwca",
    "july jul juli juillet julio luglio julho июля июль lipca",
    "august aug août agosto augustus августа август sierpnia",
    "september sep sept septembre septiembre settembre setembro сентября сентябрь września",
    "october oct oktober okt octobre octubre ottobre outubro октября октябрь października",
    "november nov novembre noviembre novembro ноября ноябрь listopada",
    "december dec dezember dez décembre diciembre dicembre dezembro декабря декабрь grudnia",
];

#[derive(Debug)]
enum Token {
    /// Value and number of digits.
    Number(u32, usize),
    Word(String),
    Mark(char),
}

fn tokens(text: &str) -> Vec<(Range<usize>, Token)> {
    let mut found: Vec<(Range<usize>, Token)> = Vec::new();
    for (at, c) in text.char_indices() {
        let end = at + c.len_utf8();
        let touching = found.last_mut().filter(|(span, _)| span.end == at);
        match (digit(c), touching) {
            (Some(value), Some((span, Token::Number(number, digits)))) if *digits < 9 => {
                *number = *number * 10 + value;
                *digits += 1;
                span.end = end;
            }
            (Some(value), _) => found.push((at..end, Token::Number(value, 1))),
            (None, Some((span, Token::Word(word)))) if c.is_alphabetic() && !searchwright_text::is_cjk(c) => {
                word.extend(c.to_lowercase());
                span.end = end;
            }
            (None, _) if c.is_alphabetic() => found.push((at..end, Token::Word(c.to_lowercase().collect()))),
            (None, _) if c.is_whitespace() => {}
            (None, _) => found.push((at..end, Token::Mark(c))),
        }
    }
    found
}

fn month(word: &str) -> Option<u8> {
    let position = MONTHS
        .iter()
        .position(|names| names.split(' ').any(|name| name == word))?;
    u8::try_from(position + 1).ok()
}

fn number(token: Option<&(Range<usize>, Token)>, digits: Range<usize>, within: Range<u32>) -> Option<u32> {
    match token?.1 {
        Token::Number(value, count) if digits.contains(&count) && within.contains(&value) => Some(value),
        _ => None,
    }
}

fn is_mark(token: Option<&(Range<usize>, Token)>, marks: &str) -> Option<char> {
    match token?.1 {
        Token::Mark(c) if marks.contains(c) => Some(c),
        _ => None,
    }
}

/// Words and marks between the parts of a date: `3rd of May`, `3. Mai`, `3 de mayo de 2024`, `May 3rd, 2024`.
fn skip(tokens: &[(Range<usize>, Token)], mut at: usize) -> usize {
    loop {
        match tokens.get(at).map(|(_, token)| token) {
            Some(Token::Word(word))
                if matches!(
                    word.as_str(),
                    "st" | "nd" | "rd" | "th" | "er" | "º" | "of" | "de" | "del" | "do" | "г"
                ) =>
            {
                at += 1;
            }
            Some(Token::Mark('.' | ',' | 'º')) => at += 1,
            _ => return at,
        }
    }
}

/// The dates of a text that say at least a month and a day, or a month and a year.
pub fn dates(text: &str) -> Vec<Date> {
    let tokens = tokens(text);
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let read = numeric(&tokens, at)
            .or_else(|| chinese(&tokens, at))
            .or_else(|| named(&tokens, at));
        match read {
            Some((year, days, end)) => {
                found.push(Date {
                    year,
                    days,
                    span: tokens[at].0.start..tokens[end - 1].0.end,
                });
                at = end;
            }
            None => at += 1,
        }
    }
    found
}

type Parsed = (Option<u16>, Vec<(u8, Option<u8>)>, usize);

/// `2024-05-03`, `2024/5/3`, `3.5.2024`, `5/3/2024`.
fn numeric(tokens: &[(Range<usize>, Token)], at: usize) -> Option<Parsed> {
    let touching = |pair: &[(Range<usize>, Token)]| matches!(pair, [(a, _), (b, _)] if a.end == b.start);
    if !tokens.get(at..at + 5)?.windows(2).all(touching) {
        return None;
    }
    let mark = is_mark(tokens.get(at + 1), "-/.")?;
    if is_mark(tokens.get(at + 3), "-/.")? != mark {
        return None;
    }
    let part = |n: usize, most: u32| {
        number(tokens.get(at + n), 1..3, 1..most + 1).and_then(|v| u8::try_from(v).ok())
    };
    let year = |n: usize| number(tokens.get(at + n), 4..5, 1000..3000).and_then(|v| u16::try_from(v).ok());
    if let Some(year) = year(0) {
        return Some((Some(year), vec![(part(2, 12)?, Some(part(4, 31)?))], at + 5));
    }
    let year = year(4)?;
    let mut days = Vec::new();
    if let (Some(day), Some(month)) = (part(0, 31), part(2, 12)) {
        days.push((month, Some(day)));
    }
    if let (Some(month), Some(day), true) = (part(0, 12), part(2, 31), mark != '.') {
        days.push((month, Some(day)));
    }
    (!days.is_empty()).then_some((Some(year), days, at + 5))
}

/// `2024年5月3日`.
fn chinese(tokens: &[(Range<usize>, Token)], at: usize) -> Option<Parsed> {
    let is =
        |n: usize, sign: &str| matches!(tokens.get(at + n), Some((_, Token::Word(word))) if word == sign);
    let year = number(tokens.get(at), 4..5, 1000..3000)?;
    if !is(1, "年") || !is(3, "月") {
        return None;
    }
    let month = u8::try_from(number(tokens.get(at + 2), 1..3, 1..13)?).ok()?;
    let day = number(tokens.get(at + 4), 1..3, 1..32).filter(|_| is(5, "日"));
    let end = at + if day.is_some() { 6 } else { 4 };
    Some((
        u16::try_from(year).ok(),
        vec![(month, day.and_then(|d| u8::try_from(d).ok()))],
        end,
    ))
}

/// `3 May 2024`, `May 3, 2024`, `May 2024`, `3 May`.
fn named(tokens: &[(Range<usize>, Token)], at: usize) -> Option<Parsed> {
    let name = |at: usize| match &tokens.get(at)?.1 {
        Token::Word(word) => month(word),
        _ => None,
    };
    let day = |at: usize| number(tokens.get(at), 1..3, 1..32).and_then(|v| u8::try_from(v).ok());
    let year = |at: usize| number(tokens.get(at), 4..5, 1000..3000).and_then(|v| u16::try_from(v).ok());
    let with_year = |month: u8, day: Option<u8>, end: usize| {
        let next = skip(tokens, end);
        match year(next) {
            Some(year) => Some((Some(year), vec![(month, day)], next + 1)),
            None => day.map(|day| (None, vec![(month, Some(day))], end)),
        }
    };
    if let Some(first) = day(at) {
        let next = skip(tokens, at + 1);
        return with_year(name(next)?, Some(first), next + 1);
    }
    let month = name(at)?;
    let next = skip(tokens, at + 1);
    match day(next) {
        Some(day) => with_year(month, Some(day), next + 1),
        None => with_year(month, None, at + 1),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert, proptest};

    use super::dates;

    fn covered(claim: &str, source: &str) -> bool {
        let (claims, sources) = (dates(claim), dates(source));
        assert_eq!(claims.len(), 1, "{claim}: {claims:?}");
        claims[0].keys().any(|key| {
            sources
                .iter()
                .any(|source| source.implied().any(|known| known == key))
        })
    }

    #[test]
    fn one_day_in_many_ways() {
        for other in [
            "3 May 2024",
            "May 3, 2024",
            "May 3rd, 2024",
            "the 3rd of May 2024",
            "3. Mai 2024",
            "3 mai 2024",
            "3 de mayo de 2024",
            "3 maggio 2024",
            "3 мая 2024 г.",
            "03.05.2024",
            "3/5/2024",
            "5/3/2024",
            "2024年5月3日",
            "2024/05/03",
        ] {
            assert!(covered("2024-05-03", other), "{other}");
            assert!(covered(other, "on 2024-05-03 it was"), "{other}");
        }
        assert!(covered("May 2024", "3 May 2024") && covered("3 May", "2024-05-03"));
    }

    #[test]
    fn other_days_are_others() {
        for other in [
            "4 May 2024",
            "3 June 2024",
            "3 May 2023",
            "May 2024",
            "3 May",
            "5.3.2024",
        ] {
            assert!(!covered("2024-05-03", other), "{other}");
        }
        assert!(dates("You may 99 times. In 2024. 3.5.1 and 13/13/2024").is_empty());
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "([0-9]{1,4}|[-/. ,]|May|of|年|月|é){0,20}") {
            for date in dates(&text) {
                prop_assert!(text.get(date.span.clone()).is_some());
                prop_assert!(!date.days.is_empty());
                prop_assert!(date.keys().all(|key| date.implied().any(|implied| implied == key)));
            }
        }
    }
}
