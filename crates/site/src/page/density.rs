//! Finds the content blocks of a text without landmarks, by the number of words and the share of linked text of each
//! block and its neighbours: Kohlschütter, Fankhauser and Nejdl, "Boilerplate Detection using Shallow Text Features"
//! (WSDM 2010), algorithm 2. Small gaps that it leaves inside the content, above all short table cells, are filled.

use searchwright_text as text;

/// Minimum number of words of the content: in a list of short texts, only a cookie notice may look like content.
const MIN_WORDS: u32 = 100;
/// Maximum number of words in a gap between content blocks that is filled. Compared with trafilatura, readability and
/// jusText on 165 pages, 20 was the best of 10 to 80, for news as for manuals.
const BETWEEN: u32 = 20;
/// Share of linked text above which a block is navigation.
const WAYS: f64 = 1.0 / 3.0;

/// A block of text.
#[derive(Clone, Copy, Debug, Default)]
struct Block {
    words: u32,
    /// Share of the text that is linked, 0 to 1.
    linked: f64,
}

/// Returns for each block whether it is content; `None` if that is inconclusive. Blocks and links are ascending byte
/// ranges of `source`.
pub(super) fn contents(
    source: &str,
    blocks: &[(usize, usize)],
    links: &[(usize, usize)],
) -> Option<Vec<bool>> {
    let mut links = links.iter().copied().peekable();
    let mut measure = |(start, end): &(usize, usize)| {
        let mut linked = 0;
        while let Some((from, to)) = links.peek().copied() {
            linked += to.min(*end).saturating_sub(from.max(*start));
            if to > *end {
                break;
            }
            links.next();
        }
        let words = text::words(source.get(*start..*end).unwrap_or_default());
        Block {
            words,
            linked: linked as f64 / (end - start).max(1) as f64,
        }
    };
    let measured: Vec<Block> = blocks.iter().map(&mut measure).collect();
    let beside = |at: Option<usize>| at.and_then(|at| measured.get(at)).copied().unwrap_or_default();
    let judged = measured
        .iter()
        .enumerate()
        .map(|(at, block)| is_content(beside(at.checked_sub(1)), *block, beside(Some(at + 1))));
    let mut judged: Vec<bool> = judged.collect();
    fill(&measured, &mut judged);
    let unlinked = |block: &Block| f64::from(block.words) * (1.0 - block.linked).max(0.0);
    let all: f64 = measured.iter().map(unlinked).sum();
    let kept = || {
        measured
            .iter()
            .zip(&judged)
            .filter(|(_, is_content)| **is_content)
            .map(|(block, _)| block)
    };
    let words: u32 = kept().map(|block| block.words).sum();
    // more text must be kept than is left out
    (words >= MIN_WORDS && kept().map(unlinked).sum::<f64>() * 2.0 >= all).then_some(judged)
}

/// Judges a block by algorithm 2 with its numbers of words and shares of links.
fn is_content(before: Block, block: Block, next: Block) -> bool {
    if block.linked > WAYS {
        return false;
    }
    if before.linked > 5.0 / 9.0 {
        return block.words > 40 || next.words > 17;
    }
    block.words > 16 || next.words > 15 || before.words > 4
}

/// Fills small gaps between content blocks, except navigation in them.
fn fill(blocks: &[Block], judged: &mut [bool]) {
    let (mut before, mut words) = (None, 0);
    for at in 0..judged.len().min(blocks.len()) {
        if !judged[at] {
            words += blocks[at].words;
            continue;
        }
        if let Some(before) = before.filter(|_| words <= BETWEEN) {
            for between in before + 1..at {
                judged[between] = blocks[between].linked <= WAYS;
            }
        }
        (before, words) = (Some(at), 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the blocks kept of these lines; text in brackets is linked.
    fn kept(lines: &[String]) -> Option<Vec<usize>> {
        let (mut source, mut blocks, mut links) = (String::new(), Vec::new(), Vec::new());
        for line in lines {
            let start = source.len();
            for piece in line.split_inclusive(['[', ']']) {
                let from = source.len();
                source.push_str(piece.trim_end_matches(['[', ']']));
                if piece.ends_with(']') {
                    links.push((from, source.len()));
                }
            }
            blocks.push((start, source.len()));
            source.push(' ');
        }
        let judged = contents(&source, &blocks, &links)?;
        let kept = judged.iter().enumerate().filter(|(_, is_content)| **is_content);
        Some(kept.map(|(at, _)| at).collect())
    }

    fn words(count: usize) -> String {
        (0..count).map(|n| format!("word{n} ")).collect()
    }

    #[test]
    fn menus_and_notes_around_an_article_are_no_part_of_it() {
        let article = [
            "[Home]".to_owned(),
            "[Products and what they cost]".to_owned(),
            "A heading".to_owned(),
            words(80),
            words(20) + "[a link in it] and more",
            words(30),
            "[Imprint]".to_owned(),
            "[Privacy] [Terms]".to_owned(),
            "2026 Example".to_owned(),
        ];
        assert_eq!(kept(&article), Some(vec![2, 3, 4, 5]));
    }

    #[test]
    fn little_between_two_contents_belongs_to_them() {
        let described = [
            words(60),
            "Status".to_owned(),
            "stable".to_owned(),
            "[Context]".to_owned(),
            "everywhere".to_owned(),
            words(60),
            "[Imprint]".to_owned(),
            "2026 Example".to_owned(),
        ];
        assert_eq!(kept(&described), Some(vec![0, 1, 2, 4, 5]));

        let mut far = described.to_vec();
        far.splice(2..2, (0..10).map(|n| format!("card {n}")));
        assert_eq!(kept(&far), Some(vec![0, 1, 14, 15]), "more than twenty words");
    }

    #[test]
    fn nothing_is_told_of_lists_and_short_texts() {
        assert_eq!(kept(&[]), None);
        assert_eq!(kept(&["[Home]".to_owned(), words(60)]), None);
        let cards = (0..60).flat_map(|n| {
            [
                format!("[A chair of oak {n}]"),
                format!("it costs {n} and is sent at once"),
            ]
        });
        let with_notice: Vec<String> = cards.chain([words(110)]).collect();
        assert_eq!(
            kept(&with_notice),
            None,
            "a notice is less than what is said of the cards"
        );
    }

    #[test]
    fn a_link_over_several_blocks_counts_in_each() {
        let source = format!("{} {} {}", words(60), words(60), words(60));
        let third = source.len() / 3;
        let blocks = [(0, third), (third, 2 * third), (2 * third, source.len())];
        assert_eq!(contents(&source, &blocks, &[(0, 2 * third)]), None);
        assert_eq!(
            contents(&source, &blocks, &[(0, third)]),
            Some(vec![false, true, true])
        );
    }
}
