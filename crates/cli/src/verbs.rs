//! The commands of the table: `keywords.list` is `searchwright keywords list`.

mod consent;
mod examples;
mod waiting;

use std::io::Write as _;

use clap::{Arg, ArgAction, ArgMatches, Command};
use searchwright_contract::{
    Answer as _, Effect, Meta, Operation,
    audits::StartAudit,
    columns::Columns,
    ids::ProjectId,
    me::{GetMe, Me},
    occurrences::{MarkOutcome, Marked, Marking},
    operation::{Visitor, answer_schema, input_schema},
    rechecks::{GetRecheck, Recheck, StartRecheck},
    visit,
};
use serde::Deserialize as _;
use serde_json::{Map, Value, json};

use crate::{
    Client,
    exit::{CliError, Exit},
    follow::FailOn,
    output::{self, OutputArgs, Printer},
    profile::Connection,
    proof,
};

/// Records of one request where all pages are wanted.
const PAGE: u8 = 100;

/// Flags of every command, each with the flag of an operation's member of the same name.
const TAKEN: &[(&str, &str)] = &[
    ("url", "its-url"),
    ("profile", "its-profile"),
    ("json", "its-json"),
];

/// Flag of the number of records of a page.
const LIMIT: &str = "limit";

/// Argument of operations that have no dry run, kept to say so.
const NO_DRY_RUN: &str = "no_dry_run";

/// One operation as a command.
struct Verb {
    meta: Meta,
    command: Command,
    arguments: fn(&ArgMatches) -> Result<Value, CliError>,
    columns: fn() -> Option<Columns>,
}

/// Operations as commands: all, or those of one resource.
struct Verbs<'a> {
    resource: Option<&'a str>,
    found: Vec<Verb>,
}

impl Visitor for Verbs<'_> {
    fn operation<O: Operation>(&mut self) {
        let (resource, verb) = O::META.name.split_once('.').unwrap_or((O::META.name, ""));
        if self.resource.is_some_and(|wanted| wanted != resource) {
            return;
        }
        let mut command = O::augment_args(Command::new(verb))
            .mut_args(
                |arg| match TAKEN.iter().find(|(flag, _)| arg.get_long() == Some(*flag)) {
                    Some((_, other)) => arg.long(*other),
                    None => arg,
                },
            )
            .mut_args(with_bare_flag)
            .mut_args(|arg| match arg.get_long() == Some(LIMIT) {
                true => arg.value_parser(read_limit::<O>),
                false => arg,
            });
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
        if consent::is_needed(O::META.effect) {
            command = command.arg(
                Arg::new("yes")
                    .long("yes")
                    .action(ArgAction::SetTrue)
                    .help("Do not ask for confirmation"),
            );
        }
        if !command
            .get_arguments()
            .any(|arg| arg.get_long() == Some("dry-run"))
        {
            let arg = Arg::new(NO_DRY_RUN).long("dry-run").hide(true);
            command = command.arg(arg.num_args(0..=1).default_missing_value("true"));
        }
        if O::META.effect != Effect::Delete {
            command = output::with_output_args(command, O::Answer::LIST);
        }
        self.found.push(Verb {
            meta: O::META,
            command,
            arguments: arguments::<O>,
            columns: columns::<O>,
        });
    }
}

/// Returns the members of the records that an operation answers with.
fn columns<O: Operation>() -> Option<Columns> {
    let schema = answer_schema::<O>();
    let schema = schema.as_value();
    Columns::of_list(schema).or_else(|| Columns::of_record(schema))
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

/// Reads the number of records of a page, with the bounds that the operation has. Its schema is made only when a command
/// line has the flag.
fn read_limit<O: Operation>(text: &str) -> Result<u8, String> {
    let schema = input_schema::<O>();
    let bound = |name: &str| schema.pointer(&format!("/properties/{LIMIT}/{name}"))?.as_u64();
    let (least, most) = (
        bound("minimum").unwrap_or(1),
        bound("maximum").unwrap_or(PAGE.into()),
    );
    let number = text.parse::<u8>().ok();
    number
        .filter(|number| (least..=most).contains(&u64::from(*number)))
        .ok_or_else(|| format!("must be {least} to {most}"))
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

fn find(resource: Option<&str>) -> Vec<Verb> {
    let mut verbs = Verbs {
        resource,
        found: Vec::new(),
    };
    visit(&mut verbs);
    verbs.found
}

/// A command per resource with its operations below it: of every resource, or of one.
pub fn commands(resource: Option<&str>) -> Vec<Command> {
    let mut resources: Vec<Command> = Vec::new();
    for verb in find(resource) {
        let resource = verb.meta.name.split('.').next().unwrap_or_default();
        let at = resources
            .iter()
            .position(|c| c.get_name() == resource)
            .unwrap_or_else(|| {
                let mut command = Command::new(resource)
                    .about(about(resource))
                    .subcommand_required(true)
                    .arg_required_else_help(true);
                if let Some(examples) = examples::find(resource) {
                    command = command.after_help(examples);
                }
                resources.push(command);
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
    let verb = find(Some(resource))
        .into_iter()
        .find(|v| v.meta.name == full)
        .ok_or_else(|| CliError::new(Exit::Usage, format!("there is no command {full}")))?;
    let has_flag = |id: &str| matches.try_get_one::<bool>(id).ok().flatten() == Some(&true);
    if matches.try_contains_id(NO_DRY_RUN).unwrap_or(false) {
        return Err(no_dry_run(&verb.meta));
    }
    let mut arguments = (verb.arguments)(matches)?;
    let is_waiting = has_flag("wait");
    let output = OutputArgs::read(matches, json)?;
    let printer = output.printer(verb.meta.name, || match is_waiting {
        true => waiting::columns(&verb.meta, verb.columns),
        false => (verb.columns)(),
    })?;
    let client = connection.client().await?;
    if verb.meta.in_project() && arguments.get("projectId").is_none_or(|p| p == "") {
        arguments["projectId"] = project_of(&client).await?.into();
    }
    let is_dry_run = arguments["dryRun"] == true;
    if consent::is_needed(verb.meta.effect) && !is_dry_run && !has_flag("yes") {
        consent::ask(&client, &verb.meta, &arguments).await?;
    }
    if output.is_every_page {
        return every_page(&client, &verb.meta, arguments, &printer).await;
    }
    let project = arguments["projectId"].as_str().unwrap_or_default().to_owned();
    let answer = client.call_raw(&verb.meta, arguments).await?;
    if verb.meta.name == StartAudit::META.name && is_waiting {
        let fail_on = matches.get_one::<FailOn>("fail_on").copied();
        return waiting::audit(&client, answer, fail_on, &printer).await;
    }
    if is_waiting && !answer["job"].is_null() {
        if verb.meta.name == StartRecheck::META.name {
            return waiting::recheck(&client, &project, answer, &output, &printer).await;
        }
        return waiting::job(&client, &verb.meta, &project, answer, &printer).await;
    }
    if verb.meta.name == GetRecheck::META.name && output.is_for_people() {
        let recheck: Recheck = serde_json::from_value(answer).map_err(failed)?;
        let titles = proof::titles(&client, &project).await?;
        proof::write(&mut std::io::stdout().lock(), &recheck, &titles)?;
        if let Some(cursor) = recheck.next_cursor {
            output::write_note(&format!("more: --cursor {cursor}"));
        }
        return Ok(Exit::Done);
    }
    printer.print(verb.meta.name, &answer)?;
    Ok(match is_refused_whole(&answer) {
        true => Exit::Refused,
        false => Exit::Done,
    })
}

/// Returns whether an answer is the outcome of a batch of which nothing was accepted: a script should not go on after it.
fn is_refused_whole(answer: &Value) -> bool {
    let Ok(marking) = Marking::deserialize(answer) else {
        return false;
    };
    let is_refused = |item: &Marked| item.outcome == MarkOutcome::Refused;
    !marking.items.is_empty() && marking.items.iter().all(is_refused)
}

/// Refusal of `--dry-run` where there is none.
fn no_dry_run(meta: &Meta) -> CliError {
    let command = meta.name.replace('.', " ");
    if meta.effect == Effect::Read {
        return CliError::new(Exit::Usage, format!("{command} has no --dry-run: it only reads"))
            .hint("leave --dry-run out");
    }
    let error = CliError::new(
        Exit::Usage,
        format!("{command} has no --dry-run, and nothing was done"),
    );
    error.hint(if consent::is_needed(meta.effect) {
        "without --yes it says what it would do, and asks first"
    } else {
        "read the record first with the command's `get` or `list`; leave --dry-run out to carry it out"
    })
}

/// Prints all pages of a list, each when it has come.
async fn every_page(
    client: &Client,
    meta: &Meta,
    mut arguments: Value,
    printer: &Printer,
) -> Result<Exit, CliError> {
    if arguments.get("limit").is_none_or(Value::is_null) {
        arguments["limit"] = PAGE.into();
    }
    let mut pages = printer.pages(meta.name);
    let mut out = std::io::BufWriter::new(std::io::stdout());
    loop {
        let answer = client.call_raw(meta, arguments.clone()).await?;
        let rows = answer["data"].as_array().map(Vec::as_slice).unwrap_or_default();
        pages.write(&mut out, rows)?;
        out.flush()?;
        let next = &answer["nextCursor"];
        // The feed of events has a cursor on its last page as well, and none on the empty page behind it.
        if next.is_null() || rows.is_empty() {
            pages.end(&mut out)?;
            return Ok(Exit::Done);
        }
        arguments["cursor"] = next.clone();
    }
}

fn failed(error: impl std::fmt::Display) -> CliError {
    CliError::new(Exit::Failed, error.to_string())
}

#[cfg(test)]
mod tests {
    use clap::{Arg, ArgAction, Args as _, Command};
    use searchwright_contract::audits::StartAudit;
    use serde_json::json;

    use super::arguments;

    /// Splits a line as a shell does, as far as the examples need it.
    fn words(line: &str) -> Vec<String> {
        let mut words = vec![String::new()];
        let mut is_quoted = false;
        for c in line.chars() {
            match (c, words.last_mut()) {
                ('\'', _) => is_quoted = !is_quoted,
                (' ', _) if !is_quoted => words.push(String::new()),
                (c, Some(word)) => word.push(c),
                (_, None) => {}
            }
        }
        words
    }

    #[test]
    fn examples_can_be_run() {
        let json = Arg::new("json")
            .long("json")
            .global(true)
            .action(ArgAction::SetTrue);
        let whole = Command::new("searchwright")
            .arg(json)
            .subcommands(super::commands(None));
        let mut count = 0;
        for command in whole.get_subcommands() {
            let text = super::examples::find(command.get_name()).unwrap();
            for line in text.lines().skip(1) {
                let words = words(line.trim());
                // Two are not operations, and files are not here.
                let is_other = matches!(words.get(2).map(String::as_str), Some("run" | "export"));
                if words[1] == "watch" || is_other || line.contains('@') {
                    continue;
                }
                let parsed = whole.clone().try_get_matches_from(&words);
                assert!(parsed.is_ok(), "{line}: {}", parsed.unwrap_err());
                count += 1;
            }
        }
        assert!(count > 30, "{count}");
    }

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
