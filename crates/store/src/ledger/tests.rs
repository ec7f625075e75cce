//! The codec of leaves, and sequences of changes against a map as the model.

use std::collections::BTreeMap;

use proptest::prelude::*;
use searchwright_contract::{
    Instant,
    ids::{AuditId, PageId},
    issues::OccurrenceState,
    rechecks::RecheckOutcome,
};
use uuid::Uuid;

use super::{Entry, EvidenceCutoff, apply_finding, leaf, merge, split};
use crate::Param;

fn at(millis: i64) -> Instant {
    Instant::from_millis(millis)
}

fn page(number: u32) -> PageId {
    Uuid::from_u128(u128::from(number) << 96 | 7).into()
}

/// An entry with all optional fields.
fn full() -> Entry {
    Entry {
        state: OccurrenceState::Ignored,
        evidence: r#"{"title":"Fern 🌿"}"#.to_owned(),
        first_seen: Uuid::from_u128(1).into(),
        last_seen: Uuid::from_u128(2).into(),
        checked_at: at(1_700_000_000_001),
        stale: true,
        reopen_count: 3,
        reopen_reason: Some("recurred".to_owned()),
        resolved_at: Some(at(-5)),
        resolution: Some("fixed".to_owned()),
        done_at: Some(at(1_700_000_000_002)),
        done_by: Some("Ann".to_owned()),
        note: Some("as agreed".to_owned()),
        ignored_until: Some(at(1_800_000_000_000)),
        recheck_id: Some(Uuid::from_u128(9).into()),
        recheck_outcome: Some(RecheckOutcome::StillPresent),
        rechecked_at: Some(at(1_700_000_000_003)),
        was: Some(OccurrenceState::Reopened),
        changed_at: Some(at(1_700_000_000_004)),
    }
}

fn new(evidence: &str) -> Entry {
    let cutoff = EvidenceCutoff::from_start(at(0));
    let mut entry = None;
    assert!(apply_finding(
        &mut entry,
        evidence.to_owned(),
        Uuid::from_u128(1).into(),
        cutoff,
        at(1)
    ));
    entry.unwrap()
}

fn data(row: &[Param]) -> &[u8] {
    match row.last() {
        Some(Param::Bytes(data)) => data,
        other => panic!("{other:?}"),
    }
}

/// Counts of a row by state.
fn counts(row: &[Param]) -> Vec<i64> {
    let count = |param: &Param| match param {
        Param::Int(count) => *count,
        other => panic!("{other:?}"),
    };
    row[1..8].iter().map(count).collect()
}

#[test]
fn written_leaf_reads_back() {
    let entries = vec![(page(1), new("{}")), (page(2), full()), (page(4), new("[1]"))];
    let row = leaf::encode_row(PageId::MIN, &entries).unwrap();
    assert_eq!(leaf::decode(data(&row)).unwrap(), entries);
    for (page, entry) in &entries {
        assert_eq!(leaf::find_entry(data(&row), *page).unwrap().as_ref(), Some(entry));
    }
    for other in [page(0), page(3), page(5)] {
        assert_eq!(leaf::find_entry(data(&row), other).unwrap(), None);
    }
    assert_eq!(counts(&row), [2, 0, 0, 0, 0, 0, 1]);
    let (wakes_at, changed_at, seen_by) = (&row[8], &row[9], &row[10]);
    assert_eq!(wakes_at, &Param::Time(at(1_800_000_000_000)));
    assert_eq!(changed_at, &Param::Time(at(1_700_000_000_004)));
    assert_eq!(seen_by, &Param::Uuid(Uuid::from_u128(1)), "by the active ones");
}

/// The stored form changes only together with the byte that begins a leaf.
#[test]
fn stored_form_is_fixed() {
    let row = leaf::encode_row(PageId::MIN, &[(page(1), full()), (page(2), new("{}"))]).unwrap();
    let (head, packed) = data(&row).split_at(3 + 2 * 16);
    assert_eq!(&head[..3], [1, 2, 0]);
    let plain = lz4_flex::decompress_size_prepended(packed).unwrap();
    let hex: String = plain.iter().map(|b| format!("{b:02x}")).collect();
    assert_eq!(
        hex,
        concat!(
            "0206157b227469746c65223a224665726e20f09f8cbf227d10000000000000000000000000000000011000000000000000000000000000",
            "00000282a0abfef9620103010872656375727265640109010566697865640184a0abfef9620103416e6e01096173206167726565640180",
            "c0e285e36801100000000000000000000000000000000901020186a0abfef96201050188a0abfef96200027b7d10000000000000000000",
            "000000000000011000000000000000000000000000000001020000000000000000000000000000",
        )
    );
}

#[test]
fn broken_leaf_is_a_defect() {
    let row = leaf::encode_row(PageId::MIN, &[(page(1), full())]).unwrap();
    let whole = data(&row);
    let mut other = whole.to_vec();
    other[0] = 9;
    for broken in [
        &[],
        &whole[..2],
        &whole[..10],
        &whole[..whole.len() - 1],
        b"[1]",
        &other,
    ] {
        assert!(leaf::decode(broken).is_err());
        assert!(leaf::find_entry(broken, page(1)).is_err());
    }
}

proptest! {
    #[test]
    fn new_entries_are_encoded_like_others(seen in prop::collection::vec(0_usize..200, 1..200)) {
        let seen = seen.into_iter().map(|length| "é".repeat(length));
        let pages: Vec<(PageId, String)> = (0..).map(page).zip(seen).collect();
        let entry = |(page, evidence): &(PageId, String)| (*page, new(evidence));
        let entries: Vec<(PageId, Entry)> = pages.iter().map(entry).collect();
        let borrowed: Vec<(PageId, &str)> = pages.iter().map(|(page, evidence)| (*page, evidence.as_str())).collect();
        prop_assert_eq!(
            leaf::encode_new_row(&borrowed, Uuid::from_u128(1).into(), at(1)).unwrap(),
            leaf::encode_row(pages[0].0, &entries).unwrap()
        );
    }

    #[test]
    fn leaves_equal_a_map(turns in prop::collection::vec(prop::collection::vec((0_u32..3_000, any::<bool>()), 0..700), 1..5)) {
        let mut map: BTreeMap<PageId, Entry> = BTreeMap::new();
        let mut leaves: BTreeMap<PageId, Vec<u8>> = BTreeMap::new();
        for (turn, mut changes) in turns.into_iter().enumerate() {
            changes.sort_by_key(|(number, _)| *number);
            let apply = |known: &mut Option<Entry>, is_found: bool| {
                if is_found {
                    let (audit, now) = (AuditId::from(Uuid::from_u128(turn as u128)), at(turn as i64));
                    return apply_finding(known, turn.to_string(), audit, EvidenceCutoff::from_start(now), now);
                }
                known.as_mut().is_some_and(|entry| {
                    entry.resolve("fixed", at(turn as i64));
                    true
                })
            };
            let mut by_leaf: BTreeMap<PageId, Vec<(PageId, bool)>> = BTreeMap::new();
            for (number, is_found) in changes {
                let page = page(number);
                let key = leaves.range(..=page).next_back().map_or(PageId::MIN, |(key, _)| *key);
                by_leaf.entry(key).or_default().push((page, is_found));
                let mut known = map.remove(&page);
                apply(&mut known, is_found);
                map.extend(known.map(|entry| (page, entry)));
            }
            for (key, changes) in by_leaf {
                let known = leaves.get(&key).map_or(Vec::new(), |data| leaf::decode(data).unwrap());
                for row in merge(known, changes, apply).map_or(Vec::new(), |entries| split(key, &entries).unwrap()) {
                    let Param::Uuid(key) = row[0] else { panic!("{:?}", row[0]) };
                    leaves.insert(key.into(), data(&row).to_vec());
                }
            }
        }
        let all: Vec<(PageId, Entry)> = leaves.values().flat_map(|data| leaf::decode(data).unwrap()).collect();
        prop_assert!(all.iter().map(|(page, entry)| (page, entry)).eq(&map));
        prop_assert!(leaves.iter().all(|(key, data)| leaf::decode(data).unwrap().first().is_none_or(|(page, _)| page >= key)));
    }
}
