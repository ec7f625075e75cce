//! The table against the specification, and what no path through it may do.

use proptest::prelude::{Just, Strategy, prop, prop_assert, prop_assert_eq, prop_oneof, proptest};

use super::{Actor, Effect, Facts, Stage, Status, allowed, allowed_actions, transition};

fn all() -> Facts {
    Facts {
        has_title: true,
        has_keyword: true,
        has_content: true,
        has_active_job: false,
        is_time_ahead: true,
        is_integration_ready: true,
        is_blocked: false,
        was_live: false,
        unpublish: true,
        can_unpublish: true,
        has_checks: true,
        auto_publish: true,
        is_out_of_attempts: true,
        has_external_id: true,
        is_uncertain: true,
        failed_at: Some(Stage::Publish),
    }
}

fn code(from: Status, to: Status, by: Actor, change: impl Fn(&mut Facts)) -> &'static str {
    let mut facts = all();
    change(&mut facts);
    transition(from, to, by, &facts).map_or_else(|refusal| refusal.code, |_| "ok")
}

#[test]
fn every_row_of_the_specification() {
    use Actor::{Autopilot, Generate, Patch, Publish, Scheduler, Unpublish, Worker};
    use Status::{Archived, Draft, Failed, Generating, Published, Publishing, Queued, Review, Scheduled};
    let rows = [
        (vec![Draft, Review, Failed], Queued, vec![Generate, Autopilot]),
        (vec![Queued], Generating, vec![Worker]),
        (vec![Generating], Review, vec![Worker]),
        (vec![Generating], Scheduled, vec![Worker]),
        (vec![Queued, Generating, Publishing], Failed, vec![Worker]),
        // the first text is looked at where a second could not be written
        (vec![Failed], Review, vec![Autopilot]),
        (vec![Draft, Review], Scheduled, vec![Patch, Autopilot]),
        (
            vec![Review, Scheduled, Queued, Published, Archived],
            Draft,
            vec![Patch],
        ),
        (vec![Draft, Scheduled], Review, vec![Patch]),
        (
            vec![Draft, Review, Scheduled, Failed, Published],
            Publishing,
            vec![Publish, Scheduler],
        ),
        // what a provider held back is shown to readers there
        (vec![Draft, Review, Failed, Publishing], Published, vec![Worker]),
        // what is taken back, or left as a draft, goes back to people
        (vec![Publishing], Draft, vec![Worker]),
        (vec![Publishing], Review, vec![Worker]),
        (vec![Published], Publishing, vec![Unpublish]),
        // looking again for what nobody knows of
        (vec![Publishing], Publishing, vec![Publish]),
        (
            vec![Draft, Queued, Review, Scheduled, Published, Failed],
            Archived,
            vec![Patch],
        ),
    ];
    for by in [Patch, Generate, Publish, Unpublish, Autopilot, Scheduler, Worker] {
        for from in Status::ALL.iter().copied() {
            let expected: Vec<Status> = Status::ALL
                .iter()
                .copied()
                .filter(|to| {
                    rows.iter()
                        .any(|(f, t, b)| f.contains(&from) && t == to && b.contains(&by))
                })
                .collect();
            assert_eq!(allowed(from, by, &all()), expected, "{from:?} by {by:?}");
        }
    }
}

#[test]
fn every_condition_has_its_code() {
    use Actor::{Generate, Patch, Publish, Worker};
    use Status::{Draft, Failed, Generating, Published, Publishing, Queued, Review, Scheduled};
    let neither = |f: &mut Facts| (f.has_title, f.has_keyword) = (false, false);
    assert_eq!(
        code(Draft, Queued, Generate, neither),
        "title_or_keyword_required"
    );
    assert_eq!(code(Draft, Queued, Generate, |f| f.has_title = false), "ok");
    assert_eq!(
        code(Draft, Queued, Generate, |f| f.has_active_job = true),
        "job_active"
    );
    assert_eq!(
        code(Draft, Scheduled, Patch, |f| f.has_content = false),
        "content_required"
    );
    assert_eq!(
        code(Draft, Scheduled, Patch, |f| f.has_title = false),
        "title_required"
    );
    assert_eq!(
        code(Draft, Scheduled, Patch, |f| f.is_time_ahead = false),
        "scheduled_at_not_ahead"
    );
    assert_eq!(
        code(Review, Scheduled, Patch, |f| f.is_integration_ready = false),
        "integration_not_ready"
    );
    assert_eq!(
        code(Review, Publishing, Publish, |f| f.is_blocked = true),
        "publish_blocked"
    );
    assert_eq!(code(Published, Publishing, Publish, |_| {}), "ok");
    assert_eq!(
        code(Publishing, Publishing, Publish, |f| f.is_uncertain = false),
        "job_active"
    );
    assert_eq!(
        code(Publishing, Draft, Worker, |f| f.was_live = true),
        "still_live"
    );
    assert_eq!(
        code(Failed, Publishing, Publish, |f| f.failed_at =
            Some(Stage::Generate)),
        "invalid_transition"
    );
    assert_eq!(
        code(Published, Draft, Patch, |f| f.unpublish = false),
        "invalid_transition"
    );
    assert_eq!(
        code(Published, Draft, Patch, |f| f.can_unpublish = false),
        "unpublish_unsupported"
    );
    assert_eq!(
        code(Generating, Review, Worker, |f| f.has_checks = false),
        "checks_missing"
    );
    assert_eq!(
        code(Generating, Scheduled, Worker, |f| f.auto_publish = false),
        "review_required"
    );
    assert_eq!(
        code(Queued, Failed, Worker, |f| f.is_out_of_attempts = false),
        "attempts_left"
    );
    assert_eq!(
        code(Publishing, Failed, Worker, |f| f.was_live = true),
        "still_live"
    );
    let missed = |f: &mut Facts| f.has_external_id = false;
    assert_eq!(code(Publishing, Published, Worker, missed), "external_id_missing");
    let back = |f: &mut Facts| (f.has_external_id, f.was_live) = (false, true);
    assert_eq!(code(Publishing, Published, Worker, back), "ok");
    for target in [Queued, Generating, Publishing, Published] {
        assert_eq!(code(Draft, target, Patch, |_| {}), "invalid_transition");
        assert_eq!(code(target, target, Patch, |_| {}), "invalid_transition");
    }
    assert_eq!(code(Draft, Draft, Patch, |_| {}), "ok");
}

#[test]
fn what_comes_with_a_transition() {
    let effects = |from, to, by| transition(from, to, by, &all()).unwrap();
    assert_eq!(
        effects(Status::Scheduled, Status::Draft, Actor::Patch),
        [Effect::ClearSchedule]
    );
    assert_eq!(
        effects(Status::Queued, Status::Draft, Actor::Patch),
        [Effect::CancelJob]
    );
    assert_eq!(
        effects(Status::Published, Status::Draft, Actor::Patch),
        [Effect::UnpublishRemote]
    );
    assert_eq!(
        effects(Status::Publishing, Status::Published, Actor::Worker),
        [Effect::SetPublishedAt]
    );
    assert!(!Status::Generating.is_editable() && Status::Published.is_editable());
}

#[test]
fn a_refusal_names_what_would_do() {
    let refusal = transition(Status::Draft, Status::Published, Actor::Patch, &all()).unwrap_err();
    assert_eq!(
        refusal.allowed,
        [Status::Review, Status::Scheduled, Status::Archived]
    );
    let bare = transition(Status::Draft, Status::Published, Actor::Patch, &Facts::default()).unwrap_err();
    assert_eq!(bare.allowed, [Status::Review, Status::Archived]);
}

fn any_facts() -> impl Strategy<Value = Facts> {
    let stage = prop_oneof![
        Just(None),
        Just(Some(Stage::Generate)),
        Just(Some(Stage::Publish))
    ];
    (prop::array::uniform15(prop::bool::ANY), stage).prop_map(|(f, failed_at)| Facts {
        has_title: f[0],
        has_keyword: f[1],
        has_content: f[2],
        has_active_job: f[3],
        is_time_ahead: f[4],
        is_integration_ready: f[5],
        is_blocked: f[6],
        was_live: f[7],
        unpublish: f[8],
        can_unpublish: f[9],
        has_checks: f[10],
        auto_publish: f[11],
        is_out_of_attempts: f[12],
        has_external_id: f[13],
        is_uncertain: f[14],
        failed_at,
    })
}

proptest! {
    #[test]
    fn no_path_of_patches_reaches_what_only_jobs_may_set(
        start in prop::sample::select(vec![Status::Draft, Status::Review, Status::Scheduled, Status::Failed, Status::Archived]),
        steps in prop::collection::vec((prop::sample::select(Status::ALL.to_vec()), any_facts()), 0..30),
    ) {
        let mut status = start;
        for (to, facts) in steps {
            if transition(status, to, Actor::Patch, &facts).is_ok() {
                status = to;
            }
            prop_assert!(!matches!(status, Status::Queued | Status::Generating | Status::Publishing | Status::Published));
        }
    }

    #[test]
    fn what_is_offered_is_what_succeeds(from in prop::sample::select(Status::ALL.to_vec()), facts in any_facts()) {
        for action in allowed_actions(from, &facts) {
            let answer = transition(from, action.to, action.by, &facts);
            prop_assert_eq!(answer.is_ok(), action.allowed);
            prop_assert_eq!(answer.err().map(|refusal| refusal.code), action.code);
        }
        for by in [Actor::Patch, Actor::Generate, Actor::Publish, Actor::Unpublish] {
            for to in allowed(from, by, &facts) {
                prop_assert!(allowed_actions(from, &facts).iter().any(|a| a.by == by && a.to == to && a.allowed));
            }
        }
    }
}
