//! Changes of a project by a person who manages it, each with its line in the activity log.

use searchwright_contract::{
    Code, Problem,
    ids::{ActivityId, ProjectId, UserId},
};
use searchwright_failure::{Failure, Result};
use searchwright_store::{
    BoxFuture, Tx,
    access::ProjectScope,
    activity::{self, NewActivity},
    projects,
};

use crate::{
    People,
    keys::{Managed, managed},
};

/// Line of the activity log: the verb, and the subject.
pub(crate) type LogLine = (&'static str, String);

/// Returns the refusal of a change of something that was changed since the person saw it.
pub(crate) fn changed_meanwhile() -> Failure {
    Problem::new(
        Code::PreconditionFailed,
        "somebody changed it since this page was loaded",
    )
    .hint("look at what is set now, and send the form again if it is still right")
    .into()
}

impl People {
    /// Runs the write transaction of a person who manages a project, alone among those of the project. Its line in the activity log
    /// is written with it; without one, nothing was changed.
    pub(crate) async fn change_managed<T, F>(&self, user: UserId, project: ProjectId, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: for<'a> FnOnce(&'a mut Tx, ProjectScope) -> BoxFuture<'a, Result<(T, Option<LogLine>)>>
            + Send
            + 'static,
    {
        let (now, entry) = (self.clock.now(), self.clock.id::<ActivityId>());
        self.db
            .write(move |tx| {
                Box::pin(async move {
                    let Managed { access, user } = managed(tx, user, project).await?;
                    let scope = access.scope();
                    projects::lock(tx, scope).await?;
                    let (done, line) = work(tx, scope).await?;
                    if let Some((verb, subject)) = line {
                        let entry = NewActivity::of_person(entry, verb, subject, user);
                        activity::insert(tx, scope, entry, now).await?;
                    }
                    Ok::<_, Failure>(done)
                })
            })
            .await
    }
}
