//! A path on the first line, a robots.txt below it.

use searchwright_site::robots::Robots;

/// As RFC 9309 describes it, without any cleverness.
fn matches(pattern: &[u8], path: &[u8]) -> bool {
    let (pattern, whole) = match pattern {
        [rest @ .., b'$'] => (rest, true),
        _ => (pattern, false),
    };
    let mut reached = vec![false; path.len() + 1];
    reached[0] = true;
    for byte in pattern {
        let mut next = vec![false; path.len() + 1];
        for at in 0..=path.len() {
            next[at] = match byte {
                b'*' => reached[at] || at > 0 && next[at - 1],
                byte => at > 0 && reached[at - 1] && path[at - 1] == *byte,
            };
        }
        reached = next;
    }
    if whole {
        reached[path.len()]
    } else {
        reached.contains(&true)
    }
}

/// Reads one input.
pub fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (path, file) = text.split_once('\n').unwrap_or(("/", &text));
    let robots = Robots::parse(file);
    for name in ["Googlebot", "SearchwrightBot", "GPTBot", "*"] {
        let agent = robots.agent(name);
        assert!(agent.decides("/robots.txt").is_none());
        let decided = agent.decides(path);
        assert_eq!(agent.forbids(path), decided.filter(|rule| !rule.allow));
        let Some(rule) = decided else { continue };
        assert!(rule.line as usize <= file.split(['\r', '\n']).count());
        let plain = |text: &str| text.is_ascii() && !text.contains('%');
        if plain(&rule.pattern) && plain(path) && path.len() < 500 && rule.pattern.len() < 500 {
            let folder = rule.allow && rule.pattern.contains("/index.htm");
            assert!(
                matches(rule.pattern.as_bytes(), path.as_bytes()) || folder,
                "{rule} and {path}"
            );
        }
    }
}
