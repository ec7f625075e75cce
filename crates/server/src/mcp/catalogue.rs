//! Tools as they are listed: short enough to stand in a model's context beside the work itself.
//!
//! Agents carry the list in every conversation, so a tool has one sentence, its annotations and the names, types and words
//! of its arguments. What is meant for people, examples and limits stay in the HTTP document; calls are checked by the full
//! schema, whose faults name the argument and what it takes. Conventions that many tools share stand once in [`CONVENTIONS`].

use std::{
    borrow::Cow,
    sync::{Arc, OnceLock},
};

use rmcp::model::{Tool, ToolAnnotations};
use searchwright_contract::{Effect, Reach, Scope, columns::Columns};
use searchwright_engine::{Credential, Endpoint};
use serde_json::{Map, Value, json};

use super::{cards, finder, lists::Listed, questions, toolsets::Chosen};

/// Rules for the arguments of every tool.
pub(super) const CONVENTIONS: &str = "Every tool takes fields (names of members to answer with), maxTokens (8000, at most 20000) and, if \
    several projects are open, projectId, shown or not. Lists take limit (1 to 100, default 25) and cursor (nextCursor of the page before, same \
    filters); they answer columns and rows, nullColumns are null and `same` is the same in all rows. Times are RFC 3339 in UTC, languages BCP 47, \
    countries ISO 3166-1 alpha-2. Updates change the given members, replace lists as a whole, and null clears. In notes on objects `?` marks \
    optional members.";
/// Most words of which an argument lists all; longer lists show a few, and the refusal of a wrong word names the rest.
const MOST_WORDS: usize = 5;
/// Bytes of a sentence that is kept whole.
const ROOMY: usize = 60;
/// Bytes of a description from which on its asides are left out.
const LONGEST: usize = 70;
/// Beginnings of what a list of all tools leaves out of a sentence.
const ASIDES: &[&str] = &[
    ", newest first",
    ", at most",
    "; `null` clears",
    " (AI Performance)",
    " and that no tracked",
    ", most frequent",
];
/// Members of one list that stand for the others.
const SHOWN_WORDS: usize = 3;

/// Scopes of which a credential needs one to search.
const SEARCHES: [Scope; 3] = [Scope::AuditsRead, Scope::PostsRead, Scope::KeywordsRead];
/// Tools that tell projects apart, of which a key has one.
const TO_CHOOSE_A_PROJECT: &[&str] = &["projects.list", "projects.get"];
/// Tools that are always refused to a token, which has no project of its own.
const OF_THE_ONE_PROJECT: &[&str] = &["project.get"];

/// Act of a call of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// It carries out an operation, by its place in the table.
    Operation(usize),
    /// It finds tools.
    Find,
    /// It calls a tool that only reads.
    Read,
    /// It calls any tool.
    Change,
    /// It finds records by words.
    Search,
    /// It reads one thing whole.
    Fetch,
}

/// A tool in both of its forms.
pub(super) struct Entry {
    /// Act of a call of it.
    pub(super) action: Action,
    /// Whether a card goes with its answers: a person may have to confirm what it does.
    has_card: bool,
    /// For a key, whose project needs no naming.
    of_key: Tool,
    of_token: Tool,
    /// For a list of all tools: without what many tools take, which the instructions of the server say once.
    terse: Option<Tool>,
    /// Members of its answers, read from their schema when it is first called.
    columns: OnceLock<Option<Columns>>,
}

/// Form of the arguments of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ToolForm {
    OfKey,
    OfToken,
    Terse,
}

impl ToolForm {
    /// Returns whether an argument is shown.
    fn shows(self, name: &str) -> bool {
        match self {
            Self::OfKey => name != "projectId",
            Self::OfToken => true,
            Self::Terse => !matches!(name, "projectId" | "limit" | "cursor"),
        }
    }

    /// The sentence about a tool.
    fn sentence(self, description: &str) -> String {
        let sentence = brief(description);
        if self != Self::Terse {
            return sentence;
        }
        let cut = ASIDES.iter().filter_map(|aside| sentence.find(aside)).min();
        cut.map_or(sentence.clone(), |end| format!("{}.", &sentence[..end]))
    }
}

/// Makes every tool: those of the table, and before them those that find and call others.
pub(super) fn entries(endpoints: &[Endpoint]) -> Vec<Entry> {
    let about_tools = finder::tools().into_iter().map(|(action, tool)| Entry {
        action,
        has_card: false,
        of_key: tool.clone(),
        of_token: tool,
        terse: None,
        columns: OnceLock::new(),
    });
    let operations = endpoints.iter().enumerate().map(|(at, row)| Entry {
        action: Action::Operation(at),
        has_card: questions::is_asked(row),
        of_key: tool(row, ToolForm::OfKey),
        of_token: tool(row, ToolForm::OfToken),
        terse: Some(tool(row, ToolForm::Terse)),
        columns: OnceLock::new(),
    });
    about_tools.chain(operations).collect()
}

impl Entry {
    /// Name of the tool.
    pub(super) fn name(&self) -> &str {
        &self.of_token.name
    }

    /// The tool in its longer form.
    pub(super) const fn whole(&self) -> &Tool {
        &self.of_token
    }

    /// The tool for credentials that name projects, or for those that do not.
    pub(super) const fn form(&self, names_project: bool) -> &Tool {
        if names_project {
            &self.of_token
        } else {
            &self.of_key
        }
    }

    /// Returns whether it has an argument.
    pub(super) fn takes(&self, argument: &str) -> bool {
        self.of_key
            .input_schema
            .get("properties")
            .is_some_and(|members| members.get(argument).is_some())
    }

    /// Returns the members of its answers, or of the records if they are lists.
    pub(super) fn columns(&self, endpoint: &Endpoint) -> Option<&Columns> {
        let read = || {
            let mut answer = (endpoint.answer)().to_value();
            if endpoint.list {
                return Columns::of_list(&answer);
            }
            let definitions = answer["$defs"].take();
            Columns::of_list(&json!({ "properties": { "data": { "items": answer } }, "$defs": definitions }))
        };
        self.columns.get_or_init(read).as_ref()
    }

    /// The row of the table that it carries out.
    pub(super) fn endpoint<'a>(&self, endpoints: &'a [Endpoint]) -> Option<&'a Endpoint> {
        match self.action {
            Action::Operation(at) => endpoints.get(at),
            _ => None,
        }
    }

    /// Returns whether a credential has use of it: not if it would only refuse.
    pub(super) fn is_useful_to(&self, credential: &Credential, endpoints: &[Endpoint]) -> bool {
        let useless = match credential {
            Credential::Key(_) => TO_CHOOSE_A_PROJECT,
            Credential::Token(_) | Credential::Session(_) => OF_THE_ONE_PROJECT,
        };
        let is_open = |endpoint: &Endpoint| {
            credential.may(endpoint.meta.scope) && !useless.contains(&endpoint.meta.name)
        };
        match self.action {
            Action::Operation(at) => endpoints.get(at).is_some_and(is_open),
            Action::Find | Action::Read | Action::Fetch => true,
            Action::Search => SEARCHES.iter().any(|scope| credential.may(*scope)),
            Action::Change => endpoints
                .iter()
                .any(|endpoint| endpoint.meta.effect.writes() && is_open(endpoint)),
        }
    }
}

/// Returns whether a credential has to name the project of each call.
pub(super) const fn names_project(credential: &Credential) -> bool {
    !matches!(credential, Credential::Key(_))
}

impl Listed {
    /// Chooses the tools of some sets that a credential sees, and their form.
    pub(super) fn choose(
        entries: &[Entry],
        chosen: &Chosen,
        credential: &Credential,
        endpoints: &[Endpoint],
        has_cards: bool,
    ) -> Self {
        let is_chosen = |entry: &Entry| {
            entry
                .endpoint(endpoints)
                .is_none_or(|endpoint| chosen.has(endpoint.meta.name))
        };
        let tools = entries
            .iter()
            .enumerate()
            .filter(|(_, entry)| is_chosen(entry) && entry.is_useful_to(credential, endpoints));
        Self {
            names_project: names_project(credential),
            is_whole: matches!(chosen, Chosen::All),
            has_cards,
            tools: tools.map(|(at, _)| at).collect(),
        }
    }

    /// The tool as it is listed.
    fn form<'a>(&self, entry: &'a Entry) -> &'a Tool {
        let terse = entry.terse.as_ref().filter(|_| self.is_whole);
        terse.unwrap_or_else(|| entry.form(self.names_project))
    }

    /// Writes the tools as JSON.
    pub(super) fn write(&self, entries: &[Entry]) -> serde_json::Result<Vec<u8>> {
        let listed = self.tools.iter().filter_map(|at| entries.get(*at));
        let written = |entry| {
            let tool: &Tool = self.form(entry);
            if !(self.has_cards && entry.has_card) {
                return Cow::Borrowed(tool);
            }
            let mut tool = tool.clone();
            tool.meta = Some(cards::tool_meta());
            Cow::Owned(tool)
        };
        let tools: Vec<Cow<'_, Tool>> = listed.map(written).collect();
        serde_json::to_vec(&tools)
    }
}

/// `keywords.create` is the tool `keywords_create`.
fn tool_name(endpoint: &Endpoint) -> String {
    endpoint.meta.name.replace('.', "_")
}

/// Returns whether a tool of this name carries an operation out.
pub(super) fn is_tool_of(endpoint: &Endpoint, name: &str) -> bool {
    let of_table = endpoint
        .meta
        .name
        .bytes()
        .map(|byte| if byte == b'.' { b'_' } else { byte });
    of_table.eq(name.bytes())
}

fn tool(endpoint: &Endpoint, form: ToolForm) -> Tool {
    let (effect, reaches_out) = (endpoint.meta.effect, endpoint.meta.reach == Reach::Outbound);
    let annotations = ToolAnnotations::new()
        .read_only(effect == Effect::Read)
        .destructive(matches!(
            effect,
            Effect::Change | Effect::Delete | Effect::Publish
        ))
        .idempotent(matches!(effect, Effect::Read | Effect::Change | Effect::Delete) && !reaches_out)
        .open_world(reaches_out);
    let input = (endpoint.input)().to_value();
    described(
        &tool_name(endpoint),
        &title(endpoint.meta.name),
        &form.sentence(&endpoint.description),
        &arguments(&input, form).into(),
        annotations,
    )
}

/// Makes a tool. Its answers are objects; clients drop those of a tool that announces none, and what is in one, it shows itself.
pub(super) fn described(
    name: &str,
    title: &str,
    description: &str,
    input: &Value,
    annotations: ToolAnnotations,
) -> Tool {
    let object = Map::from_iter([("type".to_owned(), "object".into())]);
    let input = input.as_object().cloned().unwrap_or_else(|| object.clone());
    Tool::new(name.to_owned(), description.to_owned(), Arc::new(input))
        .with_title(title)
        .with_annotations(annotations)
        .with_raw_output_schema(Arc::new(object))
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
fn arguments(schema: &Value, form: ToolForm) -> Map<String, Value> {
    let reader = Reader {
        definitions: &schema["$defs"],
    };
    let mut shown = Map::new();
    for (name, member) in members(schema) {
        let note = member["description"]
            .as_str()
            .unwrap_or_default()
            .replace('\n', " ");
        // what an operation takes and passes over is no use to a model
        if form.shows(name) && !note.starts_with("No effect") && !note.starts_with("Ignored:") {
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
        // it may be left out by who has one project
        .filter(|name| *name != "projectId")
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
    let is_open = argument
        .get("anyOf")
        .and_then(Value::as_array)
        .is_some_and(|options| options.iter().all(|option| option["type"] != "null"));
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
        let kinds: Vec<Value> = kinds.into_iter().filter(|kind| kind != "null").collect();
        let is_of = |kind: &str| kinds.first().is_some_and(|first| first == kind);
        if is_of("array") {
            brief.insert("items".to_owned(), self.argument(&schema["items"]).into());
        } else if is_of("object") && schema.get("properties").is_some() {
            brief.insert("description".to_owned(), self.listed(schema).into());
        } else if words.len() > MOST_WORDS {
            brief.insert("description".to_owned(), shortened(&words, ", ").into());
        } else if !words.is_empty() {
            brief.insert("enum".to_owned(), words.into());
        }
        with_kinds(brief, kinds, has_null)
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

/// Says of an argument of which types it is. Of several, each is an option: hosts that pass tools on to Gemini fail as a whole where
/// `type` is an array.
fn with_kinds(mut brief: Map<String, Value>, kinds: Vec<Value>, has_null: bool) -> Map<String, Value> {
    let description = brief.remove("description");
    // what is said of items and words is said of the first
    let mut options: Vec<Value> = Vec::new();
    for kind in kinds.into_iter().chain(has_null.then(|| "null".into())) {
        let mut option = std::mem::take(&mut brief);
        option.insert("type".to_owned(), kind);
        options.push(option.into());
    }
    match <[Value; 1]>::try_from(options) {
        Ok([Value::Object(only)]) => brief = only,
        Ok(_) => {}
        Err(options) if options.is_empty() => {}
        Err(options) => {
            brief.insert("anyOf".to_owned(), options.into());
        }
    }
    brief.extend(description.map(|text| ("description".to_owned(), text)));
    brief
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
            "kind": { "anyOf": [{ "type": "string", "enum": ["a", "b"] }, { "type": "null" }] },
            "size": { "anyOf": [{ "type": "integer" }, { "type": "null" }] },
        } });
        assert_eq!(Value::from(arguments(&schema, ToolForm::OfKey)), expected);
        let of_token = arguments(&schema, ToolForm::OfToken);
        assert_eq!(of_token["properties"]["projectId"], json!({ "type": "string" }));
        assert_eq!(of_token["required"], json!(["items"]));
    }
}
