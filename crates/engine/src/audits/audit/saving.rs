//! Saves the batches of a crawl, and keeps in memory what the analysis will need of them.

use std::sync::Arc;

use searchwright_contract::audits::AuditProgress;
use searchwright_site::{
    checks::Asking,
    crawl::{Batch, Sink, SinkError, let_others_run},
    graph::KnownRuns,
    page::UrlId,
};
use searchwright_store::{
    audits,
    crawls::{self, PackedBatch},
};
use uuid::Uuid;

use super::{
    super::{
        analysis::Noted,
        batches::{EarlyAnswers, Rooms, pack},
        page_runs, page_texts,
    },
    earlier,
};
use crate::{
    failure::defect,
    jobs::{JobContext, JobError},
    posts::own_pages,
};

/// Bytes of pages that are packed in about two milliseconds, for which a thread of the runtime may be blocked.
const SMALL: u64 = 2 << 20;
/// Bytes of a page that take as long to pack as one discovered URL.
const URL: u64 = 1 << 10;

/// Saves batches under the fence.
pub(super) struct Saving {
    pub(super) asking: Arc<Asking>,
    pub(super) job: JobContext,
    pub(super) audit: Uuid,
    pub(super) next: u32,
    pub(super) texts: page_texts::TextBudget,
    pub(super) reader: u64,
    pub(super) noted: Noted,
    pub(super) rooms: Rooms,
}

/// Carries the reason through the crawler, which does not know it.
#[derive(Debug, thiserror::Error)]
#[error("a batch was not saved, or not read back")]
pub(in crate::audits) struct Stopped(JobError);

impl Stopped {
    /// Wraps the error for which a crawl is stopped.
    pub(in crate::audits) fn by(reason: JobError) -> SinkError {
        SinkError(Box::new(Self(reason)))
    }

    /// Returns the error for which a crawl stopped.
    pub(in crate::audits) fn reason(of: SinkError) -> JobError {
        match of.0.downcast::<Self>() {
            Ok(stopped) => stopped.0,
            Err(other) => defect("crawl", other).into(),
        }
    }
}

impl Sink for Saving {
    async fn save(&mut self, batch: Batch) -> Result<(), SinkError> {
        let (audit, number) = (self.audit, self.next);
        let p = batch.progress;
        let (reader, asking) = (self.reader, self.asking.clone());
        let texts = self.texts.clone();
        let (mut noted, mut rooms) = (std::mem::take(&mut self.noted), std::mem::take(&mut self.rooms));
        let pages = batch.pages.iter().map(|page| page.facts.body_bytes);
        // a sitemap may bring ten thousand URLs without a page
        let urls = batch.discovered.iter().map(|_| URL);
        let bytes = pages.chain(urls).fold(0, u64::saturating_add);
        let packing = move || {
            let pages = || batch.pages.iter().map(|page| &page.facts);
            let (asked, noticed) = EarlyAnswers::evaluate(&asking, pages());
            noted.note(pages(), noticed, number)?;
            let (texts, sketches) = if texts.record_batch(pages()) {
                (
                    Some(page_texts::pack(&batch, &mut rooms)?),
                    Some(own_pages::pack(&batch)?),
                )
            } else {
                (None, None)
            };
            let packed = PackedBatch {
                texts,
                sketches,
                validators: earlier::pack(&batch, reader, &mut rooms)?,
                ..pack(batch, Some(asked), &mut rooms)?
            };
            Ok::<_, JobError>((packed, noted, rooms))
        };
        // The crawl goes on meanwhile. A thread more than there are processors waits behind one of theirs, also while another
        // of them has nothing to do.
        let packing = if bytes <= SMALL {
            tokio::spawn(async move {
                let_others_run();
                packing()
            })
        } else {
            tokio::task::spawn_blocking(packing)
        };
        let done = packing
            .await
            .map_err(|e| Stopped::by(defect("batch", e).into()))?;
        let packed;
        (packed, self.noted, self.rooms) = done.map_err(Stopped::by)?;
        let progress = AuditProgress {
            discovered: p.discovered.into(),
            fetched: p.fetched.into(),
            queued: p.queued.into(),
            failed: p.failed.into(),
            blocked: p.blocked.into(),
        };
        self.next += 1;
        self.job
            .write_fenced(move |tx, scope| {
                Box::pin(async move {
                    crawls::insert_batch(tx, scope, audit, number, packed).await?;
                    audits::set_progress(tx, scope, audit, progress).await
                })
            })
            .await
            .map_err(Stopped::by)
    }

    async fn runs(&mut self, pages: &[UrlId]) -> Result<KnownRuns, SinkError> {
        let known = page_runs::load(&self.job.engine.db, self.job.leased.scope, self.audit, pages).await;
        known.map_err(Stopped::by)
    }
}
