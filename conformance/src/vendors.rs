//! Publishing to vendors that cannot be installed: servers that hold every request against the vendor's own document.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail, ensure};
use xtask::{
    libraries::install_once,
    process::{free_port, program, quiet},
};

use crate::peer::Peer;

/// Test of `publishing` that sends a vendor every kind of request, and the variable with the vendors' addresses.
const TEST: &str = "vendors::documents::requests_are_as_the_vendors_have_them";
const ADDRESSES_VARIABLE: &str = "SEARCHWRIGHT_VENDORS";

/// Package with Shopify's introspection, and its path there.
const SHOPIFY: &str = "@shopify/dev-mcp@1.16.0";
const INTROSPECTION: &str = "package/dist/data/admin_2026-10.json.gz";

/// A vendor, and every operation it has to be asked for.
struct Vendor {
    name: &'static str,
    operations: &'static [&'static str],
}

const VENDORS: [Vendor; 3] = [
    Vendor {
        name: "webflow",
        operations: &[
            "GET /sites",
            "GET /sites/{site_id}",
            "GET /sites/{site_id}/collections",
            "GET /collections/{collection_id}",
            "GET /collections/{collection_id}/items",
            "GET /collections/{collection_id}/items/{item_id}",
            "POST /collections/{collection_id}/items",
            "POST /collections/{collection_id}/items/live",
            "POST /collections/{collection_id}/items/publish",
            "PATCH /collections/{collection_id}/items/{item_id}",
            "DELETE /collections/{collection_id}/items/{item_id}/live",
        ],
    },
    Vendor {
        name: "notion",
        operations: &[
            "GET /v1/users/me",
            "POST /v1/search",
            "GET /v1/data_sources/{data_source_id}",
            "POST /v1/data_sources/{data_source_id}/query",
            "GET /v1/pages/{page_id}",
            "POST /v1/pages",
            "PATCH /v1/pages/{page_id}",
            "GET /v1/pages/{page_id}/markdown",
            "PATCH /v1/pages/{page_id}/markdown",
        ],
    },
    Vendor {
        name: "shopify",
        operations: &[
            "POST /admin/oauth/access_token",
            "query shop currentAppInstallation",
            "query shop",
            "query blogs",
            "query metafieldDefinitions",
            "query article articles blog",
            "mutation articleCreate",
            "mutation articleUpdate",
        ],
    },
];

/// Holds the requests of Webflow, Notion and Shopify against the vendors' documents. Fails if one is refused, if an operation was
/// never asked for, or if a wrong request is accepted.
///
/// `documents` has the OpenAPI documents of Webflow and Notion, which are not ours to pass on. Node is the machine's; packages are
/// installed below the target folder, and so is what Shopify publishes of its interface.
pub(crate) fn check(documents: &Path) -> Result<()> {
    let documents = std::path::absolute(documents)?;
    let folder = xtask::target().join("peers/vendors");
    install(&folder)?;
    ensure!(
        test_command(&["--no-run"]).status()?.success(),
        "the engine's tests do not compile"
    );
    let mut peers = Vec::new();
    let mut addresses = Vec::new();
    for vendor in &VENDORS {
        let document = match vendor.name {
            "webflow" => documents.join("webflow.yaml"),
            "notion" => documents.join("notion.json"),
            _ => std::path::absolute(folder.join(INTROSPECTION))?,
        };
        ensure!(document.is_file(), "{} is not there", document.display());
        let (peer, port) = start_server(vendor.name, &folder, &document)?;
        addresses.push(format!("{}=http://127.0.0.1:{port}", vendor.name));
        peers.push((vendor, peer));
    }
    let asked = run_test(&addresses.join(" "));
    let mut faults = Vec::new();
    for (vendor, peer) in &peers {
        faults.extend(find_faults(vendor, &fs::read_to_string(&peer.log)?));
    }
    ensure!(
        faults.is_empty(),
        "not as the vendors have it:\n{}",
        faults.join("\n")
    );
    asked
}

fn start_server(name: &str, folder: &Path, document: &Path) -> Result<(Peer, u16)> {
    let port = free_port()?;
    let mut command = program("node", None);
    command
        .args(["server.mjs", name])
        .arg(document)
        .arg(port.to_string());
    Ok((Peer::start(name, folder, command)?, port))
}

/// A command for the test of publishing.
fn test_command(arguments: &[&str]) -> Command {
    let mut command = Command::new(xtask::cargo());
    command
        .args(["test", "--quiet", "--package", "searchwright-publishing", "--lib"])
        .args(arguments)
        .current_dir(xtask::workspace());
    command
}

/// Runs the test of publishing.
fn run_test(addresses: &str) -> Result<()> {
    let mut command = test_command(&["--", "--ignored", "--exact", TEST]);
    let status = command.env(ADDRESSES_VARIABLE, addresses).status()?;
    if !status.success() {
        bail!("the vendors' answers were not understood: {status}");
    }
    Ok(())
}

/// Prints the log of a server and returns the faults in it.
fn find_faults(vendor: &Vendor, said: &str) -> Vec<String> {
    let name = vendor.name;
    let mut faults = Vec::new();
    let mut wrong = 0;
    let mut asked: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for line in said.lines().filter(|line| *line != "listening") {
        if line.starts_with("WRONG INVALID ") {
            wrong += 1;
            continue;
        }
        let valid = line.strip_prefix("VALID ").and_then(|rest| rest.rsplit_once(' '));
        let Some((operation, spoilt)) = valid else {
            faults.push(format!("{name}: {line}"));
            continue;
        };
        let refused = spoilt.split('/').next().and_then(|count| count.parse().ok());
        let (requests, all) = asked.entry(operation).or_default();
        *requests += 1;
        *all += refused.unwrap_or(0);
    }
    for (operation, (requests, spoilt)) in &asked {
        eprintln!("{name}: {requests:>3} x {operation}, {spoilt} spoilt ones refused");
    }
    eprintln!("{name}: {wrong} wrong requests refused");
    if wrong == 0 {
        faults.push(format!("{name}: nothing wrong was refused"));
    }
    for operation in vendor.operations {
        if !asked.contains_key(operation) {
            faults.push(format!("{name}: {operation} was never asked for"));
        }
    }
    let surprise = asked.keys().filter(|key| !vendor.operations.contains(key));
    faults.extend(surprise.map(|operation| format!("{name}: {operation} is not in the list")));
    for (operation, (_, spoilt)) in &asked {
        if *spoilt == 0 {
            faults.push(format!("{name}: {operation} would accept anything"));
        }
    }
    faults
}

/// Writes the servers' files, installs their packages and unpacks Shopify's introspection, once.
fn install(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder)?;
    for (name, text) in [
        ("server.mjs", include_str!("vendors/server.mjs")),
        ("mutations.mjs", include_str!("vendors/mutations.mjs")),
        ("openapi.mjs", include_str!("vendors/openapi.mjs")),
        ("webflow.mjs", include_str!("vendors/webflow.mjs")),
        ("notion.mjs", include_str!("vendors/notion.mjs")),
        ("shopify.mjs", include_str!("vendors/shopify.mjs")),
    ] {
        fs::write(folder.join(name), text)?;
    }
    install_once(
        folder,
        "package.json",
        include_str!("vendors/package.json"),
        || {
            let mut npm = Command::new("npm");
            npm.args(["install", "--no-audit", "--no-fund", "--ignore-scripts"]);
            quiet("npm install", npm.current_dir(folder))
        },
    )?;
    install_once(folder, "shopify", SHOPIFY, || unpack_introspection(folder))
}

/// One file of Shopify's package, which needs hundreds of others to be installed.
fn unpack_introspection(folder: &Path) -> Result<()> {
    let mut npm = Command::new("npm");
    quiet(
        "npm pack",
        npm.args(["pack", "--silent", SHOPIFY]).current_dir(folder),
    )?;
    let packed: PathBuf = fs::read_dir(folder)?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .find(|path| path.extension().is_some_and(|end| end == "tgz"))
        .context("npm packed nothing")?;
    let mut tar = Command::new("tar");
    quiet(
        "tar",
        tar.arg("-xzf")
            .arg(&packed)
            .arg(INTROSPECTION)
            .current_dir(folder),
    )?;
    Ok(fs::remove_file(packed)?)
}
