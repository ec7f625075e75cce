//! Records as a table. Ids are copied from it, so they are never broken: where the terminal is too narrow for them, each
//! record is a block of lines.

use std::io::{self, Write};

use comfy_table::{ColumnConstraint, ContentArrangement, Table, Width};

use super::{cells, terminal_width};

/// Width that a column keeps at least if it has as much to show: that of a time.
const MIN_TEXT_WIDTH: u16 = 24;
/// Space beside the content of a column, on both sides together.
const PADDING: u16 = 2;
/// Lengths of the groups of digits of a UUID (RFC 9562).
const UUID_GROUPS: [usize; 5] = [8, 4, 4, 4, 12];

/// Cells of records below their headings.
pub(super) struct Grid<'a> {
    /// Headings of the columns.
    pub(super) heads: Vec<&'a str>,
    /// Names of the members that the columns show.
    pub(super) members: Vec<&'a str>,
    /// Cells of each record.
    pub(super) rows: Vec<Vec<String>>,
}

impl Grid<'_> {
    /// Returns whether a column shows ids.
    fn has_ids(&self, at: usize) -> bool {
        let path = self.members.get(at).copied().unwrap_or_default();
        let name = path.rsplit(['/', '.']).next().unwrap_or_default();
        name == "id"
            || name.ends_with("Id")
            || name.ends_with("_id")
            || self
                .rows
                .iter()
                .filter_map(|row| row.get(at))
                .any(|cell| cell.split('-').map(str::len).eq(UUID_GROUPS))
    }
}

/// Writes the pages of a list, one below the other.
#[derive(Debug, Default)]
pub(super) struct GridWriter {
    /// Widths of the content of the columns so far, so that the pages stand below each other.
    contents: Vec<u16>,
    /// Widths so far that the columns have at least.
    minima: Vec<u16>,
    has_begun: bool,
    has_block: bool,
}

impl GridWriter {
    /// Writes the records of a page; the first has the headings.
    pub(super) fn write(&mut self, out: &mut impl Write, grid: &Grid<'_>) -> io::Result<()> {
        self.write_within(out, grid, terminal_width())
    }

    /// As [`Self::write`], on a terminal of this width, or on none.
    fn write_within(
        &mut self,
        out: &mut impl Write,
        grid: &Grid<'_>,
        terminal: Option<u16>,
    ) -> io::Result<()> {
        let is_first = !std::mem::replace(&mut self.has_begun, true);
        if grid.rows.is_empty() && !is_first {
            return Ok(());
        }
        let heads = if is_first { grid.heads.as_slice() } else { &[] };
        let mut table = cells(heads, grid.rows.iter().cloned());
        self.measure(grid, &table);
        let Some(terminal) = terminal else {
            if !is_first {
                set_widths(&mut table, &self.contents);
            }
            return writeln!(out, "{table}");
        };
        // Once a record did not fit, those of later pages have no headings to stand below.
        if self.has_block || (needed(&self.minima) > terminal && !grid.rows.is_empty()) {
            return self.write_blocks(out, grid);
        }
        table
            .set_width(terminal)
            .set_content_arrangement(ContentArrangement::Dynamic);
        let is_spacious = needed(&self.contents) <= terminal;
        set_widths(
            &mut table,
            if is_spacious { &self.contents } else { &self.minima },
        );
        writeln!(out, "{table}")
    }

    fn measure(&mut self, grid: &Grid<'_>, table: &Table) {
        let found = table.column_max_content_widths();
        self.contents.resize(found.len(), 0);
        self.minima.resize(found.len(), 0);
        for (at, found) in found.into_iter().enumerate() {
            let least = if grid.has_ids(at) {
                found
            } else {
                found.min(MIN_TEXT_WIDTH)
            };
            if let (Some(content), Some(minimum)) = (self.contents.get_mut(at), self.minima.get_mut(at)) {
                *content = found.max(*content);
                *minimum = least.max(*minimum);
            }
        }
    }

    fn write_blocks(&mut self, out: &mut impl Write, grid: &Grid<'_>) -> io::Result<()> {
        let width = grid.heads.iter().map(|head| head.len()).max().unwrap_or(0);
        for row in &grid.rows {
            if std::mem::replace(&mut self.has_block, true) {
                writeln!(out)?;
            }
            for (head, cell) in grid.heads.iter().zip(row) {
                writeln!(out, "{head:width$}  {cell}")?;
            }
        }
        Ok(())
    }
}

/// Returns the width of a table whose columns have this much content.
fn needed(widths: &[u16]) -> u16 {
    let each = widths.iter().map(|width| width.saturating_add(PADDING));
    each.fold(0, u16::saturating_add)
}

fn set_widths(table: &mut Table, widths: &[u16]) {
    for (at, width) in widths.iter().enumerate() {
        if let Some(column) = table.column_mut(at) {
            let width = Width::Fixed(width.saturating_add(PADDING));
            column.set_constraint(ColumnConstraint::LowerBoundary(width));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "01936f2e-7b7a-7c3e-9d2a-3f0f5a1c2b4c";

    fn grid(check: &str) -> Grid<'static> {
        let row = [
            "error",
            check,
            "A title of some words that is longer than a line",
            ID,
        ];
        Grid {
            heads: vec!["severity", "check", "title", "id"],
            members: vec!["severity", "checkId", "title", "id"],
            rows: vec![row.map(str::to_owned).to_vec(); 2],
        }
    }

    fn shown(writer: &mut GridWriter, grid: &Grid<'_>, terminal: Option<u16>) -> String {
        let mut out = Vec::new();
        writer.write_within(&mut out, grid, terminal).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn ids_are_whole_at_any_width() {
        for width in 1..200 {
            let text = shown(&mut GridWriter::default(), &grid("title_missing"), Some(width));
            assert_eq!(text.matches(ID).count(), 2, "{width}: {text}");
            assert_eq!(text.matches("title_missing").count(), 2, "{width}: {text}");
            let is_table = text.contains("SEVERITY");
            let fits = |line: &str| line.chars().count() <= usize::from(width);
            assert!(!is_table || text.lines().all(fits), "{width}: {text}");
            // What the columns need: 8 for the severity, 13, 24 and 36, and two spaces for each.
            assert_eq!(is_table, width >= 89, "{width}: {text}");
            assert!(is_table || text.starts_with("severity  error\ncheck     title_missing\n"));
        }
    }

    #[test]
    fn pages_go_on_in_blocks_after_one_that_does_not_fit() {
        let mut writer = GridWriter::default();
        let first = shown(&mut writer, &grid("x"), Some(90));
        assert!(first.contains("SEVERITY"), "{first}");
        let long = "a_check_with_a_name_that_takes_much_of_the_line";
        let second = shown(&mut writer, &grid(long), Some(90));
        assert!(second.contains(&format!("check     {long}\n")), "{second}");
        let third = shown(&mut writer, &grid("x"), Some(90));
        assert!(third.starts_with("\nseverity  error\n"), "{third}");
    }

    #[test]
    fn nothing_is_broken_without_a_terminal() {
        let text = shown(&mut GridWriter::default(), &grid("x"), None);
        assert_eq!(text.lines().count(), 3, "{text}");
    }
}
