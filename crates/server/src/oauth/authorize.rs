//! `/oauth/authorize`: a person is asked, and decides.

use std::sync::Arc;

use askama::Template;
use axum::{body::Body, extract::State};
use http::{Request, Response, StatusCode};
use searchwright_contract::{Scope, ids::UserId};
use searchwright_engine::{identity::connections::NewStep, identity::connections::Step, identity::redirects};
use searchwright_people::{
    Caller, account::ProjectReach, oauth::requests::Authorization, oauth::requests::Fault,
    oauth::requests::Request as AuthorizationRequest,
};
use searchwright_store::oauth_clients::ClientKind;

use crate::{
    app::App,
    dashboard::{
        page::{self, Form, Layout},
        session::{self, Visitor},
    },
};

/// Lifetime of access, as the page says it.
const LIFETIME: &str = "until you end it on your account page, or for 180 days at most; after 30 days without use it ends by itself";

#[derive(Template)]
#[template(path = "consent.html")]
struct Consent<'a> {
    layout: Layout,
    client_name: &'a str,
    client_host: String,
    redirect_host: String,
    is_on_loopback: bool,
    is_verified: bool,
    /// Created by the operator of this server, who gave it its name.
    is_of_operator: bool,
    resource: &'a str,
    groups: Vec<Group>,
    /// Permissions that were not asked for, and that the person may add: many programs ask only for reading, and cannot ask for
    /// more later.
    more: Vec<Group>,
    projects: Vec<ProjectReach>,
    more_projects: usize,
    person: &'a str,
    email: &'a str,
    lifetime: &'static str,
    request: String,
    csrf: String,
}

/// Scopes of one kind.
struct Group {
    title: &'static str,
    scopes: Vec<Scope>,
}

fn groups(scopes: &[Scope]) -> Vec<Group> {
    let title = |scope: Scope| match scope {
        Scope::ContentGenerate | Scope::VisibilityTrack => "May cost money",
        Scope::ContentPublish => "Publish",
        scope if scope.writes() => "Change",
        _ => "Read",
    };
    ["Read", "Change", "May cost money", "Publish"]
        .into_iter()
        .map(|group| Group {
            title: group,
            scopes: scopes
                .iter()
                .copied()
                .filter(|scope| title(*scope) == group)
                .collect(),
        })
        .filter(|group| !group.scopes.is_empty())
        .collect()
}

fn not_asked(asked: &[Scope]) -> Vec<Scope> {
    let all = Scope::ALL.iter().copied();
    all.filter(|scope| !asked.iter().any(|asked| asked.grants(*scope)))
        .collect()
}

#[derive(Template)]
#[template(path = "client_fault.html")]
struct ClientFault<'a> {
    layout: Layout,
    client_name: &'a str,
    code: &'static str,
    description: &'a str,
    location: &'a str,
    redirect_host: String,
}

/// Shows the consent page; before that, the sign-in page to somebody who is not signed in.
pub(super) async fn ask(State(app): State<Arc<App>>, request: Request<Body>) -> Response<Body> {
    let query = request.uri().query().unwrap_or_default().to_owned();
    let visitor = match session::visitor(&app, request.headers()).await {
        Ok(visitor) => visitor,
        Err(response) => return *response,
    };
    let read = app
        .people
        .read_authorization(query.as_bytes(), &app.resources, visitor.is_some())
        .await;
    let authorization = match read {
        Ok(authorization) => authorization,
        Err(failure) => return page::failed(&failure),
    };
    let refused = |why: &str| Some(why.to_owned());
    let (step, detail) = match (&authorization, &visitor) {
        (Authorization::Refused(why), _) => (Step::AuthorizationRefused, refused(why)),
        (Authorization::SignInFirst, _) | (_, None) => (Step::SignInShown, None),
        (Authorization::Fault(fault), _) => (Step::AuthorizationRefused, refused(&fault.error.description)),
        (Authorization::Ask(_), _) => (Step::ConsentShown, None),
    };
    let client = session::query_parameter(&request, "client_id");
    let caller = session::caller(&request);
    let user = visitor.as_ref().map(|visitor| visitor.session.user);
    record(&app, &caller, step, &client, user, detail.as_deref());
    match (authorization, visitor) {
        (Authorization::Refused(why), _) => page::notice(
            StatusCode::BAD_REQUEST,
            "The program cannot be connected",
            &format!("Its request is not acceptable: {why}. Nothing was granted."),
        ),
        (Authorization::SignInFirst, _) | (_, None) => {
            session::to_sign_in(&format!("/oauth/authorize?{query}"))
        }
        (Authorization::Fault(fault), Some(_)) => told(&fault),
        (Authorization::Ask(asked), Some(visitor)) => consent(&app, &asked, &visitor).await,
    }
}

fn record(app: &App, caller: &Caller, step: Step, client: &str, user: Option<UserId>, detail: Option<&str>) {
    let step = NewStep {
        step,
        address: &caller.address,
        user_agent: &caller.user_agent,
        client: Some(client).filter(|client| !client.is_empty()),
        user,
        detail,
    };
    app.people.connections.record(&app.engine.clock, step);
}

/// Shows a mistake of a client. Only the program of this server is sent its error without a click: a page of ours must not be a
/// redirector for others.
fn told(fault: &Fault) -> Response<Body> {
    if fault.client.kind == ClientKind::BuiltIn {
        return page::see_other(&fault.location);
    }
    let view = ClientFault {
        layout: Layout::new("The program made a mistake"),
        client_name: &fault.client.name,
        code: fault.error.code.as_str(),
        description: &fault.error.description,
        location: &fault.location,
        redirect_host: redirects::host(&fault.location),
    };
    page::respond(StatusCode::BAD_REQUEST, &view, Form::OfOthers)
}

async fn consent(app: &App, asked: &AuthorizationRequest, visitor: &Visitor) -> Response<Body> {
    let prepared = async {
        let request = app.people.ask_consent(asked, visitor.session.id).await?;
        let projects = app.people.project_reaches(visitor.session.user).await?;
        Ok::<_, searchwright_engine::Failure>((request, projects))
    };
    let (request, (projects, more_projects)) = match prepared.await {
        Ok(prepared) => prepared,
        Err(failure) => return page::failed(&failure),
    };
    let client = &asked.client;
    let view = Consent {
        layout: Layout::new("Connect a program"),
        client_name: &client.name,
        client_host: match client.kind {
            ClientKind::Document => redirects::host(&client.id),
            ClientKind::BuiltIn | ClientKind::Created | ClientKind::Registered => String::new(),
        },
        redirect_host: redirects::host(&asked.redirect_uri),
        is_on_loopback: redirects::is_on_loopback(&asked.redirect_uri),
        is_verified: client.kind == ClientKind::BuiltIn,
        is_of_operator: client.kind == ClientKind::Created,
        resource: &asked.resource,
        groups: groups(&asked.scopes),
        more: groups(&not_asked(&asked.scopes)),
        projects,
        more_projects,
        person: &visitor.session.user_name,
        email: &visitor.session.email,
        lifetime: LIFETIME,
        request,
        csrf: visitor.csrf(),
    };
    // `form-action` would be applied to the redirect that answers this form, and stop it.
    page::respond(StatusCode::OK, &view, Form::OfOthers)
}

/// Carries out the decision, and sends the person back to the client.
pub(super) async fn decide(State(app): State<Arc<App>>, request: Request<Body>) -> Response<Body> {
    let (visitor, form, caller) = match session::receive(&app, request).await {
        Ok(received) => received,
        Err(response) => return *response,
    };
    let scopes: Vec<String> = form.all("scope").map(str::to_owned).collect();
    let is_allowed = form.get("decision") == "allow";
    if is_allowed && scopes.is_empty() {
        return page::notice(
            StatusCode::BAD_REQUEST,
            "Nothing was chosen",
            "No permission was ticked, so nothing was granted. Go back and tick what the program may do, or decline.",
        );
    }
    let decided = app
        .people
        .decide(
            form.get("request"),
            &visitor.session,
            is_allowed.then_some(scopes.as_slice()),
            &app.resources,
            &caller,
        )
        .await;
    match decided {
        Ok(Some(decided)) => {
            let step = if is_allowed { Step::Allowed } else { Step::Declined };
            let user = Some(visitor.session.user);
            record(&app, &caller, step, &decided.client, user, None);
            page::see_other(&decided.location)
        }
        Ok(None) => page::notice(
            StatusCode::BAD_REQUEST,
            "This was answered before",
            "The form was sent before, or it is older than 10 minutes. Start again from the program that wants to connect.",
        ),
        Err(failure) => page::failed(&failure),
    }
}
