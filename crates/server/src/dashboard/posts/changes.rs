//! Effects of the forms of a post.

use axum::{body::Body, extract::Path};
use http::Response;
use searchwright_contract::{
    Code,
    posts::{
        GeneratePost, GetPost, Post, PostStatus, PublishMode, PublishPost, RestoreRevision, UnpublishPost,
        UpdatePost,
    },
};
use searchwright_engine::{Failure, failure::fault};

use super::{
    super::visit::{self, PageResult, SentForm, SentText},
    detail::{PostRefusal, show_post},
    no_change,
    typed::{TypedPost, order},
};

/// Text of a field; `None` if it is empty.
fn text(sent: &SentForm, name: &str) -> Option<String> {
    Some(sent.form.get(name).trim().to_owned()).filter(|text| !text.is_empty())
}

fn ticked(sent: &SentForm, name: &str) -> Option<bool> {
    (sent.form.get(name) == "1").then_some(true)
}

fn generation(sent: &SentForm, post: &str) -> GeneratePost {
    let sources: Vec<String> = sent
        .form
        .get("sources")
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .map(str::to_owned)
        .collect();
    GeneratePost {
        project_id: sent.visit.project_id(),
        post_id: post.to_owned(),
        mode: sent.form.get("mode").parse().ok(),
        instructions: text(sent, "instructions"),
        sources: Some(sources).filter(|sources| !sources.is_empty()),
        allow_duplicate: ticked(sent, "allowDuplicate"),
        dry_run: None,
    }
}

async fn set_status(
    sent: &SentForm,
    post: &str,
    status: PostStatus,
    code: &'static str,
) -> Result<&'static str, Failure> {
    let operation = UpdatePost {
        status: Some(status),
        ..no_change(&sent.visit, post)
    };
    sent.change(&operation).await?;
    Ok(code)
}

/// Carries out what a form asks for; the code of its message.
async fn carry_out(
    sent: &SentForm,
    id: &str,
    post: &Post,
    typed: Option<&TypedPost>,
) -> Result<&'static str, Failure> {
    let project_id = sent.visit.project_id();
    let post_id = id.to_owned();
    match (sent.form.get("action"), typed) {
        (action, Some(typed)) => {
            let order = order(sent, post, typed).await?;
            sent.change(&order).await?;
            Ok(if action == "schedule" {
                "post-scheduled"
            } else {
                "post-saved"
            })
        }
        ("draft", _) => set_status(sent, id, PostStatus::Draft, "post-draft").await,
        ("review", _) => set_status(sent, id, PostStatus::Review, "post-review").await,
        ("archive", _) => set_status(sent, id, PostStatus::Archived, "post-archived").await,
        ("claims", _) => {
            let claims: Vec<String> = sent
                .form
                .all("claim")
                .map(|claim| claim.replace("\r\n", "\n"))
                .collect();
            if claims.is_empty() {
                return Err(fault(
                    "",
                    "missing",
                    "tick the sentences that you know to be true",
                ));
            }
            let operation = UpdatePost {
                accept_claims: Some(claims),
                ..no_change(&sent.visit, id)
            };
            sent.change(&operation).await?;
            Ok("post-claims")
        }
        ("restore", _) => {
            sent.change(&RestoreRevision {
                project_id,
                post_id,
                number: sent.form.get("revision").to_owned(),
                if_version: None,
            })
            .await?;
            Ok("post-restored")
        }
        ("generate", _) => {
            sent.change(&generation(sent, id)).await?;
            Ok("post-generating")
        }
        ("publish", _) => {
            sent.change(&PublishPost {
                project_id,
                post_id,
                provider: text(sent, "provider"),
                connection_id: text(sent, "connection"),
                mode: ticked(sent, "asDraft").map(|_| PublishMode::Draft),
                force: ticked(sent, "force"),
                recreate_missing: ticked(sent, "recreate"),
            })
            .await?;
            Ok("post-publishing")
        }
        ("unpublish", _) => {
            sent.change(&UnpublishPost {
                project_id,
                post_id,
                provider: text(sent, "provider"),
            })
            .await?;
            Ok("post-unpublishing")
        }
        _ => Err(fault("", "invalid", "choose one of the buttons")),
    }
}

async fn answer(sent: &SentForm, id: &str) -> Result<Response<Body>, (Failure, Option<TypedPost>)> {
    let is_edit = matches!(sent.form.get("action"), "save" | "schedule");
    let typed = is_edit.then(|| TypedPost::from_form(&sent.form));
    let address = sent.visit.address(&format!("/posts/{id}"));
    let reading = GetPost {
        project_id: sent.visit.project_id(),
        post_id: id.to_owned(),
    };
    let outcome = match sent.visit.read(&reading).await {
        // An edit is told from the post that was seen, so that it can be compared with no other. One that was sent twice is in
        // the post already.
        Ok(post) if is_edit && is_other_version(sent, &post) => match &typed {
            Some(typed) if is_done(sent, typed, &post) => Ok("post-saved"),
            _ => Err(changed(&post)),
        },
        Ok(post) => carry_out(sent, id, &post, typed.as_ref()).await,
        Err(failure) => Err(failure),
    };
    match outcome {
        Ok(code) => Ok(sent.done(&address, code, 1)),
        Err(failure) => Err((failure, typed)),
    }
}

/// Returns whether somebody changed the post since the page of the form was loaded.
fn is_other_version(sent: &SentForm, post: &Post) -> bool {
    let seen = sent.form.get("version");
    let now = format!("{}-{}", post.summary.id, post.summary.version);
    seen != now
}

/// Returns whether a post already has what an edit asks for.
fn is_done(sent: &SentForm, typed: &TypedPost, post: &Post) -> bool {
    let is_scheduled = post.summary.status == PostStatus::Scheduled;
    typed.is_in(&TypedPost::from_post(&sent.visit, post))
        && (is_scheduled || sent.form.get("action") == "save")
}

fn changed(post: &Post) -> Failure {
    searchwright_contract::Problem::new(
        Code::PreconditionFailed,
        "somebody else changed the post since the page was loaded",
    )
    .with("currentVersion", post.summary.version)
    .into()
}

pub(super) async fn submit(Path((_, id)): Path<(String, String)>, SentText(sent): SentText) -> PageResult {
    match answer(&sent, &id).await {
        Ok(response) => Ok(response),
        Err((failure, typed)) => {
            let Some((status, text)) = visit::refusal(&failure) else {
                return Err(failure.into());
            };
            let refused = PostRefusal {
                is_stale: failure.0.code == Code::PreconditionFailed,
                action: sent.form.get("action").to_owned(),
                status,
                text,
                typed,
                instructions: sent.form.get("instructions").to_owned(),
                sources: sent.form.get("sources").to_owned(),
            };
            let page = show_post(&sent.visit, &id, Some(refused)).await?;
            Ok(sent.visit.charge(page, true))
        }
    }
}
