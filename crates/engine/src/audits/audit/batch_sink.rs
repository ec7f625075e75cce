//! Saves the batches of a crawl, and collects in memory what the analysis will need of them.

use searchwright_contract::{audits::AuditProgress, ids::AuditId};
use searchwright_crawls::{page_texts, stored_batch::pack, validators};
use searchwright_site::crawl::{Batch, Sink, SinkError, let_others_run};
use searchwright_store::{
    audits,
    crawls::{self, PackedBatch},
};

use super::super::analysis::CrawlIndex;
use crate::{
    failure::defect,
    jobs::{JobContext, JobError},
    posts::own_pages,
};

/// Bytes of pages that are packed in about two milliseconds, for which a thread of the runtime may be blocked.
const MAX_INLINE_BYTES: u64 = 2 << 20;
/// Bytes of a page that take as long to pack as one discovered URL_BYTES.
const URL_BYTES: u64 = 1 << 10;

/// Saves batches under the fence.
pub(super) struct BatchSink {
    pub(super) job: JobContext,
    pub(super) audit: AuditId,
    pub(super) next: u32,
    pub(super) texts: page_texts::TextBudget,
    pub(super) reader: u64,
    pub(super) crawled: CrawlIndex,
}

/// Carries the reason through the crawler, which does not know it.
#[derive(Debug, thiserror::Error)]
#[error("a batch was not saved, or not read back")]
pub(in crate::audits) struct Stopped(JobError);

impl Stopped {
    /// Wraps the error for which a crawl is stopped.
    pub(in crate::audits) fn wrap(reason: JobError) -> SinkError {
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

impl Sink for BatchSink {
    async fn save(&mut self, batch: Batch) -> Result<(), SinkError> {
        let (audit, number) = (self.audit, self.next);
        let p = batch.progress;
        let (reader, texts) = (self.reader, self.texts.clone());
        let empty = CrawlIndex::new(self.job.leased.scope.project());
        let mut crawled = std::mem::replace(&mut self.crawled, empty);
        let pages = batch.pages.iter().map(|page| page.facts.body_bytes);
        // a sitemap may bring ten thousand URLs without a page
        let urls = batch.discovered.iter().map(|_| URL_BYTES);
        let bytes = pages.chain(urls).fold(0, u64::saturating_add);
        let packing = move || {
            let pages = || batch.pages.iter().map(|page| &page.facts);
            crawled.insert_batch(pages(), number)?;
            let (texts, sketches) = if texts.record_batch(pages()) {
                (Some(page_texts::pack(&batch)?), Some(own_pages::pack(&batch)?))
            } else {
                (None, None)
            };
            let packed = PackedBatch {
                texts,
                sketches,
                validators: validators::pack(&batch, reader)?,
                ..pack(batch)?
            };
            Ok::<_, JobError>((packed, crawled))
        };
        // The crawl goes on meanwhile. A thread more than there are processors waits behind one of theirs, also while another
        // of them has nothing to do.
        let packing = if bytes <= MAX_INLINE_BYTES {
            tokio::spawn(async move {
                let_others_run();
                packing()
            })
        } else {
            tokio::task::spawn_blocking(packing)
        };
        let packed;
        (packed, self.crawled) = packing
            .await
            .map_err(|e| Stopped::wrap(defect("batch", e).into()))?
            .map_err(Stopped::wrap)?;
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
            .map_err(Stopped::wrap)
    }
}
