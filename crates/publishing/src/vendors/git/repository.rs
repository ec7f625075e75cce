//! A repository as it is on the other side, and changes of it: one visit, in a folder of its own. No prompts, no configuration but
//! ours, no hooks, no redirects, one address, and only so long.

mod program;
mod words;

use std::{
    collections::BTreeSet,
    fs,
    io::Write as _,
    net::IpAddr,
    path::{Path, PathBuf},
};

use tempfile::TempDir;
use tokio::sync::watch;

use crate::error::{Trouble, Why};

/// Largest file that is read as a post.
const MAX_FILE_BYTES: usize = 2 << 20;
/// Bytes that all files together may have that are read at once.
const MAX_READ_BYTES: usize = 64 << 20;
/// Bytes of files that are in memory at a time: no less than the largest has.
const MAX_PORTION_BYTES: u64 = 8 << 20;
/// Files of a folder that are looked at.
const MAX_FILES: usize = 20_000;
/// Bytes of output of a command that reads no files.
const MAX_OUTPUT: usize = 16 << 20;
/// Bytes that stand before each file in what `cat-file --batch` prints, and after it.
const MAX_HEAD: usize = 100;
/// Name of the other side. What was left out when its branch was fetched is asked of it by that name.
const THERE: &str = "there";

/// Location of a repository, and the credentials to reach it.
#[derive(Clone, Default)]
pub(super) struct Access {
    pub address: String,
    pub branch: String,
    /// Folder in which a temporary folder for the visit is made.
    pub scratch: PathBuf,
    /// Bytes of the repository that are kept in that folder at most.
    pub scratch_bytes: u64,
    /// The call that the visit belongs to: its sender goes when the call ends, and the programs of the visit then end too.
    pub call: Option<watch::Receiver<()>>,
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
        let listed = repository.reach(
            &[
                "ls-remote",
                "--exit-code",
                "--heads",
                "--",
                &repository.access.address,
                &named,
            ],
            b"",
        )?;
        if listed.is_empty() {
            return Ok(repository);
        }
        let from = format!("+{named}:refs/remotes/{THERE}");
        // Pictures and other posts stay there. A server that cannot leave files out sends all of them.
        repository.reach(
            &[
                "fetch",
                "--quiet",
                "--depth=1",
                "--no-tags",
                "--filter=blob:none",
                "--",
                THERE,
                &from,
            ],
            b"",
        )?;
        let tip = repository.run(&["rev-parse", "--verify", &format!("refs/remotes/{THERE}")], b"")?;
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
        let push = ["push", "--quiet", "--dry-run", "--", &self.access.address, &to];
        self.reach(&push, b"").map(|_| ())
    }

    /// Reads the first Markdown files of a folder, by their names in it. Files that no post of ours can be, because they are too
    /// large, are passed over; a folder of too much is an error.
    pub fn read_texts<T>(
        &self,
        folder: &str,
        most: usize,
        mut read: impl FnMut(&str, &str) -> T,
    ) -> Result<Vec<T>, Trouble> {
        let Some(tip) = &self.tip else {
            return Ok(Vec::new());
        };
        let tree = format!("{tip}:{folder}");
        let Ok(listed) = self.run(&["ls-tree", "-z", &tree], b"") else {
            return Ok(Vec::new());
        };
        let mut files = Vec::new();
        for entry in listed.split(|b| *b == 0).take(MAX_FILES) {
            let entry = text(entry);
            if let Some((id, name)) = file(&entry)
                && name.ends_with(".md")
                && files.len() < most
            {
                files.push((name.to_owned(), id.to_owned()));
            }
        }
        let ids: Vec<&str> = files.iter().map(|(_, id)| id.as_str()).collect();
        let sizes = self.sizes(&ids)?;
        let total = sizes.iter().fold(0, |sum: u64, size| sum.saturating_add(*size));
        if total > MAX_READ_BYTES as u64 {
            let why = format!(
                "{}: its Markdown files have {total} bytes together; at most 64 MiB are read",
                if folder.is_empty() {
                    "the repository"
                } else {
                    folder
                }
            );
            return Err(Trouble::because(Why::TooLarge, why));
        }
        let mut wanted = files
            .into_iter()
            .zip(sizes)
            .filter(|(_, size)| *size <= MAX_FILE_BYTES as u64)
            .peekable();
        let mut out = Vec::new();
        // in portions, so that not all of them are in memory at a time
        while wanted.peek().is_some() {
            let (mut portion, mut bytes) = (Vec::new(), 0);
            while let Some((file, size)) = wanted.next_if(|(_, size)| bytes + size <= MAX_PORTION_BYTES) {
                portion.push(file);
                bytes += size;
            }
            self.read_portion(portion, &mut |name, text| out.push(read(name, text)))?;
        }
        Ok(out)
    }

    /// Reads files by their names and ids, of [`MAX_PORTION_BYTES`] together at most.
    fn read_portion(
        &self,
        files: Vec<(String, String)>,
        read: &mut dyn FnMut(&str, &str),
    ) -> Result<(), Trouble> {
        let ids: String = files.iter().map(|(_, id)| format!("{id}\n")).collect();
        let most = MAX_PORTION_BYTES as usize + MAX_HEAD * files.len();
        let printed = self.run_at_most(&["cat-file", "--batch"], ids.as_bytes(), most)?;
        let mut rest = printed.as_slice();
        for (name, _) in files {
            let Some(end) = rest.iter().position(|b| *b == b'\n') else {
                break;
            };
            let head = text(&rest[..end]);
            let size: usize = head.rsplit(' ').next().and_then(|n| n.parse().ok()).unwrap_or(0);
            let body = rest.get(end + 1..end + 1 + size).unwrap_or_default();
            read(&name, &String::from_utf8_lossy(body));
            rest = rest.get(end + 2 + size..).unwrap_or_default();
        }
        Ok(())
    }

    /// Sizes of files, which are fetched first where they were left out. Nothing is read.
    fn sizes(&self, ids: &[&str]) -> Result<Vec<u64>, Trouble> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let distinct: BTreeSet<&str> = ids.iter().copied().collect();
        let wanted: String = distinct.iter().map(|id| format!("{id}\n")).collect();
        // Asks for nothing where all of them are here.
        self.reach(
            &[
                "fetch",
                "--quiet",
                "--no-tags",
                "--no-write-fetch-head",
                "--recurse-submodules=no",
                "--filter=blob:none",
                "--stdin",
                THERE,
            ],
            wanted.as_bytes(),
        )?;
        let asked: String = ids.iter().map(|id| format!("{id}\n")).collect();
        let said = text(&self.run(&["cat-file", "--batch-check=%(objectsize)"], asked.as_bytes())?);
        let sizes: Option<Vec<u64>> = said.lines().map(|line| line.parse().ok()).collect();
        sizes
            .filter(|sizes| sizes.len() == ids.len())
            .ok_or_else(|| Trouble::because(Why::Unreadable, "git: the other side does not send its files"))
    }

    /// A file as it is; `None` where there is none.
    pub fn read(&self, path: &str) -> Result<Option<Vec<u8>>, Trouble> {
        let Some(tip) = &self.tip else { return Ok(None) };
        let listed = text(&self.run(&["ls-tree", "-z", "--", tip, path], b"")?);
        if listed.is_empty() {
            return Ok(None);
        }
        let Some((id, _)) = file(&listed) else {
            return Err(Trouble::because(Why::Conflict, format!("{path}: is no file")));
        };
        let size = self.sizes(&[id])?.first().copied().unwrap_or_default();
        if size > MAX_FILE_BYTES as u64 {
            let why = format!("{path}: has {size} bytes; files of at most 2 MiB are read");
            return Err(Trouble::because(Why::TooLarge, why));
        }
        self.run(&["cat-file", "blob", id], b"").map(Some)
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
        let tree = text(&self.run(&["write-tree", "--missing-ok"], b"")?);
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
            // What a file was before is not here to send the difference to it.
            "--no-thin",
            &lease,
            "--",
            &self.access.address,
            &to,
        ])
    }

    /// Bytes of the repository in the folder of the visit.
    fn used(&self) -> u64 {
        fn sum_sizes(folder: &Path) -> u64 {
            // What goes while it is looked at has no size.
            let entries = fs::read_dir(folder).into_iter().flatten().flatten();
            entries
                .map(|entry| match entry.metadata() {
                    Ok(metadata) if metadata.is_dir() => sum_sizes(&entry.path()),
                    Ok(metadata) => metadata.len(),
                    Err(_) => 0,
                })
                .sum()
        }
        sum_sizes(&self.folder.path().join("objects"))
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

/// Id and name of a file in a line of `ls-tree`: mode, kind and id, then a tab and the name. `None` of what is no file.
fn file(entry: &str) -> Option<(&str, &str)> {
    let (head, name) = entry.trim_end_matches('\0').split_once('\t')?;
    let mut parts = head.split(' ');
    let is_file = matches!(parts.next(), Some("100644" | "100755"));
    parts.nth(1).filter(|_| is_file).map(|id| (id, name))
}

/// Bytes as text.
pub(super) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
