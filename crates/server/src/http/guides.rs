//! `/llms.txt` and `/skill.md`: where an agent begins that has nothing but the address.
//!
//! `/llms.txt` is a list of links (<https://llmstxt.org>), `/skill.md` an Agent Skill (<https://agentskills.io>). Both are made
//! from the table, with the addresses of this installation.

use std::sync::Arc;

use askama::Template;
use axum::{body::Body, extract::State};
use http::{HeaderMap, HeaderValue, Response, header};
use searchwright_contract::Effect;
use searchwright_engine::Endpoint;

use super::kept::KeptDocument;
use crate::app::App;

const MARKDOWN: &str = "text/markdown; charset=utf-8";

/// An operation in one line.
struct OperationLine {
    name: &'static str,
    what: String,
}

#[derive(Template)]
#[template(path = "llms.txt")]
struct LinkList {
    origin: String,
    base: String,
    mcp: String,
    operations: Vec<OperationLine>,
}

impl OperationLine {
    /// Resource of the operation, which has a page of the manual.
    fn resource(&self) -> &str {
        self.name.split('.').next().unwrap_or_default()
    }
}

/// Operations on one resource.
struct ResourceVerbs {
    name: &'static str,
    verbs: String,
}

#[derive(Template)]
#[template(path = "skill.md")]
struct Skill {
    origin: String,
    base: String,
    mcp: String,
    spends: String,
    publishes: String,
    groups: Vec<ResourceVerbs>,
}

/// Serves `/llms.txt` to anyone.
pub async fn serve_links(State(app): State<Arc<App>>, request: HeaderMap) -> Response<Body> {
    let kept = app.llms.get_or_init(|| {
        let operations = app.engine.endpoints.iter().map(|endpoint| OperationLine {
            name: endpoint.meta.name,
            what: endpoint
                .description
                .split("\n\n")
                .next()
                .unwrap_or_default()
                .replace('\n', " "),
        });
        let links = LinkList {
            origin: app.settings.public_url.clone(),
            base: app.settings.base_url(),
            mcp: app.settings.mcp_url.clone(),
            operations: operations.collect(),
        };
        KeptDocument::new(links.render().unwrap_or_default())
    });
    answer(kept, &request)
}

/// Serves `/skill.md` to anyone.
pub async fn serve_skill(State(app): State<Arc<App>>, request: HeaderMap) -> Response<Body> {
    let kept = app.skill.get_or_init(|| {
        let endpoints = &app.engine.endpoints;
        let skill = Skill {
            origin: app.settings.public_url.clone(),
            base: app.settings.base_url(),
            mcp: app.settings.mcp_url.clone(),
            spends: names(endpoints, Effect::Spend),
            publishes: names(endpoints, Effect::Publish),
            groups: groups(endpoints),
        };
        KeptDocument::new(skill.render().unwrap_or_default())
    });
    answer(kept, &request)
}

fn answer(kept: &KeptDocument, request: &HeaderMap) -> Response<Body> {
    let mut response = kept.answer(request, MARKDOWN);
    response
        .headers_mut()
        .insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    response
}

/// Returns the names of the operations with an effect, as a sentence lists them.
fn names(endpoints: &[Endpoint], effect: Effect) -> String {
    let of_effect = endpoints.iter().filter(|endpoint| endpoint.meta.effect == effect);
    let names: Vec<String> = of_effect
        .map(|endpoint| format!("`{}`", endpoint.meta.name))
        .collect();
    names.join(", ")
}

fn groups(endpoints: &[Endpoint]) -> Vec<ResourceVerbs> {
    let mut groups: Vec<ResourceVerbs> = Vec::new();
    for endpoint in endpoints {
        let (name, verb) = endpoint.meta.name.split_once('.').unwrap_or_default();
        match groups.iter_mut().find(|group| group.name == name) {
            Some(group) => {
                group.verbs.push_str(", ");
                group.verbs.push_str(verb);
            }
            None => groups.push(ResourceVerbs {
                name,
                verbs: verb.to_owned(),
            }),
        }
    }
    groups
}
