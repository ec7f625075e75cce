//! Projects.

use searchwright_contract::{
    List,
    projects::{GetProject, GetProjectById, ListProjects, Project, ProjectRef},
};
use searchwright_store::{Tx, projects};

use crate::{
    Engine,
    call::{Call, Credential},
    endpoint::Handle,
    failure::Result,
};

impl Handle<GetProject> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, _: GetProject) -> Result<Project> {
        let Credential::Key(access) = &call.credential;
        Ok(projects::get(tx, access.own_scope()).await?)
    }
}

impl Handle<ListProjects> for Engine {
    async fn handle(call: &Call, _: &mut Tx, operation: ListProjects) -> Result<List<ProjectRef>> {
        call.after::<_, ()>(&operation, operation.cursor.as_deref())?;
        let Credential::Key(access) = &call.credential;
        Ok(List {
            data: vec![access.project.clone()],
            next_cursor: None,
        })
    }
}

impl Handle<GetProjectById> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, _: GetProjectById) -> Result<Project> {
        Ok(projects::get(tx, call.scope()?).await?)
    }
}
