//! Help of the whole program on one screen, and of its parts without what belongs to others.

use std::{ffi::OsString, process::ExitCode};

use clap::{Arg, Args as _, Command, error::ErrorKind};
use searchwright_cli::profile::Connection;
use searchwright_server::config::Flags;

/// Meaning of the exit codes.
pub const EXIT_CODES: &str = "Exit codes: 0 done, 1 failed, 2 wrong usage, 3 not authorised, 4 not found or refused by state, 5 a --fail-on threshold was crossed, 6 a recheck has not proven everything fixed, 130 interrupted";

/// Options of the server that the commands of the operator show: where the installation is.
const SHOWN: &[&str] = &["config", "data_dir", "database_url"];

/// Every command, in groups. A test compares it with the commands.
pub const OVERVIEW: &str = "\
Audits a website and proves each fix, finds keywords, drafts and publishes posts

Usage: searchwright [OPTIONS] <COMMAND>     (details and examples: searchwright <COMMAND> --help)

Start
  try                             Audit a website now: start everything in ./searchwright-data
  login, logout, whoami, profile  Sign in and out; the credential in use; saved servers and keys
  open, watch                     Open a page of the dashboard; follow events
Site
  audits, pages                   Crawls of the website and their results; its URLs
  issues, occurrences, rechecks   What audits found; mark as fixed, ignore; prove fixes
Content
  keywords, posts                 Search queries with figures; drafts, generation, publishing
  approvals, autopilot, schedules Posts that wait for a person; what happens by itself
Visibility
  visibility, prompts, runs       The brand in answers of AI assistants; tracked prompts; their runs
  names, reports, logs            Names no brand covers; own numbers; access logs of the web server
  brand, products, competitors    Brand profile: names, domains, tone of voice; its products; others
  faqs, ctas                      Questions with answers; calls to action
Connections
  integrations, webhooks, events  Places to publish; webhooks, their deliveries; the feed of events
  mcp                             MCP on standard input and output; mcp install: set a client up
Project
  me, project, projects           The credential; its project; all that it can access
  jobs, usage, activity           Asynchronous jobs; usage and limits of this month; log of changes
Server
  serve, worker, migrate, move    Serve the API, MCP, jobs; jobs only; the schema; to PostgreSQL
  doctor, config, admin           Check the installation; settings; projects, keys, people, limits
  backup, restore, export, import Back up, put a backup back; take a project along in a file
  completions, man, manual, help  Completions of a shell; man pages; the manual; help of a command

Options:
      --json           Print JSON, one document (also: --jsonl, --output csv, --fields a,b, --all)
      --url <URL>      URL of the server; default http://127.0.0.1:8787 [env: SEARCHWRIGHT_URL]
      --profile <NAME> Saved server and credential [env: SEARCHWRIGHT_PROFILE, SEARCHWRIGHT_KEY]
  -h, --help           Print help
  -V, --version        Print version

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 not authorised, 4 not found or refused by state,
5 a --fail-on threshold was crossed, 6 a recheck has not proven everything fixed, 130 interrupted
";

/// Answers a command line that was not read: with the help that it asked for, or with its fault and the way out.
pub fn answer(error: &clap::Error, command: &Command, arguments: &[OsString]) -> ExitCode {
    let code = u8::try_from(error.exit_code()).unwrap_or(2);
    if !error.use_stderr() || error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        // A reader that has seen enough is no failure.
        let _ = error.print();
        return code.into();
    }
    let text = error.render().to_string();
    let text = text
        .trim_end()
        .trim_end_matches("For more information, try '--help'.");
    let is_tip = |line: &&str| line.starts_with("  tip: ");
    let mut said: Vec<&str> = text.lines().filter(|line| !is_tip(line)).collect();
    // Where a tip was, two empty lines meet.
    said.dedup_by(|next, line| next.is_empty() && line.is_empty());
    let tips = text
        .lines()
        .filter(is_tip)
        .map(|line| line.trim_start_matches("  tip: ").to_owned());
    let way = format!("`{} --help` shows what it takes", path(command, arguments));
    let hints: Vec<String> = tips.chain([way]).collect();
    eprintln!("{}\nhint: {}", said.join("\n").trim_end(), hints.join("; "));
    code.into()
}

/// Returns the command that arguments name, as far as there is one.
fn path(command: &Command, arguments: &[OsString]) -> String {
    let mut path = command.get_name().to_owned();
    let mut at = command;
    let mut words = arguments.iter().skip(1).filter_map(|word| word.to_str());
    while let Some(word) = words.next() {
        if matches!(word, "--url" | "--profile") {
            words.next();
        } else if let Some(next) = at.find_subcommand(word) {
            at = next;
            path.push(' ');
            path.push_str(word);
        } else if !word.starts_with('-') {
            break;
        }
    }
    path
}

/// Commands on the server itself, which call none.
const LOCAL: &[&str] = &[
    "try",
    "serve",
    "worker",
    "migrate",
    "doctor",
    "backup",
    "restore",
    "export",
    "import",
    "move",
    "config",
    "admin",
    "completions",
    "man",
    "manual",
];

/// Hides server and credential of calls in the commands that make none.
pub fn without_connection(program: Command) -> Command {
    program.mut_subcommands(|command| {
        if !LOCAL.contains(&command.get_name()) {
            return command;
        }
        // An argument of the same id takes the place of the one that is in every command.
        let connection = Connection::augment_args(Command::new(""));
        let hidden: Vec<Arg> = connection
            .get_arguments()
            .map(|arg| arg.clone().hide(true))
            .collect();
        command.args(hidden)
    })
}

/// Hides the options of the server that say nothing about where the installation is, in this command and those below.
pub fn without_server_options(command: Command) -> Command {
    let server = Flags::augment_args(Command::new(""));
    let hidden: Vec<String> = server
        .get_arguments()
        .map(|arg| arg.get_id().to_string())
        .filter(|id| !SHOWN.contains(&id.as_str()))
        .collect();
    hide(command, &hidden)
}

fn hide(command: Command, hidden: &[String]) -> Command {
    let has_any = command
        .get_arguments()
        .any(|arg| hidden.iter().any(|id| arg.get_id() == id.as_str()));
    let command = command.mut_args(|arg| {
        let is_hidden = hidden.iter().any(|id| arg.get_id() == id.as_str());
        if is_hidden { arg.hide(true) } else { arg }
    });
    let command = command.mut_subcommands(|sub| hide(sub, hidden));
    if has_any {
        command.after_help("It takes the other options of the server as well: searchwright serve --help")
    } else {
        command
    }
}
