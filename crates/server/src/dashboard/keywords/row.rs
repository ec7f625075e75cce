//! A row of the table of keywords: figures with their source and date.

use searchwright_contract::{
    Instant,
    keywords::{CannibalisationReason, IntentSource, Keyword, KeywordSource},
    missing::MissingReason,
};

use super::{
    super::{show, visit::Visit},
    status_mark,
};

/// Characters of a text of others in a row.
const MAX_TEXT: usize = 200;
/// Sources that a row lists.
const MAX_SOURCES: usize = 8;

/// A figure with what it rests on.
pub(super) struct KeywordFigure {
    pub value: Option<String>,
    /// The source and the day; of a figure that is missing, why.
    pub basis: String,
}

/// A row of the table.
pub(super) struct KeywordRow {
    pub id: String,
    pub text: String,
    /// Value of its tick box.
    pub value: String,
    pub status: (&'static str, &'static str),
    pub intent: Option<String>,
    pub intent_basis: String,
    pub volume: KeywordFigure,
    pub difficulty: KeywordFigure,
    pub cpc: Option<String>,
    pub score: Option<String>,
    pub cluster: Option<String>,
    pub is_head: bool,
    pub post: Option<String>,
    pub posts: Option<(String, usize)>,
    pub rivals: Option<String>,
    pub facts: Vec<(&'static str, String)>,
}

/// Name of a source.
pub(super) fn source_name(source: KeywordSource) -> &'static str {
    match source {
        KeywordSource::Manual => "by hand",
        KeywordSource::SiteContent => "own pages",
        KeywordSource::Sitemap => "sitemap",
        KeywordSource::BrandData => "brand data",
        KeywordSource::Autocomplete => "autocomplete",
        KeywordSource::QuestionPattern => "question pattern",
        KeywordSource::CompetitorPage => "competitor's page",
        KeywordSource::Gsc => "Search Console",
        KeywordSource::GoogleAds => "Google Ads",
        KeywordSource::Dataforseo => "DataForSEO",
        KeywordSource::CsvSemrush => "Semrush file",
        KeywordSource::CsvAhrefs => "Ahrefs file",
        KeywordSource::CsvGkp => "Keyword Planner file",
        KeywordSource::CsvGsc => "Search Console file",
        KeywordSource::Llm => "language model",
    }
}

/// Figure of a keyword; `by` is the last source that gave exactly this value.
fn figure(
    visit: &Visit,
    keyword: &Keyword,
    value: Option<i64>,
    reason: Option<MissingReason>,
    by: Option<(KeywordSource, Instant)>,
) -> KeywordFigure {
    let Some(value) = value else {
        let reason = reason.unwrap_or(MissingReason::NotMeasured);
        return KeywordFigure {
            value: None,
            basis: show::words(reason.as_str()),
        };
    };
    let (source, at) = by.unwrap_or((
        KeywordSource::Manual,
        keyword.details.metrics_updated_at.unwrap_or(keyword.created_at),
    ));
    KeywordFigure {
        value: Some(show::number(value.unsigned_abs())),
        basis: format!("{}, {}", source_name(source), visit.day(&at)),
    }
}

/// Basis of the intent.
fn intent_basis(keyword: &Keyword) -> String {
    let reason = keyword.intent_reason.as_deref().map(|text| show::cut(text, 80));
    match keyword.intent_source {
        Some(IntentSource::Manual) => "by hand".to_owned(),
        Some(IntentSource::Provider) => "from a provider or a file".to_owned(),
        Some(IntentSource::Rules) => {
            let sure = keyword.intent_confidence.map_or_else(String::new, |sure| {
                format!(", {} sure", show::percent(sure * 100.0))
            });
            let why = reason.map_or_else(String::new, |reason| format!(": {reason}"));
            format!("rules{sure}{why}")
        }
        None => String::new(),
    }
}

fn facts(visit: &Visit, keyword: &Keyword) -> Vec<(&'static str, String)> {
    let details = &keyword.details;
    let mut facts = Vec::new();
    for origin in details.sources.iter().take(MAX_SOURCES) {
        let mut text = format!("{}, {}", source_name(origin.source), visit.day(&origin.at));
        for more in [&origin.place, &origin.detail].into_iter().flatten() {
            text.push_str(&format!(" \u{b7} {}", show::cut(more, MAX_TEXT)));
        }
        if let Some(volume) = origin.search_volume {
            text.push_str(&format!(" \u{b7} volume {}", show::number(volume.unsigned_abs())));
        }
        if let Some(difficulty) = origin.keyword_difficulty {
            text.push_str(&format!(" \u{b7} difficulty {difficulty}"));
        }
        facts.push(("Source", text));
    }
    let more = details.sources.len().saturating_sub(MAX_SOURCES);
    if more > 0 {
        facts.push(("Source", format!("and {more} more")));
    }
    let mut add = |name, text: Option<String>| facts.extend(text.map(|text| (name, text)));
    add("Cost per click", cpc(keyword));
    add(
        "Competition of ads",
        details.competition.map(|share| show::percent(share * 100.0)),
    );
    add(
        "Position",
        details.position.map(|position| format!("{position:.1}")),
    );
    add(
        "Page that ranks",
        details.ranking_url.as_deref().map(|url| show::cut(url, MAX_TEXT)),
    );
    add(
        "Clicks",
        details.clicks.map(|clicks| show::number(clicks.unsigned_abs())),
    );
    add(
        "Impressions",
        details
            .impressions
            .map(|shown| show::number(shown.unsigned_abs())),
    );
    add(
        "Parent topic",
        details
            .parent_topic
            .as_deref()
            .map(|topic| show::cut(topic, MAX_TEXT)),
    );
    let features = details.serp_features.join(", ");
    add(
        "Features of the results",
        Some(show::cut(&features, MAX_TEXT)).filter(|text| !text.is_empty()),
    );
    facts.push(("Added", visit.day(&keyword.created_at)));
    let country = keyword.country.as_deref().unwrap_or("all countries");
    facts.push(("Market", format!("{}, {country}", keyword.language)));
    facts
}

fn cpc(keyword: &Keyword) -> Option<String> {
    let currency = keyword.details.currency.as_deref().unwrap_or_default();
    let text = format!("{:.2} {}", keyword.details.cpc?, show::cut(currency, 3));
    Some(text.trim_end().to_owned())
}

/// Pages and posts of the site that compete for it, in words.
fn rivals(keyword: &Keyword) -> Option<String> {
    let rivals = keyword.details.cannibalisation.as_ref()?;
    let seen = match rivals.reason {
        CannibalisationReason::SearchConsole => "Search Console shows alternating pages",
        CannibalisationReason::SamePages => "several pages aim at it",
        CannibalisationReason::SamePosts => "several posts aim at it",
    };
    let pages: Vec<String> = rivals.urls.iter().take(3).map(|url| show::path_of(url)).collect();
    let list = show::cut(&pages.join(", "), MAX_TEXT);
    Some(if list.is_empty() {
        seen.to_owned()
    } else {
        format!("{seen}: {list}")
    })
}

impl KeywordRow {
    pub(super) fn new(visit: &Visit, keyword: Keyword) -> Self {
        let details = &keyword.details;
        let of_volume =
            details.sources.iter().rev().find(|origin| {
                origin.search_volume.is_some() && origin.search_volume == keyword.search_volume
            });
        let of_difficulty = details.sources.iter().rev().find(|origin| {
            origin.keyword_difficulty.is_some() && origin.keyword_difficulty == keyword.keyword_difficulty
        });
        let id = keyword.id.to_string();
        let posts = keyword.post_ids.len();
        let list = visit.address(&format!("/posts?keyword={id}"));
        Self {
            text: show::plain(&keyword.keyword),
            value: format!("{id} {}", keyword.version),
            status: status_mark(keyword.status),
            intent: keyword.intent.map(|intent| show::heading(intent.as_str())),
            intent_basis: intent_basis(&keyword),
            volume: figure(
                visit,
                &keyword,
                keyword.search_volume,
                keyword.search_volume_status,
                of_volume.map(|origin| (origin.source, origin.at)),
            ),
            difficulty: figure(
                visit,
                &keyword,
                keyword.keyword_difficulty,
                keyword.keyword_difficulty_status,
                of_difficulty.map(|origin| (origin.source, origin.at)),
            ),
            cpc: cpc(&keyword),
            score: keyword.score.map(|score| format!("{score:.0}")),
            cluster: keyword
                .cluster_id
                .map(|cluster| visit.address(&format!("/keywords?cluster={cluster}"))),
            is_head: keyword.is_cluster_head,
            post: keyword
                .post_ids
                .first()
                .map(|post| visit.address(&format!("/posts/{post}"))),
            posts: (posts > 1).then_some((list, posts)),
            rivals: rivals(&keyword),
            facts: facts(visit, &keyword),
            id,
        }
    }
}
