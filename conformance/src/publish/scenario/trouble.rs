//! Steps in which somebody else changed something, or an answer is lost.

use std::{
    collections::BTreeSet,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, anyhow, bail, ensure};
use serde_json::json;

use super::{Stage, TEXT, TITLE};
use crate::publish::{
    cms::{ADDED, Status, list, loose},
    product::Ended,
    proxy::Fault,
};

const LOST: &str = "Never arrived";
/// Longest until what never arrived is given up: three looks in ten minutes, and then a little.
const GIVEN_UP: Duration = Duration::from_secs(15 * 60);

pub(super) fn twice(stage: &mut Stage<'_>) -> Result<String> {
    let title = "Asked twice";
    let id = stage.write(title, "asked-twice")?;
    let ask = || stage.product.begin_publish(&id, &json!({ "mode": "live" }));
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
        let ended = stage.product.follow(job, Duration::from_secs(30))?;
        ensure!(ended == Ended::Done, "{ended:?}");
    }
    let item = stage.cms.only(title)?;
    ensure!(item.status == Status::Live, "it is {:?}", item.status);
    Ok(format!("{} jobs for 4 requests, one item", jobs.len()))
}

pub(super) fn remote_edit(stage: &mut Stage<'_>) -> Result<String> {
    let id = stage.post(TITLE)?;
    stage.cms.edit(&stage.cms.only(TITLE)?)?;
    stage
        .product
        .change(&id, json!({ "content": format!("{TEXT}\nFourth edition.\n") }))?;
    stage.fails(&id, "remote_changed")?;
    let item = stage.cms.only(TITLE)?;
    ensure!(item.content.contains(ADDED), "it was overwritten");
    stage.ends(&id, json!({ "mode": "live", "force": true }), &Ended::Done)?;
    let item = stage.cms.only(TITLE)?;
    ensure!(
        item.content.contains("Fourth edition.") && !item.content.contains(ADDED),
        "it says {}",
        item.content
    );
    Ok("remote_changed, then force".to_owned())
}

pub(super) fn remote_delete(stage: &mut Stage<'_>) -> Result<String> {
    let title = "Deleted there";
    let id = stage.write(title, "deleted-there")?;
    stage.live(&id)?;
    stage.cms.delete(&stage.cms.only(title)?.id)?;
    stage
        .product
        .change(&id, json!({ "content": format!("{TEXT}\nChanged.\n") }))?;
    stage.fails(&id, "remote_missing")?;
    stage.ends(
        &id,
        json!({ "mode": "live", "recreateMissing": true }),
        &Ended::Done,
    )?;
    let item = stage.cms.only(title)?;
    ensure!(
        item.status == Status::Live && item.slug == "deleted-there",
        "{item:?}"
    );
    Ok("remote_missing, then recreateMissing".to_owned())
}

pub(super) fn slug_conflict(stage: &mut Stage<'_>) -> Result<String> {
    let theirs = stage.cms.add("Somebody else's", "taken-slug")?;
    let id = stage.write("Ours", "taken-slug")?;
    stage.fails(&id, "slug_conflict")?;
    ensure!(
        stage.cms.items()?.iter().all(|item| item.title != "Ours"),
        "it was made"
    );
    let item = stage.cms.only("Somebody else's")?;
    ensure!(
        item.id == theirs && item.content.contains("By somebody else."),
        "{item:?}"
    );
    stage.product.change(&id, json!({ "slug": "free-slug" }))?;
    stage.live(&id)?;
    stage.cms.only("Ours")?;
    Ok("slug_conflict, then another slug".to_owned())
}

/// Its author asks again, and again, before it is there.
pub(super) fn late(stage: &mut Stage<'_>) -> Result<String> {
    let title = "Comes late";
    let id = stage.write(title, "comes-late")?;
    stage.proxy.force(Fault::Late(20_000));
    stage.product.begin_publish(&id, &json!({ "mode": "live" }))?;
    let mut asked = 0;
    let begun = Instant::now();
    while stage.cms.items()?.iter().all(|item| item.title != title) {
        ensure!(begun.elapsed() < Duration::from_secs(60), "it does not come");
        thread::sleep(Duration::from_secs(2));
        // an answer that refuses is as good as one that looks again
        let again = stage.product.begin_publish(&id, &json!({ "mode": "live" }));
        asked += usize::from(again.is_ok());
    }
    let path = format!("/posts/{id}");
    while stage.product.get(&path)?["publicationState"] != "published" {
        ensure!(begun.elapsed() < Duration::from_secs(120), "it is not found");
        thread::sleep(Duration::from_secs(1));
    }
    let item = stage.cms.only(title)?;
    ensure!(item.status == Status::Live, "it is {:?}", item.status);
    Ok(format!(
        "asked {asked} times more, found after {} s, one item",
        begun.elapsed().as_secs()
    ))
}

pub(super) fn lost_answers(stage: &mut Stage<'_>) -> Result<String> {
    for fault in [
        Fault::ResetAfter,
        Fault::ErrorAfter,
        Fault::Truncated,
        Fault::Page,
        Fault::LimitedBefore,
    ] {
        let title = format!("Spoiled by {fault:?}");
        let id = stage.write(&title, &format!("spoiled-by-{fault:?}").to_lowercase())?;
        stage.proxy.force(fault);
        stage.live(&id).with_context(|| format!("{fault:?}"))?;
        let item = stage.cms.only(&title)?;
        ensure!(item.status == Status::Live, "{fault:?}: it is {:?}", item.status);
    }
    Ok("one item each".to_owned())
}

/// Nobody can tell a request that never arrived from one whose answer was lost.
pub(super) fn never_arrived(stage: &mut Stage<'_>) -> Result<String> {
    let id = stage.write(LOST, "never-arrived")?;
    stage.proxy.force(Fault::BusyBefore);
    stage.ends(&id, json!({ "mode": "live" }), &Ended::Uncertain)?;
    ensure!(
        stage.cms.items()?.iter().all(|item| item.title != LOST),
        "it was made"
    );
    let post = stage.product.get(&format!("/posts/{id}"))?;
    ensure!(
        post["publicationState"] == "uncertain",
        "it is {}",
        post["publicationState"]
    );
    let evidence = list(&post, "/publications/0/attempt/evidence");
    let seen: Vec<String> = evidence.iter().map(|seen| loose(seen, "/what")).collect();
    ensure!(seen.iter().any(|what| what == "unclear"), "{seen:?}");
    Ok(seen.join(", "))
}

/// The post of [`never_arrived`], ten minutes later.
pub(super) fn given_up(stage: &mut Stage<'_>) -> Result<String> {
    let id = stage.post(LOST)?;
    let begun = Instant::now();
    loop {
        let post = stage.product.get(&format!("/posts/{id}"))?;
        match post["publicationState"].as_str() {
            Some("uncertain") if begun.elapsed() < GIVEN_UP => thread::sleep(Duration::from_secs(5)),
            Some("failed") => break,
            other => bail!("it is {other:?}"),
        }
    }
    stage.live(&id)?;
    stage.cms.only(LOST)?;
    Ok("failed, then published".to_owned())
}

pub(super) fn lost_update(stage: &mut Stage<'_>) -> Result<String> {
    let id = stage.post(TITLE)?;
    stage
        .product
        .change(&id, json!({ "content": format!("{TEXT}\nFifth edition.\n") }))?;
    stage.proxy.force(Fault::ErrorAfter);
    stage.live(&id)?;
    let item = stage.cms.only(TITLE)?;
    ensure!(
        item.content.contains("Fifth edition."),
        "it says {}",
        item.content
    );
    Ok("updated".to_owned())
}

pub(super) fn lowered(stage: &mut Stage<'_>) -> Result<String> {
    if !stage.cms.lower()? {
        return Ok("has no such thing".to_owned());
    }
    let id = stage.post(TITLE)?;
    stage
        .product
        .change(&id, json!({ "content": format!("{TEXT}\nSixth edition.\n") }))?;
    let outcome = stage.fails(&id, "permission_refused");
    stage.cms.restore()?;
    outcome?;
    stage.live(&id)?;
    let item = stage.cms.only(TITLE)?;
    ensure!(
        item.content.contains("Sixth edition."),
        "it says {}",
        item.content
    );
    Ok("permission_refused, then published".to_owned())
}

pub(super) fn revoked(stage: &mut Stage<'_>) -> Result<String> {
    let before = stage.cms.only(TITLE)?;
    let id = stage.post(TITLE)?;
    stage
        .product
        .change(&id, json!({ "content": format!("{TEXT}\nSeventh edition.\n") }))?;
    stage.cms.revoke()?;
    let outcome = stage.fails(&id, "credential_refused");
    let status = stage.status()?;
    let old = stage.product.connect(&*stage.cms, &stage.url());
    stage.cms.renew()?;
    stage.product.connect(&*stage.cms, &stage.url())?;
    outcome?;
    ensure!(status == "reauthorization_required", "it is {status}");
    ensure!(old.is_err(), "the revoked secret connects it");
    stage.live(&id)?;
    let item = stage.cms.only(TITLE)?;
    ensure!(item.id == before.id, "{} became {}", before.id, item.id);
    ensure!(
        item.content.contains("Seventh edition."),
        "it says {}",
        item.content
    );
    Ok(status)
}

pub(super) fn removed_field(stage: &mut Stage<'_>) -> Result<String> {
    if !stage.cms.remove_field()? {
        return Ok("has no such thing".to_owned());
    }
    let id = stage.post(TITLE)?;
    stage
        .product
        .change(&id, json!({ "content": format!("{TEXT}\nEighth edition.\n") }))?;
    stage.fails(&id, "schema_changed")?;
    let item = stage.cms.only(TITLE)?;
    ensure!(!item.content.contains("Eighth edition."), "it was changed");
    let mut mapping = stage.cms.mapping();
    let fields = mapping["fieldMap"].as_object_mut().context("no field map")?;
    fields.remove("excerpt");
    stage.product.post(&stage.path("mapping"), &mapping)?;
    stage.live(&id)?;
    let item = stage.cms.only(TITLE)?;
    ensure!(
        item.content.contains("Eighth edition."),
        "it says {}",
        item.content
    );
    Ok("schema_changed, then another mapping".to_owned())
}

pub(super) fn required_field(stage: &mut Stage<'_>) -> Result<String> {
    if !stage.cms.require_field()? {
        return Ok("has no such thing".to_owned());
    }
    let id = stage.write("Incomplete", "incomplete")?;
    let ended = stage.product.publish(&id, &json!({ "mode": "live" }))?;
    let Ended::Failed(code) = &ended else {
        bail!("{ended:?}");
    };
    ensure!(
        matches!(code.as_str(), "schema_changed" | "rejected"),
        "it failed with {code}"
    );
    ensure!(
        stage.cms.items()?.iter().all(|item| item.title != "Incomplete"),
        "it was made"
    );
    Ok(format!("{code}, and it is {}", stage.status()?))
}
