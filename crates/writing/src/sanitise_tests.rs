//! Tests that read the sanitised HTML again with a browser's parser and compare it with an allowlist of their own.

use proptest::prelude::{prop, prop_assert, prop_assert_eq, proptest};

use super::{LinkPolicy, Target, anchor, sanitise};
use crate::markdown::{Refused, to_html};

#[path = "testdata/judge.rs"]
mod judge;
#[path = "testdata/vectors.rs"]
mod testdata;
use judge::fault;
use testdata::{TOKENS, vectors};

fn policy() -> LinkPolicy {
    LinkPolicy {
        own_host: Some("example.com".into()),
        followed: vec!["https://source.example/a?b=1&a=2".into()],
        base: None,
        page: None,
    }
}

fn assert_safe(input: &str, html: &str) {
    assert_eq!(fault(html), None, "{input:?} became {html:?}");
    let again = sanitise(html, &policy()).unwrap();
    assert_eq!(again, html, "{input:?} is not settled");
}

#[test]
fn no_vector_survives_as_html_or_as_markdown() {
    let mut count = 0;
    for vector in vectors() {
        assert_safe(&vector, &to_html(&vector, &policy()).unwrap());
        assert_safe(&vector, &sanitise(&vector, &policy()).unwrap());
        let between = format!("before\n\n{vector}\n\n*after* <b>x</b>");
        assert_safe(&between, &to_html(&between, &policy()).unwrap());
        count += 1;
    }
    assert!(count >= 250, "only {count} vectors were read");
}

#[test]
fn the_judge_of_these_tests_sees_what_is_wrong() {
    let seen = vectors().filter(|vector| fault(vector).is_some()).count();
    assert!(
        seen > 200,
        "only {seen} vectors are seen as harmful before they are sanitised"
    );
    assert_eq!(fault(r#"<p id="user-content-x">a <a href="/b">b</a></p>"#), None);
}

#[test]
fn what_is_allowed_stays() {
    let cases = [
        ("# A & B", r#"<h1 id="user-content-a-b">A &amp; B</h1>"#),
        (
            "![A \"cat\"](c.png \"T\")",
            r#"<p><img src="c.png" alt="A &quot;cat&quot;" title="T"></p>"#,
        ),
        ("[x](#a-b)", r##"<p><a href="#user-content-a-b">x</a></p>"##),
        ("~~a~~", "<p><del>a</del></p>"),
        (
            "```rust\nx\n```",
            "<pre><code class=\"language-rust\">x\n</code></pre>",
        ),
        ("<pre>\n\nx</pre>", "<pre>\n\nx</pre>"),
        ("<kbd>A</kbd> <u>b</u>", "<p><kbd>A</kbd> <u>b</u></p>"),
    ];
    for (markdown, html) in cases {
        assert_eq!(to_html(markdown, &policy()).unwrap().trim_end(), html);
    }
    let list = to_html("- [x] a\n- [ ] b", &policy()).unwrap();
    assert!(
        list.contains(r#"<input type="checkbox" checked="" disabled="">"#),
        "{list}"
    );
    let table = to_html("|a|b|\n|:-:|-|\n|c|d|", &policy()).unwrap();
    assert!(
        table.contains(r#"<td align="center">c</td><td>d</td>"#),
        "{table}"
    );
    let twice = to_html("## x\n\n## x", &policy()).unwrap();
    assert!(twice.contains(r#"id="user-content-x-2""#), "{twice}");
    let note = to_html("a[^1]\n\n[^1]: b", &policy()).unwrap();
    assert!(
        note.contains(r##"href="#user-content-fn-1""##) && note.contains(r#"id="user-content-fn-1""#),
        "{note}"
    );
}

#[test]
fn wrapped_lines_are_joined() {
    for (text, html) in [
        (
            "one\ntwo *three*\n*four*",
            "<p>one two <em>three</em> <em>four</em></p>",
        ),
        ("- a\n  b\n- c", "<ul>\n<li>a b</li>\n<li>c</li>\n</ul>"),
        ("<p>a\n  b</p>", "<p>a b</p>"),
        ("hard  \nbreak", "<p>hard<br>\nbreak</p>"),
        ("漢字\nかな\n한글\n글", "<p>漢字かな 한글 글</p>"),
        ("```\na\nb\n```", "<pre><code>a\nb\n</code></pre>"),
    ] {
        assert_eq!(to_html(text, &policy()).unwrap().trim_end(), html, "{text}");
    }
}

#[test]
fn fragments_lead_to_headings_in_any_script() {
    for (link, heading) in [
        ("#über-uns", "Über uns"),
        ("#%C3%BCber-uns", "Über uns"),
        ("#u\u{308}ber-uns", "Über uns"),
        ("#まとめ", "まとめ"),
        ("#%D1%86%D0%B5%D0%BD%D1%8B", "Цены"),
        ("#été-à-paris", "Été à Paris"),
    ] {
        let html = to_html(&format!("[x]({link})\n\n## {heading}"), &policy()).unwrap();
        let id = html
            .split_once("<h2 id=\"")
            .and_then(|(_, rest)| rest.split_once('"'));
        let (id, _) = id.unwrap();
        assert!(html.contains(&format!("href=\"#{id}\"")), "{html}");
    }
    let old = to_html("<a name=\"Teil 2\"></a>Text [x](#Teil%202)", &policy()).unwrap();
    assert!(
        old.contains("id=\"user-content-teil-2\"") && old.contains("href=\"#user-content-teil-2\""),
        "{old}"
    );
}

#[test]
fn relative_addresses_become_those_of_the_site() {
    let links = LinkPolicy {
        base: "https://example.com/".parse().ok(),
        page: "https://example.com/blog/desks".parse().ok(),
        ..policy()
    };
    let html = to_html(
        "[a](/a) ![b](b/c.png) [c](#c) [d](//cdn.example/d) [e](mailto:a@b.example)",
        &links,
    )
    .unwrap();
    for wanted in [
        "href=\"https://example.com/a\"",
        "src=\"https://example.com/blog/b/c.png\"",
        "href=\"#user-content-c\"",
        "href=\"https://cdn.example/d\" rel=\"nofollow noopener\"",
        "href=\"mailto:a@b.example\"",
    ] {
        assert!(html.contains(wanted), "{wanted} in {html}");
    }
    assert_eq!(sanitise(&html, &links).unwrap(), html);
    let links = LinkPolicy { page: None, ..links };
    let html = to_html("![b](b/c.png)", &links).unwrap();
    assert!(
        html.contains("src=\"b/c.png\""),
        "where it will be is not known: {html}"
    );
}

#[test]
fn link_without_an_address_is_text() {
    assert_eq!(
        to_html("[a *b*](ftp://x)", &policy()).unwrap().trim_end(),
        "<p>a <em>b</em></p>"
    );
    assert_eq!(
        to_html("[call](tel:+4930)", &policy()).unwrap().trim_end(),
        "<p><a href=\"tel:+4930\">call</a></p>"
    );
    let ruby = "<p><ruby>漢<rp>(</rp><rt>かん</rt><rp>)</rp></ruby></p>";
    assert_eq!(sanitise(ruby, &policy()).unwrap(), ruby);
}

#[test]
fn links_say_whose_they_are() {
    let rel = |href: &str| {
        let html = to_html(&format!("[x](<{href}>)"), &policy()).unwrap();
        html.split_once("rel=\"")
            .map(|(_, rest)| rest.split('"').next().unwrap().to_owned())
    };
    for own in [
        "/a",
        "a.html",
        "https://example.com/a",
        "http://www.example.com",
        "https://blog.example.com",
    ] {
        assert_eq!(rel(own), None, "{own}");
    }
    for foreign in [
        "https://other.example",
        "//other.example/a",
        "https://notexample.com",
    ] {
        assert_eq!(rel(foreign).as_deref(), Some("nofollow noopener"), "{foreign}");
    }
    assert_eq!(
        rel("https://source.example/a?a=2&b=1#c").as_deref(),
        Some("noopener")
    );
    assert_eq!(rel("mailto:a@b.example"), None);
    for trick in ["/\\other.example", "\\\\other.example", " //other.example"] {
        assert_eq!(policy().target(trick), Target::External, "{trick}");
    }
    assert_eq!(policy().target("mailto:a@b.example"), Target::Other);
}

#[test]
fn hostile_nesting_is_refused_or_rendered() {
    // What gets past the guard grows with the text alone, so a short one tells as much as a long one.
    const MANY: usize = 10_000;
    let nested_list: String = (0..700)
        .map(|depth| format!("{}- a\n", "  ".repeat(depth)))
        .collect();
    let attributes: String = (0..6_000).map(|n| format!(" a{n}")).collect();
    let formatting: String = (0..200).map(|n| format!("<b a={n}>")).collect();
    let texts = [
        (">".repeat(MANY), Some(Refused::TooDeep)),
        ("> ".repeat(MANY), Some(Refused::TooDeep)),
        ("- ".repeat(MANY), None),
        ("1. ".repeat(MANY), None),
        (format!("{}x", "- ".repeat(MANY)), Some(Refused::TooDeep)),
        (nested_list, Some(Refused::TooDeep)),
        ("[".repeat(MANY), None),
        ("![".repeat(MANY / 4), None),
        ("[a](".repeat(MANY / 4), None),
        ("[x](<".repeat(MANY / 4), None),
        ("*".repeat(MANY), None),
        ("*a ".repeat(MANY / 4), None),
        ("*a_b".repeat(MANY / 4), None),
        (
            format!("{}a{}", "*".repeat(MANY), "*".repeat(MANY)),
            Some(Refused::TooDeep),
        ),
        ("`".repeat(MANY), None),
        ((1..1000).map(|n| "`".repeat(n) + " ").collect(), None),
        ("<!--".repeat(MANY), None),
        ("<a ".repeat(MANY / 4), None),
        ("<?".repeat(MANY), None),
        ("&".repeat(MANY), None),
        ("~".repeat(MANY), None),
        (
            format!("|{}\n|{}", "a|".repeat(MANY / 4), "-|".repeat(MANY / 4)),
            None,
        ),
        ("[a]: b\n".repeat(MANY / 2), None),
        ("<div>".repeat(MANY), Some(Refused::TooDeep)),
        (format!("x {}", "<b>".repeat(MANY)), Some(Refused::TooDeep)),
        (format!("<table>{}", "<td>".repeat(MANY)), None),
        ("<div><table><td></div>".repeat(MANY / 5), Some(Refused::TooDeep)),
        ("<div><!--</div>-->".repeat(MANY / 5), Some(Refused::TooDeep)),
        ("<b><div></b>".repeat(MANY / 2), Some(Refused::TooDeep)),
        (
            format!("{formatting}{}", "<p>".repeat(MANY)),
            Some(Refused::TooManyElements),
        ),
        (format!("<div{attributes}>"), Some(Refused::TagTooLong)),
        ("</p>".repeat(MANY), None),
        ("<svg><style><div>".repeat(MANY / 3), Some(Refused::TooDeep)),
        ("<script".repeat(MANY), None),
        ("a".repeat((1 << 20) + 1), Some(Refused::TooLong)),
    ];
    for (text, refused) in texts {
        let answer = to_html(&text, &policy());
        let shown: String = text.chars().take(30).collect();
        if let Some(refused) = refused {
            assert_eq!(answer.as_ref().map(String::len), Err(&refused), "{shown:?}");
        }
    }
}

#[test]
fn anchors_are_names() {
    assert_eq!(
        anchor("  What is C++ – really?").as_deref(),
        Some("what-is-c-really")
    );
    assert_eq!(anchor("Über Größe").as_deref(), Some("über-größe"));
    assert_eq!(anchor("?!"), None);
}

proptest! {
    #[test]
    fn whatever_is_put_together_is_safe(parts in prop::collection::vec(prop::sample::select(TOKENS), 0..40)) {
        let text = parts.concat();
        for html in [to_html(&text, &policy()), sanitise(&text, &policy())] {
            let html = match html {
                Ok(html) => html,
                Err(refused) => {
                    prop_assert_eq!(refused, Refused::Unstable);
                    continue;
                }
            };
            prop_assert_eq!(fault(&html), None);
            let again = sanitise(&html, &policy());
            prop_assert_eq!(again, Ok(html));
        }
    }

    #[test]
    fn anchors_are_stable(text in ".{0,40}") {
        if let Some(name) = anchor(&text) {
            prop_assert!(!name.contains(char::is_whitespace));
            prop_assert_eq!(anchor(&name), Some(name));
        }
    }
}
