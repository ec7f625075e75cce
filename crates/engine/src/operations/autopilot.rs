//! Settings of the autopilot.

use searchwright_contract::{
    Code, Patch, Problem, Scope,
    actions::{AllowedActions, Permission},
    autopilot::{Autopilot, GetAutopilot, UpdateAutopilot, Weekday},
};
use searchwright_store::{
    Tx,
    autopilot::{self, StoredAutopilot},
    keywords, projects,
};

use super::items::{changed_meanwhile, refuse};
use crate::{Engine, call::Call, connections, endpoint::Handle, failure::Result};

/// A condition for enabling the autopilot.
#[derive(Clone, Copy, Debug)]
enum EnableCondition {
    /// An integration that is ready.
    Integration,
    /// An approved keyword without a live post.
    Keyword,
}

impl EnableCondition {
    /// Word in `missing`.
    const fn as_str(self) -> &'static str {
        match self {
            Self::Integration => "integration",
            Self::Keyword => "keyword",
        }
    }

    /// Explanation of a refusal.
    const fn detail(self) -> &'static str {
        match self {
            Self::Integration => "no integration is ready to publish",
            Self::Keyword => "no keyword is approved and without a live post",
        }
    }

    /// Next step of the caller.
    const fn hint(self) -> &'static str {
        match self {
            Self::Integration => {
                "make a URL with connect-url, hand it to a person, and map the fields of the provider"
            }
            Self::Keyword => "add a keyword, or set the status of one to approved",
        }
    }
}

/// Texts of conditions as one sentence.
fn join(conditions: &[EnableCondition], text: fn(EnableCondition) -> &'static str) -> String {
    let texts: Vec<&str> = conditions.iter().map(|condition| text(*condition)).collect();
    texts.join("; ")
}

/// Returns the conditions for enabling that the project does not meet.
async fn list_missing(call: &Call, tx: &mut Tx) -> Result<Vec<EnableCondition>> {
    let scope = call.scope()?;
    let mut missing = Vec::new();
    if connections::list_ready(tx, scope).await?.is_empty() {
        missing.push(EnableCondition::Integration);
    }
    if !keywords::has_approved_without_live_post(tx, scope).await? {
        missing.push(EnableCondition::Keyword);
    }
    Ok(missing)
}

/// Returns `409 invalid_state` with the conditions that are not met.
fn cannot_enable(missing: &[EnableCondition]) -> Problem {
    let words: Vec<&str> = missing.iter().map(|condition| condition.as_str()).collect();
    let detail = join(missing, EnableCondition::detail);
    Problem::new(
        Code::InvalidState,
        format!("the autopilot cannot be enabled: {detail}"),
    )
    .hint(join(missing, EnableCondition::hint))
    .with("missing", words)
}

fn to_record(call: &Call, missing: &[EnableCondition], stored: Option<StoredAutopilot>) -> Result<Autopilot> {
    let update = call.permission(Scope::AutopilotWrite);
    let enable = match update {
        Permission::Yes(true) if !missing.is_empty() => Permission::no(
            Code::InvalidState.as_str(),
            join(missing, EnableCondition::detail),
        ),
        _ => update.clone(),
    };
    let (settings, version, updated_at) = match stored {
        Some(stored) => (stored.settings, stored.version, Some(stored.updated_at)),
        None => Default::default(),
    };
    let weekdays = settings.publish_weekdays.as_deref();
    Ok(Autopilot {
        project_id: call.scope()?.project().into(),
        enabled: settings.enabled,
        publish_interval_days: settings.publish_interval_days,
        publish_weekdays: weekdays.map(|days| days.iter().map(|day| day.number()).collect()),
        publish_weekday_names: weekdays.unwrap_or(Weekday::ALL).to_vec(),
        version,
        updated_at,
        allowed_actions: AllowedActions::default()
            .with("update", update)
            .with("enable", enable),
    })
}

impl Handle<GetAutopilot> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, _: GetAutopilot) -> Result<Autopilot> {
        let stored = autopilot::find(tx, call.scope()?).await?;
        let missing = list_missing(call, tx).await?;
        to_record(call, &missing, stored)
    }
}

impl Handle<UpdateAutopilot> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, operation: UpdateAutopilot) -> Result<Autopilot> {
        let scope = call.scope()?;
        projects::lock(tx, scope).await?;
        let stored = autopilot::find(tx, scope).await?;
        let (mut settings, version) = stored.map_or_else(Default::default, |s| (s.settings, s.version));
        call.check_match(scope.project(), version)?;
        match operation.publish_weekdays {
            Patch::Absent => {}
            Patch::Null => settings.publish_weekdays = None,
            Patch::Value(inputs) => match inputs.weekdays("/publish_weekdays") {
                Ok(weekdays) => settings.publish_weekdays = Some(weekdays),
                Err(faults) => refuse(faults)?,
            },
        }
        if let Some(days) = operation.publish_interval_days {
            settings.publish_interval_days = days;
        }
        let missing = list_missing(call, tx).await?;
        if operation.enabled == Some(true) && !missing.is_empty() {
            return Err(cannot_enable(&missing).into());
        }
        settings.enabled = operation.enabled.unwrap_or(settings.enabled);
        let written = autopilot::set(tx, scope, &settings, version, call.now)
            .await
            .map_err(changed_meanwhile)?;
        to_record(call, &missing, Some(written))
    }
}
