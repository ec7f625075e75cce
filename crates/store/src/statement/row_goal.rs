//! Lists on PostgreSQL, planned for their first rows.
//!
//! One plan serves all values, also those of LIMIT. It is made for a tenth of all rows, for which sorting a whole project looks
//! cheaper than to read in the order of an index. A second limit that the planner knows tells it that few rows are wanted.

use crate::value::Param;

/// Rows up to which a list is planned so. Pages of lists are shorter.
const GOAL: i64 = 128;

/// Returns the text of a list with the goal. `None` if the text does not end with LIMIT, or if more rows are wanted.
pub(super) fn set(text: &str, params: &[Param]) -> Option<String> {
    let (query, number) = text.rsplit_once(" LIMIT $")?;
    let number: usize = number.parse().ok()?;
    match params.get(number.checked_sub(1)?)? {
        Param::Int(limit) if *limit <= GOAL && query.starts_with("SELECT") => Some(format!(
            "SELECT * FROM ({query} LIMIT {GOAL}) first_rows LIMIT ${number}"
        )),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_few_rows_have_a_goal() {
        let list = "SELECT id FROM posts WHERE project_id = $1 ORDER BY id LIMIT $2";
        let with = |text, limit| set(text, &[Param::Null, Param::Int(limit)]);
        assert_eq!(
            with(list, 25).as_deref(),
            Some(
                "SELECT * FROM (SELECT id FROM posts WHERE project_id = $1 ORDER BY id LIMIT 128) first_rows LIMIT $2"
            )
        );
        assert!(with(list, 128).is_some());
        assert_eq!(with(list, 129), None, "no row may be missing");
        assert_eq!(with("SELECT 1 FROM posts LIMIT 1 OFFSET $2", 25), None);
        assert_eq!(
            with(
                "DELETE FROM posts WHERE id IN (SELECT id FROM posts LIMIT $2)",
                25
            ),
            None
        );
        assert_eq!(set(list, &[Param::Null, Param::Null]), None);
    }
}
