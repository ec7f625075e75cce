//! Each check on a text that passes it and on one that does not; the arithmetic of the score.

use proptest::prelude::{prop, prop_assert, prop_assert_eq, proptest};

use super::{Band, CHECKS, Checked, Input, Outcome, band, check, score};
use crate::{
    document::Document,
    sanitise::{LinkPolicy, Target},
    similarity::Shingles,
};

/// Fields of a post that tests change.
struct Post {
    title: String,
    description: Option<String>,
    slug: String,
    markdown: String,
    keyword: Option<&'static str>,
    others: Option<Vec<Shingles>>,
    uses: Option<u32>,
    featured: Option<&'static str>,
    target: Option<u32>,
}

fn links() -> LinkPolicy {
    LinkPolicy {
        own_host: Some("example.com".into()),
        followed: vec!["https://source.example/study".into()],
        base: None,
        page: None,
    }
}

/// A text that passes every check: 12 sections of 55 words or so, the keyword in every other one.
fn good() -> Post {
    let plain = "We sit too much. Our backs hurt at night. A short walk helps us. So does a good chair. The sun is out. We \
        go and see. It is fun to stand. It is fun to walk. We do both each day. That is all we need to know.";
    let with = "A standing desk lets us get up. Our backs hurt at night. A short walk helps us. So does a good chair. The sun \
        is out. We go and see. It is fun to stand. It is fun to walk. We do both each day. That is all.";
    let mut markdown = String::from(
        "A standing desk is good.\n\n![A desk](desk.png)\n\n- [one](/one)\n- [two](https://example.com/two)\n\n\
        See [the study](https://source.example/study).\n\n",
    );
    for section in 0..14 {
        let (heading, text) = match section {
            0 => ("Is a standing desk good?".to_owned(), with),
            n if n % 2 == 0 => (format!("Standing desk part {n}"), with),
            n => (format!("Part {n}"), plain),
        };
        markdown.push_str(&format!("## {heading}\n\n{text}\n\n"));
    }
    Post {
        title: "Standing Desk Guide: How to Choose One".into(),
        description: Some(format!(
            "{} standing desk {}",
            "good advice ".repeat(6).trim(),
            "for your back at work ".repeat(2).trim()
        )),
        slug: "standing-desk-guide".into(),
        markdown,
        keyword: Some("standing desks"),
        others: Some(vec![Shingles::from_text(
            "Quite another text about other things on this site.",
        )]),
        uses: Some(0),
        featured: None,
        target: None,
    }
}

fn run(post: &Post) -> Vec<Checked> {
    let document = Document::of_markdown(&post.markdown).unwrap();
    let links = links();
    let input = Input {
        title: &post.title,
        meta_title: None,
        meta_description: post.description.as_deref(),
        slug: &post.slug,
        document: &document,
        keyword: post.keyword,
        language: "en",
        target_words: post.target,
        featured_image_alt: post.featured,
        links: &links,
        others: post.others.as_deref(),
        closest_page: 0.0,
        keyword_uses: post.uses,
    };
    check(&input).checks
}

fn outcome(id: &str, change: impl FnOnce(&mut Post)) -> Outcome {
    let mut post = good();
    change(&mut post);
    run(&post)
        .into_iter()
        .find(|check| check.id == id)
        .unwrap()
        .outcome
}

#[test]
fn a_good_post_passes_everything() {
    let checks = run(&good());
    for check in &checks {
        assert_eq!(check.outcome, Outcome::Pass, "{check:?}");
        assert_eq!(check.advice, None);
    }
    assert_eq!(checks.len(), CHECKS.len());
    assert_eq!(score(&checks), 100);
}

#[test]
fn every_check_can_fail() {
    let empty = Post {
        title: String::new(),
        description: None,
        slug: String::new(),
        markdown: format!(
            "# a\n\n# b\n\n## c\n\n{}",
            "organisational considerations ".repeat(110)
        ),
        keyword: Some("standing desk"),
        others: Some(vec![]),
        uses: Some(2),
        featured: None,
        target: None,
    };
    let text = Document::of_markdown(&empty.markdown).unwrap().plain_text();
    let copy = Post {
        others: Some(vec![Shingles::from_text(&text)]),
        slug: "a".repeat(76),
        ..empty
    };
    for check in run(&copy) {
        let expected = match check.id {
            // 220 words in one section and one paragraph: see below
            "subheading_distance" => Outcome::Pass,
            _ => Outcome::Fail,
        };
        assert_eq!(check.outcome, expected, "{check:?}");
    }
    let long = |p: &mut Post| p.markdown = "Word here. ".repeat(151);
    assert_eq!(outcome("subheading_distance", long), Outcome::Fail);
}

#[test]
fn what_lies_between() {
    use Outcome::{Fail, NotApplicable, Partial, Pass};
    let title = |title: &'static str| move |p: &mut Post| p.title = title.into();
    assert_eq!(
        outcome("keyword_in_title", title("How to Choose a Good Standing Desk")),
        Partial
    );
    assert_eq!(outcome("title_length", title("Short")), Partial);
    assert_eq!(
        outcome(
            "title_length",
            title("WWWWWWWWWW WWWWWWWWWW WWWWWWWWWW WWWWWWWWWW")
        ),
        Partial
    );
    assert_eq!(
        outcome(
            "title_length",
            title("WWWWWWWWWW WWWWWWWWWW WWWWWWWWWW WWWWWWWWWW WWWWWWWWWW WWWWWWWWWW WW")
        ),
        Fail
    );
    assert_eq!(
        outcome("description_length", |p| p.description = Some("Short.".into())),
        Partial
    );
    assert_eq!(outcome("keyword_in_slug", |p| p.slug = "desks".into()), Partial);
    assert_eq!(outcome("word_count", |p| p.target = Some(2000)), Partial);
    assert_eq!(
        outcome("keyword_density", |p| p.markdown = "standing desk ".repeat(50)),
        Fail
    );
    let dense =
        |p: &mut Post| p.markdown = format!("{}{}", "standing desk. ".repeat(28), "word. ".repeat(944));
    assert_eq!(outcome("keyword_density", dense), Partial);
    assert_eq!(outcome("keyword_distribution", dense), Fail);
    let late = |p: &mut Post| p.markdown = format!("{}standing desk", "word. ".repeat(500));
    assert_eq!(outcome("keyword_early", late), Fail);
    let short = |p: &mut Post| p.markdown = format!("{}standing desk", "word. ".repeat(300));
    assert_eq!(outcome("keyword_early", short), Pass);
    assert_eq!(
        outcome("keyword_in_subheadings", |p| p.markdown =
            "## Standing desk".into()),
        Partial
    );
    assert_eq!(
        outcome("keyword_in_subheadings", |p| p.markdown = "text".into()),
        NotApplicable
    );
    assert_eq!(outcome("images", |p| p.markdown = "![](a.png)".into()), Partial);
    let featured = |p: &mut Post| (p.markdown, p.featured) = (String::new(), Some("A desk"));
    assert_eq!(outcome("images", featured), Pass);
    assert_eq!(
        outcome("internal_links", |p| p.markdown = "[a](/a) [b](#b)".into()),
        Partial
    );
    assert_eq!(
        outcome("external_sources", |p| p.markdown =
            "[a](https://b.example)".into()),
        Partial
    );
    assert_eq!(
        outcome("structured_content", |p| p.markdown = "|a|\n|-|\n|b|".into()),
        Pass
    );
    assert_eq!(outcome("unique_text", |p| p.others = None), NotApplicable);
    for id in [
        "keyword_in_title",
        "keyword_early",
        "keyword_in_slug",
        "keyword_density",
        "keyword_unused",
    ] {
        assert_eq!(outcome(id, |p| p.keyword = None), NotApplicable);
    }
    assert_eq!(links().target("https://source.example/study"), Target::Source);
}

#[test]
fn bands_are_those_of_the_specification() {
    let bands = [0, 50, 51, 80, 81, 100].map(band);
    assert_eq!(
        bands,
        [Band::Poor, Band::Poor, Band::Ok, Band::Ok, Band::Good, Band::Good]
    );
}

#[test]
fn every_check_has_its_own_name() {
    let mut names: Vec<&str> = CHECKS.iter().map(|check| check.id).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), CHECKS.len());
    assert_eq!(CHECKS.iter().map(|check| check.weight).sum::<f64>(), 110.0);
}

proptest! {
    #[test]
    fn checks_that_do_not_apply_do_not_count(shares in prop::collection::vec(prop::option::of(0.0f64..=1.0), 1..23)) {
        let checks: Vec<Checked> = shares
            .iter()
            .zip(CHECKS)
            .map(|(share, check)| Checked {
                id: check.id,
                weight: check.weight,
                outcome: share.map_or(Outcome::NotApplicable, |_| Outcome::Partial),
                points: share.unwrap_or(0.0) * check.weight,
                value: None,
                advice: None,
            })
            .collect();
        let applicable: Vec<Checked> = checks.iter().filter(|c| c.outcome != Outcome::NotApplicable).cloned().collect();
        prop_assert_eq!(score(&checks), score(&applicable));
        prop_assert!(score(&checks) <= 100);
    }

    #[test]
    fn any_text_can_be_checked(markdown in "(# |## |- |[a-z?]{1,8} |\n\n|standing desk |\\[x\\]\\(/y\\) |!\\[\\]\\(z\\) ){0,60}", title in ".{0,80}") {
        let post = Post { markdown, title, ..good() };
        for check in run(&post) {
            prop_assert!(check.points >= 0.0 && check.points <= check.weight);
            prop_assert!(check.value.is_none_or(f64::is_finite));
        }
    }
}
