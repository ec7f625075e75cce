//! Every schema of the table can be enforced, and is.

use searchwright_contract::{
    Fault, Operation, keywords,
    operation::{Visitor, answer_schema, input_schema},
    shape::Shape,
    visit,
};
use serde_json::{Value, json};

struct All(Vec<&'static str>);

impl Visitor for All {
    fn operation<O: Operation>(&mut self) {
        let meta = O::META;
        let input = Shape::compile(&input_schema::<O>()).unwrap_or_else(|e| panic!("{}: {e}", meta.name));
        for parameter in meta.path_parameters() {
            assert!(input.knows(parameter), "{} lacks {parameter}", meta.name);
        }
        let _ = answer_schema::<O>();
        self.0.push(meta.name);
    }
}

#[test]
fn every_schema_is_understood_and_every_name_is_unique() {
    let mut all = All(Vec::new());
    visit(&mut all);
    let count = all.0.len();
    all.0.sort_unstable();
    all.0.dedup();
    assert_eq!(all.0.len(), count);
    assert!(all.0.iter().all(|n| n.split('.').count() == 2));
}

fn faults<O: Operation>(value: Value) -> Vec<(String, String)> {
    let shape = Shape::compile(&input_schema::<O>()).unwrap_or_else(|e| panic!("{e}"));
    shape
        .faults(&value)
        .into_named()
        .into_iter()
        .map(|Fault { pointer, code, .. }| (pointer, code))
        .collect()
}

#[test]
fn every_fault_is_named_at_once() {
    let found = faults::<keywords::CreateKeyword>(json!({
        "projectId": "x", "keyword": "k".repeat(201), "searchVolume": -1, "keywordDifficulty": "31", "intent": "buy", "id": 1, "country": null
    }));
    let mut expected = vec![
        ("/keyword", "too_long"),
        ("/searchVolume", "out_of_range"),
        ("/keywordDifficulty", "wrong_type"),
        ("/intent", "unknown_value"),
        ("/id", "unknown_field"),
    ];
    expected.sort_unstable();
    let mut found: Vec<(&str, &str)> = found.iter().map(|(p, c)| (p.as_str(), c.as_str())).collect();
    found.sort_unstable();
    assert_eq!(found, expected);
    assert_eq!(faults::<keywords::CreateKeyword>(json!({})).len(), 2);
    assert_eq!(faults::<keywords::CreateKeyword>(json!([])).len(), 1);
}

#[test]
fn null_clears_only_what_may_be_empty() {
    let ids = json!({ "projectId": "x", "keywordId": "y", "searchVolume": null, "intent": null });
    assert_eq!(faults::<keywords::UpdateKeyword>(ids), []);
    let status = json!({ "projectId": "x", "keywordId": "y", "status": null });
    assert_eq!(
        faults::<keywords::UpdateKeyword>(status),
        [("/status".into(), "null_not_allowed".into())]
    );
}
