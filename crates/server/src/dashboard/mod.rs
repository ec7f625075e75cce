//! Pages for people. They work without scripts.

mod account;
mod agents;
mod approvals;
mod audits;
mod autopilot;
mod brand;
mod calendar;
mod chart;
mod connect;
#[cfg(debug_assertions)]
mod design;
mod device;
mod export;
mod fields;
mod flash;
mod frame;
mod front;
mod integrations;
mod invitations;
mod issues;
mod keywords;
mod lines;
mod links;
mod live;
mod members;
mod overview;
pub(crate) mod page;
mod pages;
mod password_reset;
mod posts;
mod projects;
mod rows;
pub(crate) mod session;
mod settings;
mod setup;
mod shares;
mod show;
mod sign_in;
mod since;
mod unsubscribe;
mod visibility;
pub(crate) mod visit;
mod webhooks;

use std::sync::Arc;

use axum::{
    Router, middleware,
    routing::{get, post},
};

use crate::app::App;

/// The pages.
pub(crate) fn routes(app: &App) -> Router<Arc<App>> {
    let routes = Router::new()
        .route("/", get(front::show))
        .route("/assets/{name}", get(page::asset))
        .route("/favicon.ico", get(page::icon))
        .route("/login", get(sign_in::show).post(sign_in::submit))
        .route("/login/done", get(sign_in::done))
        .route("/login/code", post(sign_in::submit_code))
        .route("/login/passkey", post(sign_in::submit_passkey))
        .route("/login/passkey/challenge", post(sign_in::passkey_challenge))
        .route(
            "/login/reset",
            get(password_reset::show).post(password_reset::submit),
        )
        .route(
            "/login/reset/{token}",
            get(password_reset::show_link).post(password_reset::submit_link),
        )
        .route("/login/{token}", get(setup::show_link).post(setup::submit_link))
        .route("/logout", post(sign_in::sign_out))
        .route("/setup/{token}", get(setup::show).post(setup::submit))
        .route(
            "/invitations/{token}",
            get(invitations::show).post(invitations::join),
        )
        .route("/invitations/{token}/accept", post(invitations::accept))
        .route(
            "/connect/callback",
            get(connect::callback).post(connect::handed_over),
        )
        .route("/connect/{token}", get(connect::show).post(connect::submit))
        .route(
            "/notices/unsubscribe/{token}",
            get(unsubscribe::show).post(unsubscribe::stop),
        )
        .route("/device", get(device::show).post(device::submit))
        .merge(account::routes())
        .merge(members::routes())
        .merge(agents::routes())
        .merge(approvals::routes())
        .merge(autopilot::routes())
        .merge(brand::routes())
        .merge(projects::routes())
        .merge(overview::routes())
        .merge(audits::routes())
        .merge(integrations::routes())
        .merge(issues::routes())
        .merge(keywords::routes())
        .merge(live::routes())
        .merge(posts::routes())
        .merge(calendar::routes())
        .merge(pages::routes())
        .merge(settings::routes())
        .merge(shares::routes())
        .merge(since::routes())
        .merge(visibility::routes())
        .merge(webhooks::routes());
    #[cfg(debug_assertions)]
    let routes = routes.merge(design::routes());
    if app.settings.is_insecure() {
        routes.layer(middleware::from_fn(page::warn_of_plain_http))
    } else {
        routes
    }
}
