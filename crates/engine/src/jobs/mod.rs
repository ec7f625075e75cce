//! Work that takes time. One closed enum, matched in one place; each kind resumes where it was cut.

pub(crate) mod answer_analysis;
mod checkpoints;
mod context;
mod dispatch;
pub(crate) mod generate_post;
mod keyword_clusters;
pub(crate) mod keyword_generation;
pub(crate) mod keyword_metrics;
pub(crate) mod publish;
mod track_prompts;
mod verify_publication;
pub mod worker;

use std::collections::BTreeMap;

use searchwright_contract::{
    Instant,
    ids::{AttemptId, AuditId, ConnectionId, JobId, PostId, RecheckId, RunId},
    jobs,
    posts::PublicationState,
    usage::Metric,
};
use searchwright_store::{
    Tx,
    access::ProjectScope,
    answers,
    jobs::{Lane, NewJob},
    publications, usage,
};
use serde::{Deserialize, Serialize};

pub(crate) use context::JobContext;
pub use context::JobError;
pub(crate) use dispatch::withdraw;

use crate::failure::{Result, defect};

/// Member of a job's progress: the amount it has used of the quota that was counted for it.
pub(crate) const USED: &str = "used";

/// Everything that can be queued. The tag is the job's `type` and never changes its meaning.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Job {
    /// Crawl the website and evaluate the checks.
    Audit {
        /// The audit.
        audit_id: AuditId,
    },
    /// Ask providers for figures of keywords.
    KeywordMetrics {
        /// Request of the caller.
        wanted: keyword_metrics::MetricsOrder,
    },
    /// Find keywords.
    GenerateKeywords {
        /// Request of the caller.
        wanted: keyword_generation::GenerationOrder,
    },
    /// Put keywords in clusters, and compare them with pages.
    ClusterKeywords {
        /// Those of this language.
        language: String,
    },
    /// Look again at what somebody says is fixed.
    Recheck {
        /// The recheck.
        recheck_id: RecheckId,
    },
    /// Compute the health score of the newest audit again.
    Rescore,
    /// Analyse the stored answers of engines again.
    AnalyzeAnswers,
    /// Put prompts to engines.
    TrackPrompts {
        /// The run.
        run_id: RunId,
        /// Answers that are asked for.
        answers: u32,
    },
    /// Write a post.
    GeneratePost {
        /// Request of the caller.
        order: generate_post::Order,
    },
    /// Bring a post to a provider, or take it back.
    PublishPost {
        /// The attempt.
        attempt_id: AttemptId,
        /// It was begun by a schedule: nobody waits for it, and an outage of the provider is waited out.
        #[serde(default)]
        is_scheduled: bool,
        /// It is to make public a post that is not.
        makes_public: bool,
    },
    /// Look at the page of a post that was published.
    VerifyPublication {
        /// The post.
        post_id: PostId,
        /// Connection at which it was published.
        connection_id: ConnectionId,
    },
}

impl Job {
    const fn kind(&self) -> &'static str {
        match self {
            Self::Audit { .. } => "audit",
            Self::GenerateKeywords { .. } => "generate_keywords",
            Self::KeywordMetrics { .. } => "keyword_metrics",
            Self::ClusterKeywords { .. } => "cluster_keywords",
            Self::Recheck { .. } => "recheck",
            Self::Rescore => "rescore",
            Self::AnalyzeAnswers => "analyze_answers",
            Self::TrackPrompts { .. } => "track_prompts",
            Self::GeneratePost { .. } => "generate_post",
            Self::PublishPost { .. } => "publish_post",
            Self::VerifyPublication { .. } => "verify_publication",
        }
    }

    const fn lane(&self) -> Lane {
        match self {
            Self::Audit { .. } => Lane::Audits,
            Self::Recheck { .. } => Lane::Rechecks,
            Self::PublishPost { .. } | Self::VerifyPublication { .. } => Lane::Publishing,
            Self::GenerateKeywords { .. } | Self::KeywordMetrics { .. } | Self::GeneratePost { .. } => {
                Lane::Writing
            }
            Self::TrackPrompts { .. } => Lane::Tracking,
            Self::ClusterKeywords { .. } | Self::Rescore | Self::AnalyzeAnswers => Lane::Computing,
        }
    }

    /// Returns the metric and the amount that were counted against a quota when the job was queued.
    fn counted(&self) -> Option<(Metric, i64)> {
        let most = |n| i64::try_from(n).unwrap_or(i64::MAX);
        match self {
            Self::GenerateKeywords { wanted } if !wanted.dry_run => {
                Some((Metric::KeywordsGenerated, wanted.count.into()))
            }
            Self::KeywordMetrics { wanted } if !wanted.dry_run => {
                Some((Metric::KeywordMetrics, most(wanted.texts().len())))
            }
            Self::GeneratePost { order } if !order.dry_run => Some((Metric::PostsGenerated, 1)),
            Self::TrackPrompts { answers, .. } => Some((Metric::AnswersTracked, (*answers).into())),
            Self::PublishPost {
                makes_public: true, ..
            } => Some((Metric::PostsPublished, 1)),
            _ => None,
        }
    }

    /// Counts it against its quota, before it is queued.
    pub(crate) async fn count(&self, tx: &mut Tx, scope: ProjectScope, now: Instant) -> Result<()> {
        if let Some((metric, n)) = self.counted() {
            usage::consume(tx, scope, metric, n, now).await??;
        }
        Ok(())
    }

    /// Returns the counted but unused amount to the quota, in the transaction that ends the job for good.
    pub(crate) async fn give_back(
        &self,
        tx: &mut Tx,
        record: &jobs::Job,
        scope: ProjectScope,
        succeeded: bool,
    ) -> searchwright_store::Result<()> {
        let Some((metric, counted)) = self.counted() else {
            return Ok(());
        };
        let mut counted_at = record.created_at;
        let used = match self {
            Self::PublishPost { attempt_id, .. } => {
                // an attempt whose outcome is unknown may have made the post public
                let attempt = publications::get_attempt(tx, scope, *attempt_id).await?;
                counted_at = attempt.created_at;
                i64::from(succeeded || attempt.state == PublicationState::Uncertain)
            }
            Self::GeneratePost { .. } => i64::from(succeeded),
            Self::TrackPrompts { run_id, .. } => answers::count_of_run(tx, scope, *run_id).await?,
            _ => record
                .progress
                .as_ref()
                .and_then(|p| p[USED].as_i64())
                .unwrap_or(0),
        };
        usage::refund(tx, scope, metric, (counted - used).max(0), counted_at).await
    }

    /// Queues it in the transaction of the change that needs it.
    pub async fn enqueue(
        self,
        tx: &mut Tx,
        scope: ProjectScope,
        id: JobId,
        links: BTreeMap<String, String>,
        now: Instant,
    ) -> Result<jobs::Job> {
        let new = self.row(id, links, now)?;
        Ok(searchwright_store::jobs::enqueue(tx, scope, new, now).await?)
    }

    /// Queues it unless the same is queued already or the queue is full: for work that the next one does as well. The
    /// job that will do it, if one will.
    pub async fn enqueue_once(
        self,
        tx: &mut Tx,
        scope: ProjectScope,
        id: JobId,
        now: Instant,
    ) -> searchwright_store::Result<Option<jobs::Job>> {
        let new = self.row(id, BTreeMap::new(), now)?;
        if let Some(queued) = searchwright_store::jobs::find_queued(tx, scope, &new.payload).await? {
            return Ok(Some(queued));
        }
        match searchwright_store::jobs::enqueue(tx, scope, new, now).await {
            Err(searchwright_store::Error::Overloaded) => Ok(None),
            done => done.map(Some),
        }
    }

    /// Queues it to be done at once; the same that waits for its time waits no longer.
    pub(crate) async fn enqueue_now(
        self,
        tx: &mut Tx,
        scope: ProjectScope,
        id: JobId,
        now: Instant,
    ) -> searchwright_store::Result<()> {
        match self.enqueue_once(tx, scope, id, now).await? {
            Some(queued) => searchwright_store::jobs::run_now(tx, scope, queued.id, now).await,
            None => Ok(()),
        }
    }

    fn row(
        &self,
        id: JobId,
        links: BTreeMap<String, String>,
        now: Instant,
    ) -> searchwright_store::Result<NewJob> {
        let payload =
            serde_json::to_value(self).map_err(|e| searchwright_store::Error::Defect(e.to_string()))?;
        Ok(NewJob {
            id,
            kind: self.kind(),
            lane: self.lane(),
            payload,
            run_after: now,
            links,
        })
    }

    /// Parses the payload of a queued job.
    pub(crate) fn read(payload: serde_json::Value) -> Result<Self> {
        serde_json::from_value(payload).map_err(|e| defect("job", e))
    }
}
