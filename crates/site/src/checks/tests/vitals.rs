//! Core Web Vitals.

use super::{Case, World, evidence};
use crate::vitals::{Figure, Source, Vitals};

fn world(source: Source, [lcp, inp, cls]: [u32; 3]) -> World {
    let of = |value| Some(Figure { value, source });
    World::new().page("/p", "<h1>x</h1>").measured(Vitals {
        lcp: of(lcp),
        inp: of(inp),
        cls: of(cls),
        measured_at: "2026-06-01T00:00:00Z".to_owned(),
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
    ids.into_iter().zip(bad).map(case).collect()
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
