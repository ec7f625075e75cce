//! A repository as it is on the other side, and changes of it: one visit, in a folder of its own. No prompts, no configuration but
//! ours, no hooks, no redirects, one address, and only so long.

mod program;
mod words;

use std::{fs, io::Write as _, net::IpAddr, path::PathBuf};

use tempfile::TempDir;

use crate::error::{Trouble, Why};

/// Largest file that is read as a post.
const MAX_FILE_BYTES: usize = 2 << 20;
/// Files of a folder that are looked at.
const MAX_FILES: usize = 20_000;

/// Location of a repository, and the credentials to reach it.
#[derive(Clone, Default)]
pub(super) struct Access {
    pub address: String,
    pub branch: String,
    /// Folder in which a temporary folder for the visit is made.
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
        words::new_enough(&text(&repository.run(&["version"], b"")?))?;
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
        let tip = match &self.tip {
            Some(tip) => tip.clone(),
            None => {
                let tree = text(&self.run(&["mktree"], b"")?);
                text(&self.run(&["commit-tree", tree.trim()], b"")?)
            }
        };
        let to = format!("{}:refs/heads/{}", tip.trim(), self.access.branch);
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
        for entry in listed.split(|b| *b == 0).take(MAX_FILES) {
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
            out.push((name, as_text(body)));
            rest = rest.get(end + 2 + size..).unwrap_or_default();
        }
        Ok(out)
    }

    /// A file as it is; `None` where there is none.
    pub fn read(&self, path: &str) -> Result<Option<Vec<u8>>, Trouble> {
        let Some(tip) = &self.tip else { return Ok(None) };
        if self.run(&["ls-tree", "-z", "--", tip, path], b"")?.is_empty() {
            return Ok(None);
        }
        self.run(&["cat-file", "blob", &format!("{tip}:{path}")], b"")
            .map(Some)
    }

    /// Commits on top of what was fetched, and pushes that and nothing else. [`Why::Conflict`] where somebody pushed meanwhile: then
    /// nothing was pushed, for certain.
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

    /// Writes the key and the known hosts for the programs that git starts, readable by us alone.
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
}

/// A file as the text of a post.
pub(super) fn as_text(bytes: &[u8]) -> String {
    text(&bytes[..bytes.len().min(MAX_FILE_BYTES)])
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
