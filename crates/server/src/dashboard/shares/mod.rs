//! Share links: one report for people without an account, `/share/{token}`, and the list of a project's links,
//! `/projects/{id}/settings/shares`.

pub(super) mod form;
pub(super) mod link;
mod list;
mod report;

use std::{net::IpAddr, sync::Arc};

use axum::{
    Router,
    body::Body,
    extract::{Path, State, rejection::PathRejection},
    routing::get,
};
use http::{Method, Request, Response};
use searchwright_engine::Failure;
use searchwright_store::shares::SharedReport;

use self::link::SharedVisit;
use super::visibility;
use crate::{
    app::App,
    listen::{Peer, network},
};

/// The pages.
pub(super) fn routes() -> Router<Arc<App>> {
    let report = get(open).fallback(link::only_read);
    Router::new()
        .route("/share/{token}", report.clone())
        .route("/share/{token}/", report)
        .route(
            "/projects/{project}/settings/shares",
            get(list::show).post(list::change),
        )
}

/// Shows the report of a link to whoever has it.
async fn open(
    State(app): State<Arc<App>>,
    token: Result<Path<String>, PathRejection>,
    request: Request<Body>,
) -> Response<Body> {
    let peer = request.extensions().get::<Peer>();
    let from = network(peer.map_or(IpAddr::from([0; 4]), |peer| peer.0));
    // Those who open links share the quota of those who have no credential: guessing is slow, and a link costs no more than it.
    let quota = app.settings.limits.strangers();
    let standing = app.readers.take(from, quota, app.engine.clock.steady());
    if !standing.allowed {
        return link::too_many(standing.reset);
    }
    let token = token.map_or_else(|_| String::new(), |Path(token)| token);
    let visit = match SharedVisit::open(&app, &token, request.uri()).await {
        Ok(Some(visit)) => visit,
        Ok(None) => return link::ended(),
        Err(failure) => return link::failed(None, &failure),
    };
    match show(&visit).await {
        Ok(response) => {
            if request.method() == Method::GET && visit.page == 1 {
                visit.count().await;
            }
            response
        }
        Err(failure) => link::failed(Some(&visit), &failure),
    }
}

async fn show(visit: &SharedVisit) -> Result<Response<Body>, Failure> {
    match &visit.share.report {
        SharedReport::Audit(audit) => report::show(visit, *audit).await,
        SharedReport::Visibility(period) => visibility::shared::show(visit, period.as_ref()).await,
    }
}
