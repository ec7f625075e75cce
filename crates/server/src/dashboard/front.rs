//! The page at the address of the server: what this is and where to go on.

use std::sync::Arc;

use askama::Template;
use axum::{body::Body, extract::State};
use http::{Request, Response, StatusCode};

use super::{
    page::{self, Form, Layout},
    session,
};
use crate::app::App;

#[derive(Template)]
#[template(path = "front.html")]
struct Front<'a> {
    layout: Layout,
    api: &'a str,
    mcp: Option<&'a str>,
}

/// Shows the page, and to somebody who is signed in their projects.
pub(super) async fn show(State(app): State<Arc<App>>, request: Request<Body>) -> Response<Body> {
    match session::visitor(&app, request.headers()).await {
        Ok(Some(_)) => page::see_other("/projects"),
        Ok(None) => {
            let view = Front {
                layout: Layout::new("Searchwright"),
                api: &app.settings.base_url(),
                mcp: (!app.settings.is_insecure()).then_some(&app.settings.mcp_url),
            };
            page::respond(StatusCode::OK, &view, Form::Own)
        }
        Err(response) => *response,
    }
}
