//! A private PostgreSQL: made of the system's binaries, on a free port of loopback, in a folder of
//! its own, gone afterwards. Never the PostgreSQL that may already run on the machine.
//!
//! It sorts text by ICU's English rules, as most real databases do, so that a query which relies
//! on byte order fails here and not at somebody's place.

use std::{
    fs::{self, File},
    io::Read,
    os::unix::fs::{PermissionsExt, chown},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};

use crate::{
    packages,
    process::{Running, free_port, lasting, program, quiet},
};

/// Oldest major version the product supports.
const MIN_VERSION: u32 = 15;

/// User that owns the cluster when we are root, because the server refuses to run as root.
const SERVER_USER: &str = "postgres";

/// Longest time that an immediate shutdown takes.
const CRASH_LIMIT: Duration = Duration::from_secs(30);

/// Folder of PostgreSQL's programs.
#[derive(Debug)]
pub struct Binaries(PathBuf);

/// A running server; dropping it stops it and removes its folder.
#[derive(Debug)]
pub struct Postgres {
    server: Mutex<Running>,
    cluster: Cluster,
}

impl Postgres {
    /// Makes a cluster and waits until it answers.
    pub fn start(binaries: Binaries) -> Result<Self> {
        let cluster = Cluster::create(binaries, &format!("postgres-{}", std::process::id()))?;
        match cluster.run() {
            Ok(server) => Ok(Self {
                server: Mutex::new(server),
                cluster,
            }),
            Err(error) => {
                let said = fs::read_to_string(cluster.folder.join("log")).unwrap_or_default();
                cluster.remove();
                Err(error.context(said))
            }
        }
    }

    /// Ends every connection at once, without a checkpoint (SIGQUIT, the immediate shutdown), and starts again: it recovers from its log.
    pub fn crash(&self) -> Result<()> {
        let mut server = self.server();
        server.signal("QUIT");
        let begun = Instant::now();
        while server.check().is_ok() {
            if begun.elapsed() > CRASH_LIMIT {
                bail!("postgres does not end");
            }
            thread::sleep(Duration::from_millis(10));
        }
        *server = self.cluster.run()?;
        Ok(())
    }

    fn server(&self) -> MutexGuard<'_, Running> {
        self.server.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// `postgres://…` of the superuser and the database `postgres`.
    pub fn url(&self) -> String {
        self.cluster.url()
    }

    /// Process id of the postmaster.
    pub fn id(&self) -> u32 {
        self.server().id()
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.server().stop();
        self.cluster.remove();
    }
}

/// Starts a cluster for a person to look into, which stays until [`stop_kept`]; returns its URL.
pub fn start_kept() -> Result<String> {
    let cluster = Cluster::create(Binaries::find_or_install()?, "postgres-kept")?;
    let mut command = lasting(cluster.program("pg_ctl"), user());
    command.arg("-D").arg(cluster.data());
    command.arg("-l").arg(cluster.folder.join("log"));
    command
        .args(["-w", "-s", "-o"])
        .arg(cluster.settings().join(" "))
        .arg("start");
    let status = command
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()?;
    if !status.success() {
        let said = fs::read_to_string(cluster.folder.join("log")).unwrap_or_default();
        cluster.remove();
        bail!("pg_ctl start failed with {status}\n{said}");
    }
    Ok(cluster.url())
}

/// Stops and removes the cluster of [`start_kept`]; says no when there is none.
pub fn stop_kept() -> Result<()> {
    let Some(folder) = parent_folders()
        .into_iter()
        .map(|place| place.join("postgres-kept"))
        .find(|folder| folder.is_dir())
    else {
        bail!("no kept PostgreSQL is there");
    };
    let binaries = Binaries::find().context("PostgreSQL's programs are gone")?;
    let mut command = program(binaries.0.join("pg_ctl"), user());
    command
        .arg("-D")
        .arg(folder.join("data"))
        .args(["-m", "fast", "-w", "-s", "stop"])
        .current_dir("/");
    quiet("pg_ctl stop", &mut command)?;
    fs::remove_dir_all(folder)?;
    Ok(())
}

/// An initialised data folder with its password and port.
#[derive(Debug)]
struct Cluster {
    folder: PathBuf,
    binaries: Binaries,
    password: String,
    port: u16,
}

impl Cluster {
    fn create(binaries: Binaries, name: &str) -> Result<Self> {
        let folder = owned_folder(name)?;
        let cluster = Self {
            folder,
            binaries,
            password: password()?,
            port: free_port()?,
        };
        if let Err(error) = cluster.initialise(true).or_else(|_| cluster.initialise(false)) {
            cluster.remove();
            return Err(error);
        }
        Ok(cluster)
    }

    /// A password, because on a shared machine `trust` would hand every local user a superuser; sent
    /// in clear (loopback only), because SCRAM's 4,096 rounds at each connection slow debug tests.
    fn initialise(&self, icu: bool) -> Result<()> {
        drop(fs::remove_dir_all(self.data()));
        let secret = self.folder.join("password");
        fs::write(&secret, &self.password)?;
        change_owner(&secret)?;
        let mut command = program(self.program("initdb"), user());
        command
            .arg("-D")
            .arg(self.data())
            .arg(format!("--pwfile={}", secret.display()));
        command.args([
            "--username=postgres",
            "--auth=password",
            "--encoding=UTF8",
            "--locale=C.UTF-8",
        ]);
        if icu {
            command.args(["--locale-provider=icu", "--icu-locale=en-US"]);
        }
        quiet("initdb", command.current_dir("/"))
    }

    fn program(&self, name: &str) -> PathBuf {
        self.binaries.0.join(name)
    }

    fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    /// No socket file: its path would have a length limit that a deep checkout exceeds. `fsync` stays
    /// on, because what is tested and measured is the durable database.
    fn settings(&self) -> Vec<String> {
        let port = format!("port={}", self.port);
        [
            "listen_addresses=127.0.0.1",
            &port,
            "unix_socket_directories=",
            "max_connections=400",
            "fsync=on",
        ]
        .iter()
        .flat_map(|setting| ["-c".to_owned(), (*setting).to_owned()])
        .collect()
    }

    /// Starts the server and waits until it answers.
    fn run(&self) -> Result<Running> {
        let log = File::options()
            .create(true)
            .append(true)
            .open(self.folder.join("log"))?;
        let mut command = program(self.program("postgres"), user());
        command.arg("-D").arg(self.data()).args(self.settings());
        command.current_dir("/").stdout(log.try_clone()?).stderr(log);
        let mut server = Running::start("postgres", &mut command)?;
        server.wait_until(Duration::from_secs(60), || self.answers())?;
        Ok(server)
    }

    fn answers(&self) -> bool {
        Command::new(self.program("pg_isready"))
            .args(["-q", "-h", "127.0.0.1", "-p", &self.port.to_string()])
            .status()
            .is_ok_and(|status| status.success())
    }

    fn url(&self) -> String {
        format!(
            "postgres://postgres:{}@127.0.0.1:{}/postgres",
            self.password, self.port
        )
    }

    fn remove(&self) {
        if let Err(error) = fs::remove_dir_all(&self.folder) {
            eprintln!("cannot remove {}: {error}", self.folder.display());
        }
    }
}

fn user() -> Option<&'static str> {
    packages::root().then_some(SERVER_USER)
}

impl Binaries {
    /// The installed ones; else installs the system's package.
    pub fn find_or_install() -> Result<Self> {
        if let Some(binaries) = Self::find() {
            return Ok(binaries);
        }
        packages::install("postgresql")?;
        Self::find()
            .with_context(|| format!("the system's packages gave no PostgreSQL {MIN_VERSION} or newer"))
    }

    /// The newest installed version that is new enough.
    fn find() -> Option<Self> {
        let debian = fs::read_dir("/usr/lib/postgresql")
            .into_iter()
            .flatten()
            .flatten();
        let in_path =
            packages::find("initdb").and_then(|path| Some(fs::canonicalize(path).ok()?.parent()?.to_owned()));
        let whole = |folder: &PathBuf| {
            ["initdb", "postgres", "pg_ctl", "pg_isready"]
                .iter()
                .all(|name| folder.join(name).is_file())
        };
        debian
            .map(|version| version.path().join("bin"))
            .chain(in_path)
            .filter(whole)
            .filter_map(|folder| Some((major(&folder)?, folder)))
            .filter(|(major, _)| *major >= MIN_VERSION)
            .max()
            .map(|(_, folder)| Self(folder))
    }
}

/// 15 of `postgres (PostgreSQL) 15.20 (Debian 15.20-0+deb12u1)`.
fn major(binaries: &Path) -> Option<u32> {
    let output = Command::new(binaries.join("postgres"))
        .arg("--version")
        .output()
        .ok()?;
    let said = String::from_utf8(output.stdout).ok()?;
    said.split_whitespace()
        .nth(2)?
        .split(|c: char| !c.is_ascii_digit())
        .next()?
        .parse()
        .ok()
}

/// Possible folders of clusters: in `target/`, or in the system's temporary folder when the server's user
/// cannot reach `target/` (a checkout below /root).
fn parent_folders() -> [PathBuf; 2] {
    [crate::target(), std::env::temp_dir().join("searchwright")]
}

/// A new empty folder that the server's user owns and nobody else can read.
fn owned_folder(name: &str) -> Result<PathBuf> {
    for place in parent_folders() {
        fs::create_dir_all(&place)?;
        remove_left_over(&place);
        let folder = place.join(name);
        match fs::create_dir(&folder) {
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                bail!(
                    "{} is already there: a server runs in it, or `cargo xtask postgres stop` was forgotten",
                    folder.display()
                )
            }
            other => other.with_context(|| format!("cannot make {}", folder.display()))?,
        }
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o700))?;
        change_owner(&folder)?;
        let reached = program("test", user())
            .arg("-w")
            .arg(&folder)
            .current_dir("/")
            .status();
        if reached.is_ok_and(|status| status.success()) {
            return Ok(folder);
        }
        fs::remove_dir(&folder)?;
    }
    bail!(
        "user {SERVER_USER} can reach neither {} nor the temporary folder",
        crate::target().display()
    )
}

/// Removes what killed runs left: `postgres-<id>` of a process that is no more.
fn remove_left_over(place: &Path) {
    for entry in fs::read_dir(place).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let id = name
            .to_str()
            .and_then(|name| name.strip_prefix("postgres-"))
            .and_then(|id| id.parse::<u32>().ok());
        if id
            .is_some_and(|id| Path::new("/proc/self").exists() && !Path::new(&format!("/proc/{id}")).exists())
        {
            drop(fs::remove_dir_all(entry.path()));
        }
    }
}

/// Makes the server's user the owner of a path, when that is another user.
fn change_owner(path: &Path) -> Result<()> {
    let Some(user) = user() else { return Ok(()) };
    let id = |flag: &str| -> Result<u32> {
        let output = Command::new("id").args([flag, user]).output()?;
        let said = String::from_utf8(output.stdout)?;
        said.trim()
            .parse()
            .with_context(|| format!("the system has no user {user}"))
    };
    chown(path, Some(id("-u")?), Some(id("-g")?))?;
    Ok(())
}

/// 128 bits of the system's randomness in hexadecimal.
fn password() -> Result<String> {
    let mut bytes = [0_u8; 16];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
