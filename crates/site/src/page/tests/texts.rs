//! The text of a page: extent of the main text, its storage, and facts derived from it.

use searchwright_text as text;
use url::Url;

use super::{PAGE, Table, html, texts};
use crate::{
    fetch::Response,
    page::{At, Limits, read},
};

#[test]
fn headings_and_their_answers() {
    let facts = html(
        "<h1>Main <img alt=logo></h1>\n<h2>What is it?</h2>\n<p>It is a thing.</p><h2>Why?</h2><div><div>One<br>two <b>three</b></div></div><p>y</p>\
         <h3></h3><h3>Next</h3><ul><li>item</ul><h3>Last</h3> a b",
    );
    let headings: Vec<_> = facts
        .headings
        .iter()
        .map(|h| (h.level, &*h.text, h.line, h.answer_words))
        .collect();
    assert_eq!(
        headings,
        [
            (1, "Main logo", 1, 0),
            (2, "What is it?", 2, 4),
            (2, "Why?", 3, 3),
            (3, "", 3, 0),
            (3, "Next", 3, 1),
            (3, "Last", 3, 2),
        ]
    );
}

#[test]
fn main_text_leaves_out_what_is_on_every_page() {
    let around = "<header>Site name</header><nav><ul><li>Home<li>Shop</ul></nav>";
    let facts = html(&format!(
        "{around}<main><header>Title</header><p>Body text here<nav>skip</nav></main><footer>Imprint</footer>"
    ));
    assert_eq!(
        (&*facts.excerpt, facts.main_words, facts.words),
        ("Title Body text here", 4, 10)
    );
    let facts = html(&format!(
        "{around}<article>One</article><article>Two</article><p>Around"
    ));
    assert_eq!(&*facts.excerpt, "One Two");
    let facts = html(&format!("{around}<div>Plain <b>page</b>s</div><aside>ad</aside>"));
    assert_eq!(&*facts.excerpt, "Plain pages");
    assert_eq!(facts.text_hash, text::hash_long(b"plain pages"));
    let facts = html("<div><nav>unclosed</div><p>after");
    assert_eq!(&*facts.excerpt, "after");
    assert_eq!(html("<p> \n").text_hash, 0);
}

#[test]
fn main_text_is_kept_by_lines() {
    let kept = |source: &str| html(source).main_text;
    assert_eq!(
        &*kept(
            "<nav>Menu</nav><main><h1>A <b>title</b></h1><p>Some\n<i>text</i>, <code>x()</code> too<br>and more<ul><li>One<li>Two</ul>\
             <pre>int main;<b>x</b></pre><p>Last<aside>not this</aside></main>"
        ),
        "A title\nSome text, x() too\nand more\nOne\nTwo\nLast"
    );
    assert_eq!(
        &*kept("<article>One</article><aside>no</aside><article><p>Two"),
        "One\nTwo"
    );
    let long = kept(&format!("<p>Begins.<p>{}", "word ".repeat(5_000)));
    assert!(
        long.starts_with("Begins.\nword word") && long.ends_with(" word"),
        "{long}"
    );
    assert!((4_032..=4_096).contains(&long.len()));
    let unspaced = kept(&"語".repeat(5_000));
    assert_eq!(unspaced.len(), 4_095);
}

#[test]
fn scripts_and_styles_are_not_text() {
    let facts = html(
        "<script>var a = 'x y z'</script><style>p {}</style><noscript>n</noscript><textarea>t</textarea><template>t</template><!-- c -->v",
    );
    assert_eq!((facts.words, &*facts.excerpt), (1, "v"));
}

#[test]
fn placeholders_outside_code() {
    let facts = html(
        "<p>Hello {{ user.name }}, <code>{{ not_this }}</code> you owe [object Object]. Lorem ipsum dolor.</p>",
    );
    assert_eq!(
        texts(&facts.placeholders),
        ["lorem ipsum dolor.", "{{ user.name }}", "[object Object]"]
    );
}

#[test]
fn filler_around_the_main_text() {
    let facts = html(
        "<header><p>Dolor sit amet</p></header><main><p>Our offer</p></main><aside><p>None of it</p></aside>\
         <footer><p>Lorem <b>ipsum</b></p><p data-nosnippet>Consectetur adipiscing elit</p></footer>",
    );
    assert_eq!(
        texts(&facts.placeholders),
        [
            "lorem ipsum consectetur adipiscing elit",
            "dolor sit amet our offer none of it lorem ipsum consectetur adipiscing elit",
            "consectetur adipiscing elit"
        ]
    );
    // not where main text meets other text
    let facts = html("<header><p>Lorem</p></header><main><p>ipsum, dolor sit</p></main>");
    assert!(facts.placeholders.is_empty());
}

#[test]
fn no_snippet_of_the_main_text() {
    let words = "word ".repeat(40);
    for (source, hidden) in [
        (format!("<main data-nosnippet>{words}</main>"), true),
        (
            format!("<div data-nosnippet><main>{words}</main></div><p>x"),
            true,
        ),
        (format!("<body data-nosnippet><p>{words}"), true),
        (
            format!("<main><h1>Title</h1><div data-nosnippet>{words}</div></main>"),
            true,
        ),
        (
            format!("<main>{words}</main><article data-nosnippet>{words}</article>"),
            false,
        ),
        (
            format!("<main>{words}<div data-nosnippet>{words}</div></main>"),
            false,
        ),
        (format!("<main>{words}</main><div data-nosnippet>{words}"), false),
        (
            format!("<div data-nosnippet><p>x</div><main>{words}</main>"),
            false,
        ),
        ("<main data-nosnippet></main>".to_owned(), false),
    ] {
        assert_eq!(html(&source).main_nosnippet, hidden, "{source}");
    }
    // no other fact changes
    let plain = html("<main><p>foo<span>bar</span> x<p>y</main>");
    let marked = html("<main><p>foo<span data-nosnippet>bar</span> x<p data-nosnippet>y</main>");
    assert_eq!(
        (plain.text_hash, plain.main_text),
        (marked.text_hash, marked.main_text)
    );
}

#[test]
fn authors_are_not_authorities() {
    let markup = "<script type=application/ld+json>{\"@type\": \"Article\"}</script>";
    let byline = |text: &str| html(&format!("{text}{markup}")).byline;
    assert!(!byline(
        "<script>authorization; authority; authorize; authorised; authoring</script>"
    ));
    for text in [
        "<p class=author>Me",
        "<script>authorId</script>",
        "<a rel=author>",
        "<p class=authors>",
        "<p class=byline>",
    ] {
        assert!(byline(text), "{text}");
    }
}

#[test]
fn quotations_in_marks_and_elements() {
    for (text, quotations) in [
        ("<q>x</q>", 1),
        ("He said “no”.", 1),
        ("«Non»", 1),
        ("„Nein“ <q>x</q>", 2),
        ("a – b’s © 5\"", 0),
    ] {
        assert_eq!(html(text).quotations, quotations, "{text}");
    }
}

#[test]
fn a_role_is_a_landmark_too() {
    let facts = html("<div>Menu</div><div role=main><p>Two words<div>and more</div></div><p>Imprint");
    assert_eq!((facts.main_words, facts.words), (4, 6));
    let within = html("<main><div role=main>One</div> two</main>three");
    assert_eq!(within.main_words, 2);
}

#[test]
fn without_landmarks_the_dense_blocks_are_the_main_text() {
    let words = |count: usize| "word ".repeat(count);
    let menu: String = (0..30)
        .map(|n| format!("<li><a href=/{n}>Entry number {n}</a>"))
        .collect();
    let page = |text: String| {
        html(&format!(
            "<ul>{menu}</ul><div>{text}</div><div><a href=/i>Imprint</a></div>"
        ))
    };
    let facts = page(format!("<p>{}<p>{}", words(80), words(40)));
    assert_eq!((facts.main_words, facts.words), (120, 120 + 90 + 1));
    // inconclusive for a short text
    let short = page(format!("<p>{}", words(60)));
    assert_eq!(short.main_words, short.words);
    // landmarks take precedence
    let marked = page(format!("<article><p>{}</article><p>{}", words(20), words(120)));
    assert_eq!(marked.main_words, 20);
}

#[test]
fn dates_in_the_text_are_kept_but_those_to_come() {
    let dated = |body: &str| {
        let response = Response::new(200, &[("content-type", "text/html")], body.as_bytes());
        let at = At {
            fetched_at_ms: 1_780_272_000_000,
            ..At::default()
        };
        let url = Url::parse(PAGE).unwrap();
        let facts = read(&response, &url, at, &mut Table(Vec::new()), &Limits::default());
        facts.html.unwrap().dated
    };
    let day = 1_767_225_600_000;
    for (body, wanted) in [
        (
            "<p><time datetime=2026-01-01>today</time><time datetime=2025-01-01></time>",
            Some(day),
        ),
        (
            "<p><time datetime='2026-01-01T00:00:00+00:00'>today</time>",
            Some(day),
        ),
        ("<p><time>2026-01-01</time> and <time>yesterday</time>", Some(day)),
        ("<p><time datetime=2026-07-01>in July</time>", None),
        ("<footer><time datetime=2026-01-01></time></footer>", None),
        ("<template><time datetime=2026-01-01></time></template>", None),
        ("<p><time datetime=P3D>three days</time>", None),
    ] {
        assert_eq!(dated(body), wanted, "{body}");
    }
}
