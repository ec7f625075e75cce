//! Settings of the commands that work on the server itself.

use searchwright_cli::{CliError, Exit};
use searchwright_server::{Settings, config::Flags, logs};

/// The settings of these flags, with logging begun.
pub fn settings(flags: &Flags) -> Result<Settings, CliError> {
    let settings = Settings::load(flags).map_err(|e| CliError::new(Exit::Usage, e.to_string()))?;
    logs::init(&settings.log);
    Ok(settings)
}
