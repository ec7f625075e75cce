//! Existence of the fragments that links name. While a crawl runs, it keeps hashes of the ids in pages and of the
//! fragments in links to other pages; fragments without an id are missing.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;
use searchwright_text as text;

use crate::page::{LINK_FRAGMENT, PageFacts, UrlId};

/// Maximum number of ids of all pages together (32 MB); ids of pages read later are unknown.
const IDS_LIMIT: usize = 1 << 23;
/// Maximum number of distinct fragments that links name (64 MB and a quarter); later ones are not checked.
const WANTS_LIMIT: usize = 1 << 23;
/// Number of ids at which the list of a page is cut off.
const IDS_OF_PAGE: usize = 5_000;
/// Count of a page whose ids are unknown.
const UNKNOWN: u16 = u16::MAX;

/// Returns hashes of the fragment that a link names: as written, and percent-decoded. `None` if it needs no id.
pub(crate) fn named(href: &str) -> Option<[u64; 2]> {
    let (_, fragment) = href.trim_matches(|c: char| c <= ' ').split_once('#')?;
    // "top" is the top of every page; text fragments are found by their words
    let special = fragment.is_empty()
        || fragment.eq_ignore_ascii_case("top")
        || fragment.starts_with(":~:")
        || fragment.starts_with(['!', '/']);
    if special {
        return None;
    }
    let fragment = fragment.split(":~:").next().unwrap_or_default();
    let written = text::hash(fragment.as_bytes());
    let decoded = if fragment.contains('%') {
        let decoded: Cow<'_, [u8]> = percent_decode_str(fragment).into();
        text::hash(&decoded)
    } else {
        written
    };
    Some([written, decoded])
}

/// Whether all ids of a page are known: it was read to its end, and no script renders it.
pub(crate) fn has_all_ids(page: &PageFacts) -> bool {
    page.html_200()
        .is_some_and(|html| page.cut.is_none() && !html.spa_root && html.id_hashes.len() < IDS_OF_PAGE)
}

/// Combines target and hash; the target is in the upper half, so that sorting groups by target.
const fn coded(target: UrlId, hash: u64) -> u64 {
    (target.0 as u64) << 32 | hash & 0xffff_ffff
}

/// Fragments that pages have and that links name. Columns are indexed by page.
#[derive(Debug, Default)]
pub(super) struct Fragments {
    /// Hashes of ids, page after page. If a page is added again, its older ones stay behind unused.
    ids: Vec<u32>,
    starts: Vec<u32>,
    counts: Vec<u16>,
    wants: Vec<u64>,
    /// Number of entries at the beginning of `wants` that are sorted and unique.
    thinned: usize,
}

impl Fragments {
    pub fn add(&mut self, page: &PageFacts, is_internal: impl Fn(UrlId) -> bool) {
        self.keep_ids(page);
        let Some(html) = page.html_200() else { return };
        for link in html.links.iter().filter(|link| link.flags & LINK_FRAGMENT != 0) {
            let other = link.target.filter(|id| *id != page.id && is_internal(*id));
            if let (Some(target), Some([written, decoded])) = (other, named(link.href)) {
                self.want(coded(target, written));
                if decoded != written {
                    self.want(coded(target, decoded));
                }
            }
        }
    }

    fn keep_ids(&mut self, page: &PageFacts) {
        let place = page.id.0 as usize;
        if let Some(count) = self.counts.get_mut(place) {
            *count = UNKNOWN;
        }
        let Some(html) = page.html_200().filter(|_| has_all_ids(page)) else {
            return;
        };
        if self.ids.len() + html.id_hashes.len() > IDS_LIMIT {
            return;
        }
        if self.counts.len() <= place {
            self.counts.resize(place + 1, UNKNOWN);
            self.starts.resize(place + 1, 0);
        }
        self.starts[place] = self.ids.len() as u32;
        self.counts[place] = html.id_hashes.len() as u16;
        self.ids.extend(html.id_hashes.iter().map(|hash| *hash as u32));
    }

    fn want(&mut self, want: u64) {
        if self.wants.len() >= self.thinned + self.room() {
            self.thin();
            // reserves no more than is used before the next deduplication
            self.wants.reserve_exact(self.room());
        }
        if self.thinned < WANTS_LIMIT {
            self.wants.push(want);
        }
    }

    /// Returns the number of entries to add before the next deduplication, since a fragment named on all pages is
    /// pushed for each of them.
    fn room(&self) -> usize {
        (self.thinned / 4).max(1 << 14)
    }

    fn thin(&mut self) {
        if self.wants.len() > self.thinned {
            self.wants.sort_unstable();
            self.wants.dedup();
        }
        self.thinned = self.wants.len();
    }

    fn ids(&self, page: u32) -> Option<&[u32]> {
        let count = self
            .counts
            .get(page as usize)
            .filter(|count| **count != UNKNOWN)?;
        let start = self.starts[page as usize] as usize;
        self.ids.get(start..start + usize::from(*count))
    }

    /// Returns the fragments that links name and their target lacks.
    pub fn missing(mut self) -> Missing {
        self.thin();
        let mut wants = std::mem::take(&mut self.wants);
        let (mut at, mut known, mut ids) = (None, false, Vec::new());
        wants.retain(|want| {
            let target = (want >> 32) as u32;
            if at != Some(target) {
                let there = self.ids(target);
                (at, known) = (Some(target), there.is_some());
                ids.clear();
                ids.extend_from_slice(there.unwrap_or_default());
                ids.sort_unstable();
            }
            known && ids.binary_search(&(*want as u32)).is_err()
        });
        wants.shrink_to_fit();
        Missing(wants)
    }
}

/// Missing fragments that links name, sorted. At most 10 million entries (80 MB), on a site built for it.
#[derive(Debug, Default)]
pub(crate) struct Missing(Vec<u64>);

impl Missing {
    pub fn has(&self, target: UrlId, hash: u64) -> bool {
        !self.0.is_empty() && self.0.binary_search(&coded(target, hash)).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop_assert_eq, proptest};

    use super::*;
    use crate::page::{At, HtmlFacts, Link, Outcome};

    fn page(id: u32, ids: &[&str], links: &[(u32, &str)]) -> PageFacts {
        let url = url::Url::parse(&format!("https://example.com/{id}")).unwrap();
        let at = At {
            id: UrlId(id),
            ..At::default()
        };
        let link = |(target, href)| Link {
            href,
            target: Some(UrlId(target)),
            anchor: "",
            flags: LINK_FRAGMENT,
            line: 1,
        };
        PageFacts {
            html: Some(Box::new(HtmlFacts {
                id_hashes: ids.iter().map(|id| text::hash(id.as_bytes())).collect(),
                links: links.iter().copied().map(link).collect(),
                ..HtmlFacts::default()
            })),
            ..PageFacts::without_answer(&url, at, Outcome::Status(200))
        }
    }

    fn lacks(missing: &Missing, target: u32, href: &str) -> bool {
        named(href).is_some_and(|hashes| hashes.iter().all(|hash| missing.has(UrlId(target), *hash)))
    }

    fn missing(pages: &[PageFacts]) -> Missing {
        let mut fragments = Fragments::default();
        pages.iter().for_each(|page| fragments.add(page, |id| id.0 < 100));
        fragments.missing()
    }

    #[test]
    fn fragments_are_looked_up_on_the_target() {
        let links = [
            (1, "/1#a"),
            (1, "/1#b"),
            (1, "/1#%C3%A4"),
            (1, "/1#c:~:text=x"),
            (2, "/2#a"),
            (200, "#a"),
        ];
        let seen = missing(&[page(0, &[], &links), page(1, &["a", "ä", "c"], &[])]);
        let lacking: Vec<_> = links
            .into_iter()
            .filter(|(to, href)| lacks(&seen, *to, href))
            .collect();
        assert_eq!(
            lacking,
            [(1, "/1#b")],
            "of 2 nothing is known, and 200 is another site"
        );
        for special in ["#", "#Top", "#!/x", "#/x", "#:~:text=x"] {
            assert_eq!(named(special), None, "{special}");
        }
    }

    #[test]
    fn nothing_is_said_of_pages_whose_ids_are_not_known() {
        let from = page(0, &[], &[(1, "#a")]);
        let bare = || page(1, &[], &[]);
        let html = |change: fn(&mut HtmlFacts)| {
            let mut page = bare();
            change(page.html.as_mut().unwrap());
            page
        };
        let cut = PageFacts {
            cut: Some(crate::fetch::Cut::Size),
            ..bare()
        };
        let error = PageFacts {
            outcome: Outcome::Status(404),
            ..bare()
        };
        for (there, expected) in [
            (bare(), true),
            (html(|html| html.spa_root = true), false),
            (html(|html| html.id_hashes = vec![1; IDS_OF_PAGE]), false),
            (cut, false),
            (error, false),
        ] {
            // the page may come before or after the link
            assert_eq!(lacks(&missing(&[from.clone(), there.clone()]), 1, "#a"), expected);
            assert_eq!(lacks(&missing(&[there, from.clone()]), 1, "#a"), expected);
        }
    }

    #[test]
    fn a_page_that_is_added_again_has_the_ids_it_has_now() {
        let from = page(0, &[], &[(1, "#a"), (1, "#b")]);
        let (before, now) = (page(1, &["a"], &[]), page(1, &["b"], &[]));
        let seen = missing(&[from.clone(), before.clone(), now]);
        assert!(lacks(&seen, 1, "#a") && !lacks(&seen, 1, "#b"));
        let gone = PageFacts {
            outcome: Outcome::Status(410),
            ..page(1, &[], &[])
        };
        assert!(!lacks(&missing(&[from, before, gone]), 1, "#b"));
    }

    #[test]
    fn fragment_named_by_every_page_is_kept_once() {
        let mut fragments = Fragments::default();
        for id in 0..50_000 {
            fragments.want(coded(UrlId(id % 3), 7));
        }
        assert!(
            fragments.wants.capacity() <= 1 << 16,
            "{}",
            fragments.wants.capacity()
        );
        fragments.thin();
        assert_eq!(fragments.wants.len(), 3);
    }

    #[test]
    fn no_more_is_kept_than_there_is_room_for() {
        let mut full = Fragments {
            ids: vec![0; IDS_LIMIT],
            ..Fragments::default()
        };
        full.add(&page(1, &["a"], &[(2, "#a")]), |_| true);
        full.add(&page(2, &[], &[(1, "#b")]), |_| true);
        assert_eq!((full.ids.len(), full.wants.len()), (IDS_LIMIT, 2));
        let seen = full.missing();
        assert!(!lacks(&seen, 1, "#b") && lacks(&seen, 2, "#a"));
        let mut full = Fragments {
            thinned: WANTS_LIMIT,
            ..Fragments::default()
        };
        full.add(&page(1, &[], &[(2, "#a")]), |_| true);
        assert!(full.wants.is_empty());
    }

    proptest! {
        #[test]
        fn ids_are_found_however_many_there_are(ids in proptest::collection::hash_set(any::<u16>(), 0..300), wanted in proptest::collection::vec(any::<u16>(), 0..300)) {
            let name = |id: &u16| format!("#{id}");
            let names: Vec<String> = ids.iter().map(ToString::to_string).collect();
            let hrefs: Vec<String> = wanted.iter().map(name).collect();
            let links: Vec<(u32, &str)> = hrefs.iter().map(|href| (1, &**href)).collect();
            let names: Vec<&str> = names.iter().map(|name| &**name).collect();
            let seen = missing(&[page(0, &[], &links), page(1, &names, &[])]);
            for id in &wanted {
                prop_assert_eq!(lacks(&seen, 1, &name(id)), !ids.contains(id));
            }
        }
    }
}
