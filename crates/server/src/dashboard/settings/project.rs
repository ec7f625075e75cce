//! `/projects/{id}/settings`: the pages of settings, and what a project is called, its language, its market and its time zone.

use askama::Template;
use http::StatusCode;
use searchwright_contract::people::Role;
use searchwright_engine::autopilot::zone_names;
use searchwright_people::projects::ProjectChange;

use super::{ENTRIES, SettingsEntry};
use crate::dashboard::{
    frame::{ProjectFrame, Section},
    page::{self, Form},
    show,
    visit::{self, PageResult, SentForm, Visit},
};

/// Fields of the form.
struct SettingsFields {
    name: String,
    language: String,
    country: String,
    zone: String,
    version: String,
}

impl SettingsFields {
    fn of_project(visit: &Visit) -> Self {
        let project = &visit.project;
        Self {
            name: show::plain(&project.name),
            language: project.language.clone(),
            country: project.country.clone().unwrap_or_default(),
            zone: project.timezone.clone(),
            version: project.version.to_string(),
        }
    }

    fn sent(sent: &SentForm) -> Self {
        let field = |name: &str| sent.form.get(name).trim().to_owned();
        Self {
            name: field("name"),
            language: field("language"),
            country: field("country"),
            zone: field("zone"),
            version: field("seen"),
        }
    }
}

#[derive(Template)]
#[template(path = "settings.html")]
struct SettingsView {
    frame: ProjectFrame,
    facts: Vec<(&'static str, String)>,
    base: String,
    /// The form; `None` for who may not change anything.
    fields: Option<SettingsFields>,
    zones: &'static [String],
    wrong: Option<String>,
}

impl SettingsView {
    fn entries(&self) -> &'static [SettingsEntry] {
        &ENTRIES
    }
}

fn show_form(visit: &Visit, fields: SettingsFields, wrong: Option<(StatusCode, String)>) -> PageResult {
    let project = &visit.project;
    let may_manage = visit.role >= Role::Admin;
    let mut facts = vec![("Website", show::plain(&project.domain))];
    if !may_manage {
        let country = project.country.clone();
        facts.extend([
            ("Name", show::plain(&project.name)),
            ("Language", show::plain(&project.language)),
            ("Market", country.unwrap_or_else(|| "not set".to_owned())),
            ("Time zone", project.timezone.clone()),
        ]);
    }
    facts.extend([
        ("Made", visit.time(&project.created_at)),
        ("Your role", visit.role.to_string()),
        ("Id", project.id.to_string()),
    ]);
    let (status, wrong) = wrong.map_or((StatusCode::OK, None), |(status, text)| (status, Some(text)));
    let view = SettingsView {
        frame: visit.frame("Settings", Section::Settings),
        facts,
        base: visit.address("/settings"),
        fields: may_manage.then_some(fields),
        zones: if may_manage { zone_names() } else { &[] },
        wrong,
    };
    Ok(page::respond(status, &view, Form::OwnWithScript))
}

pub(super) async fn start(visit: Visit) -> PageResult {
    let fields = SettingsFields::of_project(&visit);
    show_form(&visit, fields, None)
}

pub(super) async fn change(sent: SentForm) -> PageResult {
    let (visit, fields) = (&sent.visit, SettingsFields::sent(&sent));
    let change = ProjectChange {
        name: fields.name.clone(),
        language: fields.language.clone(),
        country: fields.country.clone(),
        timezone: fields.zone.clone(),
        seen: fields.version.parse().unwrap_or_default(),
    };
    let people = &visit.app().people;
    match people
        .change_project(visit.user(), visit.project.id, change)
        .await
    {
        Ok(()) => {
            let is_moved = fields.zone != visit.project.timezone;
            let code = if is_moved { "zone-saved" } else { "saved" };
            Ok(sent.done(&visit.address("/settings"), code, 1))
        }
        Err(failure) => match visit::refusal(&failure) {
            Some(wrong) => show_form(visit, fields, Some(wrong)),
            None => Err(failure.into()),
        },
    }
}
