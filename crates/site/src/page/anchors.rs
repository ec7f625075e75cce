//! Hyperlinks: `<a>` and `<area>`.

use searchwright_text as text;

use super::{
    LINK_CONCEALED, LINK_FRAGMENT, Link, REL_NOFOLLOW, UrlId,
    limits::LIST,
    reader::{Concealed, OpenLink, Permalink, Reader},
};
use crate::html::{attributes::Attributes, tags::Tag, tokenizer::StartTag};

impl<'a> Reader<'a, '_> {
    pub(super) fn anchor(&mut self, start: &StartTag<'a>, attributes: Attributes<'_, 'a>) {
        if let Some(name) = attributes.get("name").filter(|name| !name.is_empty()) {
            self.out.id_hashes.push(text::hash(name.as_bytes()));
        }
        self.finish_link();
        if attributes.has("href") || start.foreign && attributes.has("xlink:href") {
            self.hyperlink(start, attributes);
        } else if !attributes.has("role")
            && (attributes.has("onclick") || !attributes.has("name") && !attributes.has("id"))
        {
            // a name or an id makes it a link target, unless a click handler does something; a role makes it another
            // control
            self.uncrawlable(start.source);
        }
    }

    /// Returns target and flags of a link that is kept: every link up to the limit, and up to as many again with a new
    /// target or a new rel, so that a long table of contents does not hide pages.
    fn wanted(&mut self, href: &str, rel: u8) -> Option<(Option<UrlId>, u8)> {
        let (kept, limit) = (self.out.links.len(), self.limits.links);
        if kept >= limit.saturating_mul(2) {
            self.out.links.leave_out();
            return None;
        }
        let (target, flags) = self.resolver.resolve(href);
        if kept >= limit {
            let way = |link: Link<'_>| Some((link.target?, link.flags & REL_NOFOLLOW));
            let links = &self.out.links;
            let known = || links.iter().filter_map(way).collect();
            let new = { self.targets.get_or_insert_with(known) }.insert((target?, rel & REL_NOFOLLOW));
            return new.then_some((target, flags | rel));
        }
        Some((target, flags | rel))
    }

    fn uncrawlable(&mut self, source: &str) {
        self.out.uncrawlable_total += 1;
        if self.out.uncrawlable_links.len() < LIST {
            self.out.uncrawlable_links.push(text::cut(source, 200).into());
        }
    }

    pub(super) fn hyperlink(&mut self, start: &StartTag<'a>, attributes: Attributes<'_, 'a>) {
        let href = attributes
            .url("href")
            .or_else(|| attributes.url("xlink:href"))
            .unwrap_or_default();
        let scripted = href
            .get(..11)
            .is_some_and(|scheme| scheme.eq_ignore_ascii_case("javascript:"));
        if scripted || href == "#" && attributes.has("onclick") {
            self.uncrawlable(start.source);
        }
        self.out.links_total += 1;
        let label = || {
            attributes
                .get("aria-label")
                .filter(|l| !l.is_empty())
                .or_else(|| attributes.get("title"))
        };
        let mut index = None;
        let nofollow = ["nofollow", "ugc", "sponsored"]
            .iter()
            .any(|word| attributes.has_word("rel", word));
        let mut rel = if nofollow { REL_NOFOLLOW } else { 0 };
        if self.concealed() > Concealed::No {
            rel |= LINK_CONCEALED;
        }
        let mut permalink = Permalink::No;
        if let Some((target, flags)) = self.wanted(&href, rel) {
            index = Some(self.out.links.len());
            let is_own = flags & LINK_FRAGMENT != 0 && target == Some(self.resolver.own());
            permalink = self.permalink(attributes, is_own || href == "#");
            let line = self.line(start.at);
            // an area has no content, its text is `alt`
            let anchor = if start.tag == Tag::Area {
                let alt = attributes
                    .get("alt")
                    .filter(|alt| !alt.is_empty())
                    .or_else(label)
                    .unwrap_or_default();
                text::squeeze(&alt)
            } else {
                String::new()
            };
            self.out.links.push(Link {
                href: &href,
                target,
                anchor: text::cut(&anchor, 80),
                flags,
                line,
            });
        }
        if start.tag == Tag::A {
            let label = label().map(|label| text::squeeze(&label)).unwrap_or_default();
            self.link = Some(OpenLink {
                index,
                mark: self.prose.mark(),
                alt: String::new(),
                label,
                labelled_by: Box::default(),
                permalink,
            });
        }
    }
}
