//! The cap of a month, as people see and raise it: above what the site published before only a person may go.

use searchwright_autopilot::limits::MAX_GROWTH;
use searchwright_contract::{
    Code, Problem,
    ids::{ActivityId, ProjectId},
    people::UserRef,
};
use searchwright_store::{
    Tx,
    access::{self, ProjectAccess},
    activity, autopilot, projects, schedules,
};

use super::{AutopilotState, decisions::may_approve, volume_limit};
use crate::{Engine, failure::Result};

/// Most posts of a month, because there is at most one a day.
const MAX_CAP: u8 = 31;

/// The cap of a month with what it rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MonthlyCap {
    /// Posts per month.
    pub cap: u8,
    /// Most posts that the site itself published in one month of the last six; `None` if it is not known.
    pub best_month: Option<u32>,
    /// Cap up to which a person allowed more than three times as many.
    pub allowed: Option<u8>,
    /// Whether this person may change it.
    pub may_change: bool,
}

/// Returns the address of the page on which people allow more.
pub(crate) fn settings_url(engine: &Engine, project: ProjectId) -> String {
    let origin = engine.publishing().map(|settings| settings.origin.as_str());
    format!(
        "{}/projects/{project}/settings/autopilot",
        origin.unwrap_or_default()
    )
}

async fn access_of(tx: &mut Tx, user: &UserRef, project: ProjectId) -> Result<ProjectAccess> {
    let found = access::find_project_of_user(tx, user.id, project).await?;
    found.ok_or_else(|| Problem::new(Code::NotFound, "there is no such project").into())
}

impl Engine {
    /// Returns the cap of a month of a project for a person.
    pub async fn monthly_cap_for(&self, user: &UserRef, project: ProjectId) -> Result<MonthlyCap> {
        let mut tx = self.db.read().await?;
        let access = access_of(&mut tx, user, project).await?;
        let state = AutopilotState::load(&mut tx, access.scope()).await?;
        let volume = volume_limit(&mut tx, access.scope(), &state.rule, self.clock.now()).await?;
        Ok(MonthlyCap {
            cap: state.settings.monthly_cap,
            best_month: volume.map(|limit| limit / MAX_GROWTH),
            allowed: state.settings.allowed_cap,
            may_change: may_approve(access.role),
        })
    }

    /// Sets the cap of a month, as a person. It may be more than what the site published before allows.
    pub async fn set_monthly_cap(&self, user: &UserRef, project: ProjectId, cap: u8) -> Result<()> {
        if !(1..=MAX_CAP).contains(&cap) {
            return Err(Problem::new(Code::ValidationFailed, "posts per month are 1 to 31").into());
        }
        let (user, now, entry) = (user.clone(), self.clock.now(), self.clock.id::<ActivityId>());
        let write = self.db.write(move |tx| {
            Box::pin(async move {
                let access = access_of(tx, &user, project).await?;
                if !may_approve(access.role) {
                    let why = "your role may not change the autopilot: an editor, an admin or the owner can";
                    return Err(Problem::new(Code::InsufficientScope, why).into());
                }
                let scope = access.scope();
                projects::lock(tx, scope).await?;
                let mut state = AutopilotState::load(tx, scope).await?;
                (state.settings.monthly_cap, state.settings.allowed_cap) = (cap, Some(cap));
                autopilot::set(tx, scope, &state.settings).await?;
                // a month that was full may have room, and readers of the settings see another version
                state.schedule.plan = state.plan(tx, scope, state.plan_from(now), now).await?;
                schedules::change(tx, scope, &state.schedule, now).await?;
                let subject = cap.to_string();
                let entry = activity::NewActivity::of_person(entry, "autopilot.set_cap", subject, user);
                Ok(activity::insert(tx, scope, entry, now).await?)
            })
        });
        write.await
    }
}
