//! The people and organisations that a sentence attributes its statement to.

use searchwright_keywords::words::primary;
use searchwright_text::squeeze;

/// Words of a name.
const MAX_NAMED: usize = 5;

/// Words after which somebody is named.
fn leads(language: &str) -> &'static [&'static str] {
    match language {
        "en" => &[
            "according to",
            "study by",
            "survey by",
            "report by",
            "research by",
            "reported by",
            "cited by",
            "data from",
        ],
        "de" => &[
            "laut",
            "nach angaben von",
            "nach angaben der",
            "nach angaben des",
            "studie von",
            "studie der",
            "umfrage von",
        ],
        "fr" => &["selon", "d'après", "étude de", "enquête de", "rapport de"],
        "es" => &[
            "según",
            "de acuerdo con",
            "estudio de",
            "encuesta de",
            "informe de",
        ],
        "it" => &["secondo", "studio di", "sondaggio di", "rapporto di"],
        "nl" => &["volgens", "onderzoek van", "rapport van"],
        "pt" => &[
            "segundo",
            "de acordo com",
            "estudo da",
            "estudo do",
            "relatório da",
        ],
        "ru" => &["по данным", "согласно", "по словам", "по оценкам"],
        _ => &[],
    }
}

/// Words before which somebody is named.
fn follows(language: &str) -> &'static [&'static str] {
    match language {
        "en" => &[
            "said",
            "says",
            "found",
            "finds",
            "reports",
            "reported",
            "estimates",
            "estimated",
            "claims",
            "claimed",
            "argues",
            "predicts",
            "predicted",
            "shows",
            "show",
            "say",
            "suggest",
            "suggests",
        ],
        "de" => &[
            "zufolge",
            "sagt",
            "sagte",
            "berichtet",
            "schätzt",
            "zeigen",
            "zeigt",
            "prognostiziert",
        ],
        "fr" => &["affirme", "estime", "montre", "montrent", "rapporte"],
        "es" => &["afirma", "estima", "muestra", "muestran", "informa"],
        "it" => &["afferma", "stima", "mostra", "mostrano", "riporta"],
        "nl" => &["zegt", "schat", "meldt", "toont"],
        "pt" => &["afirma", "estima", "mostra", "mostram", "relata"],
        "ru" => &["сообщает", "заявил", "показывает", "показывают", "оценивает"],
        _ => &[],
    }
}

/// Returns the names to which the sentence attributes a statement; one or two words where nobody is named.
pub(crate) fn attributions(sentence: &str, language: &str) -> Vec<String> {
    let language = primary(language);
    let text = squeeze(&sentence.replace('’', "'"));
    let tokens: Vec<&str> = text.split(' ').collect();
    let bare = |token: &str| token.trim_matches(|c: char| !c.is_alphanumeric()).to_owned();
    let is_name = |token: &str| {
        token
            .trim_start_matches(|c: char| !c.is_alphanumeric())
            .starts_with(char::is_uppercase)
    };
    let ends = |token: &str| token.ends_with([',', '.', ':', ';', '?', '!', ')']);
    let mut found = Vec::new();
    for lead in leads(&language) {
        let width = lead.split(' ').count();
        for at in 0..tokens.len().saturating_sub(width) {
            let here = tokens[at..at + width].join(" ").to_lowercase();
            if here.trim_start_matches(['(', '"', '“']) != *lead {
                continue;
            }
            let mut after = &tokens[at + width..];
            if let [article, name, ..] = after
                && article.chars().count() <= 3
                && !is_name(article)
                && is_name(name)
            {
                after = &after[1..];
            }
            // somebody without a name is one or two words
            let capitals = after.iter().take(MAX_NAMED).take_while(|token| is_name(token));
            let named = capitals.count();
            let most = if named > 0 { named } else { 2 };
            let end = after.iter().take(most).position(|token| ends(token));
            let name: Vec<String> = after
                .iter()
                .take(end.map_or(most, |end| end + 1))
                .map(|token| bare(token))
                .collect();
            found.push(name.join(" "));
        }
    }
    for (at, token) in tokens.iter().enumerate().skip(1) {
        if !follows(&language).contains(&bare(token).to_lowercase().as_str()) || ends(tokens[at - 1]) {
            continue;
        }
        let before = tokens[..at].iter().rev().take(MAX_NAMED);
        let mut name: Vec<String> = before.take_while(|t| is_name(t)).map(|t| bare(t)).collect();
        name.reverse();
        // a pronoun names nobody; who is meant was named before
        if !name.is_empty()
            && !matches!(
                name.join(" ").as_str(),
                "I" | "It" | "He" | "She" | "We" | "They" | "This" | "That" | "Er" | "Sie" | "Es" | "Das"
            )
        {
            found.push(name.join(" "));
        }
    }
    found.retain(|name| !name.is_empty());
    found.dedup();
    found
}
