//! A server that has nothing to do asks nobody: its system calls are watched while it is idle, with everything on that is on by
//! default, and none reaches another machine, not even for a name. At the end it is given something to do, and that is seen.

use std::{
    fs,
    io::Write,
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use xtask::{
    packages,
    process::{Running, free_port, output, program},
};

use crate::publish::{
    cms::text,
    http::Message,
    installation::{empty_folder, peer_folder},
};

/// Time for which the server has nothing to do. All that repeats by itself does so within it, but for daily backups, of which the
/// first is made at the start.
const IDLE: Duration = Duration::from_secs(60);
/// Time until the server answers; under strace everything takes longer.
const START_TIMEOUT: Duration = Duration::from_secs(120);
/// Time until a crawl has begun.
const CRAWL_TIMEOUT: Duration = Duration::from_secs(60);
/// System calls that can send something somewhere.
const CALLS: &str = "trace=connect,sendto,sendmsg,sendmmsg";
const PASSWORD: &str = "idle as a painted ship 1797";

/// The program under strace.
struct WatchedServer {
    data: PathBuf,
    /// `host:port` of the API.
    address: String,
    running: Running,
}

/// Watches this program while it is idle; what was seen, in a sentence.
pub(crate) fn check(program: &Path) -> Result<String> {
    // a website that answers nothing: what counts is that it is asked
    let website = TcpListener::bind(("127.0.0.1", 0))?;
    let port = website.local_addr()?.port();
    thread::spawn(move || website.incoming().for_each(drop));
    let data = empty_folder(peer_folder("product")?.join("idle"))?;
    let operator = Operator { program, data: &data };
    let domain = format!("http://127.0.0.1:{port}");
    let project = operator.run(&["project", "create", "--name", "Idle", "--domain", &domain], "")?;
    let project = text(&project, "/id")?;
    let key = operator.run(&["key", "create", "--project", &project, "--name", "idle"], "")?;
    let key = text(&key, "/key")?;
    let person = [
        "user",
        "create",
        "--email",
        "ann@example.com",
        "--name",
        "Ann",
        "--password-stdin",
    ];
    operator.run(&person, PASSWORD)?;

    let server = WatchedServer::start(program, &data, port)?;
    server.open_dashboard(&project)?;
    thread::sleep(IDLE);
    let backups = fs::read_dir(data.join("backups")).map(Iterator::count);
    ensure!(
        backups.unwrap_or(0) > 0,
        "the server made no backup, so not everything was on"
    );
    let calls = server.calls()?;
    let reaching: Vec<&String> = calls.iter().filter(|call| reaches_out(call)).collect();
    ensure!(
        reaching.is_empty(),
        "an idle server reaches out in {} calls: {:#?}",
        reaching.len(),
        &reaching[..reaching.len().min(10)]
    );

    // the same watch sees what a server does that has been asked to
    server.start_audit(&project, &key)?;
    let asked = format!("sin_port=htons({port})");
    let begun = Instant::now();
    while !server
        .calls()?
        .iter()
        .any(|call| reaches_out(call) && call.contains(&asked))
    {
        ensure!(
            begun.elapsed() < CRAWL_TIMEOUT,
            "the crawl of {domain} was not seen"
        );
        thread::sleep(Duration::from_millis(200));
    }
    server.stop()?;
    Ok(format!(
        "idle for {} s with a project, all workers, a backup and an open dashboard, the server connected to nothing and asked for no name \
         ({} calls could have); the crawl that followed was seen",
        IDLE.as_secs(),
        calls.len(),
    ))
}

/// True for a call that names an address of a network, or asks the kernel about networks; answers to clients name none, and
/// sockets that are files stay on the machine.
fn reaches_out(call: &str) -> bool {
    call.contains("sa_family=") && !call.contains("sa_family=AF_UNIX")
}

/// Commands on the data folder.
struct Operator<'a> {
    program: &'a Path,
    data: &'a Path,
}

impl Operator<'_> {
    fn run(&self, arguments: &[&str], input: &str) -> Result<Value> {
        let mut command = Command::new(self.program);
        command.arg("admin").args(arguments).arg("--json");
        command
            .env("SEARCHWRIGHT_DATA_DIR", self.data)
            .env_remove("DATABASE_URL");
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn()?;
        child
            .stdin
            .take()
            .context("no input")?
            .write_all(input.as_bytes())?;
        let ran = child.wait_with_output()?;
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        ensure!(ran.status.success(), "{}: {said}", arguments.join(" "));
        Ok(serde_json::from_slice(&ran.stdout)?)
    }
}

impl WatchedServer {
    fn start(binary: &Path, data: &Path, port: u16) -> Result<Self> {
        let address = format!("127.0.0.1:{}", free_port()?);
        let mut command = program(packages::ensure("strace", "strace")?, None);
        command
            .args(["-f", "-qq", "-s", "64", "-e", CALLS, "-o"])
            .arg(data.join("calls"));
        // the server can be ended by its own id, also where strace cannot
        command
            .args(["sh", "-c", "echo $$ > \"$1\"; shift; exec \"$@\"", "sh"])
            .arg(data.join("id"));
        command.arg(binary).arg("serve").arg("--data-dir").arg(data);
        command.args(["--listen", &address]);
        command.args(["--mcp-listen", &format!("127.0.0.1:{}", free_port()?)]);
        command.args(["--allow-outbound", &format!("crawl=127.0.0.1:{port}")]);
        command.env_remove("DATABASE_URL");
        command
            .stdout(Stdio::null())
            .stderr(fs::File::create(data.join("server.log"))?);
        let mut running = Running::start("searchwright serve", &mut command)?;
        let started = running.wait_until(START_TIMEOUT, || {
            let answer = request("GET /readyz HTTP/1.1", &[], "").send(&address);
            answer.is_ok_and(|answer| answer.status() == 200)
        });
        let server = Self {
            data: data.to_owned(),
            address,
            running,
        };
        started.map(|()| server)
    }

    /// Signs a person in and shows the pages that people begin with.
    fn open_dashboard(&self, project: &str) -> Result<()> {
        let form = format!(
            "email=ann%40example.com&password={}&next=%2Fprojects",
            PASSWORD.replace(' ', "+")
        );
        let headers = [
            ("Content-Type", "application/x-www-form-urlencoded"),
            ("Sec-Fetch-Site", "same-origin"),
        ];
        let signed_in = request("POST /login HTTP/1.1", &headers, &form).send(&self.address)?;
        let cookie = signed_in.header("set-cookie").context("nobody was signed in")?;
        let cookie = cookie.split(';').next().unwrap_or_default();
        for page in [
            "/projects".to_owned(),
            format!("/projects/{project}"),
            "/account".to_owned(),
        ] {
            let start = format!("GET {page} HTTP/1.1");
            let shown = request(&start, &[("Cookie", cookie)], "").send(&self.address)?;
            ensure!(shown.status() == 200, "{page}: {}", shown.start);
        }
        Ok(())
    }

    fn start_audit(&self, project: &str, key: &str) -> Result<()> {
        let start = format!("POST /v1/projects/{project}/audits HTTP/1.1");
        let bearer = format!("Bearer {key}");
        let headers = [
            ("Authorization", bearer.as_str()),
            ("Content-Type", "application/json"),
        ];
        let started = request(&start, &headers, "{}").send(&self.address)?;
        ensure!(started.status() == 202, "no audit was started: {}", started.start);
        Ok(())
    }

    /// Calls that were made until now.
    fn calls(&self) -> Result<Vec<String>> {
        let bytes = fs::read(self.data.join("calls"))?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        Ok(text.lines().map(str::to_owned).collect())
    }

    fn stop(mut self) -> Result<()> {
        self.ask_to_end()?;
        let begun = Instant::now();
        while self.running.check().is_ok() {
            if begun.elapsed() > START_TIMEOUT {
                bail!("the server does not end");
            }
            thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }

    fn ask_to_end(&self) -> Result<()> {
        let id = fs::read_to_string(self.data.join("id"))?;
        output("kill", Command::new("kill").args(["-TERM", id.trim()])).map(drop)
    }
}

impl Drop for WatchedServer {
    fn drop(&mut self) {
        // strace ends with the server, and ignores what would end it alone
        if self.running.check().is_ok() {
            drop(self.ask_to_end());
        }
    }
}

/// A request to a server on this machine.
fn request(start: &str, headers: &[(&str, &str)], body: &str) -> Message {
    let mut message = Message {
        start: start.to_owned(),
        headers: vec![("Host".to_owned(), "localhost".to_owned())],
        body: body.as_bytes().to_vec(),
    };
    for (name, value) in headers {
        message.headers.push(((*name).to_owned(), (*value).to_owned()));
    }
    message
}

#[cfg(test)]
mod tests {
    use super::reaches_out;

    #[test]
    fn calls_that_name_an_address_reach_out() {
        for call in [
            "7 connect(9, {sa_family=AF_INET, sin_port=htons(443), sin_addr=inet_addr(\"192.0.2.1\")}, 16) = -1 EINPROGRESS (Operation now in progress)",
            "7 connect(9, {sa_family=AF_INET6, sin6_port=htons(53), inet_pton(AF_INET6, \"::1\", &sin6_addr)}, 28) = 0",
            "7 sendto(9, \"\\1\\0\", 2, MSG_NOSIGNAL, {sa_family=AF_INET, sin_port=htons(53), sin_addr=inet_addr(\"127.0.0.53\")}, 16) = 2",
            "7 sendto(9, \"\", 20, 0, {sa_family=AF_NETLINK, nl_pid=0, nl_groups=00000000}, 12) = 20",
        ] {
            assert!(reaches_out(call), "{call}");
        }
        for call in [
            "7 sendto(9, \"HTTP/1.1 200 OK\\r\\n\", 17, MSG_NOSIGNAL, NULL, 0) = 17",
            "7 connect(9, {sa_family=AF_UNIX, sun_path=\"/run/systemd/notify\"}, 22) = 0",
            "7 --- SIGCHLD {si_signo=SIGCHLD} ---",
        ] {
            assert!(!reaches_out(call), "{call}");
        }
    }
}
