//! The angle of a text: what a keyword of any form asks, as a title and headings that are right for it.
//!
//! A keyword may be a question, a comparison, a name, a place or a thing, and none of the forms fits all. English and German
//! have forms of their own; in other languages the keyword itself is the heading, which is never wrong.

use searchwright_contract::keywords::Intent;
use searchwright_keywords::words::primary;

/// Title and headings for a keyword.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Angle {
    /// Title.
    pub title: String,
    /// Headings, the most important first.
    pub headings: Vec<String>,
}

/// Keyword, to be given an angle.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// Keyword, or the title of a post without one.
    pub topic: &'a str,
    /// BCP 47.
    pub language: &'a str,
    /// Search intent, if known.
    pub intent: Option<Intent>,
    /// Whether it is the name of a product, of the brand or of a competitor.
    pub is_name: bool,
}

/// Forms of a language. `{}` is the keyword or the part of it that the form is about, `{other}` the other of two.
struct Forms {
    question: &'static [&'static str],
    pair: &'static [&'static str],
    alternatives: &'static [&'static str],
    place: &'static [&'static str],
    best: &'static [&'static str],
    name: &'static [&'static str],
    thing: &'static [&'static str],
    wanted: &'static [&'static str],
    first_words: &'static [&'static str],
    between: &'static [&'static str],
    near: &'static [&'static str],
    best_words: &'static [&'static str],
    alternative_words: &'static [&'static str],
}

// Each begins with the title.
const ENGLISH: Forms = Forms {
    question: &["{}", "The short answer", "What it depends on", "What to do next"],
    pair: &[
        "{} vs {other}: which one suits you?",
        "What is the difference between {} and {other}?",
        "When is {} the better choice?",
        "When is {other} the better choice?",
        "What do {} and {other} have in common?",
    ],
    alternatives: &[
        "{} alternatives: what to look for",
        "Why look for an alternative to {}?",
        "What should an alternative to {} offer?",
        "How do you switch from {}?",
    ],
    place: &[
        "{}: how to choose",
        "What to look for",
        "What to ask before you decide",
        "What to expect to pay",
    ],
    best: &[
        "{}: how to choose",
        "What makes the {}?",
        "How to compare them",
        "Which one suits whom?",
    ],
    name: &[
        "{}: what it is and who it is for",
        "What is {}?",
        "Who is {} for?",
        "What does {} cost?",
    ],
    thing: &[
        "{}: what you should know",
        "What should you know about {}?",
        "What matters most with {}?",
        "What are common mistakes with {}?",
    ],
    wanted: &[
        "{}: how to choose",
        "What should you look for in {}?",
        "How much should you pay for {}?",
        "What are common mistakes with {}?",
    ],
    first_words: &[
        "what", "why", "how", "when", "where", "which", "who", "whose", "can", "could", "do", "does", "did",
        "is", "are", "should", "will", "would",
    ],
    between: &[" vs. ", " vs ", " versus "],
    near: &[" near me", " nearby", " near you"],
    best_words: &["best", "top"],
    alternative_words: &["alternatives", "alternative"],
};

const GERMAN: Forms = Forms {
    question: &[
        "{}",
        "Die kurze Antwort",
        "Wovon es abhängt",
        "Was als Nächstes zu tun ist",
    ],
    pair: &[
        "{} oder {other}: Was passt besser?",
        "Was ist der Unterschied zwischen {} und {other}?",
        "Wann passt {} besser?",
        "Wann passt {other} besser?",
        "Was haben {} und {other} gemeinsam?",
    ],
    alternatives: &[
        "Alternativen zu {}: Worauf es ankommt",
        "Warum eine Alternative zu {}?",
        "Was sollte eine Alternative zu {} können?",
        "Wie gelingt der Wechsel von {}?",
    ],
    place: &[
        "{}: Worauf es bei der Wahl ankommt",
        "Worauf kommt es bei der Wahl an?",
        "Was sollte man vorher fragen?",
        "Mit welchen Kosten ist zu rechnen?",
    ],
    best: &[
        "{}: Worauf es ankommt",
        "Worauf kommt es an?",
        "Wie lässt sich vergleichen?",
        "Was passt zu wem?",
    ],
    name: &[
        "{}: Was es ist und für wen",
        "Was ist {}?",
        "Für wen ist {}?",
        "Was kostet {}?",
    ],
    thing: &[
        "{}: Was man wissen sollte",
        "{}: Was sollte man wissen?",
        "{}: Worauf kommt es an?",
        "{}: Welche Fehler sind häufig?",
    ],
    wanted: &[
        "{}: Worauf es ankommt",
        "{}: Worauf kommt es an?",
        "{}: Mit welchen Kosten ist zu rechnen?",
        "{}: Welche Fehler sind häufig?",
    ],
    first_words: &[
        "was", "warum", "wieso", "weshalb", "wie", "wann", "wo", "wer", "welche", "welcher", "welches",
        "welchen", "wohin", "woher", "wofür", "womit", "wozu", "worauf", "kann", "können", "ist", "sind",
        "muss", "müssen", "soll", "sollte", "darf", "lohnt", "braucht",
    ],
    between: &[" vs. ", " vs ", " oder ", " versus "],
    near: &[" in der nähe", " in meiner nähe"],
    best_words: &["beste", "bester", "bestes", "besten", "top"],
    alternative_words: &["alternativen", "alternative"],
};

/// Finds the angle of a keyword.
pub fn angle(subject: &Subject<'_>) -> Angle {
    let topic = subject.topic.split_whitespace().collect::<Vec<_>>().join(" ");
    let topic = topic.trim_end_matches(['?', '？', '.', '!']).trim_end();
    let forms = match primary(subject.language).as_str() {
        "en" => &ENGLISH,
        "de" => &GERMAN,
        _ => {
            let title = capitalised(topic);
            return Angle {
                headings: vec![title.clone()],
                title,
            };
        }
    };
    let lower = topic.to_lowercase();
    let words: Vec<&str> = lower.split(' ').collect();
    let first = words.first().copied().unwrap_or_default();
    if topic.is_empty() {
        return Angle::default();
    }
    if words.len() > 1 && forms.first_words.contains(&first) {
        return question(topic, &lower, forms, &words);
    }
    if let Some((one, other)) = pair(topic, &lower, forms) {
        return made(forms.pair, one, other);
    }
    if subject.is_name {
        return made(forms.name, topic, "");
    }
    if let Some(of) = alternatives(topic, &words, forms) {
        return made(forms.alternatives, &of, "");
    }
    let is_near = forms.near.iter().any(|near| lower.ends_with(near));
    if is_near || is_in_place(topic) {
        return made(forms.place, topic, "");
    }
    if forms.best_words.contains(&first) && words.len() > 1 {
        return made(forms.best, topic, "");
    }
    match subject.intent {
        Some(Intent::Commercial) => made(forms.wanted, topic, ""),
        _ => made(forms.thing, topic, ""),
    }
}

/// Angle of a question: its answer, and for something that is to be done also what it takes.
fn question(topic: &str, lower: &str, forms: &Forms, words: &[&str]) -> Angle {
    let mut angle = made(forms.question, topic, "");
    // `how to choose` is what is told, `how does it work` is asked
    let told = matches!(words, ["how" | "when" | "where" | "what", "to", ..]);
    angle.headings.insert(
        0,
        if told {
            capitalised(topic)
        } else {
            format!("{}?", capitalised(topic))
        },
    );
    if !told {
        angle.title = format!("{}?", angle.title);
    }
    if let Some(act) = lower.strip_prefix("how to ").filter(|act| act.contains(' ')) {
        let act = topic.get(topic.len() - act.len()..).unwrap_or(act);
        angle.headings.truncate(1);
        angle
            .headings
            .extend(if act.to_lowercase().starts_with("choose ") {
                vec![
                    format!("What should you look at when you {act}?"),
                    format!("Which mistakes are common when you {act}?"),
                    "Which choice suits whom?".to_owned(),
                ]
            } else {
                vec![
                    format!("What do you need to {act}?"),
                    "Step by step".to_owned(),
                    format!("Which mistakes are common when you {act}?"),
                ]
            });
    }
    angle
}

/// The two things that a keyword compares.
fn pair<'t>(topic: &'t str, lower: &str, forms: &Forms) -> Option<(&'t str, &'t str)> {
    let (at, between) = { forms.between.iter() }.find_map(|between| Some((lower.find(between)?, between)))?;
    let (one, other) = (topic.get(..at)?, topic.get(at + between.len()..)?);
    let is_one = |part: &str| {
        !part.trim().is_empty() && !forms.between.iter().any(|b| part.to_lowercase().contains(b))
    };
    (is_one(one) && is_one(other)).then_some((one, other))
}

/// The thing that alternatives are sought to.
fn alternatives(topic: &str, words: &[&str], forms: &Forms) -> Option<String> {
    let named: Vec<&str> = topic.split(' ').collect();
    let is = |word: Option<&&str>| word.is_some_and(|word| forms.alternative_words.contains(word));
    let of = match words {
        [_, "to" | "zu" | "for" | "für", rest @ ..] if is(words.first()) && !rest.is_empty() => {
            named.get(2..)?
        }
        [rest @ .., _] if is(words.last()) && !rest.is_empty() => named.get(..rest.len())?,
        _ => return None,
    };
    Some(of.join(" "))
}

/// Whether a keyword ends with a place: `in` and a name, as it is written.
///
/// German writes every noun with a capital letter; what is asked of a thing in a thing is not wrong either.
fn is_in_place(topic: &str) -> bool {
    let Some((before, place)) = topic.rsplit_once(" in ") else {
        return false;
    };
    !before.is_empty() && place.split(' ').count() <= 3 && place.starts_with(char::is_uppercase)
}

fn made(forms: &[&str], topic: &str, other: &str) -> Angle {
    let fill = |form: &&str| capitalised(&form.replace("{other}", other).replace("{}", topic));
    let mut filled = forms.iter().map(fill);
    Angle {
        title: filled.next().unwrap_or_default(),
        headings: filled.collect(),
    }
}

/// A text that begins with a capital letter.
fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|c| c.to_uppercase().to_string());
    first.unwrap_or_default() + chars.as_str()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert, proptest};
    use searchwright_contract::keywords::Intent;

    use super::{Subject, angle};

    fn brief_for(language: &str, topic: &str) -> (String, String) {
        let found = angle(&Subject {
            topic,
            language,
            intent: None,
            is_name: false,
        });
        (found.title, found.headings.join(" | "))
    }

    #[test]
    fn every_form_of_keyword_has_its_own_questions() {
        for (topic, title, heading) in [
            (
                "how to choose garden hoses",
                "How to choose garden hoses",
                "How to choose garden hoses",
            ),
            (
                "how to mend a hose",
                "How to mend a hose",
                "What do you need to mend a hose?",
            ),
            (
                "what is drip irrigation?",
                "What is drip irrigation?",
                "What is drip irrigation?",
            ),
            (
                "hose vs pipe",
                "Hose vs pipe: which one suits you?",
                "What is the difference between hose and pipe?",
            ),
            (
                "hoses near me",
                "Hoses near me: how to choose",
                "What to look for",
            ),
            (
                "garden care in Kiel",
                "Garden care in Kiel: how to choose",
                "What to ask before you decide",
            ),
            (
                "best hoses",
                "Best hoses: how to choose",
                "What makes the best hoses?",
            ),
            (
                "Acme alternatives",
                "Acme alternatives: what to look for",
                "What should an alternative to Acme offer?",
            ),
            (
                "garden hoses",
                "Garden hoses: what you should know",
                "What should you know about garden hoses?",
            ),
        ] {
            let (found, headings) = brief_for("en-GB", topic);
            assert_eq!(found, title);
            assert!(
                headings.split(" | ").any(|found| found == heading),
                "{topic}: {headings}"
            );
        }
        for (topic, title, heading) in [
            (
                "wie reinigt man einen Schlauch",
                "Wie reinigt man einen Schlauch?",
                "Wie reinigt man einen Schlauch?",
            ),
            (
                "Schlauch oder Rohr",
                "Schlauch oder Rohr: Was passt besser?",
                "Was ist der Unterschied zwischen Schlauch und Rohr?",
            ),
            (
                "Gartenpflege in Kiel",
                "Gartenpflege in Kiel: Worauf es bei der Wahl ankommt",
                "Was sollte man vorher fragen?",
            ),
            (
                "Schlauch reinigen",
                "Schlauch reinigen: Was man wissen sollte",
                "Schlauch reinigen: Worauf kommt es an?",
            ),
            (
                "Acme Alternativen",
                "Alternativen zu Acme: Worauf es ankommt",
                "Warum eine Alternative zu Acme?",
            ),
        ] {
            let (found, headings) = brief_for("de", topic);
            assert_eq!(found, title);
            assert!(
                headings.split(" | ").any(|found| found == heading),
                "{topic}: {headings}"
            );
        }
        let only = "Tuyau d'arrosage".to_owned();
        assert_eq!(brief_for("fr", "tuyau d'arrosage"), (only.clone(), only));
    }

    #[test]
    fn names_and_wishes_to_buy_are_told_apart() {
        let subject = Subject {
            topic: "garden hoses",
            language: "en",
            intent: Some(Intent::Commercial),
            is_name: false,
        };
        assert_eq!(
            angle(&subject).headings[1],
            "How much should you pay for garden hoses?"
        );
        let name = Subject {
            topic: "Rainmaker",
            is_name: true,
            ..subject
        };
        assert_eq!(angle(&name).headings[0], "What is Rainmaker?");
    }

    proptest! {
        #[test]
        fn no_question_asks_a_question(first in "(how|what|why|when|is|can|which)( to| is| do)?", rest in "[a-z]{1,6}( [a-z]{1,6}){0,3}") {
            let topic = format!("{first} {rest}");
            let (title, headings) = brief_for("en", &topic);
            let asked = headings.to_lowercase();
            prop_assert!(!asked.contains(&format!("what is {topic}")) && !asked.contains(&format!("about {topic}")), "{}", headings);
            prop_assert!(!title.is_empty());
        }

        #[test]
        fn any_topic_has_a_title(topic in "\\PC{1,40}", language in "(en|de|fr|tr)") {
            let found = angle(&Subject { topic: &topic, language: &language, intent: None, is_name: false });
            prop_assert!(found.headings.iter().all(|heading| !heading.trim().is_empty()) || topic.trim().is_empty() || found.title.trim().is_empty());
        }
    }
}
