//! An answer with HTML: whatever comes, the facts are bounded, and the same each time.

use searchwright_site::page::{Limits, PageFacts, UrlId};

use crate::{answer, judge_bounded, page};

/// Reads one input.
pub fn run(data: &[u8]) {
    let response = answer(data);
    let (facts, table) = page(&response);
    assert_eq!(facts, page(&response).0);
    let limits = Limits::default();
    if let Some(html) = &facts.html {
        for (kept, most) in [
            (html.titles.len(), 50),
            (html.metas.len(), 50),
            (html.canonicals.len(), 50),
            (html.headings.len(), 250),
            (html.images.len(), 250),
            (html.resources.len(), 50),
            (html.insecure.len(), 50),
            (html.forms.len(), 50),
            (html.json_ld.len(), 100),
            (html.placeholders.len(), 50),
            (html.uncrawlable_links.len(), 50),
        ] {
            assert!(kept <= most, "{kept} kept");
        }
        assert!(html.main_text.len() <= limits.text);
        assert!(html.links.len() as u32 <= html.links_total);
        assert!(
            html.headings
                .iter()
                .all(|heading| (1..=6).contains(&heading.level))
        );
        assert!(html.main_words <= html.words);
        let known = |id: Option<UrlId>| id.is_none_or(|id| (id.0 as usize) < table.len());
        assert!(html.links.iter().all(|link| known(link.target)));
        assert!(
            html.canonicals
                .iter()
                .chain(&html.hreflangs)
                .all(|link| known(link.target))
        );
    }
    // the main text is stored beside the facts
    let stored = postcard::to_stdvec(&facts).expect("facts are stored");
    let mut back: PageFacts = postcard::from_bytes(&stored).expect("facts are read");
    if let (Some(back), Some(html)) = (&mut back.html, &facts.html) {
        back.main_text = html.main_text.clone();
    }
    assert_eq!(back, facts);
    judge_bounded(&facts, table);
}
