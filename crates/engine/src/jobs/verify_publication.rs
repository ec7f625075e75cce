//! Looks at the page of a post that was published, as a search engine would: is it there, does it say what it should, may it be
//! indexed. Says what it found and changes nothing. A post that its provider kept from readers is looked for there first.

use searchwright_contract::{
    ids::{ConnectionId, PostId},
    posts::{Verification, VerificationState},
};
use searchwright_outbound::Purpose;
use searchwright_site::{
    fetch::{Fetch as _, Method, Request},
    published_page::Expected,
};
use searchwright_store::{posts, projects, publications};
use serde_json::{Value, json};
use url::Url;

use super::{JobContext, JobError, publish::held};

/// Milliseconds from one look to the next: five looks within ten minutes.
const LOOKUP_WAITS_MILLIS: [i64; 4] = [15_000, 60_000, 180_000, 300_000];
/// Bytes of a page that are read.
const MAX_PAGE_BYTES: usize = 2 << 20;

/// Runs the job.
pub(super) async fn run(job: JobContext, post: PostId, connection: ConnectionId) -> Result<Value, JobError> {
    let interrupted = job.clone();
    tokio::select! {
        reason = interrupted.interrupted() => Err(reason),
        done = look(&job, post, connection) => done,
    }
}

async fn look(job: &JobContext, post_id: PostId, connection: ConnectionId) -> Result<Value, JobError> {
    let scope = job.leased.scope;
    let (post, published) = {
        let mut tx = job.engine.db.read().await?;
        let post = posts::get(&mut tx, scope, post_id).await?.post;
        (
            post,
            publications::find(&mut tx, scope, post_id, connection).await?,
        )
    };
    if let Some(held) = published.clone().filter(held::is_held) {
        return held::look(job, &post, held).await;
    }
    let Some((published, address)) = published
        .filter(|published| published.is_live)
        .and_then(|published| Some((published.clone(), published.external_url?)))
    else {
        return Ok(json!({ "postId": post_id, "state": "not_live" }));
    };
    let checks = published.verification.as_ref().map_or(0, |last| last.checks) + 1;
    let title = post.summary.title.as_deref().unwrap_or_default();
    let (status_code, findings) = see(job, &address, title, post.details.canonical_url.as_deref()).await?;
    let wait = LOOKUP_WAITS_MILLIS
        .get(checks as usize - 1)
        .copied()
        .filter(|_| !findings.is_empty());
    let verification = Verification {
        state: match (findings.is_empty(), wait) {
            (true, _) => VerificationState::Passed,
            (false, Some(_)) => VerificationState::Pending,
            (false, None) => VerificationState::Failed,
        },
        url: address.clone(),
        status_code,
        findings: findings.into_iter().map(str::to_owned).collect(),
        checks,
        checked_at: job.engine.clock.now(),
    };
    let (told, now) = (
        json!({ "postId": post_id, "verification": verification }),
        job.engine.clock.now(),
    );
    job.write_fenced(move |tx, scope| {
        Box::pin(async move {
            projects::lock(tx, scope).await?;
            // It may have been published anew, or taken back, while we looked.
            let Some(mut current) = publications::find(tx, scope, post_id, connection).await? else {
                return Ok(());
            };
            if current.is_live && current.external_url.as_ref() == Some(&address) {
                current.verification = Some(verification);
                publications::upsert(tx, scope, &current, now).await?;
            }
            Ok(())
        })
    })
    .await?;
    match wait {
        Some(wait) => Err(JobError::Wait(wait)),
        None => Ok(told),
    }
}

/// Fetches the page, and returns its status and the codes of its faults.
async fn see(
    job: &JobContext,
    address: &str,
    title: &str,
    canonical: Option<&str>,
) -> Result<(Option<u16>, Vec<&'static str>), JobError> {
    let Ok(url) = Url::parse(address) else {
        return Ok((None, vec!["not_reachable"]));
    };
    let settings = job.engine.publishing().map_err(JobError::from)?;
    let client = settings.outbound.for_purpose(Purpose::Publish);
    let request = Request {
        method: Method::Get,
        url: url.clone(),
        body_limit: MAX_PAGE_BYTES,
        fresh: true,
        picture: false,
        unless: None,
    };
    let Ok(response) = client.fetch(request).await else {
        return Ok((None, vec!["not_reachable"]));
    };
    let status = response.status;
    if status != 200 {
        return Ok((Some(status), vec!["status"]));
    }
    let expected = Expected {
        url: &url,
        title,
        canonical: canonical.unwrap_or(address),
    };
    let now = job.engine.clock.now().millis();
    Ok((Some(status), expected.faults(&response, now)))
}
