//! The life of a post: which status follows which, who may cause it, and what has to be true.
//!
//! One table. What a caller may do next and why something is refused are both read from it.

pub use searchwright_contract::posts::PostStatus as Status;
use serde::{Deserialize, Serialize};

/// Cause of a transition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Actor {
    /// PATCH of the post.
    Patch,
    /// The operation that generates.
    Generate,
    /// The operation that publishes.
    Publish,
    /// The operation that takes back.
    Unpublish,
    /// The autopilot's plan.
    Autopilot,
    /// The clock, at `scheduledAt`.
    Scheduler,
    /// A job.
    Worker,
}

/// Stage at which the last job failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// While writing.
    Generate,
    /// While publishing.
    Publish,
}

/// Facts about the post and the request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// The post has a title.
    pub has_title: bool,
    /// The post has a keyword.
    pub has_keyword: bool,
    /// The text of the post is not empty.
    pub has_content: bool,
    /// A job for it is under way.
    pub has_active_job: bool,
    /// `scheduledAt` of the request or, without one, of the post lies in the future.
    pub is_time_ahead: bool,
    /// The integration it would be published with is ready.
    pub is_integration_ready: bool,
    /// A guard that blocks publishing failed, such as `unverified_claims`.
    pub is_blocked: bool,
    /// The post was live before this attempt.
    pub was_live: bool,
    /// The request says `unpublish: true`.
    pub unpublish: bool,
    /// The provider can take it back.
    pub can_unpublish: bool,
    /// The checks of the generated text ran.
    pub has_checks: bool,
    /// The autopilot publishes without review.
    pub auto_publish: bool,
    /// No attempt is left.
    pub is_out_of_attempts: bool,
    /// The provider's id of the published post is stored.
    pub has_external_id: bool,
    /// The post was sent, and the answer was lost.
    pub is_uncertain: bool,
    /// Stage at which the last job failed.
    pub failed_at: Option<Stage>,
}

/// Effect that has to be carried out together with a transition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// `scheduledAt` becomes null.
    ClearSchedule,
    /// The waiting job is cancelled.
    CancelJob,
    /// The remote post becomes a draft first.
    UnpublishRemote,
    /// `publishedAt` is set where it was null.
    SetPublishedAt,
}

/// Reason why a transition is refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Refusal {
    /// Stable word.
    pub code: &'static str,
    /// Reason for people: what is missing and the way out.
    pub reason: &'static str,
    /// Statuses this actor could set now.
    pub allowed: Vec<Status>,
}

/// Action that a caller could take next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Action {
    /// Actor whose operation leads there.
    pub by: Actor,
    /// The status it leads to.
    pub to: Status,
    /// Whether it would succeed now.
    pub allowed: bool,
    /// Stable word for the reason, if it is not allowed.
    pub code: Option<&'static str>,
    /// Reason for people, if it is not allowed.
    pub reason: Option<&'static str>,
}

/// A condition of a transition.
struct Guard {
    holds: fn(&Facts) -> bool,
    code: &'static str,
    reason: &'static str,
}

struct Rule {
    from: &'static [Status],
    to: Status,
    by: &'static [Actor],
    guards: &'static [&'static Guard],
    effects: &'static [Effect],
}

const SUBJECT: Guard = Guard {
    holds: |f| f.has_title || f.has_keyword,
    code: "title_or_keyword_required",
    reason: "the post has neither title nor keyword; set one",
};
const IDLE: Guard = Guard {
    holds: |f| !f.has_active_job,
    code: "job_active",
    reason: "a job for this post is under way; wait for it or cancel it",
};
const CONTENT: Guard = Guard {
    holds: |f| f.has_content,
    code: "content_required",
    reason: "the post has no content; write or generate it",
};
const TITLE: Guard = Guard {
    holds: |f| f.has_title,
    code: "title_required",
    reason: "the post has no title; set one",
};
const AHEAD: Guard = Guard {
    holds: |f| f.is_time_ahead,
    code: "scheduled_at_not_ahead",
    reason: "scheduledAt is missing or not in the future; set a later time",
};
const READY: Guard = Guard {
    holds: |f| f.is_integration_ready,
    code: "integration_not_ready",
    reason: "no integration is ready to publish with; connect and map one",
};
const UNBLOCKED: Guard = Guard {
    holds: |f| !f.is_blocked,
    code: "publish_blocked",
    reason: "a guard blocks publishing; see the post's warnings",
};
const PUBLISH_FAILED: Guard = Guard {
    holds: |f| f.failed_at == Some(Stage::Publish),
    code: "invalid_transition",
    reason: "generation failed, so there is nothing to publish; generate again",
};
const UNPUBLISH: Guard = Guard {
    holds: |f| f.unpublish,
    code: "invalid_transition",
    reason: "the post is live; send unpublish: true to take it back",
};
const CAN_UNPUBLISH: Guard = Guard {
    holds: |f| f.can_unpublish,
    code: "unpublish_unsupported",
    reason: "the provider does not support unpublishing; unpublish the post there",
};
const CHECKED: Guard = Guard {
    holds: |f| f.has_checks && f.has_content,
    code: "checks_missing",
    reason: "the checks of the text have not run",
};
const AUTO: Guard = Guard {
    holds: |f| f.auto_publish,
    code: "review_required",
    reason: "the text has to be reviewed first",
};
const EXHAUSTED: Guard = Guard {
    holds: |f| f.is_out_of_attempts,
    code: "attempts_left",
    reason: "the job is tried again",
};
const STORED: Guard = Guard {
    holds: |f| f.has_external_id,
    code: "external_id_missing",
    reason: "the provider's id is not stored",
};
const UNCERTAIN: Guard = Guard {
    holds: |f| f.is_uncertain,
    code: "job_active",
    reason: "it is being published; wait for the job",
};
const LIVE: Guard = Guard {
    holds: |f| f.was_live,
    code: "not_live",
    reason: "the post was never live",
};
const NOT_LIVE: Guard = Guard {
    holds: |f| !f.was_live,
    code: "still_live",
    reason: "the post is still live as it was before",
};

const fn rule(
    from: &'static [Status],
    to: Status,
    by: &'static [Actor],
    guards: &'static [&'static Guard],
    effects: &'static [Effect],
) -> Rule {
    Rule {
        from,
        to,
        by,
        guards,
        effects,
    }
}

/// Rules of all transitions. If two rules agree in from, to and actor, either suffices.
#[rustfmt::skip]
const RULES: &[Rule] = {
    use Actor::{Autopilot, Generate, Patch, Publish, Scheduler, Unpublish, Worker};
    use Effect::{CancelJob, ClearSchedule, SetPublishedAt, UnpublishRemote};
    use Status::{Archived, Draft, Failed, Generating, Published, Publishing, Queued, Review, Scheduled};
    &[
        rule(&[Draft, Review, Failed], Queued, &[Generate, Autopilot], &[&SUBJECT, &IDLE], &[]),
        rule(&[Queued], Generating, &[Worker], &[], &[]),
        rule(&[Generating], Review, &[Worker], &[&CHECKED], &[]),
        rule(&[Generating], Scheduled, &[Worker], &[&CHECKED, &AUTO, &TITLE, &READY, &UNBLOCKED], &[]),
        rule(&[Queued, Generating], Failed, &[Worker], &[&EXHAUSTED], &[]),
        rule(&[Review], Draft, &[Patch], &[], &[]),
        rule(&[Draft], Review, &[Patch], &[], &[]),
        rule(&[Failed], Review, &[Autopilot], &[&CONTENT], &[]),
        rule(&[Draft, Review], Scheduled, &[Patch, Autopilot], &[&CONTENT, &TITLE, &AHEAD, &READY], &[]),
        rule(&[Scheduled], Draft, &[Patch], &[], &[ClearSchedule]),
        rule(&[Scheduled], Review, &[Patch], &[], &[ClearSchedule]),
        rule(&[Draft, Review, Scheduled, Published], Publishing, &[Publish, Scheduler], &[&CONTENT, &READY, &UNBLOCKED], &[]),
        rule(&[Failed], Publishing, &[Publish, Scheduler], &[&PUBLISH_FAILED, &CONTENT, &READY, &UNBLOCKED], &[]),
        rule(&[Publishing], Publishing, &[Publish], &[&UNCERTAIN], &[]),
        rule(&[Published], Publishing, &[Unpublish], &[&CAN_UNPUBLISH], &[]),
        rule(&[Publishing], Draft, &[Worker], &[&NOT_LIVE], &[]),
        rule(&[Publishing], Review, &[Worker], &[&NOT_LIVE], &[]),
        rule(&[Publishing], Published, &[Worker], &[&STORED], &[SetPublishedAt]),
        rule(&[Publishing], Published, &[Worker], &[&LIVE, &EXHAUSTED], &[]),
        rule(&[Draft, Review, Failed], Published, &[Worker], &[&STORED], &[SetPublishedAt]),
        rule(&[Publishing], Failed, &[Worker], &[&NOT_LIVE, &EXHAUSTED], &[]),
        rule(&[Queued], Draft, &[Patch], &[], &[CancelJob]),
        rule(&[Published], Draft, &[Patch], &[&UNPUBLISH, &CAN_UNPUBLISH], &[UnpublishRemote]),
        rule(&[Draft, Review, Published, Failed], Archived, &[Patch], &[], &[]),
        rule(&[Queued], Archived, &[Patch], &[], &[CancelJob]),
        rule(&[Scheduled], Archived, &[Patch], &[], &[ClearSchedule]),
        rule(&[Archived], Draft, &[Patch], &[], &[]),
    ]
};

fn rules(from: Status, to: Status, by: Actor) -> impl Iterator<Item = &'static Rule> {
    RULES
        .iter()
        .filter(move |rule| rule.to == to && rule.from.contains(&from) && rule.by.contains(&by))
}

/// The first condition that fails.
fn failing(rule: &Rule, facts: &Facts) -> Option<&'static Guard> {
    rule.guards.iter().find(|guard| !(guard.holds)(facts)).copied()
}

/// Whether a post may go from one status to another, and what comes with it.
///
/// A PATCH that names the status the post has changes nothing, unless no PATCH could ever set it.
pub fn transition(from: Status, to: Status, by: Actor, facts: &Facts) -> Result<&'static [Effect], Refusal> {
    let settable = || RULES.iter().any(|rule| rule.to == to && rule.by.contains(&by));
    if from == to && by == Actor::Patch && settable() {
        return Ok(&[]);
    }
    let mut missing = None;
    for rule in rules(from, to, by) {
        match failing(rule, facts) {
            None => return Ok(rule.effects),
            Some(guard) => missing = missing.or(Some(guard)),
        }
    }
    let (code, reason) = match missing {
        Some(guard) => (guard.code, guard.reason),
        None => ("invalid_transition", "this status cannot follow the present one"),
    };
    Err(Refusal {
        code,
        reason,
        allowed: allowed(from, by, facts),
    })
}

/// The statuses an actor could set now.
pub fn allowed(from: Status, by: Actor, facts: &Facts) -> Vec<Status> {
    let can = |to: &Status| rules(from, *to, by).any(|rule| failing(rule, facts).is_none());
    Status::ALL.iter().copied().filter(can).collect()
}

/// Returns the actions that callers can take on a post, and the reasons that stand in the way of the others.
pub fn allowed_actions(from: Status, facts: &Facts) -> Vec<Action> {
    let mut actions = Vec::new();
    for by in [Actor::Patch, Actor::Generate, Actor::Publish, Actor::Unpublish] {
        for to in Status::ALL.iter().copied() {
            if from == to && by == Actor::Patch || rules(from, to, by).next().is_none() {
                continue;
            }
            let refusal = transition(from, to, by, facts).err();
            actions.push(Action {
                by,
                to,
                allowed: refusal.is_none(),
                code: refusal.as_ref().map(|refusal| refusal.code),
                reason: refusal.as_ref().map(|refusal| refusal.reason),
            });
        }
    }
    actions
}

#[cfg(test)]
#[path = "transitions_tests.rs"]
mod tests;
