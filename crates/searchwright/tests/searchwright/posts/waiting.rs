//! Work that a command waits for, and how it ends.

use serde_json::{Value, json};

use super::{Author, STEPS};
use crate::program::{Outcome, User};

/// Returns the printed JSON, whatever the exit code.
fn printed(outcome: &Outcome) -> Value {
    serde_json::from_str(&outcome.out).unwrap_or_else(|e| panic!("{e}: {outcome:?}"))
}

#[test]
fn whatever_starts_a_job_can_wait_for_it() {
    let author = Author::new();
    let server = author.serve();
    author.brand(&server);
    let post = author.post(&server, "Standing desk");
    let written = author.run(&server, &["posts", "generate", &post, "--yes", "--wait"]);
    let job = written.json();
    assert_eq!(
        (&job["type"], &job["status"]),
        (&json!("generate_post"), &json!("succeeded"))
    );
    assert_eq!(job["result"]["method"], "model");
    assert_eq!(written.err, "", "no bar where nobody looks");
    assert_eq!(
        author.run(&server, &["posts", "get", &post]).json()["status"],
        "review"
    );
    let generate = [
        "keywords",
        "generate",
        "--seeds",
        "standing desk",
        "--sources",
        "question_pattern",
    ];
    let found = author
        .run(&server, &[&generate[..], &["--yes", "--wait"]].concat())
        .json();
    assert_eq!(
        (&found["type"], &found["status"]),
        (&json!("generate_keywords"), &json!("succeeded"))
    );
    let keywords = author.run(&server, &["keywords", "list"]).json();
    let keyword = keywords["data"][0]["keyword"].as_str().unwrap();
    let figures = author
        .run(&server, &["keywords", "metrics", keyword, "--yes", "--wait"])
        .json();
    assert_eq!(
        (&figures["type"], &figures["status"]),
        (&json!("keyword_metrics"), &json!("succeeded"))
    );
    assert!(
        figures["result"].to_string().contains("no_provider"),
        "{figures:#}"
    );
    // An import is done when it answers; what it leaves to be done is waited for.
    let file = "Keyword,Volume,Keyword Difficulty\ndesk lamp,100,20\ndesk lamps,90,20\n";
    let imported = author
        .run(&server, &["keywords", "import", file, "--wait"])
        .json();
    assert_eq!(
        (&imported["created"], &imported["job"]["status"]),
        (&json!(2), &json!("succeeded")),
        "{imported:#}"
    );
    let lamps = author
        .run(&server, &["keywords", "list", "--q", "desk lamp"])
        .json();
    assert!(lamps["data"][0]["clusterId"].is_string(), "{lamps:#}");
    // For people the same, as lines.
    let told = author
        .caller(&server)
        .run(&["keywords", "metrics", keyword, "--yes", "--wait"]);
    assert!(told.code == 0 && told.out.contains("succeeded"), "{told:?}");
}

#[test]
fn how_the_work_ends_is_how_the_command_ends() {
    let author = Author::new();
    let server = author.serve();
    let post = author.post(&server, "Standing desk");
    let generate = ["posts", "generate", post.as_str(), "--yes", "--wait", "--json"];
    let caller = author.caller(&server);
    // stopped by somebody
    author.model.hold(STEPS[0]);
    let waiting = caller.command(&generate).spawn().unwrap();
    author.model.until_it_holds();
    let running = author
        .run(&server, &["jobs", "list", "--status", "running"])
        .json();
    assert_eq!(running["data"][0]["progress"], json!({ "step": STEPS[0] }));
    let job = running["data"][0]["id"].as_str().unwrap();
    author.run(&server, &["jobs", "cancel", job]).json();
    let stopped = Outcome::of(waiting);
    assert_eq!(
        (stopped.code, &printed(&stopped)["status"]),
        (1, &json!("canceled"))
    );
    assert!(stopped.err.contains("error: the job is canceled"), "{stopped:?}");
    author.model.answer_all();
    // failed
    author.model.refuse();
    let failed = caller.run(&generate);
    let job = printed(&failed);
    assert_eq!((failed.code, &job["status"]), (1, &json!("failed")));
    let why = job["problem"]["detail"].as_str().unwrap();
    assert!(
        failed.err.contains(why) && failed.err.contains("provider_error"),
        "{failed:?}"
    );
    // refused before it began
    caller
        .run(&[
            "posts",
            "generate",
            "01936f31-5f0b-7a01-9d3c-6f5e4d3c2b1a",
            "--yes",
            "--wait",
        ])
        .refuses(4, &["not_found"]);
}

#[test]
fn who_may_not_follow_learns_that_it_goes_on() {
    let owner = User::new();
    let project = owner.project("example.com");
    let (_, key) = owner.key(&project, &["--scopes", "content:generate"]);
    let server = owner.serve(&[]);
    let caller = User::new()
        .with("SEARCHWRIGHT_URL", &server.url)
        .with("SEARCHWRIGHT_KEY", &key);
    let started = caller.run(&["keywords", "generate", "--seeds", "desk", "--dry-run", "--wait"]);
    started.refuses(
        3,
        &[
            "insufficient_scope",
            "projects:read",
            "the job continues: searchwright jobs get ",
        ],
    );
}
