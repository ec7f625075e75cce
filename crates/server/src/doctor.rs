//! Looks at configuration, database, clock and disk, and says what is wrong and what to do.

use std::{
    io::{ErrorKind, Write as _},
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener},
    time::{Duration, Instant},
};

use searchwright_backups::UnfinishedImport;
use searchwright_contract::Clock;
use searchwright_store::{
    Db, Error,
    seal::{self, Keyring},
};
use serde::Serialize;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use crate::{
    Settings,
    config::make_data_dir,
    open::{self, OpenError, sealing_key},
};

/// Path at which the listener of MCP describes itself (RFC 9728). That of the API has none, nor has either without TLS: they
/// answer with an error.
const DESCRIPTION_PATH: &str = "/.well-known/oauth-protected-resource";
/// Parts of the answers to it: the name in the description, and the page of the manual that explains an error.
const MARKS: [&str; 2] = ["\"resource_name\":\"Searchwright", "/docs/reference/errors#"];
/// Bytes of an answer that are read.
const MAX_ANSWER_BYTES: u64 = 16 * 1024;
/// Time that a listener has to answer.
const ANSWER_DEADLINE: Duration = Duration::from_secs(2);

/// One thing looked at.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// Subject of the check.
    pub check: &'static str,
    /// The check has not failed.
    pub ok: bool,
    /// A person has to judge what was observed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub warning: bool,
    /// Observation.
    pub detail: String,
    /// Remedy, if something is wrong or may be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
}

fn good(check: &'static str, detail: impl Into<String>) -> Finding {
    Finding {
        check,
        ok: true,
        warning: false,
        detail: detail.into(),
        fix: None,
    }
}

fn warned(check: &'static str, detail: impl Into<String>, fix: impl Into<String>) -> Finding {
    Finding {
        check,
        ok: true,
        warning: true,
        detail: detail.into(),
        fix: Some(fix.into()),
    }
}

fn bad(check: &'static str, detail: impl Into<String>, fix: impl Into<String>) -> Finding {
    Finding {
        check,
        ok: false,
        warning: false,
        detail: detail.into(),
        fix: Some(fix.into()),
    }
}

/// Looks at everything; changes nothing but the data folder, which it makes.
pub async fn examine(settings: &Settings) -> Vec<Finding> {
    let mut findings = vec![good(
        "configuration",
        format!("API at {}, MCP at {}", settings.base_url(), settings.mcp_url),
    )];
    findings.push(disk(settings));
    findings.extend(database(settings).await);
    findings.push(backups(settings));
    findings.extend(mail(settings).await);
    findings.push(clock());
    // A server that is running is no fault, and the usual reason for an address that is taken.
    let serving = open::is_owned(settings);
    for (name, address) in [("listen", settings.listen), ("mcp_listen", settings.mcp_listen)] {
        findings.push(match TcpListener::bind(address) {
            Ok(_) => good(name, format!("{address} is free")),
            Err(e) if serving && e.kind() == ErrorKind::AddrInUse => good(
                name,
                format!("{address} is used; a server is running on this data folder"),
            ),
            // A server on PostgreSQL locks no data folder, and it may be in another container.
            Err(e) if e.kind() == ErrorKind::AddrInUse && is_searchwright(address).await => good(
                name,
                format!("{address} is used; a Searchwright server is running there"),
            ),
            Err(e) => bad(
                name,
                format!("{address}: {e}"),
                format!("stop what uses it, or set {name} to another address"),
            ),
        });
    }
    findings.push(transport(settings));
    findings
}

/// Asks whether a Searchwright listens at an address. `/healthz` would not tell: many servers answer it, and the listener of
/// MCP does not.
async fn is_searchwright(address: SocketAddr) -> bool {
    let ask = async {
        let mut stream = TcpStream::connect(reachable(address)).await?;
        let request = format!(
            "GET {DESCRIPTION_PATH} HTTP/1.1\r\nHost: {address}\r\nUser-Agent: searchwright-doctor\r\nConnection: close\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).await?;
        let mut answer = Vec::new();
        stream.take(MAX_ANSWER_BYTES).read_to_end(&mut answer).await?;
        Ok::<_, std::io::Error>(answer)
    };
    match tokio::time::timeout(ANSWER_DEADLINE, ask).await {
        Ok(Ok(answer)) => {
            let answer = String::from_utf8_lossy(&answer);
            MARKS.iter().any(|mark| answer.contains(mark))
        }
        _ => false,
    }
}

/// Returns an address to connect to: who listens on all interfaces listens on the loopback as well.
fn reachable(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

fn disk(settings: &Settings) -> Finding {
    let path = settings.data_dir.display().to_string();
    let probe = settings.data_dir.join(".doctor");
    let written = make_data_dir(&settings.data_dir)
        .map_err(|e| e.to_string())
        .and_then(|()| {
            let begun = Instant::now();
            let mut file = std::fs::File::create(&probe).map_err(|e| e.to_string())?;
            // As much as a busy minute writes: a nearly full disk shows here and not at night.
            file.write_all(&vec![0; 64 << 20])
                .and_then(|()| file.sync_all())
                .map_err(|e| e.to_string())?;
            Ok(begun.elapsed())
        });
    let _ = std::fs::remove_file(&probe);
    let was_full = std::fs::metadata(settings.data_dir.join("reserve")).is_ok_and(|file| file.len() == 0);
    match written {
        Ok(_) if was_full => bad(
            "data_dir",
            format!("{path}: the disk was full, and the server refuses writes until 80 MiB are free"),
            "free space; the server notices it by itself",
        ),
        Ok(took) => good(
            "data_dir",
            format!("{path} takes 64 MiB durably in {} ms", took.as_millis()),
        ),
        Err(e) => bad(
            "data_dir",
            format!("{path}: {e}"),
            "free space, or set data_dir to a folder this user may write",
        ),
    }
}

async fn database(settings: &Settings) -> Vec<Finding> {
    let db = match Db::open(&open::store(settings)).await {
        Ok(db) => db,
        Err(e) => {
            return vec![bad(
                "database",
                e.to_string(),
                "check database_url (or DATABASE_URL) and that the database server runs",
            )];
        }
    };
    let mut findings = vec![match db.ready().await {
        Ok(()) => good("database", db.name()),
        Err(e) => bad("database", e.to_string(), "make the database writable"),
    }];
    findings.push(match db.check_schema().await {
        Ok(()) => good("schema", "up to date"),
        Err(e) => bad(
            "schema",
            e.to_string(),
            "run `searchwright migrate`, or start the server, which does it by itself",
        ),
    });
    if findings.iter().all(|finding| finding.ok) {
        findings.push(sealing(settings, &db).await);
        findings.extend(imports(&db).await);
    }
    db.close().await;
    findings
}

/// The way of credentials: whether it is the machine itself, or TLS.
fn transport(settings: &Settings) -> Finding {
    const CHECK: &str = "transport";
    let exposed = settings.exposed_urls().join(", ");
    if !exposed.is_empty() {
        let proxy =
            "put a proxy with TLS in front and set PUBLIC_URL and MCP_URL to its https addresses".to_owned();
        return if settings.allow_insecure_http {
            let detail =
                format!("{exposed}: plain http, so passwords can be read on the way; MCP and OAuth are off");
            warned(CHECK, detail, proxy)
        } else {
            let detail = format!("{exposed}: plain http for other machines; the server does not start");
            bad(
                CHECK,
                detail,
                format!("{proxy}; or set allow_insecure_http = true, which turns MCP and OAuth off"),
            )
        };
    }
    let open = settings.open_listeners();
    if open.is_empty() {
        return good(CHECK, "credentials do not leave this machine in the clear");
    }
    let names: Vec<String> = open
        .iter()
        .map(|(name, address)| format!("{name} {address}"))
        .collect();
    warned(
        CHECK,
        format!(
            "{}: without TLS, and open to each machine that reaches it",
            names.join(", ")
        ),
        "in a container, publish the ports on 127.0.0.1 alone (-p 127.0.0.1:8787:8787); elsewhere listen on 127.0.0.1; or put a proxy with TLS in front and set PUBLIC_URL and MCP_URL to its https addresses",
    )
}

/// Projects whose import was cut short: nobody sees them, and they take space.
async fn imports(db: &Db) -> Vec<Finding> {
    const CHECK: &str = "import";
    let unfinished = match searchwright_backups::list_unfinished(db).await {
        Ok(unfinished) => unfinished,
        Err(error) => return vec![bad(CHECK, error.to_string(), "check the database")],
    };
    let describe = |import: UnfinishedImport| {
        let progress = match import.progress {
            Some(mark) => format!("{} rows of the file of {} are there", mark.rows, mark.exported_at),
            None => "its removal has begun".to_owned(),
        };
        warned(
            CHECK,
            format!(
                "of project {} ({}): {progress}, and nobody sees it",
                import.id, import.name
            ),
            format!(
                "unless it is under way: `searchwright import` of the same file goes on, `searchwright import --discard {}` removes it",
                import.id
            ),
        )
    };
    unfinished.into_iter().map(describe).collect()
}

/// Backups by time: whether the last one is as young as it should be.
fn backups(settings: &Settings) -> Finding {
    const CHECK: &str = "backups";
    let every = i64::from(settings.backups.every_hours);
    if !settings.database_url.is_empty() {
        return good(
            CHECK,
            "PostgreSQL is backed up by its own means (pg_dump), not by servers and workers; keep sealing.key apart, and the folder published with it",
        );
    }
    let folder = settings.backup_folder();
    let fix = format!(
        "look at the server's log; `searchwright backup` makes one now. Free space, or set backups.folder to a folder that this user may write (now {})",
        folder.display()
    );
    let newest = match searchwright_backups::newest(&folder) {
        Ok(newest) => newest,
        Err(error) => return bad(CHECK, error.to_string(), fix),
    };
    let now = Clock::system().now();
    match newest {
        _ if every == 0 => good(CHECK, "off (backups.every_hours is 0)"),
        // A server that has not run makes the first one when it starts.
        None if !settings.sqlite_path().exists() || !open::is_owned(settings) => good(
            CHECK,
            format!(
                "none in {} yet; the server makes one when it starts",
                folder.display()
            ),
        ),
        None => bad(CHECK, format!("there is none in {}", folder.display()), fix),
        Some(newest) => {
            let at = newest.manifest.created_at;
            let detail = format!("the last one is of {at}, {}", newest.path.display());
            // An interval late and a half: it is being made, or was missed.
            if now.millis() - at.millis() > every * 3_600_000 * 3 / 2 && open::is_owned(settings) {
                bad(CHECK, detail, fix)
            } else {
                good(CHECK, detail)
            }
        }
    }
}

/// The SMTP server, if one is set: mail that does not leave is noticed by nobody who waits for it.
async fn mail(settings: &Settings) -> Option<Finding> {
    // What cannot be read was refused with the configuration.
    let mailer = settings.mailer().ok()??;
    Some(match mailer.check().await {
        Ok(()) => good("mail", "the SMTP server takes the connection and the login"),
        Err(error) => bad(
            "mail",
            error.to_string(),
            "check mail.smtp_url (or SEARCHWRIGHT_SMTP_URL), and that this machine may reach the server",
        ),
    })
}

/// The key that secrets are sealed with, against the database: without it they are lost, and the server does not start.
async fn sealing(settings: &Settings, db: &Db) -> Finding {
    let path = sealing_key::path(&settings.data_dir);
    let looked = async {
        let mut tx = db.read().await?;
        let is_sealed = seal::is_sealed(&mut tx).await?;
        let Some(keys) = sealing_key::find(&settings.data_dir)? else {
            return match is_sealed {
                true => Err(OpenError::NoSealingKey(path.clone())),
                false => Ok(format!("{} is made with the first start", path.display())),
            };
        };
        match Keyring::new(keys)?.check_canary(&mut tx).await {
            Ok(_) => Ok(format!("{} opens the secrets of the database", path.display())),
            Err(Error::Seal(_)) => Err(OpenError::OtherSealingKey(path.clone())),
            Err(error) => Err(error.into()),
        }
    };
    match looked.await {
        Ok(detail) => good("sealing_key", detail),
        Err(error) => bad(
            "sealing_key",
            error.to_string(),
            format!(
                "restore {} from the backup of keys that belongs to this database",
                path.display()
            ),
        ),
    }
}

fn clock() -> Finding {
    let clock = Clock::system();
    let (wall, steady) = (clock.now(), Instant::now());
    std::thread::sleep(Duration::from_millis(50));
    let drift =
        (clock.now().millis() - wall.millis()) - i64::try_from(steady.elapsed().as_millis()).unwrap_or(0);
    // Before this program was written no clock can be right.
    if wall.millis() < 1_790_000_000_000 {
        return bad(
            "clock",
            format!("it says {wall}"),
            "set the clock; expiry and schedules depend on it",
        );
    }
    if drift.abs() > 1000 {
        return bad(
            "clock",
            format!("it jumped by {drift} ms within 50 ms"),
            "let a time service slew the clock instead of stepping it",
        );
    }
    good("clock", wall.to_string())
}
