use proptest::prelude::{any, prop_assert_eq, proptest};

use super::*;
use crate::agents::agents;

const GPT: &str = "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)";

fn report(log: &str, ranges: AgentRanges) -> LogReport {
    let mut counter = LogCounter::new(ranges);
    counter.add(log.as_bytes());
    counter.finish()
}

#[test]
fn formats() {
    for line in [
        format!(r#"10.0.0.1 - - [28/Nov/2026:12:00:00 +0000] "GET /a?b=1 HTTP/1.1" 200 5 "-" "{GPT}""#),
        format!(
            r#"www.acme.example:443 10.0.0.1 - - [28/Nov/2026:12:00:00 +0000] "GET /a?b=1 HTTP/1.1" 200 5 "-" "{GPT}""#
        ),
        format!(
            r#"{{"time":"2026-11-28T12:00:00Z","remote_addr":"10.0.0.1","request":"GET /a HTTP/1.1","status":200,"http_user_agent":"{GPT}"}}"#
        ),
        format!(
            r#"{{"ts":1795867200.5,"request":{{"remote_ip":"10.0.0.1","uri":"/a","headers":{{"User-Agent":["{GPT}"]}}}},"status":200}}"#
        ),
        format!(
            r#"{{"@timestamp": "2026-11-28T12:00:00Z", "url": "https://acme.example/a", "user_agent": "{GPT}", "ip": "10.0.0.1"}}"#
        ),
    ] {
        let record = parse_line(line.as_bytes()).unwrap_or_else(|| panic!("{line}"));
        assert_eq!(
            (record.day, record.address),
            (20_261_128, b"10.0.0.1".as_slice()),
            "{line}"
        );
        let report = report(&line, AgentRanges::default());
        let (key, count) = report.visits.iter().next().unwrap();
        assert_eq!(
            (agents()[key.agent as usize].name, &*key.page, count.visits),
            ("GPTBot", "/a", 1),
            "{line}"
        );
    }
    let common = br#"10.0.0.1 - - [28/Nov/2026:12:00:00 +0000] "GET /a HTTP/1.1" 404 5"#;
    assert_eq!(parse_line(common).unwrap().status, 404);
}

#[test]
fn referrals_from_assistants() {
    let line = |path: &str, referrer: &str| {
        format!(
            "1.1.1.1 - - [01/Dec/2026:00:00:00 +0000] \"GET {path} HTTP/2\" 200 1 \"{referrer}\" \"Mozilla/5.0\"\n"
        )
    };
    let log = line("/a", "https://chatgpt.com/")
        + &line("/a", "https://www.perplexity.ai/search?q=x")
        + &line("/b?utm_source=chatgpt.com", "-")
        + &line("/c", "https://notchatgpt.com/")
        + &line("/c?utm_source=news", "https://example.com/chatgpt.com");
    let report = report(&log, AgentRanges::default());
    let mut found: Vec<String> = report
        .referrals
        .iter()
        .map(|(key, count)| format!("{} {} {count}", key.assistant, key.page))
        .collect();
    found.sort();
    assert_eq!(found, ["chatgpt /a 1", "chatgpt /b 1", "perplexity /a 1"]);
}

#[test]
fn forged_agents_are_seen() {
    let mut ranges = AgentRanges::default();
    assert!(ranges.insert(
        "gptbot",
        &["10.0.0.0/24".parse().unwrap(), "2001:db8::/32".parse().unwrap()]
    ));
    assert!(!ranges.insert("nobody", &[]));
    let at = agents().iter().position(|agent| agent.name == "GPTBot").unwrap();
    assert_eq!(ranges.verify(at, b"10.0.0.7"), Verification::Verified);
    assert_eq!(ranges.verify(at, b"10.0.1.7"), Verification::Forged);
    assert_eq!(ranges.verify(at, b"2001:db8::1"), Verification::Verified);
    assert_eq!(ranges.verify(at, b"host.example"), Verification::Unknown);
    assert_eq!(ranges.verify(at + 1, b"10.0.0.7"), Verification::Unknown);
}

#[test]
fn published_ranges() {
    let json = r#"{"creationTime":"2026-11-28","prefixes":[{"ipv4Prefix":"10.0.0.0/24"},{"ipv6Prefix":"2001:db8::/32"}]}"#;
    let expected: Vec<ipnet::IpNet> = vec!["10.0.0.0/24".parse().unwrap(), "2001:db8::/32".parse().unwrap()];
    assert_eq!(parse_networks(json).unwrap(), expected);
    let lines = "# ranges\n10.0.0.0/24\n\n2001:db8::/32 # v6\n";
    assert_eq!(parse_networks(lines).unwrap(), expected);
    assert_eq!(
        parse_networks("10.0.0.7").unwrap(),
        ["10.0.0.7/32".parse().unwrap()]
    );
    for bad in ["", "{}", "{\"prefixes\":[]}", "<html>", "10.0.0.0/99"] {
        assert!(parse_networks(bad).is_err(), "{bad}");
    }
}

#[test]
fn hostile_lines() {
    let long = "x".repeat(1 << 20);
    let escape =
        format!("1.1.1.1 - - [01/Dec/2026:00:00:00 +0000] \"GET /\u{1b}[31m HTTP/2\" 200 1 \"-\" \"{GPT}\"");
    let log = format!("{long}\n\n{escape}\r\n{{\"a\n[[[\n\"\"\"\n{{\"time\":\"");
    let report = report(&log, AgentRanges::default());
    assert_eq!((report.too_long, report.unparsed, report.lines), (1, 4, 6));
    assert_eq!(&*report.visits.keys().next().unwrap().page, "/\u{fffd}[31m");
}

proptest! {
    #[test]
    fn no_line_panics(line in proptest::collection::vec(any::<u8>(), 0..200)) {
        parse_line(&line);
    }

    #[test]
    fn parts_of_a_log_are_the_whole_log(cut in 0_usize..300) {
        let line = format!("1.1.1.1 - - [01/Dec/2026:00:00:00 +0000] \"GET /a HTTP/2\" 200 1 \"-\" \"{GPT}\"\n");
        let log = line.repeat(3);
        let mut counter = LogCounter::default();
        let (first, second) = log.as_bytes().split_at(cut.min(log.len()));
        counter.add(first);
        counter.add(second);
        let report = counter.finish();
        prop_assert_eq!((report.lines, report.visits.values().map(|v| v.visits).sum::<u64>()), (3, 3));
    }
}
