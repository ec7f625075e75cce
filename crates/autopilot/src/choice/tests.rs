use searchwright_contract::{
    actions::AllowedActions,
    ids::KeywordId,
    keywords::{Cannibalisation, CannibalisationReason, KeywordDetails, KeywordSource, KeywordStatus},
};

use super::*;

fn keyword(number: u8, score: f64) -> Keyword {
    let at = Instant::from_millis(1_700_000_000_000 + i64::from(number));
    Keyword {
        id: format!("01936f30-1c1e-7f7b-8a55-0d4b8f2f7a{number:02x}")
            .parse::<uuid::Uuid>()
            .map(KeywordId::from)
            .unwrap(),
        keyword: format!("keyword {number}"),
        search_volume: None,
        search_volume_status: None,
        keyword_difficulty: None,
        keyword_difficulty_status: None,
        intent: None,
        intent_source: None,
        intent_confidence: None,
        intent_reason: None,
        score: Some(score),
        cluster_id: None,
        is_cluster_head: false,
        post_ids: Vec::new(),
        details: KeywordDetails::default(),
        language: "en".to_owned(),
        country: None,
        status: KeywordStatus::Approved,
        source: KeywordSource::ALL[0],
        version: 1,
        created_at: at,
        updated_at: at,
        allowed_actions: AllowedActions::default(),
    }
}

fn cluster(number: u8) -> ClusterId {
    ClusterId::from(uuid::Uuid::from_u128(number.into()))
}

fn chosen(keywords: &[Keyword], last: Option<ClusterId>) -> Option<String> {
    let slot = "2026-11-09".parse().unwrap();
    choose(keywords, slot, last).map(|(keyword, _)| keyword.keyword.clone())
}

/// Searches of a year, ten times as many in one month.
fn trend(peak: u8) -> Vec<TrendMonth> {
    let month = |number: u8| TrendMonth {
        month: format!("2025-{number:02}"),
        value: if number == peak { 1000 } else { 100 },
    };
    (1..=12).map(month).collect()
}

#[test]
fn the_highest_score_wins_and_the_oldest_of_equals() {
    let keywords = [keyword(1, 50.0), keyword(3, 70.0), keyword(2, 70.0)];
    assert_eq!(chosen(&keywords, None).unwrap(), "keyword 2");
    assert_eq!(chosen(&[], None), None);
}

#[test]
fn a_keyword_for_which_pages_compete_is_left_out() {
    let mut best = keyword(1, 90.0);
    best.details.cannibalisation = Some(Cannibalisation {
        reason: CannibalisationReason::ALL[0],
        urls: vec!["https://example.com/".to_owned()],
        post_ids: Vec::new(),
    });
    let keywords = [best, keyword(2, 10.0)];
    let (_, choice) = choose(&keywords, "2026-11-09".parse().unwrap(), None).unwrap();
    assert_eq!(
        (choice.keyword.as_str(), choice.candidates, choice.competing),
        ("keyword 2", 2, 1)
    );
}

#[test]
fn a_cluster_is_not_used_twice_in_a_row_while_there_is_another() {
    let mut first = keyword(1, 90.0);
    first.cluster_id = Some(cluster(1));
    let second = keyword(2, 10.0);
    let last = Some(cluster(1));
    assert_eq!(chosen(&[first.clone(), second], last).unwrap(), "keyword 2");
    assert_eq!(chosen(&[first], last).unwrap(), "keyword 1");
}

#[test]
fn a_peak_within_sixty_days_adds_ten_points() {
    let bonus = |peak| seasonal_bonus(&trend(peak), "2026-11-09".parse().unwrap());
    // to 8 January
    assert_eq!([10, 11, 12, 1, 2].map(bonus), [0.0, 10.0, 10.0, 10.0, 0.0]);
    let flat: Vec<TrendMonth> = trend(0);
    assert_eq!(seasonal_bonus(&flat, "2026-11-09".parse().unwrap()), 0.0);
    assert_eq!(
        seasonal_bonus(&trend(12)[6..], "2026-11-09".parse().unwrap()),
        0.0,
        "half a year"
    );
}

#[test]
fn a_share_of_the_slots_is_for_refreshing_and_evenly_spread() {
    for share in 0..=100u8 {
        let of = |slots: std::ops::Range<u64>| {
            slots.filter(|earlier| is_refresh_slot(*earlier, share)).count() as u64
        };
        assert_eq!(of(0..1_000), 10 * u64::from(share));
        for start in [0, 7, 93] {
            let exact = 20 * u64::from(share);
            assert!(
                (of(start..start + 20) * 100).abs_diff(exact) < 100,
                "{share} {start}"
            );
        }
    }
}
