"""Fetches a website as it is served and reads it with parsers of others: Lexbor for HTML, Ada for URLs."""

import http.client
import re
from dataclasses import dataclass, field

import ada_url
import protego
import regex
from selectolax.lexbor import LexborHTMLParser
from w3lib.encoding import html_to_unicode

AGENT = "SearchwrightBot"
HTML = ("text/html", "application/xhtml+xml")
SPACE = " \t\n\f\r"
UNSEEN = ["script", "style", "template", "noscript", "head", "svg", "textarea", "select", "iframe", "object"]
BREAK = "\x1e"
BLOCKS = (
    "address, article, aside, blockquote, caption, center, dd, details, div, dl, dt, fieldset, figcaption, figure, footer, form, "
    "h1, h2, h3, h4, h5, h6, header, hr, img, legend, li, main, menu, nav, ol, p, pre, section, summary, table, tbody, td, tfoot, th, "
    "thead, tr, ul"
)


def resolve(href, base):
    """The absolute URL without fragment, and the fragment; none where a browser sees no URL either."""
    try:
        url = ada_url.URL(href.strip(SPACE), base=base)
    except ValueError:
        return None, ""
    fragment = url.hash[1:]
    url.hash = ""
    return url.href, fragment


def words_of(text):
    return " ".join(text.split())


def graphemes(text):
    return len(regex.findall(r"\X", text))


@dataclass
class Answer:
    url: str
    status: int
    headers: dict
    body: bytes = b""
    location: str | None = None

    @property
    def text(self):
        return html_to_unicode(self.headers.get("content-type"), self.body, default_encoding="utf-8")[1]

    @property
    def type(self):
        return self.headers.get("content-type", "").split(";")[0].strip().lower()


@dataclass
class Page:
    """Content of a page, read from the tree that a browser would build."""

    answer: Answer
    tree: LexborHTMLParser
    links: list = field(default_factory=list)

    @property
    def url(self):
        return self.answer.url

    def all(self, selector):
        return self.tree.css(selector)

    def metas(self, name):
        named = (m.attributes for m in self.all("meta[name]"))
        return [words_of(m.get("content") or "") for m in named if (m["name"] or "").strip().lower() == name]

    def titles(self):
        drawn = {n.mem_id for n in self.all("svg title")}
        return [words_of(n.text()) for n in self.all("title") if n.mem_id not in drawn]

    def title(self):
        return next((t for t in self.titles() if t), None)

    def description(self):
        return next((d for d in self.metas("description") if d), None)

    def rels(self, rel):
        found = (n.attributes for n in self.all("link[rel]"))
        return [a for a in found if rel in (a["rel"] or "").lower().split()]

    def headings(self, level):
        found = []
        for node in self.all(f"h{level}"):
            alts = [i.attributes.get("alt") or "" for i in node.css("img")]
            found.append((words_of(node.text()), words_of(" ".join(alts))))
        return found

    def h1s(self):
        return [text or alt for text, alt in self.headings(1) if text or alt]

    def lang(self):
        return (self.tree.root.attributes.get("lang") or "").strip()

    def canonical(self):
        """The canonical that counts: the first that is a URL of the web."""
        for link in self.rels("canonical"):
            url, _ = resolve(link.get("href") or "", self.base())
            if (link.get("href") or "").strip(SPACE + "#") and url and url.startswith("http"):
                return url
        return None

    def base(self):
        node = self.tree.css_first("base[href]")
        href = (node.attributes["href"] or "") if node else ""
        return (resolve(href, self.url)[0] or self.url) if href else self.url

    def noindex(self):
        said = self.metas("robots") + self.metas("googlebot") + [self.answer.headers.get("x-robots-tag", "")]
        return any(re.search(r"\b(noindex|none)\b", directive, re.I) for directive in said)

    def indexable(self):
        return not self.noindex() and self.canonical() in (None, self.url)

    def reading(self):
        """The main text and its blocks: main by tag or role, else the articles, else the body, without what is on every page.
        Whether a landmark told it."""
        tree = LexborHTMLParser(self.answer.text)
        tree.strip_tags(UNSEEN)
        parts = tree.css("main") or tree.css('[role="main" i]') or tree.css("article") or tree.css("body")
        for node in tree.css("nav, aside" if parts[0].tag != "body" else "nav, aside, header, footer"):
            node.decompose()
        for node in tree.css("br"):
            node.insert_before(" ")
        for node in tree.css(BLOCKS):
            node.insert_before(BREAK)
            node.insert_after(BREAK)
        blocks = BREAK.join(part.text() for part in parts).split(BREAK)
        blocks = [block for block in map(words_of, blocks) if block]
        return " ".join(blocks), blocks, parts[0].tag != "body"


class Site:
    def __init__(self, start):
        url = ada_url.URL(start)
        self.start, self.origin = url.href, url.origin
        self.connection = http.client.HTTPConnection(url.hostname, int(url.port), timeout=30)
        robots = self.fetch(self.origin + "/robots.txt")
        self.robots = protego.Protego.parse(robots.body.decode() if robots.status == 200 else "")
        self.answers, self.pages, self.blocked = {}, {}, set()

    def fetch(self, url):
        target = url.removeprefix(self.origin)
        self.connection.request("GET", target, headers={"User-Agent": AGENT, "Accept-Encoding": "identity"})
        answer = self.connection.getresponse()
        headers = {name.lower(): value for name, value in answer.getheaders()}
        location = headers.get("location")
        if location is not None:
            location = resolve(location, url)[0]
        return Answer(url, answer.status, headers, answer.read(), location)

    def sitemap(self):
        found = []
        for url in self.robots.sitemaps:
            answer = self.fetch(url)
            if answer.status == 200:
                found += re.findall(r"<loc>\s*(.*?)\s*</loc>", answer.body.decode())
        return found

    def crawl(self):
        """Everything that links and sitemaps lead to."""
        self.listed = set(self.sitemap())
        waiting, known = [self.start, *sorted(self.listed)], {self.start, *self.listed}
        while waiting:
            following = []
            for url in waiting:
                if not self.robots.can_fetch(url, AGENT):
                    self.blocked.add(url)
                    continue
                answer = self.answers[url] = self.fetch(url)
                targets = [answer.location] if 300 <= answer.status < 400 else []
                if answer.status == 200 and answer.type in HTML:
                    page = self.pages[url] = self.read(answer)
                    targets += [target for target, *_ in page.links]
                for target in targets:
                    if target and target.startswith(self.origin + "/") and target not in known:
                        known.add(target)
                        following.append(target)
            waiting = following

    def read(self, answer):
        page = Page(answer, LexborHTMLParser(answer.text))
        base = page.base()
        for node in page.all("a[href], area[href]"):
            href = node.attributes["href"] or ""
            target, fragment = resolve(href, base)
            nofollow = bool({"nofollow", "ugc", "sponsored"} & set((node.attributes.get("rel") or "").lower().split()))
            page.links.append((target, fragment, nofollow, href, node))
        return page

    def final(self, url):
        """Final URL after redirects, with the hops on the way; none for a loop."""
        hops = [url]
        while (answer := self.answers.get(url)) and answer.location and 300 <= answer.status < 400:
            url = answer.location
            if url in hops:
                return None, hops
            hops.append(url)
        return url, hops
