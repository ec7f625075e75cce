//! The git program: how it is started, on a short lead, and what comes of it.

use std::{
    ffi::OsStr,
    net::{IpAddr, Ipv4Addr},
    process::{Command, Output, Stdio},
    time::Duration,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use searchwright_outbound::excerpt;
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _},
    sync::watch,
};

use super::{
    MAX_OUTPUT, Repository, THERE, failed, text,
    words::{meaning, obstacle},
};
use crate::error::{Cause, Trouble, Why};

/// Longest a command may take.
const MAX_DURATION: Duration = Duration::from_secs(90);
/// Longest that a killed program may take to be gone.
const MAX_DYING: Duration = Duration::from_secs(5);
/// Interval at which it is asked how much a program has written.
const LOOK: Duration = Duration::from_millis(100);
/// Bytes of messages that are kept.
const MAX_WORDS: usize = 64 << 10;

/// Reason for which a program did not come to its own end.
enum Cut {
    /// It was never started.
    NotStarted(Trouble),
    /// It said or wrote more than it may.
    TooMuch(Trouble),
    /// Its time was up, or nobody waits for it any more.
    Late,
}

/// Our name in commits.
const IDENTITY: [(&str, &str); 4] = [
    ("GIT_AUTHOR_NAME", "Searchwright"),
    ("GIT_AUTHOR_EMAIL", "searchwright@localhost"),
    ("GIT_COMMITTER_NAME", "Searchwright"),
    ("GIT_COMMITTER_EMAIL", "searchwright@localhost"),
];

impl Repository {
    /// A program with nothing of this machine's configuration. Secrets are in its environment, which only we can read.
    fn command<S: AsRef<OsStr>>(&self, program: &str, arguments: &[S]) -> Command {
        let folder = self.folder.path();
        let mut command = Command::new(program);
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
            // What was left out is fetched when we say so.
            .env("GIT_NO_LAZY_FETCH", "1")
            // No file of the other side is taken into memory as a whole that unpacks to more.
            .env("GIT_ALLOC_LIMIT", "128m")
            .env("GIT_ASKPASS", "true")
            .env("GIT_ALLOW_PROTOCOL", "https:http:ssh:file")
            .env("GIT_SSH_VARIANT", "ssh")
            .env("GIT_SSH_COMMAND", self.ssh());
        // What the rest of the server trusts, git trusts too: an operator's own authority.
        for (name, ours) in [
            ("GIT_SSL_CAINFO", "SSL_CERT_FILE"),
            ("GIT_SSL_CAPATH", "SSL_CERT_DIR"),
        ] {
            let place = std::env::var_os(ours).and_then(|place| std::path::absolute(place).ok());
            if let Some(place) = place.filter(|place| place.exists()) {
                command.env(name, place);
            }
        }
        let mut config = vec![
            ("core.hooksPath".to_owned(), "/dev/null".to_owned()),
            ("safe.directory".to_owned(), "*".to_owned()),
            ("http.followRedirects".to_owned(), "false".to_owned()),
            ("http.lowSpeedLimit".to_owned(), "1".to_owned()),
            ("http.lowSpeedTime".to_owned(), "30".to_owned()),
            ("transfer.fsckObjects".to_owned(), "true".to_owned()),
            ("gc.auto".to_owned(), "0".to_owned()),
            // Everything that comes stays packed, in one file for each time: its size is bounded.
            ("fetch.unpackLimit".to_owned(), "1".to_owned()),
            // Larger files go through in pieces, and are not compared with others.
            ("core.bigFileThreshold".to_owned(), "4m".to_owned()),
            ("pack.threads".to_owned(), "2".to_owned()),
            ("fetch.negotiationAlgorithm".to_owned(), "noop".to_owned()),
            (format!("remote.{THERE}.url"), self.access.address.clone()),
            (format!("remote.{THERE}.promisor"), "true".to_owned()),
        ];
        if let Some((host, port, address)) = &self.access.at {
            // An address is reached as it is, and curl reads none of IPv6 as a name.
            if !host.starts_with('[') && host.parse::<Ipv4Addr>().is_err() {
                let address = match address {
                    IpAddr::V4(address) => address.to_string(),
                    IpAddr::V6(address) => format!("[{address}]"),
                };
                config.push((
                    "http.curloptResolve".to_owned(),
                    format!("{host}:{port}:{address}"),
                ));
            }
            config.push(("http.proxy".to_owned(), String::new()));
        }
        if !self.access.token.is_empty() {
            config.push((
                "http.extraHeader".to_owned(),
                format!("Authorization: Basic {}", self.pair()),
            ));
        }
        command.env("GIT_CONFIG_COUNT", config.len().to_string());
        for (at, (key, value)) in config.into_iter().enumerate() {
            command.env(format!("GIT_CONFIG_KEY_{at}"), key);
            command.env(format!("GIT_CONFIG_VALUE_{at}"), value);
        }
        command
    }

    /// User name and token as they are sent.
    fn pair(&self) -> String {
        STANDARD.encode(format!("{}:{}", self.access.username, self.access.token))
    }

    /// Command with which git starts ssh, in our folder, where the files of ssh are.
    fn ssh(&self) -> String {
        let mut ssh = "ssh -F /dev/null -o BatchMode=yes -o IdentitiesOnly=yes -o IdentityFile=./key -o UserKnownHostsFile=./known_hosts \
             -o GlobalKnownHostsFile=/dev/null -o StrictHostKeyChecking=yes -o ConnectTimeout=10 -o ProxyCommand=none -o PermitLocalCommand=no"
            .to_owned();
        if let Some((host, port, address)) = &self.access.at {
            // The name is of letters, digits, dots and dashes: address.rs takes no other. An address of IPv6 has its brackets already.
            let plain = host.trim_matches(['[', ']']);
            let alias = if *port == 22 {
                plain.to_owned()
            } else {
                format!("[{plain}]:{port}")
            };
            ssh += &format!(" -o HostName={address} -o 'HostKeyAlias={alias}'");
        }
        ssh
    }

    /// A command that stays on this machine.
    pub(super) fn run(&self, arguments: &[&str], input: &[u8]) -> Result<Vec<u8>, Trouble> {
        self.run_at_most(arguments, input, MAX_OUTPUT)
    }

    /// A command that stays on this machine, and prints at most so many bytes.
    pub(super) fn run_at_most(
        &self,
        arguments: &[&str],
        input: &[u8],
        most: usize,
    ) -> Result<Vec<u8>, Trouble> {
        let done = self.finish(arguments, input, most).map_err(|cut| match cut {
            Cut::NotStarted(trouble) | Cut::TooMuch(trouble) => trouble,
            Cut::Late => failed("took too long"),
        })?;
        if done.status.success() {
            Ok(done.stdout)
        } else {
            Err(self.refused(&done, Why::Unsupported))
        }
    }

    /// A command that asks the other side.
    pub(super) fn reach(&self, arguments: &[&str], input: &[u8]) -> Result<Vec<u8>, Trouble> {
        let done = self
            .finish(arguments, input, MAX_OUTPUT)
            .map_err(|cut| match cut {
                Cut::NotStarted(trouble) | Cut::TooMuch(trouble) => trouble,
                Cut::Late => Trouble::not_now(Cause::Timeout),
            })?;
        match done.status.code() {
            Some(0) => Ok(done.stdout),
            // The repository is there and has no such branch.
            Some(2) if arguments.contains(&"--exit-code") => Ok(Vec::new()),
            _ => Err(self
                .judged(&done)
                .unwrap_or_else(|| Trouble::not_now(obstacle(&text(&done.stderr))))),
        }
    }

    /// A command that changes the other side: cut off, it may have.
    pub(super) fn reach_to_write(&self, arguments: &[&str]) -> Result<(), Trouble> {
        let unclear = |cause| Trouble::Unclear { cause, status: None };
        let done = self.finish(arguments, b"", MAX_OUTPUT).map_err(|cut| match cut {
            Cut::NotStarted(trouble) => trouble,
            Cut::TooMuch(_) => unclear(Cause::Broken),
            Cut::Late => unclear(Cause::Timeout),
        })?;
        if done.status.success() {
            return Ok(());
        }
        Err(self.judged(&done).unwrap_or_else(|| unclear(Cause::Broken)))
    }

    /// Turns the program's output into an error, if the output leaves no doubt.
    fn judged(&self, done: &Output) -> Option<Trouble> {
        let words = format!("{}{}", text(&done.stderr), text(&done.stdout));
        meaning(&words).map(|why| self.refused(done, why))
    }

    fn refused(&self, done: &Output, why: Why) -> Trouble {
        let words = text(&done.stderr);
        let folder = self.folder.path().display().to_string();
        Trouble::Refused {
            why,
            said: excerpt(&words, &[&self.access.token, &self.pair(), &folder]),
        }
    }

    /// Runs the program to its end, which comes at the latest when the call is over that it runs for. Called on a thread that may
    /// block.
    fn finish(&self, arguments: &[&str], input: &[u8], most: usize) -> Result<Output, Cut> {
        let mut command = tokio::process::Command::from(self.limited(arguments));
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        // A group of its own: git starts ssh and others, which a kill of git alone leaves behind.
        #[cfg(unix)]
        command.process_group(0);
        let done = tokio::runtime::Handle::current().block_on(async {
            let call = &self.access.call;
            if call.as_ref().is_some_and(|call| call.has_changed().is_err()) {
                return Err(Cut::Late);
            }
            let call = is_over(call.clone());
            tokio::pin!(call);
            let mut child = command.spawn().map_err(|error| {
                Cut::NotStarted(match error.kind() {
                    std::io::ErrorKind::NotFound => failed("is not installed on the server"),
                    _ => failed(error),
                })
            })?;
            let group = child.id();
            let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
            let feed = async {
                if let Some(mut stdin) = stdin {
                    // Who does not read what it is given says why on its way out.
                    let _ = stdin.write_all(input).await;
                }
                Ok(())
            };
            let mut end = Box::pin(async {
                let (stdout, stderr, ()) =
                    tokio::try_join!(whole(stdout, most), beginning(stderr, MAX_WORDS), feed)?;
                let status = child.wait().await.map_err(|error| Cut::TooMuch(failed(error)))?;
                Ok(Output {
                    status,
                    stdout,
                    stderr,
                })
            });
            let late = tokio::time::sleep(MAX_DURATION);
            tokio::pin!(late);
            let mut look = tokio::time::interval(LOOK);
            let cut = loop {
                tokio::select! {
                    biased;
                    done = &mut end => match done {
                        Ok(done) => return Ok(done),
                        Err(cut) => break cut,
                    },
                    () = &mut call => break Cut::Late,
                    () = &mut late => break Cut::Late,
                    _ = look.tick() => if self.used() > self.access.scratch_bytes {
                        break Cut::TooMuch(self.too_large());
                    },
                }
            };
            drop(end);
            if let Some(group) = group {
                end_group(group);
            }
            // The folder is removed next: nobody may write to it any more.
            let _ = tokio::time::timeout(MAX_DYING, child.wait()).await;
            Err(cut)
        })?;
        // A file that reaches its limit ends the program that writes it, which another one reports in words of its own.
        if !done.status.success() && self.used() + 4096 > self.access.scratch_bytes {
            return Err(Cut::TooMuch(self.too_large()));
        }
        Ok(done)
    }

    /// The program, unable to write a file that is larger than the visit may keep.
    fn limited(&self, arguments: &[&str]) -> Command {
        // The first command tells whether there is a git.
        if cfg!(not(unix)) || arguments == ["version"] {
            return self.command("git", arguments);
        }
        // In blocks of 512 bytes. What is allowed less already stays so.
        let blocks = self.access.scratch_bytes.saturating_sub(self.used()) / 512;
        let blocks = blocks.max(1).to_string();
        let script = "(ulimit -f \"$0\") 2>/dev/null && ulimit -f \"$0\"; exec git \"$@\"";
        let mut all = vec!["-c", script, blocks.as_str()];
        all.extend(arguments);
        self.command("sh", &all)
    }

    fn too_large(&self) -> Trouble {
        let why = format!(
            "git: what has to be fetched of the branch is more than {} MiB, the most that is kept here",
            self.access.scratch_bytes >> 20
        );
        Trouble::because(Why::TooLarge, why)
    }
}

/// Ends when a call does.
async fn is_over(call: Option<watch::Receiver<()>>) {
    match call {
        Some(mut call) => while call.changed().await.is_ok() {},
        None => std::future::pending().await,
    }
}

/// All that a program prints. More than so many bytes are an error.
async fn whole(pipe: Option<impl AsyncRead + Unpin>, most: usize) -> Result<Vec<u8>, Cut> {
    let mut bytes = Vec::new();
    if let Some(pipe) = pipe {
        let mut pipe = pipe.take(most as u64 + 1);
        let read = pipe.read_to_end(&mut bytes).await;
        read.map_err(|error| Cut::TooMuch(failed(error)))?;
    }
    if bytes.len() > most {
        let why = format!("git: prints more than {most} bytes");
        return Err(Cut::TooMuch(Trouble::because(Why::TooLarge, why)));
    }
    Ok(bytes)
}

/// The beginning of what a program prints; the rest is read and dropped, so that it does not wait for us.
async fn beginning(pipe: Option<impl AsyncRead + Unpin>, most: usize) -> Result<Vec<u8>, Cut> {
    let mut bytes = Vec::new();
    if let Some(mut pipe) = pipe {
        let read = async {
            (&mut pipe).take(most as u64).read_to_end(&mut bytes).await?;
            tokio::io::copy(&mut pipe, &mut tokio::io::sink()).await
        };
        read.await.map_err(|error| Cut::TooMuch(failed(error)))?;
    }
    Ok(bytes)
}

/// Kills a program and all that it started, while it still is there.
fn end_group(group: u32) {
    let mut kill = Command::new("sh");
    kill.args(["-c", "kill -s KILL -- \"-$0\"", &group.to_string()]);
    // Where that fails, the program itself is killed when it is dropped.
    let _ = kill
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
}

#[cfg(all(test, unix))]
mod tests {
    use std::{
        path::PathBuf,
        process::{Command, Stdio},
    };

    use super::{
        super::{Access, Repository},
        end_group,
    };

    #[test]
    fn a_host_is_known_by_the_name_that_its_key_was_asked_by() {
        for (host, port, alias, resolves) in [
            ("example.com", 22, "example.com", true),
            ("example.com", 2222, "[example.com]:2222", true),
            ("127.0.0.1", 2222, "[127.0.0.1]:2222", false),
            ("[::1]", 22, "::1", false),
            ("[::1]", 2222, "[::1]:2222", false),
        ] {
            let access = Access {
                at: Some((host.to_owned(), port, "::1".parse().unwrap())),
                ..Access::default()
            };
            let repository = Repository {
                folder: tempfile::tempdir().unwrap(),
                access,
                tip: None,
            };
            let ssh = repository.ssh();
            assert!(
                ssh.ends_with(&format!("-o HostName=::1 -o 'HostKeyAlias={alias}'")),
                "{ssh}"
            );
            let command = repository.command("git", &["version"]);
            let has = command
                .get_envs()
                .any(|(_, value)| value.is_some_and(|value| value == "http.curloptResolve"));
            assert_eq!(has, resolves, "{host}");
        }
    }

    #[test]
    fn git_trusts_what_the_server_trusts() {
        let repository = Repository {
            folder: tempfile::tempdir().unwrap(),
            access: Access::default(),
            tip: None,
        };
        let command = repository.command("git", &["version"]);
        let file = std::env::var_os("SSL_CERT_FILE").map(PathBuf::from);
        let set = command.get_envs().find(|(name, _)| *name == "GIT_SSL_CAINFO");
        let set = set.and_then(|(_, value)| value).map(PathBuf::from);
        assert_eq!(set, file.filter(|file| file.exists()));
    }

    #[test]
    fn what_a_program_started_ends_with_it() {
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 60 & wait"]).stdout(Stdio::piped());
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let child = command.spawn().unwrap();
        let begun = std::time::Instant::now();
        end_group(child.id());
        // Its output ends with the last that holds it.
        child.wait_with_output().unwrap();
        assert!(begun.elapsed().as_secs() < 30);
    }
}
