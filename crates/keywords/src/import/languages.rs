//! Exports of Google's tools, whose headers are in the language of the account that made them.
//!
//! The words lie in `data/columns.txt`, a line for each language.

use std::sync::LazyLock;

use super::{Level, formats::Column};

/// Words of the columns in one language.
struct Language {
    /// The tools write numbers with a decimal comma.
    decimal_comma: bool,
    queries: Vec<&'static str>,
    clicks: Vec<&'static str>,
    impressions: Vec<&'static str>,
    click_rate: Vec<&'static str>,
    position: Vec<&'static str>,
    keyword: Vec<&'static str>,
    searches: Vec<&'static str>,
    competition: Vec<&'static str>,
    bid: Vec<&'static str>,
    currency: Vec<&'static str>,
    levels: [Vec<&'static str>; 3],
}

static LANGUAGES: LazyLock<Vec<Language>> = LazyLock::new(|| {
    let lines = include_str!("../data/columns.txt").lines();
    lines
        .filter(|line| !line.starts_with('#') && !line.is_empty())
        .map(language)
        .collect()
});

fn language(line: &'static str) -> Language {
    let mut members = line.split(';').map(str::trim).skip(1);
    let decimal_comma = members.next() == Some(",");
    let mut words = || -> Vec<&str> { members.next().unwrap_or_default().split('|').collect() };
    Language {
        decimal_comma,
        queries: words(),
        clicks: words(),
        impressions: words(),
        click_rate: words(),
        position: words(),
        keyword: words(),
        searches: words(),
        competition: words(),
        bid: words(),
        currency: words(),
        levels: [words(), words(), words()],
    }
}

/// Columns that were recognised, by index, and whether the language writes a decimal comma.
pub(super) struct Recognised {
    /// Index and meaning of each column; a meaning may come twice.
    pub columns: Vec<(usize, Column)>,
    /// The language writes a decimal comma.
    pub decimal_comma: bool,
}

/// Recognises the queries of Search Console. A comparison has two columns of each figure, the newer period first.
pub(super) fn search_console(names: &[&str]) -> Option<Recognised> {
    LANGUAGES.iter().find_map(|language| {
        let meaning = |name: &&str| {
            // a click rate holds the word for clicks in some languages
            [
                (&language.click_rate, Column::Ctr),
                (&language.position, Column::Position),
                (&language.impressions, Column::Impressions),
                (&language.clicks, Column::Clicks),
            ]
            .into_iter()
            .find(|(words, _)| holds_any(name, words))
            .map(|(_, column)| column)
            .or_else(|| {
                let is_query = language.queries.iter().any(|stem| name.contains(stem));
                is_query.then_some(Column::Keyword)
            })
        };
        let columns = recognise(names, meaning);
        let has = |column| columns.iter().any(|(_, found)| *found == column);
        (has(Column::Keyword) && has(Column::Clicks) && has(Column::Impressions)).then_some(Recognised {
            columns,
            decimal_comma: language.decimal_comma,
        })
    })
}

/// Recognises the ideas and the figures of Keyword Planner.
pub(super) fn keyword_planner(names: &[&str]) -> Option<Recognised> {
    LANGUAGES.iter().find_map(|language| {
        let (mut index_is_next, mut bids) = (false, 0);
        let meaning = |name: &&str| {
            // the planner keeps the English word in many languages
            if *name == "keyword" || language.keyword.contains(name) {
                return Some(Column::Keyword);
            }
            let is_searches = |words: &&str| words.split('+').all(|word| name.contains(word));
            if language.searches.iter().any(is_searches) {
                return Some(Column::Volume);
            }
            if language.currency.contains(name) {
                return Some(Column::Currency);
            }
            if holds_any(name, &language.competition) {
                // the level comes first, then its index
                return Some(if std::mem::replace(&mut index_is_next, true) {
                    Column::CompetitionIndex
                } else {
                    Column::Competition
                });
            }
            if holds_any(name, &language.bid) {
                bids += 1;
                return [Column::BidLow, Column::BidHigh].get(bids - 1).copied();
            }
            None
        };
        let columns = recognise(names, meaning);
        let has = |column| columns.iter().any(|(_, found)| *found == column);
        (has(Column::Keyword) && has(Column::Volume)).then_some(Recognised {
            columns,
            decimal_comma: language.decimal_comma,
        })
    })
}

/// Returns whether a header is the word for a keyword in any language.
pub(super) fn is_keyword(name: &str) -> bool {
    LANGUAGES.iter().any(|language| language.keyword.contains(&name))
}

/// A level of competition in any language.
pub(super) fn level(text: &str) -> Option<Level> {
    let text = text.to_lowercase();
    let is_level = |at: usize| LANGUAGES.iter().any(|l| l.levels[at].contains(&text.as_str()));
    [Level::Low, Level::Medium, Level::High]
        .into_iter()
        .zip(0..)
        .find_map(|(level, at)| is_level(at).then_some(level))
}

fn recognise(names: &[&str], mut meaning: impl FnMut(&&str) -> Option<Column>) -> Vec<(usize, Column)> {
    let column = |(index, name)| meaning(name).map(|column| (index, column));
    names.iter().enumerate().filter_map(column).collect()
}

fn holds_any(name: &str, words: &[&str]) -> bool {
    words.iter().any(|word| holds(name, word))
}

/// Returns whether a name holds a word. Where words are parted by spaces, no letter may touch it.
fn holds(name: &str, word: &str) -> bool {
    // Chinese, Japanese and Korean join words and endings
    let is_spaced = |c: char| c < '\u{1100}';
    let is_bounded = word.chars().all(is_spaced);
    let touches = |c: Option<char>| c.is_some_and(|c| c.is_alphabetic() && is_spaced(c));
    name.match_indices(word).any(|(at, _)| {
        let (before, after) = (&name[..at], &name[at + word.len()..]);
        !is_bounded || !(touches(before.chars().next_back()) || touches(after.chars().next()))
    })
}

/// Month columns of Keyword Planner: headers with a year, such as `Searches: Jan 2026`. The names of months differ by
/// language, and the columns are in the order of time: where a year ends tells the months of all.
pub(super) fn months(names: &[&str]) -> Vec<(usize, Column)> {
    let dated: Vec<(usize, i32)> = names
        .iter()
        .enumerate()
        .filter(|(_, name)| name.contains(':'))
        .filter_map(|(index, name)| Some((index, year(name)?)))
        .collect();
    let turn = dated.windows(2).position(|pair| pair[0].1 < pair[1].1);
    let first = match turn {
        Some(before) => 11 - before as i32,
        None if dated.len() == 12 => 0,
        None => {
            return dated
                .iter()
                .map(|(index, _)| (*index, Column::SomeMonth(*index)))
                .collect();
        }
    };
    let Some((_, first_year)) = dated.first() else {
        return Vec::new();
    };
    let at = |position: usize| first_year * 12 + first + position as i32;
    let in_order = (0..dated.len()).all(|i| at(i).div_euclid(12) == dated[i].1);
    let column = |(position, (index, _)): (usize, &(usize, i32))| {
        let (year, month) = (at(position).div_euclid(12), at(position).rem_euclid(12) + 1);
        let named = format!("{year:04}-{month:02}").into_bytes().try_into();
        let column = named.ok().filter(|_| in_order).map(Column::Month);
        (*index, column.unwrap_or(Column::SomeMonth(*index)))
    };
    dated.iter().enumerate().map(column).collect()
}

fn year(name: &str) -> Option<i32> {
    let mut numbers = name.split(|c: char| !c.is_ascii_digit());
    let year = numbers.find(|digits| digits.len() == 4)?.parse().ok()?;
    (1900..3000).contains(&year).then_some(year)
}

#[cfg(test)]
mod tests {
    use super::{Column, LANGUAGES, holds, level, months};
    use crate::import::Level;

    #[test]
    fn every_language_has_all_words() {
        assert!(LANGUAGES.len() >= 18);
        for (line, language) in LANGUAGES.iter().enumerate() {
            let words = [
                &language.queries,
                &language.clicks,
                &language.impressions,
                &language.click_rate,
                &language.position,
                &language.keyword,
                &language.searches,
                &language.competition,
                &language.bid,
                &language.currency,
                &language.levels[2],
            ];
            assert!(
                words.iter().all(|w| w.iter().all(|w| !w.is_empty())),
                "line {line}"
            );
        }
        assert_eq!(level("Élevée"), Some(Level::High));
        assert_eq!(level("unspecified"), None);
    }

    #[test]
    fn a_word_is_not_part_of_another() {
        assert!(holds("letzte 28 tage klicks", "klicks"));
        assert!(!holds("klickrate", "klick"));
        assert!(holds("過去 28 日間のクリック数", "クリック数"));
    }

    #[test]
    fn months_follow_from_the_turn_of_the_year() {
        let named = |names: &[&str]| -> Vec<Option<String>> {
            let text = |(_, column)| match column {
                Column::Month(month) => Some(String::from_utf8_lossy(&month).into_owned()),
                _ => None,
            };
            months(names).into_iter().map(text).collect()
        };
        let some = |month: &str| Some(month.to_owned());
        assert_eq!(
            named(&["Keyword", "Suchanfragen: Nov. 2025", "s: dez 2025", "s: jän 2026"]),
            [some("2025-11"), some("2025-12"), some("2026-01")]
        );
        assert_eq!(named(&["k", "検索数: 2025 年 3 月"]), [None]);
        assert_eq!(named(&["s: x 2026", "s: y 2025"]), [None, None]);
    }
}
