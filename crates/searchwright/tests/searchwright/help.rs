//! Help, completions and man pages: all of them know every command.

use std::process::Stdio;

use searchwright_contract::{Meta, Operation, operation::Visitor, visit};

use crate::program::{User, files};

struct Table(Vec<Meta>);

impl Visitor for Table {
    fn operation<O: Operation>(&mut self) {
        self.0.push(O::META);
    }
}

/// Every operation of the table.
fn table() -> Vec<Meta> {
    let mut table = Table(Vec::new());
    visit(&mut table);
    table.0
}

/// Their names, as `resource.verb`.
fn operations() -> Vec<&'static str> {
    table().iter().map(|meta| meta.name).collect()
}

#[test]
fn help_lists_everything() {
    let help = User::new().run(&["--help"]);
    assert_eq!((help.code, help.err.as_str()), (0, ""));
    insta::assert_snapshot!(help.out);
    let version = User::new().run(&["--version"]);
    assert_eq!(
        version.out,
        format!("searchwright {}\n", env!("CARGO_PKG_VERSION"))
    );
}

/// Commands that the overview lists: the words of its lines before two spaces.
fn listed(overview: &str) -> Vec<&str> {
    let lines = overview.lines().skip_while(|line| *line != "Start");
    let lines = lines.take_while(|line| *line != "Options:");
    lines
        .filter_map(|line| line.strip_prefix("  ")?.get(..32))
        .flat_map(|commands| commands.split(',').map(str::trim))
        .filter(|command| !command.is_empty())
        .collect()
}

#[test]
fn the_overview_fits_a_screen_and_lists_every_command_once() {
    let user = User::new();
    let overview = user.run(&["--help"]).out;
    assert!(overview.lines().count() <= 40, "{}", overview.lines().count());
    assert!(overview.lines().all(|line| line.chars().count() <= 100));
    let mut listed = listed(&overview);
    let script = user.run(&["completions", "fish"]).out;
    let mut known: Vec<&str> = script
        .lines()
        .filter(|line| line.contains("__fish_searchwright_needs_command"))
        .filter_map(|line| line.split_once(" -a \"")?.1.split('"').next())
        .collect();
    for commands in [&mut listed, &mut known] {
        commands.sort_unstable();
    }
    assert_eq!(listed, known);
}

#[test]
fn commands_of_the_operator_show_their_own_options() {
    let help = User::new().run(&["admin", "key", "create", "--help"]).out;
    for shown in [
        "--scopes",
        "--data-dir",
        "--database-url",
        "--config",
        "searchwright serve --help",
    ] {
        assert!(help.contains(shown), "{shown} in {help}");
    }
    for hidden in [
        "--listen",
        "--smtp-url",
        "--allow-outbound",
        "SEARCHWRIGHT_KEY",
        "--profile",
    ] {
        assert!(!help.contains(hidden), "{hidden} in {help}");
    }
    let help = User::new().run(&["serve", "--help"]).out;
    assert!(help.contains("--smtp-url") && help.contains("--listen"), "{help}");
}

#[test]
fn every_operation_is_a_command_with_help() {
    let user = User::new();
    assert!(operations().len() >= 22);
    let overview = user.run(&["--help"]).out;
    for meta in table() {
        let name = meta.name;
        let (resource, verb) = name.split_once('.').unwrap();
        let help = user.run(&[resource, verb, "--help"]);
        assert_eq!(help.code, 0, "{name}");
        assert!(
            help.out
                .contains(&format!("Usage: searchwright {resource} {verb}")),
            "{}",
            help.out
        );
        assert!(
            help.out.contains("--json") && help.out.contains("--url"),
            "{name}"
        );
        assert!(
            listed(&overview).contains(&resource),
            "nothing says what {resource} are"
        );
        assert_eq!(help.out.contains("--wait"), meta.effect.runs(), "{name}");
        let resource = user.run(&[resource, "--help"]).out;
        assert!(resource.contains(verb), "{name}");
        assert!(
            resource.contains("Examples:\n  searchwright "),
            "{name}: {resource}"
        );
    }
}

#[test]
fn without_a_command_the_help_is_the_complaint() {
    for arguments in [&[][..], &["keywords"], &["admin"], &["admin", "key"]] {
        let outcome = User::new().run(arguments);
        outcome.refuses(2, &["Usage: searchwright"]);
    }
}

#[test]
fn an_export_says_what_it_leaves_out() {
    let help = User::new().run(&["audits", "export", "--help"]).out;
    let words: Vec<&str> = help.split_whitespace().collect();
    let help = words.join(" ");
    assert!(help.contains("not those resolved or ignored"), "{help}");
    assert!(!help.contains("nothing out"), "{help}");
}

#[test]
fn completions_know_every_command() {
    let user = User::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = user.run(&["completions", shell]);
        assert_eq!((script.code, script.err.as_str()), (0, ""), "{shell}");
        for word in ["serve", "keywords", "occurrences", "doctor", "--data-dir"] {
            assert!(
                script.out.contains(word.trim_start_matches('-')),
                "{shell} lacks {word}"
            );
        }
    }
    user.run(&["completions", "tcsh"]).refuses(2, &["tcsh", "bash"]);
}

#[test]
fn a_man_page_for_every_command() {
    let user = User::new();
    let outcome = user.run(&["man", "share/man1"]);
    assert_eq!((outcome.code, outcome.out.as_str()), (0, ""));
    let pages: Vec<String> = files(&user.path("share/man1"))
        .iter()
        .map(|p| p.file_name().unwrap().to_str().unwrap().to_owned())
        .collect();
    for name in operations() {
        let page = format!("searchwright-{}.1", name.replace('.', "-"));
        assert!(pages.contains(&page), "{page} in {pages:?}");
    }
    for page in [
        "searchwright.1",
        "searchwright-serve.1",
        "searchwright-admin-key-create.1",
    ] {
        assert!(pages.iter().any(|p| p == page), "{page} in {pages:?}");
    }
    std::fs::write(user.path("file"), "").unwrap();
    user.run(&["man", "file"]).refuses(1, &["error: "]);
}

/// A reader that has seen enough, as `| head`, is not a failure.
#[test]
fn a_closed_pipe_is_no_failure() {
    let user = User::new();
    for arguments in [
        &["completions", "bash"][..],
        &["config", "print"],
        &["doctor"],
        &["--help"],
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = user.command(&[arguments, &["--json"]].concat());
        let output = command
            .stdout(Stdio::from(writer))
            .spawn()
            .unwrap()
            .wait_with_output()
            .unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(
            (output.status.code(), said.as_str()),
            (Some(0), ""),
            "{arguments:?}"
        );
    }
}
