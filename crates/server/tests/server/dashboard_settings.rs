//! Pages of settings: keys that are shown once, Agent Autonomy, schedules, and who may change what.

use searchwright_contract::people::Role;
use serde_json::json;

use crate::{
    audited::{audit, issue},
    browser::Page,
    dashboard_audits::{address, signed_in, submit},
    harness::Bench,
};

on_both!(
    a_key_is_made_shown_once_and_revoked,
    a_form_for_a_key_makes_one_key_and_keeps_what_was_typed,
    privileged_pages_need_a_recent_sign_in_and_a_role,
    agent_autonomy_is_set_by_a_person_and_not_over_another_change,
    schedules_are_changed_and_what_is_missing_is_named,
    members_see_every_page_of_settings_and_others_none,
    the_autopilot_is_set_and_its_slots_are_shown,
    the_project_is_changed_by_those_who_manage_it,
    checks_are_set_by_those_who_manage_the_project,
);

/// The key on a page, if one is.
fn shown_key(page: &Page) -> Option<String> {
    let (_, rest) = page.text.split_once("id=\"new-key\">")?;
    rest.split('<').next().map(str::to_owned)
}

async fn a_key_is_made_shown_once_and_revoked(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let ann = signed_in(&bench, "ann@example.com", Role::Owner).await;
    let path = address(&bench, "/settings/keys");
    let page = ann.open(&path).await;
    let odd = submit(&ann, &page, &path, &[("name", "Oak\u{202e}")]).await;
    assert_eq!(odd.status, 422, "{}", odd.text);
    let page = ann.open(&path).await;
    let name = "<script>alert(1)</script>";
    let made = submit(&ann, &page, &path, &[("name", name)]).await;
    assert_eq!(made.status, 200, "{}", made.text);
    assert_eq!(made.headers["cache-control"], "no-store");
    assert!(!made.text.contains("<script>alert") && !made.text.contains('\u{202e}'));
    let key = shown_key(&made).unwrap();
    let again = ann.open(&path).await;
    assert!(!again.text.contains(&key) && again.text.contains(&key[..12]));
    assert!(again.text.contains("reads everything"), "{}", again.text);

    let me = bench.call("GET", "/me").key(&key).send().await.json();
    let id = me["apiKey"]["id"].as_str().unwrap().to_owned();
    assert!(
        me["apiKey"]["expiresAt"].is_string(),
        "a year if nothing is chosen"
    );
    assert_eq!(bench.call("GET", "P/keywords").key(&key).send().await.status, 200);
    let write = bench.call("POST", "P/keywords").key(&key);
    write
        .json(&json!({ "keyword": "oak" }))
        .send()
        .await
        .refuses(403, "insufficient_scope");

    // Only what is ticked, without an end.
    let fields = [
        ("name", "writer"),
        ("reach", "chosen"),
        ("scope", "keywords:write"),
        ("scope", "keywords:read"),
        ("days", "never"),
    ];
    let chosen = shown_key(&submit(&ann, &again, &path, &fields).await).unwrap();
    let write = bench.call("POST", "P/keywords").key(&chosen);
    assert_eq!(write.json(&json!({ "keyword": "oak" })).send().await.status, 201);
    let posts = bench.call("GET", "P/posts").key(&chosen).send().await;
    posts.refuses(403, "insufficient_scope");

    let revoke = [("action", "revoke"), ("key", id.as_str())];
    let page = ann.open(&path).await;
    let revoked = submit(&ann, &page, &path, &revoke).await;
    assert!(revoked.text.contains("The key was revoked"), "{}", revoked.text);
    assert!(revoked.text.contains("1 ended key"));
    let me = bench.call("GET", "/me").key(&key).send().await;
    assert_eq!(me.status, 401);

    let log = bench.get("P/activity").await.json();
    let entries = log["data"].as_array().unwrap().iter();
    let actions: Vec<_> = entries
        .filter(|entry| entry["credential"]["type"] == "session")
        .map(|entry| {
            (
                entry["action"].as_str().unwrap(),
                entry["user"]["name"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        actions,
        [
            ("keys.revoke", "Ann"),
            ("keys.create", "Ann"),
            ("keys.create", "Ann")
        ]
    );
}

async fn a_form_for_a_key_makes_one_key_and_keeps_what_was_typed(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let ann = signed_in(&bench, "ann@example.com", Role::Admin).await;
    let path = address(&bench, "/settings/keys");
    let page = ann.open(&path).await;
    let fields = [("name", "nightly"), ("reach", "all")];
    assert!(shown_key(&submit(&ann, &page, &path, &fields).await).is_some());
    let twice = submit(&ann, &page, &path, &fields).await;
    assert_eq!(twice.status, 409);
    assert!(twice.text.contains("was shown then") && shown_key(&twice).is_none());
    assert!(twice.text.contains("2 live keys"), "that of the test and one");

    let page = ann.open(&path).await;
    for wrong in [
        vec![("name", "kept"), ("reach", "chosen"), ("days", "7")],
        vec![
            ("name", "kept"),
            ("reach", "read"),
            ("scope", "posts:write"),
            ("days", "7"),
        ],
        vec![("name", "kept"), ("days", "sometimes")],
        vec![("name", "  "), ("days", "30")],
        vec![("name", "kept"), ("days", "999999")],
    ] {
        let refused = submit(&ann, &page, &path, &wrong).await;
        assert_eq!(refused.status, 422, "{wrong:?}");
        assert!(refused.text.contains("role=\"alert\""));
        let kept = format!("value=\"{}\"", wrong[0].1);
        assert!(refused.text.contains(&kept), "{wrong:?}");
        assert_eq!(
            refused.ticked("scope").len(),
            usize::from(wrong[2 % wrong.len()].0 == "scope")
        );
    }
    // A key of another project is not there.
    let (_, other) = bench.neighbour().await;
    let me = bench.call("GET", "/me").key(&other).send().await.json();
    let id = me["apiKey"]["id"].as_str().unwrap();
    let foreign = submit(&ann, &page, &path, &[("action", "revoke"), ("key", id)]).await;
    assert_eq!(foreign.status, 404);
    assert_eq!(bench.call("GET", "/me").key(&other).send().await.status, 200);
}

async fn privileged_pages_need_a_recent_sign_in_and_a_role(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let ann = signed_in(&bench, "ann@example.com", Role::Owner).await;
    let ed = signed_in(&bench, "ed@example.com", Role::Editor).await;
    let csrf = ed.open("/account").await.field("csrf");
    for (rest, field, value) in [
        ("/settings/keys", "name", "mine"),
        ("/settings/autonomy", "action", "publish"),
        ("/settings/providers", "action", "budget"),
    ] {
        let path = address(&bench, rest);
        let fresh = ann.open(&path).await;
        let shown = ed.open(&path).await;
        assert!(
            shown.status == 200 && !shown.text.contains("<form method=\"post\""),
            "{rest}"
        );
        let form = [("csrf", csrf.as_str()), (field, value), ("days", "7")];
        let refused = ed.send(&path, &form).await;
        assert_eq!(refused.status, 403, "{rest}: {}", refused.text);
        assert!(refused.text.contains("needs the role admin"), "{}", refused.text);
        let forged = ann.send(&path, &[("csrf", "x"), (field, value)]).await;
        assert_eq!(forged.status, 403, "{rest}");
        bench.clock.advance(15 * 60_000);
        let late = ann.open(&path).await;
        assert!(
            late.text.contains("confirm that it is you"),
            "{rest}: {}",
            late.text
        );
        assert!(!late.text.contains("<form method=\"post\""), "{rest}");
        let sent = submit(&ann, &fresh, &path, &[(field, value), ("days", "7")]).await;
        assert_eq!(sent.status, 403, "{rest}");
        assert!(
            sent.text.contains("Confirm that it is you"),
            "{rest}: {}",
            sent.text
        );
        assert_eq!(
            (sent.field(field).as_str(), sent.field("days").as_str()),
            (value, "7")
        );
        bench.clock.advance(-15 * 60_000);
    }
    assert_eq!(
        bench.get("P").await.json()["agentAutonomy"]["publish"]["enabled"],
        json!(false)
    );
}

async fn agent_autonomy_is_set_by_a_person_and_not_over_another_change(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let ann = signed_in(&bench, "ann@example.com", Role::Admin).await;
    let path = address(&bench, "/settings/autonomy");
    let first = ann.open(&path).await;
    let on = [
        ("action", "publish"),
        ("version", "off"),
        ("set", "on"),
        ("cap", "3"),
        ("days", "7"),
    ];
    let done = submit(&ann, &first, &path, &on).await;
    assert!(
        done.text.contains("It is on") && done.text.contains("0 of 3"),
        "{}",
        done.text
    );
    assert!(done.text.contains("Turned on by") && done.text.contains("Ann, "));
    let set = bench.get("P").await.json()["agentAutonomy"].clone();
    assert_eq!(
        (
            &set["publish"]["enabled"],
            &set["publish"]["dailyCap"],
            &set["track"]["enabled"]
        ),
        (&json!(true), &json!(3), &json!(false))
    );
    assert!(set["publish"]["expiresAt"].is_string());

    // The page of before knows nothing of that.
    let mut stale = on;
    stale[3].1 = "9";
    let refused = submit(&ann, &first, &path, &stale).await;
    assert_eq!(refused.status, 412, "{}", refused.text);
    assert!(refused.text.contains("Somebody changed it") && refused.text.contains("value=\"9\""));
    for (cap, days) in [("0", "7"), ("many", "7"), ("3", "sometimes")] {
        let wrong = [("action", "track"), ("set", "on"), ("cap", cap), ("days", days)];
        let refused = submit(&ann, &first, &path, &wrong).await;
        assert_eq!(refused.status, 422, "{cap} {days}");
        assert!(refused.text.contains(&format!("value=\"{cap}\"")), "{cap}");
    }
    let off = [("action", "publish"), ("set", "off")];
    let done = submit(&ann, &done, &path, &off).await;
    assert!(done.text.contains("It is off"), "{}", done.text);
    let set = bench.get("P").await.json();
    assert_eq!(set["agentAutonomy"]["publish"]["enabled"], json!(false));
    let log = bench.get("P/activity").await.json();
    assert_eq!(
        (
            &log["data"][0]["action"],
            &log["data"][1]["action"],
            &log["data"][1]["subject"]
        ),
        (&json!("autonomy.off"), &json!("autonomy.on"), &json!("publish"))
    );
}

async fn schedules_are_changed_and_what_is_missing_is_named(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let ed = signed_in(&bench, "ed@example.com", Role::Editor).await;
    let path = address(&bench, "/settings/schedules");
    let page = ed.open(&path).await;
    assert!(page.text.contains("no prompt is active"), "{}", page.text);
    let weekly = [
        ("kind", "audits"),
        ("enabled", "on"),
        ("weekday", "1"),
        ("weekday", "4"),
        ("time", "07:30"),
        ("zone", "Europe/Berlin"),
        ("interval", "3"),
    ];
    let saved = submit(&ed, &page, &path, &weekly).await;
    assert!(
        saved.text.contains("Saved.") && saved.text.contains("value=\"07:30\""),
        "{}",
        saved.text
    );
    let listed = bench.get("P/schedules").await.json();
    let audits = listed["data"]
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["kind"] == "audits");
    let audits = audits.unwrap();
    assert_eq!(
        (
            &audits["enabled"],
            &audits["weekdays"],
            &audits["time"],
            &audits["timezone"],
            &audits["interval_days"]
        ),
        (
            &json!(true),
            &json!([1, 4]),
            &json!("07:30"),
            &json!("Europe/Berlin"),
            &json!(3)
        )
    );
    // A page of before the change, and what cannot be turned on.
    let version = format!("{}-audits-0", bench.project);
    let mut stale = weekly.to_vec();
    stale.push(("version", &version));
    assert_eq!(submit(&ed, &saved, &path, &stale).await.status, 412);
    let page = ed.open(&path).await;
    let visibility = [
        ("kind", "visibility"),
        ("enabled", "on"),
        ("cost", "0.25"),
        ("time", "06:15"),
        ("interval", "7"),
    ];
    let refused = submit(&ed, &page, &path, &visibility).await;
    assert_eq!(refused.status, 409);
    assert!(
        refused.text.contains("no account asks an engine") && refused.text.contains("value=\"0.25\""),
        "{}",
        refused.text
    );
    for wrong in [
        ("cost", "much"),
        ("interval", "-2"),
        ("interval", "soon"),
        ("zone", "Mars/Olympus"),
    ] {
        let refused = submit(&ed, &page, &path, &[("kind", "visibility"), wrong]).await;
        assert_eq!(refused.status, 422, "{wrong:?}");
        assert!(
            refused.text.contains(&format!("value=\"{}\"", wrong.1)),
            "{wrong:?}"
        );
    }
    let vic = signed_in(&bench, "vic@example.com", Role::Viewer).await;
    let page = vic.open(&path).await;
    assert!(
        page.text.contains("Monday, Thursday at 07:30 Europe/Berlin"),
        "{}",
        page.text
    );
    assert!(!page.text.contains("<form method=\"post\""));
    let csrf = vic.open("/account").await.field("csrf");
    let refused = vic.send(&path, &[("csrf", &csrf), ("kind", "audits")]).await;
    assert_eq!(refused.status, 403, "{}", refused.text);
}

async fn members_see_every_page_of_settings_and_others_none(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let settings = [("model".to_owned(), "<b>big</b>".to_owned())].into();
    bench
        .account("openai", settings, "sk-secret-of-the-account")
        .await;
    let vic = signed_in(&bench, "vic@example.com", Role::Viewer).await;
    let ann = signed_in(&bench, "ann@example.com", Role::Owner).await;
    let stranger = crate::browser::Browser::new(&bench);
    for rest in [
        "",
        "/keys",
        "/autonomy",
        "/schedules",
        "/notices",
        "/providers",
        "/checks",
        "/members",
        "/connect",
        "/autopilot",
    ] {
        let path = address(&bench, &format!("/settings{rest}"));
        for person in [&vic, &ann] {
            let page = person.open(&path).await;
            assert_eq!(page.status, 200, "{path}: {}", page.text);
            let policy = page.headers["content-security-policy"].to_str().unwrap();
            assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"));
            assert!(
                page.text.contains("aria-current=\"page\""),
                "{path} is in the shell"
            );
            assert!(!page.text.contains("sk-secret") && !page.text.contains("<b>big"));
            assert!(page.text.len() < 150_000, "{path}");
        }
        let login = stranger.open(&path).await;
        assert!(login.text.contains("name=\"password\""), "{path} is open");
        let foreign = format!("/projects/01936f31-5f0a-7d55-b1c7-8a2f4e6d9b21/settings{rest}");
        assert_eq!(ann.open(&foreign).await.status, 404, "{foreign}");
    }
    let providers = address(&bench, "/settings/providers");
    assert!(ann.open(&providers).await.text.contains("big"));
    assert!(!vic.open(&providers).await.text.contains("big"));
    let commands = ann.open(&providers).await.text;
    assert!(commands.contains("searchwright admin budget set --project"));
    let checks = address(&bench, "/settings/checks");
    let shown = vic.open(&checks).await.text;
    assert!(shown.contains("title-min") && !shown.contains("<form method=\"post\""));
}

async fn the_autopilot_is_set_and_its_slots_are_shown(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let ann = signed_in(&bench, "ann@example.com", Role::Admin).await;
    let path = address(&bench, "/settings/autopilot");
    let page = ann.open(&path).await;
    let version = page.field("version");
    let fields = [
        ("action", "settings"),
        ("version", version.as_str()),
        ("mode", "propose"),
        ("weekday", "2"),
        ("time", "08:15"),
        ("zone", "Europe/Berlin"),
        ("interval", "7"),
        ("hold", "12"),
        ("lead", "3"),
        ("score", "70"),
        ("refresh", "25"),
        ("other", "on"),
    ];
    let saved = submit(&ann, &page, &path, &fields).await;
    assert!(
        saved.text.contains("Saved.") && saved.text.contains("08:15"),
        "{}",
        saved.text
    );
    let set = bench.get("P/autopilot").await.json();
    assert_eq!(
        (
            &set["mode"],
            &set["publish_weekdays"],
            &set["publish_time"],
            &set["timezone"]
        ),
        (
            &json!("propose"),
            &json!([2]),
            &json!("08:15"),
            &json!("Europe/Berlin")
        )
    );
    assert_eq!(
        (
            &set["min_score"],
            &set["refresh_share"],
            &set["draft_only"],
            &set["monthly_cap"]
        ),
        (&json!(70), &json!(25), &json!(false), &json!(12))
    );
    assert_eq!(saved.text.matches(" 08:15</li>").count(), 6, "{}", saved.text);
    // A page of before the change, and what it cannot do yet.
    let stale = submit(&ann, &saved, &path, &fields).await;
    assert_eq!(stale.status, 412, "{}", stale.text);
    let page = ann.open(&path).await;
    let version = page.field("version");
    let on = [
        ("action", "settings"),
        ("version", &version),
        ("enabled", "on"),
        ("mode", "auto"),
        ("score", "41"),
    ];
    let refused = submit(&ann, &page, &path, &on).await;
    assert_eq!(refused.status, 409, "{}", refused.text);
    assert!(refused.text.contains("value=\"41\""));
    let ed = signed_in(&bench, "ed@example.com", Role::Editor).await;
    let shown = ed.open(&path).await;
    assert!(
        shown.text.contains("Tuesday") && !shown.text.contains("name=\"mode\""),
        "{}",
        shown.text
    );
    let csrf = ed.open("/account").await.field("csrf");
    let refused = ed
        .send(
            &path,
            &[("csrf", &csrf), ("action", "settings"), ("mode", "auto")],
        )
        .await;
    assert_eq!(refused.status, 403);
}

async fn the_project_is_changed_by_those_who_manage_it(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let nightly = json!({ "enabled": true, "interval_days": 1, "time": "06:30" });
    bench.patch("P/schedules/audits", nightly).await.json();
    bench
        .post("P/visibility/prompts", json!({ "text": "Which desk is stable?" }))
        .await
        .json();
    let ann = signed_in(&bench, "ann@example.com", Role::Admin).await;
    let path = address(&bench, "/settings");
    let page = ann.open(&path).await;
    assert!(page.text.contains("<option value=\"Europe/Berlin\">"));
    let seen = page.field("seen");
    let fields = [
        ("seen", seen.as_str()),
        ("name", " Oak & <b>Sons</b> "),
        ("language", "PT-br"),
        ("country", "br"),
        ("zone", "america/sao_paulo"),
    ];
    let saved = submit(&ann, &page, &path, &fields).await;
    assert!(saved.text.contains("keep their hour"), "{}", saved.text);
    assert!(!saved.text.contains("<b>Sons"));
    let project = bench.get("P").await.json();
    assert_eq!(
        [
            &project["name"],
            &project["language"],
            &project["country"],
            &project["timezone"]
        ],
        ["Oak & <b>Sons</b>", "pt-BR", "BR", "America/Sao_Paulo"]
    );
    // Facts of the project count at once for what is made from now on.
    let made = bench
        .post(
            "P/visibility/prompts",
            json!({ "text": "Which chair is stable?" }),
        )
        .await
        .json();
    assert_eq!([&made["language"], &made["country"]], ["pt-BR", "BR"]);
    let jobs = bench.get("P/jobs").await.json();
    let kinds: Vec<&str> = jobs["data"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|job| job["type"].as_str())
        .collect();
    assert!(
        kinds.contains(&"analyze_answers"),
        "the new name is looked for in answers: {kinds:?}"
    );
    let log = bench.get("P/activity").await.json();
    assert!(
        log["data"]
            .as_array()
            .unwrap()
            .iter()
            .any(|entry| entry["action"] == "projects.update")
    );

    // A form that is sent again changes nothing more; one that saw the project as it was is refused and kept.
    let version = bench.get("P").await.json()["version"].clone();
    assert_eq!(submit(&ann, &page, &path, &fields).await.status, 200);
    assert_eq!(bench.get("P").await.json()["version"], version);
    let mut stale = fields;
    stale[1].1 = "Elm";
    let refused = submit(&ann, &page, &path, &stale).await;
    assert_eq!(refused.status, 412, "{}", refused.text);
    assert!(refused.text.contains("Somebody changed it") && refused.text.contains("value=\"Elm\""));
    let page = ann.open(&path).await;
    let seen = page.field("seen");
    for (field, value) in [
        ("name", ""),
        ("name", "Oak\r\nBcc: eve@example.com"),
        ("name", "\u{200b}"),
        ("name", "Oak\u{202e}"),
        ("language", "e!"),
        ("country", "Brazil"),
        ("zone", "Mars/Olympus"),
        ("zone", "Etc/Unknown"),
    ] {
        let mut wrong = fields;
        wrong[0].1 = &seen;
        for pair in &mut wrong {
            if pair.0 == field {
                pair.1 = value;
            }
        }
        let refused = submit(&ann, &page, &path, &wrong).await;
        assert_eq!(refused.status, 422, "{field}: {}", refused.text);
        assert!(refused.text.contains(&format!("value=\"{value}\"")), "{field}");
    }
    assert_eq!(bench.get("P").await.json()["version"], version);

    for (email, role) in [
        ("ed@example.com", Role::Editor),
        ("vic@example.com", Role::Viewer),
    ] {
        let other = signed_in(&bench, email, role).await;
        let shown = other.open(&path).await;
        assert!(shown.text.contains("America/Sao_Paulo") && !shown.text.contains("<form method=\"post\""));
        let csrf = other.open("/account").await.field("csrf");
        let mut form = fields.to_vec();
        form.push(("csrf", &csrf));
        let refused = other.send(&path, &form).await;
        assert_eq!(refused.status, 403, "{email}: {}", refused.text);
    }
}

async fn checks_are_set_by_those_who_manage_the_project(database: &str) {
    let (bench, _) = crate::audited::bench(database).await;
    audit(&bench).await;
    let before = issue(&bench, "broken-internal-link").await;
    assert_eq!(before["severity"], "error");
    let ann = signed_in(&bench, "ann@example.com", Role::Admin).await;
    let path = address(&bench, "/settings/checks");
    let page = ann.open(&format!("{path}?check=broken-internal-link")).await;
    assert!(page.text.contains("value=\"broken-internal-link\" selected"));
    let severity = |check, level| [("action", "severity"), ("check", check), ("level", level)];
    for fields in [
        severity("broken-internal-link", "notice"),
        severity("title-missing", "off"),
    ] {
        let saved = submit(&ann, &page, &path, &fields).await;
        assert!(
            saved.text.contains("It counts from the next audit on."),
            "{}",
            saved.text
        );
    }
    let threshold = |value| {
        [
            ("action", "threshold"),
            ("threshold", "title-min"),
            ("value", value),
        ]
    };
    let bad = submit(&ann, &page, &path, &threshold("a lot")).await;
    assert_eq!(bad.status, 422);
    assert!(
        bad.text.contains("whole number") && bad.text.contains("value=\"a lot\""),
        "{}",
        bad.text
    );
    assert_eq!(
        submit(&ann, &page, &path, &severity("no-such-check", "off"))
            .await
            .status,
        422
    );
    assert_eq!(
        submit(&ann, &page, &path, &severity("title-missing", "<b>"))
            .await
            .status,
        422
    );
    let set = submit(&ann, &page, &path, &threshold("12")).await;
    assert_eq!(set.status, 200, "{}", set.text);
    audit(&bench).await;
    assert_eq!(issue(&bench, "broken-internal-link").await["severity"], "notice");
    let set = bench.server.app.engine.checks(bench.project).await.unwrap();
    assert!(
        set.thresholds
            .iter()
            .any(|set| set.name == "title-min" && set.value == 12)
    );

    // as in the catalogue again, and as it was sent twice that is told once
    for _ in 0..2 {
        submit(&ann, &page, &path, &severity("broken-internal-link", "catalogue")).await;
        submit(&ann, &page, &path, &threshold("")).await;
    }
    let set = bench.server.app.engine.checks(bench.project).await.unwrap();
    assert_eq!(set.severities.len(), 1);
    assert!(set.thresholds.iter().all(|set| !set.set));
    let log = bench.get("P/activity?limit=100").await.json();
    let entries = log["data"].as_array().unwrap().iter();
    assert_eq!(
        entries.filter(|entry| entry["action"] == "checks.update").count(),
        5
    );

    let eve = signed_in(&bench, "eve@example.com", Role::Editor).await;
    let page = eve.open(&path).await;
    assert!(!page.text.contains("<form method=\"post\""));
    let form = ann.open(&path).await;
    let fields = [
        ("csrf", eve.open("/account").await.field("csrf")),
        ("once", form.field("once")),
    ];
    let mut sent: Vec<(&str, &str)> = fields
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    sent.extend(severity("title-missing", "error"));
    assert_eq!(eve.send(&path, &sent).await.status, 403);
}
