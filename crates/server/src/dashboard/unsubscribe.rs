//! `/notices/unsubscribe/{token}`: stops the mail of a project to a person who need not be signed in. A program of a mail provider
//! sends the same form (RFC 8058), so it has neither a session nor headers of a browser: the token of the link is all that counts.

use std::sync::Arc;

use askama::Template;
use axum::{
    body::Body,
    extract::{Path, State, rejection::PathRejection},
};
use http::{Response, StatusCode};
use searchwright_engine::Failure;
use searchwright_store::notices::settings;

use super::{
    page::{self, Form, Layout},
    show,
};
use crate::app::App;

#[derive(Template)]
#[template(path = "unsubscribe.html")]
struct UnsubscribeView {
    layout: Layout,
    token: String,
    project: String,
    is_done: bool,
}

fn no_link() -> Response<Body> {
    page::notice(
        StatusCode::NOT_FOUND,
        "This link does nothing",
        "It is incomplete, or you are no member of its project any more, which sends you nothing then.",
    )
}

/// Shows what the link stops, and changes nothing: programs that check mails for harm follow every link.
pub(super) async fn show(State(app): State<Arc<App>>, token: TokenPath) -> Response<Body> {
    answer(&app, token, false).await
}

/// Stops the mail.
pub(super) async fn stop(State(app): State<Arc<App>>, token: TokenPath) -> Response<Body> {
    answer(&app, token, true).await
}

/// Token of the address; an error if it is no text.
type TokenPath = Result<Path<String>, PathRejection>;

async fn answer(app: &App, token: TokenPath, stops: bool) -> Response<Body> {
    let token = token.map(|Path(token)| token).unwrap_or_default();
    let Some((project, user)) = app.notices.key().open(&token) else {
        return no_link();
    };
    let db = &app.engine.db;
    let now = app.engine.clock.now();
    let found = async {
        let mut tx = db.read().await?;
        let name = settings::find_project_name(&mut tx, project, user).await?;
        // Whoever has the link may send the form as often as it pleases: only the first time is written.
        let is_open = stops && name.is_some() && !settings::is_unsubscribed(&mut tx, project, user).await?;
        drop(tx);
        if is_open {
            db.write(move |tx| Box::pin(async move { settings::unsubscribe(tx, project, user, now).await }))
                .await?;
        }
        Ok::<_, searchwright_store::Error>(name)
    };
    match found.await {
        Ok(Some(name)) => {
            let view = UnsubscribeView {
                layout: Layout::new("Stop mail"),
                token,
                project: show::plain(&name),
                is_done: stops,
            };
            page::respond(StatusCode::OK, &view, Form::Own)
        }
        Ok(None) => no_link(),
        Err(error) => page::failed(&Failure::from(error)),
    }
}
