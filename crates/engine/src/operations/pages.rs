//! Pages.

use searchwright_contract::{
    List,
    pages::{GetPage, ListPages, Page, PageDetail, PageIssue},
};
use searchwright_store::{
    Tx,
    access::RecordKind,
    occurrences,
    pages::{self, PageQuery},
};

use super::{
    issues::{check, severity},
    page_details,
};
use crate::{
    Engine,
    call::{Call, limit},
    endpoint::Handle,
    failure::Result,
    rules,
};

impl Handle<ListPages> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, operation: ListPages) -> Result<List<Page>> {
        let limit = limit(operation.limit);
        let query = PageQuery {
            status_code: operation.status_code,
            indexable: operation.indexable,
            contains: operation.q.clone(),
            after: call.after(&operation, operation.cursor.as_deref())?,
            limit: limit + 1,
        };
        let rows = pages::list(tx, call.scope()?, query).await?;
        call.page(&operation, limit, rows, |last: &Page| (last.url.clone(), last.id))
    }
}

impl Handle<GetPage> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, operation: GetPage) -> Result<PageDetail> {
        let id = call.child(RecordKind::Page, &operation.page_id)?;
        let scope = call.scope()?;
        let found = pages::get(tx, scope, id).await;
        let page = call.or_missing(tx, RecordKind::Page, id, found).await?;
        let rules = rules::of_newest(tx, scope).await?;
        let mut found = Vec::new();
        for of in occurrences::list_of_page(tx, scope, id).await? {
            let check = check(&of.check_id)?;
            found.push(PageIssue {
                issue_id: of.issue,
                title: check.title.to_owned(),
                check_id: of.check_id,
                severity: severity(rules.severity_of(check, &of.evidence)),
                state: of.state,
                recommendation: check.recommendation.to_owned(),
                how_to_verify: check.recheck_mode().verification().to_owned(),
                evidence: of.evidence,
            });
        }
        // an issue is as bad as its worst occurrence, which need not be this one
        found.sort_by_key(|issue| issue.severity);
        page_details::load(tx, scope, id, page, found).await
    }
}
