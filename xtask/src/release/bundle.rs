//! The program as an MCP bundle (MCPB), which desktop clients install by itself, and the record of it for the MCP registry.
//!
//! The manifest in the bundle says what a person enters and where it goes; the record is made of it, so that both say the same.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, ensure};
use serde_json::{Map, Value, json};

use super::{VERSION, commit_time, third_party};
use crate::{
    packages,
    process::{output, quiet},
};

/// Manifest of the bundle in the workspace.
const MANIFEST: &str = "plugins/mcpb/manifest.json";
/// Place of the program in the bundle, which the manifest names too.
pub(super) const PROGRAM: &str = "server/searchwright";
/// Name of the record for the registry.
pub(super) const RECORD: &str = "server.json";
/// Name of the product in the registry.
const REGISTRY_NAME: &str = "io.github.searchwright/searchwright";
/// Schema of the record.
const REGISTRY_SCHEMA: &str = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json";
/// Most characters of a description in the registry.
const MAX_DESCRIPTION: usize = 100;

/// Writes the bundle of the staged program as `name` with its extension into `out`, and the record beside it.
pub(super) fn write(work: &Path, out: &Path, name: &str) -> Result<[PathBuf; 2]> {
    let manifest: Value = serde_json::from_str(&fs::read_to_string(crate::workspace().join(MANIFEST))?)
        .with_context(|| format!("{MANIFEST} is no JSON"))?;
    let file_name = format!("{name}.mcpb");
    let contents = work.join("bundle");
    stage(work, &contents)?;
    let bundle = out.join(&file_name);
    pack(&contents, &bundle)?;
    let sums = output("sha256sum", Command::new("sha256sum").arg(&bundle))?;
    let sha256 = sums.split_whitespace().next().context("no checksum")?;
    let record = out.join(RECORD);
    let text = format!("{:#}\n", registry_record(&manifest, &file_name, sha256)?);
    fs::write(&record, text)?;
    Ok([bundle, record])
}

/// Puts what goes into the bundle into a folder.
fn stage(work: &Path, contents: &Path) -> Result<()> {
    fs::create_dir_all(
        contents
            .join(PROGRAM)
            .parent()
            .context("a folder of the program")?,
    )?;
    let root = crate::workspace();
    for (from, to, mode) in [
        (root.join(MANIFEST), "manifest.json", 0o644),
        (work.join("searchwright"), PROGRAM, 0o755),
        (root.join("LICENSE"), "LICENSE", 0o644),
        (work.join(third_party::LICENCES), third_party::LICENCES, 0o644),
    ] {
        let to = contents.join(to);
        fs::copy(&from, &to).with_context(|| format!("{} cannot be copied", from.display()))?;
        fs::set_permissions(&to, fs::Permissions::from_mode(mode))?;
    }
    Ok(())
}

/// Packs a folder, so that the same contents give the same bytes: files in a fixed order, at the time of the commit, without owners.
pub(super) fn pack(contents: &Path, bundle: &Path) -> Result<()> {
    let files = ["manifest.json", PROGRAM, "LICENSE", third_party::LICENCES];
    let mut touch = Command::new("touch");
    touch.arg(format!("--date=@{}", commit_time()?)).args(files);
    quiet("touch", touch.current_dir(contents))?;
    let mut zip = Command::new(packages::ensure("zip", "zip")?);
    zip.args(["-q", "-9", "-X", "-D"])
        .arg(std::path::absolute(bundle)?)
        .args(files)
        // times in an archive of this form are local ones
        .env("TZ", "UTC")
        .current_dir(contents);
    quiet("zip", &mut zip)
}

/// Returns what the registry is told: the bundle of this name and checksum, and the variables that a person fills in.
fn registry_record(manifest: &Value, file_name: &str, sha256: &str) -> Result<Value> {
    let text = |value: &Value, what: &str| {
        let text = value.as_str().map(str::to_owned);
        text.with_context(|| format!("the manifest of the bundle has no {what}"))
    };
    ensure!(
        manifest["version"] == VERSION,
        "the manifest of the bundle is not one of version {VERSION}"
    );
    ensure!(
        manifest["compatibility"]["platforms"] == json!(["linux"]),
        "the program in the bundle runs on Linux, the manifest says {}",
        manifest["compatibility"]["platforms"]
    );
    ensure!(
        manifest["server"]["entry_point"] == PROGRAM,
        "the manifest of the bundle does not name {PROGRAM}"
    );
    let description = text(&manifest["description"], "description")?;
    ensure!(
        description.chars().count() <= MAX_DESCRIPTION,
        "the registry takes descriptions of {MAX_DESCRIPTION} characters"
    );
    let repository = text(&manifest["repository"]["url"], "repository")?;
    Ok(json!({
        "$schema": REGISTRY_SCHEMA,
        "name": REGISTRY_NAME,
        "title": text(&manifest["display_name"], "display_name")?,
        "description": description,
        "repository": { "url": repository, "source": "github" },
        "version": VERSION,
        "packages": [{
            "registryType": "mcpb",
            "identifier": format!("{repository}/releases/download/v{VERSION}/{file_name}"),
            "fileSha256": sha256,
            "transport": { "type": "stdio" },
            "environmentVariables": environment_variables(manifest)?,
        }],
    }))
}

/// Returns the variables that the manifest fills from what a person enters.
fn environment_variables(manifest: &Value) -> Result<Vec<Value>> {
    let environment = manifest["server"]["mcp_config"]["env"].as_object();
    let mut variables = Vec::new();
    for (name, template) in environment.context("the manifest of the bundle sets no variables")? {
        let setting = template
            .as_str()
            .and_then(|text| text.strip_prefix("${user_config.")?.strip_suffix('}'))
            .with_context(|| format!("{name} does not come from a setting"))?;
        let setting = manifest["user_config"]
            .get(setting)
            .with_context(|| format!("the manifest has no setting {setting}"))?;
        let told = |member: &str| setting[member].as_str().unwrap_or_default();
        let mut variable = Map::new();
        variable.insert("name".to_owned(), json!(name));
        variable.insert(
            "description".to_owned(),
            json!(format!("{}. {}", told("title"), told("description"))),
        );
        for (member, source) in [("isRequired", "required"), ("isSecret", "sensitive")] {
            variable.insert(member.to_owned(), json!(setting[source] == true));
        }
        if let Some(default) = setting.get("default") {
            variable.insert("default".to_owned(), default.clone());
        }
        variables.push(Value::Object(variable));
    }
    Ok(variables)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::{Value, json};

    use super::{MANIFEST, registry_record};

    fn manifest() -> Value {
        let text = fs::read_to_string(crate::workspace().join(MANIFEST)).unwrap();
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn registry_is_told_the_file_and_what_a_person_enters() {
        let record = registry_record(&manifest(), "searchwright.mcpb", "00ff").unwrap();
        assert_eq!(record["name"], "io.github.searchwright/searchwright");
        assert_eq!(record["version"], env!("CARGO_PKG_VERSION"));
        let package = &record["packages"][0];
        let url = format!(
            "{}/releases/download/v{}/searchwright.mcpb",
            env!("CARGO_PKG_REPOSITORY"),
            env!("CARGO_PKG_VERSION")
        );
        assert_eq!(package["identifier"], url);
        assert_eq!(package["fileSha256"], "00ff");
        assert_eq!(package["transport"], json!({ "type": "stdio" }));
        // the registry refuses both for bundles: the URL has them
        for member in ["version", "registryBaseUrl"] {
            assert!(package.get(member).is_none(), "{member}");
        }
        let variables = package["environmentVariables"].as_array().unwrap();
        let facts: Vec<_> = variables
            .iter()
            .map(|variable| {
                (
                    variable["name"].as_str().unwrap(),
                    variable["isSecret"] == true,
                    variable["isRequired"] == true,
                )
            })
            .collect();
        let expected = [
            ("SEARCHWRIGHT_KEY", true, true),
            ("SEARCHWRIGHT_URL", false, true),
        ];
        assert_eq!(facts.len(), expected.len());
        for variable in expected {
            assert!(facts.contains(&variable), "{variable:?} in {facts:?}");
        }
    }

    #[test]
    fn manifest_of_another_program_is_refused() {
        for (path, value) in [
            ("/version", json!("0.0.9")),
            ("/compatibility/platforms", json!(["linux", "darwin"])),
            ("/server/entry_point", json!("server/other")),
            ("/description", json!("long ".repeat(30))),
            (
                "/server/mcp_config/env/SEARCHWRIGHT_KEY",
                json!("swk_of_everybody"),
            ),
        ] {
            let mut changed = manifest();
            *changed.pointer_mut(path).unwrap() = value;
            assert!(registry_record(&changed, "a.mcpb", "00").is_err(), "{path}");
        }
    }
}
