//! Tools as they are listed: short enough to stand in a model's context beside the work itself.
//!
//! Agents carry the list in every conversation, so a tool has one sentence, its annotations and the names, types and words
//! of its arguments. What is meant for people, examples and limits stay in the HTTP document; calls are checked by the full
//! schema, whose faults name the argument and what it takes. Conventions that many tools share stand once in [`CONVENTIONS`].

use std::sync::Arc;

use rmcp::model::{Tool, ToolAnnotations};
use searchwright_contract::{Effect, Reach};
use searchwright_engine::{Credential, Endpoint};
use serde_json::{Map, Value};

use super::lists::Listed;

/// Rules for the arguments of every tool.
pub(super) const CONVENTIONS: &str = "Lists take limit (1 to 100, default 25) and cursor (nextCursor of the previous page, with the same filters). \
    Times are RFC 3339 in UTC, languages BCP 47, countries ISO 3166-1 alpha-2; left out, the project's apply. \
    Updates change the given members, replace lists as a whole, and null clears. dryRun plans or estimates and changes nothing. \
    In notes on objects `?` marks optional members. A refusal names the argument and what it takes.";
/// Most words of which an argument lists all; longer lists show a few, and the refusal of a wrong word names the rest.
const MOST_WORDS: usize = 6;
/// Bytes of a sentence that is kept whole.
const ROOMY: usize = 66;
/// Bytes of a description from which on its asides are left out.
const LONGEST: usize = 80;
/// Members of one list that stand for the others.
const SHOWN_WORDS: usize = 3;

/// Tools that tell projects apart, of which a key has one.
const TO_CHOOSE_A_PROJECT: &[&str] = &["projects.list", "projects.get"];
/// Tools that are always refused to a token, which has no project of its own.
const OF_THE_ONE_PROJECT: &[&str] = &["project.get"];

/// A tool in both of its forms.
pub(super) struct Entry {
    endpoint: usize,
    /// For a key, whose project needs no naming.
    of_key: Tool,
    of_token: Tool,
}

impl Entry {
    /// Both forms of one operation, which is this one of the table.
    pub(super) fn new(endpoint: usize, row: &Endpoint) -> Self {
        Self {
            endpoint,
            of_key: tool(row, false),
            of_token: tool(row, true),
        }
    }

    /// Name of the tool.
    pub(super) fn name(&self) -> &str {
        &self.of_token.name
    }

    /// The tool in its longer form.
    pub(super) const fn whole(&self) -> &Tool {
        &self.of_token
    }

    /// Returns whether the tool is listed for a credential: not if it would only refuse it.
    fn is_listed_for(&self, credential: &Credential, endpoints: &[Endpoint]) -> bool {
        let useless = match credential {
            Credential::Key(_) => TO_CHOOSE_A_PROJECT,
            Credential::Token(_) | Credential::Session(_) => OF_THE_ONE_PROJECT,
        };
        endpoints.get(self.endpoint).is_some_and(|endpoint| {
            credential.may(endpoint.meta.scope) && !useless.contains(&endpoint.meta.name)
        })
    }
}

impl Listed {
    /// Chooses the tools that a credential sees, and their form.
    pub(super) fn for_credential(entries: &[Entry], credential: &Credential, endpoints: &[Endpoint]) -> Self {
        let tools = entries
            .iter()
            .enumerate()
            .filter(|(_, entry)| entry.is_listed_for(credential, endpoints));
        Self {
            names_project: !matches!(credential, Credential::Key(_)),
            tools: tools.map(|(at, _)| at).collect(),
        }
    }

    /// Writes the tools as JSON.
    pub(super) fn write(&self, entries: &[Entry]) -> serde_json::Result<Vec<u8>> {
        let listed = self.tools.iter().filter_map(|at| entries.get(*at));
        let tools: Vec<&Tool> = listed
            .map(|entry| {
                if self.names_project {
                    &entry.of_token
                } else {
                    &entry.of_key
                }
            })
            .collect();
        serde_json::to_vec(&tools)
    }
}

/// `keywords.create` is the tool `keywords_create`.
pub(super) fn tool_name(endpoint: &Endpoint) -> String {
    endpoint.meta.name.replace('.', "_")
}

fn tool(endpoint: &Endpoint, names_project: bool) -> Tool {
    let (effect, reaches_out) = (endpoint.meta.effect, endpoint.meta.reach == Reach::Outbound);
    let annotations = ToolAnnotations::with_title(title(endpoint.meta.name))
        .read_only(effect == Effect::Read)
        .destructive(matches!(
            effect,
            Effect::Change | Effect::Delete | Effect::Publish
        ))
        .idempotent(matches!(effect, Effect::Read | Effect::Change | Effect::Delete) && !reaches_out)
        .open_world(reaches_out);
    let input = (endpoint.input)().to_value();
    let arguments = arguments(&input, names_project);
    let tool = Tool::new(
        tool_name(endpoint),
        brief(&endpoint.description),
        Arc::new(arguments),
    )
    .with_annotations(annotations);
    if effect == Effect::Delete {
        return tool;
    }
    // Clients drop structured content of a tool that announces none; what is in it, the answer itself shows.
    tool.with_raw_output_schema(Arc::new(Map::from_iter([("type".to_owned(), "object".into())])))
}

/// `keywords.create` is shown to people as "Keywords create".
fn title(name: &str) -> String {
    let spaced = name.replace('.', " ");
    let mut letters = spaced.chars();
    letters
        .next()
        .map(|first| first.to_uppercase().chain(letters).collect())
        .unwrap_or_default()
}

/// The first sentence of a description, and of a long one the clause that says what is done.
fn brief(description: &str) -> String {
    let paragraph = description
        .split("\n\n")
        .next()
        .unwrap_or_default()
        .replace('\n', " ");
    // all of them are
    let paragraph = paragraph.replacen(" of a project", "", 1);
    let sentence = paragraph.split(". ").next().unwrap_or_default();
    let sentence = sentence.strip_suffix('.').unwrap_or(sentence);
    if sentence.len() <= ROOMY {
        return format!("{sentence}.");
    }
    let clause = sentence.split([':', ';']).next().unwrap_or_default();
    let fitting = clause.char_indices().take_while(|(at, _)| *at <= LONGEST).last();
    let end = fitting.map_or(0, |(at, letter)| at + letter.len_utf8());
    let is_whole = end == clause.len();
    let kept = clause[..end].rfind(", ").filter(|_| !is_whole);
    format!("{}.", &clause[..kept.unwrap_or(clause.len())])
}

/// The arguments of a tool: names, types and words.
fn arguments(schema: &Value, names_project: bool) -> Map<String, Value> {
    let reader = Reader {
        definitions: &schema["$defs"],
    };
    let is_shown = |name: &str| names_project || name != "projectId";
    let mut shown = Map::new();
    for (name, member) in members(schema) {
        let note = member["description"]
            .as_str()
            .unwrap_or_default()
            .replace('\n', " ");
        // what an operation takes and passes over is no use to a model
        if is_shown(name) && !note.starts_with("No effect") && !note.starts_with("Ignored:") {
            let mut brief = reader.argument(member);
            if let Some(note) = needed_note(&brief, &note) {
                brief.insert("description".to_owned(), note.into());
            }
            shown.insert(name.clone(), brief.into());
        }
    }
    let mut arguments = Map::from_iter([("type".to_owned(), Value::from("object"))]);
    if !shown.is_empty() {
        arguments.insert("properties".to_owned(), shown.into());
    }
    let required: Vec<Value> = required(schema)
        .filter(|name| is_shown(name))
        .map(Value::from)
        .collect();
    if !required.is_empty() {
        arguments.insert("required".to_owned(), required.into());
    }
    arguments
}

/// Returns the beginning of the note on an argument whose form its name and type do not tell.
fn needed_note(argument: &Map<String, Value>, note: &str) -> Option<String> {
    const FORMS: &[&str] = &["Markdown", "HH:MM", "data:", "`own`", "US dollars", "Mapping"];
    let clause = note.split([';', '(']).next().unwrap_or_default();
    let clause = clause
        .split(". ")
        .next()
        .unwrap_or_default()
        .trim_end_matches(['.', ' ']);
    let is_open = argument.get("type").is_some_and(Value::is_array)
        && !argument["type"]
            .as_array()
            .is_some_and(|types| types.contains(&"null".into()));
    let is_needed = is_open || FORMS.iter().any(|form| note.contains(form));
    (is_needed && !argument.contains_key("description")).then(|| clause.to_owned())
}

struct Reader<'a> {
    definitions: &'a Value,
}

impl<'a> Reader<'a> {
    /// Follows a reference, and reads past the `null` of a choice.
    fn resolve(&self, schema: &'a Value) -> (&'a Value, bool) {
        if let Some(reference) = schema["$ref"].as_str() {
            let name = reference.rsplit('/').next().unwrap_or_default();
            return self.resolve(&self.definitions[name]);
        }
        if let Some(choice) = schema["anyOf"].as_array() {
            let is_null = |option: &&Value| option["type"] == "null";
            let has_null = choice.iter().any(|option| is_null(&option));
            if let Some(option) = choice.iter().find(|option| !is_null(option)) {
                return (self.resolve(option).0, has_null);
            }
        }
        let has_null = schema["type"]
            .as_array()
            .is_some_and(|types| types.contains(&"null".into()));
        (schema, has_null)
    }

    fn argument(&self, schema: &'a Value) -> Map<String, Value> {
        let (schema, has_null) = self.resolve(schema);
        let mut brief = Map::new();
        let words = words(schema);
        let kinds: Vec<Value> = match &schema["type"] {
            Value::Array(kinds) => kinds.clone(),
            Value::Null if words.is_empty() => Vec::new(),
            Value::Null => vec!["string".into()],
            kind => vec![kind.clone()],
        };
        let mut kinds: Vec<Value> = kinds.into_iter().filter(|kind| kind != "null").collect();
        let is_of = |kind: &str| kinds.first().is_some_and(|first| first == kind);
        if is_of("array") {
            brief.insert("items".to_owned(), self.argument(&schema["items"]).into());
        } else if is_of("object") && schema.get("properties").is_some() {
            brief.insert("description".to_owned(), self.listed(schema).into());
        } else if words.len() > MOST_WORDS {
            brief.insert("description".to_owned(), shortened(&words, ", ").into());
        } else if !words.is_empty() {
            let mut words: Vec<Value> = words.into_iter().map(Value::from).collect();
            if has_null {
                words.push(Value::Null);
            }
            brief.insert("enum".to_owned(), words.into());
        }
        if has_null {
            kinds.push("null".into());
        }
        match <[Value; 1]>::try_from(kinds) {
            Ok([kind]) => brief.insert("type".to_owned(), kind),
            Err(kinds) if kinds.is_empty() => None,
            Err(kinds) => brief.insert("type".to_owned(), kinds.into()),
        };
        brief
    }

    /// The members of an object within an argument in one line: `name, price? {amount, currency}`.
    fn listed(&self, schema: &'a Value) -> String {
        let mut listed = Vec::new();
        for (name, member) in members(schema) {
            let mark = if required(schema).any(|r| r == name) {
                ""
            } else {
                "?"
            };
            listed.push(format!("{name}{mark}{}", self.form(member)));
        }
        listed.join(", ")
    }

    fn form(&self, schema: &'a Value) -> String {
        let (schema, _) = self.resolve(schema);
        let words = words(schema);
        if !words.is_empty() {
            return format!(" {}", shortened(&words, "|"));
        }
        if schema.get("items").is_some() {
            return format!("[]{}", self.form(&schema["items"]));
        }
        if schema.get("properties").is_some() {
            return format!(" {{{}}}", self.listed(schema));
        }
        String::new()
    }
}

fn members(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    schema["properties"].as_object().into_iter().flatten()
}

fn required(schema: &Value) -> impl Iterator<Item = &str> {
    let names = schema["required"].as_array().into_iter().flatten();
    names.filter_map(Value::as_str)
}

/// The words that a text is one of, whether they carry descriptions or not.
fn words(schema: &Value) -> Vec<&str> {
    let options = schema["oneOf"].as_array().into_iter().flatten();
    let own = schema["enum"].as_array().into_iter().flatten();
    let of_options = options.flat_map(|option| {
        let several = option["enum"].as_array().into_iter().flatten();
        option["const"]
            .as_str()
            .into_iter()
            .chain(several.filter_map(Value::as_str))
    });
    own.filter_map(Value::as_str).chain(of_options).collect()
}

fn shortened(words: &[&str], between: &str) -> String {
    if words.len() <= MOST_WORDS {
        return words.join(between);
    }
    format!("{}{between}...", words[..SHOWN_WORDS].join(between))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_description_is_its_first_sentence() {
        for (whole, kept) in [
            ("Returns one `audit`.", "Returns one `audit`."),
            ("Lists x, newest\nfirst.\n\nMore.", "Lists x, newest first."),
            ("Asks now. It waits.", "Asks now."),
        ] {
            assert_eq!(brief(whole), kept);
        }
        let long = format!("Lists x: {}. Then more.", "word ".repeat(30).trim_end());
        assert_eq!(brief(&long), "Lists x.");
    }

    #[test]
    fn arguments_keep_names_types_and_words() {
        let schema = json!({ "title": "X", "description": "About X.", "type": "object", "additionalProperties": false,
            "required": ["projectId", "items"],
            "properties": {
                "projectId": { "type": "string", "examples": ["1"] },
                "items": { "type": "array", "maxItems": 3, "items": { "$ref": "#/$defs/Item" } },
                "kind": { "anyOf": [{ "$ref": "#/$defs/Kind" }, { "type": "null" }], "description": "Kind." },
                "size": { "type": ["integer", "null"], "minimum": 1 },
                "old": { "type": "string", "description": "No effect here." },
            },
            "$defs": {
                "Kind": { "oneOf": [{ "const": "a", "description": "A." }, { "enum": ["b"] }] },
                "Item": { "type": "object", "required": ["name"], "properties": {
                    "name": { "type": "string" }, "tags": { "type": "array", "items": { "type": "string" } },
                    "kind": { "$ref": "#/$defs/Kind" },
                } },
            } });
        let expected = json!({ "type": "object", "required": ["items"], "properties": {
            "items": { "type": "array", "items": { "type": "object", "description": "name, tags?[], kind? a|b" } },
            "kind": { "type": ["string", "null"], "enum": ["a", "b", null] },
            "size": { "type": ["integer", "null"] },
        } });
        assert_eq!(Value::from(arguments(&schema, false)), expected);
        assert_eq!(
            arguments(&schema, true)["required"],
            json!(["projectId", "items"])
        );
    }
}
