//! Posts published to repositories behind a real sshd and a real smart HTTP server with TLS; what is there is then read by git, not by
//! the product.

mod hostile;
mod posts;
mod product;
mod repository;
mod servers;
mod strange;
mod watch;

use std::{
    fs,
    path::Path,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};
use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::{Value, json};

use product::{Product, Project, text};
use repository::Bare;
use servers::{ACCOUNT, Servers};
use strange::{Strange, Way};
use watch::Watch;

/// How a repository is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Over {
    Ssh,
    Https,
}

/// Everything a step needs.
struct Stage {
    over: Over,
    product: Product,
    project: Project,
    servers: Servers,
    repository: Bare,
    /// The secret that is let in, as it is typed in.
    secret: Value,
    watch: Watch,
    /// Pictures.
    pictures: Strange,
    picture: Arc<Vec<u8>>,
    /// Where redirects lead to.
    elsewhere: Strange,
    silent: Strange,
    trickling: Strange,
    /// A port that the product may not reach, where somebody would answer.
    denied: Strange,
    /// Keys and tokens so far.
    count: usize,
}

/// Longest until nothing is left of what was done.
const PATIENCE: Duration = Duration::from_secs(5);

/// What the operator's commands say for a code, in part.
const CODES: [(&str, &str); 7] = [
    ("credential_refused", "no longer accepts the credentials"),
    ("permission_refused", "may not do this at the provider"),
    ("remote_missing", "it is not there at the provider"),
    ("unreadable_answer", "not what the provider's interface promises"),
    ("address_denied", "the address may not be reached"),
    ("tls", "no secure connection"),
    ("connect", "the provider does not"),
];

type Step = (&'static str, fn(&mut Stage) -> Result<String>);

/// Publishes over ssh and over https; fails where something is not as expected.
pub(crate) fn check() -> Result<()> {
    let folder = std::path::absolute(xtask::target())?.join("peers/git");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    let mut faults = 0;
    let mut count = 0;
    let mut stage = Stage::new(&folder)?;
    for over in [Over::Ssh, Over::Https] {
        stage.enter(over)?;
        for (what, step) in posts::STEPS.into_iter().chain(hostile::STEPS) {
            let outcome = step(&mut stage).and_then(|said| {
                stage.nothing_is_left()?;
                Ok(said)
            });
            let (word, said) = match &outcome {
                Ok(said) => ("ok", said.clone()),
                Err(error) => ("FAILED", format!("{error:#}")),
            };
            eprintln!(
                "{:<6} {what:<46} {word:<7}{said}",
                format!("{over:?}").to_lowercase()
            );
            (faults, count) = (faults + usize::from(outcome.is_err()), count + 1);
        }
    }
    ensure!(faults == 0, "{faults} of {count} steps were not as expected");
    Ok(())
}

impl Stage {
    fn new(folder: &Path) -> Result<Self> {
        // More than git sends in one piece, and nothing that it can make smaller.
        let mut random = xtask::random::Random::new(1, 1);
        let noise = (0..2 << 20).map(|_| random.below(256) as u8);
        let picture = Arc::new(gif(noise));
        let pictures = Strange::start(Way::Giving(Arc::clone(&picture)))?;
        let (elsewhere, denied) = (Strange::start(Way::Refusing)?, Strange::start(Way::Refusing)?);
        let (silent, trickling) = (Strange::start(Way::Silent)?, Strange::start(Way::Trickling)?);
        let servers = Servers::start(folder, elsewhere.port)?;
        let strange = [&pictures, &elsewhere, &silent, &trickling].map(|one| one.port);
        let mut allowed = Vec::new();
        for port in [servers.ssh, servers.http, servers.https] {
            allowed.extend(["127.0.0.1", "[::1]", "localhost"].map(|host| format!("{host}:{port}")));
        }
        allowed.extend(strange.map(|port| format!("127.0.0.1:{port}")));
        let product = Product::start(folder.join("data"), folder.join("tls.pem"), &allowed)?;
        Ok(Self {
            over: Over::Ssh,
            project: product.project("Peers")?,
            product,
            repository: Bare::make(folder, "none.git")?,
            servers,
            secret: Value::Null,
            watch: Watch::start(),
            pictures,
            picture,
            elsewhere,
            silent,
            trickling,
            denied,
            count: 0,
        })
    }

    /// Goes on with an empty project, an empty repository and a new secret, reached like this.
    fn enter(&mut self, over: Over) -> Result<()> {
        self.over = over;
        let name = format!("{over:?}").to_lowercase();
        self.project = self.product.project(&name)?;
        self.repository = Bare::make(&self.servers.folder, &format!("{name}.git"))?;
        self.new_secret()
    }

    /// Makes another secret the one that is let in.
    fn new_secret(&mut self) -> Result<()> {
        self.count += 1;
        self.secret = match self.over {
            Over::Ssh => {
                let key = self.servers.new_key()?;
                let middle = key.lines().nth(2).context("a short key")?.to_owned();
                self.watch.look_for(middle);
                json!({ "privateKey": key })
            }
            Over::Https => {
                let token = format!("ghp-token-{}-{}", self.count, std::process::id());
                self.servers.set_token(&token)?;
                self.watch
                    .look_for(BASE64_STANDARD.encode(format!("{ACCOUNT}:{token}")));
                self.watch.look_for(token.clone());
                json!({ "token": token })
            }
        };
        Ok(())
    }

    /// A secret of the same form that is not let in.
    fn wrong_secret(&self) -> Result<Value> {
        Ok(match self.over {
            Over::Ssh => {
                json!({ "privateKey": servers::private_key(&self.servers.folder.join("stranger"))? })
            }
            Over::Https => json!({ "token": "ghp-token-of-nobody" }),
        })
    }

    /// The address of a repository by its name, at a host of loopback.
    fn address(&self, host: &str, name: &str) -> String {
        let Servers {
            folder,
            ssh,
            https,
            user,
            ..
        } = &self.servers;
        match self.over {
            Over::Ssh => format!("ssh://{user}@{host}:{ssh}{}/{name}", folder.display()),
            Over::Https => format!("https://{host}:{https}/git/{name}"),
        }
    }

    /// The address of the repository.
    fn own(&self) -> String {
        let name = self.repository.path.file_name().unwrap_or_default();
        self.address("127.0.0.1", &name.to_string_lossy())
    }

    /// What is entered beside a secret.
    fn settings(&self, repository: String) -> Result<Vec<(&'static str, String)>> {
        let mut settings = vec![
            ("repository", repository),
            ("folder", "content/posts".to_owned()),
            ("imagesFolder", "static/images".to_owned()),
            ("imagesPath", "/images".to_owned()),
            ("baseUrl", "https://example.com/posts".to_owned()),
        ];
        match self.over {
            Over::Ssh => settings.push(("hostKey", self.servers.host_key()?)),
            Over::Https => settings.push(("username", ACCOUNT.to_owned())),
        }
        Ok(settings)
    }

    fn connect_to(&self, repository: String, secret: &Value) -> Result<Result<Value, String>> {
        self.product
            .connect(&self.project, &self.settings(repository)?, secret, true)
    }

    /// Connects the repository, which has to go well.
    fn connect(&self) -> Result<String> {
        match self.connect_to(self.own(), &self.secret)? {
            Ok(_) => text(&self.product.integration(&self.project)?, "/status"),
            Err(said) => bail!("{said}"),
        }
    }

    /// Saves where posts go.
    fn map(&self) -> Result<()> {
        let map =
            r#"{"title":"title","content":"content","tags":"tags","featuredImage":"image","slug":"slug"}"#;
        let arguments = ["integrations", "map", "git", map];
        self.product.ask(&self.project, &arguments).map(drop)
    }

    /// Does something in a project of its own: another address is another connection.
    fn aside(&mut self, work: impl FnOnce(&Self) -> Result<()>) -> Result<()> {
        let other = self.product.project("Aside")?;
        let own = std::mem::replace(&mut self.project, other);
        let outcome = work(self);
        self.project = own;
        outcome
    }

    /// Tries to connect, which has to fail with the text of a code; what was said, and how long it took.
    fn refused(&self, repository: String, secret: &Value, code: &str) -> Result<(String, Duration)> {
        let begun = Instant::now();
        match self.connect_to(repository, secret)? {
            Ok(connected) => bail!("it connects: {connected}"),
            Err(said) => {
                let known = CODES.iter().find(|(known, _)| *known == code);
                let (_, words) = known.context("no text of the code")?;
                ensure!(said.contains(words), "not {code}: {said}");
                Ok((said, begun.elapsed()))
            }
        }
    }

    /// A new post; its id.
    fn write(&self, title: &str, slug: &str) -> Result<String> {
        let content = format!("The text of {title}.\n\nEdition 1.\n");
        let create = [
            "posts",
            "create",
            "--title",
            title,
            "--slug",
            slug,
            "--content",
            &content,
        ];
        text(&self.product.ask(&self.project, &create)?, "/id")
    }

    /// Another edition of a post.
    fn edit(&self, id: &str, edition: &str) -> Result<()> {
        let content = format!("Another text.\n\nEdition {edition}.\n");
        self.product.change(&self.project, id, &["--content", &content])
    }

    /// Publishes a post; what went wrong, `null` where nothing did.
    fn publish(&self, id: &str, more: &[&str]) -> Result<Value> {
        let mut arguments = vec!["publish", id];
        arguments.extend(more);
        let job = self.product.begin_publish(&self.project, &arguments)?;
        self.product.follow(&self.project, id, &job)
    }

    /// Publishes a post live, which has to go well.
    fn live(&self, id: &str) -> Result<()> {
        let error = self.publish(id, &[])?;
        ensure!(error.is_null(), "{error}");
        let post = self.product.post(&self.project, id)?;
        ensure!(post["status"] == "published", "the post is {}", post["status"]);
        Ok(())
    }

    /// Publishes a post, which has to fail with this code; what the other side said.
    fn fails(&self, id: &str, code: &str) -> Result<String> {
        let error = self.publish(id, &[])?;
        ensure!(error["code"] == code, "not {code}: {error}");
        Ok(error["providerMessage"].as_str().unwrap_or_default().to_owned())
    }

    /// The file of a post, which must be the only one with its slug or its id.
    fn only(&self, id: &str, slug: &str) -> Result<String> {
        let name = format!("content/posts/{slug}.md");
        let mut found = Vec::new();
        for file in self.repository.files()? {
            let content = self.repository.read(&file)?;
            let text = String::from_utf8_lossy(&content).into_owned();
            if file == name || text.contains(id) {
                found.push((file, text));
            }
        }
        let names: Vec<&String> = found.iter().map(|(file, _)| file).collect();
        ensure!(names == [&name], "{names:?}, not {name} alone");
        Ok(found.swap_remove(0).1)
    }

    fn status(&self) -> Result<String> {
        text(&self.product.integration(&self.project)?, "/status")
    }

    /// No secret was said or shown, and no folder of work stays.
    fn nothing_is_left(&self) -> Result<()> {
        self.watch.judge()?;
        let said = self.product.said()?;
        ensure!(
            self.watch.find(&said).is_none(),
            "a secret stands in the log or in an answer"
        );
        let begun = Instant::now();
        while !self.product.scratch().is_empty() {
            let left = self.product.scratch();
            ensure!(begun.elapsed() < PATIENCE, "{left:?} is left");
            thread::sleep(Duration::from_millis(100));
        }
        loop {
            let left = watch::children_of(self.product.data());
            if left.is_empty() {
                break;
            }
            ensure!(begun.elapsed() < PATIENCE, "still running: {}", left.join("; "));
            thread::sleep(Duration::from_millis(100));
        }
        Ok(())
    }
}

/// One pixel with a long comment: a picture that goes as it is.
fn gif(comment: impl Iterator<Item = u8>) -> Vec<u8> {
    let mut gif = b"GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff\x21\xfe".to_vec();
    let comment: Vec<u8> = comment.collect();
    for part in comment.chunks(255) {
        gif.push(part.len() as u8);
        gif.extend(part);
    }
    gif.extend(b"\0\x2c\0\0\0\0\x01\0\x01\0\0\x02\x02\x44\x01\0\x3b");
    gif
}
