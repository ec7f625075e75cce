//! Rows of reports of vendors and of access logs.

use searchwright_contract::{Instant, reports::ReportFormat};

use uuid::Uuid;

use crate::{Cells, Param, Result, Tx, access::ProjectScope, sql, transfer::imports::UNDER_WAY_ID};

/// Days for which rows are kept.
pub const RETENTION_DAYS: i64 = 800;
/// Rows written together.
const ROWS_PER_BATCH: usize = 1_000;

/// A row of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredReportRow {
    /// Subject, such as `page`.
    pub dimension: &'static str,
    /// First day.
    pub first_day: i32,
    /// Last day.
    pub last_day: i32,
    /// Agent or assistant; empty in reports of vendors.
    pub actor: String,
    /// Page, query, country or device; empty for the whole website.
    pub item: String,
    /// Amount.
    pub amount: i64,
    /// Pages that were cited on the day.
    pub cited_pages: Option<i64>,
    /// Visits answered with an error.
    pub errors: Option<i64>,
    /// Visits from addresses of the vendor.
    pub verified: Option<i64>,
    /// Visits from other addresses.
    pub forged: Option<i64>,
}

/// Numbers of written rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WrittenRows {
    /// Rows that were new.
    pub added: u64,
    /// Rows that replaced another number.
    pub replaced: u64,
}

/// Writes rows. A row replaces the one about the same days and the same subject.
pub async fn save(
    tx: &mut Tx,
    scope: ProjectScope,
    format: ReportFormat,
    mut rows: Vec<StoredReportRow>,
) -> Result<WrittenRows> {
    rows.sort_unstable_by(|a, b| key(a).cmp(&key(b)));
    let mut written = WrittenRows::default();
    for portion in rows.chunks(ROWS_PER_BATCH) {
        let params = || portion.iter().map(params).collect::<Vec<_>>();
        let added = sql(
            "INSERT INTO report_rows (project_id, source, dimension, last_day, first_day, actor, item, amount, cited_pages, errors, verified, forged)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) ON CONFLICT DO NOTHING",
        )
        .bind(scope.project())
        .bind(format.as_str())
        .execute_each_in_key_order(tx, params())
        .await?;
        written.added += added;
        if added == portion.len() as u64 {
            continue;
        }
        written.replaced += sql(
            "INSERT INTO report_rows (project_id, source, dimension, last_day, first_day, actor, item, amount, cited_pages, errors, verified, forged)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
             ON CONFLICT (project_id, source, dimension, last_day, first_day, actor, item) DO UPDATE SET
               amount = excluded.amount, cited_pages = excluded.cited_pages, errors = excluded.errors,
               verified = excluded.verified, forged = excluded.forged
             WHERE report_rows.amount <> excluded.amount OR report_rows.cited_pages IS DISTINCT FROM excluded.cited_pages
               OR report_rows.errors IS DISTINCT FROM excluded.errors OR report_rows.verified IS DISTINCT FROM excluded.verified
               OR report_rows.forged IS DISTINCT FROM excluded.forged",
        )
        .bind(scope.project())
        .bind(format.as_str())
        .execute_each(tx, params())
        .await?;
    }
    Ok(written)
}

fn key(row: &StoredReportRow) -> (&str, i32, i32, &str, &str) {
    (row.dimension, row.last_day, row.first_day, &row.actor, &row.item)
}

fn params(row: &StoredReportRow) -> Vec<Param> {
    vec![
        row.dimension.into(),
        i64::from(row.last_day).into(),
        i64::from(row.first_day).into(),
        row.actor.clone().into(),
        row.item.clone().into(),
        row.amount.into(),
        row.cited_pages.into(),
        row.errors.into(),
        row.verified.into(),
        row.forged.into(),
    ]
}

/// Last days of the rows of an import.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImportDays {
    /// The oldest.
    pub oldest: i32,
    /// The newest.
    pub newest: i32,
}

/// Writes the time of an import.
pub async fn set_imported(
    tx: &mut Tx,
    scope: ProjectScope,
    format: ReportFormat,
    days: ImportDays,
    now: Instant,
) -> Result<()> {
    sql(
        "INSERT INTO report_imports (project_id, source, newest_day, imported_at, oldest_day) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (project_id, source) DO UPDATE SET imported_at = excluded.imported_at,
           oldest_day = CASE WHEN excluded.oldest_day < report_imports.oldest_day THEN excluded.oldest_day ELSE report_imports.oldest_day END,
           newest_day = CASE WHEN excluded.newest_day > report_imports.newest_day THEN excluded.newest_day ELSE report_imports.newest_day END",
    )
    .bind(scope.project())
    .bind(format.as_str())
    .bind(i64::from(days.newest))
    .bind(now)
    .bind(i64::from(days.oldest))
    .execute(tx)
    .await
    .map(drop)
}

/// Deletes rows, at most `limit`, whose last day was more than [`RETENTION_DAYS`] ago, of one source of one project, and returns
/// their number. The imports tell where there may be any, so that most calls read no rows.
pub async fn delete_expired(tx: &mut Tx, now: Instant, limit: u32) -> Result<u64> {
    let first_kept = now.millis().div_euclid(86_400_000) - RETENTION_DAYS;
    let old = sql(
        "SELECT project_id, source FROM report_imports WHERE oldest_day < $1
           AND project_id NOT IN (SELECT id FROM projects WHERE workspace_id = $2) ORDER BY oldest_day, project_id, source LIMIT 1",
    )
    .bind(first_kept)
    .bind(UNDER_WAY_ID)
    .fetch_optional(tx, |c| Ok((c.take::<Uuid>()?, c.take::<String>()?)))
    .await?;
    let Some((project, source)) = old else {
        return Ok(0);
    };
    let deleted = sql(
        "DELETE FROM report_rows WHERE project_id = $1 AND source = $2 AND (dimension, last_day, first_day, actor, item) IN
           (SELECT dimension, last_day, first_day, actor, item FROM report_rows
            WHERE project_id = $1 AND source = $2 AND last_day < $3 LIMIT $4)",
    )
    .bind(project)
    .bind(&source)
    .bind(first_kept)
    .bind(limit)
    .execute(tx)
    .await?;
    if deleted < u64::from(limit) {
        sql("UPDATE report_imports SET oldest_day = $3 WHERE project_id = $1 AND source = $2")
            .bind(project)
            .bind(&source)
            .bind(first_kept)
            .execute(tx)
            .await?;
    }
    Ok(deleted)
}

/// The last import of a format.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LastImport {
    /// Format.
    pub format: ReportFormat,
    /// Newest day with data.
    pub newest_day: i32,
    /// Time of the last import.
    pub imported_at: Instant,
}

/// Returns the last import of each format.
pub async fn list_imports(tx: &mut Tx, scope: ProjectScope) -> Result<Vec<LastImport>> {
    sql("SELECT source, newest_day, imported_at FROM report_imports WHERE project_id = $1")
        .bind(scope.project())
        .fetch_all(tx, |c| {
            Ok(LastImport {
                format: c.parse()?,
                newest_day: c.take::<i64>()? as i32,
                imported_at: c.take()?,
            })
        })
        .await
}

/// Sums of a dimension over a stored period.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeriodSums {
    /// Subject.
    pub dimension: String,
    /// First day.
    pub first_day: i32,
    /// Last day.
    pub last_day: i32,
    /// Sum of the amounts.
    pub amount: i64,
    /// Sum of the cited pages.
    pub cited_pages: Option<i64>,
}

/// Returns the stored periods of a format that share a day with `days`, with their sums.
pub async fn list_periods(
    tx: &mut Tx,
    scope: ProjectScope,
    format: ReportFormat,
    days: std::ops::RangeInclusive<i32>,
) -> Result<Vec<PeriodSums>> {
    sql("SELECT dimension, first_day, last_day, CAST(SUM(amount) AS BIGINT), CAST(SUM(cited_pages) AS BIGINT) FROM report_rows
         WHERE project_id = $1 AND source = $2 AND last_day >= $3 AND first_day <= $4
         GROUP BY dimension, first_day, last_day ORDER BY dimension, first_day, last_day")
    .bind(scope.project())
    .bind(format.as_str())
    .bind(i64::from(*days.start()))
    .bind(i64::from(*days.end()))
    .fetch_all(tx, |c| {
        Ok(PeriodSums {
            dimension: c.take()?,
            first_day: c.take::<i64>()? as i32,
            last_day: c.take::<i64>()? as i32,
            amount: c.take()?,
            cited_pages: c.take()?,
        })
    })
    .await
}

/// Rows that are added up.
#[derive(Clone, Debug)]
pub struct RowSelection {
    /// Format.
    pub format: ReportFormat,
    /// Subject.
    pub dimension: &'static str,
    /// First day that a period may begin with.
    pub first_day: i32,
    /// Last day that a period may end with.
    pub last_day: i32,
    /// Periods longer than a day that count; none: single days count.
    pub longer: Vec<std::ops::RangeInclusive<i32>>,
}

impl RowSelection {
    /// Returns the longer periods as `,first-last,first-last,`; `None` if single days count.
    fn period_list(&self) -> Option<String> {
        let mut list = String::from(",");
        for period in &self.longer {
            list.push_str(&format!("{}-{},", period.start(), period.end()));
        }
        (!self.longer.is_empty()).then_some(list)
    }
}

/// The condition for the rows of a [`RowSelection`] with the parameters 1 to 6.
macro_rules! selected {
    ($before:literal $after:literal) => {
        concat!(
            $before,
            " FROM report_rows WHERE project_id = $1 AND source = $2 AND dimension = $3 AND first_day >= $4 AND last_day BETWEEN $4 AND $5
               AND (CAST($6 AS TEXT) IS NULL AND first_day = last_day
                 OR $6 LIKE '%,' || first_day || '-' || last_day || ',%') ",
            $after
        )
    };
}

fn select(text: &'static str, scope: ProjectScope, selection: &RowSelection) -> crate::statement::Statement {
    sql(text)
        .bind(scope.project())
        .bind(selection.format.as_str())
        .bind(selection.dimension)
        .bind(i64::from(selection.first_day))
        .bind(i64::from(selection.last_day))
        .bind(selection.period_list())
}

/// Sums of an actor, an item, or both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowSums {
    /// Agent or assistant.
    pub actor: String,
    /// Page, query, country or device.
    pub item: String,
    /// Sum of the amounts.
    pub amount: i64,
    /// Sum of the errors.
    pub errors: Option<i64>,
    /// Sum of the verified visits.
    pub verified: Option<i64>,
    /// Sum of the forged visits.
    pub forged: Option<i64>,
}

fn read_sums(c: &mut Cells<'_>) -> Result<RowSums> {
    Ok(RowSums {
        actor: c.take()?,
        item: c.take()?,
        amount: c.take()?,
        errors: c.take()?,
        verified: c.take()?,
        forged: c.take()?,
    })
}

/// Returns the sums by actor and item, largest first.
pub async fn list_items(
    tx: &mut Tx,
    scope: ProjectScope,
    selection: &RowSelection,
    limit: u32,
) -> Result<Vec<RowSums>> {
    let text = selected!("SELECT actor, item, CAST(SUM(amount) AS BIGINT) AS total, CAST(SUM(errors) AS BIGINT), CAST(SUM(verified) AS BIGINT),
           CAST(SUM(forged) AS BIGINT)" "GROUP BY actor, item ORDER BY total DESC, item, actor LIMIT $7");
    select(text, scope, selection)
        .bind(limit)
        .fetch_all(tx, read_sums)
        .await
}

/// Returns the number of different pairs of actor and item.
pub async fn count_items(tx: &mut Tx, scope: ProjectScope, selection: &RowSelection) -> Result<u64> {
    let text = selected!("SELECT count(*) FROM (SELECT DISTINCT actor, item" ") AS items");
    select(text, scope, selection).fetch_one(tx, |c| c.take()).await
}

/// Returns the sums by actor, largest first.
pub async fn list_actors(tx: &mut Tx, scope: ProjectScope, selection: &RowSelection) -> Result<Vec<RowSums>> {
    let text = selected!("SELECT actor, '', CAST(SUM(amount) AS BIGINT) AS total, CAST(SUM(errors) AS BIGINT), CAST(SUM(verified) AS BIGINT),
           CAST(SUM(forged) AS BIGINT)" "GROUP BY actor ORDER BY total DESC, actor");
    select(text, scope, selection).fetch_all(tx, read_sums).await
}
