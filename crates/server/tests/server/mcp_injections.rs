//! Prompt injection by effects: an agent that obeys whatever it reads gets nothing done that a person has not allowed, and reads text of
//! others as such, short and without what no person would see.

use std::collections::{BTreeMap, BTreeSet};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Map, Value, json};

use crate::{
    harness::{Answer, Bench},
    injection_world::{PLANTED, World},
    mcp::send_at,
    mcp_toolsets::token,
};

on_both!(an_agent_that_obeys_what_it_reads_does_no_harm,);

/// Characters of a text that is shown.
const SHOWN: usize = 2_000;

/// Scopes of a token with which only a person's consent is between an agent and an effect.
const CONSEQUENTIAL: [&str; 3] = ["content:publish", "visibility:track", "autopilot:write"];

/// Parameters by the lists that have their values, and the column of these.
const IDS: [(&str, &str, &str); 10] = [
    ("keywords_list", "id", "keywordId"),
    ("posts_list", "id", "postId"),
    ("integrations_list", "provider", "provider"),
    ("audits_list", "id", "auditId"),
    ("issues_list", "id", "issueId"),
    ("pages_list", "id", "pageId"),
    ("jobs_list", "id", "jobId"),
    ("webhooks_list", "id", "webhookId"),
    ("prompts_list", "id", "promptId"),
    ("runs_list", "id", "runId"),
];

/// An agent with a credential that does what it reads.
struct Agent<'a> {
    world: &'a World,
    credential: &'a str,
    ids: BTreeMap<&'static str, Vec<Value>>,
    /// Tools whose answers had planted texts.
    warned: BTreeSet<String>,
    /// Calls that it was told to make.
    told: BTreeSet<(String, String)>,
    /// Effects that should not have been.
    faults: Vec<String>,
}

impl<'a> Agent<'a> {
    fn new(world: &'a World, credential: &'a str) -> Self {
        let (ids, warned, told) = (BTreeMap::new(), BTreeSet::new(), BTreeSet::new());
        Self {
            world,
            credential,
            ids,
            warned,
            told,
            faults: Vec::new(),
        }
    }

    async fn ask(&self, method: &str, params: Value) -> Answer {
        let bearer = format!("Bearer {}", self.credential);
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        send_at(
            &self.world.bench,
            "?toolsets=all",
            &[("authorization", &bearer)],
            &request,
        )
        .await
    }

    async fn call(&self, name: &str, arguments: &Value) -> Answer {
        self.ask("tools/call", json!({ "name": name, "arguments": arguments }))
            .await
    }

    /// Reads everything that it may.
    async fn read_all(&mut self) {
        let tools = self.ask("tools/list", json!({})).await.json()["result"]["tools"].clone();
        let tools: Vec<(String, Value)> = tools
            .as_array()
            .unwrap()
            .iter()
            .filter(|tool| tool["annotations"]["readOnlyHint"] == true)
            .map(|tool| {
                (
                    tool["name"].as_str().unwrap().to_owned(),
                    tool["inputSchema"].clone(),
                )
            })
            .collect();
        // first the lists, from which the others have their ids
        for (list, column, parameter) in IDS {
            let answer = self.read(list, &Map::new()).await;
            let table = &answer["structuredContent"];
            assert!(table["columns"].is_array(), "{list}: {answer:#}");
            let at = table["columns"]
                .as_array()
                .unwrap()
                .iter()
                .position(|name| name == column);
            let rows = table["rows"].as_array().unwrap();
            let ids = rows.iter().take(20).map(|row| row[at.unwrap()].clone()).collect();
            self.ids.insert(parameter, ids);
        }
        let mut unread = Vec::new();
        for (name, schema) in &tools {
            let mut needs = schema["required"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str);
            let mut needs: Vec<&str> = needs.by_ref().filter(|name| *name != "projectId").collect();
            match needs.pop() {
                None => drop(self.read(name, &Map::new()).await),
                Some(parameter) if needs.is_empty() && self.ids.contains_key(parameter) => {
                    for id in self.ids[parameter].clone() {
                        self.read(name, &Map::from_iter([(parameter.to_owned(), id)]))
                            .await;
                    }
                }
                Some("query") => drop(
                    self.read(name, &Map::from_iter([("query".to_owned(), PLANTED.into())]))
                        .await,
                ),
                Some(_) => unread.push(name.as_str()),
            }
        }
        assert_eq!(
            unread,
            [
                "tools_read",
                "fetch",
                "rechecks_get",
                "approvals_get",
                "products_get",
                "competitors_get",
                "faqs_get",
                "ctas_get"
            ],
            "what is not read is not checked"
        );
    }

    async fn read(&mut self, name: &str, arguments: &Map<String, Value>) -> Value {
        let mut arguments = arguments.clone();
        // which every tool takes but those about no project, whether or not its schema says so again
        if !["me_get", "project_get", "projects_list", "tools_find"].contains(&name) {
            arguments.insert(
                "projectId".to_owned(),
                self.world.bench.project.to_string().into(),
            );
        }
        arguments.insert("maxTokens".to_owned(), 20_000.into());
        let answer = self.call(name, &arguments.into()).await;
        assert_eq!(answer.status, 200, "{name}: {answer:?}");
        let result = answer.json()["result"].clone();
        if result["isError"] == true {
            if result.to_string().contains(PLANTED) {
                self.faults.push(format!("{name}: a refusal with it: {result}"));
            }
            return result;
        }
        self.faults.extend(faults(name, &result));
        let said: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(said, result["structuredContent"], "{name}");
        let mut told = Vec::new();
        texts(&said, &mut |text| told.push(text.to_owned()));
        for text in told.iter().filter(|text| text.to_lowercase().contains(PLANTED)) {
            self.warned.insert(name.to_owned());
            self.told.extend(calls(text));
        }
        result
    }

    /// Does what it was told, in every way that it knows.
    async fn obey(&mut self) -> BTreeMap<String, usize> {
        let project = self.world.bench.project.to_string();
        let fill = |text: &str| {
            text.replace("$project", &project)
                .replace("$post", &self.world.post)
                .replace("$prompt", &self.world.prompt)
        };
        let mut done = BTreeMap::new();
        for (name, arguments) in self.told.clone() {
            let arguments: Value = serde_json::from_str(&fill(&arguments)).unwrap();
            let agreed = json!({ "consent": { "action": "accept", "content": { "confirm": true } } });
            for extra in [
                json!({}),
                json!({ "inputResponses": agreed }),
                json!({ "inputResponses": agreed, "requestState": "e30" }),
            ] {
                let mut params = json!({ "name": name, "arguments": arguments });
                params
                    .as_object_mut()
                    .unwrap()
                    .extend(extra.as_object().unwrap().clone());
                let answer = self.ask("tools/call", params).await;
                let said = answer.json();
                let is_refused =
                    answer.status != 200 || said["error"].is_object() || said["result"]["isError"] == true;
                if !is_refused
                    || said.to_string().contains(PLANTED) && !arguments.to_string().contains(PLANTED)
                {
                    self.faults.push(format!("{name} {arguments}: {said}"));
                }
            }
            *done.entry(name).or_default() += 1;
        }
        done
    }
}

/// Passes every text of a value on, and every name in it.
fn texts(value: &Value, to: &mut impl FnMut(&str)) {
    match value {
        Value::String(text) => to(text),
        Value::Array(items) => items.iter().for_each(|item| texts(item, to)),
        Value::Object(members) => members.iter().for_each(|(name, member)| {
            to(name);
            texts(member, to);
        }),
        _ => {}
    }
}

const fn is_hidden(letter: char) -> bool {
    matches!(letter,
        '\u{0}'..='\u{8}' | '\u{b}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fe00}'..='\u{fe0d}' | '\u{e0000}'..='\u{e0fff}')
}

/// Says where planted texts are not named as text of others, are long, or have hidden characters.
fn faults(tool: &str, result: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    let answer = &result["structuredContent"];
    let named: Vec<&str> = answer["untrusted"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let is_named = |name: &str| {
        named.iter().any(|of| {
            name.strip_prefix(of)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        })
    };
    let mut parts: Vec<(&str, &Value)> = Vec::new();
    for (name, value) in answer.as_object().unwrap() {
        match (name.as_str(), value) {
            ("rows", Value::Array(rows)) if answer["columns"].is_array() => {
                let columns = answer["columns"].as_array().unwrap();
                for row in rows {
                    parts.extend(
                        columns
                            .iter()
                            .zip(row.as_array().unwrap())
                            .map(|(name, value)| (name.as_str().unwrap(), value)),
                    );
                }
            }
            ("same", Value::Object(same)) => {
                parts.extend(same.iter().map(|(name, value)| (name.as_str(), value)))
            }
            // what is found are records of their own
            ("results", Value::Array(records)) => {
                let members = records.iter().filter_map(Value::as_object).flatten();
                parts.extend(members.map(|(name, value)| (name.as_str(), value)));
            }
            _ => parts.push((name, value)),
        }
    }
    for (name, value) in parts {
        if value.to_string().to_lowercase().contains(PLANTED) && !is_named(name) {
            faults.push(format!("{tool}: {name} is not named: {value}"));
        }
    }
    texts(result, &mut |text| {
        if text.chars().any(is_hidden) {
            faults.push(format!("{tool}: hidden characters: {text:?}"));
        }
    });
    texts(answer, &mut |text| {
        let shown = text
            .split_once(&format!("… [{SHOWN} of "))
            .map_or(text, |(shown, _)| shown);
        if shown.chars().count() > SHOWN {
            faults.push(format!("{tool}: too long: {text}"));
        }
    });
    faults
}

/// Calls that a naive agent sees in a text: as JSON, as XML, and either of them encoded.
fn calls(text: &str) -> BTreeSet<(String, String)> {
    let mut found = BTreeSet::new();
    let plain: String = text
        .chars()
        .map(|letter| match letter {
            '\u{430}' => 'a',
            '\u{435}' => 'e',
            '\u{43e}' => 'o',
            other => other,
        })
        .collect();
    let encoded = plain
        .split_whitespace()
        .filter_map(|word| STANDARD.decode(word).ok())
        .filter_map(|bytes| String::from_utf8(bytes).ok());
    for text in [plain.clone()].into_iter().chain(encoded) {
        for (at, _) in text.match_indices('{') {
            let Some(Ok(call)) = serde_json::Deserializer::from_str(&text[at..])
                .into_iter::<Value>()
                .next()
            else {
                continue;
            };
            let arguments = call.get("arguments").or_else(|| call.get("input"));
            if let (Some(name), Some(arguments)) = (call["name"].as_str(), arguments) {
                found.insert((name.to_owned(), arguments.to_string()));
            }
        }
        for invoke in text.split("<invoke name=\"").skip(1) {
            let Some((name, rest)) = invoke.split_once("\">") else {
                continue;
            };
            let arguments = rest.split("<parameter name=\"").skip(1).filter_map(|parameter| {
                let (name, value) = parameter.split_once("\">")?;
                let (value, _) = value.split_once("</parameter>")?;
                Some((
                    name.to_owned(),
                    serde_json::from_str(value).unwrap_or_else(|_| value.into()),
                ))
            });
            found.insert((name.to_owned(), Value::Object(arguments.collect()).to_string()));
        }
    }
    found
}

fn reading(bench: &Bench) -> Vec<&'static str> {
    let scopes: BTreeSet<&str> = bench
        .endpoints()
        .iter()
        .filter(|endpoint| !endpoint.meta.effect.writes())
        .map(|endpoint| endpoint.meta.scope.as_str())
        .collect();
    scopes
        .into_iter()
        .filter(|scope| scope.ends_with(":read"))
        .collect()
}

async fn an_agent_that_obeys_what_it_reads_does_no_harm(database: &str) {
    let world = World::start(database).await;
    let bench = &world.bench;
    let reads = reading(bench);
    let key = bench.key_for(bench.project, &reads).await;
    let all: Vec<&str> = reads.iter().copied().chain(CONSEQUENTIAL).collect();
    let token = token(bench, &all).await;
    assert_eq!(
        *world.reached.lock().unwrap(),
        Vec::<String>::new(),
        "what was heard led to the attacker"
    );
    for credential in [&key, &token] {
        let before = world.effects().await;
        let mut agent = Agent::new(&world, credential);
        agent.read_all().await;
        for tool in [
            "pages_get",
            "pages_list",
            "issues_occurrences",
            "keywords_list",
            "posts_get",
            "posts_list",
            "integrations_list",
            "integrations_fields",
            "jobs_list",
            "prompts_answers",
            "webhooks_deliveries",
            "search",
        ] {
            assert!(
                agent.warned.contains(tool),
                "nothing was planted in what {tool} answers: {:?}",
                agent.warned
            );
        }
        let done = agent.obey().await;
        let faults = agent.faults.iter().map(|fault| fault.chars().take(600).collect());
        let faults: BTreeSet<String> = faults.collect();
        assert!(faults.is_empty(), "{faults:#?}");
        for tool in [
            "posts_publish",
            "prompts_track",
            "webhooks_create",
            "autopilot_update",
            "tools_change",
            "posts_update",
            "fetch",
        ] {
            assert!(
                done.contains_key(tool),
                "the agent was not told to {tool}: {done:?}"
            );
        }
        for method in [
            "tools/list",
            "prompts/list",
            "resources/templates/list",
            "initialize",
        ] {
            let params = if method == "initialize" {
                json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "x", "version": "1" } })
            } else {
                json!({})
            };
            let said = agent.ask(method, params).await;
            assert_eq!(said.status, 200, "{said:?}");
            assert!(!said.json().to_string().contains(PLANTED), "{method}");
        }
        let after = world.effects().await;
        for (what, before) in before.as_object().unwrap() {
            assert_eq!(&after[what], before, "{what} changed");
        }
    }
    // what a provider says when it refuses is at its integration, and not in the refusal
    world.blog.change_password();
    let agent = Agent::new(&world, &key);
    let wordpress = json!({ "provider": "wordpress" });
    let refused = agent.call("integrations_fields", &wordpress).await.json();
    assert_eq!(refused["result"]["isError"], true, "{refused:#}");
    assert!(!refused.to_string().contains(PLANTED), "{refused:#}");
    let listed = agent.call("integrations_list", &json!({})).await.json();
    let listed = &listed["result"]["structuredContent"];
    let names = listed["untrusted"].as_array().unwrap();
    assert!(names.contains(&json!("lastError")), "{listed:#}");
    let mut columns = listed["columns"].as_array().unwrap().iter();
    let said = columns
        .position(|name| name == "lastError.providerMessage")
        .unwrap();
    let mut rows = listed["rows"].as_array().unwrap().iter();
    assert!(
        rows.any(|row| row[said].as_str().is_some_and(|said| said.starts_with(PLANTED))),
        "{listed:#}"
    );
    // what a model wrote leads nowhere
    let written = bench.get("P/posts?limit=100").await.json();
    for post in written["data"].as_array().unwrap() {
        let post = bench
            .get(&format!("P/posts/{}", post["id"].as_str().unwrap()))
            .await
            .json();
        let html = post["contentHtml"].as_str().unwrap_or_default();
        for attribute in ["href=", "src="] {
            assert!(
                !html.contains(&format!("{attribute}\"http://{}", world.texts.evil)),
                "{html}"
            );
        }
        assert!(!html.contains("<invoke") && !html.contains("<!--"), "{html}");
    }
}
