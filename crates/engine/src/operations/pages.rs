//! Pages.

use searchwright_contract::{
    List,
    pages::{GetPage, ListPages, Page, PageDetail, PageIssue, PageSort},
};
use searchwright_store::{
    Tx,
    access::RecordKind,
    occurrences,
    pages::{self, PageNumber, PageQuery},
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
            after: None,
            limit: limit + 1,
        };
        let number = match operation.sort.unwrap_or(PageSort::Url) {
            PageSort::Url => None,
            PageSort::Status => Some(PageNumber::StatusCode),
            PageSort::Depth => Some(PageNumber::Depth),
            PageSort::Inlinks => Some(PageNumber::Inlinks),
        };
        let cursor = operation.cursor.as_deref();
        let Some(number) = number else {
            let after = call.after(&operation, cursor)?;
            let rows = pages::list(tx, call.scope()?, PageQuery { after, ..query }).await?;
            return call.page(&operation, limit, rows, |last: &Page| (last.url.clone(), last.id));
        };
        let after = call.after(&operation, cursor)?;
        let rows = pages::list_by_number(tx, call.scope()?, &query, number, after).await?;
        call.page(&operation, limit, rows, |last: &Page| {
            let value = match number {
                PageNumber::StatusCode => last.status_code.map(i64::from),
                PageNumber::Depth => last.depth.map(i64::from),
                PageNumber::Inlinks => Some(i64::from(last.inlinks)),
            };
            (value.unwrap_or(-1), last.id)
        })
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
