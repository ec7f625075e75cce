//! Tests of a declared operation on its surfaces: schema, JSON and command line.

use std::fs;

use clap::Command;
use serde_json::{Value, json};

use crate::shape::{Shape, forbid_null};

/// An author.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Author {
    /// Name.
    #[schemars(length(min = 1, max = 100))]
    pub full_name: String,
}

operation! {
    /// Changes a draft.
    ChangeDraft {
        project;
        /// The draft.
        draft_id: String,
        /// The notes, at most 3.
        #[schemars(length(min = 1, max = 3))]
        json notes: Vec<Author>,
        /// Labels.
        #[schemars(length(max = 2), inner(length(min = 1)))]
        tags: Option<Vec<String>>,
        /// The author.
        json author: Option<Author>,
        /// The readers.
        json readers: Option<Vec<Author>>,
        /// The checker; `null` for none.
        json checker: Patch<Author>,
        /// Words; `null` when unknown.
        #[schemars(range(min = 0))]
        words: Patch<i64>,
        paging;
    }
}

operation! {
    /// Measures.
    Measure {
        /// Keywords to measure.
        keywords: Vec<String>,
    }
}

fn parse<O: clap::Args + serde::Serialize>(line: &[&str]) -> Result<Value, String> {
    let command = O::augment_args(Command::new("test").no_binary_name(true));
    let matches = command.try_get_matches_from(line).map_err(|e| e.to_string())?;
    let operation = O::from_arg_matches(&matches).map_err(|e| e.to_string())?;
    Ok(serde_json::to_value(&operation).unwrap())
}

/// Parses a `ChangeDraft` with its required arguments, followed by `more`.
fn change(more: &[&str]) -> Result<Value, String> {
    let needed = ["--project", "p", "d", r#"[{"fullName":"Ada"}]"#];
    parse::<ChangeDraft>(&[&needed[..], more].concat())
}

#[test]
fn what_is_left_out_is_not_sent() {
    let needed = json!({ "projectId": "p", "draftId": "d", "notes": [{ "fullName": "Ada" }] });
    assert_eq!(change(&[]).unwrap(), needed);
    assert_eq!(change(&["--words", "", "--checker", ""]).unwrap(), needed);
    let read: ChangeDraft = serde_json::from_value(needed.clone()).unwrap();
    assert_eq!(serde_json::to_value(read).unwrap(), needed);
}

#[test]
fn every_kind_of_member_can_be_given() {
    let given = change(&[
        "--tags",
        "a",
        "--tags",
        "b, c",
        "--author",
        r#"{"fullName":"Bo"}"#,
        "--readers",
        "[]",
        "--checker",
        r#"{"fullName":"Cy"}"#,
        "--words",
        "7",
        "--limit",
        "3",
        "--cursor",
        "x",
    ]);
    let members = json!({
        "projectId": "p", "draftId": "d", "notes": [{ "fullName": "Ada" }], "tags": ["a", "b, c"],
        "author": { "fullName": "Bo" }, "readers": [], "checker": { "fullName": "Cy" }, "words": 7,
        "limit": 3, "cursor": "x",
    });
    assert_eq!(given.unwrap(), members);
    let cleared = change(&["--words", "null", "--checker", "null"]).unwrap();
    assert_eq!(
        (&cleared["words"], &cleared["checker"]),
        (&Value::Null, &Value::Null)
    );
    assert!(cleared.as_object().unwrap().contains_key("words"));
    let measured = parse::<Measure>(&["standing desk", "desk"]);
    assert_eq!(
        measured.unwrap(),
        json!({ "keywords": ["standing desk", "desk"] })
    );
}

#[test]
fn json_comes_from_a_file_too() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("author.json");
    fs::write(&path, r#"{ "fullName": "Bo" }"#).unwrap();
    let at = format!("@{}", path.display());
    assert_eq!(
        change(&["--author", &at]).unwrap()["author"],
        json!({ "fullName": "Bo" })
    );
    assert_eq!(
        change(&["--checker", &at]).unwrap()["checker"],
        json!({ "fullName": "Bo" })
    );
    let missing = change(&["--author", &format!("{at}x")]).unwrap_err();
    assert!(
        missing.contains("cannot read") && missing.contains("author.jsonx"),
        "{missing}"
    );
}

#[test]
fn what_does_not_parse_is_refused_by_name() {
    for (line, why) in [
        (["--author", "Bo"], "expected value"),
        (["--author", r#"{"fullName":"a","fullName":"b"}"#], "fullName"),
        (["--author", r#"{"name":"a"}"#], "unknown field `name`"),
        (["--checker", "[]"], "struct Author"),
        (["--readers", "{}"], "expected a sequence"),
        (["--words", "many"], "invalid digit"),
        (["--limit", "x"], "invalid digit"),
    ] {
        let refused = change(&line).unwrap_err();
        assert!(
            refused.contains(line[0]) && refused.contains(why),
            "{line:?}: {refused}"
        );
    }
    assert!(parse::<ChangeDraft>(&["d"]).unwrap_err().contains("<JSON|@FILE>"));
    assert!(parse::<Measure>(&[]).unwrap_err().contains("<KEYWORDS>..."));
}

#[test]
fn its_schema_carries_its_docs_and_limits() {
    let mut schema = schemars::schema_for!(ChangeDraft);
    forbid_null(&mut schema);
    let schema = schema.to_value();
    let names: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
    assert_eq!(
        names,
        [
            "projectId",
            "draftId",
            "notes",
            "tags",
            "author",
            "readers",
            "checker",
            "words",
            "limit",
            "cursor"
        ]
    );
    assert_eq!(schema["description"], "Changes a draft.");
    assert_eq!(schema["required"], json!(["projectId", "draftId", "notes"]));
    let tags = json!({
        "description": "Labels.", "type": "array", "items": { "type": "string", "minLength": 1 }, "maxItems": 2
    });
    assert_eq!(schema["properties"]["tags"], tags);
}

#[test]
fn its_schema_is_enforced_to_the_depth_of_its_objects() {
    let mut schema = schemars::schema_for!(ChangeDraft);
    schema.remove("$schema");
    forbid_null(&mut schema);
    let shape = Shape::compile(&schema).unwrap();
    let faults = |value: Value| -> Vec<(String, String)> {
        shape
            .faults(&value)
            .into_named()
            .into_iter()
            .map(|f| (f.pointer, f.code))
            .collect()
    };
    let ada = json!({ "fullName": "Ada" });
    let clear = json!({ "projectId": "p", "draftId": "d", "notes": [ada], "checker": null, "words": null });
    assert_eq!(faults(clear), []);
    let wrong = faults(json!({
        "projectId": "p", "draftId": "d", "notes": [{ "fullName": "" }, { "id": 1 }, ada, ada],
    }));
    assert_eq!(wrong, [("/notes".into(), "too_many_items".into())]);
    let mut wrong = faults(json!({
        "projectId": "p", "draftId": "d", "notes": [{ "fullName": "" }, { "id": 1 }], "author": null,
        "checker": { "fullName": 3 }, "tags": ["", "b"],
    }));
    wrong.sort_unstable();
    let expected = [
        ("/checker/fullName", "wrong_type"),
        ("/notes/0/fullName", "too_short"),
        ("/notes/1/fullName", "required"),
        ("/notes/1/id", "unknown_field"),
        ("/tags/0", "too_short"),
    ];
    assert_eq!(wrong, expected.map(|(p, c)| (p.to_owned(), c.to_owned())));
}
