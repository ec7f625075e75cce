//! Bodies of answers on their way out: what they hold is held until the last byte was written, or dropped.

use std::{
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll, Waker, ready},
};

use axum::body::Body;
use bytes::Bytes;
use http_body::{Frame, SizeHint};
use searchwright_contract::ids::CredentialId;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::Instant,
};

use super::{concurrency::Turn, memory::Room};
use crate::listen::line::Active;

/// Bytes handed to the connection at a time: as little must be written within the deadline for progress.
const PIECE: usize = 16 << 10;

/// Place of a request among all, and of a change among the changes: while those wait for the disk, there are places left for reads.
#[derive(Debug)]
pub struct PlaceAmongAll {
    _place: OwnedSemaphorePermit,
    _change: Option<OwnedSemaphorePermit>,
}

impl PlaceAmongAll {
    /// Takes one, if there is one.
    pub(super) fn take(all: &Arc<Semaphore>, changes: Option<&Arc<Semaphore>>) -> Option<Self> {
        let take = |places: &Arc<Semaphore>| places.clone().try_acquire_owned().ok();
        Some(Self {
            _change: match changes {
                Some(changes) => Some(take(changes)?),
                None => None,
            },
            _place: take(all)?,
        })
    }
}

/// Places of a request, in the extensions of its answer.
#[derive(Clone, Debug)]
pub struct Places {
    _held: Arc<(PlaceAmongAll, Turn<CredentialId>)>,
}

impl Places {
    /// A place among all requests, and one among those of a credential.
    pub fn new(place: PlaceAmongAll, own: Turn<CredentialId>) -> Self {
        Self {
            _held: Arc::new((place, own)),
        }
    }
}

/// Marks an answer whose bytes the server keeps anyway, in its extensions: it takes no memory.
#[derive(Clone, Copy, Debug)]
pub struct KeptByServer;

/// Marks an answer to a request that changed nothing, in its extensions: it may be refused where there is no memory for it.
#[derive(Clone, Copy, Debug)]
pub struct ChangedNothing;

/// Everything that is given back once an answer was written.
#[derive(Debug, Default)]
pub struct HeldByAnswer {
    /// Places of the request.
    pub places: Option<Places>,
    /// Memory of the answer.
    pub room: Option<Room>,
    /// The connection is not idle.
    pub active: Option<Active>,
}

/// Progress of an answer: the part that was handed to its connection and is not written yet.
#[derive(Debug)]
pub struct Delivery {
    state: Mutex<Unwritten>,
    _held: HeldByAnswer,
}

#[derive(Debug)]
struct Unwritten {
    pieces: usize,
    moved_at: Instant,
    waker: Option<Waker>,
}

impl Delivery {
    fn with<T>(&self, run: impl FnOnce(&mut Unwritten) -> T) -> T {
        run(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns since when nothing of what was handed over has been written.
    pub fn waiting_since(&self) -> Option<Instant> {
        self.with(|state| (state.pieces > 0).then_some(state.moved_at))
    }

    fn hand_over(self: &Arc<Self>, bytes: Bytes) -> Bytes {
        self.with(|state| {
            state.pieces += 1;
            state.moved_at = Instant::now();
        });
        Bytes::from_owner(Piece {
            bytes,
            delivery: self.clone(),
        })
    }

    fn poll_written(&self, context: &Context<'_>) -> Poll<()> {
        self.with(|state| {
            if state.pieces == 0 {
                return Poll::Ready(());
            }
            state.waker = Some(context.waker().clone());
            Poll::Pending
        })
    }
}

/// A part of an answer, which tells when the connection drops it: once it was written.
struct Piece {
    bytes: Bytes,
    delivery: Arc<Delivery>,
}

impl AsRef<[u8]> for Piece {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        let waker = self.delivery.with(|state| {
            state.pieces -= 1;
            state.moved_at = Instant::now();
            state.waker.take().filter(|_| state.pieces == 0)
        });
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

/// The body of an answer, in pieces. It ends only once all of them are written, so that a stream of HTTP/2 that nobody reads
/// can still be cut off.
#[derive(Debug)]
pub struct Outgoing {
    inner: Body,
    rest: Bytes,
    has_begun: bool,
    is_read: bool,
    is_over: bool,
    delivery: Arc<Delivery>,
}

impl Outgoing {
    /// The body of an answer that holds this.
    pub fn new(inner: Body, held: HeldByAnswer) -> Self {
        let state = Unwritten {
            pieces: 0,
            moved_at: Instant::now(),
            waker: None,
        };
        Self {
            inner,
            rest: Bytes::new(),
            has_begun: false,
            is_read: false,
            is_over: false,
            delivery: Arc::new(Delivery {
                state: Mutex::new(state),
                _held: held,
            }),
        }
    }

    /// Its progress.
    pub fn delivery(&self) -> Arc<Delivery> {
        self.delivery.clone()
    }
}

impl http_body::Body for Outgoing {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        loop {
            if !self.rest.is_empty() {
                let length = self.rest.len().min(PIECE);
                let piece = self.rest.split_to(length);
                self.has_begun = true;
                return Poll::Ready(Some(Ok(Frame::data(self.delivery.hand_over(piece)))));
            }
            if self.is_read {
                ready!(self.delivery.poll_written(context));
                self.is_over = true;
                return Poll::Ready(None);
            }
            match ready!(Pin::new(&mut self.inner).poll_frame(context)) {
                None => self.is_read = true,
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => self.rest = data,
                    Err(trailers) => return Poll::Ready(Some(Ok(trailers))),
                },
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.is_over || (!self.has_begun && self.rest.is_empty() && self.inner.is_end_stream())
    }

    fn size_hint(&self) -> SizeHint {
        let rest = self.rest.len() as u64;
        let inner = self.inner.size_hint();
        let mut hint = SizeHint::new();
        hint.set_lower(inner.lower() + rest);
        if let Some(upper) = inner.upper() {
            hint.set_upper(upper + rest);
        }
        hint
    }
}
