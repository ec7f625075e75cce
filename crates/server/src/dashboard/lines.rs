//! Two texts side by side, line by line.

use askama::Template;

use super::show;

/// Lines without a difference that are kept around one.
const CONTEXT: usize = 2;
/// Cells of the table of common lines, at most; larger texts are shown as replaced as a whole.
const MAX_CELLS: usize = 2_000_000;
/// Rows, at most.
const MAX_ROWS: usize = 300;
/// Characters of a line that are shown.
const MAX_LINE: usize = 600;

/// A row of two texts side by side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LinePair {
    /// Line of the old text; `None` if it has none here.
    pub old: Option<String>,
    /// Line of the new text.
    pub new: Option<String>,
    /// Whether they are the same.
    pub is_same: bool,
}

/// Two texts side by side.
#[derive(Clone, Debug, Default)]
pub(crate) struct LineDifference {
    /// Rows with differences and the lines around them. `None` stands for lines that are left out.
    pub rows: Vec<Option<LinePair>>,
    /// Whether rows at the end were left out.
    pub is_cut: bool,
}

fn shown(line: &str) -> String {
    show::cut(line, MAX_LINE)
}

fn same(line: &str) -> LinePair {
    LinePair {
        old: Some(shown(line)),
        new: Some(shown(line)),
        is_same: true,
    }
}

/// Puts removed and added lines beside each other, and empties both.
fn settle(rows: &mut Vec<LinePair>, removed: &mut Vec<&str>, added: &mut Vec<&str>) {
    for at in 0..removed.len().max(added.len()) {
        rows.push(LinePair {
            old: removed.get(at).map(|line| shown(line)),
            new: added.get(at).map(|line| shown(line)),
            is_same: false,
        });
    }
    removed.clear();
    added.clear();
}

/// Lengths of the longest common sequences of lines from each pair of lines to the ends.
fn common_lengths(old: &[&str], new: &[&str]) -> Option<Vec<u32>> {
    let width = new.len() + 1;
    let cells = width
        .checked_mul(old.len() + 1)
        .filter(|cells| *cells <= MAX_CELLS)?;
    let mut lengths = vec![0u32; cells];
    for a in (0..old.len()).rev() {
        for b in (0..new.len()).rev() {
            let longer = if old[a] == new[b] {
                lengths[(a + 1) * width + b + 1] + 1
            } else {
                lengths[(a + 1) * width + b].max(lengths[a * width + b + 1])
            };
            lengths[a * width + b] = longer;
        }
    }
    Some(lengths)
}

fn pair_up(old: &[&str], new: &[&str]) -> Vec<LinePair> {
    let mut rows = Vec::new();
    let (mut removed, mut added) = (Vec::new(), Vec::new());
    let Some(lengths) = common_lengths(old, new) else {
        settle(&mut rows, &mut old.to_vec(), &mut new.to_vec());
        return rows;
    };
    let width = new.len() + 1;
    let (mut a, mut b) = (0, 0);
    while a < old.len() || b < new.len() {
        if a < old.len() && b < new.len() && old[a] == new[b] {
            settle(&mut rows, &mut removed, &mut added);
            rows.push(same(old[a]));
            (a, b) = (a + 1, b + 1);
        } else if b == new.len()
            || a < old.len() && lengths[(a + 1) * width + b] >= lengths[a * width + b + 1]
        {
            removed.push(old[a]);
            a += 1;
        } else {
            added.push(new[b]);
            b += 1;
        }
    }
    settle(&mut rows, &mut removed, &mut added);
    rows
}

/// Compares two texts.
pub(crate) fn compare(old: &str, new: &str) -> LineDifference {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let head = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let (old_rest, new_rest) = (&old[head..], &new[head..]);
    let ends = old_rest.iter().rev().zip(new_rest.iter().rev());
    let tail = ends.take_while(|(a, b)| a == b).count();
    let mut all: Vec<LinePair> = old[..head].iter().map(|line| same(line)).collect();
    all.extend(pair_up(
        &old_rest[..old_rest.len() - tail],
        &new_rest[..new_rest.len() - tail],
    ));
    all.extend(old_rest[old_rest.len() - tail..].iter().map(|line| same(line)));
    let is_near = |at: usize| {
        let around = at.saturating_sub(CONTEXT)..all.len().min(at + CONTEXT + 1);
        all[around].iter().any(|row| !row.is_same)
    };
    let mut rows = Vec::new();
    for (at, row) in all.iter().enumerate() {
        if is_near(at) {
            rows.push(Some(row.clone()));
        } else if rows.last().is_none_or(Option::is_some) {
            rows.push(None);
        }
    }
    let is_cut = rows.len() > MAX_ROWS;
    rows.truncate(MAX_ROWS);
    LineDifference { rows, is_cut }
}

#[derive(Template)]
#[template(path = "line_table.html")]
struct LineTable<'a> {
    difference: &'a LineDifference,
    before: &'a str,
    after: &'a str,
}

/// Two texts side by side, as HTML.
pub(crate) fn line_table(difference: &LineDifference, before: &str, after: &str) -> String {
    let table = LineTable {
        difference,
        before,
        after,
    };
    table.render().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{LineDifference, compare};

    fn text(difference: &LineDifference) -> Vec<String> {
        let rows = difference.rows.iter().map(|row| match row {
            None => "\u{2026}".to_owned(),
            Some(row) => {
                let sign = if row.is_same { '=' } else { '!' };
                format!(
                    "{sign}{}|{}",
                    row.old.as_deref().unwrap_or("-"),
                    row.new.as_deref().unwrap_or("-")
                )
            }
        });
        rows.collect()
    }

    #[test]
    fn changed_lines_are_beside_each_other_and_the_rest_is_left_out() {
        let old = "a\nb\nc\nd\ne\nf\ng";
        let new = "a\nb\nc\nD\ne\nf\ng\nh";
        assert_eq!(
            text(&compare(old, new)),
            ["\u{2026}", "=b|b", "=c|c", "!d|D", "=e|e", "=f|f", "=g|g", "!-|h"]
        );
        assert!(text(&compare(old, old)) == ["\u{2026}"]);
        assert!(compare("", "").rows.is_empty());
    }

    #[test]
    fn moved_and_inserted_lines_keep_what_is_common() {
        assert_eq!(
            text(&compare("x\ny\nz", "y\nnew\nz\nx")),
            ["!x|-", "=y|y", "!-|new", "=z|z", "!-|x"]
        );
    }

    #[test]
    fn texts_of_very_many_lines_are_shown_as_replaced() {
        let old = "a\n".repeat(3_000);
        let new = "b\n".repeat(3_000);
        let difference = compare(&old, &new);
        assert!(difference.is_cut && difference.rows.len() == 300);
    }
}
