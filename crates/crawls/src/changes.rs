//! Differences between the findings of two audits, issue by issue.

use searchwright_contract::diffs::Change;
use searchwright_store::snapshots::PageState;

fn knows(pages: &[PageState], page: u64) -> bool {
    pages.binary_search_by_key(&page, |mark| mark.page).is_ok()
}

/// Returns how an issue changed on each page that has or had it, by page. `before` and `now` are the pages with the issue in
/// the earlier and the later audit, `a` and `b` all pages of these audits; each is ascending.
pub fn merged(
    before: &[u64],
    now: &[u64],
    a: &[PageState],
    b: &[PageState],
) -> impl Iterator<Item = (u64, Change)> {
    let (mut i, mut j) = (0, 0);
    std::iter::from_fn(move || {
        let (old, new) = (before.get(i), now.get(j));
        let page = match (old, new) {
            (None, None) => return None,
            (Some(old), Some(new)) => *old.min(new),
            (Some(page), None) | (None, Some(page)) => *page,
        };
        let (had, has) = (old == Some(&page), new == Some(&page));
        i += usize::from(had);
        j += usize::from(has);
        let change = match (had, has) {
            (true, true) => Change::Unchanged,
            (false, _) if knows(a, page) => Change::Added,
            (false, _) => Change::New,
            (true, false) if knows(b, page) => Change::Removed,
            (true, false) => Change::Missing,
        };
        Some((page, change))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn marks(pages: &std::collections::BTreeSet<u64>) -> Vec<PageState> {
        let mark = |page: &u64| PageState {
            page: *page,
            status: 200,
            indexable: true,
            title: 0,
            canonical: 0,
        };
        pages.iter().map(mark).collect()
    }

    proptest! {
        #[test]
        fn every_change_is_told_once(
            a in proptest::collection::btree_set(0_u64..30, 0..30), b in proptest::collection::btree_set(0_u64..30, 0..30),
            had in proptest::collection::btree_set(0_u64..30, 0..30), has in proptest::collection::btree_set(0_u64..30, 0..30),
        ) {
            let before: Vec<u64> = had.intersection(&a).copied().collect();
            let now: Vec<u64> = has.intersection(&b).copied().collect();
            let told: Vec<(u64, Change)> = merged(&before, &now, &marks(&a), &marks(&b)).collect();
            let pages: Vec<u64> = told.iter().map(|(page, _)| *page).collect();
            let expected: std::collections::BTreeSet<u64> = before.iter().chain(&now).copied().collect();
            prop_assert_eq!(pages, expected.into_iter().collect::<Vec<_>>());
            for (page, change) in told {
                let (had, has) = (before.contains(&page), now.contains(&page));
                let expected = match change {
                    Change::Unchanged => had && has,
                    Change::Added => !had && has && a.contains(&page),
                    Change::New => has && !a.contains(&page),
                    Change::Removed => had && !has && b.contains(&page),
                    Change::Missing => had && !b.contains(&page),
                };
                prop_assert!(expected, "{} {}", page, change);
            }
        }
    }
}
