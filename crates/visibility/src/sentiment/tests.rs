use super::*;
use crate::brands::{Brand, BrandMatcher};

fn sentiment(text: &str, language: &str, brand: &str) -> Sentiment {
    let brands = ["Acme", "Zolt", "Best Buy"].map(|name| Brand {
        id: name.to_owned(),
        name: name.to_owned(),
        ..Brand::default()
    });
    let matcher = BrandMatcher::new(&brands);
    let answer = AnswerText::parse(text, language);
    matcher.match_answer(&answer, None).sentiment(brand)
}

#[test]
fn labels_by_sentence() {
    use SentimentLabel::{Mixed, Negative, Neutral, Positive};
    for (language, text, expected) in [
        ("en", "Acme is reliable and easy to use.", Positive),
        ("en", "Acme is outdated and unreliable.", Negative),
        ("en", "Acme is not reliable.", Negative),
        ("en", "Acme isn't bad.", Positive),
        ("en", "Acme is a company in Berlin.", Neutral),
        ("en", "Zolt is terrible, but Acme is great.", Positive),
        ("en", "Acme is great, but Zolt is terrible.", Positive),
        ("en", "Zolt is better than Acme.", Negative),
        ("en", "Acme is better than Zolt.", Positive),
        ("en", "Acme makes desks. They are awful and terrible.", Negative),
        ("en", "Acme makes desks. Zolt is awful and terrible.", Neutral),
        ("en", "Acme is great and excellent yet awful and horrible.", Mixed),
        (
            "de",
            "Acme ist zuverlässig und hat eine hervorragende Qualität.",
            Positive,
        ),
        ("de", "Acme ist veraltet und unzuverlässig.", Negative),
        ("de", "Acme ist nicht gut.", Negative),
        ("de", "Zolt ist schlecht, aber Acme ist gut.", Positive),
        ("fr", "Acme est excellent et fiable.", Positive),
        ("fr", "Acme est lent et mauvais.", Negative),
        ("fr", "Acme n'est pas bon.", Negative),
    ] {
        let found = sentiment(text, language, "Acme");
        assert_eq!(found.label, Some(expected), "{text} {found:?}");
    }
}

#[test]
fn names_have_no_value_and_marketing_weighs_little() {
    assert_eq!(
        sentiment("Best Buy sells desks.", "en", "Best Buy").score,
        Some(0.0)
    );
    let leading = sentiment("Acme is leading.", "en", "Acme").score.unwrap();
    assert!(leading > 0.0 && leading <= 0.26, "{leading}");
}

#[test]
fn whole_items_are_read() {
    let text = "1. **Acme**\n   - Terrible support\n   - Awful design\n2. **Zolt**\n   - Excellent support";
    assert_eq!(
        sentiment(text, "en", "Acme").label,
        Some(SentimentLabel::Negative)
    );
    assert_eq!(
        sentiment(text, "en", "Zolt").label,
        Some(SentimentLabel::Positive)
    );
}

#[test]
fn missing_scores_have_a_reason() {
    let missing = sentiment("Acme es buena.", "es", "Acme");
    assert_eq!(
        (missing.score, missing.reason),
        (None, Some(SentimentGap::UnsupportedLanguage))
    );
    assert_eq!(
        sentiment("Nothing.", "en", "Acme").reason,
        Some(SentimentGap::NotMentioned)
    );
    assert!(is_supported("de-AT") && !is_supported("ja"));
}
