use super::*;
use crate::{
    brands::{Alias, Brand},
    refusal::is_refused,
};

fn brand(id: &str, aliases: &[&str]) -> Brand {
    Brand {
        id: id.to_owned(),
        name: aliases[0].to_owned(),
        aliases: aliases.iter().map(|alias| Alias::from(*alias)).collect(),
        ..Brand::default()
    }
}

fn found(brands: &[Brand], text: &str) -> AnswerMentions {
    let matcher = BrandMatcher::new(brands);
    let answer = AnswerText::parse(text, "en");
    matcher.match_answer(&answer, None).mentions()
}

fn names(brands: &[Brand], text: &str) -> Vec<String> {
    found(brands, text)
        .mentioned()
        .map(|mention| mention.brand.clone())
        .collect()
}

#[test]
fn complete_words_only() {
    let brands = [
        brand("boltz", &["Zolt"]),
        brand("diq", &["Demand IQ"]),
        brand("heb", &["HEB"]),
    ];
    for (text, expected) in [
        ("Zoltzmann is not it.", &[][..]),
        ("We like Zolt's desks.", &["boltz"]),
        ("We like DemandIQ, Demand-IQ.", &["diq"]),
        ("We demand. IQ is no matter.", &[]),
        ("We use the Boltz.", &[]),
        ("ZOLT-like", &["boltz"]),
    ] {
        assert_eq!(names(&brands, text), expected, "{text}");
    }
}

#[test]
fn initials_and_short_names() {
    let brands = [
        brand("att", &["AT&T"]),
        brand("hp", &["HP"]),
        brand("3m", &["3M"]),
    ];
    for (text, expected) in [
        ("Use AT&T or ATT.", &["att"][..]),
        ("Look at T shirts.", &[]),
        ("An HP laptop", &["hp"]),
        ("40 hp engine", &[]),
        ("tape of 3M", &["3m"]),
    ] {
        assert_eq!(names(&brands, text), expected, "{text}");
    }
}

#[test]
fn longest_name_wins_and_products_belong_to_brands() {
    let mut own = brand("acme", &["Acme"]);
    own.products = vec![Alias::from("LiftPro 900")];
    let brands = [own, brand("acmecorp", &["Acme Corporation"])];
    assert_eq!(names(&brands, "The Acme Corporation sells it."), ["acmecorp"]);
    let mentions = found(&brands, "The LiftPro 900 is quiet.").mentions;
    assert_eq!((mentions[0].via, mentions[0].mentioned), (Via::Product, true));
}

#[test]
fn domains_are_mentions() {
    let mut own = brand("acme", &["Acme Desk"]);
    own.domains = vec!["https://www.acme-desks.com/".to_owned()];
    let brands = [own];
    for (text, expected) in [
        ("Try shop.acme-desks.com today", &["acme"][..]),
        ("Try www.Acme-Desks.com.", &["acme"]),
        ("Write to info@acme-desks.com", &[]),
        ("Try notacme-desks.com", &[]),
        ("Look at https://acme-desks.com/x", &[]),
        ("Acme-Desks makes them", &["acme"]),
    ] {
        assert_eq!(names(&brands, text), expected, "{text}");
    }
}

#[test]
fn ambiguous_names_need_evidence() {
    let mut notion = brand("notion", &["Notion"]);
    notion.domains = vec!["notion.so".to_owned()];
    notion.products = vec![Alias::from("Notion Calendar")];
    notion.category_terms = vec!["workspace".to_owned()];
    notion.negative_context = vec!["the notion of".to_owned()];
    let brands = [notion];
    for (text, expected, candidate) in [
        ("The notion of time is odd.", false, false),
        ("This notion is odd.", false, true),
        ("Many teams use Notion daily.", true, false),
        ("Notion is odd.", false, true),
        ("Notion is a workspace.", true, false),
        ("Notion is odd. See notion.so for more.", true, false),
        ("- Notion", true, false),
        ("- **Notion**: for notes", true, false),
        ("See Notion Calendar. Notion is odd.", true, false),
    ] {
        let found = found(&brands, text);
        let mention = found.mentions.first();
        assert_eq!(mention.is_some_and(|m| m.mentioned), expected, "{text}");
        assert_eq!(mention.is_some_and(|m| m.candidate), candidate, "{text}");
    }
}

#[test]
fn weekdays_are_no_brands() {
    let mut monday = brand("monday", &["Monday", "monday.com"]);
    monday.negative_context = vec!["on Monday".to_owned()];
    let brands = [monday];
    assert!(names(&brands, "We meet on Monday and use it every Monday.").is_empty());
    assert_eq!(names(&brands, "We use monday.com on Monday."), ["monday"]);
}

#[test]
fn a_shared_name_is_a_candidate_for_both() {
    let mut first = brand("a", &["Acme"]);
    first.domains = vec!["acme.example".to_owned()];
    let brands = [first, brand("b", &["ACME"])];
    let both = found(&brands, "We like Acme.");
    assert_eq!(both.mentions.iter().filter(|m| m.candidate).count(), 2);
    assert_eq!(names(&brands, "We like Acme (acme.example)."), ["a"]);
}

#[test]
fn positions_ranks_and_spans() {
    let brands = [brand("acme", &["Acme"]), brand("zolt", &["Zolt"])];
    let text = "Options:\n1. **Zolt** – cheap\n2. **Acme** – good, beats Zolt";
    let mentions = found(&brands, text).mentions;
    let by = |id: &str| {
        mentions
            .iter()
            .find(|mention| mention.brand == id)
            .unwrap()
            .clone()
    };
    assert_eq!(
        (by("zolt").position, by("zolt").list_rank, by("zolt").occurrences),
        (Some(1), Some(1), 2)
    );
    assert_eq!((by("acme").position, by("acme").list_rank), (Some(2), Some(2)));
    assert_eq!(by("acme").context, Some(MentionContext::Listed));
    let span = by("acme").spans[0].span;
    let letters = text
        .chars()
        .skip(span.start as usize)
        .take((span.end - span.start) as usize);
    assert_eq!(letters.collect::<String>(), "Acme");
}

#[test]
fn contexts() {
    let brands = [brand("acme", &["Acme"]), brand("zolt", &["Zolt"])];
    let context = |text: &str| {
        let mentions = found(&brands, text).mentions;
        mentions
            .iter()
            .find(|mention| mention.brand == "acme")
            .unwrap()
            .context
            .unwrap()
    };
    assert_eq!(
        context("I recommend Acme for small rooms."),
        MentionContext::Recommended
    );
    assert_eq!(context("I would not recommend Acme."), MentionContext::Warned);
    assert_eq!(context("Better avoid Acme."), MentionContext::Warned);
    assert_eq!(context("Zolt is cheaper than Acme."), MentionContext::Compared);
    assert_eq!(context("We recommend Zolt over Acme."), MentionContext::Compared);
    assert_eq!(context("Their neighbour is Acme."), MentionContext::Referenced);
}

#[test]
fn refused_brands_are_not_mentioned() {
    let brands = [brand("acme", &["Acme Desk"])];
    let found = found(
        &brands,
        "I don't have information about Acme Desk. Acme Desk may be new.",
    );
    assert!(found.refusal.unwrap().is_whole);
    assert_eq!(
        (found.mentions[0].mentioned, found.mentions[0].refusal),
        (false, true)
    );
}

/// Words that make an answer long.
const PROSE: &str = "It stands firmly on every floor, is quiet when it moves, and takes a heavy load. ";

#[test]
fn a_refusal_in_a_review_leaves_the_mentions_before_it() {
    let brands = [brand("acme", &["Acme Desk"])];
    let review = format!(
        "I recommend Acme Desk for small rooms. {}Acme Desk is my first choice. I couldn't find information about Acme Desk's \
         warranty. All in all, Acme Desk is worth its price.",
        PROSE.repeat(15)
    );
    let found = found(&brands, &review);
    let mention = &found.mentions[0];
    assert_eq!(
        (mention.mentioned, mention.occurrences, mention.refusal),
        (true, 3, true)
    );
    assert_eq!(mention.context, Some(MentionContext::Recommended));
    assert!(!is_refused(&found));
}

#[test]
fn a_refusal_behind_a_mention_leaves_it_in_a_short_answer() {
    let brands = [brand("acme", &["Acme Desk"])];
    let text = "I recommend Acme Desk. I couldn't find information about Acme Desk's warranty.";
    assert_eq!(found(&brands, text).mentions[0].occurrences, 1);
}

#[test]
fn a_refusal_far_inside_leaves_the_mentions_behind_it() {
    let brands = [brand("acme", &["Acme Desk"])];
    let text = format!(
        "{}I couldn't find information about Acme Desk's warranty. I recommend Acme Desk.",
        PROSE.repeat(5)
    );
    assert_eq!(found(&brands, &text).mentions[0].occurrences, 1);
}

#[test]
fn a_refusal_at_the_beginning_of_a_long_answer_holds_for_all_of_it() {
    let brands = [brand("acme", &["Acme Desk"])];
    let text = format!(
        "I don't have information about Acme Desk. {}Tell me more about Acme Desk.",
        "Look for oak, a steady frame and a quiet motor. ".repeat(5)
    );
    let found = found(&brands, &text);
    assert_eq!(found.mentioned().count(), 0);
    assert!(is_refused(&found));
}

#[test]
fn an_answer_behind_a_disclaimer_is_no_refusal() {
    let brands = [brand("acme", &["Acme Desk"])];
    for opening in [
        "I don't have access to live prices, but these are the best desks:",
        "I'm unable to browse the web, but these are the best desks:",
        "As an AI language model, I have no desk. These are the best ones:",
    ] {
        for first in ["Acme Desk", "Nordbord"] {
            let text = format!("{opening}\n1. {first}: {PROSE}\n2. Zolt: {PROSE}\n3. Oakly: {PROSE}");
            let found = found(&brands, &text);
            assert!(!is_refused(&found), "{text}");
            assert_eq!(found.mentioned().count(), usize::from(first == "Acme Desk"));
        }
    }
    for (text, expected) in [
        (
            "As an AI language model, I have no desk. Acme Desk is popular.",
            false,
        ),
        ("As an AI language model, I have no desk.", true),
        ("I'm sorry, but I can't help with Acme Desk.", true),
    ] {
        assert_eq!(is_refused(&found(&brands, text)), expected, "{text}");
    }
}

#[test]
fn a_refusal_ends_at_a_contrast() {
    let brands = [brand("acme", &["Acme Desk"])];
    let text = "I don't have access to live prices, but Acme Desk is popular.";
    assert_eq!(names(&brands, text), ["acme"]);
}

#[test]
fn accents_of_ordinary_words_count() {
    let matcher = BrandMatcher::new(&[brand("uber", &["Uber"])]);
    let mentioned = |text: &str| {
        let answer = AnswerText::parse(text, "de");
        matcher.match_answer(&answer, None).mentions().mentioned().count()
    };
    assert_eq!(
        [
            mentioned("Wir reden über Preise."),
            mentioned("Wir fahren mit Uber heim.")
        ],
        [0, 1]
    );
}

#[test]
fn an_echo_of_the_prompt_is_no_mention() {
    let matcher = BrandMatcher::new(&[brand("acme", &["Acme Desk"])]);
    let mentioned = |text: &str| {
        let answer = AnswerText::parse(text, "en");
        let matched = matcher.match_answer(&answer, Some("Is Acme Desk any good?"));
        matched.mentions().mentioned().count()
    };
    assert_eq!(mentioned("Is Acme Desk any good? Hard to say."), 0);
    assert_eq!(mentioned("Is Acme Desk any good? Acme Desk is fine."), 1);
    assert_eq!(mentioned("Acme Desk makes fine tables of oak."), 1);
}

#[test]
fn names_in_chinese_japanese_and_thai() {
    let brands = [
        brand("mi", &["小米"]),
        brand("sony", &["ソニー"]),
        brand("red", &["小红书"]),
        brand("thai", &["การบินไทย"]),
    ];
    for (text, expected) in [
        ("我推荐小米和别的。", &["mi"][..]),
        ("她煮小米粥喝。", &[]),
        ("ソニーのカメラ", &["sony"]),
        ("ソニーストアへ", &[]),
        ("我在小红书上看到", &["red"]),
        ("บินกับการบินไทยดี", &["thai"]),
    ] {
        assert_eq!(names(&brands, text), expected, "{text}");
    }
}

#[test]
fn inflected_forms_count_only_if_listed() {
    let mut yandex = brand("y", &["Яндекс"]);
    assert!(names(std::slice::from_ref(&yandex), "Я пользуюсь Яндексом.").is_empty());
    yandex.aliases[0].inflect = vec!["Яндексом".to_owned()];
    assert_eq!(names(&[yandex], "Я пользуюсь Яндексом."), ["y"]);
}
