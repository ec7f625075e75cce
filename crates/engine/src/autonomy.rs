//! Agent Autonomy: OAuth clients publish, track and change the autopilot only where a person has allowed it beforehand. API
//! keys act within their scopes.

use searchwright_contract::{
    Code, Problem, Scope,
    people::{Autonomy, AutonomyAction},
};
use searchwright_store::{Tx, access::ProjectAccess, agent_autonomy};

use crate::{
    Engine,
    call::{Call, Credential},
    failure::Result,
};

/// Refuses a call of an OAuth client whose action is not allowed now.
pub(crate) async fn check(
    engine: &Engine,
    credential: &Credential,
    project: &ProjectAccess,
    scope: Scope,
) -> Result<()> {
    let (Credential::Token(_), Some(action)) = (credential, AutonomyAction::of_scope(scope)) else {
        return Ok(());
    };
    let now = engine.clock.now();
    let all = agent_autonomy::get(&mut engine.db.read().await?, project.scope(), now).await?;
    let Autonomy { enabled, .. } = match action {
        AutonomyAction::Publish => all.publish,
        AutonomyAction::Track => all.track,
        AutonomyAction::Autopilot => all.autopilot,
    };
    if enabled {
        Ok(())
    } else {
        let detail = format!("Agent Autonomy for {action} is off in this project");
        Err(required(action, project, detail).into())
    }
}

/// Takes one use of the action from its daily cap, in the transaction of the call, unless a person was asked.
pub(crate) async fn consume(call: &Call, tx: &mut Tx, project: &ProjectAccess, scope: Scope) -> Result<()> {
    if call.consented {
        return Ok(());
    }
    let (Credential::Token(_), Some(action)) = (&call.credential, AutonomyAction::of_scope(scope)) else {
        return Ok(());
    };
    if agent_autonomy::consume(tx, project.scope(), action, call.now).await? {
        return Ok(());
    }
    let detail =
        format!("Agent Autonomy for {action} was turned off, or its daily cap is reached (days are in UTC)");
    Err(required(action, project, detail).into())
}

fn required(action: AutonomyAction, project: &ProjectAccess, detail: String) -> Problem {
    Problem::new(Code::AgentAutonomyRequired, detail)
        .hint(format!(
            "let an admin turn it on at /projects/{id}/settings/autonomy, or the operator: searchwright admin autonomy set --project {id} --action {action} --on",
            id = project.project.id
        ))
        .with("action", action.as_str())
}
