//! Approvals, to be read. People decide on the dashboard.

use searchwright_contract::{
    List,
    approvals::{Approval, GetApproval, ListApprovals},
    ids::ApprovalId,
};
use searchwright_store::{
    Tx,
    access::RecordKind,
    approvals::{self, ApprovalRecord},
    posts,
};

use crate::{
    Engine,
    autopilot::approvals::shown,
    call::{Call, limit},
    endpoint::Handle,
    failure::Result,
};

async fn answer(call: &Call, tx: &mut Tx, record: ApprovalRecord) -> Result<Approval> {
    let scope = call.scope()?;
    let post = posts::get(tx, scope, record.post).await?.post.summary;
    Ok(shown(&call.engine, scope.project().into(), record, &post))
}

impl Handle<ListApprovals> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, operation: ListApprovals) -> Result<List<Approval>> {
        let limit = limit(operation.limit);
        let before: Option<ApprovalId> = call.after(&operation, operation.cursor.as_deref())?;
        let rows = approvals::list(tx, call.scope()?, operation.status, before, limit + 1).await?;
        let mut listed = Vec::with_capacity(rows.len());
        for row in rows {
            listed.push(answer(call, tx, row).await?);
        }
        call.page(&operation, limit, listed, |last| last.id)
    }
}

impl Handle<GetApproval> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, operation: GetApproval) -> Result<Approval> {
        let id: ApprovalId = call.child(RecordKind::Approval, &operation.approval_id)?;
        let found = approvals::get(tx, call.scope()?, id).await;
        let found = call.or_missing(tx, RecordKind::Approval, id, found).await?;
        answer(call, tx, found).await
    }
}
