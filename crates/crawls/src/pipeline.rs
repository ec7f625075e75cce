//! Makes rows in portions on blocking threads while the store writes those made before.

use std::{pin::pin, sync::Arc};

use futures_util::StreamExt as _;
use searchwright_failure::{Failure, defect};
use tokio::{
    sync::mpsc::{Receiver, channel},
    task::JoinHandle,
};

/// Portions that are packed or wait to be written.
const PACKED_AHEAD: usize = 3;

/// Splits rows into portions of at most `most`, none of them empty.
pub fn portions<T>(rows: Vec<T>, most: usize) -> impl Iterator<Item = Vec<T>> {
    let mut rows = rows.into_iter();
    std::iter::from_fn(move || {
        let portion: Vec<T> = rows.by_ref().take(most).collect();
        (!portion.is_empty()).then_some(portion)
    })
}

/// Makes portions on a blocking thread, one ahead of the receiver. Stops when the receiver is dropped.
fn produce<T, R>(
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

/// Writes portions, each while the next one is made.
pub async fn write_ahead<T, R, E, F>(
    make: impl FnOnce(&mut dyn FnMut(T) -> bool) -> R + Send + 'static,
    mut write: impl FnMut(T) -> F,
) -> Result<R, E>
where
    T: Send + 'static,
    R: Send + 'static,
    F: Future<Output = Result<(), E>>,
    E: From<Failure>,
{
    let (mut made, making) = produce(make);
    while let Some(portion) = made.recv().await {
        write(portion).await?;
    }
    Ok(making.await.map_err(|e| defect("analysis", e))?)
}

/// Packs and writes portions: several are packed at a time, while one is written and the next one is made.
pub async fn pack_ahead<T, P, R, E, F>(
    make: impl FnOnce(&mut dyn FnMut(T) -> bool) -> R + Send + 'static,
    pack: impl Fn(T) -> P + Send + Sync + 'static,
    mut write: impl FnMut(P) -> F,
) -> Result<R, E>
where
    T: Send + 'static,
    P: Send + 'static,
    R: Send + 'static,
    F: Future<Output = Result<(), E>>,
    E: From<Failure>,
{
    let (made, making) = produce(make);
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
