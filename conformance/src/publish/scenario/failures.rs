//! Steps in which somebody else changed something, or an answer is lost.

use std::{
    collections::BTreeSet,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, anyhow, bail, ensure};
use serde_json::json;

use super::{CmsFixture, TEXT, TITLE};
use crate::publish::{
    cms::{ADDED, ItemStatus, list, scalar},
    product::PublishOutcome,
    proxy::Fault,
};

const LOST_TITLE: &str = "Never arrived";
/// Time until the product gives up a lost request: three look-ups in ten minutes, and a margin.
const GIVE_UP_TIMEOUT: Duration = Duration::from_secs(15 * 60);

pub(super) fn publish_twice(fixture: &mut CmsFixture<'_>) -> Result<String> {
    let title = "Asked twice";
    let id = fixture.create_post(title, "asked-twice")?;
    let ask = || fixture.product.start_publishing(&id, &json!({ "mode": "live" }));
    let answers: Vec<Result<String>> = thread::scope(|scope| {
        let asking: Vec<_> = (0..4).map(|_| scope.spawn(ask)).collect();
        asking
            .into_iter()
            .map(|asking| asking.join().map_err(|_| anyhow!("a thread panicked"))?)
            .collect()
    });
    let jobs: BTreeSet<&String> = answers.iter().filter_map(|answer| answer.as_ref().ok()).collect();
    ensure!(!jobs.is_empty(), "{answers:?}");
    for job in &jobs {
        let ended = fixture.product.wait_for_job(job, Duration::from_secs(30))?;
        ensure!(ended == PublishOutcome::Published, "{ended:?}");
    }
    let item = fixture.cms.find_only_post(title)?;
    ensure!(item.status == ItemStatus::Live, "it is {:?}", item.status);
    Ok(format!("{} jobs for 4 requests, one item", jobs.len()))
}

pub(super) fn detect_remote_edit(fixture: &mut CmsFixture<'_>) -> Result<String> {
    let id = fixture.post_id(TITLE)?;
    fixture.cms.edit_post(&fixture.cms.find_only_post(TITLE)?)?;
    fixture
        .product
        .change_post(&id, json!({ "content": format!("{TEXT}\nFourth edition.\n") }))?;
    fixture.expect_failure(&id, "remote_changed")?;
    let item = fixture.cms.find_only_post(TITLE)?;
    ensure!(item.content.contains(ADDED), "it was overwritten");
    fixture.expect_outcome(
        &id,
        json!({ "mode": "live", "force": true }),
        &PublishOutcome::Published,
    )?;
    let item = fixture.cms.find_only_post(TITLE)?;
    ensure!(
        item.content.contains("Fourth edition.") && !item.content.contains(ADDED),
        "it says {}",
        item.content
    );
    Ok("remote_changed, then force".to_owned())
}

pub(super) fn detect_remote_deletion(fixture: &mut CmsFixture<'_>) -> Result<String> {
    let title = "Deleted there";
    let id = fixture.create_post(title, "deleted-there")?;
    fixture.publish_live(&id)?;
    fixture.cms.delete_post(&fixture.cms.find_only_post(title)?.id)?;
    fixture
        .product
        .change_post(&id, json!({ "content": format!("{TEXT}\nChanged.\n") }))?;
    fixture.expect_failure(&id, "remote_missing")?;
    fixture.expect_outcome(
        &id,
        json!({ "mode": "live", "recreateMissing": true }),
        &PublishOutcome::Published,
    )?;
    let item = fixture.cms.find_only_post(title)?;
    ensure!(
        item.status == ItemStatus::Live && item.slug == "deleted-there",
        "{item:?}"
    );
    Ok("remote_missing, then recreateMissing".to_owned())
}

pub(super) fn report_slug_conflict(fixture: &mut CmsFixture<'_>) -> Result<String> {
    let theirs = fixture.cms.add_post("Somebody else's", "taken-slug")?;
    let id = fixture.create_post("Ours", "taken-slug")?;
    fixture.expect_failure(&id, "slug_conflict")?;
    ensure!(
        fixture.cms.list_items()?.iter().all(|item| item.title != "Ours"),
        "it was made"
    );
    let item = fixture.cms.find_only_post("Somebody else's")?;
    ensure!(
        item.id == theirs && item.content.contains("By somebody else."),
        "{item:?}"
    );
    fixture.product.change_post(&id, json!({ "slug": "free-slug" }))?;
    fixture.publish_live(&id)?;
    fixture.cms.find_only_post("Ours")?;
    Ok("slug_conflict, then another slug".to_owned())
}

/// The author asks again and again before the post is there.
pub(super) fn find_late_post(fixture: &mut CmsFixture<'_>) -> Result<String> {
    let title = "Comes late";
    let id = fixture.create_post(title, "comes-late")?;
    fixture.proxy.force(Fault::Late(20_000));
    fixture
        .product
        .start_publishing(&id, &json!({ "mode": "live" }))?;
    let mut asked = 0;
    let begun = Instant::now();
    while fixture.cms.list_items()?.iter().all(|item| item.title != title) {
        ensure!(begun.elapsed() < Duration::from_secs(60), "it does not come");
        thread::sleep(Duration::from_secs(2));
        // an answer that refuses is as good as one that looks again
        let again = fixture.product.start_publishing(&id, &json!({ "mode": "live" }));
        asked += usize::from(again.is_ok());
    }
    let path = format!("/posts/{id}");
    while fixture.product.get(&path)?["publicationState"] != "published" {
        ensure!(begun.elapsed() < Duration::from_secs(120), "it is not found");
        thread::sleep(Duration::from_secs(1));
    }
    let item = fixture.cms.find_only_post(title)?;
    ensure!(item.status == ItemStatus::Live, "it is {:?}", item.status);
    Ok(format!(
        "asked {asked} times more, found after {} s, one item",
        begun.elapsed().as_secs()
    ))
}

pub(super) fn lose_answers(fixture: &mut CmsFixture<'_>) -> Result<String> {
    for fault in [
        Fault::ResetAfter,
        Fault::ErrorAfter,
        Fault::Truncated,
        Fault::Page,
        Fault::LimitedBefore,
    ] {
        let title = format!("Spoiled by {fault:?}");
        let id = fixture.create_post(&title, &format!("spoiled-by-{fault:?}").to_lowercase())?;
        fixture.proxy.force(fault);
        fixture.publish_live(&id).with_context(|| format!("{fault:?}"))?;
        let item = fixture.cms.find_only_post(&title)?;
        ensure!(
            item.status == ItemStatus::Live,
            "{fault:?}: it is {:?}",
            item.status
        );
    }
    Ok("one item each".to_owned())
}

/// A request that never arrived looks like one whose answer was lost.
pub(super) fn lose_request(fixture: &mut CmsFixture<'_>) -> Result<String> {
    let id = fixture.create_post(LOST_TITLE, "never-arrived")?;
    fixture.proxy.force(Fault::BusyBefore);
    fixture.expect_outcome(&id, json!({ "mode": "live" }), &PublishOutcome::Uncertain)?;
    ensure!(
        fixture
            .cms
            .list_items()?
            .iter()
            .all(|item| item.title != LOST_TITLE),
        "it was made"
    );
    let post = fixture.product.get(&format!("/posts/{id}"))?;
    ensure!(
        post["publicationState"] == "uncertain",
        "it is {}",
        post["publicationState"]
    );
    let evidence = list(&post, "/publications/0/attempt/evidence");
    let seen: Vec<String> = evidence.iter().map(|seen| scalar(seen, "/what")).collect();
    ensure!(seen.iter().any(|what| what == "unclear"), "{seen:?}");
    Ok(seen.join(", "))
}

/// The post of [`lose_request`], ten minutes later.
pub(super) fn give_up_lost_request(fixture: &mut CmsFixture<'_>) -> Result<String> {
    let id = fixture.post_id(LOST_TITLE)?;
    let begun = Instant::now();
    loop {
        let post = fixture.product.get(&format!("/posts/{id}"))?;
        match post["publicationState"].as_str() {
            Some("uncertain") if begun.elapsed() < GIVE_UP_TIMEOUT => thread::sleep(Duration::from_secs(5)),
            Some("failed") => break,
            other => bail!("it is {other:?}"),
        }
    }
    fixture.publish_live(&id)?;
    fixture.cms.find_only_post(LOST_TITLE)?;
    Ok("failed, then published".to_owned())
}

pub(super) fn lose_answer_to_update(fixture: &mut CmsFixture<'_>) -> Result<String> {
    let id = fixture.post_id(TITLE)?;
    fixture
        .product
        .change_post(&id, json!({ "content": format!("{TEXT}\nFifth edition.\n") }))?;
    fixture.proxy.force(Fault::ErrorAfter);
    fixture.publish_live(&id)?;
    let item = fixture.cms.find_only_post(TITLE)?;
    ensure!(
        item.content.contains("Fifth edition."),
        "it says {}",
        item.content
    );
    Ok("updated".to_owned())
}

pub(super) fn report_missing_permission(fixture: &mut CmsFixture<'_>) -> Result<String> {
    if !fixture.cms.forbid_writing()? {
        return Ok("has no such thing".to_owned());
    }
    let id = fixture.post_id(TITLE)?;
    fixture
        .product
        .change_post(&id, json!({ "content": format!("{TEXT}\nSixth edition.\n") }))?;
    let outcome = fixture.expect_failure(&id, "permission_refused");
    fixture.cms.allow_writing()?;
    outcome?;
    fixture.publish_live(&id)?;
    let item = fixture.cms.find_only_post(TITLE)?;
    ensure!(
        item.content.contains("Sixth edition."),
        "it says {}",
        item.content
    );
    Ok("permission_refused, then published".to_owned())
}

pub(super) fn report_revoked_secret(fixture: &mut CmsFixture<'_>) -> Result<String> {
    let before = fixture.cms.find_only_post(TITLE)?;
    let id = fixture.post_id(TITLE)?;
    fixture
        .product
        .change_post(&id, json!({ "content": format!("{TEXT}\nSeventh edition.\n") }))?;
    fixture.cms.revoke_secret()?;
    let outcome = fixture.expect_failure(&id, "credential_refused");
    let status = fixture.status()?;
    let old = fixture.product.connect(&*fixture.cms, &fixture.url());
    fixture.cms.renew_secret()?;
    fixture.product.connect(&*fixture.cms, &fixture.url())?;
    outcome?;
    ensure!(status == "reauthorization_required", "it is {status}");
    ensure!(old.is_err(), "the revoked secret connects it");
    fixture.publish_live(&id)?;
    let item = fixture.cms.find_only_post(TITLE)?;
    ensure!(item.id == before.id, "{} became {}", before.id, item.id);
    ensure!(
        item.content.contains("Seventh edition."),
        "it says {}",
        item.content
    );
    Ok(status)
}

pub(super) fn report_removed_field(fixture: &mut CmsFixture<'_>) -> Result<String> {
    if !fixture.cms.remove_field()? {
        return Ok("has no such thing".to_owned());
    }
    let id = fixture.post_id(TITLE)?;
    fixture
        .product
        .change_post(&id, json!({ "content": format!("{TEXT}\nEighth edition.\n") }))?;
    fixture.expect_failure(&id, "schema_changed")?;
    let item = fixture.cms.find_only_post(TITLE)?;
    ensure!(!item.content.contains("Eighth edition."), "it was changed");
    let mut mapping = fixture.cms.mapping();
    let fields = mapping["fieldMap"].as_object_mut().context("no field map")?;
    fields.remove("excerpt");
    fixture
        .product
        .post(&fixture.integration_path("mapping"), &mapping)?;
    fixture.publish_live(&id)?;
    let item = fixture.cms.find_only_post(TITLE)?;
    ensure!(
        item.content.contains("Eighth edition."),
        "it says {}",
        item.content
    );
    Ok("schema_changed, then another mapping".to_owned())
}

pub(super) fn report_required_field(fixture: &mut CmsFixture<'_>) -> Result<String> {
    if !fixture.cms.require_field()? {
        return Ok("has no such thing".to_owned());
    }
    let id = fixture.create_post("Incomplete", "incomplete")?;
    let ended = fixture.product.publish(&id, &json!({ "mode": "live" }))?;
    let PublishOutcome::Failed(code) = &ended else {
        bail!("{ended:?}");
    };
    ensure!(
        matches!(code.as_str(), "schema_changed" | "rejected"),
        "it failed with {code}"
    );
    ensure!(
        fixture
            .cms
            .list_items()?
            .iter()
            .all(|item| item.title != "Incomplete"),
        "it was made"
    );
    Ok(format!("{code}, and it is {}", fixture.status()?))
}
