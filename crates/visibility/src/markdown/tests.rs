use super::{BlockKind, strip};

fn plain(text: &str) -> String {
    strip(text).plain.trim_end().to_owned()
}

#[test]
fn signs_are_left_out() {
    for (text, expected) in [
        ("**Acme** and *Bolt* and `code`", "Acme and Bolt and code"),
        ("## Title", "Title"),
        ("> quoted", "quoted"),
        ("2 * 3 * 4 and snake_case_name", "2 * 3 * 4 and snake_case_name"),
        (r"a\*b", "a*b"),
        ("AT&amp;T<br>and", "AT&T and"),
        ("claim [1][2] and 【3†source】more", "claim  and more"),
        ("see [the guide](https://a.example/x) now", "see the guide now"),
        ("see ![logo](https://a.example/x.png) now", "see  now"),
        (
            "good ([acme.example](https://acme.example/?utm_source=chatgpt.com)).",
            "good .",
        ),
        ("good [acme.example](https://acme.example/).", "good ."),
        ("at https://a.example/x_(y), or", "at , or"),
        (
            "| Acme | good |\n|---|---|\n| Bolt | bad |",
            "Acme   good  \nBolt   bad",
        ),
        ("a [bracket] b", "a [bracket] b"),
    ] {
        assert_eq!(plain(text), expected, "{text}");
    }
}

#[test]
fn links_are_kept() {
    let found = strip(
        "[A](https://a.example/(x) \"t\") https://b.example/c. <https://c.example> (https://d.example)",
    );
    let urls: Vec<&str> = found.links.iter().map(|link| &*link.url).collect();
    assert_eq!(
        urls,
        [
            "https://a.example/(x)",
            "https://b.example/c",
            "https://c.example",
            "https://d.example"
        ]
    );
    assert_eq!(found.links[0].title.as_deref(), Some("A"));
}

#[test]
fn items_have_ranks_and_groups() {
    let text = "Intro\n1. **Acme** – good\n   - cheap\n   - fast\n2. Bolt: bad\n\nEnd";
    let blocks = strip(text).blocks;
    let ranks: Vec<Option<u32>> = blocks.iter().map(|block| block.rank).collect();
    assert_eq!(ranks, [None, Some(1), Some(1), Some(1), Some(2), None]);
    let groups: Vec<usize> = blocks.iter().map(|block| block.group).collect();
    assert_eq!(groups, [0, 1, 1, 1, 4, 5]);
    assert_eq!(blocks[1].kind, BlockKind::Item);
    let found = strip(text);
    assert_eq!(
        &found.plain[found.blocks[1].range.start..found.blocks[1].head_end],
        "Acme"
    );
    assert_eq!(
        &found.plain[found.blocks[4].range.start..found.blocks[4].head_end],
        "Bolt"
    );
}

#[test]
fn numbered_headings_are_items() {
    let blocks = strip("### 1. Acme\nGood.\n- cheap\n\n### 2. Bolt\nBad.\n## End\nx").blocks;
    let ranks: Vec<Option<u32>> = blocks.iter().map(|block| block.rank).collect();
    assert_eq!(ranks, [Some(1), Some(1), Some(1), Some(2), Some(2), None, None]);
}

#[test]
fn sections_of_sources_are_no_text() {
    let found = strip("Acme is good.\n\n**Sources:**\n- [Bolt review](https://b.example/r)\n\n## More\nText");
    assert_eq!(found.plain, "Acme is good.\nMore\nText\n");
    assert_eq!(found.links.len(), 1);
}
