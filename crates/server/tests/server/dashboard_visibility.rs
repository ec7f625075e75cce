//! Pages of visibility: figures with what they rest on, prompts and answers, corrections, names, and what a role may do there.

use searchwright_contract::people::Role;
use serde_json::{Value, json};

use crate::{
    browser::{Browser, Page},
    dashboard_audits::{address, signed_in, submit, until_idle},
    harness::Bench,
    visibility::{copy, hours_ago, prompt, with_brand},
    visibility_runs::with_engine,
};

on_both!(
    nothing_measured_is_said_in_words,
    figures_stand_with_their_interval_and_what_they_rest_on,
    every_tab_is_for_members_only,
    prompts_are_added_paused_and_changed,
    ticked_prompts_are_paused_and_tracked_again,
    days_and_countries_are_filters_of_the_address,
    shares_of_citations_are_drawn_over_time,
    a_form_of_a_prompt_has_its_effect_once,
    tracking_says_its_cost_first,
    a_run_is_started_once_for_at_most_what_was_said,
    answers_are_marked_and_corrected,
    answers_are_copied_by_hand,
    names_are_decided,
    opportunities_start_posts,
    reports_are_pasted,
    viewers_change_nothing_of_visibility,
    text_of_models_is_never_markup,
);

const TABS: [&str; 7] = [
    "",
    "?view=prompts",
    "?view=opportunities",
    "?view=names",
    "?view=engines",
    "?view=runs",
    "?view=reports",
];

const OWN: &str = "1. **Acme Desk** – quiet\n2. **Bolt Desks** – cheap\n3. **Oakworks** – heavy";

async fn answered(bench: &Bench, question: &str, text: &str) -> String {
    let id = prompt(bench, question).await;
    let item = json!({ "engine": "chatgpt", "askedAt": hours_ago(bench, 1), "text": text,
                       "citations": [{ "url": "https://acme.example/desks", "title": "Desks" }] });
    let copied = copy(bench, &id, json!([item])).await;
    assert_eq!(copied.status, 201, "{copied:?}");
    id
}

fn prompt_page(bench: &Bench, id: &str) -> String {
    address(bench, &format!("/visibility/prompts/{id}"))
}

/// Sends a form whose token of a single effect is that of a row.
async fn submit_row(
    browser: &Browser<'_>,
    page: &Page,
    path: &str,
    fields: &[(&str, &str)],
    row: &str,
) -> Page {
    let (csrf, once) = (page.field("csrf"), format!("{}-{row}", page.field("once")));
    let mut form = vec![("csrf", csrf.as_str()), ("once", once.as_str())];
    form.extend(fields);
    browser.send(path, &form).await
}

async fn nothing_measured_is_said_in_words(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let ann = signed_in(&bench, "ann@example.com", Role::Owner).await;
    let page = ann.open(&address(&bench, "/visibility")).await;
    assert_eq!(page.status, 200, "{}", page.text);
    for text in [
        "Not measured",
        "What is missing",
        "set name, other spellings",
        "add prompts",
    ] {
        assert!(page.text.contains(text), "{text}: {}", page.text);
    }
    assert!(!page.text.contains("class=\"stats"), "no figure is shown");
    for tab in TABS {
        let page = ann.open(&address(&bench, &format!("/visibility{tab}"))).await;
        assert_eq!(page.status, 200, "{tab}");
        assert!(!page.text.contains("0\u{202f}%"), "{tab}: nothing is zero");
    }
    let filtered = ann
        .open(&address(&bench, "/visibility?engine=claude&period=7d"))
        .await;
    assert!(
        filtered.text.contains("No answer of these days matches"),
        "{}",
        filtered.text
    );
}

async fn figures_stand_with_their_interval_and_what_they_rest_on(database: &str) {
    let bench = with_brand(database).await;
    answered(&bench, "Which standing desk is quiet?", OWN).await;
    answered(
        &bench,
        "Which standing desk is cheap?",
        "Bolt Desks makes good ones.",
    )
    .await;
    let ann = signed_in(&bench, "ann@example.com", Role::Viewer).await;
    let page = ann.open(&address(&bench, "/visibility?period=7d")).await;
    for text in [
        "1 of 2 answers",
        "mention-rate-v1",
        "Thin evidence",
        "Nothing to compare with",
        "Bolt Desks",
        "acme.example",
        "class=\"chart\"",
        "The figures",
    ] {
        assert!(page.text.contains(text), "{text}: {}", page.text);
    }
    assert!(page.text.contains("href=\"?view=names\"") && page.text.contains("kind=cited_not_mentioned"));
    let other = ann.open(&address(&bench, "/visibility?engine=claude")).await;
    assert!(other.text.contains("Not measured"));
    // Words that are no filter are left out; a page is shown all the same.
    let odd = ann
        .open(&address(
            &bench,
            "/visibility?engine=x&period=y&class=%3Cb%3E&view=z",
        ))
        .await;
    assert_eq!(odd.status, 200);
}

async fn every_tab_is_for_members_only(database: &str) {
    let bench = with_brand(database).await;
    let id = answered(&bench, "Which standing desk is quiet?", OWN).await;
    let mut paths: Vec<String> = TABS.iter().map(|tab| format!("/visibility{tab}")).collect();
    paths.push(format!("/visibility/prompts/{id}"));
    let stranger = Browser::new(&bench);
    let ann = signed_in(&bench, "ann@example.com", Role::Viewer).await;
    for path in &paths {
        let page = stranger.open(&address(&bench, path)).await;
        assert!(page.text.contains("name=\"password\""), "{path} is open");
        let page = ann.open(&address(&bench, path)).await;
        assert_eq!(page.status, 200, "{path}: {}", page.text);
        assert!(page.text.len() < 150_000, "{path}");
        let nowhere = "01936f31-5f0a-7d55-b1c7-8a2f4e6d9b21";
        let elsewhere = ann.open(&format!("/projects/{nowhere}{path}")).await;
        assert_eq!(elsewhere.status, 404, "{path} of a project of others");
    }
    let (other, key) = bench.neighbour().await;
    let theirs = bench
        .call("POST", &format!("/projects/{other}/visibility/prompts"))
        .key(&key)
        .json(&json!({ "text": "Which chair?" }))
        .send()
        .await;
    let theirs = theirs.json()["id"].as_str().unwrap().to_owned();
    for wrong in ["x", "01936f31-5f0a-7d55-b1c7-8a2f4e6d9b21", &theirs] {
        assert_eq!(ann.open(&prompt_page(&bench, wrong)).await.status, 404, "{wrong}");
    }
}

async fn prompts_are_added_paused_and_changed(database: &str) {
    let bench = with_brand(database).await;
    let ann = signed_in(&bench, "ann@example.com", Role::Editor).await;
    let path = address(&bench, "/visibility?view=prompts");
    let page = ann.open(&path).await;
    let wrong = submit(
        &ann,
        &page,
        &path,
        &[
            ("action", "add"),
            ("text", "Which desk?"),
            ("country", "Germany"),
            ("tags", "a, b"),
        ],
    )
    .await;
    assert_eq!(wrong.status, 422, "{}", wrong.text);
    assert!(
        wrong.text.contains(">Which desk?<") && wrong.text.contains("value=\"a, b\""),
        "{}",
        wrong.text
    );
    let added = submit(
        &ann,
        &wrong,
        &path,
        &[
            ("action", "add"),
            ("text", "Which desk?"),
            ("tags", "a, b"),
            ("engine", "chatgpt"),
        ],
    )
    .await;
    assert!(added.text.contains("The prompt was added"), "{}", added.text);
    let listed = bench.get("P/visibility/prompts").await.json();
    let stored = &listed["data"][0];
    assert_eq!(
        (&stored["tags"], &stored["engines"]),
        (&json!(["a", "b"]), &json!(["chatgpt"]))
    );
    let id = stored["id"].as_str().unwrap();
    let own = prompt_page(&bench, id);
    let page = ann.open(&own).await;
    let version = page.field("version");
    let saved = submit(
        &ann,
        &page,
        &own,
        &[
            ("action", "edit"),
            ("version", &version),
            ("tags", "c"),
            ("engine", "claude"),
        ],
    )
    .await;
    assert!(saved.text.contains("Saved."), "{}", saved.text);
    // Somebody who saw it before is told, and keeps what was typed.
    let stale = submit(
        &ann,
        &saved,
        &own,
        &[("action", "edit"), ("version", &version), ("tags", "mine")],
    )
    .await;
    assert_eq!(stale.status, 412);
    assert!(stale.text.contains("has changed since it was read") && stale.text.contains("value=\"mine\""));
    let list = ann.open(&path).await;
    let row = list.field("row");
    assert!(row.starts_with(id), "{row}");
    let paused = submit(&ann, &list, &path, &[("action", "pause"), ("row", &row)]).await;
    assert!(paused.text.contains("The prompt is paused"), "{}", paused.text);
    let archived = ann.open(&format!("{path}&status=archived")).await;
    assert!(archived.text.contains("Track again"), "{}", archived.text);
    let shown = ann.open(&own).await;
    assert!(shown.text.contains("Paused") && !shown.text.contains("Ask the engines now"));
}

async fn a_form_of_a_prompt_has_its_effect_once(database: &str) {
    let bench = with_brand(database).await;
    let ann = signed_in(&bench, "ann@example.com", Role::Editor).await;
    let path = address(&bench, "/visibility?view=prompts");
    let page = ann.open(&path).await;
    let form = [("action", "add"), ("text", "Which desk is quiet?")];
    for _ in 0..2 {
        let added = submit(&ann, &page, &path, &form).await;
        assert!(added.text.contains("The prompt was added"), "{}", added.text);
    }
    let again = ann.open(&path).await;
    let twin = submit(&ann, &again, &path, &form).await;
    assert_eq!(twin.status, 409);
    assert!(twin.text.contains("already tracks this prompt") && twin.text.contains(">Which desk is quiet?<"));
    let forged = ann
        .send(&path, &[("csrf", "x"), ("action", "add"), ("text", "Other?")])
        .await;
    assert_eq!(forged.status, 403);
    let listed = bench.get("P/visibility/prompts").await.json();
    assert_eq!(listed["data"].as_array().unwrap().len(), 1);
    let suggested = ann.open(&format!("{path}&suggest=1")).await;
    assert!(
        suggested.text.contains("Nothing is saved yet"),
        "{}",
        suggested.text
    );
    let old = submit(
        &ann,
        &suggested,
        &path,
        &[("action", "suggest"), ("seen", "others")],
    )
    .await;
    assert!(
        old.status == 412 && old.text.contains("nothing was added"),
        "{}",
        old.text
    );
    let seen = suggested.field("seen");
    let more = submit(&ann, &suggested, &path, &[("action", "suggest"), ("seen", &seen)]).await;
    assert!(
        more.text.contains("prompts were added") || more.text.contains("One prompt was added"),
        "{}",
        more.text
    );
}

async fn tracking_says_its_cost_first(database: &str) {
    let bench = with_brand(database).await;
    let id = prompt(&bench, "Which standing desk is quiet?").await;
    let ann = signed_in(&bench, "ann@example.com", Role::Editor).await;
    let path = prompt_page(&bench, &id);
    let page = ann.open(&path).await;
    assert!(page.text.contains("Say what it costs") && !page.text.contains("value=\"track\""));
    let refused = ann.open(&format!("{path}?track=1&samples=2")).await;
    assert_eq!(refused.status, 200);
    assert!(
        refused.text.contains("class=\"notice\""),
        "no account is set: {}",
        refused.text
    );
    assert!(!refused.text.contains("value=\"track\""), "it cannot be started");
    let forced = submit(&ann, &refused, &path, &[("action", "track"), ("samples", "1")]).await;
    assert_eq!(forced.status, 409, "{}", forced.text);
    let odd = submit(&ann, &forced, &path, &[("action", "track"), ("most", "much")]).await;
    assert_eq!(odd.status, 422, "{}", odd.text);
    let runs = bench.get("P/visibility/runs").await.json();
    assert_eq!(runs["data"], json!([]));
}

async fn a_run_is_started_once_for_at_most_what_was_said(database: &str) {
    let (bench, asked) = with_engine(database, true).await;
    let id = prompt(&bench, "Which standing desk is quiet?").await;
    let ann = signed_in(&bench, "ann@example.com", Role::Editor).await;
    let path = prompt_page(&bench, &id);
    let said = ann.open(&format!("{path}?track=1&samples=2")).await;
    assert!(said.text.contains("Estimated cost"), "{}", said.text);
    assert_eq!(asked.count(), 0, "saying the cost asks nobody");
    let most = said.field("most");
    let form = [("action", "track"), ("samples", "2"), ("most", most.as_str())];
    for _ in 0..2 {
        let started = submit(&ann, &said, &path, &form).await;
        assert!(
            started.text.contains("The engines are being asked"),
            "{}",
            started.text
        );
    }
    until_idle(&bench).await;
    assert_eq!(asked.count(), 2, "one run of two answers");
    let runs = ann.open(&address(&bench, "/visibility?view=runs")).await;
    assert!(runs.text.contains("2 answers"), "{}", runs.text);
    let shown = ann.open(&path).await;
    assert!(shown.text.contains("<h3>Other model"), "{}", shown.text);
}

async fn answers_are_marked_and_corrected(database: &str) {
    let bench = with_brand(database).await;
    let id = answered(&bench, "Which standing desk is quiet?", OWN).await;
    let ann = signed_in(&bench, "ann@example.com", Role::Editor).await;
    let path = prompt_page(&bench, &id);
    let page = ann.open(&path).await;
    assert!(
        page.text
            .contains("<mark class=\"own\" title=\"Acme Desk\">Acme Desk</mark>"),
        "{}",
        page.text
    );
    assert!(
        page.text.contains("title=\"Bolt Desks\">Bolt Desks</mark>")
            && page.text.contains("Acme Desk is not meant")
    );
    let answers = bench
        .get(&format!("P/visibility/prompts/{id}/answers"))
        .await
        .json();
    let answer = answers["data"][0]["id"].as_str().unwrap().to_owned();
    let form = |verdict: &'static str| {
        [
            ("action", "correct"),
            ("answer", answer.as_str()),
            ("correct", verdict),
            ("reason", "it means <b>the hill</b>"),
        ]
    };
    let corrected = submit_row(&ann, &page, &path, &form("own no"), &answer).await;
    assert!(
        corrected.text.contains("The correction counts at once"),
        "{}",
        corrected.text
    );
    assert!(corrected.text.contains("Withdraw: Acme Desk") && !corrected.text.contains("<b>the hill"));
    let overview = bench.get("P/visibility/overview?period=7d").await.json();
    assert_eq!(overview["kpis"]["mentionRate"]["numerator"], 0.0);
    let withdrawn = submit_row(&ann, &corrected, &path, &form("own withdraw"), &answer).await;
    assert!(
        withdrawn.text.contains("Acme Desk is not meant"),
        "{}",
        withdrawn.text
    );
    let odd = submit_row(&ann, &withdrawn, &path, &form("nobody no"), &answer).await;
    assert!(
        odd.status == 404 || odd.status == 422,
        "{}: {}",
        odd.status,
        odd.text
    );
}

async fn answers_are_copied_by_hand(database: &str) {
    let bench = with_brand(database).await;
    let id = prompt(&bench, "Which standing desk is quiet?").await;
    let ann = signed_in(&bench, "ann@example.com", Role::Editor).await;
    let path = prompt_page(&bench, &id);
    let page = ann.open(&path).await;
    let wrong = submit(
        &ann,
        &page,
        &path,
        &[
            ("action", "copy"),
            ("text", "I like Acme Desk."),
            ("sources", "https://acme.example/"),
        ],
    )
    .await;
    assert_eq!(wrong.status, 422);
    assert!(wrong.text.contains(">I like Acme Desk.<"), "{}", wrong.text);
    let at = hours_ago(&bench, 2);
    let form = [
        ("action", "copy"),
        ("engine", "claude"),
        ("at", at.get(..16).unwrap()),
        ("text", "I like Acme Desk."),
        ("sources", "https://acme.example/\r\n"),
        ("model", "m-1"),
    ];
    let copied = submit(&ann, &wrong, &path, &form).await;
    assert!(copied.text.contains("The answer was stored"), "{}", copied.text);
    assert!(copied.text.contains("Acme Desk</mark>") && copied.text.contains("m-1"));
    let answers = bench
        .get(&format!("P/visibility/prompts/{id}/answers"))
        .await
        .json();
    let stored = &answers["data"][0];
    assert_eq!(
        (&stored["engine"], &stored["citations"][0]["class"]),
        (&json!("claude"), &json!("owned"))
    );
}

async fn names_are_decided(database: &str) {
    let bench = with_brand(database).await;
    answered(&bench, "Which standing desk is quiet?", OWN).await;
    let ann = signed_in(&bench, "ann@example.com", Role::Editor).await;
    let path = address(&bench, "/visibility?view=names");
    let page = ann.open(&path).await;
    assert!(page.text.contains("value=\"Oakworks\""), "{}", page.text);
    let nothing = submit(&ann, &page, &path, &[("action", "ignore")]).await;
    assert_eq!(nothing.status, 422);
    let wrong = submit(
        &ann,
        &page,
        &path,
        &[
            ("action", "competitor"),
            ("row", "Oakworks"),
            ("domain", "acme.example"),
        ],
    )
    .await;
    assert!(wrong.status == 409 || wrong.status == 422, "{}", wrong.text);
    assert!(
        wrong.text.contains("value=\"acme.example\"") && wrong.ticked("row") == ["Oakworks"],
        "{}",
        wrong.text
    );
    let ignored = submit(&ann, &wrong, &path, &[("action", "ignore"), ("row", "Oakworks")]).await;
    assert!(ignored.text.contains("One name was decided"), "{}", ignored.text);
    let list = format!("{path}&status=ignored");
    let page = ann.open(&list).await;
    assert!(page.text.contains("Put back into the inbox"), "{}", page.text);
    let open = submit(&ann, &page, &list, &[("action", "open"), ("row", "Oakworks")]).await;
    assert!(open.text.contains("value=\"Oakworks\""), "{}", open.text);
    let known = submit(
        &ann,
        &open,
        &path,
        &[
            ("action", "competitor"),
            ("row", "Oakworks"),
            ("domain", "oakworks.example"),
        ],
    )
    .await;
    assert!(known.text.contains("being analysed again"), "{}", known.text);
    let competitors = bench.get("P/brand/competitors").await.json();
    assert_eq!(competitors["data"][0]["name"], "Oakworks");
}

async fn opportunities_start_posts(database: &str) {
    let bench = with_brand(database).await;
    answered(
        &bench,
        "Which standing desk is cheap?",
        "Bolt Desks makes good ones.",
    )
    .await;
    let ann = signed_in(&bench, "ann@example.com", Role::Editor).await;
    let path = address(&bench, "/visibility?view=opportunities");
    let page = ann.open(&path).await;
    assert!(page.text.contains("Only competitors named"), "{}", page.text);
    let listed = bench.get("P/visibility/opportunities").await.json();
    let id = listed["data"][0]["id"].as_str().unwrap();
    let step = format!("{id} 0");
    let form = [("action", "step"), ("step", step.as_str())];
    submit_row(&ann, &page, &path, &form, id).await;
    submit_row(&ann, &page, &path, &form, id).await;
    let posts = bench.get("P/posts").await.json();
    assert_eq!(posts["data"].as_array().unwrap().len(), 1, "{posts}");
    let gone = submit(&ann, &page, &path, &[("action", "step"), ("step", "wrong-1 0")]).await;
    assert_eq!(gone.status, 422, "{}", gone.text);
}

async fn reports_are_pasted(database: &str) {
    let bench = with_brand(database).await;
    let ann = signed_in(&bench, "ann@example.com", Role::Editor).await;
    let path = address(&bench, "/visibility?view=reports");
    let page = ann.open(&path).await;
    assert!(page.text.contains("Not imported yet"), "{}", page.text);
    let wrong = submit(
        &ann,
        &page,
        &path,
        &[("action", "import"), ("file", "nothing to see")],
    )
    .await;
    assert_eq!(wrong.status, 422, "{}", wrong.text);
    assert!(wrong.text.contains("nothing to see"));
    let day = hours_ago(&bench, 30);
    let file = format!(
        "Date,Citations,Cited Pages\r\n{},14,5\r\n",
        day.get(..10).unwrap()
    );
    let read = submit(&ann, &wrong, &path, &[("action", "import"), ("file", &file)]).await;
    assert!(
        read.text.contains("One row was read") && read.text.contains("<b>14</b> citations"),
        "{}",
        read.text
    );
}

async fn viewers_change_nothing_of_visibility(database: &str) {
    let bench = with_brand(database).await;
    let id = answered(&bench, "Which standing desk is quiet?", OWN).await;
    let eve = signed_in(&bench, "eve@example.com", Role::Viewer).await;
    let own = prompt_page(&bench, &id);
    let mut paths: Vec<String> = TABS
        .iter()
        .map(|tab| address(&bench, &format!("/visibility{tab}")))
        .collect();
    paths.push(own.clone());
    for path in &paths {
        let page = eve.open(path).await.text;
        assert!(
            !page.contains("name=\"action\"") && !page.contains("name=\"once\" value=\"01"),
            "{path}: {page}"
        );
    }
    let csrf = eve.open("/account").await.field("csrf");
    let answers = bench
        .get(&format!("P/visibility/prompts/{id}/answers"))
        .await
        .json();
    let answer = answers["data"][0]["id"].as_str().unwrap();
    let tab = |name: &str| address(&bench, &format!("/visibility?view={name}"));
    let forms: [(String, Vec<(&str, &str)>); 6] = [
        (tab("prompts"), vec![("action", "add"), ("text", "Which?")]),
        (tab("names"), vec![("action", "ignore"), ("row", "Oakworks")]),
        (
            tab("reports"),
            vec![("action", "import"), ("file", "Date,Citations\n2020-01-01,1\n")],
        ),
        (
            own.clone(),
            vec![("action", "correct"), ("answer", answer), ("correct", "own no")],
        ),
        (
            own.clone(),
            vec![("action", "copy"), ("engine", "claude"), ("text", "x")],
        ),
        (own.clone(), vec![("action", "track"), ("samples", "1")]),
    ];
    for (path, mut form) in forms {
        form.push(("csrf", &csrf));
        let refused = eve.send(&path, &form).await;
        assert_eq!(refused.status, 403, "{path}: {}", refused.text);
        assert!(refused.text.contains("needs editor"), "{}", refused.text);
    }
    let changed = bench.get("P/visibility/prompts").await.json();
    assert_eq!(changed["data"].as_array().unwrap().len(), 1);
}

async fn text_of_models_is_never_markup(database: &str) {
    let bench = with_brand(database).await;
    let nasty = "<script>alert(1)</script>\u{202e}\"><img src=x onerror=alert(2)>";
    let text = format!(
        "{nasty} **Acme Desk** {nasty}\n\n1. **Oak<i>works {nasty}**\n2. **Bolt Desks**\n\n{}",
        "w".repeat(10_000)
    );
    let mut ids: Vec<String> = Vec::new();
    let asked = prompt(&bench, &format!("Which desk {nasty}?")).await;
    let items: Vec<Value> = (0..20)
        .map(|_| {
            json!({ "engine": "chatgpt", "askedAt": hours_ago(&bench, 1), "text": text, "model": nasty,
                    "citations": [{ "url": "https://evil.example/\"><script>alert(1)</script>", "title": nasty }] })
        })
        .collect();
    let copied = copy(&bench, &asked, items.into()).await;
    assert_eq!(copied.status, 201, "{copied:?}");
    ids.push(asked);
    let ann = signed_in(&bench, "ann@example.com", Role::Owner).await;
    let mut paths: Vec<String> = TABS.iter().map(|tab| format!("/visibility{tab}")).collect();
    paths.extend(ids.iter().map(|id| format!("/visibility/prompts/{id}")));
    for path in paths {
        let page = ann.open(&address(&bench, &path)).await;
        assert_eq!(page.status, 200, "{path}: {}", page.text);
        for bad in ["<script>alert", "<img src=x", "<i>works", "\u{202e}"] {
            assert!(!page.text.contains(bad), "{path}: {bad:?}");
        }
        assert!(page.text.len() < 150_000, "{path}: {}", page.text.len());
    }
}

async fn ticked_prompts_are_paused_and_tracked_again(database: &str) {
    let bench = with_brand(database).await;
    let mut ids = Vec::new();
    for question in [
        "Which desk is quiet?",
        "Which desk is cheap?",
        "Which desk is heavy?",
    ] {
        ids.push(prompt(&bench, question).await);
    }
    let ann = signed_in(&bench, "ann@example.com", Role::Editor).await;
    let path = address(&bench, "/visibility?view=prompts");
    let status = async |id: &str| {
        let read = bench.get(&format!("P/visibility/prompts/{id}")).await.json();
        read["status"].as_str().unwrap().to_owned()
    };
    let page = ann.open(&path).await;
    let none = submit(&ann, &page, &path, &[("action", "pause")]).await;
    assert_eq!(none.status, 422, "{}", none.text);
    let rows: Vec<String> = ids.iter().map(|id| format!("{id} 1")).collect();
    let two = [
        ("action", "pause"),
        ("row", rows[0].as_str()),
        ("row", rows[1].as_str()),
    ];
    let done = submit(&ann, &page, &path, &two).await;
    assert!(done.text.contains("2 prompts are paused"), "{}", done.text);
    assert_eq!(
        [
            status(&ids[0]).await,
            status(&ids[1]).await,
            status(&ids[2]).await
        ],
        ["archived", "archived", "active"]
    );
    // Of three one is as it was seen: it is paused, and the others are told.
    let page = ann.open(&path).await;
    let all = [
        ("action", "pause"),
        ("row", rows[0].as_str()),
        ("row", rows[2].as_str()),
        ("row", "01936f31-5f0a-7d55-b1c7-8a2f4e6d9b21 1"),
    ];
    let part = submit(&ann, &page, &path, &all).await;
    assert_eq!(part.status, 422);
    assert!(part.text.contains("1 of 3 were changed"), "{}", part.text);
    assert_eq!(status(&ids[2]).await, "archived");
    let paused = format!("{path}&status=archived");
    let page = ann.open(&paused).await;
    assert_eq!(page.text.matches("name=\"row\"").count(), 3, "{}", page.text);
    let one = format!("{} 2", ids[1]);
    let done = submit(&ann, &page, &paused, &[("action", "resume"), ("row", &one)]).await;
    assert!(done.text.contains("The prompt is tracked again"), "{}", done.text);
    assert_eq!(status(&ids[1]).await, "active");

    let vic = signed_in(&bench, "vic@example.com", Role::Viewer).await;
    let shown = vic.open(&path).await;
    assert!(!shown.text.contains("name=\"row\""));
    let csrf = vic.open("/account").await.field("csrf");
    let one = format!("{} 3", ids[1]);
    let form = [
        ("csrf", csrf.as_str()),
        ("action", "pause"),
        ("row", one.as_str()),
    ];
    assert_eq!(vic.send(&path, &form).await.status, 403);
}

async fn days_and_countries_are_filters_of_the_address(database: &str) {
    let bench = with_brand(database).await;
    answered(&bench, "Which standing desk is quiet?", OWN).await;
    let ann = signed_in(&bench, "ann@example.com", Role::Viewer).await;
    let overview = bench.get("P/visibility/overview?period=7d").await.json();
    let (from, to) = (&overview["period"]["from"], &overview["period"]["to"]);
    let (from, to) = (from.as_str().unwrap(), to.as_str().unwrap());
    let path = address(&bench, &format!("/visibility?period=90d&from={from}&to={to}"));
    let page = ann.open(&path).await;
    assert_eq!(page.status, 200);
    assert!(
        page.text.contains(&format!("{from} to {to}: 1 answer counts")),
        "{}",
        page.text
    );
    assert_eq!(
        (page.field("from").as_str(), page.field("to").as_str()),
        (from, to)
    );
    // A period takes the place of the days.
    assert!(
        !page
            .text
            .contains(&format!("from={from}&#38;to={to}&#38;period=7d"))
    );
    assert!(page.text.contains("/visibility?period=7d\""), "{}", page.text);
    let elsewhere = ann.open(&format!("{path}&country=fr")).await;
    assert!(
        elsewhere.text.contains("No answer of these days matches"),
        "{}",
        elsewhere.text
    );
    assert_eq!(elsewhere.field("country"), "fr");
    for wrong in [
        "from=2026-11-31&to=2026-12-01",
        "from=2026-11-20",
        "from=2026-11-20&to=2026-11-01",
        "country=Germany",
        "from=%3Cb%3E&to=x",
    ] {
        let page = ann.open(&address(&bench, &format!("/visibility?{wrong}"))).await;
        assert_eq!(page.status, 422, "{wrong}");
        assert!(
            page.text.contains("role=\"alert\"") && !page.text.contains("\"<b>"),
            "{wrong}"
        );
    }
}

async fn shares_of_citations_are_drawn_over_time(database: &str) {
    let bench = with_brand(database).await;
    let id = prompt(&bench, "Which standing desk is quiet?").await;
    let cited = [
        "https://acme.example/desks",
        "https://bolt.example/a",
        "https://forum.example/b",
        "https://forum.example/c",
    ];
    let cited: Vec<Value> = cited.iter().map(|url| json!({ "url": url })).collect();
    let item =
        json!({ "engine": "chatgpt", "askedAt": hours_ago(&bench, 1), "text": OWN, "citations": cited });
    assert_eq!(copy(&bench, &id, json!([item])).await.status, 201);
    let overview = bench.get("P/visibility/overview?period=7d").await.json();
    assert_eq!(
        overview["trend"][6]["citations"],
        json!({ "owned": 1, "competitor": 1, "thirdParty": 2 })
    );
    assert_eq!(
        overview["trend"][5]["citations"],
        json!({ "owned": 0, "competitor": 0, "thirdParty": 0 })
    );
    let ann = signed_in(&bench, "ann@example.com", Role::Viewer).await;
    let page = ann.open(&address(&bench, "/visibility?period=7d")).await;
    assert!(
        page.text.contains("Yours: share of citations of seven days"),
        "{}",
        page.text
    );
    assert!(
        page.text.contains("25\u{202f}% <span class=\"hint\">1</span>"),
        "{}",
        page.text
    );
    assert!(page.text.contains("50\u{202f}% <span class=\"hint\">2</span>"));
    let none = ann.open(&address(&bench, "/visibility?engine=claude")).await;
    assert!(!none.text.contains("Share of citations</h3>"));
}
