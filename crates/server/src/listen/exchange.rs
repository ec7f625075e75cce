//! One request and its answer, as far as the connection is concerned.

use std::{
    convert::Infallible,
    net::IpAddr,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
    time::Duration,
};

use axum::{Router, body::Body};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Request, Response, Version, header};
use http_body_util::{BodyExt as _, Limited};
use hyper::body::{Body as _, Frame, Incoming, SizeHint};
use searchwright_contract::{Code, Problem};
use tower_service::Service as _;

use super::{
    Peer, Rules, host,
    line::{Active, Life},
    network, streams,
};
use crate::http::{
    memory::{Room, Sender, unread},
    outgoing::{ChangedNothing, HeldByAnswer, KeptByServer, Outgoing, Places},
};

/// Bytes of a body that are read to keep the connection, though the answer does not need them.
const READ_ON: u64 = 64 * 1024;
/// Maximum time for that.
const READ_ON_TIME: Duration = Duration::from_secs(1);
/// Bytes of an answer that is never refused for want of memory: that of a probe.
const TINY: usize = 1024;

/// Body of a request that its handler dropped before the end.
#[derive(Clone, Default)]
struct Unread(Arc<Mutex<Option<Incoming>>>);

impl Unread {
    fn take(&self) -> Option<Incoming> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Body of a request that comes back to the listener if its handler drops it before the end.
struct Lent {
    body: Option<Incoming>,
    unread: Unread,
}

impl Lent {
    fn new(body: Incoming, unread: &Unread) -> Self {
        Self {
            body: Some(body),
            unread: unread.clone(),
        }
    }
}

impl hyper::body::Body for Lent {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        match &mut self.body {
            Some(body) => Pin::new(body).poll_frame(context),
            None => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Incoming::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map(Incoming::size_hint).unwrap_or_default()
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        if let Some(body) = self.body.take().filter(|body| !body.is_end_stream()) {
            *self.unread.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(body);
        }
    }
}

/// Returns whether a body of this length is read to its end though nobody needs it. One that the client sends only when it is
/// asked for is not.
fn is_small(headers: &HeaderMap) -> bool {
    let length = headers.get(header::CONTENT_LENGTH);
    let length = length.and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    length.is_some_and(|length| length <= READ_ON) && !headers.contains_key(header::EXPECT)
}

/// Reads a body to its end. Returns `false` if it does not end soon.
async fn read_on(body: Incoming) -> bool {
    let mut body = Limited::new(body, READ_ON as usize);
    let whole = async {
        while let Some(frame) = body.frame().await {
            if frame.is_err() {
                return false;
            }
        }
        true
    };
    tokio::time::timeout(READ_ON_TIME, whole).await.unwrap_or(false)
}

/// A request that has come on a connection.
pub(super) struct Exchange {
    pub(super) router: Router,
    pub(super) rules: Rules,
    pub(super) life: Arc<Life>,
    /// Address of the client.
    pub(super) peer: IpAddr,
}

impl Exchange {
    pub(super) async fn carry_out(
        mut self,
        request: Request<Incoming>,
        active: Active,
    ) -> Result<Response<Outgoing>, Infallible> {
        let unread = Unread::default();
        let is_small = is_small(request.headers());
        let (version, method) = (request.version(), request.method().clone());
        let chunked = request.headers().contains_key(header::TRANSFER_ENCODING);
        let is_last = is_last(request.headers());
        let host = host::check(version, request.headers());
        let mut request = request.map(|body| Body::new(Lent::new(body, &unread)));
        request.extensions_mut().insert(Peer(self.peer));
        let is_refused = host.is_err();
        let mut answer = match host {
            Ok(()) => self.router.call(request).await?,
            Err(why) => {
                drop(request);
                (self.rules.refusal)(Problem::new(Code::MalformedRequest, why))
            }
        };
        let is_cut = match unread.take() {
            Some(body) => !is_small || !read_on(body).await,
            None => false,
        };
        // A connection of HTTP/2 goes on after a stream that nobody read.
        if version < Version::HTTP_2 {
            let headers = answer.headers_mut();
            if is_cut {
                self.life.read_on();
            }
            if chunked || is_cut || is_refused {
                // A chunked body may have carried a Content-Length too, which somebody before us may have believed:
                // what follows on the connection could be anyone's (RFC 9112, 6.1). After a body that nobody
                // reads, the connection ends, and a client that is not told would lose its next request (9.6).
                headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
            } else if version == Version::HTTP_11 && !is_last {
                let idle = self.rules.patience.idle.as_secs();
                if let Ok(value) = HeaderValue::from_str(&format!("timeout={idle}")) {
                    headers.insert("keep-alive", value);
                }
            }
        }
        Ok(self.send(answer, &method, active))
    }

    /// Takes the memory that an answer needs, or refuses it.
    fn send(&self, mut answer: Response<Body>, method: &Method, active: Active) -> Response<Outgoing> {
        let places = answer.extensions_mut().remove::<Places>();
        let stranger = Sender::Stranger(network(self.peer));
        let sender = answer.extensions_mut().remove::<Sender>().unwrap_or(stranger);
        let size = answer.body().size_hint().exact().unwrap_or_default();
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        let is_kept = answer.extensions_mut().remove::<KeptByServer>().is_some();
        // What has been done is told, whatever it takes: the client would do it again.
        let changed_nothing = answer.extensions_mut().remove::<ChangedNothing>().is_some();
        let can_refuse =
            size > TINY && (changed_nothing || method.is_safe() || answer.status().as_u16() >= 400);
        let room = match (size, is_kept) {
            (0, _) | (_, true) => None,
            (size, false) => match self.rules.answers.take(sender, size) {
                Some(room) => Some(room),
                None if can_refuse => {
                    let connection = answer.headers_mut().remove(header::CONNECTION);
                    answer = (self.rules.refusal)(unread());
                    if let Some(connection) = connection {
                        answer.headers_mut().insert(header::CONNECTION, connection);
                    }
                    None
                }
                None => Some(self.beyond(sender, size)),
            },
        };
        let held = HeldByAnswer {
            places,
            room,
            active: Some(active),
        };
        let answer = answer.map(|body| Outgoing::new(body, held));
        streams::follow(answer.body().delivery());
        answer
    }

    fn beyond(&self, sender: Sender, size: usize) -> Room {
        self.rules.answers.take_beyond(sender, size)
    }
}

/// Returns whether the client closes the connection after this request.
fn is_last(headers: &HeaderMap) -> bool {
    let all = headers.get_all(header::CONNECTION).iter();
    all.filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|option| option.trim().eq_ignore_ascii_case("close"))
}
