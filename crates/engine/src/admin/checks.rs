//! Settings of a project's checks by the operator: thresholds in their conditions, and severities of their findings.

use searchwright_site::checks::{self, Level, Settings, Thresholds};
use searchwright_store::{Tx, audit_settings};
use serde_json::json;
use uuid::Uuid;

use super::limits::no_project;
use crate::{
    Engine,
    call::fault,
    failure::{Failure, Result},
    rules,
};

/// A threshold as a project has it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct ThresholdSet {
    /// Its name.
    pub name: String,
    /// The value in force.
    pub value: u64,
    /// The catalogue's value.
    pub default: u64,
    /// Unit of the value.
    pub unit: &'static str,
    /// Whether the project has set it.
    pub set: bool,
}

/// A severity that a project has set.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SeveritySet {
    /// The check.
    pub check_id: String,
    /// The value in force.
    pub value: Level,
    /// The catalogue's value.
    pub default: Level,
}

/// Settings of the checks; they apply from the next audit of the project on.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ChecksSet {
    /// The project.
    pub project_id: Uuid,
    /// Every threshold, in the order of the catalogue.
    pub thresholds: Vec<ThresholdSet>,
    /// The severities that were set, by check.
    pub severities: Vec<SeveritySet>,
}

impl ChecksSet {
    fn new(project_id: Uuid, settings: &Settings) -> Self {
        let values = settings.rules().thresholds;
        let thresholds = Thresholds::ALL.iter().map(|threshold| ThresholdSet {
            name: threshold.name(),
            value: values.get(threshold),
            default: threshold.default,
            unit: threshold.unit,
            set: settings.thresholds.contains_key(&threshold.name()),
        });
        let severities = settings.severities.iter().filter_map(|(id, level)| {
            let check = checks::find(id)?;
            Some(SeveritySet {
                check_id: check.id.to_owned(),
                value: *level,
                default: check.severity.into(),
            })
        });
        Self {
            project_id,
            thresholds: thresholds.collect(),
            severities: severities.collect(),
        }
    }
}

/// A change of the settings of a project's checks.
#[derive(Clone, Debug)]
pub enum ChecksChange {
    /// Sets these, given as `title-min=20` or `severity.title-short=off`; all or nothing.
    Set(Vec<String>),
    /// Resets these to the catalogue's values, or all of them if none is named.
    Reset(Vec<String>),
}

impl ChecksChange {
    fn apply(&self, settings: &mut Settings) -> Result<(), String> {
        match self {
            Self::Set(said) => {
                for said in said {
                    let (name, value) = said
                        .split_once('=')
                        .ok_or_else(|| format!("{said:?} is not of the form NAME=VALUE"))?;
                    settings.set(name, value)?;
                }
            }
            Self::Reset(names) if names.is_empty() => *settings = Settings::default(),
            Self::Reset(names) => names.iter().try_for_each(|name| settings.reset(name))?,
        }
        settings.check()
    }

    /// Carries the change out, and returns the settings and whether they are others than before.
    pub async fn carry_out(&self, tx: &mut Tx, project: Uuid) -> Result<(ChecksSet, bool)> {
        let before = rules::settings(
            audit_settings::get_for_update(tx, project)
                .await
                .map_err(no_project)?,
        )?;
        let mut settings = before.clone();
        self.apply(&mut settings)
            .map_err(|why| fault("/checks", "not_a_setting", why))?;
        let is_changed = settings != before;
        if is_changed {
            let kept = (!settings.is_empty()).then(|| json!(settings));
            audit_settings::set(tx, project, kept).await?;
        }
        Ok((ChecksSet::new(project, &settings), is_changed))
    }
}

impl Engine {
    /// Returns the settings of a project's checks.
    pub async fn checks(&self, project: Uuid) -> Result<ChecksSet> {
        let mut tx = self.db.read().await?;
        let known = audit_settings::find(&mut tx, project).await.map_err(no_project)?;
        Ok(ChecksSet::new(project, &rules::settings(known)?))
    }

    /// Sets thresholds and severities, given as `title-min=20` or `severity.title-short=off`; all or nothing.
    pub async fn set_checks(&self, project: Uuid, said: &[String]) -> Result<ChecksSet> {
        self.change_checks(project, ChecksChange::Set(said.to_vec()))
            .await
    }

    /// Resets the named settings to the catalogue's values, or all of them if none is named.
    pub async fn reset_checks(&self, project: Uuid, names: &[String]) -> Result<ChecksSet> {
        self.change_checks(project, ChecksChange::Reset(names.to_vec()))
            .await
    }

    async fn change_checks(&self, project: Uuid, change: ChecksChange) -> Result<ChecksSet> {
        self.db
            .write(move |tx| {
                Box::pin(async move {
                    let (set, _) = change.carry_out(tx, project).await?;
                    Ok::<_, Failure>(set)
                })
            })
            .await
    }
}
