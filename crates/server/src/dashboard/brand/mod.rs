//! `/projects/{id}/brand`: the profile of the brand, its products, competitors, questions and calls to action.

mod form;
mod resource;

use std::sync::Arc;

use askama::Template;
use axum::{Router, body::Body, routing::get};
use http::{Response, StatusCode};
use searchwright_contract::Scope;
use searchwright_engine::{Failure, failure};
use serde_json::{Value, json};

use self::{
    form::{BrandField, ProductName, text_of},
    resource::{BrandResource, PROFILE},
};
use super::{
    frame::{ProjectFrame, Section},
    page::{self, Form},
    show,
    visit::{self, FilterLink, PageResult, Paging, SentForm, Visit},
};
use crate::app::App;

/// The pages.
pub(super) fn routes() -> Router<Arc<App>> {
    let routes = Router::new().route("/projects/{project}/brand", get(show_brand).post(change));
    BrandResource::ALL.iter().fold(routes, |routes, resource| {
        let path = format!("/projects/{{project}}/brand/{}.csv", resource.word());
        routes.route(&path, resource.file())
    })
}

/// A form that was refused.
struct RefusedBrand<'a> {
    status: StatusCode,
    text: String,
    sent: &'a SentForm,
}

/// A cell of a row.
struct BrandCell {
    label: &'static str,
    text: String,
}

/// A row of the table of a resource.
struct BrandItemRow {
    name: String,
    href: String,
    note: String,
    cells: Vec<BrandCell>,
}

#[derive(Template)]
#[template(path = "brand_profile.html")]
struct BrandProfileView {
    frame: ProjectFrame,
    tabs: Vec<FilterLink>,
    fields: Vec<BrandField>,
    version: String,
    updated: Option<String>,
    may_write: bool,
    wrong: Option<String>,
}

#[derive(Template)]
#[template(path = "brand_items.html")]
struct BrandItemsView {
    frame: ProjectFrame,
    tabs: Vec<FilterLink>,
    resource: BrandResource,
    labels: Vec<&'static str>,
    rows: Vec<BrandItemRow>,
    fields: Vec<BrandField>,
    /// The item that is changed, with its name.
    edited: Option<EditedItem>,
    all: String,
    is_open: bool,
    may_write: bool,
    paging: Paging,
    wrong: Option<String>,
}

/// The item whose form is shown.
struct EditedItem {
    id: String,
    name: String,
    version: String,
}

fn tabs(visit: &Visit, current: Option<BrandResource>) -> Vec<FilterLink> {
    let mut links = vec![FilterLink {
        href: visit.address("/brand"),
        text: "Profile".to_owned(),
        is_current: current.is_none(),
    }];
    for resource in BrandResource::ALL {
        links.push(FilterLink {
            href: visit.address(&format!("/brand?view={}", resource.word())),
            text: resource.title().to_owned(),
            is_current: current == Some(resource),
        });
    }
    links
}

fn resource_of(visit: &Visit) -> Option<BrandResource> {
    let named = visit.parameter("view")?;
    BrandResource::ALL
        .into_iter()
        .find(|resource| resource.word() == named)
}

fn status_of(refused: Option<&RefusedBrand<'_>>) -> StatusCode {
    refused.map_or(StatusCode::OK, |refused| refused.status)
}

fn version_of(record: &Value, id: &str) -> String {
    format!("{id}-{}", text_of(&record["version"]))
}

async fn show_profile(visit: &Visit, refused: Option<&RefusedBrand<'_>>) -> PageResult {
    let brand = resource::profile(visit).await?;
    let updated = brand["updatedAt"].as_str().and_then(|at| at.parse().ok());
    let view = BrandProfileView {
        frame: visit.frame("Brand", Section::Brand),
        tabs: tabs(visit, None),
        fields: match refused {
            Some(refused) => form::of_form(PROFILE, &refused.sent.form, &[]),
            None => form::of_record(PROFILE, &brand, &[]),
        },
        version: match refused {
            Some(refused) => refused.sent.form.get("version").to_owned(),
            None => version_of(&brand, &visit.project_id()),
        },
        updated: updated.map(|at| visit.time(&at)),
        may_write: visit.may(Scope::BrandWrite),
        wrong: refused.map(|refused| refused.text.clone()),
    };
    Ok(page::respond(status_of(refused), &view, Form::OwnWithScript))
}

/// Name, note and cells of an item.
fn item_row(visit: &Visit, resource: BrandResource, item: &Value) -> BrandItemRow {
    let short = |name: &str| show::cut(&text_of(&item[name]), 120);
    let joined = |name: &str| {
        let parts: Vec<String> = item[name].as_array().into_iter().flatten().map(text_of).collect();
        show::cut(&parts.join(", "), 160)
    };
    let day = |name: &str| short(name).chars().take(10).collect::<String>();
    let cell = |label, text| BrandCell { label, text };
    let (name, note, cells) = match resource {
        BrandResource::Products => {
            let price = match item["price"]["amount"].as_f64() {
                Some(amount) => format!("{amount} {}", text_of(&item["price"]["currency"])),
                None => String::new(),
            };
            let status = if item["status"] == "retired" {
                "no longer on offer"
            } else {
                "on offer"
            };
            let cells = vec![
                cell("Category", short("category")),
                cell("Price", price),
                cell("Status", status.to_owned()),
                cell("Features", joined("features")),
            ];
            (short("name"), joined("aliases"), cells)
        }
        BrandResource::Competitors => {
            let is_compared = if item["active"] == true { "yes" } else { "no" };
            let cells = vec![
                cell("Website", short("domain")),
                cell("Other domains", joined("ownedDomains")),
                cell("Compared", is_compared.to_owned()),
            ];
            (short("name"), joined("aliases"), cells)
        }
        BrandResource::Faqs => {
            let cells = vec![
                cell("Language", short("language")),
                cell("Labels", joined("tags")),
                cell("Verified", day("verifiedAt")),
            ];
            (
                show::cut(&text_of(&item["question"]), 300),
                show::cut(&text_of(&item["answer"]), 160),
                cells,
            )
        }
        BrandResource::Ctas => {
            let cells = vec![
                cell("Place", short("placement")),
                cell("Priority", short("priority")),
                cell("Intents", joined("intents")),
                cell("Until", day("activeTo")),
            ];
            (short("label"), short("url"), cells)
        }
    };
    let id = text_of(&item["id"]);
    BrandItemRow {
        href: visit.address(&format!("/brand?view={}&edit={id}", resource.word())),
        name,
        note,
        cells,
    }
}

/// Products that a call to action can be about.
async fn product_names(visit: &Visit, resource: BrandResource) -> Result<Vec<ProductName>, Failure> {
    if resource != BrandResource::Ctas {
        return Ok(Vec::new());
    }
    let listed = BrandResource::Products.list(visit, 100, None).await?;
    let named = listed.data.iter();
    Ok(named
        .map(|item| ProductName {
            id: text_of(&item["id"]),
            name: show::cut(&text_of(&item["name"]), 80),
        })
        .collect())
}

/// The record of an empty form.
fn blank(resource: BrandResource) -> Value {
    match resource {
        BrandResource::Competitors => json!({ "active": true }),
        _ => json!({}),
    }
}

async fn show_items(
    visit: &Visit,
    resource: BrandResource,
    refused: Option<&RefusedBrand<'_>>,
) -> PageResult {
    let mut products = product_names(visit, resource).await?;
    let edited = match visit.parameter("edit") {
        Some(id) => Some(resource.get(visit, id).await?),
        None => None,
    };
    let listed = match &edited {
        Some(_) => resource::BrandItems {
            data: Vec::new(),
            next_cursor: None,
        },
        None => resource.list(visit, 50, visit.parameter("cursor")).await?,
    };
    let record = edited.clone().unwrap_or_else(|| blank(resource));
    // A product beyond those that are listed stays chosen.
    let chosen = text_of(&record["productId"]);
    if !chosen.is_empty() && !products.iter().any(|product| product.id == chosen) {
        products.push(ProductName {
            id: chosen,
            name: "the product that is chosen".to_owned(),
        });
    }
    let rows: Vec<BrandItemRow> = listed
        .data
        .iter()
        .map(|item| item_row(visit, resource, item))
        .collect();
    let labels = rows
        .first()
        .map(|row| row.cells.iter().map(|cell| cell.label).collect());
    let view = BrandItemsView {
        frame: visit.frame(resource.title(), Section::Brand),
        tabs: tabs(visit, Some(resource)),
        labels: labels.unwrap_or_default(),
        fields: match refused {
            Some(refused) => form::of_form(resource.fields(), &refused.sent.form, &products),
            None => form::of_record(resource.fields(), &record, &products),
        },
        edited: edited.map(|item| {
            let id = text_of(&item["id"]);
            EditedItem {
                name: item_row(visit, resource, &item).name,
                version: match refused {
                    Some(refused) => refused.sent.form.get("version").to_owned(),
                    None => version_of(&item, &id),
                },
                id,
            }
        }),
        all: visit.address(&format!("/brand?view={}", resource.word())),
        is_open: refused.is_some() || rows.is_empty(),
        rows,
        resource,
        may_write: visit.may(Scope::BrandWrite),
        paging: Paging::new(visit, listed.next_cursor.as_deref())
            .with_file(visit, &format!("/brand/{}.csv", resource.word())),
        wrong: refused.map(|refused| refused.text.clone()),
    };
    Ok(page::respond(status_of(refused), &view, Form::OwnWithScript))
}

async fn show_tab(visit: &Visit, refused: Option<&RefusedBrand<'_>>) -> PageResult {
    match resource_of(visit) {
        Some(resource) => show_items(visit, resource, refused).await,
        None => show_profile(visit, refused).await,
    }
}

async fn show_brand(visit: Visit) -> PageResult {
    show_tab(&visit, None).await
}

async fn carry_out(sent: &SentForm) -> Result<Response<Body>, Failure> {
    let Some(resource) = resource_of(&sent.visit) else {
        resource::update_profile(sent, form::typed(PROFILE, &sent.form)?).await?;
        return Ok(sent.done(&sent.visit.address("/brand"), "saved", 1));
    };
    let address = sent.visit.address(&format!("/brand?view={}", resource.word()));
    let id = sent.visit.parameter("edit").unwrap_or_default();
    let code = match sent.form.get("action") {
        "add" => {
            let item = form::typed(resource.fields(), &sent.form)?;
            resource.create(sent, item).await?;
            "added"
        }
        "save" => {
            let item = form::typed(resource.fields(), &sent.form)?;
            resource.update(sent, id, item).await?;
            "saved"
        }
        "delete" => {
            resource.delete(sent, id).await?;
            "deleted"
        }
        _ => return Err(failure::fault("", "invalid", "choose one of the buttons")),
    };
    Ok(sent.done(&address, code, 1))
}

async fn change(sent: SentForm) -> PageResult {
    match carry_out(&sent).await {
        Ok(response) => Ok(response),
        Err(failure) => match visit::refusal(&failure) {
            Some((status, text)) => {
                let refused = RefusedBrand {
                    status,
                    // People see one item, not a list of them.
                    text: text.replace("Items/0/", "").replace("items/0/", ""),
                    sent: &sent,
                };
                show_tab(&sent.visit, Some(&refused)).await
            }
            None => Err(failure.into()),
        },
    }
}
