//! `/projects/{id}/visibility`: how AI assistants name and cite the brand, what they are asked, and what to do next.
//! `/projects/{id}/visibility/prompts/{promptId}`: one prompt with its answers.

mod engines;
mod marked;
mod names;
mod opportunities;
mod overview;
mod prompt;
mod prompts;
mod reports;
mod runs;
pub(super) mod shared;
mod shown;

use std::sync::Arc;

use axum::{Router, routing::get};
use searchwright_engine::failure;

use self::shown::{RefusedForm, VisibilityTab};
use super::{
    export::CsvFile,
    visit::{self, PageResult, SentForm, Visit},
};
use crate::app::App;

/// The pages.
pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/projects/{project}/visibility", get(show).post(change))
        .merge(files())
        .merge(prompt::routes())
}

/// Files of the tables of the tabs.
fn files() -> Router<Arc<App>> {
    let of_overview = |name, member| CsvFile { name, member }.route(overview::listing);
    let brands = of_overview("visibility-competitors", "competitors");
    let opportunities =
        CsvFile::of_list("opportunities").route(|visit| opportunities::listing(visit, 15, None));
    let files = [
        ("days", of_overview("visibility", "trend")),
        ("competitors", brands),
        ("sources", of_overview("sources", "citedSources")),
        ("prompts", CsvFile::of_list("prompts").route(prompts::listing)),
        ("opportunities", opportunities),
        ("names", CsvFile::of_list("names").route(names::listing)),
        ("engines", CsvFile::of_list("engines").route(engines::listing)),
        ("runs", CsvFile::of_list("runs").route(runs::listing)),
    ];
    files.into_iter().fold(Router::new(), |routes, (name, file)| {
        routes.route(&format!("/projects/{{project}}/visibility/{name}.csv"), file)
    })
}

async fn show_tab(visit: &Visit, refused: Option<&RefusedForm<'_>>) -> PageResult {
    match VisibilityTab::from_address(visit) {
        VisibilityTab::Overview => overview::show(visit).await,
        VisibilityTab::Prompts => prompts::show(visit, refused).await,
        VisibilityTab::Opportunities => opportunities::show(visit, refused).await,
        VisibilityTab::Names => names::show(visit, refused).await,
        VisibilityTab::Engines => engines::show(visit).await,
        VisibilityTab::Runs => runs::show(visit).await,
        VisibilityTab::Reports => reports::show(visit, refused).await,
    }
}

async fn show(visit: Visit) -> PageResult {
    show_tab(&visit, None).await
}

async fn change(sent: SentForm) -> PageResult {
    let changed = match sent.form.get("action") {
        "add" => prompts::add(&sent).await,
        "pause" | "resume" => prompts::set_status(&sent).await,
        "suggest" => prompts::add_suggested(&sent).await,
        "alias" | "competitor" | "ignore" | "open" => names::decide(&sent).await,
        "step" => opportunities::carry_out(&sent).await,
        "import" => reports::import(&sent).await,
        _ => Err(failure::fault("", "invalid", "choose one of the buttons")),
    };
    match changed {
        Ok(response) => Ok(response),
        Err(failure) => match visit::refusal(&failure) {
            Some((status, text)) => {
                let refused = RefusedForm {
                    status,
                    text,
                    sent: &sent,
                };
                show_tab(&sent.visit, Some(&refused)).await
            }
            None => Err(failure.into()),
        },
    }
}
