//! An insert of several rows per statement, built from the text for one row.
//!
//! SQLite opens a table for each run of a statement, and appends a row next to the one before without a search only while the
//! table is open.

use crate::value::Param;

/// Number of rows per statement.
pub(super) const ROWS: usize = 32;

/// Returns `INSERT … VALUES (…), (…)` for [`ROWS`] rows. Parameters are numbered as SQLite numbers them (`?1`): first the
/// `fixed` ones, then row after row. `None` if there are fewer rows, if they differ in length, if the text is no such insert,
/// or if it uses parameters of a row behind VALUES, where it has to say `excluded.column`.
pub(super) fn build(text: &str, fixed: usize, rows: &[Vec<Param>]) -> Option<String> {
    let width = rows.first()?.len();
    let even = rows.len() >= ROWS && rows.iter().all(|row| row.len() == width);
    if even {
        repeat_values(text, fixed, width, ROWS)
    } else {
        None
    }
}

fn repeat_values(text: &str, fixed: usize, width: usize, rows: usize) -> Option<String> {
    let values = text
        .find("VALUES (")
        .filter(|_| text.starts_with("INSERT INTO "))?;
    let (head, group) = text.split_at(values + "VALUES ".len());
    let mut depth = 0;
    let end = group.bytes().position(|b| {
        depth += i32::from(b == b'(') - i32::from(b == b')');
        depth == 0
    })?;
    let (group, tail) = group.split_at(end + 1);
    let mut out = String::with_capacity(text.len() + rows * (group.len() + 2 * width));
    let mut write = |part: &str, row: Option<usize>| {
        let mut pieces = part.split('$');
        out.push_str(pieces.next()?);
        for piece in pieces {
            let digits = piece.bytes().take_while(u8::is_ascii_digit).count();
            let number: usize = piece[..digits].parse().ok()?;
            let place = match row {
                _ if number <= fixed => number,
                Some(row) => number + row * width,
                None => return None,
            };
            out.push('?');
            out.push_str(&place.to_string());
            out.push_str(&piece[digits..]);
        }
        Some(())
    };
    write(head, None)?;
    for row in 0..rows {
        if row > 0 {
            write(", ", None)?;
        }
        write(group, Some(row))?;
    }
    write(tail, None)?;
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::repeat_values;

    #[test]
    fn values_are_repeated_per_row() {
        let text = "INSERT INTO t (a, b, c) VALUES ($1, max($3, 0), $2) ON CONFLICT (a) DO UPDATE SET b = $1, c = excluded.c";
        assert_eq!(
            repeat_values(text, 1, 2, 2).unwrap(),
            "INSERT INTO t (a, b, c) VALUES (?1, max(?3, 0), ?2), (?1, max(?5, 0), ?4) ON CONFLICT (a) DO UPDATE SET b = ?1, c = excluded.c"
        );
    }

    #[test]
    fn other_statements_are_left_alone() {
        for text in [
            "UPDATE t SET a = $2 WHERE b = $1",
            "INSERT INTO t (a) SELECT $2 FROM u",
            "INSERT INTO t (a, b) VALUES ($1, $2) ON CONFLICT (a) DO UPDATE SET b = $2",
            "INSERT INTO t (a, b) VALUES ($1, $2",
        ] {
            assert_eq!(repeat_values(text, 1, 1, 2), None, "{text}");
        }
    }
}
