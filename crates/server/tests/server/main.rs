//! The doors from outside: a real server in this process, spoken to over loopback.
//!
//! Every answer of the API that these tests see is checked against the OpenAPI document, so that document
//! and behaviour cannot drift apart. Time is a clock that the tests move.

#![expect(clippy::unwrap_used, reason = "a test that fails may say so by panicking")]

mod browser;
mod document;
#[macro_use]
mod harness;
mod wire;

mod accounts;
mod activity;
mod alternates;
mod as_before;
mod audit_settings;
mod audited;
mod audits;
mod authentication;
mod autopilot;
mod autopilot_faults;
mod autopilot_refresh;
mod autopilot_runs;
mod blog;
mod bodies;
mod brand;
mod caches;
mod client_documents;
mod conditional;
mod connecting;
mod connecting_apps;
mod connections;
mod cursors;
mod degrees;
mod diffs;
mod diffs_pages;
mod documents;
mod engine_status;
mod headers;
mod histories;
mod idempotency;
mod ignored;
mod items;
mod items_rules;
mod jobs;
mod keys;
mod keyword_accounts;
mod keyword_clusters;
mod keyword_import;
mod keyword_metrics;
mod keyword_to_draft;
mod limits;
mod load;
mod mcp;
mod oauth;
mod occurrences;
mod opportunities;
mod outages;
mod pages;
mod password_reset;
mod people;
mod post_forms;
mod post_generation;
mod post_images;
mod post_injections;
mod post_keywords;
mod post_pages;
mod post_providers;
mod post_sources;
mod post_statuses;
mod posts;
mod posts_doors;
mod process;
mod projects;
mod publishing;
mod queries;
mod rechecks;
mod rechecks_undecided;
mod replicas;
mod schedules;
mod silence;
mod site_login;
mod smuggling;
mod unchanged;
mod usage;
mod visibility;
mod visibility_bad_input;
mod visibility_disputes;
mod visibility_ideas;
mod visibility_names;
mod visibility_reports;
mod visibility_retention;
mod visibility_runs;
mod vitals;
mod webhook_receivers;
mod webhooks;
