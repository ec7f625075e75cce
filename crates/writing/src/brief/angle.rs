//! The angle of a text: what a keyword of any form asks, as a title and headings that are right for it.
//!
//! A keyword may be a question, a comparison, a name, a place or a thing, and none of the forms fits all. English and German
//! have forms of their own; in other languages the keyword itself is the heading, which is never wrong.

use searchwright_contract::keywords::Intent;
use searchwright_keywords::words::primary;

use super::{nouns, places};

/// Title and headings for a keyword.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Angle {
    /// Title.
    pub title: String,
    /// Headings, the most important first.
    pub headings: Vec<String>,
}

/// Name that a keyword is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    /// A product.
    Product,
    /// The brand or a competitor.
    Company,
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
    /// Name that it is, if any.
    pub named: Option<Named>,
}

/// Forms of a language, of which each begins with the title. `{}` is the keyword or the part of it that the form is about,
/// `{other}` the other of two; `{a}` and `{b}` are the same with the article that a sentence needs.
struct Forms {
    question: &'static [&'static str],
    pair: &'static [&'static str],
    alternatives: &'static [&'static str],
    place: &'static [&'static str],
    near: &'static [&'static str],
    best: &'static [&'static str],
    product: &'static [&'static str],
    company: &'static [&'static str],
    thing: &'static [&'static str],
    wanted: &'static [&'static str],
    /// Variants for keywords that may need an article or not.
    plain_pair: &'static [&'static str],
    plain_thing: &'static [&'static str],
    plain_wanted: &'static [&'static str],
    first_words: &'static [&'static str],
    between: &'static [&'static str],
    near_words: &'static [&'static str],
    best_words: &'static [&'static str],
    /// Words behind `best` of which there is one answer.
    one_answer: &'static [&'static str],
    alternative_words: &'static [&'static str],
}

const ENGLISH: Forms = Forms {
    question: &["{}", "The short answer", "What it depends on", "What to do next"],
    pair: &[
        "{} vs {other}: which one suits you?",
        "What is the difference between {a} and {b}?",
        "When should you choose {a}?",
        "When should you choose {b}?",
        "What do {a} and {b} have in common?",
    ],
    alternatives: &[
        "{} alternatives: what to look for",
        "Why look for an alternative to {}?",
        "What should an alternative to {} offer?",
        "What changes with the switch from {}?",
    ],
    place: &[
        "{} in {other}: how to choose",
        "What to look for",
        "What to ask before you decide",
        "What to expect to pay in {other}",
    ],
    near: &[
        "{} near you: how to choose",
        "What to look for",
        "What to ask before you decide",
        "What to expect to pay",
    ],
    best: &[
        "{}: how to choose",
        "What to look for",
        "How to compare",
        "Which one suits whom?",
    ],
    product: &[
        "{}: what it is and who it is for",
        "What is {}?",
        "Who is {} for?",
        "What does {} cost?",
    ],
    company: &[
        "{}: what it offers and who it is for",
        "What does {} offer?",
        "Who is {} for?",
        "What sets {} apart?",
    ],
    thing: &[
        "{}: what you should know",
        "What should you know about {a}?",
        "What matters most with {a}?",
        "What are common mistakes with {a}?",
    ],
    wanted: &[
        "{}: how to choose",
        "What should you look for in {a}?",
        "How much should you pay for {a}?",
        "What are common mistakes with {a}?",
    ],
    plain_pair: &[
        "{} vs {other}: which one suits you?",
        "{} or {other}: what is the difference?",
        "When to choose {}",
        "When to choose {other}",
        "What both have in common",
    ],
    plain_thing: &[
        "{}: what you should know",
        "{}: the basics",
        "{}: what matters most",
        "{}: common mistakes",
    ],
    plain_wanted: &[
        "{}: how to choose",
        "{}: what to look for",
        "{}: what to expect to pay",
        "{}: common mistakes",
    ],
    first_words: &[
        "what", "why", "how", "when", "where", "which", "who", "whose", "can", "could", "do", "does", "did",
        "is", "are", "should", "will", "would",
    ],
    between: &[" vs. ", " vs ", " versus "],
    near_words: &[" near me", " nearby", " near you", " close to me", " around me"],
    best_words: &["best", "top"],
    one_answer: &[
        "time",
        "way",
        "ways",
        "place",
        "age",
        "temperature",
        "month",
        "day",
        "season",
        "position",
    ],
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
        "Was ändert sich beim Wechsel von {}?",
    ],
    place: &[
        "{} in {other}: Worauf es bei der Wahl ankommt",
        "Worauf kommt es bei der Wahl an?",
        "Was sollte man vorher fragen?",
        "Mit welchen Kosten ist in {other} zu rechnen?",
    ],
    near: &[
        "{} in der Nähe: Worauf es bei der Wahl ankommt",
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
    product: &[
        "{}: Was es ist und für wen",
        "Was ist {}?",
        "Für wen ist {} gedacht?",
        "Was kostet {}?",
    ],
    company: &[
        "{}: Angebot und Zielgruppe",
        "Was bietet {}?",
        "An wen richtet sich {}?",
        "Was ist bei {} anders?",
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
    plain_pair: &[],
    plain_thing: &[],
    plain_wanted: &[],
    first_words: &[
        "was", "warum", "wieso", "weshalb", "wie", "wann", "wo", "wer", "welche", "welcher", "welches",
        "welchen", "wohin", "woher", "wofür", "womit", "wozu", "worauf", "kann", "können", "ist", "sind",
        "muss", "müssen", "soll", "sollte", "darf", "lohnt", "braucht",
    ],
    between: &[" vs. ", " vs ", " oder ", " versus "],
    near_words: &[" in der nähe", " in meiner nähe", " in ihrer nähe"],
    best_words: &["beste", "bester", "bestes", "besten", "top"],
    one_answer: &[
        "zeit",
        "zeitpunkt",
        "weg",
        "art",
        "ort",
        "alter",
        "temperatur",
        "monat",
        "tag",
        "jahreszeit",
    ],
    alternative_words: &["alternativen", "alternative"],
};

/// Finds the angle of a keyword.
pub fn angle(subject: &Subject<'_>) -> Angle {
    let topic = subject.topic.split_whitespace().collect::<Vec<_>>().join(" ");
    let topic = topic.trim_end_matches(['?', '？', '.', '!']).trim_end();
    let is_english = primary(subject.language) == "en";
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
        return if is_english {
            question(&with_articles(topic), forms)
        } else {
            german_question(topic, &lower, forms)
        };
    }
    if let Some((one, other)) = pair(topic, &lower, forms) {
        return made_in_sentences(forms.pair, forms.plain_pair, one, other);
    }
    match subject.named {
        Some(Named::Product) => return made(forms.product, topic, ""),
        Some(Named::Company) => return made(forms.company, topic, ""),
        None => {}
    }
    if let Some(of) = alternatives(topic, &words, forms) {
        return made(forms.alternatives, &of, "");
    }
    if let Some(what) = forms.near_words.iter().find_map(|near| lower.strip_suffix(near)) {
        return made(forms.near, topic.get(..what.len()).unwrap_or(what), "");
    }
    if let Some(place) = places::split(topic, is_english) {
        return made(forms.place, &place.sought, &place.name);
    }
    if forms.best_words.contains(&first) && words.len() > 1 {
        let is_answered = words[1..]
            .iter()
            .take(2)
            .any(|word| forms.one_answer.contains(word));
        return made(if is_answered { forms.question } else { forms.best }, topic, "");
    }
    match subject.intent {
        Some(Intent::Commercial) => made_in_sentences(forms.wanted, forms.plain_wanted, topic, ""),
        _ => made_in_sentences(forms.thing, forms.plain_thing, topic, ""),
    }
}

/// Angle of a question: its answer, and for something that is to be done also what it takes.
fn question(topic: &str, forms: &Forms) -> Angle {
    let mut angle = made(forms.question, topic, "");
    let lower = topic.to_lowercase();
    // `how to choose` is what is told, `how does it work` is asked
    let mut words = lower.split(' ');
    let is_told = words
        .next()
        .is_some_and(|first| ["how", "when", "where", "what", "why"].contains(&first))
        && words.next() == Some("to");
    if !is_told {
        angle.title.push('?');
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

/// A question as people type it, with the articles and the number that a sentence needs.
fn with_articles(topic: &str) -> String {
    /// Questions about one thing and about many, by what stands before and behind the thing.
    const ASKED: [[&str; 3]; 6] = [
        ["what is ", "what are ", ""],
        ["how does ", "how do ", " work"],
        ["how much does ", "how much do ", " cost"],
        ["is ", "are ", " worth it"],
        ["how to choose ", "how to choose ", ""],
        ["how to buy ", "how to buy ", ""],
    ];
    let lower = topic.to_lowercase();
    for [of_one, of_many, behind] in ASKED {
        let Some(thing) = { lower.strip_prefix(of_one) }.and_then(|rest| rest.strip_suffix(behind)) else {
            continue;
        };
        let thing = topic
            .get(of_one.len()..of_one.len() + thing.len())
            .unwrap_or(thing);
        if let Some(said) = nouns::in_a_sentence(thing) {
            let before = if nouns::is_many(thing) { of_many } else { of_one };
            return format!("{before}{said}{behind}");
        }
    }
    topic.to_owned()
}

/// Angle of a question in German. Typed without an article, whose gender nobody knows, it is asked after a colon.
fn german_question(topic: &str, lower: &str, forms: &Forms) -> Angle {
    const ASKED: [[&str; 2]; 5] = [
        ["was ist ", "Was ist das?"],
        ["wie funktioniert ", "Wie funktioniert das?"],
        ["was kostet ", "Was kostet das?"],
        ["wie viel kostet ", "Was kostet das?"],
        ["lohnt sich ", "Lohnt sich das?"],
    ];
    const ARTICLES: [&str; 16] = [
        "der", "die", "das", "den", "dem", "ein", "eine", "einen", "einem", "mein", "meine", "der", "es",
        "besser", "so", "an",
    ];
    let mut angle = made(forms.question, topic, "");
    angle.title.push('?');
    for [before, asked] in ASKED {
        if let Some(thing) = lower.strip_prefix(before)
            && !thing.split(' ').any(|word| ARTICLES.contains(&word))
        {
            let thing = topic.get(before.len()..).unwrap_or(thing);
            angle.title = format!("{}: {asked}", capitalised(thing));
        }
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

/// Fills forms with articles where both things tell how they stand in a sentence, else forms that need none.
fn made_in_sentences(forms: &[&str], plain: &[&str], topic: &str, other: &str) -> Angle {
    if plain.is_empty() {
        return made(forms, topic, other);
    }
    let said = [topic, other].map(|thing| {
        if thing.is_empty() {
            Some(String::new())
        } else {
            nouns::in_a_sentence(thing)
        }
    });
    let [Some(one), Some(two)] = said else {
        return made(plain, topic, other);
    };
    let forms: Vec<String> = { forms.iter() }
        .map(|form| form.replace("{a}", &one).replace("{b}", &two))
        .collect();
    let forms: Vec<&str> = forms.iter().map(String::as_str).collect();
    made(&forms, topic, other)
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
pub(super) fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|c| c.to_uppercase().to_string());
    first.unwrap_or_default() + chars.as_str()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert, proptest};
    use searchwright_contract::keywords::Intent;

    use super::{Named, Subject, angle};

    fn brief_for(language: &str, topic: &str) -> (String, String) {
        let found = angle(&Subject {
            topic,
            language,
            intent: None,
            named: None,
        });
        (found.title, found.headings.join(" | "))
    }

    #[test]
    fn every_form_of_keyword_has_its_own_questions() {
        for (topic, title, heading) in [
            (
                "how to choose garden hoses",
                "How to choose garden hoses",
                "What should you look at when you choose garden hoses?",
            ),
            (
                "how to choose garden hose",
                "How to choose a garden hose",
                "Which mistakes are common when you choose a garden hose?",
            ),
            (
                "what is garden hoses",
                "What are garden hoses?",
                "The short answer",
            ),
            (
                "is electric pump worth it",
                "Is an electric pump worth it?",
                "What it depends on",
            ),
            (
                "how to mend a hose",
                "How to mend a hose",
                "What do you need to mend a hose?",
            ),
            (
                "what is drip irrigation?",
                "What is drip irrigation?",
                "The short answer",
            ),
            (
                "hose vs pipe",
                "Hose vs pipe: which one suits you?",
                "What is the difference between a hose and a pipe?",
            ),
            (
                "soaker hoses vs drip irrigation",
                "Soaker hoses vs drip irrigation: which one suits you?",
                "When should you choose soaker hoses?",
            ),
            (
                "Rainmaker vs Acme",
                "Rainmaker vs Acme: which one suits you?",
                "Rainmaker or Acme: what is the difference?",
            ),
            (
                "hoses near me",
                "Hoses near you: how to choose",
                "What to look for",
            ),
            (
                "garden care in Kiel",
                "Garden care in Kiel: how to choose",
                "What to ask before you decide",
            ),
            (
                "garden care in berlin",
                "Garden care in Berlin: how to choose",
                "What to expect to pay in Berlin",
            ),
            (
                "plumber new york",
                "Plumber in New York: how to choose",
                "What to look for",
            ),
            ("best hoses", "Best hoses: how to choose", "Which one suits whom?"),
            (
                "best time to water lawn",
                "Best time to water lawn",
                "What it depends on",
            ),
            (
                "garden hose",
                "Garden hose: what you should know",
                "What matters most with a garden hose?",
            ),
            (
                "drip irrigation",
                "Drip irrigation: what you should know",
                "What matters most with drip irrigation?",
            ),
            (
                "soil preparation",
                "Soil preparation: what you should know",
                "Soil preparation: what matters most",
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
                "Die kurze Antwort",
            ),
            (
                "was ist Tröpfchenbewässerung",
                "Tröpfchenbewässerung: Was ist das?",
                "Wovon es abhängt",
            ),
            (
                "was kostet ein Schlauch",
                "Was kostet ein Schlauch?",
                "Die kurze Antwort",
            ),
            (
                "gärtner berlin",
                "Gärtner in Berlin: Worauf es bei der Wahl ankommt",
                "Mit welchen Kosten ist in Berlin zu rechnen?",
            ),
            (
                "Gärtner in meiner Nähe",
                "Gärtner in der Nähe: Worauf es bei der Wahl ankommt",
                "Was sollte man vorher fragen?",
            ),
            (
                "Gärtnern in Töpfen",
                "Gärtnern in Töpfen: Was man wissen sollte",
                "Gärtnern in Töpfen: Worauf kommt es an?",
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
        let subject = |topic, named| Subject {
            topic,
            language: "en",
            intent: Some(Intent::Commercial),
            named,
        };
        let headings = |topic, named| angle(&subject(topic, named)).headings;
        assert_eq!(
            headings("garden hoses", None)[1],
            "How much should you pay for garden hoses?"
        );
        assert_eq!(
            headings("garden hose", None)[0],
            "What should you look for in a garden hose?"
        );
        assert_eq!(
            headings("Rainmaker", Some(Named::Product))[0],
            "What is Rainmaker?"
        );
        assert_eq!(headings("Acme", Some(Named::Company))[0], "What does Acme offer?");
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
            let found = angle(&Subject { topic: &topic, language: &language, intent: None, named: None });
            prop_assert!(found.headings.iter().all(|heading| !heading.trim().is_empty()) || topic.trim().is_empty() || found.title.trim().is_empty());
        }
    }
}
