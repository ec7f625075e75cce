//! The commands of the table: `keywords.list` is `searchwright keywords list`.

use std::io::{IsTerminal as _, Write as _};

use clap::{Arg, ArgAction, ArgMatches, Command};
use searchwright_contract::{
    Effect, Meta, Operation,
    audits::{AuditStarted, AuditStatus, GetCurrentAudit, StartAudit},
    ids::ProjectId,
    jobs::{Job, JobStatus},
    me::{GetMe, Me},
    operation::{Visitor, input_schema},
    rechecks::{GetRecheck, Recheck, StartRecheck},
    visit,
};
use serde_json::{Map, Value, json};

use crate::{
    Client,
    exit::{CliError, Exit},
    follow::{self, FailOn},
    output,
    profile::Connection,
    proof,
};

/// Flags of every command, each with the flag of an operation's member of the same name.
const TAKEN: &[(&str, &str)] = &[
    ("url", "its-url"),
    ("profile", "its-profile"),
    ("json", "its-json"),
];

/// One operation as a command.
struct Verb {
    meta: Meta,
    command: Command,
    arguments: fn(&ArgMatches) -> Result<Value, CliError>,
}

#[derive(Default)]
struct Verbs(Vec<Verb>);

impl Visitor for Verbs {
    fn operation<O: Operation>(&mut self) {
        let schema = input_schema::<O>();
        let description = schema
            .get("description")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned();
        let verb = O::META.name.split('.').nth(1).unwrap_or_default();
        let (first, _) = description.split_once("\n\n").unwrap_or((&description, ""));
        let mut command = O::augment_args(Command::new(verb))
            .mut_args(
                |arg| match TAKEN.iter().find(|(flag, _)| arg.get_long() == Some(*flag)) {
                    Some((_, other)) => arg.long(*other),
                    None => arg,
                },
            )
            .mut_args(with_bare_flag)
            .about(first.trim_end_matches('.').to_owned())
            .long_about(description.clone());
        if O::META.effect.runs() {
            command = command.arg(Arg::new("wait").long("wait").action(ArgAction::SetTrue).help(
                if O::META.name == StartRecheck::META.name {
                    "Wait for its end and say what is fixed; exit with 6 unless everything is proven fixed"
                } else {
                    "Wait until the job has ended; exit with 1 if it failed"
                },
            ));
        }
        if O::META.name == StartAudit::META.name {
            command = command.arg(
                Arg::new("fail_on")
                    .long("fail-on")
                    .value_name("WHAT")
                    .value_parser(clap::value_parser!(FailOn))
                    .requires("wait")
                    .help("Exit with 5 on error, warning, or score<N"),
            );
        }
        if needs_consent(O::META.effect) {
            command = command.arg(
                Arg::new("yes")
                    .long("yes")
                    .action(ArgAction::SetTrue)
                    .help("Do not ask for confirmation"),
            );
        }
        self.0.push(Verb {
            meta: O::META,
            command,
            arguments: arguments::<O>,
        });
    }
}

fn arguments<O: Operation>(matches: &ArgMatches) -> Result<Value, CliError> {
    let operation = O::from_arg_matches(matches).map_err(|e| CliError::new(Exit::Usage, e.to_string()))?;
    let mut arguments =
        serde_json::to_value(&operation).map_err(|e| CliError::new(Exit::Usage, e.to_string()))?;
    // A flag that repeats cannot be given no times and yet be given: one empty text stands for the empty list.
    for member in arguments.as_object_mut().into_iter().flat_map(Map::values_mut) {
        if *member == json!([""]) {
            *member = json!([]);
        }
    }
    Ok(arguments)
}

/// Lets a flag of true or false stand alone for true.
fn with_bare_flag(arg: Arg) -> Arg {
    let values = arg.get_possible_values();
    let is_flag = arg.get_long().is_some() && values.iter().map(|v| v.get_name()).eq(["true", "false"]);
    if is_flag {
        arg.num_args(0..=1).default_missing_value("true")
    } else {
        arg
    }
}

const fn needs_consent(effect: Effect) -> bool {
    matches!(effect, Effect::Delete | Effect::Publish | Effect::Spend)
}

fn all() -> Vec<Verb> {
    let mut verbs = Verbs::default();
    visit(&mut verbs);
    verbs.0
}

/// A command per resource with its operations below it.
pub fn commands() -> Vec<Command> {
    let mut resources: Vec<Command> = Vec::new();
    for verb in all() {
        let resource = verb.meta.name.split('.').next().unwrap_or_default();
        let at = resources
            .iter()
            .position(|c| c.get_name() == resource)
            .unwrap_or_else(|| {
                resources.push(
                    Command::new(resource)
                        .about(about(resource))
                        .subcommand_required(true)
                        .arg_required_else_help(true),
                );
                resources.len() - 1
            });
        let command = resources.remove(at).subcommand(verb.command);
        resources.insert(at, command);
    }
    resources
}

fn about(resource: &str) -> &'static str {
    match resource {
        "me" => "The credential in use",
        "project" => "The project of the API key",
        "projects" => "Projects that the credential can access",
        "keywords" => "Keywords: search queries with their metrics and intent",
        "posts" => "Posts: drafts, generation and publishing",
        "integrations" => "Connections to publishing providers",
        "audits" => "Crawls of the website and their results",
        "issues" => "Problems of the website found by audits",
        "occurrences" => "Issues on single pages: mark as fixed, ignore",
        "rechecks" => "Verification of fixes",
        "pages" => "URLs of the website",
        "jobs" => "Asynchronous jobs",
        "webhooks" => "Webhooks and their deliveries",
        "events" => "Events of a project",
        "usage" => "Usage and limits of this month",
        "activity" => "Log of changes",
        "autopilot" => "Settings, slots and runs of the autopilot",
        "approvals" => "Posts that wait for a person",
        "schedules" => "Schedules of audits, runs of prompts and metrics",
        "visibility" => "Visibility of the brand in the answers of AI assistants",
        "prompts" => "Tracked prompts and the answers to them",
        "reports" => "Own numbers: reports of Bing and Google, and access logs",
        "names" => "Names in answers that no tracked brand covers",
        "runs" => "Runs: prompts that were put to engines",
        "brand" => "Brand profile: names, domains, tone of voice",
        "products" => "Products of the brand",
        "competitors" => "Competitors of the brand",
        "faqs" => "Questions with the brand's answers",
        "ctas" => "Calls to action for texts",
        _ => "",
    }
}

/// Returns the project of an API key. With an OAuth token the project has to be named.
pub(crate) async fn project_of(client: &Client) -> Result<ProjectId, CliError> {
    match client.call(&GetMe {}).await? {
        Me::Key(key) => Ok(key.project.id),
        Me::Token(token) => {
            let all: Vec<String> = token
                .projects
                .iter()
                .map(|project| format!("{} {}", project.id, project.domain))
                .collect();
            Err(CliError::new(Exit::Usage, "the project is missing")
                .hint(format!("name one with --project: {}", all.join(", "))))
        }
    }
}

/// Runs a command of the table.
pub async fn run(
    resource: &str,
    matches: &ArgMatches,
    connection: &Connection,
    json: bool,
) -> Result<Exit, CliError> {
    let (name, matches) = matches
        .subcommand()
        .ok_or_else(|| CliError::new(Exit::Usage, "a verb is missing"))?;
    let full = format!("{resource}.{name}");
    let verb = all()
        .into_iter()
        .find(|v| v.meta.name == full)
        .ok_or_else(|| CliError::new(Exit::Usage, format!("there is no command {full}")))?;
    let mut arguments = (verb.arguments)(matches)?;
    let is_dry_run = arguments["dryRun"] == true;
    if needs_consent(verb.meta.effect) && !is_dry_run && !matches.get_flag("yes") {
        ask(&full)?;
    }
    let client = connection.client().await?;
    if verb.meta.in_project() && arguments.get("projectId").is_none_or(|p| p == "") {
        arguments["projectId"] = project_of(&client).await?.into();
    }
    let project = arguments["projectId"].as_str().unwrap_or_default().to_owned();
    let answer = client.call_raw(&verb.meta, arguments).await?;
    if verb.meta.name == StartAudit::META.name && matches.get_flag("wait") {
        let fail_on = matches.get_one::<FailOn>("fail_on").copied();
        return wait_for_audit(&client, answer, fail_on, json).await;
    }
    if verb.meta.effect.runs() && matches.get_flag("wait") && !answer["job"].is_null() {
        if verb.meta.name == StartRecheck::META.name {
            return wait_for_recheck(&client, &project, answer, json).await;
        }
        return wait(&client, &verb.meta, &project, answer, json).await;
    }
    if verb.meta.name == GetRecheck::META.name && !json {
        let recheck: Recheck = serde_json::from_value(answer).map_err(failed)?;
        let titles = proof::titles(&client, &project).await?;
        proof::write(&mut std::io::stdout().lock(), &recheck, &titles)?;
        if let Some(cursor) = recheck.next_cursor {
            eprintln!("more: --cursor {cursor}");
        }
        return Ok(Exit::Done);
    }
    output::print(verb.meta.name, &answer, json)?;
    Ok(Exit::Done)
}

async fn wait_for_audit(
    client: &Client,
    started: Value,
    fail_on: Option<FailOn>,
    json: bool,
) -> Result<Exit, CliError> {
    let started: AuditStarted = serde_json::from_value(started).map_err(failed)?;
    if started.already_running {
        eprintln!("an audit is running already; following it");
    }
    let audit = follow::audit(client, started.audit).await?;
    let answer = serde_json::to_value(&audit).map_err(failed)?;
    output::print(GetCurrentAudit::META.name, &answer, json)?;
    match audit.status {
        AuditStatus::Failed | AuditStatus::Cancelled => Ok(Exit::Failed),
        _ => fail_on.map_or(Ok(Exit::Done), |fail_on| fail_on.exit(&audit)),
    }
}

/// Waits for a recheck and says what it has proven.
async fn wait_for_recheck(
    client: &Client,
    project: &str,
    mut answer: Value,
    json: bool,
) -> Result<Exit, CliError> {
    if answer["alreadyRunning"] == true {
        eprintln!("a recheck is running already; following it");
    }
    let job: Job = serde_json::from_value(answer["job"].take()).map_err(failed)?;
    let id = answer["recheck"]["id"].as_str().unwrap_or_default().to_owned();
    let job = follow::job(client, project, job).await.map_err(|error| {
        let goes_on = format!("the recheck continues: searchwright rechecks get {id}");
        let hint = error.hint.clone();
        error.hint(hint.map_or(goes_on.clone(), |hint| format!("{hint}; {goes_on}")))
    })?;
    let recheck = proof::whole(client, project, &id).await?;
    if json {
        answer["job"] = serde_json::to_value(&job).map_err(failed)?;
        answer["recheck"] = serde_json::to_value(&recheck).map_err(failed)?;
        output::print(StartRecheck::META.name, &answer, json)?;
    } else {
        let titles = proof::titles(client, project).await?;
        proof::write(&mut std::io::stdout().lock(), &recheck, &titles)?;
    }
    ended(job).map(|_| proof::exit(&recheck))
}

/// Waits for the job that an operation has started, and prints it, together with the answer of an import.
async fn wait(
    client: &Client,
    meta: &Meta,
    project: &str,
    mut answer: Value,
    json: bool,
) -> Result<Exit, CliError> {
    let job: Job = serde_json::from_value(answer["job"].take()).map_err(failed)?;
    let goes_on = format!("the job continues: searchwright jobs get {}", job.id);
    let job = follow::job(client, project, job).await.map_err(|error| {
        let hint = error.hint.clone();
        error.hint(hint.map_or(goes_on.clone(), |hint| format!("{hint}; {goes_on}")))
    })?;
    let shown = serde_json::to_value(&job).map_err(failed)?;
    if meta.effect == Effect::Import {
        answer["job"] = shown;
    } else {
        answer = shown;
    }
    output::print(meta.name, &answer, json)?;
    ended(job)
}

/// Exit code of a job that has ended; the error says why it failed.
fn ended(job: Job) -> Result<Exit, CliError> {
    match (job.status, job.problem) {
        (JobStatus::Succeeded, _) => Ok(Exit::Done),
        (_, Some(problem)) => Err(CliError {
            message: problem.to_string(),
            hint: problem.hint,
            exit: Exit::Failed,
        }),
        (status, None) => Err(CliError::new(
            Exit::Failed,
            format!("the job is {}", status.as_str()),
        )),
    }
}

fn failed(error: impl std::fmt::Display) -> CliError {
    CliError::new(Exit::Failed, error.to_string())
}

fn ask(what: &str) -> Result<(), CliError> {
    if !std::io::stdin().is_terminal() {
        return Err(CliError::new(Exit::Usage, format!("{what} needs consent")).hint("repeat it with --yes"));
    }
    eprint!("{what}: are you sure? [y/N] ");
    std::io::stderr().flush()?;
    let mut line = String::new();
    std::io::stdin().read_line(&mut line)?;
    if matches!(line.trim(), "y" | "Y" | "yes") {
        Ok(())
    } else {
        Err(CliError::new(Exit::Failed, "nothing was done"))
    }
}

#[cfg(test)]
mod tests {
    use clap::{Args as _, Command};
    use searchwright_contract::audits::StartAudit;
    use serde_json::json;

    use super::arguments;

    #[test]
    fn one_empty_text_is_the_empty_list() {
        let command = StartAudit::augment_args(Command::new("start"));
        let matches = command
            .try_get_matches_from([
                "start",
                "--project",
                "p",
                "--include",
                "",
                "--exclude",
                "/a",
                "--exclude",
                "",
            ])
            .unwrap();
        let given = arguments::<StartAudit>(&matches).unwrap();
        assert_eq!(
            given,
            json!({ "projectId": "p", "include": [], "exclude": ["/a", ""] })
        );
    }
}
