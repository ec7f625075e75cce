//! Publishing: places to publish, what they can do, and what is to be done next with a post. Never twice, never lost: what was
//! sent and not answered is looked for before anything is sent again.

mod answers;
pub mod connection_input;
mod decide;
mod error;
mod front_matter;
mod http;
pub mod mapping;
mod marker;
pub mod oauth;
pub mod pictures;
mod publisher;
mod values;
pub mod vendors;
mod visits;

use std::{path::PathBuf, sync::Arc};

pub use connection_input::secrets;
pub use decide::{Aim, Before, Change, Known, Next, Reason, Sent, decide};
pub use error::{Cause, Trouble, Why};
pub use marker::Marker;
pub use publisher::{Account, Connection, Item, Publisher, Remote, Uploaded, Visible, Wanted};
use searchwright_contract::Clock;
use searchwright_outbound::{Guarded, Outbound, Purpose};
use uuid::Uuid;
pub use vendors::Input;
pub use visits::Visits;

/// Dependencies of publishing on the server it runs on.
#[derive(Clone)]
pub struct Settings {
    /// The guarded clients.
    pub outbound: Outbound,
    /// Folder under which files are published, one folder per project.
    pub folder: PathBuf,
    /// Folder for temporary files, emptied when the server starts.
    pub scratch: PathBuf,
    /// Visits to repositories under way.
    pub visits: Arc<Visits>,
    /// Origin of this server's pages, without a slash at its end.
    pub origin: String,
}

impl std::fmt::Debug for Settings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "publishing::Settings({})", self.origin)
    }
}

/// Everything a vendor needs to reach its provider.
#[derive(Clone)]
pub struct Context {
    /// The guarded client.
    pub client: Guarded,
    /// Time.
    pub clock: Clock,
    /// The project's folder for files.
    pub folder: PathBuf,
    /// Folder for temporary files.
    pub scratch: PathBuf,
    /// Visits to repositories under way.
    pub visits: Arc<Visits>,
    /// Id of the project.
    pub project: Uuid,
    /// Id of the delivery: every attempt to send it carries the same id.
    pub delivery: Uuid,
}

impl std::fmt::Debug for Context {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Context({})", self.delivery)
    }
}

impl Context {
    /// Creates the context of a project.
    pub fn new(settings: &Settings, clock: Clock, project: Uuid, delivery: Uuid) -> Self {
        Self {
            client: settings.outbound.for_purpose(Purpose::Publish),
            clock,
            folder: settings.folder.join(project.to_string()),
            scratch: settings.scratch.clone(),
            visits: settings.visits.clone(),
            project,
            delivery,
        }
    }
}
