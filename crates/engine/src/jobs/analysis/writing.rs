//! What an analysis writes. Portions are made on a thread of their own, one ahead of the store.

use std::{pin::pin, sync::Arc};

use futures_util::StreamExt as _;
use searchwright_contract::Instant;
use searchwright_site::graph::Index;
use searchwright_store::{
    Db,
    issues::{self, Newest, Ready},
    page_names, pages,
};
use tokio::{
    sync::mpsc::{Receiver, channel},
    task::JoinHandle,
};
use uuid::Uuid;

use super::{
    Audited,
    evaluate::Shared,
    gather::{self, Gathered},
    ids::Ids,
    names::Names,
    page_rows::PageRows,
    urls::Urls,
};
use crate::{
    failure::defect,
    jobs::{JobError, audit::fenced, worker::Run},
};

/// Rows of one transaction, of which others wait for the end.
pub(super) const ROWS: usize = 8 * 1024;
/// Pages of one, which have many columns.
const PAGES: usize = ROWS / 2;
/// Portions that are packed or wait to be written.
const PACKED_AHEAD: usize = 3;
/// Names of one, which are in leaves.
const NAMES: usize = 8 * ROWS;

/// What there is in portions of at most so many, none of them empty.
pub(super) fn portions<T>(rows: Vec<T>, most: usize) -> impl Iterator<Item = Vec<T>> {
    let mut rows = rows.into_iter();
    std::iter::from_fn(move || {
        let portion: Vec<T> = rows.by_ref().take(most).collect();
        (!portion.is_empty()).then_some(portion)
    })
}

/// Makes portions on a thread of its own, each while the one before is taken. Refused only when none is taken any more, which
/// who takes them says.
fn making<T, R>(
    make: impl FnOnce(&mut dyn FnMut(T) -> bool) -> R + Send + 'static,
) -> (Receiver<T>, JoinHandle<R>)
where
    T: Send + 'static,
    R: Send + 'static,
{
    let (give, made) = channel(1);
    let making =
        tokio::task::spawn_blocking(move || make(&mut |portion| give.blocking_send(portion).is_ok()));
    (made, making)
}

/// Makes portions, and writes each while the next is made.
async fn ahead<T, R, F>(
    make: impl FnOnce(&mut dyn FnMut(T) -> bool) -> R + Send + 'static,
    mut write: impl FnMut(T) -> F,
) -> Result<R, JobError>
where
    T: Send + 'static,
    R: Send + 'static,
    F: Future<Output = Result<(), JobError>>,
{
    let (mut made, making) = making(make);
    while let Some(portion) = made.recv().await {
        write(portion).await?;
    }
    Ok(making.await.map_err(|e| defect("analysis", e))?)
}

/// The same, where packing what is made takes longest: of some portions at a time, while one is written and the next is made.
pub(in crate::jobs) async fn packed_ahead<T, P, R, F>(
    make: impl FnOnce(&mut dyn FnMut(T) -> bool) -> R + Send + 'static,
    pack: impl Fn(T) -> P + Send + Sync + 'static,
    mut write: impl FnMut(P) -> F,
) -> Result<R, JobError>
where
    T: Send + 'static,
    P: Send + 'static,
    R: Send + 'static,
    F: Future<Output = Result<(), JobError>>,
{
    let (made, making) = making(make);
    let pack = Arc::new(pack);
    let made = futures_util::stream::unfold(made, async |mut made| Some((made.recv().await?, made)));
    let packed = made.map(|portion| {
        let pack = pack.clone();
        tokio::task::spawn_blocking(move || pack(portion))
    });
    let mut packed = pin!(packed.buffered(PACKED_AHEAD));
    while let Some(portion) = packed.next().await {
        write(portion.map_err(|e| defect("analysis", e))?).await?;
    }
    Ok(making.await.map_err(|e| defect("analysis", e))?)
}

/// Writes the rows of pages. Where lists have them.
pub(super) async fn rows(
    run: &Run,
    db: &Db,
    audit: Audited,
    (index, ids): (Arc<Index>, Arc<Ids>),
    rows: PageRows,
) -> Result<Urls, JobError> {
    let urls = ahead(
        move |give| rows.each(&index, &ids, PAGES, give),
        |seen| {
            fenced(db, run.leased.clone(), move |tx, scope| {
                Box::pin(async move { pages::record(tx, scope, audit.id, seen).await })
            })
        },
    );
    urls.await?
}

/// Takes pages up into the list.
pub(super) async fn urls(
    run: &Run,
    db: &Db,
    (index, ids): (Arc<Index>, Arc<Ids>),
    urls: Urls,
) -> Result<(), JobError> {
    ahead(
        move |give| {
            let urls = urls.placed(&index);
            urls.portions(ROWS, &index, &ids).all(give);
        },
        |urls| {
            fenced(db, run.leased.clone(), move |tx, scope| {
                Box::pin(async move { pages::place(tx, scope, urls).await })
            })
        },
    )
    .await
}

/// Writes what was found.
pub(super) async fn findings(
    run: &Run,
    db: &Db,
    audit: Audited,
    (shared, found): (&Arc<Shared>, Gathered),
    now: Instant,
) -> Result<(), JobError> {
    let (shared, newest) = (shared.clone(), Newest::before(audit.began));
    let before = issues::ids(&mut db.read().await?, run.leased.scope).await?;
    let is_new = move |issue: Uuid| before.binary_search(&issue).is_err();
    let written = packed_ahead(
        move |give| {
            let known = gather::Known {
                issues: &shared.issue_ids,
                ids: &shared.ids,
                index: &shared.index,
            };
            found.rest(known, give)
        },
        move |portion| Ready::make(portion.findings(), &is_new, audit.id, now),
        |ready| async move {
            let ready = ready?;
            fenced(db, run.leased.clone(), move |tx, scope| {
                Box::pin(async move { issues::record_ready(tx, scope, audit.id, ready, newest, now).await })
            })
            .await
        },
    );
    written.await?
}

/// Writes what pages are called.
pub(super) async fn names(
    run: &Run,
    db: &Db,
    audit: Audited,
    (index, ids): (Arc<Index>, Arc<Ids>),
    names: Names,
) -> Result<(), JobError> {
    fenced(db, run.leased.clone(), move |tx, scope| {
        Box::pin(async move { page_names::forget(tx, scope, audit.id).await })
    })
    .await?;
    ahead(
        move |give| {
            let names = names.placed(&index);
            names.portions(NAMES, &ids).all(give);
        },
        |names| {
            fenced(db, run.leased.clone(), move |tx, scope| {
                Box::pin(async move { page_names::note(tx, scope, audit.id, names).await })
            })
        },
    )
    .await
}

/// Forgets what pages were called in audits before.
pub(super) async fn forget_names(run: &Run, db: &Db, audit: Audited) -> Result<(), JobError> {
    let mut forgotten = ROWS as u64;
    while forgotten == ROWS as u64 {
        forgotten = fenced(db, run.leased.clone(), move |tx, scope| {
            Box::pin(async move { page_names::forget_older(tx, scope, audit.id, ROWS).await })
        })
        .await?;
    }
    Ok(())
}
