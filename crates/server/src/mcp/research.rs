//! Search over what a project has, and reading one thing of it whole: the two tools that research agents look for.

use searchwright_contract::{Effect, Problem};
use searchwright_engine::Failure;
use serde_json::{Map, Value, json};

use super::{
    budget::Budget,
    resources::{Address, Part, SCHEME},
    shaping::{KEYS, Shaped, Written, visible},
    tools::{Caller, Tools},
};

/// Most things that are found.
const MAX_FOUND: usize = 20;
/// Pages of a list in which words are looked for, of a hundred records each.
const SEARCHED_PAGES: usize = 3;
/// Pages of a list in which one record is looked for.
const MAX_PAGES: usize = 10;
const LIMIT: u64 = 100;
/// Characters of a title that is found.
const MAX_TITLE: usize = 120;
/// Bytes of what was fetched beside its text, and times that its address is written.
const FETCHED: usize = 600;
const LINKS: usize = 6;

/// A kind of thing that is searched.
struct Kind {
    /// Its list.
    operation: &'static str,
    /// Its resource below a project, in addresses and on the dashboard.
    resource: &'static str,
    /// Members that are searched, of which the first that is there is the title.
    members: &'static [&'static str],
    /// Whether its list takes a text to look for.
    takes_text: bool,
}

const KINDS: &[Kind] = &[
    Kind {
        operation: "pages.list",
        resource: "pages",
        members: &["title", "url"],
        takes_text: false,
    },
    Kind {
        operation: "issues.list",
        resource: "issues",
        members: &["title", "description", "checkId", "category"],
        takes_text: false,
    },
    Kind {
        operation: "posts.list",
        resource: "posts",
        members: &["title", "keyword", "slug"],
        takes_text: true,
    },
    Kind {
        operation: "keywords.list",
        resource: "keywords",
        members: &["keyword"],
        takes_text: true,
    },
];

impl Tools {
    /// Finds pages, issues, posts and keywords by words.
    pub(super) async fn search(
        &self,
        mut arguments: Map<String, Value>,
        caller: &Caller,
    ) -> Result<Written, Failure> {
        let budget = Budget::take(&mut arguments)?;
        let query = match arguments.remove("query") {
            Some(Value::String(query)) if !query.trim().is_empty() => query.to_lowercase(),
            _ => return Err(Problem::fault("/query", "required", "is what to look for").into()),
        };
        let project = match arguments.remove("projectId") {
            Some(project) => project,
            None => self.only_project(caller).await?,
        };
        if let Some(other) = arguments.keys().next() {
            let detail = "is unknown; known fields are query, projectId, maxTokens";
            return Err(Problem::fault(&format!("/{other}"), "unknown_field", detail).into());
        }
        let words: Vec<&str> = query
            .split(|letter: char| !letter.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .collect();
        // the rarest word is likely the longest
        let longest = words
            .iter()
            .copied()
            .max_by_key(|word| word.len())
            .unwrap_or(&query);
        let mut found = Vec::new();
        for kind in KINDS {
            let endpoint = self
                .app
                .engine
                .endpoints
                .iter()
                .find(|endpoint| endpoint.meta.name == kind.operation);
            let Some(endpoint) = endpoint.filter(|endpoint| caller.credential.may(endpoint.meta.scope))
            else {
                continue;
            };
            let mut page = Map::from_iter([
                ("projectId".to_owned(), project.clone()),
                ("limit".to_owned(), LIMIT.into()),
            ]);
            if kind.takes_text {
                page.insert("q".to_owned(), longest.into());
            }
            for _ in 0..SEARCHED_PAGES {
                let read = self
                    .invoke(endpoint, page.clone(), caller)
                    .await?
                    .unwrap_or_default();
                for record in read["data"].as_array().into_iter().flatten() {
                    let text: Vec<&str> = kind
                        .members
                        .iter()
                        .filter_map(|name| record[*name].as_str())
                        .collect();
                    let lower = text.join(" ").to_lowercase();
                    let points = words.iter().filter(|word| lower.contains(**word)).count();
                    if points > 0 {
                        found.push((points, self.result(kind, record, &project)));
                    }
                }
                match &read["nextCursor"] {
                    Value::String(cursor) => page.insert("cursor".to_owned(), cursor.as_str().into()),
                    _ => break,
                };
            }
        }
        found.sort_by_key(|(points, _)| std::cmp::Reverse(*points));
        let mut results: Vec<Value> = found
            .into_iter()
            .take(MAX_FOUND)
            .map(|(_, result)| result)
            .collect();
        loop {
            let written = Shaped::from(json!({ "results": results, "untrusted": ["title", "url"] })).write();
            if written.fits(budget.room()) || results.is_empty() {
                return Ok(written);
            }
            results.pop();
        }
    }

    fn result(&self, kind: &Kind, record: &Value, project: &Value) -> Value {
        let (id, project) = (
            record["id"].as_str().unwrap_or_default(),
            project.as_str().unwrap_or_default(),
        );
        let title = kind.members.iter().find_map(|name| record[*name].as_str());
        let title: String = visible(title.unwrap_or(id)).chars().take(MAX_TITLE).collect();
        let id = format!("{SCHEME}projects/{project}/{}/{id}", kind.resource);
        let url = self.page_of(&id, record);
        json!({ "id": id, "title": title, "url": url })
    }

    /// Address at which a person sees a record.
    fn page_of(&self, id: &str, record: &Value) -> String {
        let of_site = record["url"].as_str().filter(|url| url.starts_with("http"));
        if let Some(url) = of_site {
            return visible(url);
        }
        let names: Vec<&str> = id.trim_start_matches(SCHEME).split(['/', '?']).take(4).collect();
        // a keyword has no page of its own
        let shown = if names.get(2) == Some(&"keywords") { 3 } else { 4 };
        format!(
            "{}/{}",
            self.app.settings.public_url,
            names[..shown.min(names.len())].join("/")
        )
    }

    /// Reads one thing whole, or the part of it that fits.
    pub(super) async fn fetch(
        &self,
        mut arguments: Map<String, Value>,
        caller: &Caller,
    ) -> Result<Written, Failure> {
        let budget = Budget::take(&mut arguments)?;
        let Some(Value::String(id)) = arguments.remove("id") else {
            return Err(
                Problem::fault("/id", "required", "is an id that search or another tool gave").into(),
            );
        };
        let beside = FETCHED + LINKS * id.len();
        let (record, part) = self
            .read_text(&id, budget.room().saturating_sub(beside), caller)
            .await?;
        let mut names = ["title", "keyword", "name", "question", "text"].iter();
        let title = names.find_map(|name| record[*name].as_str()).unwrap_or("text");
        let title: String = visible(title).chars().take(MAX_TITLE).collect();
        let mut found = json!({ "id": id, "title": title, "text": part.text, "url": self.page_of(&id, &record),
            "untrusted": ["title", "text"], "metadata": { "from": part.from, "to": part.to, "of": part.of } });
        if let Some(next) = part.next {
            found["metadata"]["next"] = next.into();
        }
        Ok(Shaped::from(found).write())
    }

    /// Reads a record, and the part of its text that fits into so many bytes.
    pub(super) async fn read_text(
        &self,
        uri: &str,
        room: usize,
        caller: &Caller,
    ) -> Result<(Value, Part), Failure> {
        let none = || Problem::not_found("text");
        let address = Address::read(&self.app.engine.endpoints, uri).ok_or_else(none)?;
        let _places = self.enter(Effect::Read, caller).await?;
        let mut arguments = address.arguments.clone();
        let Some(key) = &address.key else {
            let record = self
                .invoke(address.endpoint, arguments, caller)
                .await?
                .unwrap_or_default();
            let part = address.part(&record, room).ok_or_else(none)?;
            return Ok((record, part));
        };
        arguments.insert("limit".to_owned(), LIMIT.into());
        for _ in 0..MAX_PAGES {
            let mut page = self
                .invoke(address.endpoint, arguments.clone(), caller)
                .await?
                .unwrap_or_default();
            let next = page["nextCursor"].take();
            let mut records = page["data"].as_array_mut().into_iter().flatten();
            if let Some(record) = records.find(|record| is_key_of(record, key)) {
                let part = address.part(record, room).ok_or_else(none)?;
                return Ok((record.take(), part));
            }
            if !next.is_string() {
                break;
            }
            arguments.insert("cursor".to_owned(), next);
        }
        Err(none().into())
    }
}

/// Returns whether a record of a list has this key.
fn is_key_of(record: &Value, key: &str) -> bool {
    KEYS.iter().any(|name| match &record[*name] {
        Value::String(id) => id == key,
        Value::Number(number) => number.to_string() == key,
        _ => false,
    })
}
