//! Writes page rows, findings, titles and URLs. Portions are made on a blocking thread, one ahead of the store.

use std::sync::Arc;

use searchwright_contract::Instant;
use searchwright_crawls::{
    ids::PageIds,
    page_links::{self, Batches},
    pipeline::{pack_ahead, write_ahead},
    url_order::UrlOrder,
};
use searchwright_site::graph::SiteGraph;
use searchwright_store::{
    issues::{self, EvidenceCutoff, PreparedFindings},
    page_links as stored_links, page_names, pages,
};

use super::{
    AnalyzedAudit,
    evaluate::Shared,
    finding_spill::{FindingSpill, stored_findings},
    page_rows::PageRows,
    title_index::TitleIndex,
};
use crate::jobs::{JobContext, JobError};

/// Rows in one transaction. Other writers wait for its end.
pub(super) const ROWS: usize = 8 * 1024;
/// Pages in one transaction; fewer, because they have many columns.
const PAGES: usize = ROWS / 2;
/// Titles in one transaction; more, because they are stored in leaves.
const TITLES: usize = 8 * ROWS;

/// Writes the rows of pages, and returns the pages with their URLs for the list.
pub(super) async fn write_rows(
    job: &JobContext,
    audit: AnalyzedAudit,
    index: Arc<SiteGraph>,
    ids: Arc<PageIds>,
    rows: PageRows,
) -> Result<UrlOrder, JobError> {
    let urls = write_ahead(
        move |send| rows.send(&index, &ids, PAGES, send),
        |rows| {
            job.write_fenced(move |tx, scope| {
                Box::pin(async move { pages::upsert(tx, scope, audit.id, rows).await })
            })
        },
    );
    urls.await?
}

/// Adds pages to the list of URLs.
pub(super) async fn write_urls(
    job: &JobContext,
    index: Arc<SiteGraph>,
    ids: Arc<PageIds>,
    urls: UrlOrder,
) -> Result<(), JobError> {
    write_ahead(
        move |send| {
            let urls = urls.into_sorted(&index);
            urls.portions(ROWS, &index, &ids).all(send);
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
pub(super) async fn write_findings(
    job: &JobContext,
    audit: AnalyzedAudit,
    shared: &Arc<Shared>,
    findings: FindingSpill,
    now: Instant,
) -> Result<(), JobError> {
    let db = &job.engine.db;
    let cutoff = EvidenceCutoff::from_start(audit.began);
    let before = issues::list_ids(&mut db.read().await?, job.leased.scope).await?;
    let is_new = move |issue| before.binary_search(&issue).is_err();
    let (making, packing) = (shared.clone(), shared.clone());
    let written = pack_ahead(
        move |send| findings.send(&making.ids, send),
        move |portion| {
            let findings = stored_findings(&portion, &packing.issues, &packing.ids);
            PreparedFindings::new(findings, &is_new, audit.id, now)
        },
        |ready| async move {
            let ready = ready?;
            job.write_fenced(move |tx, scope| {
                Box::pin(
                    async move { issues::record_prepared(tx, scope, audit.id, ready, cutoff, now).await },
                )
            })
            .await
        },
    );
    written.await?
}

/// Writes the places of all fetched URLs of a crawl, in the order of page ids.
pub(super) async fn write_links(
    job: &JobContext,
    audit: AnalyzedAudit,
    shared: &Shared,
    batches: Batches,
) -> Result<(), JobError> {
    let (making, packing) = (shared.index.clone(), shared.index.clone());
    let (ids, batches) = (shared.ids.clone(), Arc::new(batches));
    let numbers = batches.clone();
    let written = pack_ahead(
        move |give| page_links::send_fetched(&making, &batches, &ids, give),
        move |(urls, first)| Ok::<_, JobError>((page_links::pack(&packing, &numbers, &urls)?, first)),
        |made| async move {
            let (portions, first) = made?;
            job.write_fenced(move |tx, scope| {
                Box::pin(async move { stored_links::insert(tx, scope, audit.id, portions, first).await })
            })
            .await
        },
    );
    written.await
}

/// Writes the titles and first headings of pages.
pub(super) async fn write_titles(
    job: &JobContext,
    audit: AnalyzedAudit,
    index: Arc<SiteGraph>,
    ids: Arc<PageIds>,
    titles: TitleIndex,
) -> Result<(), JobError> {
    job.write_fenced(move |tx, scope| Box::pin(async move { page_names::delete(tx, scope, audit.id).await }))
        .await?;
    write_ahead(
        move |send| {
            let titles = titles.into_sorted(&index);
            titles.portions(TITLES, &ids).all(send);
        },
        |titles| {
            job.write_fenced(move |tx, scope| {
                Box::pin(async move { page_names::insert(tx, scope, audit.id, titles).await })
            })
        },
    )
    .await
}

/// Deletes the titles of pages from earlier audits.
pub(super) async fn delete_older_titles(job: &JobContext, audit: AnalyzedAudit) -> Result<(), JobError> {
    let mut deleted = ROWS as u64;
    while deleted == ROWS as u64 {
        deleted = job
            .write_fenced(move |tx, scope| {
                Box::pin(async move { page_names::delete_older(tx, scope, audit.id, ROWS).await })
            })
            .await?;
    }
    Ok(())
}
