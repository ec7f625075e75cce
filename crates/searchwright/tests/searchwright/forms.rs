//! Forms of answers: a table, JSON, a record on each line, CSV; with the members that are named; of one page or of all.

use serde_json::{Value, json};

use crate::program::{Outcome, User};

const COUNT: usize = 230;

/// Fails unless it succeeded and said nothing beside its data.
#[track_caller]
fn quiet(outcome: &Outcome) -> &str {
    assert_eq!((outcome.code, outcome.err.as_str()), (0, ""), "{outcome:?}");
    &outcome.out
}

#[test]
fn lists_come_in_every_form_as_a_page_or_whole() {
    let operator = User::new();
    let (_, key) = operator.key(&operator.project("example.com"), &[]);
    let server = operator.serve(&["--set", "limits.requests_per_minute=100000"]);
    let user = User::new()
        .with("SEARCHWRIGHT_URL", &server.url)
        .with("SEARCHWRIGHT_KEY", &key);
    let list = |more: &[&str]| user.run(&[&["keywords", "list"], more].concat());

    let empty = list(&["--output", "csv", "--fields", "keyword,searchVolume"]);
    assert_eq!(
        quiet(&empty),
        "keyword,searchVolume\n",
        "the columns are known without a record"
    );
    assert_eq!(quiet(&list(&["--jsonl", "--all"])), "");
    assert_eq!(
        quiet(&list(&["--json", "--all"])),
        "{\"data\":[],\"nextCursor\":null}\n"
    );

    let file = user.path("list.csv");
    let rows: Vec<String> = (0..COUNT)
        .map(|n| format!("\"desk {n}, oak\",{}\n", n + 10))
        .collect();
    std::fs::write(&file, format!("keyword,searchVolume\n{}", rows.concat())).unwrap();
    let imported = user.run(&["keywords", "import", &format!("@{}", file.display()), "--json"]);
    assert_eq!(imported.code, 0, "{imported:?}");

    // One page of each form holds the same, and nothing is said beside it.
    let page = list(&["--json"]).json();
    let records = page["data"].as_array().unwrap();
    assert_eq!(records.len(), 25);
    let lines = list(&["--jsonl"]);
    let parsed: Vec<Value> = quiet(&lines)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(&parsed, records);
    assert_eq!(quiet(&list(&["--output", "json"])), list(&["--json"]).out);
    assert_eq!(quiet(&list(&["--output", "table"])), list(&[]).out);
    let csv = list(&["--output", "csv", "--limit", "2"]);
    let csv: Vec<&str> = quiet(&csv).lines().collect();
    assert_eq!(csv.len(), 3);
    assert!(
        csv[0].starts_with("id,keyword,") || csv[0].contains(",keyword,"),
        "{}",
        csv[0]
    );
    let narrow = list(&["--fields", "keyword,searchVolume", "--json", "--limit", "1"]).json();
    let first = &records[0];
    assert_eq!(
        narrow["data"],
        json!([{ "keyword": first["keyword"], "searchVolume": first["searchVolume"] }])
    );
    assert!(narrow["nextCursor"].is_string());
    let table = list(&["--fields", "keyword", "--limit", "1"]);
    let table: Vec<&str> = quiet(&table).lines().map(str::trim).collect();
    assert_eq!(table, ["KEYWORD", first["keyword"].as_str().unwrap()]);

    // All pages: once each, in the same order, in every form.
    let all = list(&["--all", "--json"]).json();
    let all = all["data"].as_array().unwrap();
    assert_eq!(all.len(), COUNT);
    let names: Vec<&str> = all
        .iter()
        .map(|record| record["keyword"].as_str().unwrap())
        .collect();
    let lines = list(&[
        "--all", "--output", "jsonl", "--fields", "keyword", "--limit", "7",
    ]);
    let found: Vec<String> = quiet(&lines)
        .lines()
        .map(|line| {
            serde_json::from_str::<Value>(line).unwrap()["keyword"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    assert_eq!(found, names);
    let csv = list(&["--all", "--output", "csv", "--fields", "keyword,searchVolume"]);
    let csv: Vec<&str> = quiet(&csv).lines().collect();
    assert_eq!((csv.len(), csv[0]), (COUNT + 1, "keyword,searchVolume"));
    assert_eq!(csv[1], format!("\"{}\",{}", names[0], all[0]["searchVolume"]));
    let table = list(&["--all"]);
    let table: Vec<&str> = quiet(&table).lines().collect();
    assert_eq!(table.len(), COUNT + 1, "one heading for all pages");
    let place = table[0].find("KEYWORD").unwrap();
    assert!(
        table[1..].iter().all(|line| line[place..].starts_with("desk ")),
        "columns stand below each other"
    );
    let rest = list(&[
        "--all",
        "--jsonl",
        "--limit",
        "100",
        "--cursor",
        page["nextCursor"].as_str().unwrap(),
    ]);
    assert_eq!(quiet(&rest).lines().count(), COUNT - 25, "from a cursor on");

    for (wrong, words) in [
        (
            &["--fields", "keyword,colour"][..],
            &["\"colour\"", "hint: its fields are", "searchVolume"][..],
        ),
        (&["--json", "--jsonl"], &["one form", "--output"]),
        (&["--output", "csv", "--json"], &["one form"]),
        (&["--output", "xml"], &["xml", "csv"]),
    ] {
        list(wrong).refuses(2, words);
    }
}

#[test]
fn single_records_have_forms_too() {
    let operator = User::new();
    let (_, key) = operator.key(&operator.project("example.com"), &[]);
    let server = operator.serve(&[]);
    let user = User::new()
        .with("SEARCHWRIGHT_URL", &server.url)
        .with("SEARCHWRIGHT_KEY", &key);
    let made = user
        .run(&["keywords", "create", "=1+1", "--fields", "keyword,id", "--json"])
        .json();
    assert_eq!(made.as_object().unwrap().len(), 2, "{made}");
    let id = made["id"].as_str().unwrap();
    let get = |more: &[&str]| user.run(&[&["keywords", "get", id], more].concat());
    assert_eq!(
        quiet(&get(&["--output", "csv", "--fields", "id,keyword"])),
        format!("id,keyword\n{id},'=1+1\n"),
        "no formula for a spreadsheet"
    );
    assert_eq!(quiet(&get(&["--jsonl"])), get(&["--json"]).out);
    assert_eq!(quiet(&get(&["--fields", "keyword"])), "keyword  =1+1\n");
    get(&["--fields", "words"]).refuses(2, &["\"words\"", "its fields are id"]);
    user.run(&["me", "get", "--output", "csv"])
        .refuses(2, &["no fields", "--json"]);
    let gone = user.run(&["keywords", "delete", id, "--yes"]);
    assert_eq!(quiet(&gone), "");
}
