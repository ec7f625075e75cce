//! Settings of a project.

use proptest::prelude::{any, proptest};

use super::{
    super::{Check, Level, Rules, Settings, Severity, Threshold, Thresholds, find, registry},
    evidence,
    world::World,
};

fn settings(said: &[(&str, &str)]) -> Settings {
    let mut settings = Settings::default();
    for (name, value) in said {
        settings.set(name, value).unwrap();
    }
    settings
}

#[test]
fn thresholds_are_the_projects_own() {
    let world = World::new().page("/p", "<title>Short</title>");
    assert!(evidence(&world.findings(), "title-short").is_some());
    for name in ["title-min", "titleMin", "title_min"] {
        let own = settings(&[(name, "3")]);
        assert_eq!(own.thresholds["title-min"], 3);
        let found = world.clone().rules(own.rules()).findings();
        assert_eq!(evidence(&found, "title-short"), None, "{name}");
    }
}

#[test]
fn disabled_check_is_not_evaluated() {
    let world = World::new().page("/p", "<title>Short</title>");
    let own = settings(&[
        ("severity.title-short", "off"),
        ("severity.llms-txt-missing", "off"),
    ]);
    let ids = |found: Vec<super::Finding>| found.iter().map(|f| f.check.id).collect::<Vec<_>>();
    let mut expected = ids(world.findings());
    expected.retain(|id| !["title-short", "llms-txt-missing"].contains(id));
    assert_eq!(ids(world.rules(own.rules()).findings()), expected);
}

#[test]
fn severities_are_the_projects_own() {
    let rules = settings(&[
        ("severity.title-short", "error"),
        ("severity.title-missing", "notice"),
        ("severity.llms-txt-missing", "error"),
        ("severity.http-no-response", "error"),
        ("severity.h1-long", "off"),
    ])
    .rules();
    let of = |id: &str| {
        let check = find(id).unwrap();
        let severity = rules.severity(check);
        (severity, rules.is_scored(check, severity), rules.is_off(check))
    };
    assert_eq!(of("title-short"), (Severity::Error, true, false));
    assert_eq!(of("title-missing"), (Severity::Notice, false, false));
    assert_eq!(
        of("llms-txt-missing"),
        (Severity::Error, false, false),
        "never scored"
    );
    assert_eq!(
        of("http-no-response"),
        (Severity::Error, true, false),
        "where it lasts"
    );
    assert!(of("h1-long").2);
    let catalogue = Rules::default();
    for check in registry() {
        let severity = catalogue.severity(check);
        assert_eq!(
            (
                severity,
                catalogue.is_scored(check, severity),
                catalogue.is_off(check)
            ),
            (check.severity, check.scored, false),
            "{}",
            check.id
        );
    }
}

/// Thresholds that apply while pages are parsed and compared, before any check runs.
#[test]
fn thresholds_hold_for_what_is_learnt_while_crawling() {
    for (check, name, value) in [
        ("duplicate-near", "near-percent", "100"),
        ("duplicate-near", "near-words", "100000"),
        ("cannibalisation", "topic-percent", "100"),
        ("soft-404", "not-found-words", "0"),
        ("paragraphs-long", "long-paragraph-words", "151"),
        ("language-detected-mismatch", "language-words", "100000"),
        ("sitemap-lastmod-bad", "same-dates", "21"),
    ] {
        let rules = settings(&[(name, value)]).rules();
        let bad: Vec<World> = super::cases()
            .into_iter()
            .filter(|case| case.id == check)
            .map(|case| case.bad)
            .collect();
        let found = |world: &World| evidence(&world.findings(), check).is_some();
        assert!(bad.iter().all(found), "{check}");
        let by_rules = bad.into_iter().map(|world| world.rules(rules.clone()));
        assert!(!by_rules.into_iter().all(|world| found(&world)), "{name}");
    }
}

#[test]
fn severity_depends_on_the_amount() {
    let chain = |hops: usize| {
        let world = World::new().redirect("/p", 301, "/1");
        let world = (1..hops).fold(world, |world, i| {
            world.redirect(&format!("/{i}"), 301, &format!("/{}", i + 1))
        });
        evidence(&world.findings(), "redirect-chain").unwrap()
    };
    let own = |name, value| settings(&[(name, value)]).rules();
    let (usual, four) = (Rules::default(), own("chain-error-hops", "4"));
    let all = own("severity.redirect-chain", "notice");
    let check = find("redirect-chain").unwrap();
    for (hops, rules, expected) in [
        (4, &usual, Severity::Warning),
        (5, &usual, Severity::Error),
        (4, &four, Severity::Error),
        // a severity set by the project applies to all findings
        (9, &all, Severity::Notice),
    ] {
        let evidence = chain(hops);
        assert_eq!(rules.severity_of(check, &evidence), expected, "{hops}");
        assert_eq!(rules.severity_by(check, &evidence.to_string()), expected);
    }
    let check = find("og-image-small").unwrap();
    let least = own("card-least", "600");
    for (size, rules, expected) in [
        ((1199, 629), &usual, Severity::Notice),
        ((199, 629), &usual, Severity::Warning),
        ((1199, 199), &usual, Severity::Warning),
        ((1199, 599), &least, Severity::Warning),
    ] {
        let evidence = serde_json::json!({"width": size.0, "height": size.1});
        let severity = rules.severity_of(check, &evidence);
        assert_eq!(severity, expected, "{size:?}");
        assert_eq!(rules.is_scored(check, severity), expected == Severity::Warning);
    }
    // evidence of an older version may lack the number
    assert_eq!(usual.severity_by(check, "{}"), Severity::Notice);
}

#[test]
fn severity_does_not_change_identity() {
    let usual = Rules::default();
    for (name, value, id, is_other) in [
        ("chain-error-hops", "4", "redirect-chain", false),
        ("card-least", "600", "og-image-small", false),
        ("title-min", "35", "title-short", true),
    ] {
        let check = find(id).unwrap();
        assert_eq!(
            settings(&[(name, value)]).rules().differ(&usual, check),
            is_other,
            "{name}"
        );
    }
}

#[test]
fn unknown_setting_names_the_known_ones() {
    let mut own = Settings::default();
    for (name, value, said) in [
        ("title-mni", "3", "title-min, title-max"),
        ("", "3", "title-min, title-max"),
        ("title-min", "-1", "from 0 to 1000"),
        ("title-min", "1001", "from 0 to 1000"),
        ("title-min", "3.5", "whole number of characters"),
        ("text-ratio-percent", "101", "from 0 to 100"),
        ("severity.title-short", "fatal", "error, warning, notice, off"),
        ("severity.title-shrt", "off", "docs/checks.md"),
    ] {
        let refused = own.set(name, value).unwrap_err();
        assert!(refused.contains(said), "{refused}");
    }
    assert!(own.is_empty());
    assert!(own.reset("title-mni").is_err());
    own.set("title-min", "80").unwrap();
    assert!(own.check().unwrap_err().contains("title-max"));
    own.set("title-max", "90").unwrap();
    own.check().unwrap();
    own.reset("titleMin").unwrap();
    own.reset("titleMax").unwrap();
    assert!(own.is_empty());
}

#[test]
fn every_threshold_says_whose_it_is() {
    for threshold in Thresholds::ALL {
        let name = threshold.name();
        assert_eq!(Threshold::find(&name).unwrap().name(), name);
        assert!(
            (threshold.least..=threshold.most).contains(&threshold.default),
            "{name}"
        );
        assert!(!threshold.checks.is_empty(), "{name}");
        for id in threshold.checks {
            assert!(find(id).is_some(), "{name}: {id}");
        }
        for value in [threshold.least, threshold.most] {
            let rules = settings(&[(&name, &value.to_string())]).rules();
            assert_eq!(rules.thresholds.get(threshold), value, "{name}");
        }
    }
    let rules = settings(&[("article-words", "900")]).rules();
    let told = rules.description(find("evidence-missing").unwrap());
    assert!(
        told.ends_with("In this project, article-words is 900 words (default: 600)."),
        "{told}"
    );
    let check = find("title-short").unwrap();
    assert_eq!(rules.description(check), check.description);
}

#[test]
fn settings_of_other_versions_are_kept_without_effect() {
    let json = serde_json::json!({"thresholds": {"titles-max": 9, "title-min": 9_000}, "severities": {"title-odd": "off"}});
    let own: Settings = serde_json::from_value(json.clone()).unwrap();
    assert_eq!(own.rules(), Rules::default());
    assert_eq!(serde_json::to_value(own).unwrap(), json);
}

proptest! {
    #[test]
    fn the_catalogues_own_values_change_nothing(
        thresholds in proptest::collection::vec(any::<proptest::sample::Index>(), 0..50),
        checks in proptest::collection::vec(any::<proptest::sample::Index>(), 0..50),
    ) {
        let mut own = Settings::default();
        for threshold in thresholds.iter().map(|at| at.get(Thresholds::ALL)) {
            own.set(&threshold.name(), &threshold.default.to_string()).unwrap();
        }
        for check in checks.iter().map(|at| at.get(registry())) {
            own.severities.insert(check.id.to_owned(), Level::from(check.severity));
        }
        own.check().unwrap();
        assert_eq!(own.rules(), Rules::default());
        assert_eq!(own.rules().checks.len(), registry().len());
    }

    #[test]
    fn no_text_breaks_a_setting(name in "\\PC{0,20}", value in "\\PC{0,20}") {
        let _ = Settings::default().set(&name, &value);
        let _ = Settings::default().set(&format!("severity.{name}"), &value);
    }
}

#[test]
fn a_condition_may_change_with_the_ruleset() {
    let check = |changed_in| Check {
        changed_in,
        ..*find("title-short").unwrap()
    };
    let at = |version: &str| Rules::default().of_version(version);
    let differ = |before: &str, now: &str, check: &Check| at(now).is_changed(&at(before), check);
    let (minor, major, never) = (check([1, 2, 0]), check([2, 0, 0]), check([0; 3]));
    assert!(differ("1.1.0", "1.2.0", &minor) && differ("1.1.9", "1.10.0", &minor));
    assert!(!differ("1.2.0", "1.2.1", &minor) && !differ("1.0.0", "1.1.0", &minor));
    assert!(!differ("1.1.0", "1.2.0", &major) && differ("1.2.0", "2.0.0", &major));
    assert!(!differ("1.0.0", "2.0.0", &never));
    assert!(!differ("2.0.0", "1.0.0", &minor), "a program that was taken back");
}

#[test]
fn zoom_and_thin_text_thresholds_are_settings() {
    let of = |set: &[(&str, &str)], html: &str, id: &str| {
        let world = World::new().page("/p", html).rules(settings(set).rules());
        evidence(&world.findings(), id).is_some()
    };
    let zoom = "<meta name=viewport content='width=device-width, maximum-scale=3'>";
    assert!(of(&[], zoom, "viewport-zoom-off"));
    assert!(!of(&[("zoom-min", "3")], zoom, "viewport-zoom-off"));
    let short = format!("<p>{}", "机".repeat(300));
    assert!(of(&[], &short, "thin-content"));
    assert!(!of(&[("thin-characters-cjk", "250")], &short, "thin-content"));
}
