//! The headers of the files that are understood.

use std::fmt;

use unicode_normalization::UnicodeNormalization as _;

use super::languages;
use crate::Source;

/// Tool that wrote a file, and the kind of its report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Semrush, Keyword Magic Tool and Keyword Overview.
    SemrushKeywords,
    /// Semrush, positions of a domain.
    SemrushPositions,
    /// Semrush, answers of its API.
    SemrushApi,
    /// Ahrefs, Keywords Explorer.
    Ahrefs,
    /// Google Keyword Planner.
    KeywordPlanner,
    /// Google Search Console, queries.
    SearchConsole,
    /// A list made by hand: keywords alone, or a table with the names of the API.
    KeywordList,
}

impl Format {
    /// Every format.
    pub const ALL: &[Self] = &[
        Self::SemrushKeywords,
        Self::SemrushPositions,
        Self::SemrushApi,
        Self::Ahrefs,
        Self::KeywordPlanner,
        Self::SearchConsole,
        Self::KeywordList,
    ];

    /// Stable name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::SemrushKeywords => "semrush_keywords",
            Self::SemrushPositions => "semrush_positions",
            Self::SemrushApi => "semrush_api",
            Self::Ahrefs => "ahrefs",
            Self::KeywordPlanner => "keyword_planner",
            Self::SearchConsole => "search_console",
            Self::KeywordList => "keyword_list",
        }
    }

    /// Source that its keywords are given.
    pub const fn source(self) -> Source {
        match self {
            Self::SemrushKeywords | Self::SemrushPositions | Self::SemrushApi => Source::CsvSemrush,
            Self::Ahrefs => Source::CsvAhrefs,
            Self::KeywordPlanner => Source::CsvGkp,
            Self::SearchConsole => Source::CsvGsc,
            Self::KeywordList => Source::Manual,
        }
    }
}

/// Meaning of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
    Keyword,
    Volume,
    Difficulty,
    Cpc,
    BidLow,
    BidHigh,
    Currency,
    /// 0 to 1, or a level in words.
    Competition,
    /// A level in words.
    CompetitionLevel,
    /// 0 to 100.
    CompetitionIndex,
    Trend,
    /// Searches in the month `YYYY-MM`.
    Month([u8; 7]),
    /// Searches in a month that the header does not tell, in the column of this index.
    SomeMonth(usize),
    Intents,
    /// Intents beside the main one.
    SecondaryIntents,
    Language,
    Country,
    ParentTopic,
    SerpFeatures,
    Position,
    Url,
    Clicks,
    Impressions,
    Ctr,
}

/// One column of a file that is read.
#[derive(Clone, Debug)]
pub(super) struct Field {
    /// Position among the columns, from 0.
    pub index: usize,
    /// Header as written.
    pub header: String,
    /// Meaning of the column.
    pub column: Column,
}

/// Layout by which the rows of a file are read.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub format: Format,
    /// Number of columns, those that are not read among them.
    pub width: usize,
    pub fields: Vec<Field>,
    /// Currency that the header of a price names.
    pub currency: Option<String>,
    /// The language of the header writes a decimal comma.
    pub decimal_comma: bool,
}

/// A header that is known.
struct Known {
    format: Format,
    /// One of each must be there.
    needs: &'static [&'static [&'static str]],
    columns: &'static [(&'static str, Column)],
}

/// Tried in this order; the first whose needs are met is it.
const KNOWN: &[Known] = &[
    Known {
        format: Format::KeywordPlanner,
        needs: &[&["keyword"], &["avg. monthly searches"]],
        columns: &[
            ("keyword", Column::Keyword),
            ("currency", Column::Currency),
            ("avg. monthly searches", Column::Volume),
            ("competition", Column::Competition),
            ("competition (indexed value)", Column::CompetitionIndex),
            ("top of page bid (low range)", Column::BidLow),
            ("top of page bid (high range)", Column::BidHigh),
        ],
    },
    Known {
        format: Format::SemrushPositions,
        needs: &[&["keyword"], &["position"], &["search volume"], &["url"]],
        columns: &[
            ("keyword", Column::Keyword),
            ("position", Column::Position),
            ("search volume", Column::Volume),
            ("keyword difficulty", Column::Difficulty),
            ("keyword difficulty index", Column::Difficulty),
            ("cpc", Column::Cpc),
            ("url", Column::Url),
            ("competition", Column::Competition),
            ("trends", Column::Trend),
            ("serp features by keyword", Column::SerpFeatures),
            ("keyword intents", Column::Intents),
            ("intents", Column::Intents),
        ],
    },
    Known {
        format: Format::SemrushApi,
        needs: &[
            &["keyword"],
            &["search volume"],
            &["keyword difficulty index", "number of results", "competition"],
        ],
        columns: &[
            ("keyword", Column::Keyword),
            ("search volume", Column::Volume),
            ("keyword difficulty index", Column::Difficulty),
            ("cpc", Column::Cpc),
            ("competition", Column::Competition),
            ("trends", Column::Trend),
            ("intent", Column::Intents),
            ("intents", Column::Intents),
        ],
    },
    Known {
        format: Format::Ahrefs,
        needs: &[
            &["keyword"],
            &["difficulty"],
            &["volume"],
            &[
                "global volume",
                "parent keyword",
                "traffic potential",
                "first seen",
                "cps",
            ],
        ],
        columns: &[
            ("keyword", Column::Keyword),
            ("country", Column::Country),
            ("difficulty", Column::Difficulty),
            ("volume", Column::Volume),
            ("cpc", Column::Cpc),
            ("parent keyword", Column::ParentTopic),
            ("serp features", Column::SerpFeatures),
            ("intents", Column::Intents),
        ],
    },
    Known {
        format: Format::Ahrefs,
        needs: &[
            &["keyword"],
            &["volume"],
            // columns of its Site Explorer, in older and newer exports
            &[
                "current position",
                "current url",
                "current organic traffic",
                "organic traffic",
                "previous position",
                "position history",
                "traffic (desc)",
            ],
        ],
        columns: &[
            ("keyword", Column::Keyword),
            ("country", Column::Country),
            ("country code", Column::Country),
            ("kd", Column::Difficulty),
            ("keyword difficulty", Column::Difficulty),
            ("difficulty", Column::Difficulty),
            ("volume", Column::Volume),
            ("cpc", Column::Cpc),
            ("current position", Column::Position),
            ("position", Column::Position),
            ("current url", Column::Url),
            ("url", Column::Url),
            ("serp features", Column::SerpFeatures),
            ("parent keyword", Column::ParentTopic),
            ("parent topic", Column::ParentTopic),
            ("intents", Column::Intents),
        ],
    },
    Known {
        format: Format::SemrushKeywords,
        needs: &[
            &["keyword"],
            &["volume"],
            &[
                "keyword difficulty",
                "competitive density",
                "number of results",
                "intent",
            ],
        ],
        columns: &[
            ("keyword", Column::Keyword),
            ("intent", Column::Intents),
            ("volume", Column::Volume),
            ("trend", Column::Trend),
            ("keyword difficulty", Column::Difficulty),
            ("cpc", Column::Cpc),
            ("competitive density", Column::Competition),
            ("serp features", Column::SerpFeatures),
        ],
    },
];

/// Says which headers are known.
pub(super) fn describe(f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for (i, known) in KNOWN.iter().enumerate() {
        if i > 0 {
            f.write_str("; ")?;
        }
        write!(f, "{} (", known.format.as_str())?;
        for (j, need) in known.needs.iter().enumerate() {
            if j > 0 {
                f.write_str(", ")?;
            }
            f.write_str(&need.join(" or "))?;
        }
        f.write_str(")")?;
    }
    f.write_str(
        "; search_console (queries, clicks, impressions); keyword_list (keywords alone, or keyword with columns named as in \
         the API)",
    )
}

/// Columns of tables made by hand: the members of the API's keywords, and what people call them. Compared without spaces
/// and signs.
const BY_HAND: &[(&str, Column)] = &[
    ("keyword", Column::Keyword),
    ("keywords", Column::Keyword),
    ("keywordphrase", Column::Keyword),
    ("keyphrase", Column::Keyword),
    ("query", Column::Keyword),
    ("queries", Column::Keyword),
    ("searchterm", Column::Keyword),
    ("searchterms", Column::Keyword),
    ("searchquery", Column::Keyword),
    ("suchbegriffe", Column::Keyword),
    ("searchvolume", Column::Volume),
    ("volume", Column::Volume),
    ("searches", Column::Volume),
    ("monthlysearches", Column::Volume),
    ("avgmonthlysearches", Column::Volume),
    ("monthlysearchvolume", Column::Volume),
    ("suchvolumen", Column::Volume),
    ("volumerange", Column::Volume),
    ("keyworddifficulty", Column::Difficulty),
    ("difficulty", Column::Difficulty),
    ("kd", Column::Difficulty),
    ("cpc", Column::Cpc),
    ("currency", Column::Currency),
    ("competition", Column::Competition),
    ("competitionlevel", Column::CompetitionLevel),
    ("intent", Column::Intents),
    ("intents", Column::Intents),
    ("secondaryintents", Column::SecondaryIntents),
    ("language", Column::Language),
    ("country", Column::Country),
    ("parenttopic", Column::ParentTopic),
    ("serpfeatures", Column::SerpFeatures),
    ("position", Column::Position),
    ("rankingurl", Column::Url),
    ("url", Column::Url),
    ("clicks", Column::Clicks),
    ("impressions", Column::Impressions),
    ("ctr", Column::Ctr),
];

/// Columns of a table made by hand: a keyword and something known about it, or keywords alone.
fn by_hand(names: &[&str]) -> Option<Vec<(usize, Column)>> {
    let meaning = |name: &str| {
        let plain: String = name.chars().filter(|c| c.is_alphanumeric()).collect();
        let named = BY_HAND.iter().find(|(known, _)| *known == plain);
        let keyword = || languages::is_keyword(name).then_some(Column::Keyword);
        named.map(|(_, column)| *column).or_else(keyword)
    };
    let column = |(index, name): (usize, &&str)| meaning(name).map(|column| (index, column));
    let columns: Vec<(usize, Column)> = names.iter().enumerate().filter_map(column).collect();
    let is_alone = names.iter().filter(|name| !name.is_empty()).count() == 1;
    let has_keyword = columns.iter().any(|(_, column)| *column == Column::Keyword);
    (has_keyword && (is_alone || columns.len() > 1)).then_some(columns)
}

impl Layout {
    /// The layout of a file with this header; `None` when it is no header that is known.
    pub fn from_headers(headers: &[&str]) -> Option<Self> {
        let named: Vec<(String, Option<String>)> = headers.iter().map(|h| name(h)).collect();
        let names: Vec<&str> = named.iter().map(|(name, _)| name.as_str()).collect();
        let known = KNOWN.iter().find(|known| {
            let has = |wanted: &&str| names.contains(wanted);
            known.needs.iter().all(|need| need.iter().any(has))
        });
        let (format, mut columns, decimal_comma) = if let Some(known) = known {
            // in the order of the table: of two names for one meaning the first is the better
            let column =
                |(name, column): &(&str, Column)| Some((names.iter().position(|n| n == name)?, *column));
            (
                known.format,
                known.columns.iter().filter_map(column).collect(),
                false,
            )
        } else if let Some(found) = languages::search_console(&names) {
            (Format::SearchConsole, found.columns, found.decimal_comma)
        } else if let Some(found) = languages::keyword_planner(&names) {
            (Format::KeywordPlanner, found.columns, found.decimal_comma)
        } else {
            (Format::KeywordList, by_hand(&names)?, false)
        };
        if format == Format::KeywordPlanner {
            let months = languages::months(&names);
            columns.retain(|(index, _)| months.iter().all(|(month, _)| month != index));
            let named =
                |(index, column): (usize, Column)| (index, month(names[index]).map_or(column, Column::Month));
            columns.extend(months.into_iter().map(named));
        }
        let mut layout = Self {
            format,
            width: headers.len(),
            fields: Vec::new(),
            currency: None,
            decimal_comma,
        };
        for (index, column) in columns {
            if layout.fields.iter().any(|f| f.column == column) {
                continue;
            }
            if column == Column::Cpc {
                layout.currency.clone_from(&named[index].1);
            }
            layout.fields.push(Field {
                index,
                header: headers[index].trim().to_owned(),
                column,
            });
        }
        layout.fields.sort_by_key(|field| field.index);
        Some(layout)
    }

    /// The layout of keywords alone, without a header.
    pub fn without_header() -> Self {
        Self {
            format: Format::KeywordList,
            width: 1,
            fields: vec![Field {
                index: 0,
                header: "keyword".to_owned(),
                column: Column::Keyword,
            }],
            currency: None,
            decimal_comma: false,
        }
    }

    /// Number of columns that no row can lack: those up to the last that the tool fills in every row. Many programs leave
    /// the empty cells at the end of a row out.
    pub fn least_width(&self) -> usize {
        let always: &[Column] = match self.format {
            Format::SearchConsole => &[Column::Keyword, Column::Clicks, Column::Impressions],
            Format::SemrushPositions => &[Column::Keyword, Column::Position, Column::Volume],
            _ => &[Column::Keyword],
        };
        let filled = self.fields.iter().filter(|field| always.contains(&field.column));
        filled.map(|field| field.index + 1).max().unwrap_or(1)
    }
}

/// A header in lower case and its compatibility form with single spaces, and the currency behind it in brackets.
fn name(header: &str) -> (String, Option<String>) {
    let plain: String = header.nfkc().filter(|c| *c != '\u{feff}').collect();
    let words = plain.split_whitespace().collect::<Vec<_>>();
    let name = words.join(" ").to_lowercase();
    if let Some((before, unit)) = name.strip_suffix(')').and_then(|n| n.rsplit_once('('))
        && unit.len() == 3
        && unit.bytes().all(|b| b.is_ascii_alphabetic())
    {
        return (before.trim_end().to_owned(), Some(unit.to_ascii_uppercase()));
    }
    (name, None)
}

/// `YYYY-MM` of `searches: jan 2026`.
fn month(name: &str) -> Option<[u8; 7]> {
    const MONTHS: [&str; 12] = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ];
    let (month, year) = name.strip_prefix("searches:")?.trim().split_once(' ')?;
    let number = 1 + MONTHS.iter().position(|m| month.starts_with(m))?;
    let year: u16 = year.trim().parse().ok().filter(|y| (1900..3000).contains(y))?;
    format!("{year:04}-{number:02}").into_bytes().try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::{Column, Format, Layout, month};

    #[test]
    fn a_header_is_known_by_its_names_whatever_their_order() {
        let layout =
            Layout::from_headers(&["Volume", "x", "CPC (EUR)", "keyword", "Competitive Density"]).unwrap();
        assert_eq!(layout.format, Format::SemrushKeywords);
        assert_eq!(layout.currency.as_deref(), Some("EUR"));
        let columns: Vec<_> = layout.fields.iter().map(|f| (f.index, f.column)).collect();
        assert_eq!(
            columns,
            [
                (0, Column::Volume),
                (2, Column::Cpc),
                (3, Column::Keyword),
                (4, Column::Competition)
            ]
        );
        assert!(Layout::from_headers(&["Keyword", "Notes"]).is_none());
        assert!(Layout::from_headers(&[]).is_none());
    }

    #[test]
    fn months_of_the_planner() {
        assert_eq!(&month("searches: jan 2026").unwrap(), b"2026-01");
        assert_eq!(&month("searches: september 2025").unwrap(), b"2025-09");
        assert_eq!(month("searches: foo 2025"), None);
    }
}
