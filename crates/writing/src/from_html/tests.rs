//! Tests of the HTML that becomes Markdown, of the HTML that stays HTML, and that nothing in between happens.

use proptest::prelude::{prop, prop_assert_eq, proptest};

use super::{NotFaithful, comparable, difference, from_html};
use crate::{
    html::pieces,
    markdown::to_html,
    sanitise::{LinkPolicy, sanitise},
};

fn md(html: &str) -> Result<String, NotFaithful> {
    from_html(html, &LinkPolicy::default())
}

#[test]
fn common_html_becomes_markdown() {
    let cases = [
        ("<h2>A <em>b</em></h2><p>c</p>", "## A *b*\n\nc"),
        ("<p>a <strong>b</strong> <code>c`d</code></p>", "a **b** ``c`d``"),
        ("<p>x<br>y</p>", "x\\\ny"),
        (
            "<ul><li>a</li><li>b<ol><li>c</li></ol></li></ul>",
            "- a\n- b\n  1. c",
        ),
        ("<ul><li><p>a</p></li><li><p>b</p></li></ul>", "- a\n\n- b"),
        ("<blockquote><p>a</p><p>b</p></blockquote>", "> a\n>\n> b"),
        (
            "<pre><code class=\"language-rust\">a\n```\n</code></pre>",
            "````rust\na\n```\n````",
        ),
        (
            "<p><a href=\"/a\" title=\"t\">b</a> <img src=\"c d.png\" alt=\"e\"></p>",
            "[b](/a \"t\") ![e](<c d.png>)",
        ),
        ("<p>H<sub>2</sub>O <b>x</b></p>", "H<sub>2</sub>O <b>x</b>"),
        (
            "<p>2. not * a [list] &lt;b&gt; snake_case &amp;amp;</p>",
            "2\\. not \\* a \\[list\\] \\<b> snake_case \\&amp;",
        ),
        ("<hr>", "---"),
        ("<ol start=\"3\"><li>a</li><li>b</li></ol>", "3. a\n4. b"),
        (
            "<table><thead><tr><th align=\"right\">a</th></tr></thead><tbody><tr><td align=\"right\">b|c</td></tr></tbody></table>",
            "| a |\n| --: |\n| b\\|c |",
        ),
        ("<ul><li><input type=\"checkbox\" checked> a</li></ul>", "- [x] a"),
        ("<p>a</p><script>alert(1)</script>", "a"),
        ("<p><del>a</del></p>", "~~a~~"),
    ];
    for (html, markdown) in cases {
        assert_eq!(md(html).as_deref(), Ok(markdown), "{html}");
    }
}

#[test]
fn what_markdown_cannot_say_stays_html() {
    for (html, element) in [
        ("<div>a</div>", "div"),
        ("<figure><img src=a></figure>", "figure"),
        ("<table><tr><td>a</td></tr></table>", "table"),
        ("<ul><li value=3>a</li></ul>", "li"),
        ("<ul><li>a</li></ul><ul><li>b</li></ul>", "ul"),
        ("a", "text"),
    ] {
        assert_eq!(md(html), Err(NotFaithful::Element(element.into())), "{html}");
    }
    assert!(matches!(
        md("<h2 id=\"other\">a</h2>"),
        Err(NotFaithful::Differs(_))
    ));
    assert!(matches!(
        md("<p>a<strong> b </strong>c</p>"),
        Err(NotFaithful::Differs(_))
    ));
}

#[test]
fn ordinary_posts_come_back() {
    let post = "# Tea & time\n\nWater at **80 °C**, see [the guide](/guide \"Guide\") or <https://x.example/?a=1&b=2>.\n\n\
        1. one\n2. two\n   - *three*\n   - `four`\n\n> quoted\n>\n> twice\n\n```sh\nmake <tea>\n```\n\n| a | b |\n|:--|--:|\n| c | d |\n\n\
        - [ ] open\n- [x] done\n\n![A cup](cup.png)\n\n---\n\n5 * 3 = 15, 10% off! <kbd>Ctrl</kbd>";
    let html = to_html(post, &LinkPolicy::default()).unwrap();
    let markdown = md(&html).unwrap();
    assert_eq!(to_html(&markdown, &LinkPolicy::default()).unwrap(), html);
}

const TOKENS: &[&str] = &[
    "<p>",
    "</p>",
    "<h2>",
    "</h2>",
    "<ul>",
    "<ol>",
    "<li>",
    "</li>",
    "</ul>",
    "</ol>",
    "<b>",
    "</b>",
    "<strong>",
    "</strong>",
    "<em>",
    "</em>",
    "<code>",
    "</code>",
    "<pre><code>",
    "</code></pre>",
    "<a href=\"/x_y*z\">",
    "</a>",
    "<br>",
    "<hr>",
    "<blockquote>",
    "</blockquote>",
    "<img src=\"a b\" alt=\"[c]\">",
    "a",
    " ",
    "\n",
    "*",
    "_",
    "`",
    "#",
    "- ",
    "1. ",
    "> ",
    "[x]",
    "](y)",
    "!",
    "\\",
    "&amp;lt;",
    "&lt;i&gt;",
    "~~",
    "|",
    "&nbsp;",
    "é",
    "---",
    "<input type=checkbox>",
];

proptest! {
    #[test]
    fn what_is_converted_comes_back(parts in prop::collection::vec(prop::sample::select(TOKENS), 0..25)) {
        let links = LinkPolicy::default();
        let html = format!("<p>{}", parts.concat());
        if let (Ok(markdown), Ok(clean)) = (from_html(&html, &links), sanitise(&html, &links)) {
            let back = to_html(&markdown, &links).unwrap();
            let (wanted, back) = (comparable(&pieces(&clean)), comparable(&pieces(&back)));
            prop_assert_eq!(difference(&wanted, &back), None, "{}", markdown);
        }
    }

    /// Text in one paragraph always can be written, whatever characters it is made of.
    #[test]
    fn any_text_can_be_escaped(text in "[ -~é\u{a0}«😀]{0,40}") {
        let mut html = String::from("<p>x");
        crate::html::escape(&mut html, &text, false);
        html.push_str("</p>");
        let markdown = md(&html);
        prop_assert_eq!(markdown.as_ref().err(), None, "{}", html);
    }
}
