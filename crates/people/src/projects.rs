//! Name, language, market and time zone of a project, as a person who manages it sets them.

use searchwright_contract::{
    Instant, Problem,
    ids::{ActivityId, JobId, ProjectId, UserId},
};
use searchwright_engine::{admin::check_name, autopilot::zone_name, jobs::Job, language_tag};
use searchwright_failure::{Failure, Result};
use searchwright_store::{
    Tx,
    access::ProjectScope,
    activity::{self, NewActivity},
    projects::{self, ProjectFields},
    prompts,
};

use crate::{
    People,
    keys::{Managed, managed},
    managed::changed_meanwhile,
};

/// A change of a project, as a person typed it.
#[derive(Clone, Debug)]
pub struct ProjectChange {
    /// Name.
    pub name: String,
    /// Language tag (BCP 47).
    pub language: String,
    /// Country code (ISO 3166-1 alpha-2); empty for all countries.
    pub country: String,
    /// Name of the time zone (IANA).
    pub timezone: String,
    /// Version that the person saw.
    pub seen: i64,
}

impl ProjectChange {
    /// Returns the fields in the form in which they are stored; every fault of them at once.
    fn fields(&self) -> Result<ProjectFields> {
        let mut faults = Vec::new();
        let mut fault = |pointer: &str, code: &str, why: &str| {
            faults.extend(Problem::fault(pointer, code, why).errors);
        };
        let name = check_name(&self.name, 200).unwrap_or_else(|failure| {
            for one in &failure.0.errors {
                fault(&one.pointer, &one.code, &one.detail);
            }
            String::new()
        });
        let language = language_tag(self.language.trim()).unwrap_or_else(|| {
            let why = "is not a language tag such as en or pt-BR";
            fault("/language", "not_a_language", why);
            String::new()
        });
        let country = self.country.trim().to_ascii_uppercase();
        let is_code = country.len() == 2 && country.bytes().all(|letter| letter.is_ascii_uppercase());
        if !country.is_empty() && !is_code {
            let why = "is not the code of a country, two letters such as DE";
            fault("/country", "not_a_country", why);
        }
        let timezone = zone_name(self.timezone.trim()).unwrap_or_else(|| {
            let why = "is not the name of a time zone, such as Europe/Berlin";
            fault("/timezone", "unknown_time_zone", why);
            String::new()
        });
        if !faults.is_empty() {
            return Err(Problem::faults(faults).into());
        }
        Ok(ProjectFields {
            name,
            language,
            country: Some(country).filter(|code| !code.is_empty()),
            timezone,
        })
    }
}

impl People {
    /// Changes a project, as a person who manages it. Schedules without a time zone of their own keep their local hour: their
    /// next slot is planned anew.
    pub async fn change_project(
        &self,
        user: UserId,
        project: ProjectId,
        change: ProjectChange,
    ) -> Result<()> {
        let fields = change.fields();
        let (now, entry, job) = (self.clock.now(), self.clock.id::<ActivityId>(), self.clock.id());
        let work = async move |tx: &mut Tx| {
            let Managed { access, user } = managed(tx, user, project).await?;
            let (scope, fields) = (access.scope(), fields?);
            projects::lock(tx, scope).await?;
            let known = projects::get(tx, scope).await?;
            let before = ProjectFields {
                name: known.name,
                language: known.language,
                country: known.country,
                timezone: known.timezone,
            };
            // A form that is sent twice has its effect once.
            if before == fields {
                return Ok(());
            }
            if known.version != change.seen || !projects::update(tx, scope, change.seen, &fields, now).await?
            {
                return Err(changed_meanwhile());
            }
            if before.name != fields.name {
                read_answers_again(tx, scope, job, now).await?;
            }
            let entry = NewActivity::of_person(entry, "projects.update", project.to_string(), user);
            Ok::<_, Failure>(activity::insert(tx, scope, entry, now).await?)
        };
        self.db.write(move |tx| Box::pin(work(tx))).await?;
        self.wake.notify_one();
        // Facts about the project are kept with what is known of a caller.
        Ok(self.db.credentials_changed().await?)
    }
}

/// Queues the analysis of stored answers: the name of the project is looked for in them where the brand has none of its own.
async fn read_answers_again(tx: &mut Tx, scope: ProjectScope, job: JobId, now: Instant) -> Result<()> {
    projects::count_change_of_names(tx, scope).await?;
    if prompts::exist(tx, scope).await? {
        Job::AnalyzeAnswers.enqueue_once(tx, scope, job, now).await?;
    }
    Ok(())
}
