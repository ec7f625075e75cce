//! Treatment of each table when a project is taken along or an installation moves. A test holds it against the schema.

use searchwright_store::{
    Param,
    transfer::{RowValues, Table},
};

/// Treatment of the rows of a table in the file of a project.
pub(super) enum ProjectRule {
    /// They are in it.
    Kept,
    /// Those that pass are in it, without the values that are secrets.
    Partly(fn(&Row<'_>) -> bool, &'static [&'static str]),
    /// They are not in it, for this reason.
    LeftOut(&'static str),
}

use ProjectRule::{Kept, LeftOut, Partly};

/// A row with the names of its columns.
pub(super) struct Row<'a> {
    pub(super) table: &'static Table,
    pub(super) values: &'a mut RowValues,
}

impl Row<'_> {
    fn value(&self, name: &str) -> Option<&Param> {
        self.values.get(self.table.position(name)?)
    }

    fn has(&self, name: &str) -> bool {
        self.value(name).is_some_and(|value| *value != Param::Null)
    }

    pub(super) fn text(&self, name: &str) -> &str {
        match self.value(name) {
            Some(Param::Text(text)) => text,
            _ => "",
        }
    }

    /// Sets a value; of a column that the table does not have, nothing.
    pub(super) fn set(&mut self, name: &str, value: Param) {
        let slot = self.table.position(name).and_then(|at| self.values.get_mut(at));
        if let Some(slot) = slot {
            *slot = value;
        }
    }
}

const WHOLE: fn(&Row<'_>) -> bool = |_| true;

const ACCOUNT: &str = "of a person's account, which belongs to an installation";
const OAUTH: &str = "of programs that connect to an installation";
const KEY: &str = "what proves an access is made anew";
const OUTBOX: &str = "what was told is told once";
const INDEX: &str = "computed from other tables";

/// Every table, by name.
pub(super) const RULES: &[(&str, ProjectRule)] = &[
    ("meta", LeftOut("of the installation")),
    ("oauth_apps", LeftOut("of the installation, with a secret")),
    ("workspaces", LeftOut("the project comes into one that is there")),
    ("projects", Kept),
    ("api_keys", LeftOut(KEY)),
    (
        "idempotency",
        LeftOut("answers to requests that are repeated within a day"),
    ),
    ("activity", Kept),
    ("users", LeftOut(ACCOUNT)),
    (
        "memberships",
        LeftOut("names and roles are in the first line of the file"),
    ),
    ("sessions", LeftOut(ACCOUNT)),
    ("sign_in_links", LeftOut(ACCOUNT)),
    ("sign_in_attempts", LeftOut(ACCOUNT)),
    ("totp_secrets", LeftOut(ACCOUNT)),
    ("recovery_codes", LeftOut(ACCOUNT)),
    ("passkeys", LeftOut(ACCOUNT)),
    ("passkey_challenges", LeftOut(ACCOUNT)),
    ("pending_sign_ins", LeftOut(ACCOUNT)),
    ("invitations", LeftOut(ACCOUNT)),
    ("share_links", LeftOut(KEY)),
    ("project_visits", LeftOut(ACCOUNT)),
    ("account_activity", LeftOut(ACCOUNT)),
    (
        "agent_autonomy",
        LeftOut("a person gives it where the project is"),
    ),
    ("connection_steps", LeftOut(OAUTH)),
    ("oauth_clients", LeftOut(OAUTH)),
    ("oauth_requests", LeftOut(OAUTH)),
    ("oauth_grants", LeftOut(OAUTH)),
    ("oauth_codes", LeftOut(OAUTH)),
    ("oauth_access_tokens", LeftOut(OAUTH)),
    ("oauth_refresh_tokens", LeftOut(OAUTH)),
    ("oauth_devices", LeftOut(OAUTH)),
    ("jobs", Partly(|row| row.has("finished_at"), &[])),
    ("quotas", Kept),
    ("usage_counts", Kept),
    ("budgets", Kept),
    ("daily_budgets", Kept),
    ("spend", Kept),
    ("charges", Kept),
    ("events", LeftOut(OUTBOX)),
    ("event_heads", LeftOut(OUTBOX)),
    ("webhooks", Partly(WHOLE, &[])),
    ("webhook_secrets", LeftOut("secrets")),
    ("deliveries", LeftOut(OUTBOX)),
    ("delivery_attempts", LeftOut(OUTBOX)),
    ("audit_settings", Kept),
    ("audits", Kept),
    ("crawl_batches", Kept),
    ("crawl_validators", Kept),
    ("robots_copies", Kept),
    ("audit_findings", Kept),
    ("audit_pages", Kept),
    ("pages", Kept),
    ("page_urls", Kept),
    ("page_name_leaves", Kept),
    ("page_links", Kept),
    ("issues", Kept),
    ("occurrence_leaves", Kept),
    ("occurrence_changes", Kept),
    ("rechecks", Kept),
    ("recheck_items", Kept),
    ("brand_profiles", Kept),
    ("brand_items", Kept),
    ("brand_keys", Kept),
    ("keywords", Kept),
    ("keyword_ranges", LeftOut(INDEX)),
    ("keyword_numbers", LeftOut(INDEX)),
    ("keyword_trigrams", LeftOut(INDEX)),
    (
        "suggestions",
        LeftOut("answers of a search engine, kept for a while"),
    ),
    ("providers", LeftOut("accounts with secrets")),
    ("posts", Kept),
    ("post_revisions", Kept),
    ("post_steps", LeftOut("of a generation that is under way")),
    ("post_sources", Kept),
    ("post_marks", Kept),
    // Connections come without what reaches the site; connected to the same site again they are the same.
    ("integrations", Partly(WHOLE, &["secret", "account", "settings"])),
    ("connect_links", LeftOut(KEY)),
    ("publications", Kept),
    ("publish_attempts", Partly(|row| row.has("finished_at"), &[])),
    ("uploads", Kept),
    ("schedules", Kept),
    ("schedule_slots", Kept),
    ("autopilot_settings", Kept),
    ("autopilot_runs", Partly(|row| row.has("finished_at"), &[])),
    (
        "approvals",
        Partly(|row| !matches!(row.text("status"), "pending" | "held"), &[]),
    ),
    ("prompts", Kept),
    ("answer_series", Kept),
    ("answers", Kept),
    ("answer_cells", Kept),
    ("prompt_names", Kept),
    ("inbox_names", Kept),
    ("answer_runs", Kept),
    ("report_rows", Kept),
    ("report_imports", Kept),
    ("rate_limits", LeftOut("of the last minute")),
    ("notice_heads", LeftOut(OUTBOX)),
    ("notices", LeftOut(OUTBOX)),
    ("notice_settings", LeftOut(ACCOUNT)),
    ("notice_chats", LeftOut("its address is a secret")),
    ("notice_messages", LeftOut(OUTBOX)),
];

/// Tables that are not moved to another database.
pub(super) const NOT_MOVED: &[&str] = &[
    "rate_limits",
    "keyword_ranges",
    "keyword_numbers",
    "keyword_trigrams",
];

/// Returns the rule of a table. A table without one is in no file; a test finds it.
pub(super) fn rule(table: &str) -> &'static ProjectRule {
    const UNKNOWN: ProjectRule = LeftOut("not known");
    RULES
        .iter()
        .find(|(name, _)| *name == table)
        .map_or(&UNKNOWN, |(_, rule)| rule)
}

/// Takes the secrets from a row, and returns whether it is in the file.
pub(super) fn strip(row: &mut Row<'_>) -> bool {
    match rule(row.table.name) {
        Kept => true,
        LeftOut(_) => false,
        Partly(passes, secrets) => {
            for name in *secrets {
                let none = match row.value(name) {
                    Some(Param::Json(_)) => Param::Json("{}".to_owned()),
                    _ => Param::Null,
                };
                row.set(name, none);
            }
            passes(row)
        }
    }
}

/// Makes a row fit for another place, where nothing is to happen by itself before a person wants it: the old place may go on.
pub(super) fn settle(row: &mut Row<'_>) {
    match row.table.name {
        "posts" if row.text("status") == "scheduled" => {
            row.set("status", Param::Text("draft".to_owned()));
            row.set("scheduled_at", Param::Null);
            let dated = row.value("published_at").cloned().unwrap_or(Param::Null);
            row.set("dated_at", dated);
        }
        "schedules" => {
            row.set("enabled", Param::Bool(false));
            for name in [
                "planned_date",
                "planned_at",
                "due_at",
                "planned_from",
                "planned_zone",
            ] {
                row.set(name, Param::Null);
            }
        }
        "webhooks" => {
            row.set("status", Param::Text("disabled".to_owned()));
            row.set("disabled_reason", Param::Text("imported".to_owned()));
            row.set("lease_until", Param::Null);
        }
        "integrations" => {
            row.set("status", Param::Text("not_connected".to_owned()));
            for name in ["secret", "account", "site_id", "collection_id", "last_error"] {
                row.set(name, Param::Null);
            }
            for name in ["settings", "field_map"] {
                row.set(name, Param::Json("{}".to_owned()));
            }
        }
        "jobs" => {
            row.set("lease_owner", Param::Null);
            row.set("lease_until", Param::Null);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use searchwright_store::{Db, Settings, sql, transfer::tables};

    use super::*;

    /// A table that is added has to be thought of here.
    #[tokio::test]
    async fn every_table_is_kept_or_left_out_for_a_reason() {
        let folder = tempfile::tempdir().unwrap();
        let db = Db::open(&Settings::Sqlite(folder.path().join("db")))
            .await
            .unwrap();
        db.migrate().await.unwrap();
        let names = sql(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'
             AND name NOT LIKE 'keyword_trigrams_%' AND name <> 'schema_migrations'",
        )
        .fetch_all(&mut db.read().await.unwrap(), |c| c.take::<String>())
        .await
        .unwrap();
        let listed: BTreeSet<&str> = RULES.iter().map(|(name, _)| *name).collect();
        assert_eq!(listed.len(), RULES.len(), "a table is listed twice");
        let there: BTreeSet<&str> = names.iter().map(String::as_str).collect();
        assert_eq!(listed, there);
        for table in tables() {
            let is_kept = !matches!(rule(table.name), LeftOut(_));
            assert!(!is_kept || table.is_of_projects(), "{}", table.name);
            // A secret is told by its name or by its type of digest.
            let secret = ["secret", "digest", "password", "credential", "url"]
                .iter()
                .find(|name| table.position(name).is_some());
            let stripped = match rule(table.name) {
                Partly(_, stripped) => stripped.to_vec(),
                _ => Vec::new(),
            };
            let is_known = matches!(
                (table.name, secret),
                ("pages" | "page_urls", Some(&"url")) | ("uploads", Some(&"digest"))
            );
            if let (true, Some(name), false) = (is_kept, secret, is_known) {
                assert!(stripped.contains(name), "{}.{name}", table.name);
            }
        }
    }
}
