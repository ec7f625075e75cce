//! The git program, held on a short lead: no prompts, no configuration but ours, no hooks, no redirects, one address, and only so
//! long.

use std::{
    ffi::OsStr,
    fs,
    io::Write as _,
    net::IpAddr,
    path::PathBuf,
    process::{Command, Output, Stdio},
    time::Duration,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use tempfile::TempDir;
use tokio::io::AsyncWriteExt as _;

use crate::{
    providers::said,
    publishing::trouble::{Trouble, Why},
};

/// Longest a command may take.
const LONGEST: Duration = Duration::from_secs(90);
/// Largest file that is read as a post.
const LARGEST: usize = 2 << 20;
/// Files of a folder that are looked at.
const MOST_FILES: usize = 20_000;

/// Where a repository is, and how it is reached.
#[derive(Clone, Default)]
pub(super) struct Access {
    pub address: String,
    pub branch: String,
    /// Where a folder for the visit may be made.
    pub scratch: PathBuf,
    /// Host, port, and the address it has to be reached at; `None` for a folder of this machine.
    pub at: Option<(String, u16, IpAddr)>,
    pub username: String,
    pub token: String,
    pub private_key: String,
    pub host_key: String,
}

/// Files to be written in one commit.
#[derive(Clone)]
pub(super) struct Write {
    files: Vec<(String, Option<Vec<u8>>)>,
    message: String,
}

impl Write {
    pub const fn new(message: String) -> Self {
        Self {
            files: Vec::new(),
            message,
        }
    }

    pub fn put(&mut self, path: String, bytes: Vec<u8>) {
        self.files.push((path, Some(bytes)));
    }

    pub fn remove(&mut self, path: String) {
        self.files.push((path, None));
    }
}

/// A repository as it was when it was opened, in a folder of its own that goes with it.
pub(super) struct Repository {
    folder: TempDir,
    access: Access,
    /// The commit of the branch; `None` in a repository without one.
    tip: Option<String>,
}

/// A folder for one visit, below that of the server: what is left in it by a kill goes at the next start.
fn scratch(access: &Access) -> std::io::Result<TempDir> {
    fs::create_dir_all(&access.scratch)?;
    TempDir::with_prefix_in("git-", &access.scratch)
}

/// Our name in commits.
const IDENTITY: [(&str, &str); 4] = [
    ("GIT_AUTHOR_NAME", "Searchwright"),
    ("GIT_AUTHOR_EMAIL", "searchwright@localhost"),
    ("GIT_COMMITTER_NAME", "Searchwright"),
    ("GIT_COMMITTER_EMAIL", "searchwright@localhost"),
];

fn failed(error: impl std::fmt::Display) -> Trouble {
    Trouble::because(Why::Unsupported, format!("git: {error}"))
}

impl Repository {
    /// Fetches the branch.
    pub fn open(access: Access) -> Result<Self, Trouble> {
        let is_branch = !access.branch.is_empty()
            && !access.branch.starts_with('-')
            && access
                .branch
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b'/'));
        if !is_branch {
            return Err(Trouble::because(Why::Invalid, "branch: is no name of a branch"));
        }
        let folder = scratch(&access).map_err(failed)?;
        let mut repository = Self {
            folder,
            access,
            tip: None,
        };
        repository.keep_secrets().map_err(failed)?;
        repository.run(&["init", "--quiet", "--bare", "."], b"")?;
        let named = format!("refs/heads/{}", repository.access.branch);
        let listed = repository.reach(&[
            "ls-remote",
            "--exit-code",
            "--heads",
            "--",
            &repository.access.address,
            &named,
        ])?;
        if listed.is_empty() {
            return Ok(repository);
        }
        let from = format!("+{named}:refs/remotes/there");
        repository.reach(&[
            "fetch",
            "--quiet",
            "--depth=1",
            "--no-tags",
            "--",
            &repository.access.address,
            &from,
        ])?;
        let tip = repository.run(&["rev-parse", "--verify", "refs/remotes/there"], b"")?;
        repository.tip = Some(text(&tip).trim().to_owned());
        Ok(repository)
    }

    /// Whether a push would be let in, without one.
    pub fn may_push(&self) -> Result<(), Trouble> {
        let Some(tip) = &self.tip else { return Ok(()) };
        let to = format!("{tip}:refs/heads/{}", self.access.branch);
        self.reach(&["push", "--quiet", "--dry-run", "--", &self.access.address, &to])
            .map(|_| ())
    }

    /// The Markdown files of a folder, by their names in it.
    pub fn texts(&self, folder: &str) -> Result<Vec<(String, String)>, Trouble> {
        let Some(tip) = &self.tip else {
            return Ok(Vec::new());
        };
        let tree = format!("{tip}:{folder}");
        let Ok(listed) = self.run(&["ls-tree", "-z", &tree], b"") else {
            return Ok(Vec::new());
        };
        let mut texts = Vec::new();
        for entry in listed.split(|b| *b == 0).take(MOST_FILES) {
            // mode, kind and id, then a tab and the name
            let entry = text(entry);
            let Some((head, name)) = entry.split_once('\t') else {
                continue;
            };
            let mut parts = head.split(' ');
            let (mode, _, id) = (parts.next(), parts.next(), parts.next());
            if matches!(mode, Some("100644" | "100755"))
                && name.ends_with(".md")
                && let Some(id) = id
            {
                texts.push((name.to_owned(), id.to_owned()));
            }
        }
        let wanted: String = texts.iter().map(|(_, id)| format!("{id}\n")).collect();
        let read = self.run(&["cat-file", "--batch"], wanted.as_bytes())?;
        let mut rest = read.as_slice();
        let mut out = Vec::with_capacity(texts.len());
        for (name, _) in texts {
            let Some(end) = rest.iter().position(|b| *b == b'\n') else {
                break;
            };
            let head = text(&rest[..end]);
            let size: usize = head.rsplit(' ').next().and_then(|n| n.parse().ok()).unwrap_or(0);
            let body = rest.get(end + 1..end + 1 + size).unwrap_or_default();
            out.push((name, text(&body[..size.min(LARGEST).min(body.len())])));
            rest = rest.get(end + 2 + size..).unwrap_or_default();
        }
        Ok(out)
    }

    /// A file as it is.
    pub fn read(&self, path: &str) -> Result<String, Trouble> {
        let tip = self.tip.as_deref().unwrap_or_default();
        let there = self.run(&["cat-file", "blob", &format!("{tip}:{path}")], b"");
        there
            .map(|bytes| text(&bytes))
            .map_err(|_| Trouble::refused(Why::Missing))
    }

    /// Commits on top of what was fetched, and pushes that and nothing else.
    pub fn push(&self, write: &Write) -> Result<(), Trouble> {
        if let Some(tip) = &self.tip {
            self.run(&["read-tree", tip], b"")?;
        }
        let mut index = Vec::new();
        for (path, bytes) in &write.files {
            // Mode 0 takes a path out.
            let (mode, id) = match bytes {
                Some(bytes) => (
                    "100644",
                    text(&self.run(&["hash-object", "-w", "--stdin"], bytes)?),
                ),
                None => ("0", "0".repeat(40)),
            };
            index.extend(format!("{mode} {}\t{path}\0", id.trim()).into_bytes());
        }
        self.run(&["update-index", "-z", "--index-info"], &index)?;
        let tree = text(&self.run(&["write-tree"], b"")?);
        let mut commit = vec!["commit-tree", tree.trim()];
        if let Some(tip) = &self.tip {
            let same = text(&self.run(&["rev-parse", &format!("{tip}^{{tree}}")], b"")?);
            if same == tree {
                return Ok(());
            }
            commit.extend(["-p", tip]);
        }
        let made = text(&self.run(&commit, write.message.as_bytes())?);
        let to = format!("{}:refs/heads/{}", made.trim(), self.access.branch);
        // Refused unless the branch still is where it was.
        let lease = format!(
            "--force-with-lease=refs/heads/{}:{}",
            self.access.branch,
            self.tip.as_deref().unwrap_or_default()
        );
        self.reach_to_write(&[
            "push",
            "--quiet",
            "--porcelain",
            &lease,
            "--",
            &self.access.address,
            &to,
        ])
    }

    /// What programs that git starts need of secrets, readable by us alone.
    fn keep_secrets(&self) -> std::io::Result<()> {
        for (name, text) in [
            ("key", &self.access.private_key),
            ("known_hosts", &self.access.host_key),
        ] {
            if text.is_empty() {
                continue;
            }
            let mut options = fs::OpenOptions::new();
            options.write(true).create_new(true);
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            let mut file = options.open(self.folder.path().join(name))?;
            // ssh reads no key whose last line does not end.
            file.write_all(text.replace("\r\n", "\n").trim().as_bytes())?;
            file.write_all(b"\n")?;
        }
        Ok(())
    }

    /// The program with nothing of this machine's configuration. Secrets are in its environment, which only we can read.
    fn command<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Command {
        let folder = self.folder.path();
        let mut command = Command::new("git");
        command
            .args(arguments)
            .current_dir(folder)
            .env_clear()
            .envs(IDENTITY)
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", folder)
            .env("LC_ALL", "C")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_ASKPASS", "true")
            .env("GIT_ALLOW_PROTOCOL", "https:http:ssh:file")
            .env("GIT_SSH_VARIANT", "ssh")
            .env("GIT_SSH_COMMAND", self.ssh());
        let mut config = vec![
            ("core.hooksPath".to_owned(), "/dev/null".to_owned()),
            ("safe.directory".to_owned(), "*".to_owned()),
            ("http.followRedirects".to_owned(), "false".to_owned()),
            ("http.lowSpeedLimit".to_owned(), "1".to_owned()),
            ("http.lowSpeedTime".to_owned(), "30".to_owned()),
            ("transfer.fsckObjects".to_owned(), "true".to_owned()),
            ("gc.auto".to_owned(), "0".to_owned()),
        ];
        if let Some((host, port, address)) = &self.access.at {
            let address = match address {
                IpAddr::V4(address) => address.to_string(),
                IpAddr::V6(address) => format!("[{address}]"),
            };
            config.push((
                "http.curloptResolve".to_owned(),
                format!("{host}:{port}:{address}"),
            ));
            config.push(("http.proxy".to_owned(), String::new()));
        }
        if !self.access.token.is_empty() {
            let pair = STANDARD.encode(format!("{}:{}", self.access.username, self.access.token));
            config.push((
                "http.extraHeader".to_owned(),
                format!("Authorization: Basic {pair}"),
            ));
        }
        command.env("GIT_CONFIG_COUNT", config.len().to_string());
        for (at, (key, value)) in config.into_iter().enumerate() {
            command.env(format!("GIT_CONFIG_KEY_{at}"), key);
            command.env(format!("GIT_CONFIG_VALUE_{at}"), value);
        }
        command
    }

    /// How ssh is started: in our folder, where its files are.
    fn ssh(&self) -> String {
        let mut ssh = "ssh -F /dev/null -o BatchMode=yes -o IdentitiesOnly=yes -o IdentityFile=./key -o UserKnownHostsFile=./known_hosts \
             -o GlobalKnownHostsFile=/dev/null -o StrictHostKeyChecking=yes -o ConnectTimeout=10 -o ProxyCommand=none -o PermitLocalCommand=no"
            .to_owned();
        if let Some((host, port, address)) = &self.access.at {
            // The name is of letters, digits, dots and dashes: address.rs takes no other.
            let alias = if *port == 22 {
                host.clone()
            } else {
                format!("[{host}]:{port}")
            };
            ssh += &format!(" -o HostName={address} -o 'HostKeyAlias={alias}'");
        }
        ssh
    }

    /// A command that stays on this machine.
    fn run(&self, arguments: &[&str], input: &[u8]) -> Result<Vec<u8>, Trouble> {
        let done = finish(self.command(arguments), input)?.ok_or_else(|| failed("took too long"))?;
        if done.status.success() {
            Ok(done.stdout)
        } else {
            Err(self.refused(&done, Why::Unsupported))
        }
    }

    /// A command that asks the other side.
    fn reach(&self, arguments: &[&str]) -> Result<Vec<u8>, Trouble> {
        let not_now = |what| Trouble::NotNow { what, after: None };
        let done = finish(self.command(arguments), b"")?.ok_or_else(|| not_now("timeout"))?;
        match done.status.code() {
            Some(0) => Ok(done.stdout),
            // The repository is there and has no such branch.
            Some(2) if arguments.contains(&"--exit-code") => Ok(Vec::new()),
            _ => Err(self.judged(&done).unwrap_or_else(|| not_now("connect"))),
        }
    }

    /// A command that changes the other side: cut off, it may have.
    fn reach_to_write(&self, arguments: &[&str]) -> Result<(), Trouble> {
        let unclear = |what| Trouble::Unclear { what, status: None };
        let done = finish(self.command(arguments), b"")?.ok_or_else(|| unclear("timeout"))?;
        if done.status.success() {
            return Ok(());
        }
        Err(self.judged(&done).unwrap_or_else(|| unclear("broken")))
    }

    /// What the program's words mean, where they leave no doubt.
    fn judged(&self, done: &Output) -> Option<Trouble> {
        let words = format!("{}{}", text(&done.stderr), text(&done.stdout));
        meaning(&words).map(|why| self.refused(done, why))
    }

    fn refused(&self, done: &Output, why: Why) -> Trouble {
        let words = text(&done.stderr);
        let folder = self.folder.path().display().to_string();
        Trouble::Refused {
            why,
            said: said(&words, &[&self.access.token, &folder]),
        }
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Runs it to its end; `None` if that took too long. Called on a thread that may block.
fn finish(command: Command, input: &[u8]) -> Result<Option<Output>, Trouble> {
    let mut command = tokio::process::Command::from(command);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    tokio::runtime::Handle::current().block_on(async {
        let mut child = command.spawn().map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => failed("is not installed on the server"),
            _ => failed(error),
        })?;
        let stdin = child.stdin.take();
        let feed = async {
            if let Some(mut stdin) = stdin {
                // Who does not read what it is given says why on its way out.
                let _ = stdin.write_all(input).await;
            }
        };
        let ended = tokio::time::timeout(LONGEST, async { tokio::join!(feed, child.wait_with_output()).1 });
        match ended.await {
            Ok(done) => done.map(Some).map_err(failed),
            Err(_) => Ok(None),
        }
    })
}

/// What words of git mean. Digits alone mean nothing: they stand in the ids of commits.
fn meaning(words: &str) -> Option<Why> {
    const KNOWN: [(Why, &[&str]); 4] = [
        (
            Why::Credential,
            &[
                "authentication failed",
                "could not read username",
                "permission denied (",
                "returned error: 401",
                "host key verification failed",
            ],
        ),
        (
            Why::Conflict,
            &["stale info", "fetch first", "non-fast-forward", "cannot lock ref"],
        ),
        (
            Why::Permission,
            &[
                "returned error: 403",
                "not allowed",
                "protected branch",
                "pre-receive hook declined",
                "[remote rejected]",
                "permission denied",
            ],
        ),
        (
            Why::Missing,
            &[
                "does not appear to be a git repository",
                "repository not found",
                "returned error: 404",
                "not found",
            ],
        ),
    ];
    let words = words.to_lowercase();
    let says = |any: &[&str]| any.iter().any(|known| words.contains(known));
    KNOWN.into_iter().find(|(_, any)| says(any)).map(|(why, _)| why)
}

#[cfg(test)]
mod tests {
    use super::{Why, meaning};

    #[test]
    fn words_are_read_and_ids_are_not() {
        let declined = "!\t4014030404:refs/heads/main\t[remote rejected] (pre-receive hook declined)";
        for (words, expected) in [
            (declined, Some(Why::Permission)),
            (
                "fatal: unable to access: The requested URL returned error: 401",
                Some(Why::Credential),
            ),
            (
                "git@example.com: Permission denied (publickey).",
                Some(Why::Credential),
            ),
            ("! [rejected] main -> main (stale info)", Some(Why::Conflict)),
            ("remote: Repository not found.", Some(Why::Missing)),
            ("fatal: the remote end hung up unexpectedly 401", None),
        ] {
            assert_eq!(meaning(words), expected, "{words}");
        }
    }
}
