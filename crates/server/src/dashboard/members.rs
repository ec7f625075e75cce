//! `/projects/{id}/settings/members`: members of the workspace of a project, and invitations to it.

use std::sync::Arc;

use askama::Template;
use axum::{
    Router,
    body::Body,
    extract::{Path, State},
    routing::{get, post},
};
use http::{Request, Response, StatusCode};
use searchwright_contract::{
    ids::{InvitationId, ProjectId, UserId},
    people::Role,
};
use searchwright_engine::Failure;
use searchwright_people::members::Members;

use super::{
    page::{self, Form, Layout, minute},
    session::{self, Visitor},
};
use crate::app::App;

/// The pages.
pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/projects/{project}/settings/members", get(show))
        .route("/projects/{project}/settings/members/invite", post(invite))
        .route(
            "/projects/{project}/settings/members/invitations/{invitation}/withdraw",
            post(withdraw),
        )
        .route(
            "/projects/{project}/settings/members/{member}/role",
            post(set_role),
        )
        .route(
            "/projects/{project}/settings/members/{member}/remove",
            post(remove),
        )
}

#[derive(Template)]
#[template(path = "members.html")]
struct MembersView<'a> {
    layout: Layout,
    project: ProjectId,
    user: UserId,
    members: Members,
    roles: Vec<Role>,
    csrf: String,
    is_recent: bool,
    /// Link of an invitation that was just made; it is shown once.
    link: Option<String>,
    mailed_to: Option<&'a str>,
    wrong: Option<&'a str>,
}

impl MembersView<'_> {
    fn page(&self) -> String {
        address(self.project)
    }

    /// Returns whether the person who looks may change a member.
    fn may_change(&self, role: &Role) -> bool {
        self.is_recent && self.members.may_manage() && self.members.workspace.role >= *role
    }
}

fn address(project: ProjectId) -> String {
    format!("/projects/{project}/settings/members")
}

fn no_project() -> Response<Body> {
    page::notice(
        StatusCode::NOT_FOUND,
        "Not found",
        "There is no such project, or your account has no access to it.",
    )
}

/// Remarks beside the members.
#[derive(Default)]
struct Said<'a> {
    link: Option<String>,
    mailed_to: Option<&'a str>,
    wrong: Option<&'a str>,
}

async fn view(
    app: &App,
    visitor: &Visitor,
    project: ProjectId,
    status: StatusCode,
    said: Said<'_>,
) -> Response<Body> {
    let members = match app.people.members(visitor.session.user, project).await {
        Ok(members) => members,
        Err(failure) if failure.0.status == 404 => return no_project(),
        Err(failure) => return page::failed(&failure),
    };
    let own = members.workspace.role;
    let view = MembersView {
        layout: Layout::new("Members"),
        project,
        user: visitor.session.user,
        roles: Role::ALL.iter().copied().filter(|role| *role <= own).collect(),
        members,
        csrf: visitor.csrf(),
        is_recent: app.people.recent(&visitor.session).is_some(),
        link: said.link,
        mailed_to: said.mailed_to,
        wrong: said.wrong,
    };
    page::respond(status, &view, Form::Own)
}

async fn show(
    State(app): State<Arc<App>>,
    Path(project): Path<String>,
    request: Request<Body>,
) -> Response<Body> {
    let visitor = match session::need_visitor(&app, request.headers(), request.uri().path()).await {
        Ok(visitor) => visitor,
        Err(response) => return *response,
    };
    match ProjectId::parse(&project) {
        Ok(project) => view(&app, &visitor, project, StatusCode::OK, Said::default()).await,
        Err(_) => no_project(),
    }
}

async fn changed(
    app: &App,
    visitor: &Visitor,
    project: ProjectId,
    outcome: Result<(), Failure>,
) -> Response<Body> {
    match outcome {
        Ok(()) => page::see_other(&address(project)),
        Err(failure) if matches!(failure.0.status, 403 | 409 | 422) => {
            let status = StatusCode::from_u16(failure.0.status).unwrap_or(StatusCode::CONFLICT);
            let wrong = page::sentence(&failure);
            let said = Said {
                wrong: Some(&wrong),
                ..Said::default()
            };
            view(app, visitor, project, status, said).await
        }
        Err(failure) if failure.0.status == 404 => no_project(),
        Err(failure) => page::failed(&failure),
    }
}

async fn invite(
    State(app): State<Arc<App>>,
    Path(project): Path<String>,
    request: Request<Body>,
) -> Response<Body> {
    let Ok(project) = ProjectId::parse(&project) else {
        return no_project();
    };
    let received = match session::receive_privileged(&app, request, &address(project)).await {
        Ok(received) => received,
        Err(response) => return *response,
    };
    let (form, visitor) = (&received.form, &received.visitor);
    let Ok(role) = form.get("role").parse::<Role>() else {
        let wrong = "Choose a role.";
        let said = Said {
            wrong: Some(wrong),
            ..Said::default()
        };
        return view(&app, visitor, project, StatusCode::UNPROCESSABLE_ENTITY, said).await;
    };
    let invited = app
        .people
        .invite(&received.by, project, role, form.get("email"), &received.caller)
        .await;
    match invited {
        Ok(token) => {
            let link = format!("{}/invitations/{token}", app.settings.public_url);
            let email = form.get("email").trim();
            let mailed = match email {
                "" => Ok(false),
                _ => app.people.mail_invitation(&visitor.session, &token, email).await,
            };
            let said = Said {
                link: Some(link),
                mailed_to: Some(email).filter(|_| matches!(mailed, Ok(true))),
                wrong: mailed
                    .is_err()
                    .then_some("The link could not be mailed: the mail server did not take it."),
            };
            if let Err(failure) = &mailed {
                tracing::warn!(%failure, "an invitation was not mailed");
            }
            view(&app, visitor, project, StatusCode::OK, said).await
        }
        Err(failure) => changed(&app, visitor, project, Err(failure)).await,
    }
}

async fn withdraw(
    State(app): State<Arc<App>>,
    Path((project, invitation)): Path<(String, String)>,
    request: Request<Body>,
) -> Response<Body> {
    let (Ok(project), Ok(invitation)) = (ProjectId::parse(&project), InvitationId::parse(&invitation)) else {
        return no_project();
    };
    let received = match session::receive_privileged(&app, request, &address(project)).await {
        Ok(received) => received,
        Err(response) => return *response,
    };
    let outcome = app
        .people
        .withdraw_invitation(&received.by, project, invitation, &received.caller)
        .await;
    changed(&app, &received.visitor, project, outcome).await
}

async fn set_role(
    State(app): State<Arc<App>>,
    Path((project, member)): Path<(String, String)>,
    request: Request<Body>,
) -> Response<Body> {
    change(&app, &project, &member, request, true).await
}

async fn remove(
    State(app): State<Arc<App>>,
    Path((project, member)): Path<(String, String)>,
    request: Request<Body>,
) -> Response<Body> {
    change(&app, &project, &member, request, false).await
}

async fn change(
    app: &App,
    project: &str,
    member: &str,
    request: Request<Body>,
    is_kept: bool,
) -> Response<Body> {
    let (Ok(project), Ok(member)) = (ProjectId::parse(project), UserId::parse(member)) else {
        return no_project();
    };
    let received = match session::receive_privileged(app, request, &address(project)).await {
        Ok(received) => received,
        Err(response) => return *response,
    };
    let role = match received.form.get("role").parse::<Role>() {
        Ok(role) => Some(role).filter(|_| is_kept),
        Err(_) if is_kept => return page::see_other(&address(project)),
        Err(_) => None,
    };
    let outcome = app
        .people
        .change_member(&received.by, project, member, role, &received.caller)
        .await;
    if outcome.is_ok() && !is_kept && member == received.visitor.session.user {
        return page::see_other("/account");
    }
    changed(app, &received.visitor, project, outcome).await
}
