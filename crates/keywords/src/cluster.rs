//! Keywords that one page can answer.
//!
//! Two keywords are as alike as the mean of two cosines: that of their stems without stop words, and that
//! of the character 3- to 5-grams of these stems, both weighted by TF-IDF over all keywords. Average
//! linkage joins clusters while their keywords are at least [`LIKENESS`] alike on average, within one
//! language and intent.
//!
//! Only keywords that share a stem are compared, and of those only pairs whose stems alone do not rule the
//! threshold out; all others count as unlike. So the work grows with the pairs that matter, not with the
//! cube of the keywords.

mod linkage;
mod vectors;

use std::collections::BTreeMap;

use searchwright_contract::keywords::Intent;

use super::{normalize, words::Lexicon};

/// Least mean likeness within a cluster.
pub const LIKENESS: f64 = 0.6;

/// A keyword to be put in a cluster.
#[derive(Clone, Copy, Debug)]
pub struct Item<'a> {
    /// The text.
    pub keyword: &'a str,
    /// Language, BCP 47.
    pub language: &'a str,
    /// Search intent, if known.
    pub intent: Option<Intent>,
    /// Searches per month, when known.
    pub volume: Option<i64>,
}

/// Keywords that belong together, as indices of the items; one alone is a cluster too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cluster {
    /// The keyword with the largest volume; of several the shortest, then the first in order.
    pub head: usize,
    /// All of them, in order, the head too.
    pub members: Vec<usize>,
}

/// Puts keywords in clusters. The answer covers every item once, in the order of the first members.
pub fn clusters(items: &[Item<'_>]) -> Vec<Cluster> {
    let mut groups: BTreeMap<(&str, Option<&str>), Vec<usize>> = BTreeMap::new();
    for (index, item) in items.iter().enumerate() {
        let group = (item.language, item.intent.map(Intent::as_str));
        groups.entry(group).or_default().push(index);
    }
    let mut clusters = Vec::new();
    for ((language, _), group) in groups {
        let lexicon = Lexicon::for_language(language);
        let texts: Vec<String> = group.iter().map(|i| normalize(items[*i].keyword)).collect();
        let pairs = vectors::alike(&texts, &lexicon);
        for members in linkage::average(group.len(), &pairs, LIKENESS) {
            let members: Vec<usize> = members.into_iter().map(|i| group[i]).collect();
            let head = head(items, &members);
            clusters.push(Cluster { head, members });
        }
    }
    clusters.sort_by_key(|cluster| cluster.members.first().copied());
    clusters
}

fn head(items: &[Item<'_>], members: &[usize]) -> usize {
    let rank = |i: usize| {
        let item = &items[i];
        let volume = std::cmp::Reverse(item.volume.unwrap_or(-1));
        (volume, item.keyword.chars().count(), item.keyword, i)
    };
    members.iter().copied().min_by_key(|i| rank(*i)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::{
        collection::vec,
        prelude::{prop_assert, prop_assert_eq, proptest},
    };
    use searchwright_contract::keywords::Intent;

    use super::{Item, clusters};

    fn item<'a>(keyword: &'a str, volume: Option<i64>) -> Item<'a> {
        Item {
            keyword,
            language: "en",
            intent: Some(Intent::Commercial),
            volume,
        }
    }

    #[test]
    fn likes_come_together_under_the_most_searched() {
        let items = [
            item("best standing desk", Some(900)),
            item("office chair mat", None),
            item("best standing desks", Some(2400)),
            item("chair mats for the office", None),
            item("the best desk for standing", None),
            item("monitor arm", Some(0)),
        ];
        let found = clusters(&items);
        let members: Vec<_> = found.iter().map(|c| (c.head, c.members.as_slice())).collect();
        assert_eq!(members, [(2, [0, 2, 4].as_slice()), (1, &[1, 3]), (5, &[5])]);
    }

    #[test]
    fn languages_and_intents_stay_apart() {
        let mut items = [
            item("standing desk", None),
            item("standing desk", None),
            item("standing desk", None),
        ];
        items[1].language = "de";
        items[2].intent = Some(Intent::Informational);
        assert_eq!(clusters(&items).len(), 3);
        items[2].intent = items[0].intent;
        assert_eq!(clusters(&items).len(), 2);
    }

    #[test]
    fn words_alone_in_common_are_not_enough() {
        let items = [
            item("desk lamp led", None),
            item("desk drawer wood", None),
            item("desk fan quiet", None),
            item("desk pad leather", None),
        ];
        assert_eq!(clusters(&items).len(), 4);
    }

    proptest! {
        #[test]
        fn every_keyword_is_in_one_cluster(words in vec("(red|blue|big|desk|lamp|the)( (red|desk|lamps|for)){0,3}", 0..30)) {
            let items: Vec<Item<'_>> = words.iter().map(|w| item(w, None)).collect();
            let found = clusters(&items);
            let mut all: Vec<usize> = found.iter().flat_map(|c| c.members.clone()).collect();
            all.sort_unstable();
            prop_assert_eq!(all, (0..items.len()).collect::<Vec<_>>());
            for cluster in &found {
                prop_assert!(cluster.members.contains(&cluster.head));
            }
        }

        #[test]
        fn equal_keywords_are_never_apart(words in vec("(red|blue) (desk|lamp)", 1..20)) {
            let items: Vec<Item<'_>> = words.iter().map(|w| item(w, None)).collect();
            for cluster in clusters(&items) {
                for i in 0..items.len() {
                    let same = words[i] == words[cluster.head];
                    prop_assert!(!same || cluster.members.contains(&i));
                }
            }
        }
    }
}
