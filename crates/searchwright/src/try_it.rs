//! `searchwright try`: from nothing to an audited website in one command.

use std::{
    fmt::Write as _,
    io::Write as _,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    path::Path,
};

use searchwright_cli::{CliError, Client, Exit, follow, json_text::write_json};
use searchwright_contract::audits::{AuditStatus, StartAudit};
use searchwright_server::{Settings, admin::Grant, config::Flags, sample, serve};
use tokio_util::sync::CancellationToken;
use url::{Host, Url};
use uuid::Uuid;

use crate::{report, settings::settings};

/// Address at which a server listens that was not told another.
const USUAL_LISTEN: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8787);
const KEY_NAME: &str = "try";
const KEY_LIFETIME_MILLIS: i64 = 30 * 86_400_000;

pub(crate) fn failed(error: impl std::fmt::Display) -> CliError {
    CliError::new(Exit::Failed, error.to_string())
}

/// Audits a website and keeps serving.
pub async fn run(
    target: Option<&str>,
    max_pages: u32,
    once: bool,
    json: bool,
    mut flags: Flags,
) -> Result<Exit, CliError> {
    if flags.log.is_none() {
        // The report is what this command is for; what is wrong is still said.
        flags.log = Some("warn".to_owned());
    }
    let stop = CancellationToken::new();
    let is_sample = target.is_none();
    let target = match target {
        Some(text) => {
            let target = website(text, "searchwright audits run URL --include")?;
            if let Some(private) = private(&target) {
                eprintln!("{private} is a private address; it may be crawled because you named it here.\n");
            }
            target
        }
        None => {
            let address = sample::start(stop.clone()).await.map_err(failed)?;
            eprintln!(
                "No website was named, so this audits a sample: a small shop with real faults, served by this program on http://{address}."
            );
            eprintln!("Audit your own with `searchwright try https://example.com`.\n");
            Url::parse(&format!("http://{address}")).map_err(failed)?
        }
    };
    if let Some(private) = private(&target) {
        flags.allow_outbound.push(format!("crawl={private}"));
    }
    let next = if once {
        NextSteps::Restart {
            is_sample,
            flags: &flags,
        }
    } else {
        NextSteps::Serving
    };
    let mut settings = settings(&flags)?;
    if flags.listen.is_none() && flags.config.is_none() {
        settings.listen = free(settings.listen);
        settings.mcp_listen = free(settings.mcp_listen);
        settings.public_url = format!("http://{}", settings.listen);
        settings.mcp_url = format!("http://{}/mcp", settings.mcp_listen);
    }
    let server = serve::start(settings).await.map_err(failed)?;
    // A signal between the audit and the line that names it is not lost.
    let ended = serve::signalled();
    let outcome = audit(&server, &target, max_pages, next, json).await;
    let exit = match outcome {
        Ok(exit) => exit,
        Err(error) => {
            stop.cancel();
            server.stop().await;
            return Err(error);
        }
    };
    if !once {
        let owner = server.app.people.sign_in_link_of_owner().await.map_err(failed)?;
        let link = format!(
            "\nor in a browser, as the owner (the link signs you in once, within a day):\n\n  {}/login/{owner}",
            server.app.settings.public_url
        );
        if json {
            eprintln!("{link}");
        } else {
            writeln!(std::io::stdout(), "{link}")?;
        }
        eprintln!(
            "\nServing on {}. Stop with Ctrl-C.",
            server.app.settings.base_url()
        );
        ended.await;
    }
    stop.cancel();
    server.stop().await;
    Ok(exit)
}

/// Situation after the report.
#[derive(Clone, Copy, Debug)]
enum NextSteps<'a> {
    /// The server goes on.
    Serving,
    /// The server ends with this command, and the sample site with it.
    Restart {
        /// Whether the sample was audited.
        is_sample: bool,
        /// The flags of this command.
        flags: &'a Flags,
    },
}

async fn audit(
    server: &serve::Server,
    target: &Url,
    max_pages: u32,
    next: NextSteps<'_>,
    json: bool,
) -> Result<Exit, CliError> {
    let app = &server.app;
    let domain = target.origin().ascii_serialization();
    let project = app.engine.project_for(&domain).await.map_err(failed)?;
    let grant = Grant {
        scopes: Vec::new(),
        read_only: false,
        lifetime_millis: Some(KEY_LIFETIME_MILLIS),
    };
    let key = app
        .engine
        .replace_key(project, KEY_NAME, grant)
        .await
        .map_err(failed)?;
    // Over HTTP, as everybody else: what is shown here is what the API answers.
    let client = Client::new(&format!("http://{}", server.addresses.api), &key.key)?;
    eprintln!("Auditing {domain} …");
    let start = StartAudit {
        project_id: project.to_string(),
        max_pages: Some(max_pages),
        max_depth: None,
        include: None,
        exclude: None,
        include_subdomains: None,
    };
    let started = client.call(&start).await?;
    let folder = app.settings.data_dir.display();
    let goes_on = || {
        CliError::new(
            Exit::Interrupted,
            "interrupted: the audit stops with this program",
        )
        .hint(format!(
            "the same command goes on with it; what was found so far is kept in {folder}"
        ))
    };
    let audit = follow::audit(&client, started.audit, goes_on).await?;
    let exit = match audit.status {
        AuditStatus::Failed => Exit::Failed,
        _ => Exit::Done,
    };
    let mut out = std::io::stdout().lock();
    if json {
        let report = report::to_json(&client, &audit, &app.settings.base_url(), &key.key).await?;
        write_json(&mut out, &report)?;
        return Ok(exit);
    }
    let text = report::to_text(&client, audit.project_id, &audit).await?;
    writeln!(out, "{text}")?;
    if audit.status == AuditStatus::Failed {
        // There is nothing to go on with.
        return Ok(exit);
    }
    writeln!(
        out,
        "Your API key, shown this once (works for 30 days, or until the next `try` of this site):\n\n  {}\n",
        key.key
    )?;
    let steps = match next {
        NextSteps::Serving => describe_calls(&app.settings, project, &key.key),
        NextSteps::Restart { is_sample, flags } => {
            // What was audited here may be crawled again; the sample is gone.
            let target = if is_sample { None } else { private(target) };
            let command = serve_command(&app.settings, flags, target.as_deref());
            describe_restart(&command, &app.settings, flags, &key.key, is_sample)
        }
    };
    write!(out, "{steps}")?;
    Ok(exit)
}

/// Describes how to go on with the server that runs.
fn describe_calls(settings: &Settings, project: Uuid, key: &str) -> String {
    let base = settings.base_url();
    let mut text = format!("Go on with curl:\n\n  export SEARCHWRIGHT_KEY={key}\n");
    if settings.listen != USUAL_LISTEN {
        let _ = writeln!(text, "  export SEARCHWRIGHT_URL={}", settings.public_url);
    }
    for path in [
        "me",
        &format!("projects/{project}/issues?limit=5"),
        &format!("projects/{project}/audits/current"),
    ] {
        let _ = writeln!(
            text,
            "  curl -H \"Authorization: Bearer $SEARCHWRIGHT_KEY\" '{base}/{path}'"
        );
    }
    text += "\nor with this program, in another terminal:\n\n  searchwright issues list\n  searchwright audits start --wait\n";
    text
}

/// Describes how to go on after the server has ended.
fn describe_restart(command: &str, settings: &Settings, flags: &Flags, key: &str, is_sample: bool) -> String {
    let mut text = format!(
        "The server ends with this command. Go on by starting it again with the same data folder:\n\n  {command}\n\n\
         and then, in another terminal:\n\n  export SEARCHWRIGHT_KEY={key}\n"
    );
    // Without such a flag it listens where it usually does, not where a port was free now.
    if (flags.listen.is_some() || flags.config.is_some()) && settings.listen != USUAL_LISTEN {
        let _ = writeln!(text, "  export SEARCHWRIGHT_URL={}", settings.public_url);
    }
    text += "  searchwright issues list\n";
    if !is_sample {
        text += "  searchwright audits start --wait\n";
    }
    text
}

/// Returns the command that starts the server again, and lets it crawl a private address.
fn serve_command(settings: &Settings, flags: &Flags, private: Option<&str>) -> String {
    let mut command = format!("searchwright serve --data-dir {}", quote(&settings.data_dir));
    if let Some(config) = &flags.config {
        command += &format!(" --config {}", quote(config));
    }
    if flags.listen.is_some() {
        command += &format!(" --listen {}", settings.listen);
    }
    if flags.mcp_listen.is_some() {
        command += &format!(" --mcp-listen {}", settings.mcp_listen);
    }
    if let Some(private) = private {
        command += &format!(" --allow-outbound crawl={private}");
    }
    command
}

/// Quotes a path for a shell, if it needs that.
fn quote(path: &Path) -> String {
    let path = path.display().to_string();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+,:@%".contains(c);
    if !path.is_empty() && path.chars().all(is_plain) {
        path
    } else {
        format!("'{}'", path.replace('\'', "'\\''"))
    }
}

/// Parses the URL of a website. A URL with a path, a query or a user is refused, not cut: an audit begins at the home
/// page. `narrowed` is the command that audits a part of a website, without its pattern.
pub(crate) fn website(text: &str, narrowed: &str) -> Result<Url, CliError> {
    let bad = |why: String| {
        CliError::new(
            Exit::Usage,
            format!("TARGET {text:?} is not a website's address: {why}"),
        )
    };
    let whole = if text.contains("://") {
        text.to_owned()
    } else {
        format!("https://{text}")
    };
    let url = Url::parse(&whole).map_err(|e| bad(e.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
        return Err(bad("it has to begin with http:// or https://".to_owned()));
    }
    let origin = url.origin().ascii_serialization();
    if url.as_str() != format!("{origin}/") {
        let refused = CliError::new(
            Exit::Usage,
            // Not what was typed: it may hold a password.
            format!(
                "TARGET is more than the origin of a website ({origin}), and an audit begins at the home page"
            ),
        );
        return Err(refused.hint(match url.path() {
            "/" => format!("give {origin}"),
            path => format!("give {origin}; to audit a part of it, run `{narrowed} '{path}*'`"),
        }));
    }
    Ok(url)
}

/// Host and port of a target that is not on the public internet by its name alone.
pub(crate) fn private(url: &Url) -> Option<String> {
    let port = url.port_or_known_default()?;
    let private = match url.host()? {
        Host::Domain(name) => name == "localhost" || name.ends_with(".localhost"),
        Host::Ipv4(ip) => ip.is_loopback() || ip.is_private(),
        Host::Ipv6(ip) => ip.is_loopback() || ip.is_unique_local(),
    };
    private.then(|| format!("{}:{port}", url.host_str().unwrap_or_default()))
}

/// Returns the address, or one of the same host with a free port.
fn free(address: SocketAddr) -> SocketAddr {
    match std::net::TcpListener::bind(address) {
        Ok(_) => address,
        Err(_) => SocketAddr::new(address.ip(), 0),
    }
}
