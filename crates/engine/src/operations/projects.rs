//! Projects.

use searchwright_contract::{
    Code, Instant, List, Problem,
    ids::UserId,
    me::AccessibleProject,
    projects::{GetProject, GetProjectById, ListProjects, Project, ProjectRef},
};
use searchwright_store::{
    Tx,
    access::{self, ProjectPosition, ProjectScope},
    agent_autonomy, projects,
};

use crate::{
    Engine,
    call::{Call, Credential, limit},
    endpoint::Handle,
    failure::Result,
};

async fn read(call: &Call, tx: &mut Tx, scope: ProjectScope) -> Result<Project> {
    Ok(Project {
        agent_autonomy: agent_autonomy::get(tx, scope, call.now).await?,
        ..projects::get(tx, scope).await?
    })
}

/// Returns the projects that a user can access now, with Agent Autonomy.
pub(super) async fn accessible_projects(
    tx: &mut Tx,
    user: UserId,
    after: Option<ProjectPosition>,
    limit: u32,
    now: Instant,
) -> Result<Vec<AccessibleProject>> {
    let mut projects = access::list_projects_of_user(tx, user, after, limit).await?;
    for (id, action, autonomy) in agent_autonomy::list_of_user(tx, user, now).await? {
        if let Some(project) = projects.iter_mut().find(|project| project.id == id) {
            agent_autonomy::set(&mut project.agent_autonomy, action, autonomy);
        }
    }
    Ok(projects)
}

impl Handle<GetProject> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, _: GetProject) -> Result<Project> {
        match &call.credential {
            Credential::Key(access) => read(call, tx, access.project.scope()).await,
            Credential::Token(_) | Credential::Session(_) => Err(Problem::new(
                Code::ProjectNotSelected,
                "an OAuth token belongs to no single project",
            )
            .hint("list the projects with projects.list, choose one and name it")
            .into()),
        }
    }
}

impl Handle<ListProjects> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, operation: ListProjects) -> Result<List<ProjectRef>> {
        let user = match &call.credential {
            Credential::Key(access) => {
                call.after::<_, ProjectPosition>(&operation, operation.cursor.as_deref())?;
                return Ok(List {
                    data: vec![access.project.project.clone()],
                    next_cursor: None,
                });
            }
            Credential::Token(token) => token.user,
            Credential::Session(session) => session.user,
        };
        let limit = limit(operation.limit);
        let after = call.after(&operation, operation.cursor.as_deref())?;
        let found = access::list_projects_of_user(tx, user, after, limit + 1).await?;
        let rows = found
            .into_iter()
            .map(|project| ProjectRef {
                id: project.id,
                name: project.name,
                domain: project.domain,
            })
            .collect();
        call.page(&operation, limit, rows, |last| (last.name.clone(), last.id))
    }
}

impl Handle<GetProjectById> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, _: GetProjectById) -> Result<Project> {
        read(call, tx, call.scope()?).await
    }
}
