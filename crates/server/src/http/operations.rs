//! Steps of every call, in this order: size and syntax, authentication, rate limit, project, scope, arguments,
//! effect. The first failure is answered.

use std::{net::IpAddr, sync::Arc, time::Duration};

use axum::body::Body;
use http::{HeaderMap, HeaderValue, Method, Request, Response, header};
use searchwright_contract::{Code, Problem, ids::CredentialId};
use searchwright_engine::{
    Credential, Endpoint, Failure, Invocation, Reply,
    identity::connections::{NewStep, Step},
};
use serde_json::Value;

use super::{
    answer,
    arguments::{entity_tags, gather, idempotency_key},
    bearer::{self, Door},
    check_head,
    concurrency::Turn,
    conditional,
    event_stream::{self, Follower},
    memory::{Sender, unread},
    outgoing::{PlaceAmongAll, Places},
    panics::caught,
    pressure::Urgency,
    rate_limit::{Quota, Standing, tightest},
    shared_limits::Bucket,
};
use crate::{
    app::App,
    listen::{Peer, network},
    oauth::endpoint::user_agent,
};

/// Everything at one path.
#[derive(Debug)]
pub struct Resource {
    /// Method and index into the engine's endpoints.
    endpoints: Vec<(Method, usize)>,
    allow: String,
}

/// The resources of the table by path.
pub fn resources(app: &App) -> Vec<(&'static str, Arc<Resource>)> {
    let mut all: Vec<(&'static str, Vec<(Method, usize)>)> = Vec::new();
    for (index, endpoint) in app.engine.endpoints.iter().enumerate() {
        let method = Method::from_bytes(endpoint.meta.method.as_str().as_bytes()).unwrap_or_default();
        match all.iter_mut().find(|(path, _)| *path == endpoint.meta.path) {
            Some((_, endpoints)) => endpoints.push((method, index)),
            None => all.push((endpoint.meta.path, vec![(method, index)])),
        }
    }
    all.into_iter()
        .map(|(path, endpoints)| {
            let mut names: Vec<&str> = endpoints.iter().map(|(m, _)| m.as_str()).collect();
            if names.contains(&"GET") {
                names.push("HEAD");
            }
            names.push("OPTIONS");
            let allow = names.join(", ");
            (path, Arc::new(Resource { endpoints, allow }))
        })
        .collect()
}

/// Answers one request at a path of the table.
pub async fn call(app: Arc<App>, resource: Arc<Resource>, request: Request<Body>) -> Response<Body> {
    let request_id = app.request_id();
    if request.method() == Method::OPTIONS {
        return answer::options(&request_id, &resource.allow);
    }
    let begun = std::time::Instant::now();
    let head = request.method() == Method::HEAD;
    let wanted = if head {
        Method::GET
    } else {
        request.method().clone()
    };
    let uri = request.uri().path().to_owned();
    let Some((_, index)) = resource.endpoints.iter().find(|(m, _)| *m == wanted) else {
        let refusal = Problem::new(Code::MethodNotAllowed, format!("{wanted} is not allowed here"));
        let mut response = answer::problem(&app, &request_id, Door::Api, &uri, refusal, None);
        answer::put(response.headers_mut(), header::ALLOW, &resource.allow);
        return response;
    };
    let endpoint = &app.engine.endpoints[*index];
    let mut frame = Frame::default();
    let done = caught(carry_out(&app, endpoint, request, &mut frame)).await;
    let Frame {
        standing,
        place,
        sender,
        places,
    } = frame;
    let mut response = match done {
        Ok(Answered::Reply(reply)) => {
            let query = place.as_ref().map_or("", |p| &p.query);
            let link = reply
                .head
                .next_cursor
                .as_deref()
                .map(|cursor| next_link(&app, &uri, query, cursor));
            let mut response = answer::reply(
                &app,
                &request_id,
                place.as_ref().map(|p| p.project.as_str()),
                reply,
                standing,
            );
            if let Some(link) = link {
                answer::put(response.headers_mut(), header::LINK, &link);
            }
            response
        }
        Ok(Answered::Stream(body)) => {
            let reply = Reply {
                status: 200,
                head: searchwright_contract::Head::default(),
                body: Vec::new(),
                replayed: false,
            };
            let mut response = answer::reply(&app, &request_id, None, reply, standing);
            let headers = response.headers_mut();
            headers.remove(header::CONTENT_LENGTH);
            answer::put(headers, header::CONTENT_TYPE, "text/event-stream");
            *response.body_mut() = body;
            response
        }
        Ok(Answered::NotModified(etag)) => {
            let reply = Reply {
                status: 304,
                head: searchwright_contract::Head {
                    etag: Some(etag),
                    ..Default::default()
                },
                body: Vec::new(),
                replayed: false,
            };
            let mut response = answer::reply(&app, &request_id, None, reply, standing);
            response.headers_mut().remove(header::CONTENT_TYPE);
            response
        }
        Err(failure) => answer::problem(&app, &request_id, Door::Api, &uri, *failure.0, standing),
    };
    if head {
        let length = http_body::Body::size_hint(response.body()).exact().unwrap_or(0);
        response
            .headers_mut()
            .insert(header::CONTENT_LENGTH, HeaderValue::from(length));
        *response.body_mut() = Body::empty();
    }
    let extensions = response.extensions_mut();
    sender.map(|sender| extensions.insert(sender));
    places.map(|places| extensions.insert(places));
    app.metrics
        .observe(endpoint.meta.name, response.status().as_u16(), begun.elapsed());
    tracing::debug!(
        request_id,
        operation = endpoint.meta.name,
        status = response.status().as_u16(),
        micros = begun.elapsed().as_micros() as u64,
        "request"
    );
    response
}

enum Answered {
    Reply(Reply),
    Stream(Body),
    NotModified(String),
}

/// Time for a place to become free: that of an answer that was written just now is given back a moment after it arrives.
const MOMENT: Duration = Duration::from_millis(20);

/// A place among all requests under way, given back when dropped; of a change also one among the changes.
pub(crate) async fn enter(app: &App, changes: bool) -> Result<PlaceAmongAll, Failure> {
    let take = || PlaceAmongAll::take(&app.turns, changes.then_some(&app.changes));
    if let Some(place) = take() {
        return Ok(place);
    }
    tokio::time::sleep(MOMENT).await;
    let place = take();
    let busy = || app.pressure.refusal("too many requests are being processed");
    Ok(place.ok_or_else(busy)?)
}

/// A place among the requests of a credential, given back when dropped.
pub(crate) async fn enter_as(app: &App, credential: &Credential) -> Result<Turn<CredentialId>, Failure> {
    let most = app.settings.limits.concurrent_per_credential;
    let busy = || {
        Problem::new(
            Code::Overloaded,
            format!("a credential may have {most} concurrent requests"),
        )
    };
    if let Some(turn) = app.concurrency.enter(credential.owner(), most) {
        return Ok(turn);
    }
    tokio::time::sleep(MOMENT).await;
    let turn = app.concurrency.enter(credential.owner(), most);
    Ok(turn.ok_or_else(|| busy().after(1))?)
}

/// Refuses a request whose answer would have no room, before it is carried out.
pub(crate) fn check_unread(app: &App, credential: &Credential) -> Result<(), Problem> {
    if app.answers.is_full(Sender::Credential(credential.owner())) {
        return Err(unread());
    }
    Ok(())
}

/// Things that a call leaves for its answer, whether it works or not.
#[derive(Default)]
struct Frame {
    standing: Option<Standing>,
    place: Option<Place>,
    sender: Option<Sender>,
    places: Option<Places>,
}

/// Parts of the request that the links of the answer need.
struct Place {
    project: String,
    query: String,
}

async fn carry_out(
    app: &Arc<App>,
    endpoint: &Endpoint,
    request: Request<Body>,
    frame: &mut Frame,
) -> Result<Answered, Failure> {
    check_head(&request)?;
    app.pressure.admit(
        Urgency::from_effect(endpoint.meta.effect),
        std::time::Instant::now(),
    )?;
    let (parts, raw) = request.into_parts();
    let peer = parts
        .extensions
        .get::<Peer>()
        .map_or(IpAddr::from([0; 4]), |p| p.0);
    let verified = {
        let _turn = enter(app, endpoint.meta.effect.writes()).await?;
        authenticate(app, Door::Api, &parts.headers, parts.uri.query(), peer).await
    };
    // No unit of concurrency is held while a body is received. Faults of the body are answered before those of the
    // credential.
    let sender = match &verified {
        Ok(credential) => Sender::Credential(credential.owner()),
        Err(_) => Sender::Stranger(network(peer)),
    };
    let body = app
        .intake
        .read(endpoint.meta.effect, &parts.method, &parts.headers, sender, raw)
        .await?;
    let credential = verified.map_err(|refusal| refusal.shown(&mut frame.standing))?;
    frame.sender = Some(sender);
    check_unread(app, &credential)?;
    let turn = enter(app, endpoint.meta.effect.writes()).await?;
    limit(app, endpoint.meta.effect.runs(), &credential)
        .await
        .map(|s| frame.standing = Some(s))
        .map_err(|refusal| refusal.shown(&mut frame.standing))?;
    let own = enter_as(app, &credential).await?;
    let arguments = gather(endpoint, parts.uri.path(), parts.uri.query(), body)?;
    frame.place = arguments
        .get("projectId")
        .and_then(Value::as_str)
        .map(|id| Place {
            project: id.to_owned(),
            query: parts.uri.query().unwrap_or_default().to_owned(),
        });
    if parts.method == Method::GET && event_stream::is_wanted(endpoint, &parts.headers) {
        let mut follower = Follower {
            app: app.clone(),
            token: bearer::token(&parts.headers, parts.uri.query())?.to_owned(),
            arguments,
            _turn: own,
        };
        follower.behind(&parts.headers);
        return Ok(Answered::Stream(follower.body().await?));
    }
    frame.places = Some(Places::new(turn, own));
    let invocation = Invocation {
        credential,
        arguments: Value::Object(arguments),
        if_match: entity_tags(&parts.headers, header::IF_MATCH)?,
        idempotency_key: idempotency_key(&parts.headers)?,
        consented: false,
    };
    let mut reply = invoke(app, endpoint, invocation).await?;
    conditional::tag(endpoint, &mut reply);
    Ok(match conditional::unchanged(&parts, &reply)? {
        Some(etag) => Answered::NotModified(etag),
        None => Answered::Reply(reply),
    })
}

/// Carries a call out, within the time that it may take.
pub(crate) async fn invoke(app: &App, endpoint: &Endpoint, invocation: Invocation) -> Result<Reply, Failure> {
    let longest = Duration::from_millis(app.settings.limits.call_ms);
    let late = |_| {
        let detail = format!("the request took more than {longest:?}");
        Problem::new(Code::HandlerTimeout, detail).after(5)
    };
    tokio::time::timeout(longest, app.engine.invoke(endpoint, invocation))
        .await
        .map_err(late)?
}

/// A refusal, with the standing of the quota that is used up if that is why.
pub(crate) struct Refusal {
    pub(crate) failure: Failure,
    standing: Option<Standing>,
}

impl Refusal {
    /// The failure, with its standing left where the answer's headers are made from.
    pub(crate) fn shown(self, standing: &mut Option<Standing>) -> Failure {
        *standing = self.standing;
        self.failure
    }
}

impl<F: Into<Failure>> From<F> for Refusal {
    fn from(failure: F) -> Self {
        Self {
            failure: failure.into(),
            standing: None,
        }
    }
}

impl From<Standing> for Refusal {
    fn from(standing: Standing) -> Self {
        Self {
            failure: refused(standing).into(),
            standing: Some(standing),
        }
    }
}

/// Verifies the credential. Those who fail share a quota per address, so that guessing is slow.
pub(crate) async fn authenticate(
    app: &App,
    door: Door,
    headers: &HeaderMap,
    query: Option<&str>,
    peer: IpAddr,
) -> Result<Credential, Refusal> {
    let verified = match bearer::token(headers, query) {
        Ok(token) => app.gate.verify(token, app, door).await,
        Err(problem) => Err(problem.into()),
    };
    let (step, client, user, detail) = match &verified {
        Ok(Credential::Token(token)) => (
            Some(Step::Connected),
            Some(token.client.as_str()),
            Some(token.user),
            None,
        ),
        Err(failure) if failure.0.code == Code::Unauthenticated => (
            Some(Step::Challenged).filter(|_| door == Door::Mcp),
            None,
            None,
            None,
        ),
        Err(failure) if failure.0.status == 401 => (
            Some(Step::CallRefused),
            None,
            None,
            Some(failure.0.detail.as_str()),
        ),
        _ => (None, None, None, None),
    };
    if let Some(step) = step {
        let step = NewStep {
            step,
            address: &network(peer).to_string(),
            user_agent: &user_agent(headers),
            client,
            user,
            detail,
        };
        app.people.connections.record(&app.engine.clock, step);
    }
    match verified {
        Ok(credential) => Ok(credential),
        Err(failure) if failure.0.status == 401 => {
            let standing = app.strangers.take(
                network(peer),
                app.settings.limits.strangers(),
                app.engine.clock.steady(),
            );
            Err(if standing.allowed {
                failure.into()
            } else {
                standing.into()
            })
        }
        Err(failure) => Err(failure.into()),
    }
}

/// Takes a unit of every quota that applies, also of that for what starts work; the standing to show. What is refused takes
/// nothing, of any quota.
pub(crate) async fn limit(app: &App, runs: bool, credential: &Credential) -> Result<Standing, Refusal> {
    let now = app.engine.clock.steady();
    let limits = &app.settings.limits;
    let owner = credential.owner().uuid();
    // The project of a token is known only when its path is read: its user stands for it.
    let bounded = match credential {
        Credential::Key(key) => key.project.scope().project(),
        Credential::Token(token) => token.user.uuid(),
        Credential::Session(session) => session.user.uuid(),
    };
    let run = runs.then_some(((owner, "run"), limits.run()));
    let always = [
        ((owner, "all"), limits.default()),
        ((bounded, "project"), limits.project()),
    ];
    let quotas: Vec<(Bucket, Quota)> = run.into_iter().chain(always).collect();
    let mut standings = Vec::with_capacity(2 * quotas.len());
    for (at, (bucket, quota)) in quotas.iter().enumerate() {
        let standing = app.limiter.take(*bucket, *quota, now);
        if !standing.allowed {
            give_back(app, &quotas[..at]);
            return Err(standing.into());
        }
        standings.push(standing);
    }
    if let Some(shared) = &app.shared_limits {
        for (at, (bucket, quota)) in quotas.iter().enumerate() {
            // without the database each server counts alone, and nothing else works either
            let Ok(standing) = shared.take(&app.engine, *bucket, *quota).await else {
                break;
            };
            if !standing.allowed {
                give_back(app, &quotas);
                for (bucket, _) in &quotas[..at] {
                    shared.give_back(*bucket).await;
                }
                return Err(standing.into());
            }
            standings.push(standing);
        }
    }
    tightest(&standings).ok_or_else(|| Problem::new(Code::InternalError, "no quota applies").into())
}

fn give_back(app: &App, taken: &[(Bucket, Quota)]) {
    for (bucket, quota) in taken {
        app.limiter.give_back(bucket, *quota);
    }
}

fn refused(standing: Standing) -> Problem {
    let mut problem = Problem::new(
        Code::RateLimitExceeded,
        format!("{} requests a minute are allowed", standing.limit),
    )
    .hint("wait for Retry-After seconds, then send requests more slowly")
    .after(standing.reset);
    problem.extra.insert("limit".to_owned(), standing.limit.into());
    problem
}

/// RFC 8288 link to the next page: the same request with its cursor.
fn next_link(app: &App, path: &str, query: &str, cursor: &str) -> String {
    let kept: Vec<&str> = query
        .split('&')
        .filter(|p| !p.is_empty() && !p.starts_with("cursor="))
        .collect();
    let sep = if kept.is_empty() { "" } else { "&" };
    format!(
        "<{}{path}?{}{sep}cursor={cursor}>; rel=\"next\"",
        app.settings.public_url,
        kept.join("&")
    )
}
