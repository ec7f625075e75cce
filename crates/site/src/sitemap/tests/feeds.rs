//! RSS and Atom.

use super::{Listing, of};

#[test]
fn feeds_list_their_entries() {
    let rss = of(
        "<?xml version='1.0'?><rss version='2.0' xmlns:atom='http://www.w3.org/2005/Atom'><channel><title>News</title><link>https://example.com/</link><atom:link href='https://example.com/feed' rel='self'/><image><link>https://example.com/logo</link></image><item><title>One</title><link>https://example.com/1?a=1&amp;b=2</link><atom:link href='https://example.com/x'/><pubDate>Mon, 06 Sep 2021 00:01:00 +0000</pubDate></item><item><link><![CDATA[ https://example.com/2 ]]></link></item><item><guid>3</guid></item><item><link></link></item><item><link>https://example.com/4</link><link xmlns='http://www.w3.org/2005/Atom' rel='self' href='https://example.com/5'/></item></channel></rss>",
    );
    let urls = |listing: &Listing| listing.urls.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(
        urls(&rss),
        [
            "https://example.com/1?a=1&b=2",
            "https://example.com/2",
            "https://example.com/4"
        ]
    );
    let facts = &rss.facts;
    assert_eq!(
        (facts.index, facts.urls, facts.lastmod, facts.foreign.len()),
        (false, 3, [0; 3], 0)
    );
    assert_eq!(
        (facts.fault(), facts.is_feed(), facts.is_cut()),
        (None, true, false)
    );
    let atom = of(
        "<feed xmlns='http://www.w3.org/2005/Atom'><link href='https://example.com/'/><updated>2024-06-01T00:00:00Z</updated><entry><link rel='enclosure' href='https://example.com/a.mp3'/><link href=' https://example.com/a?x=1&amp;y=2 '/><link rel='alternate' hreflang='de' href='https://example.com/de'/><updated>2024-05-31T10:00:00Z</updated></entry><entry><link rel='alternate' href='/b'/><source><link href='https://example.com/c'/></source></entry></feed>",
    );
    assert_eq!(
        urls(&atom),
        ["https://example.com/a?x=1&y=2", "https://example.com/b"]
    );
    assert_eq!((atom.facts.fault(), atom.facts.is_feed()), (None, true));
    assert_eq!(atom.days, [19_874]);
    let late = of(" <?xml version='1.0'?><rss><channel/></rss>").facts;
    assert_eq!(
        (late.fault().as_deref(), late.is_feed()),
        (Some("something stands before the XML declaration"), true)
    );
    let cut = of("<rss><channel>").facts;
    assert!(cut.is_cut() && cut.is_feed(), "{cut:?}");
}
