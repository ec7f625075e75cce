//! `/projects/{id}/settings/keys`: the API keys of a project. A key is shown once, in the answer to the form that makes it.

use std::sync::Arc;

use askama::Template;
use axum::{Router, routing::get};
use http::StatusCode;
use searchwright_contract::{Instant, Problem, Scope, ids::CredentialId, people::Role};
use searchwright_engine::{Failure, admin::CreatedKey};
use searchwright_people::keys::KeyWish;
use searchwright_store::access::ListedKey;

use crate::{
    app::App,
    dashboard::{
        fields::{self, Choice},
        frame::{ProjectFrame, Section},
        page::{self, Form},
        show,
        visit::{self, ConfirmedForm, PageResult, SentForm, Visit},
    },
};

/// The page.
pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route("/projects/{project}/settings/keys", get(list).post(change))
}

/// Reaches of a key, as the form offers them.
const REACHES: [(&str, &str); 3] = [
    ("read", "Read everything, change nothing"),
    ("all", "Everything that the API can do"),
    ("chosen", "Only what is ticked below"),
];

/// A key of the list.
struct KeyRow {
    id: String,
    name: String,
    prefix: String,
    reach: String,
    scopes: Vec<&'static str>,
    created: String,
    last_used: Option<String>,
    expires: Option<String>,
    /// End with its reason; `None` while it is live.
    ended: Option<String>,
}

impl KeyRow {
    fn new(visit: &Visit, listed: &ListedKey, now: Instant) -> Self {
        let key = &listed.key;
        let ended = match (key.revoked_at, key.expires_at) {
            (Some(at), _) => Some(format!("revoked {}", visit.time(&at))),
            (None, Some(at)) if at <= now => Some(format!("expired {}", visit.time(&at))),
            _ => None,
        };
        let scopes: Vec<&str> = key
            .scopes
            .iter()
            .filter(|scope| !(key.read_only && scope.writes()))
            .map(|scope| scope.as_str())
            .collect();
        Self {
            id: key.id.to_string(),
            name: show::cut(&key.name, 100),
            prefix: key.prefix.clone(),
            reach: reach(key.read_only, &key.scopes),
            scopes,
            created: visit.time(&listed.created_at),
            last_used: key.last_used_at.map(|at| visit.time(&at)),
            expires: key.expires_at.map(|at| visit.time(&at)),
            ended,
        }
    }
}

/// Reach of a key, in a few words.
fn reach(is_read_only: bool, scopes: &[Scope]) -> String {
    let has = |scope: &&Scope| scopes.contains(*scope);
    let reads = Scope::ALL.iter().filter(|scope| !scope.writes());
    let writes = Scope::ALL.iter().filter(|scope| scope.writes());
    let (all_reads, all_writes) = (
        reads.clone().all(|scope| has(&scope)),
        writes.clone().all(|scope| has(&scope)),
    );
    let is_reading = is_read_only || !writes.clone().any(|scope| has(&scope));
    match (is_reading, all_reads, all_writes) {
        (true, true, _) => "reads everything".to_owned(),
        (false, true, true) => "everything".to_owned(),
        (true, false, _) => format!("reads {} of {}", reads.clone().filter(has).count(), reads.count()),
        _ => format!("{} of {} permissions", scopes.len(), Scope::ALL.len()),
    }
}

/// Fields of the form, as they were sent.
struct KeyFields {
    name: String,
    reach: String,
    scopes: Vec<String>,
    days: String,
}

impl Default for KeyFields {
    fn default() -> Self {
        Self {
            name: String::new(),
            reach: "read".to_owned(),
            scopes: Vec::new(),
            days: "365".to_owned(),
        }
    }
}

impl KeyFields {
    fn new(sent: &SentForm) -> Self {
        let field = |name, default: &str| match sent.form.get(name) {
            "" => default.to_owned(),
            value => value.to_owned(),
        };
        Self {
            name: sent.form.get("name").to_owned(),
            reach: field("reach", "read"),
            scopes: sent.form.all("scope").map(str::to_owned).collect(),
            days: field("days", "365"),
        }
    }

    /// The key that is asked for, or what is wrong with the form.
    fn wish(&self, id: Option<CredentialId>) -> Result<KeyWish, Failure> {
        let wrong =
            |pointer: &str, why: &str| -> Failure { Problem::fault(pointer, "not_a_choice", why).into() };
        let ticked: Vec<Scope> = self
            .scopes
            .iter()
            .filter_map(|scope| Scope::parse(scope))
            .collect();
        let scopes = match self.reach.as_str() {
            "chosen" if ticked.is_empty() => {
                return Err(wrong("", "tick at least one of the permissions"));
            }
            "chosen" => ticked,
            _ if !self.scopes.is_empty() => {
                return Err(wrong(
                    "",
                    "permissions are ticked, and only \u{201c}Only what is ticked below\u{201d} looks at them: choose it, or untick them",
                ));
            }
            "all" => Scope::ALL.to_vec(),
            _ => Scope::ALL
                .iter()
                .copied()
                .filter(|scope| !scope.writes())
                .collect(),
        };
        Ok(KeyWish {
            id,
            name: self.name.clone(),
            read_only: !scopes.iter().any(|scope| scope.writes()),
            scopes,
            days: fields::days(&self.days).map_err(|why| wrong("", &why))?,
        })
    }
}

#[derive(Template)]
#[template(path = "keys.html")]
struct KeysView {
    frame: ProjectFrame,
    live: Vec<KeyRow>,
    ended: Vec<KeyRow>,
    may_manage: bool,
    confirm: Option<String>,
    made: Option<CreatedKey>,
    wrong: Option<String>,
    name: String,
    reaches: Vec<Choice>,
    days: Vec<Choice>,
    scopes: Vec<(Choice, &'static str)>,
}

impl KeysView {
    fn has_ticked(&self) -> bool {
        self.scopes.iter().any(|(choice, _)| choice.is_chosen)
    }
}

/// Messages beside the list.
#[derive(Default)]
struct KeyRemarks {
    made: Option<CreatedKey>,
    wrong: Option<(StatusCode, String)>,
}

async fn show_list(visit: &Visit, fields: KeyFields, remarks: KeyRemarks) -> PageResult {
    let app = visit.app();
    let now = app.engine.clock.now();
    let keys = app.people.keys(visit.user(), visit.project.id).await?;
    let rows = keys.iter().map(|key| KeyRow::new(visit, key, now));
    let (live, ended) = rows.partition(|row| row.ended.is_none());
    let (status, wrong) = match remarks.wrong {
        Some((status, text)) => (status, Some(text)),
        None => (StatusCode::OK, None),
    };
    let scopes = Scope::ALL.iter().map(|scope| {
        let choice = Choice {
            value: scope.as_str().to_owned(),
            text: scope.help().to_owned(),
            is_chosen: fields.scopes.iter().any(|sent| sent == scope.as_str()),
        };
        (choice, scope.as_str())
    });
    let view = KeysView {
        frame: visit.frame("API keys", Section::Settings),
        live,
        ended,
        may_manage: visit.role >= Role::Admin,
        confirm: visit.confirm(),
        made: remarks.made,
        wrong,
        name: fields.name,
        reaches: Choice::list(REACHES, |reach| reach == fields.reach),
        days: Choice::list(fields::DAYS, |days| days == fields.days),
        scopes: scopes.collect(),
    };
    Ok(page::respond(status, &view, Form::OwnWithScript))
}

async fn list(visit: Visit) -> PageResult {
    show_list(&visit, KeyFields::default(), KeyRemarks::default()).await
}

async fn change(confirmed: ConfirmedForm) -> PageResult {
    let ConfirmedForm { sent, by, .. } = &confirmed;
    let (app, visit) = (sent.visit.app(), &sent.visit);
    if sent.form.get("action") == "revoke" {
        let Ok(id) = CredentialId::parse(sent.form.get("key")) else {
            return Ok(visit::not_found());
        };
        return match app.people.end_key(by, visit.project.id, id).await {
            Ok(_) => Ok(sent.done(&visit.address("/settings/keys"), "key-revoked", 1)),
            Err(failure) => refused(visit, KeyFields::default(), failure).await,
        };
    }
    let fields = KeyFields::new(sent);
    let id = fields::id_of_form(sent.form.get("once"), app.engine.clock.now());
    let made = match visit.check_manages().and_then(|()| fields.wish(id)) {
        Ok(wish) => app.people.make_key(by, visit.project.id, wish).await,
        Err(failure) => Err(failure),
    };
    match made {
        Ok(made) => {
            let remarks = KeyRemarks {
                made: Some(made),
                wrong: None,
            };
            show_list(visit, KeyFields::default(), remarks).await
        }
        Err(failure) => refused(visit, fields, failure).await,
    }
}

async fn refused(visit: &Visit, fields: KeyFields, failure: Failure) -> PageResult {
    let Some(wrong) = visit::refusal(&failure) else {
        return Err(failure.into());
    };
    let remarks = KeyRemarks {
        made: None,
        wrong: Some(wrong),
    };
    show_list(visit, fields, remarks).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reach_of_a_key_is_said_in_words() {
        let reads: Vec<Scope> = Scope::ALL.iter().copied().filter(|s| !s.writes()).collect();
        assert_eq!(reach(false, Scope::ALL), "everything");
        assert_eq!(reach(true, Scope::ALL), "reads everything");
        assert_eq!(reach(false, &reads), "reads everything");
        let some = [Scope::PostsRead, Scope::PostsWrite];
        assert_eq!(
            reach(false, &some),
            format!("2 of {} permissions", Scope::ALL.len())
        );
        assert_eq!(reach(true, &some), format!("reads 1 of {}", reads.len()));
    }
}
