//! Consent before money, publication and deletion: what will happen, where, and at what cost, is said before it is asked for.

use std::io::{IsTerminal as _, Write as _};

use searchwright_client::ClientError;
use searchwright_contract::{
    Effect, Meta, Method, Operation, Problem,
    integrations::{Integration, ListIntegrations, Readiness},
    keywords::{GenerateKeywords, RefreshKeywordMetrics},
    operation::Visitor,
    posts::{GeneratePost, GetPost, Post, PublishPost, UnpublishPost},
    projects::GetProjectById,
    prompts::GetPrompt,
    runs::{CostEstimate, TrackPrompt},
    visit,
    webhooks::ListWebhooks,
};
use serde_json::{Value, json};

use crate::{
    Client,
    exit::{CliError, Exit},
    output::plain,
};

/// Most characters of a title in a question.
const MAX_TITLE: usize = 80;

/// Returns whether an operation is asked about.
pub(super) const fn is_needed(effect: Effect) -> bool {
    matches!(effect, Effect::Delete | Effect::Publish | Effect::Spend)
}

/// Asks on a terminal; refuses without one. What is not there is refused first, as not found.
pub(super) async fn ask(client: &Client, meta: &Meta, arguments: &Value) -> Result<(), CliError> {
    let act = describe(client, meta, arguments).await?;
    let command = meta.name.replace('.', " ");
    if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        return Err(CliError::new(
            Exit::Usage,
            format!("{command} needs consent, and nothing was done: {act}"),
        )
        .hint(format!(
            "ask the person concerned, then repeat it with --yes: searchwright {command} … --yes"
        )));
    }
    let place = website(client, arguments).await;
    eprint!("{act}\n{place}Go on? [y/N] ");
    std::io::stderr().flush()?;
    let mut line = String::new();
    std::io::stdin().read_line(&mut line)?;
    if matches!(line.trim(), "y" | "Y" | "yes") {
        Ok(())
    } else {
        Err(CliError::new(Exit::Failed, "nothing was done").hint("answer y, or give --yes, to go on"))
    }
}

/// Line that names the website of the project, if it can be read.
async fn website(client: &Client, arguments: &Value) -> String {
    let query = GetProjectById {
        project_id: text_of(arguments, "projectId").to_owned(),
    };
    let project = client.call(&query).await;
    project.map_or_else(
        |_| String::new(),
        |project| format!("Project: {} ({})\n", plain(&project.name), plain(&project.domain)),
    )
}

/// Describes what a call will do, from what is stored.
async fn describe(client: &Client, meta: &Meta, arguments: &Value) -> Result<String, CliError> {
    Ok(if meta.name == PublishPost::META.name {
        let title = post(client, arguments).await?.map(|post| title_of(&post));
        let place = destination(client, arguments).await;
        let mode = match arguments["mode"].as_str() {
            Some("draft") => "Deliver as a draft",
            _ => "Publish, for everybody to see,",
        };
        format!(
            "{mode} the post {} to {place}.",
            title.unwrap_or_else(|| its_id(arguments, "postId"))
        )
    } else if meta.name == UnpublishPost::META.name {
        let post = post(client, arguments).await?;
        let places: Vec<String> = post
            .iter()
            .flat_map(|post| &post.publications)
            .map(place_of)
            .collect();
        let title = post
            .as_ref()
            .map_or_else(|| its_id(arguments, "postId"), title_of);
        let from = if places.is_empty() {
            String::new()
        } else {
            format!(" from {}", places.join(", "))
        };
        format!("Unpublish the post {title}{from}.")
    } else if meta.name == GeneratePost::META.name {
        let title = post(client, arguments).await?.map(|post| title_of(&post));
        let text = match arguments["mode"].as_str() {
            Some("overwrite") => "Write a new text over that of the post",
            _ => "Write the missing text of the post",
        };
        format!(
            "{text} {}. The account of a language model, if the operator has set one up, may be charged; the cost is not known before.",
            title.unwrap_or_else(|| its_id(arguments, "postId"))
        )
    } else if meta.name == GenerateKeywords::META.name {
        "Find keywords. Accounts for keyword data and language models, if the operator has set any up, may be charged; the cost is not known before.".to_owned()
    } else if meta.name == RefreshKeywordMetrics::META.name {
        let count = arguments["keywords"].as_array().map_or(0, Vec::len);
        let most = arguments["maxCost"].as_f64().map_or_else(
            || "the cost is not known before, and --max-cost limits it".to_owned(),
            |most| format!("at most ${most}"),
        );
        format!("Ask the provider for figures of {count} keywords, for which it may charge: {most}.")
    } else if meta.name == TrackPrompt::META.name {
        track(client, arguments).await?
    } else if meta.effect == Effect::Delete {
        let resource = meta.name.split('.').next().unwrap_or_default();
        let what = deleted(client, meta, arguments).await?;
        format!("Delete from {resource}: {what}. This cannot be undone.")
    } else {
        format!("{}.", meta.name.replace('.', " "))
    })
}

/// Passes on that a record does not exist; whatever else keeps it from being read does not keep anybody from asking.
fn readable<T>(answer: Result<T, ClientError>) -> Result<Option<T>, CliError> {
    match answer {
        Ok(record) => Ok(Some(record)),
        Err(ClientError::Problem(problem)) if is_final(&problem) => Err(ClientError::Problem(problem).into()),
        Err(error @ ClientError::Unreachable { .. }) => Err(error.into()),
        Err(_) => Ok(None),
    }
}

/// Whether the call itself would be refused for the same reason.
fn is_final(problem: &Problem) -> bool {
    matches!(problem.status, 401 | 404) || problem.code.as_str() == "project_forbidden"
}

async fn post(client: &Client, arguments: &Value) -> Result<Option<Post>, CliError> {
    let query = GetPost {
        project_id: text_of(arguments, "projectId").to_owned(),
        post_id: text_of(arguments, "postId").to_owned(),
    };
    readable(client.call(&query).await)
}

/// Place to which a post would be published.
async fn destination(client: &Client, arguments: &Value) -> String {
    let query = ListIntegrations {
        project_id: text_of(arguments, "projectId").to_owned(),
        limit: Some(100),
        cursor: None,
    };
    let all = client
        .call(&query)
        .await
        .map(|list| list.data)
        .unwrap_or_default();
    let wanted = arguments["provider"].as_str();
    let connection = arguments["connectionId"].as_str();
    let fitting = all.iter().filter(|place| match (wanted, connection) {
        (None, None) => place.status == Readiness::Ready,
        _ => {
            wanted.is_none_or(|provider| place.provider.as_str() == provider)
                && connection.is_none_or(|id| place.connection_id.is_some_and(|own| own.to_string() == id))
        }
    });
    let fitting: Vec<String> = fitting.map(integration).collect();
    match (fitting.as_slice(), wanted) {
        ([only], _) => only.clone(),
        (_, Some(provider)) => plain(provider),
        ([], None) => "a place, of which none is ready yet".to_owned(),
        (several, None) => format!("one of the places that are ready: {}", several.join(", ")),
    }
}

fn integration(place: &Integration) -> String {
    let parts = [&place.account, &place.site_id, &place.collection_id];
    let parts: Vec<String> = parts.into_iter().flatten().map(|part| plain(part)).collect();
    if parts.is_empty() {
        plain(&place.display_name)
    } else {
        format!("{} ({})", plain(&place.display_name), parts.join(", "))
    }
}

fn place_of(publication: &searchwright_contract::posts::Publication) -> String {
    let url = publication.url.as_deref().map(|url| format!(" ({})", plain(url)));
    format!("{}{}", publication.provider, url.unwrap_or_default())
}

/// Question about a run, with its estimate.
async fn track(client: &Client, arguments: &Value) -> Result<String, CliError> {
    let mut dry = arguments.clone();
    dry["dryRun"] = true.into();
    let estimate = client.call_raw(&TrackPrompt::META, dry).await?;
    let prompt = client.call_raw(
        &GetPrompt::META,
        json!({ "projectId": arguments["projectId"], "promptId": arguments["promptId"] }),
    );
    let prompt = readable(prompt.await)?;
    let text = prompt
        .as_ref()
        .and_then(|prompt| prompt["text"].as_str())
        .map_or_else(|| its_id(arguments, "promptId"), quoted);
    let cost = estimate["estimatedCost"].clone();
    let cost: CostEstimate = serde_json::from_value(cost).unwrap_or_default();
    Ok(format!(
        "Put the prompt {text} to the engines. Estimated cost: {}.",
        in_dollars(&cost)
    ))
}

fn in_dollars(cost: &CostEstimate) -> String {
    let shown = |value: f64| format!("${value:.4}");
    match (cost.low, cost.high) {
        (Some(low), Some(high)) => format!("{} to {}", shown(low), shown(high)),
        (Some(low), None) => format!("at least {}", shown(low)),
        (None, Some(high)) => format!("at most {}", shown(high)),
        (None, None) => "not known, and --max-cost limits it".to_owned(),
    }
}

/// Record that would be deleted, in words.
async fn deleted(client: &Client, meta: &Meta, arguments: &Value) -> Result<String, CliError> {
    let parameter = meta.path_parameters().last().unwrap_or_default();
    let id = its_id(arguments, parameter);
    let record = match reader_of(meta) {
        Some(reader) => readable(client.call_raw(&reader, arguments.clone()).await)?,
        None if meta.path.ends_with("/webhooks/{webhookId}") => webhook(client, arguments, &id).await,
        None => None,
    };
    let named = ["keyword", "title", "name", "question", "label", "targetUrl"];
    let name = record
        .as_ref()
        .and_then(|record| named.iter().find_map(|member| record[member].as_str()));
    Ok(name.map_or(id, quoted))
}

async fn webhook(client: &Client, arguments: &Value, id: &str) -> Option<Value> {
    let query = ListWebhooks {
        project_id: text_of(arguments, "projectId").to_owned(),
        limit: Some(100),
        cursor: None,
    };
    let all = client.call(&query).await.ok()?;
    let one = all
        .data
        .into_iter()
        .find(|webhook| webhook.id.to_string() == id)?;
    serde_json::to_value(one).ok()
}

/// Operation that reads the record which another one deletes.
fn reader_of(meta: &Meta) -> Option<Meta> {
    struct Reader<'a>(&'a str, Option<Meta>);
    impl Visitor for Reader<'_> {
        fn operation<O: Operation>(&mut self) {
            if O::META.path == self.0 && O::META.method == Method::GET {
                self.1 = Some(O::META);
            }
        }
    }
    let mut reader = Reader(meta.path, None);
    visit(&mut reader);
    reader.1
}

fn title_of(post: &Post) -> String {
    let title = post.summary.title.as_deref().or(post.summary.keyword.as_deref());
    title.map_or_else(|| post.summary.id.to_string(), quoted)
}

fn quoted(text: &str) -> String {
    let text = plain(text);
    let mut short: String = text.chars().take(MAX_TITLE).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    format!("\"{short}\"")
}

fn its_id(arguments: &Value, member: &str) -> String {
    plain(text_of(arguments, member))
}

fn text_of<'a>(arguments: &'a Value, member: &str) -> &'a str {
    arguments[member].as_str().unwrap_or_default()
}
