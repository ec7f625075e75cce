//! Core Web Vitals.

use super::{Case, World, evidence};
use crate::vitals::{Figure, Oversized, Source, TapTarget, Vitals};

fn world(source: Source, [lcp, inp, cls]: [u32; 3]) -> World {
    let of = |value| Some(Figure { value, source });
    World::new().page("/p", "<h1>x</h1>").measured(Vitals {
        lcp: of(lcp),
        inp: of(inp),
        cls: of(cls),
        measured_at: "2026-06-01T00:00:00Z".to_owned(),
        ..Vitals::default()
    })
}

/// A page for which a browser reported this many small tap targets and oversized images.
fn shown_with(targets: usize, images: usize) -> World {
    let target = TapTarget {
        selector: "p > a".into(),
        html: "<a href=\"/a\">".into(),
    };
    let image = Oversized {
        url: "https://www.example.com/big.png".into(),
        sizes: ["1600x1200".into(), "350x263".into()],
        bytes: 5_763_023,
        wasted_bytes: 5_487_253,
    };
    World::new().page("/p", "<h1>x</h1>").measured(Vitals {
        small_targets: Some(vec![target; targets]),
        oversized: Some(vec![image; images]),
        ..Vitals::default()
    })
}

pub(super) fn cases() -> Vec<Case> {
    let good = [2_500, 200, 100];
    let bad = [[2_501, 200, 100], [2_500, 201, 100], [2_500, 200, 101]];
    let ids = ["cwv-lcp-poor", "cwv-inp-poor", "cwv-cls-poor"];
    let case = |(id, bad)| Case {
        id,
        bad: world(Source::Field, bad),
        good: world(Source::Field, good),
    };
    let shown = ["tap-target-small", "image-oversized-for-display"].into_iter();
    let shown = shown.zip([[1, 0], [0, 1]]).map(|(id, [targets, images])| Case {
        id,
        bad: shown_with(targets, images),
        good: shown_with(1 - targets, 1 - images),
    });
    ids.into_iter().zip(bad).map(case).chain(shown).collect()
}

#[test]
fn evidence_names_what_a_browser_showed() {
    let found = shown_with(25, 2).findings();
    let targets = evidence(&found, "tap-target-small").unwrap();
    assert_eq!(
        (&targets["total"], &targets["source"]),
        (&25.into(), &"lab".into())
    );
    assert_eq!(targets["targets"][0]["selector"], "p > a");
    let images = evidence(&found, "image-oversized-for-display").unwrap();
    assert_eq!(
        (&images["images"][1]["size"], &images["images"][1]["shown"]),
        (&"1600x1200".into(), &"350x263".into())
    );
}

#[test]
fn evidence_says_whose_visits_were_measured() {
    let field = evidence(&world(Source::Field, [1, 1, 250]).findings(), "cwv-cls-poor").unwrap();
    assert_eq!(
        (&field["score"], &field["source"], &field["percentile"]),
        (&0.25.into(), &"field".into(), &75.into())
    );
    assert_eq!(field["measuredAt"], "2026-06-01T00:00:00Z");
    let lab = evidence(&world(Source::Lab, [4_000, 1, 1]).findings(), "cwv-lcp-poor").unwrap();
    assert_eq!((&lab["ms"], &lab["source"]), (&4_000.into(), &"lab".into()));
    assert!(lab["percentile"].is_null());
    let unknown = World::new().page("/p", "<h1>x</h1>").findings();
    assert_eq!(evidence(&unknown, "cwv-lcp-poor"), None);
}
