//! Inbox of names in answers that no tracked brand covers.

use askama::Template;
use axum::body::Body;
use http::Response;
use searchwright_contract::{
    Scope,
    brand::GetBrand,
    competitors::ListCompetitors,
    names::{DecideNames, ListNames, NameDecision, NameStatus, NameVerdict, UnknownName},
};
use searchwright_engine::{Failure, failure};

use super::shown::{RefusedForm, SeenOption, VisibilityTab, engine_names};
use crate::dashboard::{
    frame::{ProjectFrame, Section},
    page::{self, Form},
    show,
    visit::{self, FilterLink, PageResult, Paging, SentForm, Visit},
};

/// A quote with the prompt to which it is an answer.
struct QuoteRow {
    text: String,
    href: String,
}

/// A row of the inbox.
struct NameRow {
    unknown: UnknownName,
    name: String,
    engines: String,
    seen: String,
    near_to: Option<String>,
    quotes: Vec<QuoteRow>,
    is_ticked: bool,
}

impl NameRow {
    fn new(visit: &Visit, unknown: UnknownName, is_ticked: bool) -> Self {
        let quotes = unknown.quotes.iter().map(|quote| QuoteRow {
            text: show::cut(&quote.text, 200),
            href: visit.address(&format!("/visibility/prompts/{}", quote.prompt_id)),
        });
        Self {
            name: show::plain(&unknown.name),
            engines: engine_names(&unknown.engines),
            seen: unknown.last_seen_at.map_or_else(String::new, |at| visit.day(&at)),
            near_to: unknown.near_to.as_ref().map(|near| show::cut(&near.brand, 100)),
            quotes: quotes.collect(),
            is_ticked,
            unknown,
        }
    }
}

#[derive(Template)]
#[template(path = "visibility_names.html")]
struct NamesView {
    frame: ProjectFrame,
    tabs: Vec<FilterLink>,
    statuses: Vec<FilterLink>,
    is_ignored: bool,
    rows: Vec<NameRow>,
    brands: Vec<SeenOption>,
    may_write: bool,
    may_change_brands: bool,
    paging: Paging,
    wrong: Option<String>,
    domain: String,
}

/// The list with the filters of the address.
pub(super) fn listing(visit: &Visit) -> ListNames {
    ListNames {
        project_id: visit.project_id(),
        status: visit.parsed("status"),
        limit: Some(50),
        cursor: visit.cursor(),
    }
}

/// Shows the names.
pub(super) async fn show(visit: &Visit, refused: Option<&RefusedForm<'_>>) -> PageResult {
    let asked = listing(visit);
    let listed = visit.read(&asked).await?;
    let brand = visit
        .read(&GetBrand {
            project_id: visit.project_id(),
        })
        .await?;
    let competitors = visit
        .read(&ListCompetitors {
            project_id: visit.project_id(),
            limit: Some(100),
            cursor: None,
        })
        .await?;
    let chosen = RefusedForm::typed(refused, "brand");
    let mut brands = vec![SeenOption::new(
        "own",
        format!("{} (you)", show::cut(&brand.profile.name, 80)),
        chosen == "own",
    )];
    for competitor in competitors.data {
        let id = competitor.id.to_string();
        let is_chosen = chosen == id;
        brands.push(SeenOption::new(
            id,
            show::cut(&competitor.data.name, 80),
            is_chosen,
        ));
    }
    let view = NamesView {
        frame: visit.frame("Names", Section::Visibility),
        tabs: VisibilityTab::Names.links(visit),
        statuses: vec![
            FilterLink::new(visit, "status", None, "To decide"),
            FilterLink::new(visit, "status", Some("ignored"), "Ignored"),
        ],
        is_ignored: asked.status == Some(NameStatus::Ignored),
        brands,
        may_write: visit.may(Scope::VisibilityWrite),
        may_change_brands: visit.may(Scope::BrandWrite),
        paging: Paging::new(visit, listed.next_cursor.as_deref()).with_file(visit, "/visibility/names.csv"),
        rows: listed
            .data
            .into_iter()
            .map(|unknown| {
                let is_ticked = RefusedForm::has(refused, "row", &show::plain(&unknown.name));
                NameRow::new(visit, unknown, is_ticked)
            })
            .collect(),
        wrong: RefusedForm::reason(refused),
        domain: RefusedForm::typed(refused, "domain"),
    };
    Ok(page::respond(
        RefusedForm::status(refused),
        &view,
        Form::OwnWithScript,
    ))
}

/// Decides on the names that are ticked.
pub(super) async fn decide(sent: &SentForm) -> Result<Response<Body>, Failure> {
    let names: Vec<&str> = sent.form.all("row").collect();
    if names.is_empty() {
        return Err(visit::nothing_selected());
    }
    let decision: NameVerdict = sent
        .form
        .get("action")
        .parse()
        .map_err(|e: String| failure::fault("", "invalid", e))?;
    let domain = sent.form.get("domain").trim();
    if decision == NameVerdict::Competitor && (names.len() > 1 || domain.is_empty()) {
        let why = "a new competitor needs its website: tick one name, and type the website beside the button";
        return Err(failure::fault("", "invalid", why));
    }
    let brand = sent.form.get("brand");
    let items = names.iter().map(|name| NameDecision {
        name: (*name).to_owned(),
        decision,
        competitor_id: (decision == NameVerdict::Alias && brand != "own" && !brand.is_empty())
            .then(|| brand.to_owned()),
        domain: (decision == NameVerdict::Competitor).then(|| domain.to_owned()),
    });
    let decided = sent
        .change(&DecideNames {
            project_id: sent.visit.project_id(),
            items: items.collect(),
        })
        .await?;
    let code = if decided.job.is_some() {
        "names-recounted"
    } else {
        "names-decided"
    };
    let address = VisibilityTab::Names.address(&sent.visit);
    Ok(sent.done(&address, code, decided.data.len() as u64))
}
