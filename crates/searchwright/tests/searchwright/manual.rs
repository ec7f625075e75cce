//! The manual and the README: their commands are run as a reader would paste them, and those that need something a test cannot have are
//! read by the program.

use std::{
    fmt::Write as _,
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde_json::Value;
use tempfile::TempDir;

use crate::program::{Outcome, User};

/// A block of commands in a text.
struct Block {
    /// Reason why it is not run; `None` for one that is.
    not_run: Option<String>,
    text: String,
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every page with commands, by its path in the repository.
fn pages() -> Vec<(String, String)> {
    let docs = repository().join("docs");
    let folders = [docs.clone(), docs.join("design"), docs.join("providers")];
    let mut pages = vec![("README.md".to_owned(), repository().join("README.md"))];
    for folder in folders {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            if entry
                .path()
                .extension()
                .is_some_and(|extension| extension == "md")
            {
                let name = entry.path().strip_prefix(&docs).unwrap().display().to_string();
                pages.push((name, entry.path()));
            }
        }
    }
    pages.sort();
    pages
        .into_iter()
        .map(|(name, path)| (name, std::fs::read_to_string(path).unwrap()))
        .collect()
}

fn blocks(page: &str, text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for line in text.lines() {
        let fence = line.trim_start().strip_prefix("```");
        match (&mut open, fence) {
            (Some(block), None) => {
                block.text.push_str(line.trim_end());
                block.text.push('\n');
            }
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (None, Some(info)) => {
                let (language, mark) = info.split_once(' ').unwrap_or((info, ""));
                let reason = mark.strip_prefix("not-run: ");
                assert!(
                    mark.is_empty() || reason.is_some_and(|reason| !reason.is_empty()),
                    "{page}: ```{info}: a mark is `not-run: REASON`"
                );
                if language == "sh" {
                    open = Some(Block {
                        not_run: reason.map(str::to_owned),
                        text: String::new(),
                    });
                } else {
                    // Its end must not be taken for the beginning of another one.
                    open = Some(Block {
                        not_run: Some(String::new()),
                        text: String::new(),
                    });
                }
            }
            (None, None) => {}
        }
    }
    blocks.retain(|block| block.not_run.as_deref() != Some(""));
    blocks
}

fn free_address() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().to_string()
}

/// Runs a script of bash in a folder of its own, with addresses of its own in the place of the usual ones.
fn run_script(options: &str, script: &str) -> Outcome {
    let home = TempDir::new().unwrap();
    let bin = home.path().join("target/release");
    std::fs::create_dir_all(&bin).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_searchwright"), bin.join("searchwright")).unwrap();
    let [api, mcp, site] = [free_address(), free_address(), free_address()];
    let script = script
        .replace("127.0.0.1:8787", &api)
        .replace("127.0.0.1:8788", &mcp)
        .replace("127.0.0.1:8099", &site)
        .replace(
            "http.server 8099",
            &format!("http.server {}", site.rsplit(':').next().unwrap_or_default()),
        );
    let path = std::env::var("PATH").unwrap();
    // A file, because an argument has at most 128 KiB.
    let file = home.path().join("session.sh");
    let ended = "trap 'kill $(jobs -p) 2>/dev/null || true' EXIT";
    std::fs::write(&file, format!("{ended}\n{script}")).unwrap();
    let child = Command::new("/bin/bash")
        .args([options, "-o", "pipefail"])
        .arg(&file)
        .env_clear()
        .env("PATH", format!("{}:{path}", bin.display()))
        .env("HOME", home.path())
        .env("SEARCHWRIGHT_LISTEN", &api)
        .env("SEARCHWRIGHT_MCP_LISTEN", &mcp)
        .env("SEARCHWRIGHT_URL", format!("http://{api}"))
        .current_dir(home.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    Outcome::of(child)
}

/// A server with a project and a key, as pages after the tutorial take for granted.
const SERVER: &str = "
searchwright serve --set worker.jobs=0 --set limits.requests_per_minute=100000 --set limits.runs_per_minute=100000 \\
  --set limits.requests_per_minute_and_project=100000 > server.log 2>&1 &
until curl -fs http://127.0.0.1:8787/readyz > /dev/null; do sleep 0.1; done
API=http://127.0.0.1:8787/v1
export PROJECT=$(searchwright admin project create --name Shop --domain example.com --json | jq -r .id)
export SEARCHWRIGHT_KEY=$(searchwright admin key create --project \"$PROJECT\" --name test --json | jq -r .key)
";

fn session(page: &str) -> String {
    let (name, text) = pages().into_iter().find(|(name, _)| name == page).unwrap();
    let run = blocks(&name, &text)
        .into_iter()
        .filter(|block| block.not_run.is_none());
    run.map(|block| block.text).collect()
}

#[test]
fn first_session_of_the_readme_works_as_pasted() {
    // Its recheck of a fix that was not made ends with 6, so that a command that fails does not end the session.
    let done = run_script("-u", &session("README.md"));
    assert_eq!((done.code, done.err.as_str()), (0, ""), "{done:?}");
    for words in [
        "/ still_present\n",
        "/ resolved\n",
        "\"keyword\":\"indoor ferns\"",
    ] {
        assert!(done.out.contains(words), "{words}: {done:?}");
    }
}

#[test]
fn tutorial_works_as_pasted() {
    let done = run_script("-eu", &session("tutorial.md"));
    assert_eq!(done.code, 0, "{done:?}");
    for words in [
        "Health score",
        "title: \"How high should a standing desk be?\"",
        "\"state\":\"published\"",
        "next_at",
    ] {
        assert!(done.out.contains(words), "{words}: {done:?}");
    }
}

#[test]
fn commands_of_the_other_pages_work_as_pasted() {
    for (name, _) in pages() {
        if ["README.md", "tutorial.md"].contains(&name.as_str()) {
            continue;
        }
        let script = session(&name);
        if !script.is_empty() {
            let done = run_script("-eu", &format!("{SERVER}{script}"));
            assert_eq!(done.code, 0, "{name}: {done:?}");
        }
    }
}

/// Commands with placeholders, accounts or other systems are at least commands of this program, with options that it knows.
#[test]
fn commands_that_are_not_run_are_read() {
    let mut script = "
command_not_found_handle() { :; }
searchwright() {
  echo \"$1\" >> \"$RAN\"
  \"$REAL\" \"$@\" --help > /dev/null 2> \"$RAN.err\" < /dev/null || { echo \"searchwright $*\"; echo \"$(< \"$RAN.err\")\"; }
}
kill() { :; }
"
    .to_owned();
    let mut expected = 0;
    for (name, text) in pages() {
        for block in blocks(&name, &text)
            .iter()
            .filter(|block| block.not_run.is_some())
        {
            let starts = |line: &&str| line.starts_with("searchwright ");
            expected += block.text.lines().filter(starts).count();
            let _ = write!(script, "( {}\nwait )\n", block.text.replace(" < ", " #< "));
        }
    }
    let home = TempDir::new().unwrap();
    // Files that commands name have to be there to be read.
    let words = script.split_ascii_whitespace();
    for name in words
        .filter_map(|word| word.strip_prefix('@'))
        .filter(|name| name.ends_with(".csv"))
    {
        std::fs::write(home.path().join(name), "").unwrap();
    }
    let ran = home.path().join("ran");
    let child = Command::new("/bin/bash")
        .args(["-c", &script])
        .env_clear()
        .env("PATH", home.path())
        .env("HOME", home.path())
        .env("RAN", &ran)
        .env("REAL", env!("CARGO_BIN_EXE_searchwright"))
        .current_dir(home.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let done = Outcome::of(child);
    assert_eq!(done.out, "", "commands that the program does not take");
    let ran = std::fs::read_to_string(ran).unwrap().lines().count();
    assert!(
        expected > 50 && ran >= expected,
        "{ran} of {expected} commands: {done:?}"
    );
}

/// Returns the examples of the reference in one language, with the name of their page.
fn examples(folder: &Path, language: &str) -> Vec<(String, String)> {
    let mut examples = Vec::new();
    for entry in std::fs::read_dir(folder.join("reference")).unwrap().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let html = std::fs::read_to_string(entry.path()).unwrap();
        for part in html
            .split(&format!("<code class=\"language-{language}\">"))
            .skip(1)
        {
            let code = part.split("</code>").next().unwrap_or_default();
            let code = code
                .replace("&lt;", "<")
                .replace("&gt;", ">")
                .replace("&quot;", "\"")
                .replace("&amp;", "&");
            examples.push((name.clone(), code));
        }
    }
    examples
}

/// Runs the examples of Python in one process, and says of each what became of it.
const PYTHON: &str = r#"
import io, contextlib, urllib.error
def attempt(name, code):
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said):
            exec(compile(code, name, "exec"), {})
        print("RAN", name, "done", sep="\t")
    except urllib.error.HTTPError as error:
        print("RAN", name, error.read().decode(), sep="\t")
    except Exception as error:
        print("RAN", name, "NOT UNDERSTOOD " + repr(error), sep="\t")
"#;

/// Does the same with those of TypeScript.
const NODE: &str = r#"
const say = console.log;
async function attempt(name, example) {
  console.log = () => {};
  try {
    await example();
    say(["RAN", name, "done"].join("\t"));
  } catch (error) {
    say(["RAN", name, error.message.startsWith("{") ? error.message : `NOT UNDERSTOOD ${error}`].join("\t"));
  }
}
"#;

/// Script that runs the examples of a language.
fn runner(language: &str, examples: &[(String, String)]) -> String {
    let mut script = match language {
        "python" => PYTHON.to_owned(),
        "typescript" => NODE.to_owned(),
        _ => "uuidgen() { cat /proc/sys/kernel/random/uuid; }\n".to_owned(),
    };
    for (at, (page, code)) in examples.iter().enumerate() {
        let name = format!("{language} {page} {at}");
        let _ = match language {
            "python" => writeln!(script, "attempt({name:?}, r'''{code}''')"),
            "typescript" => writeln!(script, "await attempt({name:?}, async () => {{\n{code}\n}});"),
            _ => {
                let code = code.replace("curl ", "curl -s ");
                writeln!(script, "printf 'RAN\\t{name}\\t'; {code}\necho")
            }
        };
    }
    script
}

/// Returns whether an answer says that the request was a request: it was done, or a record is not there or in another state.
fn is_understood(answer: &str) -> bool {
    let problem: Value = serde_json::from_str(answer).unwrap_or_default();
    match problem["code"].as_str() {
        Some("validation_failed") => {
            let errors = problem["errors"]
                .as_array()
                .map(Vec::as_slice)
                .unwrap_or_default();
            errors.iter().all(|error| error["code"] == "not_found")
        }
        Some("not_found") => problem["resource"] != "route",
        Some("already_exists" | "provider_not_configured" | "invalid_state") => true,
        Some(_) => false,
        None => !answer.starts_with("NOT UNDERSTOOD"),
    }
}

/// The examples of every operation, in every language, are requests that the server understands, and name no wrong field.
#[test]
fn examples_of_the_reference_are_understood() {
    let user = User::new();
    let folder = user.path("manual");
    let written = user.run(&["manual", folder.to_str().unwrap()]);
    assert_eq!(written.code, 0, "{written:?}");
    let mut script = SERVER.to_owned();
    let mut count = 0;
    // Node.js is not needed for anything else here; where it is missing, the other two languages have to do.
    let has_node = Command::new("node").arg("--version").output().is_ok();
    for (language, program, is_there) in [
        ("sh", "bash", true),
        ("python", "python3", true),
        ("typescript", "node", has_node),
    ] {
        let all = examples(&folder, language);
        assert!(all.len() > 100, "{} examples in {language}", all.len());
        if is_there {
            count += all.len();
            let file = user.path(&format!("{language}.mjs"));
            let text = runner(language, &all).replace("127.0.0.1:8787", "ADDRESS");
            std::fs::write(&file, text).unwrap();
            let _ = writeln!(
                script,
                "sed \"s/ADDRESS/$SEARCHWRIGHT_LISTEN/\" {} > example.mjs\n{program} example.mjs",
                file.display()
            );
        }
    }
    let done = run_script("-eu", &script);
    assert_eq!(done.code, 0, "{done:?}");
    let ran = done.out.lines().filter_map(|line| line.strip_prefix("RAN\t"));
    let ran: Vec<(&str, &str)> = ran.filter_map(|line| line.split_once('\t')).collect();
    let faults: Vec<_> = ran.iter().filter(|(_, answer)| !is_understood(answer)).collect();
    assert!(faults.is_empty(), "{faults:#?}");
    assert_eq!(ran.len(), count, "{}", done.err);
}

/// The manual is a website like any other: its own audit finds no error and no warning in it, wherever it is published.
#[test]
fn audit_of_the_manual_gives_100() {
    let user = User::new();
    let folder = user.path("manual");
    let address = free_address();
    let url = format!("http://{address}");
    let written = user.run(&["manual", folder.to_str().unwrap(), "--site-url", &url]);
    assert_eq!(written.code, 0, "{written:?}");
    let port = address.rsplit(':').next().unwrap_or_default();
    let mut website = Command::new("python3")
        .args(["-m", "http.server", port, "--bind", "127.0.0.1", "--directory"])
        .arg(&folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("python3");
    while std::net::TcpStream::connect(&address).is_err() {
        std::thread::yield_now();
    }
    let published = audit(&user, &url, &[]);
    website.kill().unwrap();
    website.wait().unwrap();
    assert_eq!(published["audit"]["healthScore"], 100, "{published:#}");
    // A server asks search engines to leave out its home page, which is not of the manual, and has no sitemap.
    let server = user.serve(&[]);
    let others = [
        "severity.homepage-not-indexable=off",
        "severity.sitemap-missing=off",
    ];
    let checks: Vec<&str> = others.iter().flat_map(|check| ["--check", check]).collect();
    let served = audit(
        &user,
        &server.url,
        &[&["--include", "/docs*"], &checks[..]].concat(),
    );
    assert_eq!(served["audit"]["healthScore"], 100, "{served:#}");
}

fn audit(user: &User, url: &str, more: &[&str]) -> Value {
    let audited = user.run(&[&["audits", "run", url, "--json"], more].concat());
    assert_eq!(audited.code, 0, "{audited:?}");
    let report: Value = serde_json::from_str(&audited.out).unwrap();
    let fetched = report["audit"]["progress"]["fetched"].as_u64();
    assert!(fetched.is_some_and(|fetched| fetched > 60), "{report:#}");
    report
}
