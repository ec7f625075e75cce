//! Streams of HTTP/2: each is reset when the client reads nothing of its answer for some time, though the connection as a whole
//! goes on.

use std::{
    future::{Future, poll_fn},
    pin::{Pin, pin},
    sync::{Arc, OnceLock},
    task::{Context, Poll},
    time::Duration,
};

use hyper::rt::Executor;
use tokio::time::{Sleep, sleep_until};

use crate::http::outgoing::Delivery;

/// The answer of a stream, once there is one.
type Answer = Arc<OnceLock<Arc<Delivery>>>;

tokio::task_local! {
    static ANSWER: Answer;
}

/// Has the stream that runs here watched by this progress of its answer.
pub(super) fn follow(delivery: Arc<Delivery>) {
    // On a connection of HTTP/1 the socket tells.
    let _ = ANSWER.try_with(|answer| answer.set(delivery).is_ok());
}

/// Runs streams as tasks.
#[derive(Clone, Copy, Debug)]
pub(super) struct StreamExecutor {
    write: Duration,
}

impl StreamExecutor {
    pub(super) const fn new(write: Duration) -> Self {
        Self { write }
    }
}

impl<F> Executor<F> for StreamExecutor
where
    F: Future<Output: Send> + Send + 'static,
{
    fn execute(&self, stream: F) {
        let answer = Answer::default();
        tokio::spawn(ANSWER.scope(answer.clone(), watched(stream, answer, self.write)));
    }
}

/// Runs a stream until it ends or its answer makes no progress. Dropped, it is reset.
async fn watched(stream: impl Future, answer: Answer, write: Duration) {
    let mut stream = pin!(stream);
    let mut timer: Option<Pin<Box<Sleep>>> = None;
    poll_fn(|context: &mut Context<'_>| {
        if stream.as_mut().poll(context).is_ready() {
            return Poll::Ready(());
        }
        let Some(since) = answer.get().and_then(|answer| answer.waiting_since()) else {
            timer = None;
            return Poll::Pending;
        };
        let end = since + write;
        let timer = timer.get_or_insert_with(|| Box::pin(sleep_until(end)));
        if timer.deadline() != end {
            timer.as_mut().reset(end);
        }
        timer.as_mut().poll(context).map(|()| {
            tracing::debug!("a stream that was not read was reset");
        })
    })
    .await;
}
