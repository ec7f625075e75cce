//! The first session of the README by the client that openapi-generator makes.

use std::{env, error::Error, fs, time::Duration};

use generated::{
    apis::{
        audits_api, configuration::Configuration, issues_api, keywords_api, me_api, occurrences_api,
        rechecks_api,
    },
    models::{self, AuditStatus, RecheckStatus, Severity},
};

async fn recheck(client: &Configuration, project: &str, issue: &str) -> Result<Vec<String>, Box<dyn Error>> {
    let found = issues_api::issues_occurrences(client, project, issue, None, None, None).await?;
    let places = found.data.iter().map(|place| {
        serde_json::from_value(serde_json::json!({ "issue_id": place.issue_id, "page_id": place.page_id }))
    });
    let claim = models::OccurrencesDoneRequest::new(places.collect::<Result<_, _>>()?);
    occurrences_api::occurrences_done(client, project, claim, None).await?;
    let started = rechecks_api::rechecks_start(client, project, None, None).await?;
    loop {
        let recheck =
            rechecks_api::rechecks_get(client, project, &started.recheck.id, None, None, None).await?;
        if recheck.status == RecheckStatus::Completed {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let after = issues_api::issues_occurrences(client, project, issue, None, None, None).await?;
    Ok(after.data.iter().map(|place| place.state.to_string()).collect())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let client = Configuration {
        base_path: env::var("SESSION_API")?,
        bearer_access_token: Some(env::var("SESSION_KEY")?),
        ..Configuration::default()
    };
    let me = serde_json::to_value(me_api::me_get(&client, None).await?)?;
    let project = me["project"]["id"].as_str().ok_or("a key has a project")?;
    let mut keyword = models::KeywordsCreateRequest::new("indoor ferns".to_owned());
    keyword.search_volume = Some(2400);
    let made = keywords_api::keywords_create(&client, project, keyword.clone(), Some("first")).await?;
    let again = keywords_api::keywords_create(&client, project, keyword, Some("first")).await?;
    assert_eq!(made.id, again.id);
    let nothing = models::KeywordsCreateRequest::new(String::new());
    let refused = keywords_api::keywords_create(&client, project, nothing, None).await;
    assert!(refused.is_err_and(|error| error.to_string().contains("422")));

    audits_api::audits_start(&client, project, None, None).await?;
    while audits_api::audits_current(&client, project, None).await?.status != AuditStatus::Completed {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let issues = issues_api::issues_list(
        &client,
        project,
        None,
        Some(Severity::Error),
        None,
        None,
        None,
        None,
    )
    .await?;
    let broken = issues
        .data
        .iter()
        .find(|issue| issue.check_id == "broken-internal-link")
        .ok_or("the broken link was not found")?;
    assert_eq!(recheck(&client, project, &broken.id).await?, ["still_present"]);
    let mended = "<!doctype html><html lang=\"en\"><title>House plants</title><h1>Ferns</h1><a href=\"/ferns.html\">Guide</a>";
    fs::write(format!("{}/index.html", env::var("SESSION_SITE")?), mended)?;
    let after = recheck(&client, project, &broken.id).await?;
    assert!(after.is_empty() || after == ["resolved"], "{after:?}");
    Ok(())
}
