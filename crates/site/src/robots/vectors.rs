//! The cases of Google's robots.txt parser tests (github.com/google/robotstxt, robots_test.cc), as facts in own words;
//! where that parser and RFC 9309 differ, the RFC applies.

use proptest::prelude::*;

use super::*;

fn allowed(text: &str, agent: &str, path: &str) -> bool {
    Robots::parse(text).agent(agent).forbids(path).is_none()
}

#[track_caller]
fn expect(text: &str, cases: &[(&str, &str, bool)]) {
    for (agent, path, expected) in cases {
        assert_eq!(allowed(text, agent, path), *expected, "{agent} {path}\n{text}");
    }
}

#[test]
fn an_empty_file_and_other_agents_allow() {
    expect("", &[("FooBot", "/x/y", true)]);
    expect(
        "user-agent: FooBot\ndisallow: /\n",
        &[
            ("FooBot", "/x/y", false),
            ("BarBot", "/x/y", true),
            ("", "/x/y", true),
        ],
    );
}

#[test]
fn a_line_is_name_colon_value() {
    expect("user-agent: FooBot\ndisallow: /\n", &[("FooBot", "/x/y", false)]);
    expect("foo: FooBot\nbar: /\n", &[("FooBot", "/x/y", true)]);
    expect("user-agent FooBot\ndisallow /\n", &[("FooBot", "/x/y", false)]);
    expect(
        "user-agent FooBot\ndisallow / and more\n",
        &[("FooBot", "/x/y", true)],
    );
}

#[test]
fn groups_end_at_the_first_agent_after_a_rule() {
    let text = "allow: /foo/bar/\n\nuser-agent: FooBot\ndisallow: /\nallow: /x/\nuser-agent: BarBot\ndisallow: /\nallow: /y/\n\n\nallow: /w/\nuser-agent: BazBot\n\nuser-agent: FooBot\nallow: /z/\ndisallow: /\n";
    expect(
        text,
        &[
            ("FooBot", "/x/b", true),
            ("FooBot", "/z/d", true),
            ("FooBot", "/y/c", false),
            ("BarBot", "/y/c", true),
            ("BarBot", "/w/a", true),
            ("BarBot", "/z/d", false),
            ("BazBot", "/z/d", true),
            ("FooBot", "/foo/bar/", false),
            ("BarBot", "/foo/bar/", false),
            ("BazBot", "/foo/bar/", false),
        ],
    );
}

#[test]
fn other_records_do_not_end_a_list_of_agents() {
    for record in [
        "Sitemap: https://foo.bar/sitemap",
        "Invalid-Unknown-Line: unknown",
        "Crawl-delay: 5",
    ] {
        let text = format!("User-agent: BarBot\n{record}\nUser-agent: *\nDisallow: /\n");
        expect(&text, &[("BarBot", "/", false), ("FooBot", "/", false)]);
    }
    let text = "User-agent: FooBot\nInvalid: x\nDisallow: /\n";
    expect(text, &[("FooBot", "/", false), ("BarBot", "/", true)]);
}

#[test]
fn names_and_words_ignore_case_and_paths_do_not() {
    for text in [
        "USER-AGENT: FooBot\nALLOW: /x/\nDISALLOW: /\n",
        "user-agent: FooBot\nallow: /x/\ndisallow: /\n",
        "uSeR-aGeNt: fOoBoT\nAlLoW: /x/\ndIsAlLoW: /\n",
    ] {
        expect(
            text,
            &[
                ("FooBot", "/x/y", true),
                ("foobot", "/a/b", false),
                ("FOOBOT", "/x/y", true),
            ],
        );
    }
    expect(
        "user-agent: FooBot\ndisallow: /x/\n",
        &[("FooBot", "/x/y", false), ("FooBot", "/X/y", true)],
    );
}

#[test]
fn an_agent_line_is_read_up_to_the_end_of_its_token() {
    for value in ["Foo", "Foo Bar", "Foo/1.2", "Foo*", "foo, bar"] {
        let text = format!("User-agent: *\nDisallow: /\nUser-agent: {value}\nAllow: /x/\nDisallow: /\n");
        expect(&text, &[("Foo", "/x/y", true), ("Foobar", "/x/y", false)]);
    }
    expect(
        "User-agent: Foo_Bar-B\nDisallow: /\n",
        &[("foo_bar-b", "/x", false), ("foo", "/x", true)],
    );
}

#[test]
fn everybody_is_second_to_a_group_by_name() {
    let everybody = "user-agent: *\nallow: /\nuser-agent: FooBot\ndisallow: /\n";
    expect(everybody, &[("FooBot", "/x/y", false), ("BarBot", "/x/y", true)]);
    expect(
        "user-agent: *\ndisallow: /x\n",
        &[("QuxBot", "/x", false), ("QuxBot", "/z", true)],
    );
    // a named group without rules still replaces the one for `*`
    expect(
        "user-agent: FooBot\nuser-agent: BarBot\nallow: /b\nuser-agent: *\ndisallow: /\n",
        &[("FooBot", "/a", true)],
    );
    expect(
        "user-agent: FooBot\nuser-agent: *\ndisallow: /\n",
        &[("FooBot", "/a", false)],
    );
    expect("user-agent: * baz\ndisallow: /\n", &[("FooBot", "/", false)]);
    expect("user-agent: *baz\ndisallow: /\n", &[("FooBot", "/", true)]);
}

#[test]
fn the_longest_pattern_wins_and_allow_wins_a_tie() {
    for (rules, path, expected) in [
        ("disallow: /x/page.html\nallow: /x/", "/x/page.html", false),
        ("allow: /x/page.html\ndisallow: /x/", "/x/page.html", true),
        ("allow: /x/page.html\ndisallow: /x/", "/x/", false),
        ("disallow: \nallow: ", "/x/page.html", true),
        ("disallow: /\nallow: /", "/x/page.html", true),
        ("disallow: /x\nallow: /x/", "/x", false),
        ("disallow: /x\nallow: /x/", "/x/", true),
        (
            "disallow: /x/page.html\nallow: /x/page.html",
            "/x/page.html",
            true,
        ),
        ("allow: /page\ndisallow: /*.html", "/page.html", false),
        ("allow: /page\ndisallow: /*.html", "/page", true),
        ("allow: /x/page.\ndisallow: /*.html", "/x/page.html", true),
        ("allow: /x/page.\ndisallow: /*.html", "/x/y.html", false),
        ("disallow: /x/\nallow: /z/", "/y", true),
    ] {
        expect(
            &format!("user-agent: FooBot\n{rules}\n"),
            &[("FooBot", path, expected)],
        );
    }
    expect(
        "user-agent: *\ndisallow: /x/\nuser-agent: FooBot\ndisallow: /y/\n",
        &[("FooBot", "/x/page", true), ("FooBot", "/y/page", false)],
    );
}

#[test]
fn escapes_are_compared_in_one_form() {
    let rule = |pattern: &str| format!("User-agent: FooBot\nDisallow: /\nAllow: {pattern}\n");
    for (pattern, path, expected) in [
        (
            "/foo/bar?qux=taz&baz=http://foo.bar?tar&par",
            "/foo/bar?qux=taz&baz=http://foo.bar?tar&par",
            true,
        ),
        ("/foo/bar/\u{30c4}", "/foo/bar/%E3%83%84", true),
        ("/foo/bar/\u{30c4}", "/foo/bar/\u{30c4}", true),
        ("/foo/bar/%E3%83%84", "/foo/bar/%E3%83%84", true),
        ("/foo/bar/%e3%83%84", "/foo/bar/%E3%83%84", true),
        ("/foo/bar/%62%61%7A", "/foo/bar/%62%61%7A", true),
        // Google's parser says no here and calls it debatable; RFC 9309 section 2.2.2 says yes
        ("/foo/bar/%62%61%7A", "/foo/bar/baz", true),
        (
            "/foo/bar?baz=http%3A%2F%2Ffoo.bar",
            "/foo/bar?baz=http%3a%2f%2ffoo.bar",
            true,
        ),
        (
            "/foo/bar?baz=http%3A%2F%2Ffoo.bar",
            "/foo/bar?baz=http://foo.bar",
            false,
        ),
        ("/path/file-with-a-%2A.html", "/path/file-with-a-%2a.html", true),
        ("/path/file-with-a-%2A.html", "/path/file-with-a-x.html", false),
        ("/path/foo-%24", "/path/foo-%24", true),
        ("/path/foo-%24", "/path/foo-", false),
    ] {
        expect(&rule(pattern), &[("FooBot", path, expected)]);
    }
}

#[test]
fn stars_and_dollars() {
    let rule = |pattern: &str| format!("User-agent: FooBot\nDisallow: {pattern}\n");
    for (pattern, path, allowed) in [
        ("/foo/bar/quz", "/foo/bar/quz", false),
        ("/foo/bar/quz", "/foo/quz", true),
        ("/foo*quz", "/foo/bar/quz", false),
        ("/foo*quz", "/foo/bar", true),
        ("/*/*/quz", "/foo/bar/quz", false),
        ("*/quz", "/foo/bar/quz", false),
        ("****/quz", "/quz", false),
        ("/foo/bar$", "/foo/bar", false),
        ("/foo/bar$", "/foo/bar/", true),
        ("/foo/bar$", "/foo/barr", true),
        ("/*.php$", "/folder/index.php", false),
        ("/*.php$", "/index.php?x", true),
        ("/*.php$", "/a.php.php", false),
        ("/a*$", "/abc", false),
        ("/a$b", "/a$b", false),
        ("/a$b", "/a", true),
        ("$", "/", true),
        ("/$", "/", false),
        ("/a*a$", "/a", true),
        ("/fish", "/Fish.asp", true),
        ("/fish", "/catfish", true),
        ("/fish", "/fish.html", false),
        ("/fish/", "/fish", true),
        ("/fish*.php", "/fishheads/catfish.php?parameters", false),
        ("/", "/robots.txt", true),
    ] {
        expect(&rule(pattern), &[("FooBot", path, allowed)]);
    }
}

#[test]
fn an_allowed_index_file_allows_its_folder() {
    let text = "User-Agent: *\nAllow: /allowed-slash/index.html\nDisallow: /\n";
    expect(
        text,
        &[
            ("foobot", "/allowed-slash/", true),
            ("foobot", "/allowed-slash/index.htm", false),
            ("foobot", "/allowed-slash/index.html", true),
            ("foobot", "/anyother-url", false),
        ],
    );
}

#[test]
fn a_long_line_is_cut_and_not_dropped() {
    let long = "x".repeat(LINE_LIMIT);
    expect(
        &format!("user-agent: FooBot\ndisallow: /{long}/qux\n"),
        &[
            ("FooBot", "/fux", true),
            ("FooBot", &format!("/{long}/fux"), false),
        ],
    );
    expect(
        &format!(
            "user-agent: FooBot\ndisallow: /{}\u{e9}\u{e9}\n",
            "x".repeat(LINE_LIMIT - 14)
        ),
        &[("FooBot", "/fux", true)],
    );
}

#[test]
fn every_line_ending_and_byte_order_marks_are_read() {
    for end in ["\n", "\r\n", "\r"] {
        let text = [
            "User-Agent: foo",
            "Allow: /some/path",
            "User-Agent: bar",
            "",
            "",
            "Disallow: /",
            "",
        ]
        .join(end);
        let robots = Robots::parse(&text);
        let rule = robots.agent("bar").forbids("/x").cloned().unwrap();
        assert_eq!(
            (rule.line, rule.to_string().as_str()),
            (6, "Disallow: /"),
            "{end:?}"
        );
    }
    expect("\u{feff}User-Agent: foo\nDisallow: /\n", &[("foo", "/x", false)]);
    expect("User-Agent: foo\nDisallow: /a#b\n", &[("foo", "/ab", false)]);
}

#[test]
fn documented_lines_are_found() {
    let robots = Robots::parse(
        "Sitemap: https://a.example/s.xml\nUser-agent: *\nCrawl-delay: 2.5\nDisallow: /private # hush\nSite-Map:https://a.example/t.xml\nCrawl-Delay: soon\n",
    );
    assert_eq!(
        robots.sitemaps,
        [
            "https://a.example/s.xml".into(),
            Box::<str>::from("https://a.example/t.xml")
        ]
    );
    let agent = robots.agent(TOKEN);
    assert_eq!((agent.delay, agent.named), (Some(2.5), false));
    assert_eq!(
        agent.forbids("/private/x").map(ToString::to_string),
        Some("Disallow: /private".into())
    );
}

#[test]
fn common_typing_mistakes_are_forgiven() {
    for word in [
        "disallow",
        "dissallow",
        "dissalow",
        "disalow",
        "diasllow",
        "disallaw",
    ] {
        expect(
            &format!("useragent: FooBot\n{word}: /a\n"),
            &[("FooBot", "/a", false), ("FooBot", "/b", true)],
        );
    }
}

#[test]
fn the_status_decides_before_the_text() {
    let known = |status: Option<u16>, text: &str| {
        Policy::from_file(&WellKnownFile {
            status,
            text: text.into(),
            ..WellKnownFile::default()
        })
    };
    let policy = |status| known(status, "User-agent: *\nDisallow: /");
    assert!(matches!(policy(Some(200)), Policy::Follow(agent) if agent.forbids("/").is_some()));
    for status in [301, 400, 401, 403, 404, 410] {
        assert!(
            matches!(policy(Some(status)), Policy::Follow(agent) if agent.forbids("/").is_none()),
            "{status}"
        );
    }
    for status in [None, Some(429), Some(500), Some(503)] {
        assert!(matches!(known(status, ""), Policy::Unreachable), "{status:?}");
        // a text beside a failure is an earlier version
        assert!(
            matches!(policy(status), Policy::Follow(agent) if agent.forbids("/").is_some()),
            "{status:?}"
        );
    }
}

#[test]
fn a_file_that_asks_for_too_much_work_forbids() {
    let rules = |name: &str| -> String { (0..17_000).map(|n| format!("{name}: /*aaaaaaab*{n}\n")).collect() };
    let (honest, hostile) = (format!("/{}", "a".repeat(100)), format!("/{}", "a".repeat(8_000)));
    let cases = [
        (honest.as_str(), "Disallow", true),
        (&hostile, "Disallow", false),
        (&hostile, "Allow", true),
    ];
    for (path, name, expected) in cases {
        let text = format!("user-agent: *\n{}", rules(name));
        assert_eq!(
            allowed(&text, "FooBot", path),
            expected,
            "{name} of {} bytes",
            path.len()
        );
    }
}

/// Matches a pattern by trying every position, as an oracle for the test.
fn matches_slowly(pattern: &[u8], path: &[u8]) -> bool {
    match pattern {
        [] => true,
        [b'$'] => path.is_empty(),
        [b'*', rest @ ..] => (0..=path.len()).any(|i| matches_slowly(rest, &path[i..])),
        [c, rest @ ..] => path.first() == Some(c) && matches_slowly(rest, &path[1..]),
    }
}

proptest! {
    #[test]
    fn matching_agrees_with_trying_everything(pattern in "[/ab*]{0,8}\\$?", path in "[/ab]{0,10}") {
        prop_assert_eq!(matches(&pattern, &path), matches_slowly(pattern.as_bytes(), path.as_bytes()));
    }

    #[test]
    fn agrees_with_another_library(
        rules in proptest::collection::vec(("(Allow|Disallow)", "/[ab/]{0,4}(\\*[ab]{0,2})?\\$?"), 0..6),
        path in "/[ab/]{0,8}",
    ) {
        // patterns of equal length are left out, for which the library goes by order
        let mut lengths: Vec<_> = rules.iter().map(|(_, p)| p.len()).collect();
        lengths.sort_unstable();
        lengths.dedup();
        prop_assume!(lengths.len() == rules.len());
        let text = rules.iter().fold("User-agent: *\n".to_owned(), |text, (word, pattern)| format!("{text}{word}: {pattern}\n"));
        let other = texting_robots::Robot::new("FooBot", text.as_bytes()).unwrap();
        prop_assert_eq!(allowed(&text, "FooBot", &path), other.allowed(&path), "{}", text);
    }

    #[test]
    fn any_text_parses(text in "\\PC{0,200}|([a-zA-Z:#* /$%\r\n-]{0,200})", path in "/\\PC{0,30}") {
        let robots = Robots::parse(&text);
        robots.agent("*").decides(&path);
        robots.agent(TOKEN).decides(&path);
    }
}
