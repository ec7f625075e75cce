//! Writes of an analysis: rows of pages, findings, names and URLs. Portions are made on a blocking thread, one ahead of the store.

use std::sync::Arc;

use searchwright_contract::Instant;
use searchwright_site::graph::SiteGraph;
use searchwright_store::{
    issues::{self, EvidenceCutoff, PreparedFindings},
    page_names, pages,
};
use uuid::Uuid;

use super::{
    super::{
        ids::PageIds,
        pipeline::{pack_ahead, write_ahead},
    },
    Audited,
    evaluate::Shared,
    gather::{self, FindingSpill},
    names::Names,
    page_rows::PageRows,
    urls::Urls,
};
use crate::jobs::{JobContext, JobError};

/// Rows in one transaction. Other writers wait for its end.
pub(super) const ROWS: usize = 8 * 1024;
/// Pages in one transaction; fewer, because they have many columns.
const PAGES: usize = ROWS / 2;
/// Names in one transaction; more, because they are stored in leaves.
const NAMES: usize = 8 * ROWS;

/// Writes the rows of pages, and returns the pages with their URLs for the list.
pub(super) async fn rows(
    job: &JobContext,
    audit: Audited,
    (index, ids): (Arc<SiteGraph>, Arc<PageIds>),
    rows: PageRows,
) -> Result<Urls, JobError> {
    let urls = write_ahead(
        move |give| rows.each(&index, &ids, PAGES, give),
        |seen| {
            job.write_fenced(move |tx, scope| {
                Box::pin(async move { pages::upsert(tx, scope, audit.id, seen).await })
            })
        },
    );
    urls.await?
}

/// Adds pages to the list of URLs.
pub(super) async fn urls(
    job: &JobContext,
    (index, ids): (Arc<SiteGraph>, Arc<PageIds>),
    urls: Urls,
) -> Result<(), JobError> {
    write_ahead(
        move |give| {
            let urls = urls.placed(&index);
            urls.portions(ROWS, &index, &ids).all(give);
        },
        |urls| {
            job.write_fenced(move |tx, scope| {
                Box::pin(async move { pages::insert_urls(tx, scope, urls).await })
            })
        },
    )
    .await
}

/// Writes findings.
pub(super) async fn findings(
    job: &JobContext,
    audit: Audited,
    (shared, found): (&Arc<Shared>, FindingSpill),
    now: Instant,
) -> Result<(), JobError> {
    let db = &job.engine.db;
    let (shared, newest) = (shared.clone(), EvidenceCutoff::from_start(audit.began));
    let before = issues::list_ids(&mut db.read().await?, job.leased.scope).await?;
    let is_new = move |issue: Uuid| before.binary_search(&issue).is_err();
    let written = pack_ahead(
        move |give| {
            let known = gather::StoredIds {
                issues: &shared.issue_ids,
                ids: &shared.ids,
                index: &shared.index,
            };
            found.rest(known, give)
        },
        move |portion| PreparedFindings::new(portion.findings(), &is_new, audit.id, now),
        |ready| async move {
            let ready = ready?;
            job.write_fenced(move |tx, scope| {
                Box::pin(
                    async move { issues::record_prepared(tx, scope, audit.id, ready, newest, now).await },
                )
            })
            .await
        },
    );
    written.await?
}

/// Writes the names of pages.
pub(super) async fn names(
    job: &JobContext,
    audit: Audited,
    (index, ids): (Arc<SiteGraph>, Arc<PageIds>),
    names: Names,
) -> Result<(), JobError> {
    job.write_fenced(move |tx, scope| Box::pin(async move { page_names::delete(tx, scope, audit.id).await }))
        .await?;
    write_ahead(
        move |give| {
            let names = names.placed(&index);
            names.portions(NAMES, &ids).all(give);
        },
        |names| {
            job.write_fenced(move |tx, scope| {
                Box::pin(async move { page_names::insert(tx, scope, audit.id, names).await })
            })
        },
    )
    .await
}

/// Deletes the names of pages from earlier audits.
pub(super) async fn forget_names(job: &JobContext, audit: Audited) -> Result<(), JobError> {
    let mut forgotten = ROWS as u64;
    while forgotten == ROWS as u64 {
        forgotten = job
            .write_fenced(move |tx, scope| {
                Box::pin(async move { page_names::delete_older(tx, scope, audit.id, ROWS).await })
            })
            .await?;
    }
    Ok(())
}
