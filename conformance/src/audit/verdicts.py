"""Pages of a website that fail a check, worked out anew from the served files, and signs by which a difference is recognised."""

import re
import unicodedata
from collections import Counter, defaultdict

import ada_url
import datasketch
import extruct
import networkx
import regex
import syllapy
from fontTools.ttLib import TTFont

from web import graphemes, words_of

ARIAL = "/usr/share/fonts/truetype/liberation/LiberationSans-Regular.ttf"
CJK = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}]")
WORD = r"\w+(?:['’.]\w+)*"
MISTYPED = re.compile(r"\s*https?(:/[^/]|//|://https?(:|//))", re.I)


class Verdicts(list):
    """Pages that fail a check, and who says so."""

    def add(self, check, peer, urls):
        self.append({"check": check, "peer": peer, "fails": sorted(set(urls))})


def collect(site):
    verdicts, signs = Verdicts(), defaultdict(list)
    pages = site.pages.values()
    head(pages, verdicts, signs)
    signs["not for search results"] += [page.url for page in pages if not page.indexable()]
    headings(pages, verdicts, signs)
    markup(pages, verdicts, signs)
    addresses(pages, verdicts, signs)
    structure(pages, verdicts)
    links(site, verdicts, signs)
    texts(pages, verdicts, signs)
    return verdicts, signs


def pixels():
    font = TTFont(ARIAL)
    glyphs, widths, em = font.getBestCmap(), font["hmtx"], font["head"].unitsPerEm
    return glyphs, lambda text: sum(widths[glyphs.get(ord(c), ".notdef")][0] for c in text) * 20 / em


def folded(text):
    return words_of(text).lower()


def repeated(pages, value):
    """Pages for search results that share what `value` gives with another one."""
    found = [(page.url, folded(value(page) or "")) for page in pages if page.indexable()]
    counts = Counter(text for _, text in found if text)
    return [url for url, text in found if counts[text] > 1]


def head(pages, verdicts, signs):
    peer = "lexbor"
    glyphs, wide = pixels()
    titles = [(page, page.title()) for page in pages]
    shown = [(page, title) for page, title in titles if title]
    eastern = lambda text: sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    verdicts.add("title-missing", peer, (p.url for p, title in titles if not title))
    verdicts.add("title-short", peer, (p.url for p, t in shown if graphemes(t) + eastern(t) < 30))
    verdicts.add(
        "title-long",
        "lexbor, fonttools",
        (
            p.url
            for p, t in shown
            if (graphemes(t) > 30 if eastern(t) * 2 > len(t) else graphemes(t) > 60 and wide(t) > 561)
        ),
    )
    verdicts.add("title-duplicate", peer, repeated(pages, lambda page: page.title()))
    verdicts.add(
        "title-same-as-h1", peer, (p.url for p, t in shown if p.h1s() and folded(p.h1s()[0]) == folded(t))
    )
    near = [(p.url, wide(t)) for p, t in shown if graphemes(t) > 60]
    signs["as wide as the limit but for a pixel"] += [url for url, width in near if 561 < width < 562]
    signs["letters that the font has not"] += [p.url for p, t in shown if any(ord(c) not in glyphs for c in t)]
    described = [(page, page.description()) for page in pages]
    verdicts.add("description-missing", peer, (p.url for p, d in described if not d and p.indexable()))
    verdicts.add("description-short", peer, (p.url for p, d in described if d and graphemes(d) + eastern(d) < 70))
    verdicts.add("description-long", peer, (p.url for p, d in described if d and graphemes(d) > 155))
    verdicts.add("description-duplicate", peer, repeated(pages, lambda page: page.description()))
    verdicts.add("title-multiple", peer, (p.url for p in pages if len(p.titles()) > 1))
    relative = "link[rel~='alternate' i][hreflang]:not([href^='http:'], [href^='https:'])"
    verdicts.add("hreflang-relative", peer, (p.url for p in pages if p.all(relative)))
    verdicts.add("lang-missing", peer, (p.url for p in pages if not p.lang()))
    views = [(page, next(iter(page.metas("viewport")), "")) for page in pages]
    verdicts.add("viewport-missing", peer, (p.url for p, view in views if not view))
    canonicals = [(page, page.rels("canonical"), page.canonical()) for page in pages]
    verdicts.add("canonical-missing", peer, (p.url for p, rels, _ in canonicals if not rels and p.indexable()))
    verdicts.add("canonical-invalid", "lexbor, ada", (p.url for p, rels, url in canonicals if rels and not url))
    verdicts.add(
        "canonical-cross-domain",
        "lexbor, ada",
        (p.url for p, _, url in canonicals if url and ada_url.URL(url).hostname != ada_url.URL(p.url).hostname),
    )
    verdicts.add("noindex", peer, (p.url for p in pages if p.noindex()))
    refresh = "meta[http-equiv='refresh' i][content*='url' i]"
    verdicts.add("meta-refresh", peer, (p.url for p in pages if p.all(refresh)))
    kinds = {"og:title", "og:type", "og:image", "og:url"}
    has = lambda page, names: names <= {
        (m.attributes.get("property") or m.attributes.get("name") or "").lower() for m in page.all("meta[content]")
    }
    verdicts.add("og-incomplete", peer, (p.url for p in pages if not has(p, kinds)))
    verdicts.add(
        "twitter-card-missing", peer, (p.url for p in pages if not has(p, kinds) and not has(p, {"twitter:card"}))
    )
    charset = re.compile(rb"<meta[^>]+charset", re.I)
    declared = lambda answer: "charset=" in answer.headers.get("content-type", "") or charset.search(answer.body[:1024])
    verdicts.add("charset-missing", "bytes", (p.url for p in pages if not declared(p.answer)))


def headings(pages, verdicts, signs):
    peer = "lexbor"
    h1s = [(page, page.h1s()) for page in pages]
    verdicts.add("h1-missing", peer, (p.url for p, found in h1s if not found))
    verdicts.add("h1-multiple", peer, (p.url for p, found in h1s if len(found) > 1))
    signs["several h1"] += [page.url for page, found in h1s if len(found) > 1]
    verdicts.add("h1-long", peer, (p.url for p, found in h1s if any(graphemes(t) > 70 for t in found)))
    verdicts.add("h1-duplicate", peer, repeated(pages, lambda page: next(iter(page.h1s()), None)))


def markup(pages, verdicts, signs):
    peer = "lexbor"
    sizes = [(page, len(page.all("*"))) for page in pages]
    verdicts.add("dom-large", peer, (p.url for p, size in sizes if size > 1500))
    signs["about as many elements as the limit"] += [p.url for p, size in sizes if abs(size - 1500) < 30]
    verdicts.add("many-links", peer, (p.url for p in pages if len(p.links) > 1000))
    images = [(page, [i.attributes for i in page.all("img")]) for page in pages]
    verdicts.add(
        "image-alt-long", peer, (p.url for p, found in images if any(graphemes(words_of(i.get("alt") or "")) > 100 for i in found))
    )
    sized = lambda i: "width" in i and "height" in i or "aspect-ratio" in (i.get("style") or "")
    verdicts.add("image-dimensions-missing", peer, (p.url for p, found in images if not all(map(sized, found))))


def addresses(pages, verdicts, signs):
    paths = [(page, ada_url.URL(page.url)) for page in pages]
    verdicts.add("url-underscore", "ada", (p.url for p, url in paths if "_" in url.pathname))
    verdicts.add("url-uppercase", "ada", (p.url for p, url in paths if re.search("[A-Z]", re.sub("%..", "", url.pathname))))
    verdicts.add("https-missing", "ada", (p.url for p, url in paths if url.protocol == "http:" and p.indexable()))
    sizes = [(page, len(page.answer.body)) for page in pages]
    verdicts.add("html-large", "bytes", (p.url for p, size in sizes if size > 1 << 20))
    verdicts.add("html-over-2mb", "bytes", (p.url for p, size in sizes if size > 2 << 20))


def structure(pages, verdicts):
    missing, trails = [], []
    for page in pages:
        kinds = ["json-ld", "microdata", "rdfa"]
        body = page.answer.body
        # the names of all three syntaxes: without any of them there is nothing to extract
        marked = re.search(rb"ld\+json|itemscope|typeof|vocab=", body, re.I)
        found = extruct.extract(body, page.url, syntaxes=kinds, errors="ignore") if marked else {}
        typed = [item for items in found.values() for item in items if "@type" in item or "type" in item]
        if page.indexable() and not typed:
            missing.append(page.url)
        segments = [s for s in ada_url.URL(page.url).pathname.split("/") if s]
        if len(segments) >= 2 and page.indexable() and b"BreadcrumbList" not in body:
            trails.append(page.url)
    verdicts.add("schema-missing", "extruct", missing)
    verdicts.add("breadcrumb-missing", "extruct", trails)


def links(site, verdicts, signs):
    graph, any_link = networkx.DiGraph(), networkx.DiGraph()
    graph.add_nodes_from(site.pages)
    any_link.add_nodes_from(site.pages)
    redirecting, malformed, dead = [], [], []
    for page in site.pages.values():
        out = False
        for target, fragment, nofollow, href, _ in page.links:
            if MISTYPED.match(href):
                signs["mistyped scheme"].append(page.url)
            if target is None:
                malformed.append(page.url)
                continue
            if not target.startswith(site.origin + "/"):
                continue
            answer = site.answers.get(target)
            out = out or target != page.url
            if answer and answer.status in (301, 308):
                redirecting.append(page.url)
            end, hops = site.final(target)
            if end in site.pages and end != page.url:
                any_link.add_edge(page.url, end)
                if not nofollow:
                    graph.add_edge(page.url, end)
        if not out:
            dead.append(page.url)
    peer = "networkx"
    depths = networkx.single_source_shortest_path_length(graph, site.final(site.start)[0])
    indexable = {url for url, page in site.pages.items() if page.indexable()}
    verdicts.add("depth-high", peer, (url for url, depth in depths.items() if depth > 3 and url in indexable))
    alone = {url: graph.in_degree(url) for url in indexable if url != site.start}
    verdicts.add("single-inlink", peer, (url for url, count in alone.items() if count == 1))
    verdicts.add("orphan-page", peer, (url for url, count in alone.items() if count == 0 and url in site.listed))
    verdicts.add("dead-end-page", "lexbor, ada", dead)
    verdicts.add("link-malformed", "ada", malformed)
    verdicts.add("link-to-redirect", "lexbor, ada", redirecting)
    ends = {url: site.final(url) for url, answer in site.answers.items() if answer.location}
    verdicts.add("redirect-loop", "http.client", (url for url, (end, _) in ends.items() if end is None))
    verdicts.add("redirect-chain", "http.client", (url for url, (end, hops) in ends.items() if end and len(hops) > 2))
    linked = {target for page in site.pages.values() for target, *_ in page.links}
    verdicts.add("robots-blocked-page", "protego", site.blocked & linked)


def texts(pages, verdicts, signs):
    thin, divided, same, runs, hard = [], [], defaultdict(list), {}, []
    for page in pages:
        text, blocks, told = page.reading()
        words = regex.findall(WORD, CJK.sub(" ", text))
        count = len(words) + round(len(CJK.findall(text)) / 1.7)
        if not told and count < 400:
            signs["fewer than 400 words and no landmark around the main text"].append(page.url)
        if page.indexable() and count < 200:
            thin.append(page.url)
        if count > 300 and not page.headings(2) and not page.headings(3):
            divided.append(page.url)
        if page.indexable() and text:
            same[folded(text)].append(page.url)
            if count >= 50:
                runs[page.url] = shingles(folded(text))
        if page.lang().lower().startswith("en") and count >= 300:
            ease, length = reading_ease(blocks)
            if ease < 30:
                hard.append(page.url)
            if 15 < ease < 45:
                signs["reading ease near the limit"].append(page.url)
            if 50 < length < 150:
                signs["about as little running text as can be judged"].append(page.url)
        if not page.lang().lower().startswith("en"):
            signs["not English"].append(page.url)
    verdicts.add("thin-content", "lexbor, regex", thin)
    verdicts.add("subheadings-missing", "lexbor, regex", divided)
    verdicts.add("duplicate-exact", "lexbor", (url for urls in same.values() if len(urls) > 1 for url in urls))
    verdicts.add("readability-very-hard", "syllapy", hard)
    near, close = alike(runs, [urls for urls in same.values() if urls[0] in runs])
    verdicts.add("duplicate-near", "datasketch", near)
    signs["nearly as alike as the limit"] += sorted(close)


def reading_ease(blocks):
    """Flesch 1948 of the sentences, and how many words they have."""
    prose = [block for block in blocks if len(block) >= 60 and regex.search(r"[.!?…][\"”»)]*$", block)]
    words = [word for block in prose for word in regex.findall(WORD, block)]
    if len(words) < 100:
        return 100, len(words)
    sentences = sum(len(regex.findall(r"[.!?…][\"”»)]*(?:\s|$)", block)) for block in prose)
    syllables = sum(syllapy.count(word) or 1 for word in words)
    return 206.835 - 1.015 * len(words) / sentences - 84.6 * syllables / len(words), len(words)


def shingles(text):
    words = regex.findall(WORD, text)
    return {" ".join(words[i : i + 5]) for i in range(len(words) - 4)}


def alike(runs, groups):
    """Pages that share nine word runs in ten with another whose text is not the same, and those that nearly do."""
    # pairs are found by chance: well below what counts, so that hardly one that nearly does is missed
    index, hashes = datasketch.MinHashLSH(threshold=0.6, num_perm=128), {}
    near, close = set(), set()
    for number, urls in enumerate(groups):
        if runs[urls[0]]:
            hashes[number] = datasketch.MinHash.bulk([[run.encode() for run in runs[urls[0]]]], num_perm=128)[0]
            index.insert(number, hashes[number])
    for number, sketch in hashes.items():
        for other in index.query(sketch):
            if other == number:
                continue
            own, others = runs[groups[number][0]], runs[groups[other][0]]
            likeness = len(own & others) / len(own | others)
            if likeness >= 0.9:
                near.update(groups[number])
            if 0.8 < likeness < 0.97:
                close.update(groups[number])
    return near, close
