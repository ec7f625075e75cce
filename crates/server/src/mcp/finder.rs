//! Tools about tools: many clients cannot change the address that they were given, so what they do not list is found by words and
//! called by name.

use rmcp::model::{Tool, ToolAnnotations};
use searchwright_contract::Problem;
use serde_json::{Map, Value, json};

use super::{
    catalogue::{Action, Entry, described},
    toolsets::{TOOLSETS, Toolset, words},
};

/// Finds tools.
pub(super) const FIND: &str = "tools_find";
/// Calls a tool that only reads.
pub(super) const READ: &str = "tools_read";
/// Calls a tool that changes something.
pub(super) const CHANGE: &str = "tools_change";
/// Finds records.
const SEARCH: &str = "search";
/// Reads one thing whole.
pub(super) const FETCH: &str = "fetch";
/// Points of a word in the name of a tool, in its sentence, and in the names of its arguments.
const POINTS: [usize; 3] = [4, 2, 1];

/// Returns the tools that are listed whatever is chosen.
pub(super) fn tools() -> [(Action, Tool); 5] {
    let sets: Vec<&str> = TOOLSETS.iter().map(|set| set.name).collect();
    let by_name = json!({ "type": "object", "required": ["name"],
        "properties": { "name": { "type": "string" }, "arguments": { "type": "object" } } });
    let find = json!({ "type": "object",
        "properties": { "words": { "type": "string" }, "toolset": { "type": "string", "enum": sets } } });
    let reads = ToolAnnotations::new()
        .read_only(true)
        .destructive(false)
        .idempotent(true)
        .open_world(false);
    let changes = ToolAnnotations::new()
        .read_only(false)
        .destructive(true)
        .idempotent(false)
        .open_world(true);
    let by_query =
        json!({ "type": "object", "properties": { "query": { "type": "string" } }, "required": ["query"] });
    let by_id = json!({ "type": "object", "properties": { "id": { "type": "string" } }, "required": ["id"] });
    [
        (
            Action::Find,
            described(
                FIND,
                "Find tools",
                "Finds the tools that are not listed: what they do and take.",
                &find,
                reads.clone(),
            ),
        ),
        (
            Action::Read,
            described(
                READ,
                "Read with a tool",
                "Calls a tool that only reads, by its name.",
                &by_name,
                reads.clone(),
            ),
        ),
        (
            Action::Change,
            described(
                CHANGE,
                "Change with a tool",
                "Calls a tool that changes, spends or publishes, by its name.",
                &by_name,
                changes,
            ),
        ),
        (
            Action::Search,
            described(
                SEARCH,
                "Search",
                "Finds pages, issues, posts and keywords by words.",
                &by_query,
                reads.clone(),
            ),
        ),
        (
            Action::Fetch,
            described(
                FETCH,
                "Fetch",
                "Reads what search found, or a long text, by its id.",
                &by_id,
                reads,
            ),
        ),
    ]
}

/// The tool that is called by its name, and its arguments.
#[derive(Debug)]
pub(super) struct ByName {
    pub(super) name: String,
    pub(super) arguments: Map<String, Value>,
}

impl ByName {
    /// Reads the arguments of `tools_read` and `tools_change`.
    pub(super) fn read(mut outer: Map<String, Value>) -> Result<Self, Problem> {
        let Some(Value::String(name)) = outer.remove("name") else {
            return Err(Problem::fault(
                "/name",
                "required",
                "is the name of a tool; tools_find lists them",
            ));
        };
        let mut arguments = match outer.remove("arguments") {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(arguments)) => arguments,
            Some(_) => {
                return Err(Problem::fault(
                    "/arguments",
                    "wrong_type",
                    "is an object: the arguments of the tool",
                ));
            }
        };
        for (member, value) in outer {
            // what every tool takes may stand beside the name
            if !matches!(member.as_str(), "fields" | "maxTokens") {
                return Err(Problem::fault(
                    &format!("/{member}"),
                    "unknown_field",
                    "belongs into `arguments`",
                ));
            }
            arguments.entry(member).or_insert(value);
        }
        Ok(Self { name, arguments })
    }
}

/// A search for tools.
#[derive(Debug)]
pub(super) struct Wanted {
    words: Vec<String>,
    toolset: Option<&'static Toolset>,
}

impl Wanted {
    /// Reads the arguments of `tools_find`.
    pub(super) fn read(arguments: &Map<String, Value>) -> Result<Self, Problem> {
        let text = |name: &str| match arguments.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.as_str())),
            Some(_) => Err(Problem::fault(&format!("/{name}"), "wrong_type", "is a text")),
        };
        let known = ["words", "toolset"];
        if let Some(other) = arguments.keys().find(|name| !known.contains(&name.as_str())) {
            return Err(Problem::fault(
                &format!("/{other}"),
                "unknown_field",
                "is unknown; known fields are words, toolset, maxTokens",
            ));
        }
        let toolset = text("toolset")?.map(|name| {
            let unknown = || Problem::fault("/toolset", "unknown", format!("is one of {}", words()));
            Toolset::find(name).ok_or_else(unknown)
        });
        let words = text("words")?.unwrap_or_default().to_lowercase();
        let words = words.split(|letter: char| !letter.is_alphanumeric());
        Ok(Self {
            words: words.filter(|word| !word.is_empty()).map(str::to_owned).collect(),
            toolset: toolset.transpose()?,
        })
    }

    /// Returns what fits into a budget of bytes: the tools that match best with what they take, and the names of the others.
    /// A search for nothing in particular gets the sets and their tools.
    pub(super) fn answer(
        &self,
        entries: &[&Entry],
        operation: impl Fn(&Entry) -> Option<&'static str>,
        takes: impl Fn(&Entry) -> Value,
        budget: usize,
    ) -> Value {
        let index = || {
            let sets = TOOLSETS.iter().map(|set| {
                let of_set = entries
                    .iter()
                    .filter(|entry| operation(entry).is_some_and(|name| set.has(name)));
                let names: Vec<&str> = of_set.map(|entry| entry.name()).collect();
                json!({ "toolset": set.name, "about": set.about, "tools": names })
            });
            sets.collect::<Vec<_>>()
        };
        if self.words.is_empty() && self.toolset.is_none() {
            return json!({ "tools": [], "toolsets": index() });
        }
        let mut found: Vec<(usize, &Entry)> = entries
            .iter()
            .filter(|entry| {
                self.toolset
                    .is_none_or(|set| operation(entry).is_some_and(|name| set.has(name)))
            })
            .map(|entry| (self.points(entry), *entry))
            .filter(|(points, _)| self.words.is_empty() || *points > 0)
            .collect();
        if found.is_empty() {
            return json!({ "tools": [], "toolsets": index() });
        }
        found.sort_by_key(|(points, _)| std::cmp::Reverse(*points));
        let mut left = budget;
        let mut tools = Vec::new();
        let mut more = Vec::new();
        for (_, entry) in found {
            let tool = takes(entry);
            let size = tool.to_string().len();
            if more.is_empty() && size <= left {
                left -= size;
                tools.push(tool);
            } else {
                more.push(entry.name());
            }
        }
        if more.is_empty() {
            return json!({ "tools": tools });
        }
        json!({ "tools": tools, "more": more })
    }

    fn points(&self, entry: &Entry) -> usize {
        let tool = entry.whole();
        let description = tool.description.as_deref().unwrap_or_default().to_lowercase();
        let arguments = tool.input_schema.get("properties").and_then(Value::as_object);
        let arguments: String = arguments
            .into_iter()
            .flat_map(Map::keys)
            .map(|name| name.to_lowercase() + " ")
            .collect();
        let places = [tool.name.to_lowercase(), description, arguments];
        let word_points = |word: &String| {
            // of "keywords" and "keyword" each finds the other
            let stem = word
                .strip_suffix('s')
                .filter(|stem| stem.len() > 2)
                .unwrap_or(word);
            let hits = places
                .iter()
                .zip(POINTS)
                .filter(|(place, _)| place.contains(stem));
            hits.map(|(_, points)| points).sum::<usize>()
        };
        self.words.iter().map(word_points).sum()
    }
}
