//! Posts published to repositories behind a real sshd and a real smart HTTP server with TLS. The result is read by git, not by the
//! product.

mod fake_server;
mod post_lifecycle;
mod process_monitor;
mod product;
mod rejections;
mod repository;
mod servers;

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

use fake_server::{Behavior, FakeServer};
use process_monitor::ProcessMonitor;
use product::{GitProduct, GitProject, text};
use repository::BareRepository;
use servers::{ACCOUNT, Servers};

/// Protocol by which a repository is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Transport {
    Ssh,
    Https,
}

/// Everything a step needs.
struct GitFixture {
    transport: Transport,
    product: GitProduct,
    project: GitProject,
    servers: Servers,
    repository: BareRepository,
    /// The secret that the servers accept, in the form of the connect command.
    secret: Value,
    process_monitor: ProcessMonitor,
    /// Pictures.
    pictures: FakeServer,
    picture: Arc<Vec<u8>>,
    /// Target of redirects.
    elsewhere: FakeServer,
    silent: FakeServer,
    trickling: FakeServer,
    /// A port that the product may not reach, where somebody would answer.
    denied: FakeServer,
    /// Keys and tokens so far.
    count: usize,
}

/// Time until the product has removed its processes and folders.
const CLEANUP_TIMEOUT: Duration = Duration::from_secs(5);

/// Error codes, and a part of the text with which the operator's commands report each.
const ERROR_TEXTS: [(&str, &str); 7] = [
    ("credential_refused", "no longer accepts the credentials"),
    ("permission_refused", "may not do this at the provider"),
    ("remote_missing", "it is not there at the provider"),
    ("unreadable_answer", "not what the provider's interface promises"),
    ("address_denied", "the address may not be reached"),
    ("tls", "no secure connection"),
    ("connect", "the provider does not"),
];

type GitStep = (&'static str, fn(&mut GitFixture) -> Result<String>);

/// Publishes over ssh and over https; fails if a step is not as expected.
pub(crate) fn check() -> Result<()> {
    let folder = std::path::absolute(xtask::target())?.join("peers/git");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    let mut faults = 0;
    let mut count = 0;
    let mut fixture = GitFixture::new(&folder)?;
    for transport in [Transport::Ssh, Transport::Https] {
        fixture.select_transport(transport)?;
        for (what, step) in post_lifecycle::STEPS.into_iter().chain(rejections::STEPS) {
            let outcome = step(&mut fixture).and_then(|said| {
                fixture.check_leftovers()?;
                Ok(said)
            });
            let (word, said) = match &outcome {
                Ok(said) => ("ok", said.clone()),
                Err(error) => ("FAILED", format!("{error:#}")),
            };
            eprintln!(
                "{:<6} {what:<46} {word:<7}{said}",
                format!("{transport:?}").to_lowercase()
            );
            (faults, count) = (faults + usize::from(outcome.is_err()), count + 1);
        }
    }
    ensure!(faults == 0, "{faults} of {count} steps were not as expected");
    Ok(())
}

impl GitFixture {
    fn new(folder: &Path) -> Result<Self> {
        // More than git sends in one piece, and nothing that it can make smaller.
        let mut random = xtask::random::Random::new(1, 1);
        let noise = (0..2 << 20).map(|_| random.below(256) as u8);
        let picture = Arc::new(gif(noise));
        let pictures = FakeServer::start(Behavior::Serving(Arc::clone(&picture)))?;
        let (elsewhere, denied) = (
            FakeServer::start(Behavior::Refusing)?,
            FakeServer::start(Behavior::Refusing)?,
        );
        let (silent, trickling) = (
            FakeServer::start(Behavior::Silent)?,
            FakeServer::start(Behavior::Trickling)?,
        );
        let servers = Servers::start(folder, elsewhere.port)?;
        let fake_server = [&pictures, &elsewhere, &silent, &trickling].map(|one| one.port);
        let mut allowed = Vec::new();
        for port in [servers.ssh, servers.http, servers.https] {
            allowed.extend(["127.0.0.1", "[::1]", "localhost"].map(|host| format!("{host}:{port}")));
        }
        allowed.extend(fake_server.map(|port| format!("127.0.0.1:{port}")));
        let product = GitProduct::start(folder.join("data"), folder.join("tls.pem"), &allowed)?;
        Ok(Self {
            transport: Transport::Ssh,
            project: product.project("Peers")?,
            product,
            repository: BareRepository::create(folder, "none.git")?,
            servers,
            secret: Value::Null,
            process_monitor: ProcessMonitor::start(),
            pictures,
            picture,
            elsewhere,
            silent,
            trickling,
            denied,
            count: 0,
        })
    }

    /// Replaces project, repository and secret by new ones, reached by this transport.
    fn select_transport(&mut self, transport: Transport) -> Result<()> {
        self.transport = transport;
        let name = format!("{transport:?}").to_lowercase();
        self.project = self.product.project(&name)?;
        self.repository = BareRepository::create(&self.servers.folder, &format!("{name}.git"))?;
        self.rotate_secret()
    }

    /// Replaces the secret that the servers accept.
    fn rotate_secret(&mut self) -> Result<()> {
        self.count += 1;
        self.secret = match self.transport {
            Transport::Ssh => {
                let key = self.servers.new_key()?;
                let middle = key.lines().nth(2).context("a short key")?.to_owned();
                self.process_monitor.look_for(middle);
                json!({ "privateKey": key })
            }
            Transport::Https => {
                let token = format!("ghp-token-{}-{}", self.count, std::process::id());
                self.servers.set_token(&token)?;
                self.process_monitor
                    .look_for(BASE64_STANDARD.encode(format!("{ACCOUNT}:{token}")));
                self.process_monitor.look_for(token.clone());
                json!({ "token": token })
            }
        };
        Ok(())
    }

    /// A secret of the same form that the servers refuse.
    fn wrong_secret(&self) -> Result<Value> {
        Ok(match self.transport {
            Transport::Ssh => {
                json!({ "privateKey": servers::create_key(&self.servers.folder.join("stranger"))? })
            }
            Transport::Https => json!({ "token": "ghp-token-of-nobody" }),
        })
    }

    /// URL of a repository by its name, at a host of loopback.
    fn url_for(&self, host: &str, name: &str) -> String {
        let Servers {
            folder,
            ssh,
            https,
            user,
            ..
        } = &self.servers;
        match self.transport {
            Transport::Ssh => format!("ssh://{user}@{host}:{ssh}{}/{name}", folder.display()),
            Transport::Https => format!("https://{host}:{https}/git/{name}"),
        }
    }

    /// URL of the repository.
    fn repository_url(&self) -> String {
        let name = self.repository.path.file_name().unwrap_or_default();
        self.url_for("127.0.0.1", &name.to_string_lossy())
    }

    /// Settings that are entered beside the secret.
    fn settings(&self, repository: String) -> Result<Vec<(&'static str, String)>> {
        let mut settings = vec![
            ("repository", repository),
            ("folder", "content/posts".to_owned()),
            ("imagesFolder", "static/images".to_owned()),
            ("imagesPath", "/images".to_owned()),
            ("baseUrl", "https://example.com/posts".to_owned()),
        ];
        match self.transport {
            Transport::Ssh => settings.push(("hostKey", self.servers.host_key()?)),
            Transport::Https => settings.push(("username", ACCOUNT.to_owned())),
        }
        Ok(settings)
    }

    fn connect_to(&self, repository: String, secret: &Value) -> Result<Result<Value, String>> {
        self.product
            .connect(&self.project, &self.settings(repository)?, secret, true)
    }

    /// Connects the repository, which has to go well.
    fn connect(&self) -> Result<String> {
        match self.connect_to(self.repository_url(), &self.secret)? {
            Ok(_) => text(&self.product.integration(&self.project)?, "/status"),
            Err(said) => bail!("{said}"),
        }
    }

    /// Saves the mapping of fields.
    fn save_mapping(&self) -> Result<()> {
        let map =
            r#"{"title":"title","content":"content","tags":"tags","featuredImage":"image","slug":"slug"}"#;
        let arguments = ["integrations", "map", "git", map];
        self.product.call(&self.project, &arguments).map(drop)
    }

    /// Does `work` in a new project, because another address is another connection.
    fn with_new_project(&mut self, work: impl FnOnce(&Self) -> Result<()>) -> Result<()> {
        let other = self.product.project("Aside")?;
        let own = std::mem::replace(&mut self.project, other);
        let outcome = work(self);
        self.project = own;
        outcome
    }

    /// Tries to connect, which has to fail with the text of a code. Returns the message and the time it took.
    fn expect_refusal(&self, repository: String, secret: &Value, code: &str) -> Result<(String, Duration)> {
        let begun = Instant::now();
        match self.connect_to(repository, secret)? {
            Ok(connected) => bail!("it connects: {connected}"),
            Err(said) => {
                let known = ERROR_TEXTS.iter().find(|(known, _)| *known == code);
                let (_, words) = known.context("no text of the code")?;
                ensure!(said.contains(words), "not {code}: {said}");
                Ok((said, begun.elapsed()))
            }
        }
    }

    /// Creates a post and returns its id.
    fn create_post(&self, title: &str, slug: &str) -> Result<String> {
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
        text(&self.product.call(&self.project, &create)?, "/id")
    }

    /// Replaces the text of a post by another edition.
    fn edit_post(&self, id: &str, edition: &str) -> Result<()> {
        let content = format!("Another text.\n\nEdition {edition}.\n");
        self.product.change(&self.project, id, &["--content", &content])
    }

    /// Publishes a post and returns its error, `null` on success.
    fn publish(&self, id: &str, more: &[&str]) -> Result<Value> {
        let mut arguments = vec!["publish", id];
        arguments.extend(more);
        let job = self.product.start_publishing(&self.project, &arguments)?;
        self.product.wait_for_job(&self.project, id, &job)
    }

    /// Publishes a post live, which has to go well.
    fn publish_live(&self, id: &str) -> Result<()> {
        let error = self.publish(id, &[])?;
        ensure!(error.is_null(), "{error}");
        let post = self.product.post(&self.project, id)?;
        ensure!(post["status"] == "published", "the post is {}", post["status"]);
        Ok(())
    }

    /// Publishes a post, which has to fail with this code. Returns the message of the other side.
    fn expect_failure(&self, id: &str, code: &str) -> Result<String> {
        let error = self.publish(id, &[])?;
        ensure!(error["code"] == code, "not {code}: {error}");
        Ok(error["providerMessage"].as_str().unwrap_or_default().to_owned())
    }

    /// The file of a post, which must be the only one with its slug or its id.
    fn find_only_file(&self, id: &str, slug: &str) -> Result<String> {
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

    /// Fails if a secret was logged or shown, or if a process or a folder of the work is still there.
    fn check_leftovers(&self) -> Result<()> {
        self.process_monitor.check()?;
        let said = self.product.transcript()?;
        ensure!(
            self.process_monitor.find(&said).is_none(),
            "a secret stands in the log or in an answer"
        );
        let begun = Instant::now();
        while !self.product.scratch().is_empty() {
            let left = self.product.scratch();
            ensure!(begun.elapsed() < CLEANUP_TIMEOUT, "{left:?} is left");
            thread::sleep(Duration::from_millis(100));
        }
        loop {
            let left = process_monitor::children_of(self.product.data());
            if left.is_empty() {
                break;
            }
            ensure!(
                begun.elapsed() < CLEANUP_TIMEOUT,
                "still running: {}",
                left.join("; ")
            );
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
