//! The headers of the files that are understood.

use std::fmt;

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
        }
    }

    /// Source that its keywords are given.
    pub const fn source(self) -> Source {
        match self {
            Self::SemrushKeywords | Self::SemrushPositions | Self::SemrushApi => Source::CsvSemrush,
            Self::Ahrefs => Source::CsvAhrefs,
            Self::KeywordPlanner => Source::CsvGkp,
            Self::SearchConsole => Source::CsvGsc,
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
    /// 0 to 100.
    CompetitionIndex,
    Trend,
    /// Searches in the month `YYYY-MM`.
    Month([u8; 7]),
    Intents,
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
        format: Format::SearchConsole,
        needs: &[&["top queries", "query"], &["clicks"], &["impressions"]],
        columns: &[
            ("top queries", Column::Keyword),
            ("query", Column::Keyword),
            ("clicks", Column::Clicks),
            ("impressions", Column::Impressions),
            ("ctr", Column::Ctr),
            ("position", Column::Position),
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
    Ok(())
}

impl Layout {
    /// The layout of a file with this header; `None` when it is no header that is known.
    pub fn from_headers(headers: &[&str]) -> Option<Self> {
        let names: Vec<(String, Option<String>)> = headers.iter().map(|h| name(h)).collect();
        let known = KNOWN.iter().find(|known| {
            let has = |wanted: &&str| names.iter().any(|(name, _)| name == wanted);
            known.needs.iter().all(|need| need.iter().any(has))
        })?;
        let mut layout = Self {
            format: known.format,
            width: headers.len(),
            fields: Vec::new(),
            currency: None,
        };
        for (index, (name, unit)) in names.iter().enumerate() {
            let named = known.columns.iter().find(|(known, _)| known == name);
            let month = || {
                let planner = known.format == Format::KeywordPlanner;
                planner.then(|| month(name).map(Column::Month)).flatten()
            };
            let Some(column) = named.map(|(_, column)| *column).or_else(month) else {
                continue;
            };
            if column == Column::Cpc {
                layout.currency.clone_from(unit);
            }
            // a second column of the same name is a file put together by hand: the first one counts
            if layout.fields.iter().all(|f| f.column != column) {
                let header = headers[index].trim().to_owned();
                layout.fields.push(Field {
                    index,
                    header,
                    column,
                });
            }
        }
        Some(layout)
    }
}

/// A header in lower case, and the currency that stands behind it in brackets.
fn name(header: &str) -> (String, Option<String>) {
    let name = header.trim().trim_start_matches('\u{feff}').to_lowercase();
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
