//! `/projects/{id}/settings/members`: members of the workspace of a project, and invitations to it.

use std::sync::Arc;

use askama::Template;
use axum::{
    Router,
    extract::Path,
    routing::{get, post},
};
use http::StatusCode;
use searchwright_contract::{
    ids::{InvitationId, UserId},
    people::Role,
};
use searchwright_engine::Failure;
use searchwright_people::members::Members;

use super::{
    frame::{ProjectFrame, Section},
    page::{self, Form, minute},
    visit::{self, ConfirmedForm, PageResult, Visit},
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
    frame: ProjectFrame,
    base: String,
    user: UserId,
    members: Members,
    roles: Vec<Role>,
    is_recent: bool,
    /// Link of an invitation that was just made; it is shown once.
    link: Option<String>,
    mailed_to: Option<&'a str>,
    wrong: Option<&'a str>,
}

impl MembersView<'_> {
    fn page(&self) -> &str {
        &self.base
    }

    /// Returns whether the person who looks may change a member.
    fn may_change(&self, role: &Role) -> bool {
        self.is_recent && self.members.may_manage() && self.members.workspace.role >= *role
    }
}

fn address(visit: &Visit) -> String {
    visit.address("/settings/members")
}

/// Remarks beside the members.
#[derive(Default)]
struct Said<'a> {
    link: Option<String>,
    mailed_to: Option<&'a str>,
    wrong: Option<&'a str>,
}

async fn view(visit: &Visit, status: StatusCode, said: Said<'_>) -> PageResult {
    let members = visit.app().people.members(visit.user(), visit.project.id).await?;
    let own = members.workspace.role;
    let view = MembersView {
        frame: visit.frame("Members", Section::Settings),
        base: address(visit),
        user: visit.user(),
        roles: Role::ALL.iter().copied().filter(|role| *role <= own).collect(),
        members,
        is_recent: visit.confirm().is_none(),
        link: said.link,
        mailed_to: said.mailed_to,
        wrong: said.wrong,
    };
    Ok(page::respond(status, &view, Form::OwnWithScript))
}

async fn show(visit: Visit) -> PageResult {
    view(&visit, StatusCode::OK, Said::default()).await
}

async fn changed(visit: &Visit, outcome: Result<(), Failure>) -> PageResult {
    match outcome {
        Ok(()) => Ok(page::see_other(&address(visit))),
        Err(failure) => match visit::refusal(&failure) {
            Some((status, wrong)) => {
                let said = Said {
                    wrong: Some(&wrong),
                    ..Said::default()
                };
                view(visit, status, said).await
            }
            None => Err(failure.into()),
        },
    }
}

async fn invite(confirmed: ConfirmedForm) -> PageResult {
    let ConfirmedForm { sent, by, caller } = &confirmed;
    let (form, visit, app) = (&sent.form, &sent.visit, sent.visit.app());
    let Ok(role) = form.get("role").parse::<Role>() else {
        let said = Said {
            wrong: Some("Choose a role."),
            ..Said::default()
        };
        return view(visit, StatusCode::UNPROCESSABLE_ENTITY, said).await;
    };
    let invited = app
        .people
        .invite(by, visit.project.id, role, form.get("email"), caller)
        .await;
    match invited {
        Ok(token) => {
            let link = format!("{}/invitations/{token}", app.settings.public_url);
            let email = form.get("email").trim();
            let mailed = match email {
                "" => Ok(false),
                _ => app.people.mail_invitation(visit.session(), &token, email).await,
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
            view(visit, StatusCode::OK, said).await
        }
        Err(failure) => changed(visit, Err(failure)).await,
    }
}

async fn withdraw(Path((_, invitation)): Path<(String, String)>, confirmed: ConfirmedForm) -> PageResult {
    let Ok(invitation) = InvitationId::parse(&invitation) else {
        return Ok(visit::not_found());
    };
    let ConfirmedForm { sent, by, caller } = &confirmed;
    let (app, project) = (sent.visit.app(), sent.visit.project.id);
    let outcome = app
        .people
        .withdraw_invitation(by, project, invitation, caller)
        .await;
    changed(&sent.visit, outcome).await
}

async fn set_role(Path((_, member)): Path<(String, String)>, confirmed: ConfirmedForm) -> PageResult {
    change(&confirmed, &member, true).await
}

async fn remove(Path((_, member)): Path<(String, String)>, confirmed: ConfirmedForm) -> PageResult {
    change(&confirmed, &member, false).await
}

async fn change(confirmed: &ConfirmedForm, member: &str, is_kept: bool) -> PageResult {
    let ConfirmedForm { sent, by, caller } = confirmed;
    let visit = &sent.visit;
    let Ok(member) = UserId::parse(member) else {
        return Ok(visit::not_found());
    };
    let role = match sent.form.get("role").parse::<Role>() {
        Ok(role) => Some(role).filter(|_| is_kept),
        Err(_) if is_kept => return Ok(page::see_other(&address(visit))),
        Err(_) => None,
    };
    let people = &visit.app().people;
    let outcome = people
        .change_member(by, visit.project.id, member, role, caller)
        .await;
    if outcome.is_ok() && !is_kept && member == visit.user() {
        return Ok(page::see_other("/account"));
    }
    changed(visit, outcome).await
}
