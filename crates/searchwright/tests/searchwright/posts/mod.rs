//! Posts by the program: written from files, and by a language model across the death of the process.

mod model;
mod sources;
mod waiting;

use serde_json::{Value, json};

use crate::{
    audit::website::Website,
    program::{Outcome, Serving, User},
};
use model::Model;

const STEPS: [&str; 5] = ["outline", "section 1", "section 2", "edit", "meta"];
/// Of 1,000 tokens read and 500 written, at 1 and 2 dollars per million.
const PRICE: i64 = 2_000;

/// Somebody with a project, a server and a language model.
struct Author {
    owner: User,
    key: String,
    model: Model,
}

impl Author {
    fn new() -> Self {
        Self::of("example.com")
    }

    fn of(domain: &str) -> Self {
        let owner = User::new();
        let project = owner.project(domain);
        let (_, key) = owner.key(&project, &[]);
        let model = Model::new();
        let address = format!("http://{}/v1", model.address);
        let set = owner.tell(
            &[
                "admin",
                "provider",
                "set",
                "--project",
                &project,
                "--provider",
                "openai",
                "--secret-file",
                "-",
                "--base-url",
                &address,
                "--model",
                "m-1",
                "--setting",
                "inputPrice=1",
                "--setting",
                "outputPrice=2",
            ],
            "sk-test",
        );
        assert_eq!(set.code, 0, "{set:?}");
        Self { owner, key, model }
    }

    fn serve(&self) -> Serving {
        self.serve_beside("127.0.0.1:1")
    }

    /// Lets the server reach a website, too.
    fn serve_beside(&self, website: &str) -> Serving {
        let allowed = format!("provider={}", self.model.address);
        let crawled = format!("crawl={website}");
        self.owner.serve(&[
            "--allow-outbound",
            &allowed,
            "--allow-outbound",
            &crawled,
            "--set",
            "limits.requests_per_minute=100000",
            "--set",
            "limits.requests_per_minute_and_project=100000",
            "--set",
            "limits.runs_per_minute=1000",
        ])
    }

    fn caller(&self, server: &Serving) -> User {
        User::new()
            .with("SEARCHWRIGHT_URL", &server.url)
            .with("SEARCHWRIGHT_KEY", &self.key)
    }

    fn run(&self, server: &Serving, arguments: &[&str]) -> Outcome {
        self.caller(server).run(&[arguments, &["--json"]].concat())
    }

    /// Tells the project what there is to know about standing desks.
    fn brand(&self, server: &Serving) {
        let faqs =
            r#"[{ "question": "How high does the standing desk go?", "answer": "It goes up to 128 cm." }]"#;
        let products = r#"[{ "name": "Oak standing desk", "url": "https://example.com/oak" }]"#;
        assert_eq!(self.run(server, &["faqs", "create", faqs]).code, 0);
        assert_eq!(self.run(server, &["products", "create", products]).code, 0);
    }

    fn post(&self, server: &Serving, title: &str) -> String {
        let made = self.run(server, &["posts", "create", "--title", title]).json();
        made["id"].as_str().unwrap().to_owned()
    }

    fn generate(&self, server: &Serving, post: &str) {
        self.generate_from(server, post, &[]);
    }

    fn generate_from(&self, server: &Serving, post: &str, sources: &[&str]) {
        let sources = sources.iter().flat_map(|source| ["--sources", *source]);
        let arguments: Vec<&str> = ["posts", "generate", post, "--yes"]
            .into_iter()
            .chain(sources)
            .collect();
        let started = self.run(server, &arguments).json();
        assert_eq!(started["post"]["status"], "queued");
    }

    /// The post once its job has ended.
    fn ended(&self, server: &Serving, post: &str) -> Value {
        loop {
            let post = self.run(server, &["posts", "get", post]).json();
            if !["queued", "generating"].contains(&post["status"].as_str().unwrap()) {
                return post;
            }
        }
    }

    fn spend(&self, server: &Serving) -> Value {
        self.run(server, &["usage", "get"]).json()["spend"][0].clone()
    }
}

#[test]
fn a_text_is_written_from_a_file() {
    let author = Author::new();
    let server = author.serve();
    let file = author.owner.path("desk.md");
    std::fs::write(&file, "data: a *text*, as it is.\n").unwrap();
    let from_file = format!("@{}", file.display());
    let made = author
        .run(
            &server,
            &["posts", "create", "--title", "Desks", "--content", &from_file],
        )
        .json();
    assert_eq!(
        (&made["content"], &made["version"]),
        (&json!("data: a *text*, as it is.\n"), &json!(1))
    );
    let id = made["id"].as_str().unwrap();
    std::fs::write(&file, "Another.").unwrap();
    author
        .run(&server, &["posts", "update", id, "--content", &from_file])
        .refuses(4, &["precondition_required", "ifVersion"]);
    let changed = author
        .run(
            &server,
            &[
                "posts",
                "update",
                id,
                "--content",
                &from_file,
                "--if-version",
                "1",
                "--excerpt",
                "e",
            ],
        )
        .json();
    assert_eq!(
        (&changed["content"], &changed["excerpt"]),
        (&json!("Another."), &json!("e"))
    );
    author
        .run(
            &server,
            &["posts", "update", id, "--content", "Late.", "--if-version", "1"],
        )
        .refuses(4, &["precondition_failed"]);
    let cleared = author
        .run(&server, &["posts", "update", id, "--excerpt", "null"])
        .json();
    assert_eq!(
        (&cleared["content"], &cleared["excerpt"]),
        (&json!("Another."), &Value::Null)
    );
    let revisions = author.run(&server, &["posts", "revisions", id]).json();
    assert_eq!(revisions["data"][0]["number"], 1);
    let restored = author
        .run(&server, &["posts", "restore", id, "1", "--if-version", "3"])
        .json();
    assert_eq!(restored["content"], made["content"]);
    std::fs::write(&file, b"\xff").unwrap();
    author
        .run(
            &server,
            &["posts", "create", "--title", "Desks", "--content", &from_file],
        )
        .refuses(2, &["UTF-8"]);
    author
        .run(&server, &["posts", "generate", id])
        .refuses(2, &["--yes"]);
}

#[test]
fn an_article_claims_and_links_only_what_the_project_bears_out() {
    let author = Author::new();
    let server = author.serve();
    author.brand(&server);
    let post = author.post(&server, "Standing desk");
    author.generate(&server, &post);
    let written = author.ended(&server, &post);
    assert_eq!(
        (&written["status"], &written["title"]),
        (&json!("review"), &json!("Standing desk")),
        "{written:#}"
    );
    let generation = &written["generation"];
    assert_eq!(
        (&generation["method"], &generation["provider"]),
        (&json!("model"), &json!("openai"))
    );
    assert_eq!(
        (&generation["model"], &generation["costMicrosUsd"]),
        (&json!("m-1"), &json!(5 * PRICE))
    );
    let content = written["content"].as_str().unwrap();
    assert!(
        content.starts_with("## How high does it go?\n\nIt goes up to 128 cm."),
        "{content}"
    );
    assert!(
        content.contains("[our oak desk](https://example.com/oak)"),
        "{content}"
    );
    assert!(
        !content.contains("evil.example") && !content.contains("<script>"),
        "{content}"
    );
    assert_eq!(written["excerpt"], "How high a standing desk goes.");
    assert_eq!(written["metaDescription"], "A standing desk and its heights.");
    let warnings = written["warnings"].as_array().unwrap();
    assert_eq!(warnings.len(), 1, "{warnings:#?}");
    assert_eq!(warnings[0]["code"], "unverified_claims");
    assert_eq!(warnings[0]["text"], "It halves back pain in 37% of all offices.");
    assert_eq!(warnings[0]["blocksPublishing"], true);
    assert_eq!(
        author.model.asked(),
        STEPS.map(|step| (step.to_owned(), 1)).into()
    );
    let spend = author.spend(&server);
    assert_eq!(
        (&spend["spentMicrosUsd"], &spend["uncertainCalls"]),
        (&json!(5 * PRICE), &json!(0))
    );
    // Who takes the sentence out has nothing left to show a source for.
    let fixed = content.replace("It halves back pain in 37% of all offices. ", "");
    let version = written["version"].to_string();
    let edited = author
        .run(
            &server,
            &[
                "posts",
                "update",
                &post,
                "--content",
                &fixed,
                "--if-version",
                &version,
            ],
        )
        .json();
    assert_eq!(edited["warnings"], json!([]));
    // What is there stays; only what is missing around it is asked for.
    author
        .run(&server, &["posts", "update", &post, "--excerpt", "null"])
        .json();
    author.generate(&server, &post);
    let filled = author.ended(&server, &post);
    assert_eq!(
        (&filled["content"], &filled["excerpt"]),
        (&json!(fixed), &json!("How high a standing desk goes."))
    );
    assert_eq!(author.model.asked(), [("meta".to_owned(), 1)].into());
}

#[test]
fn an_article_links_to_pages_that_may_be_found() {
    let website = Website::new(200);
    let origin = &website.expected.origin;
    let author = Author::of(origin);
    let server = author.serve_beside(origin.trim_start_matches("http://"));
    author.run(&server, &["audits", "start"]).json();
    let status = || author.run(&server, &["audits", "current"]).json()["status"].clone();
    while ["queued", "crawling", "analyzing"].contains(&status().as_str().unwrap()) {}
    // Addresses of pages, and what they are called without the kind of page they are.
    let named = |indexable: &str| -> Vec<(String, String)> {
        let list = ["pages", "list", "--limit", "100", "--indexable", indexable];
        let pages = author.run(&server, &list).json();
        let pages = pages["data"].as_array().unwrap().iter();
        let named = pages.filter_map(|page| {
            let (name, _) = page["title"].as_str()?.split_once(": ")?;
            Some((page["url"].as_str()?.to_owned(), name.to_owned()))
        });
        named.collect()
    };
    let (found, hidden) = (&named("true")[1], &named("false")[0]);
    let wish = format!("{} is near.\n\n{} is not.", found.1, hidden.1);
    let post = author.post(&server, "Standing desk");
    let started = author.run(
        &server,
        &["posts", "generate", &post, "--instructions", &wish, "--yes"],
    );
    assert_eq!(started.code, 0, "{started:?}");
    let written = author.ended(&server, &post);
    let content = written["content"].as_str().unwrap();
    let link = format!("[{}](<{}>) is near.", found.1, found.0);
    assert!(content.contains(&link), "{link}: {content}");
    let unlinked = format!("\n{} is not.", hidden.1);
    assert!(content.contains(&unlinked), "{unlinked}: {content}");
}

#[test]
fn a_refusal_of_the_provider_leaves_the_post_as_it_was() {
    let author = Author::new();
    let server = author.serve();
    let post = author.post(&server, "Standing desk");
    author.model.refuse();
    author.generate(&server, &post);
    let failed = author.ended(&server, &post);
    assert_eq!(
        (&failed["status"], &failed["content"]),
        (&json!("failed"), &json!(""))
    );
    assert_eq!(
        (&failed["failure"]["stage"], &failed["failure"]["code"]),
        (&json!("generate"), &json!("provider_error"))
    );
    assert_eq!(
        failed["allowedActions"]["generate"], true,
        "it can be tried again"
    );
    assert_eq!(author.spend(&server)["spentMicrosUsd"], 0);
    let usage = author.run(&server, &["usage", "get"]).json();
    let quotas = usage["quotas"].as_array().unwrap();
    let quota = quotas
        .iter()
        .find(|quota| quota["metric"] == "posts_generated")
        .unwrap();
    assert_eq!(quota["used"], 0);
}

#[test]
fn a_process_that_is_killed_is_charged_for_no_step_twice() {
    let author = Author::new();
    let mut server = author.serve();
    author.brand(&server);
    let mut charged = 0;
    for (at, step) in STEPS.into_iter().enumerate() {
        let post = author.post(&server, "Standing desk");
        author.model.hold(step);
        author.generate(&server, &post);
        author.model.until_it_holds();
        // dropped means SIGKILL
        drop(server);
        author.model.answer_all();
        server = author.serve();
        let written = author.ended(&server, &post);
        assert_eq!(written["status"], "review", "{step}: {written:#}");
        // The call that was cut may have been charged for: it is told, and not made again.
        let asked = author.model.asked();
        assert!(asked.values().all(|times| *times == 1), "{step}: {asked:?}");
        let all = STEPS.iter().all(|step| asked.contains_key(*step));
        // Without its outline an article follows that of the brief, whose sections are others.
        assert!(
            all && (step == "outline" || asked.len() == STEPS.len()),
            "{step}: {asked:?}"
        );
        charged += PRICE * i64::try_from(asked.len() - 1).unwrap();
        let warnings = written["warnings"].as_array().unwrap();
        let lost: Vec<&str> = warnings
            .iter()
            .filter(|warning| warning["code"] == "step_lost")
            .map(|warning| warning["detail"].as_str().unwrap())
            .collect();
        assert!(
            lost.len() == 1 && lost[0].contains(&format!("\"{step}\"")),
            "{step}: {lost:?}"
        );
        assert_eq!(written["generation"]["costMicrosUsd"], Value::Null, "{step}");
        let is_missing = warnings
            .iter()
            .any(|warning| warning["code"] == "missing_section");
        assert_eq!(is_missing, step.starts_with("section"), "{step}: {warnings:#?}");
        assert!(!written["content"].as_str().unwrap().is_empty());
        let spend = author.spend(&server);
        let cut = json!(at + 1);
        assert_eq!(
            (&spend["spentMicrosUsd"], &spend["uncertainCalls"]),
            (&json!(charged), &cut),
            "{step}"
        );
    }
}
