//! Tables of an installation that has grown, filled by the types of their columns.

use searchwright_store::{Result, Tx, access::ProjectScope, sql};

use crate::harness::Store;

/// Number of other projects.
const PROJECTS: u32 = 500;

/// A table: name, number of rows, and expressions of columns that are not filled by their type. `n` is the number of a row,
/// `[…]` the id of a number and `TIME` a time.
type Table = (&'static str, u32, &'static [(&'static str, &'static str)]);

/// Tables that others refer to come first. Half of the rows are those of one project.
const TABLES: &[Table] = &[
    ("workspaces", PROJECTS, &[]),
    ("projects", PROJECTS, &[]),
    ("api_keys", 5_000, &[]),
    ("users", 5_000, &[]),
    ("memberships", 5_000, &[("workspace_id", "[n % 500 + 1]")]),
    ("sessions", 5_000, &[]),
    ("oauth_clients", 500, &[]),
    ("oauth_grants", 5_000, &[("client_id", "'x' || (n % 500 + 1)")]),
    ("oauth_access_tokens", 5_000, &[]),
    ("rate_limits", 5_000, &[]),
    ("idempotency", 5_000, &[]),
    ("share_links", 5_000, &[]),
    ("activity", 40_000, &[]),
    (
        "jobs",
        10_000,
        &[
            ("kind", "'publish'"),
            ("lane", "'publishing'"),
            (
                "status",
                "CASE n % 100 WHEN 0 THEN 'queued' WHEN 1 THEN 'running' ELSE 'succeeded' END",
            ),
        ],
    ),
    ("events", 40_000, &[("position", "n")]),
    ("webhooks", 400, &[("status", "'active'")]),
    (
        "deliveries",
        10_000,
        &[
            ("webhook_id", "[n % 400 + 1]"),
            ("status", "CASE n % 50 WHEN 0 THEN 'pending' ELSE 'succeeded' END"),
            ("next_at", "CASE n % 50 WHEN 0 THEN TIME END"),
        ],
    ),
    ("audits", 1_000, &[("status", "'completed'")]),
    (
        "pages",
        40_000,
        &[
            ("status_code", "CASE n % 600 WHEN 0 THEN 500 ELSE 200 END"),
            ("indexable", "CASE n % 600 WHEN 0 THEN FALSE ELSE TRUE END"),
        ],
    ),
    ("page_urls", 40_000, &[]),
    ("issues", 400, &[("active", "n % 2")]),
    (
        "occurrence_leaves",
        5_000,
        &[
            ("issue_id", "[n % 400 + 1]"),
            ("done", "CASE n % 500 WHEN 0 THEN 1 ELSE 0 END"),
            ("ignored", "CASE n % 500 WHEN 0 THEN 1 ELSE 0 END"),
            ("wakes_at", "CASE n % 500 WHEN 0 THEN TIME END"),
        ],
    ),
    (
        "keywords",
        40_000,
        &[
            ("status", "CASE n % 100 WHEN 6 THEN 'planned' ELSE 'new' END"),
            ("intent", "CASE n % 100 WHEN 8 THEN 'commercial' END"),
            ("search_volume", "CASE WHEN n % 3 > 0 THEN n * 37 % 9000 END"),
            ("keyword_difficulty", "CASE WHEN n % 3 > 0 THEN n % 101 END"),
            ("score", "CASE WHEN n % 3 > 0 THEN n * 7 % 1000 END"),
        ],
    ),
    (
        "posts",
        40_000,
        &[
            (
                "status",
                "CASE n % 100 WHEN 0 THEN 'scheduled' WHEN 2 THEN 'queued' ELSE 'published' END",
            ),
            ("scheduled_at", "CASE n % 100 WHEN 0 THEN TIME END"),
            ("seo_score", "CASE WHEN n % 3 > 0 THEN n % 101 END"),
            ("keyword_id", "[n]"),
            ("job_id", "[n]"),
        ],
    ),
    ("post_marks", 20_000, &[("post_id", "[n % 10000]")]),
    (
        "publish_attempts",
        5_000,
        &[("finished_at", "CASE n % 100 WHEN 0 THEN NULL ELSE TIME END")],
    ),
    ("publications", 5_000, &[]),
    (
        "schedules",
        PROJECTS,
        &[("project_id", "[n]"), ("due_at", "TIME"), ("kind", "'audit'")],
    ),
    (
        "autopilot_runs",
        5_000,
        &[
            ("post_id", "[n]"),
            ("finished_at", "CASE n % 100 WHEN 0 THEN NULL ELSE TIME END"),
            (
                "outcome",
                "CASE n % 100 WHEN 2 THEN 'failed' ELSE 'published' END",
            ),
        ],
    ),
    ("approvals", 5_000, &[("status", "'approved'")]),
];

/// Fills the tables and makes the statistics.
pub async fn fill(store: &Store, scope: ProjectScope) {
    for table in TABLES {
        let filler = Filler {
            is_postgres: store.db.name() == "postgres",
            project: scope.project().simple().to_string(),
        };
        commit!(store.db, |tx| filler.fill(tx, table).await).unwrap();
    }
    commit!(store.db, |tx| sql("ANALYZE").execute(tx).await).unwrap();
}

struct Filler {
    is_postgres: bool,
    project: String,
}

impl Filler {
    async fn fill(&self, tx: &mut Tx, &(table, rows, given): &Table) -> Result<()> {
        let needed = if self.is_postgres {
            "SELECT CAST(column_name AS TEXT), CAST(data_type AS TEXT) FROM information_schema.columns
             WHERE table_name = $1 AND is_nullable = 'NO' AND column_default IS NULL"
        } else {
            "SELECT name, type FROM pragma_table_info($1) WHERE (\"notnull\" OR pk > 0) AND dflt_value IS NULL"
        };
        let needed: Vec<(String, String)> = sql(needed)
            .bind(table)
            .fetch_all(tx, |c| Ok((c.take()?, c.take()?)))
            .await?;
        let (mut names, mut values) = (Vec::new(), Vec::new());
        for (name, kind) in &needed {
            if given.iter().all(|(given, _)| given != name) {
                names.push(name.as_str());
                values.push(self.expression(self.value(name, kind)));
            }
        }
        for (name, value) in given {
            names.push(name);
            values.push(self.expression(value));
        }
        let (names, values) = (names.join(", "), values.join(", "));
        let text = format!(
            "WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {rows})
             INSERT INTO {table} ({names}) SELECT {values} FROM numbers"
        );
        sql(text.leak()).execute(tx).await.map(drop)
    }

    fn value(&self, name: &str, kind: &str) -> &'static str {
        match (name, kind) {
            ("project_id", _) => "CASE n % 2 WHEN 0 THEN MAIN ELSE [n % 500 + 1] END",
            (_, "BLOB" | "uuid") => "[n]",
            (_, "bytea") => "decode(lpad(to_hex(n), 64, '0'), 'hex')",
            (_, "timestamp with time zone") => "TIME",
            (name, "TEXT") if name.ends_with("_at") || name.ends_with("_after") => "TIME",
            (_, "jsonb") => "'{}'",
            (_, "boolean") => "FALSE",
            (_, "TEXT" | "text") => "'x' || n",
            _ => "n",
        }
    }

    /// Returns an expression as the database spells it.
    fn expression(&self, value: &str) -> String {
        let (before, after, time, main) = if self.is_postgres {
            (
                "CAST(lpad(to_hex(",
                "), 32, '0') AS UUID)",
                "to_timestamp(1790000000 + n * 60)",
                format!("CAST('{}' AS UUID)", self.project),
            )
        } else {
            (
                "CAST(printf('%016d', ",
                ") AS BLOB)",
                "strftime('%Y-%m-%dT%H:%M:%fZ', 1790000000 + n * 60, 'unixepoch')",
                format!("X'{}'", self.project),
            )
        };
        value
            .replace('[', before)
            .replace(']', after)
            .replace("TIME", time)
            .replace("MAIN", &main)
    }
}
