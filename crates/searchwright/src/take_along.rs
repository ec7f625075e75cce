//! `searchwright export`, `import` and `move`: a project in a file, and everything in another database.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{BufRead as _, BufReader, BufWriter, Write as _},
    path::{Path, PathBuf},
};

use clap::Args;
use flate2::{Compression, bufread::MultiGzDecoder, write::GzEncoder};
use searchwright_backups::TransferError;
use searchwright_cli::{CliError, Exit};
use searchwright_contract::{Clock, Problem, ids::WorkspaceId};
use searchwright_server::{config::Flags, open};
use searchwright_store::{Db, Settings, admin::has_workspace};
use serde_json::json;
use uuid::Uuid;

use crate::{
    admin::{self, people, refused, show},
    settings::settings,
};

/// Connections to the database that everything is copied into.
const CONNECTIONS: usize = 2;

/// A project to be written into a file.
#[derive(Clone, Debug, Args)]
pub struct ExportProject {
    /// Project id.
    project: String,
    /// File, which must not exist; compressed if its name ends with .gz.
    #[arg(long, value_name = "FILE")]
    to: PathBuf,
    #[command(flatten)]
    flags: Flags,
}

/// The file of a project to be read.
#[derive(Clone, Debug, Args)]
pub struct ImportProject {
    /// File that `searchwright export` has written.
    #[arg(required_unless_present = "discard")]
    file: Option<PathBuf>,
    /// Workspace id; default the first workspace.
    #[arg(long)]
    workspace: Option<String>,
    /// Remove what an import wrote that was cut short: the project's id, as `searchwright doctor` shows it.
    #[arg(long, value_name = "PROJECT", conflicts_with_all = ["file", "workspace"])]
    discard: Option<String>,
    #[command(flatten)]
    flags: Flags,
}

/// An installation to be copied.
#[derive(Clone, Debug, Args)]
pub struct MoveInstallation {
    /// URL of the PostgreSQL database, which must be empty.
    #[arg(long, value_name = "URL")]
    to: String,
    #[command(flatten)]
    flags: Flags,
}

fn failed(error: TransferError) -> CliError {
    let (exit, hint) = match error {
        TransferError::NoProject(_) => (Exit::Refused, "`searchwright admin project list` shows the ids"),
        TransferError::UnderWay(_) => (
            Exit::Refused,
            "wait until it has ended, or cancel it, then repeat the command",
        ),
        TransferError::Taken(_) => (Exit::Refused, "import it into another database"),
        TransferError::Unfinished(_) => (
            Exit::Refused,
            "import its file again, which goes on where it was; or remove it: `searchwright import --discard PROJECT`",
        ),
        TransferError::NotUnfinished(_) => (
            Exit::Refused,
            "`searchwright doctor` shows the projects whose import was cut short",
        ),
        TransferError::Overtaken(_) => (
            Exit::Refused,
            "wait until the other has ended; `searchwright doctor` shows what is left",
        ),
        TransferError::NotEmpty => (Exit::Refused, "create a database for it: `createdb searchwright`"),
        TransferError::Line { .. } => (
            Exit::Usage,
            "export the project again, and do not change the file",
        ),
        TransferError::CutShort(_) => (
            Exit::Usage,
            "copy or export the file again, then repeat the command: it goes on where it was",
        ),
        _ => (
            Exit::Failed,
            "repeat it; what was cut short goes on or is taken back",
        ),
    };
    CliError::new(exit, error.to_string()).hint(hint)
}

fn file_failed(path: &Path) -> impl FnOnce(std::io::Error) -> CliError {
    move |error| CliError::new(Exit::Failed, format!("{}: {error}", path.display()))
}

fn sum(rows: &BTreeMap<String, u64>) -> u64 {
    rows.values().sum()
}

/// Writes a project into a file.
pub async fn export(command: ExportProject, json: bool) -> Result<Exit, CliError> {
    let project: Uuid = command
        .project
        .parse()
        .map_err(|_| refused(Problem::not_found("project")))?;
    let path = command.to;
    if path.symlink_metadata().is_ok() {
        return Err(CliError::new(
            Exit::Usage,
            format!("--to: {} exists already", path.display()),
        ));
    }
    let installation = admin::open(&command.flags).await?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    // Under its name once it is whole.
    let mut file = tempfile::Builder::new()
        .prefix(".export-")
        .tempfile_in(folder.unwrap_or(Path::new(".")))
        .map_err(file_failed(&path))?;
    let (db, program, now) = (
        &installation.engine.db,
        env!("CARGO_PKG_VERSION"),
        Clock::system().now(),
    );
    let done = if path.extension().is_some_and(|end| end == "gz") {
        let mut out = GzEncoder::new(BufWriter::new(&mut file), Compression::default());
        let done = searchwright_backups::export(db, project, program, now, &mut out).await;
        let mut rest = out.finish().map_err(file_failed(&path))?;
        rest.flush().map_err(file_failed(&path))?;
        done
    } else {
        let mut out = BufWriter::new(&mut file);
        searchwright_backups::export(db, project, program, now, &mut out).await
    };
    installation.engine.db.close().await;
    let done = done.map_err(failed)?;
    file.as_file().sync_all().map_err(file_failed(&path))?;
    let kept = file
        .persist_noclobber(&path)
        .map_err(|error| file_failed(&path)(error.error))?;
    let bytes = kept.metadata().map_err(file_failed(&path))?.len();
    let text = format!(
        "{}: {} rows, {} KiB. Secrets, keys and accounts are not in it.",
        path.display(),
        sum(&done.rows),
        bytes.div_ceil(1024)
    );
    show(
        json,
        &json!({ "path": path, "bytes": bytes, "rows": done.rows }),
        &text,
    )
}

/// Reads the file of a project.
pub async fn import(command: ImportProject, json: bool) -> Result<Exit, CliError> {
    let path = match (command.file, command.discard) {
        (Some(file), _) => file,
        (None, discard) => return self::discard(&discard.unwrap_or_default(), &command.flags, json).await,
    };
    let workspace = command.workspace.as_deref().map(people::workspace).transpose()?;
    let unreadable = |error| CliError::new(Exit::Usage, format!("{}: {error}", path.display()));
    let mut file = BufReader::with_capacity(1 << 18, File::open(&path).map_err(unreadable)?);
    let is_compressed = file
        .fill_buf()
        .map_err(file_failed(&path))?
        .starts_with(&[0x1f, 0x8b]);
    let installation = match workspace {
        // A workspace can only be in a database that is there.
        Some(_) => admin::open(&command.flags).await?,
        None => admin::open_or_create(&command.flags).await?,
    };
    let (db, clock) = (&installation.engine.db, Clock::system());
    if let Some(named) = workspace {
        require_workspace(db, named).await?;
    }
    let done = if is_compressed {
        let mut lines = BufReader::with_capacity(1 << 18, MultiGzDecoder::new(file));
        searchwright_backups::import(db, &clock, workspace, &mut lines).await
    } else {
        searchwright_backups::import(db, &clock, workspace, &mut file).await
    };
    installation.engine.db.close().await;
    let done = done.map_err(failed)?;
    let earlier = match (done.resumed_after, done.removed) {
        (0, 0) => String::new(),
        (0, removed) => format!("{removed} rows of another file, whose import was cut short, were removed. "),
        (resumed, _) => {
            format!("It went on after {resumed} rows, where an import of this file was cut short. ")
        }
    };
    let text = format!(
        "{earlier}project {} ({}) as it was on {}: {} rows. Schedules are off and scheduled posts are drafts. Connect the places to publish and the \
         accounts with providers again, give webhooks new secrets, make keys, and invite people.",
        done.id,
        done.name,
        done.exported_at,
        sum(&done.rows)
    );
    show(json, &json!(done), &text)
}

/// Refuses a workspace that is not there, before anything of the file is written.
async fn require_workspace(db: &Db, named: WorkspaceId) -> Result<(), CliError> {
    let failed = |error: searchwright_store::Error| CliError::new(Exit::Failed, error.to_string());
    let mut tx = db.read().await.map_err(failed)?;
    match has_workspace(&mut tx, named).await.map_err(failed)? {
        true => Ok(()),
        false => Err(people::missing_workspace(named)),
    }
}

/// Removes what an import wrote that was cut short.
async fn discard(project: &str, flags: &Flags, json: bool) -> Result<Exit, CliError> {
    let project: Uuid = project
        .parse()
        .map_err(|_| refused(Problem::not_found("project")))?;
    let installation = admin::open(flags).await?;
    let removed = searchwright_backups::discard(&installation.engine.db, project).await;
    installation.engine.db.close().await;
    let removed = removed.map_err(failed)?;
    show(
        json,
        &json!({ "id": project, "removed": removed }),
        &format!("{removed} rows of project {project} were removed; nothing of it is left"),
    )
}

/// Refuses a target that is no address of a PostgreSQL database. As that of the server, it is a URL or has the form of `key=value`.
fn check_target(to: &str) -> Result<(), CliError> {
    let is_url = to.starts_with("postgres://") || to.starts_with("postgresql://");
    let is_pairs = !to.contains("://") && to.contains('=');
    if is_url || is_pairs {
        return Ok(());
    }
    // Not what was typed: it may hold a password.
    Err(wrong_target("has to begin with postgres://"))
}

/// Returns what is wrong with the URL of the target, if that is why it could not be opened. The store calls it DATABASE_URL.
fn target_fault(error: &searchwright_store::Error) -> Option<&str> {
    match error {
        searchwright_store::Error::Schema(why) => why.strip_prefix("DATABASE_URL "),
        _ => None,
    }
}

fn wrong_target(why: &str) -> CliError {
    CliError::new(Exit::Usage, format!("--to: {why}"))
        .hint("name an empty PostgreSQL database: --to postgres://USER@HOST/DATABASE")
}

/// Copies everything into PostgreSQL.
pub async fn move_to_postgres(command: MoveInstallation, json: bool) -> Result<Exit, CliError> {
    check_target(&command.to)?;
    let settings = settings(&command.flags)?;
    if !settings.database_url.is_empty() {
        let error = CliError::new(Exit::Usage, "the installation has a PostgreSQL database already");
        return Err(
            error.hint("unset DATABASE_URL: the embedded database of --data-dir is copied into that of --to")
        );
    }
    admin::require_database(&settings)?;
    let stop_it = |error: open::OpenError| {
        CliError::new(Exit::Refused, error.to_string())
            .hint("stop the server: what it wrote meanwhile would be missing")
    };
    let _ownership = open::own(&settings).map_err(stop_it)?;
    let store = |error: searchwright_store::Error| match target_fault(&error) {
        Some(why) => wrong_target(why),
        None => CliError::new(Exit::Failed, format!("--to: {error}")),
    };
    let installation = admin::open(&command.flags).await?;
    let target = Db::open(&Settings::Postgres {
        url: command.to,
        connections: CONNECTIONS,
    })
    .await
    .map_err(store)?;
    target.migrate().await.map_err(store)?;
    let done = searchwright_backups::move_all(&installation.engine.db, &target).await;
    installation.engine.db.close().await;
    target.close().await;
    let done = done.map_err(failed)?;
    let folder = settings.data_dir.display();
    let text = format!(
        "{} rows are in PostgreSQL. Start the server with DATABASE_URL; {folder}/sealing.key and {folder}/published are still used, on every \
         server. Keep {folder}/searchwright.sqlite until you are sure.",
        sum(&done.rows)
    );
    show(json, &json!(done), &text)
}
