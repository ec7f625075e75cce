//! Exit codes, the part of the output that scripts read first.

use std::process::ExitCode;

use searchwright_client::ClientError;

/// Exit code of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Done.
    Done = 0,
    /// The operation failed.
    Failed = 1,
    /// Wrong usage.
    Usage = 2,
    /// Not authorised.
    Unauthorised = 3,
    /// Not found, or refused by the present state.
    Refused = 4,
    /// A threshold asked for with `--fail-on` was crossed.
    Threshold = 5,
    /// A recheck has not proven everything fixed.
    Unproven = 6,
    /// Ctrl-C ended the waiting for work, which goes on.
    Interrupted = 130,
}

impl Exit {
    /// Way out of a failure that names none itself.
    const fn way_out(self) -> &'static str {
        match self {
            Self::Usage => "`searchwright COMMAND --help` shows what a command takes, with examples",
            Self::Unauthorised => {
                "`searchwright whoami` shows the credential in use and what it may do; `searchwright login` signs in"
            }
            Self::Refused => "look at what is there with the command's `list` or `get`, then repeat it",
            _ => "repeat it; `searchwright doctor` on the server checks the installation",
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Failure of a command: the message, a hint, and the exit code.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct CliError {
    /// Description of the failure.
    pub message: String,
    /// Advice on how to fix it.
    pub hint: Option<String>,
    /// The exit code.
    pub exit: Exit,
}

impl CliError {
    /// A failure with an exit code.
    pub fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            hint: None,
            exit,
        }
    }

    /// Adds advice.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Writes it to stderr: an error, then the way out.
    pub fn report(&self) {
        eprintln!("error: {}", self.message);
        eprintln!("hint: {}", self.hint.as_deref().unwrap_or(self.exit.way_out()));
    }
}

impl From<ClientError> for CliError {
    fn from(error: ClientError) -> Self {
        match error {
            ClientError::Problem(problem) => {
                let exit = match problem.status {
                    401 | 403 => Exit::Unauthorised,
                    404 | 409 | 412 | 428 => Exit::Refused,
                    400 | 422 => Exit::Usage,
                    _ => Exit::Failed,
                };
                let mut message = problem.to_string();
                if problem.errors.len() > 1 {
                    for fault in &problem.errors {
                        message.push_str(&format!("\n  {}: {}", fault.pointer, fault.detail));
                    }
                    let all = problem.error_count.map_or(0, |count| count as usize);
                    if all > problem.errors.len() {
                        message.push_str(&format!("\n  and {} more", all - problem.errors.len()));
                    }
                }
                if !problem.request_id.is_empty() {
                    message.push_str(&format!(" [{}]", problem.request_id));
                }
                Self {
                    message,
                    hint: problem.hint.clone(),
                    exit,
                }
            }
            ClientError::Unreachable { .. } => Self::new(Exit::Failed, error.to_string()).hint(
                "start the server with `searchwright serve`, or name another with --url or SEARCHWRIGHT_URL",
            ),
            ClientError::Unexpected(_) => Self::new(Exit::Failed, error.to_string()).hint(
                "check that --url or SEARCHWRIGHT_URL is that of a Searchwright server of this version",
            ),
        }
    }
}

impl From<std::io::Error> for CliError {
    fn from(error: std::io::Error) -> Self {
        // A reader that has seen enough, as `| head`, is not a failure.
        let exit = if error.kind() == std::io::ErrorKind::BrokenPipe {
            Exit::Done
        } else {
            Exit::Failed
        };
        Self::new(exit, error.to_string())
    }
}
