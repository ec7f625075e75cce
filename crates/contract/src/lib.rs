//! The API contract of Searchwright: one table of operations, requests and answers behind every surface.
//!
//! An operation is a plain struct, declared by `operation!` (`declare.rs`); its rustdoc is its
//! description in the HTTP document, in MCP and on the command line. One line of [`operations!`] gives it
//! a name, a method, a path, an answer, a scope and an effect. Nothing here knows HTTP, SQL or an async
//! runtime.

pub mod actions;
pub mod activity;
pub mod answers;
pub mod approvals;
pub mod argument;
pub mod audits;
pub mod autopilot;
pub mod brand;
pub mod clock;
pub mod columns;
pub mod competitors;
pub mod ctas;
mod declare;
pub mod diffs;
pub mod engine_status;
pub mod error;
pub mod events;
pub mod evidence;
pub mod faqs;
mod faults;
pub mod ids;
pub mod instant;
pub mod integrations;
pub mod issues;
pub mod jobs;
pub mod json;
pub mod keywords;
pub mod list;
pub mod mcp_clients;
pub mod me;
pub mod missing;
pub mod names;
pub mod occurrences;
pub mod operation;
pub mod opportunities;
pub mod pages;
pub mod patch;
pub mod people;
pub mod posts;
pub mod products;
pub mod projects;
pub mod prompt_ideas;
pub mod prompts;
pub mod rechecks;
pub mod reports;
pub mod runs;
pub mod schedules;
pub mod shape;
pub mod usage;
pub mod visibility;
pub mod webhooks;
mod wire;
mod words;

pub use clock::Clock;
pub use error::{Code, Fault, Problem};
pub use faults::{Faults, MAX_FAULTS};
pub use instant::Instant;
pub use list::List;
pub use operation::{Answer, Effect, Head, Meta, Method, Operation, Reach, Scope};
pub use patch::Patch;
pub use wire::wire_name;

/// The contract table: expands `$then! { rows }` with every operation.
///
/// A row reads `module::Struct => "name" METHOD "path" -> Answer, Scope, Effect, Reach, [errors];`. Paths are relative
/// to the versioned root; errors that any call can answer are left out. Code that expands the table does not compile without a handler, a route or a
/// command for each of its rows.
#[macro_export]
macro_rules! operations {
    ($then:ident) => {
        $then! {
            me::GetMe => "me.get" GET "/me" -> me::Me, Any, Read, Local, [];
            projects::GetProject => "project.get" GET "/project" -> projects::Project, ProjectsRead, Read, Local, [ProjectNotSelected];
            projects::ListProjects => "projects.list" GET "/projects" -> $crate::List<projects::ProjectRef>, ProjectsRead, Read, Local, [InvalidCursor];
            projects::GetProjectById => "projects.get" GET "/projects/{projectId}" -> projects::Project, ProjectsRead, Read, Local, [];

            keywords::ListKeywords => "keywords.list" GET "/projects/{projectId}/keywords" -> $crate::List<keywords::Keyword>, KeywordsRead, Read, Local, [InvalidCursor];
            keywords::CreateKeyword => "keywords.create" POST "/projects/{projectId}/keywords" -> keywords::Keyword, KeywordsWrite, Create, Local, [AlreadyExists];
            keywords::GenerateKeywords => "keywords.generate" POST "/projects/{projectId}/keywords/generate" -> keywords::KeywordsStarted, ContentGenerate, Spend, Outbound, [QuotaExceeded, InvalidState, PreconditionFailed, TooManyItems];
            keywords::ImportKeywords => "keywords.import" POST "/projects/{projectId}/keywords/import" -> keywords::Imported, KeywordsWrite, Import, Local, [];
            keywords::RefreshKeywordMetrics => "keywords.metrics" POST "/projects/{projectId}/keyword-metrics" -> keywords::KeywordsStarted, ContentGenerate, Spend, Outbound, [QuotaExceeded, InvalidState, PreconditionFailed, TooManyItems];
            keywords::GetKeyword => "keywords.get" GET "/projects/{projectId}/keywords/{keywordId}" -> keywords::Keyword, KeywordsRead, Read, Local, [NotFound];
            keywords::UpdateKeyword => "keywords.update" PATCH "/projects/{projectId}/keywords/{keywordId}" -> keywords::Keyword, KeywordsWrite, Change, Local, [NotFound, AlreadyExists, InvalidState, PreconditionFailed];
            keywords::DeleteKeyword => "keywords.delete" DELETE "/projects/{projectId}/keywords/{keywordId}" -> (), KeywordsWrite, Delete, Local, [NotFound, InvalidState, PreconditionFailed];

            posts::ListPosts => "posts.list" GET "/projects/{projectId}/posts" -> $crate::List<posts::PostSummary>, PostsRead, Read, Local, [InvalidCursor, NotFound];
            posts::CreatePost => "posts.create" POST "/projects/{projectId}/posts" -> posts::Post, PostsWrite, Create, Local, [NotFound, AlreadyExists, TooManyItems];
            posts::GetPost => "posts.get" GET "/projects/{projectId}/posts/{postId}" -> posts::Post, PostsRead, Read, Local, [NotFound];
            posts::UpdatePost => "posts.update" PATCH "/projects/{projectId}/posts/{postId}" -> posts::Post, PostsWrite, Change, Local, [NotFound, AlreadyExists, InvalidState, PreconditionFailed, TooManyItems, PreconditionRequired, AgentAutonomyRequired];
            posts::GeneratePost => "posts.generate" POST "/projects/{projectId}/posts/{postId}/generate" -> posts::PostStarted, ContentGenerate, Spend, Outbound, [QuotaExceeded, NotFound, AlreadyExists, InvalidState, PreconditionFailed, TooManyItems];
            posts::PublishPost => "posts.publish" POST "/projects/{projectId}/posts/{postId}/publish" -> posts::PostStarted, ContentPublish, Publish, Outbound, [QuotaExceeded, NotFound, InvalidState, UnpublishUnsupported, ProviderNotConfigured, PreconditionFailed];
            posts::UnpublishPost => "posts.unpublish" POST "/projects/{projectId}/posts/{postId}/unpublish" -> posts::PostStarted, ContentPublish, Publish, Outbound, [QuotaExceeded, NotFound, InvalidState, UnpublishUnsupported, ProviderNotConfigured, PreconditionFailed];
            posts::ListRevisions => "posts.revisions" GET "/projects/{projectId}/posts/{postId}/revisions" -> $crate::List<posts::Revision>, PostsRead, Read, Local, [InvalidCursor, NotFound];
            posts::RestoreRevision => "posts.restore" POST "/projects/{projectId}/posts/{postId}/revisions/{number}/restore" -> posts::Post, PostsWrite, Change, Local, [NotFound, InvalidState, PreconditionFailed, PreconditionRequired];

            integrations::ListIntegrations => "integrations.list" GET "/projects/{projectId}/integrations" -> $crate::List<integrations::Integration>, IntegrationsRead, Read, Local, [InvalidCursor];
            integrations::ConnectIntegration => "integrations.connect" POST "/projects/{projectId}/integrations/{provider}/connect-url" -> integrations::ConnectUrl, IntegrationsWrite, Create, Outbound, [NotFound, AlreadyExists, ConnectNotSupported];
            integrations::ListFields => "integrations.fields" GET "/projects/{projectId}/integrations/{provider}/fields" -> integrations::Fields, IntegrationsRead, Read, Outbound, [NotFound, ProviderNotConfigured, ConnectNotSupported, ProviderError];
            integrations::SaveMapping => "integrations.map" POST "/projects/{projectId}/integrations/{provider}/mapping" -> integrations::Integration, IntegrationsWrite, Change, Outbound, [NotFound, InvalidState, ProviderNotConfigured, ConnectNotSupported, ProviderError];
            integrations::DisconnectIntegration => "integrations.disconnect" DELETE "/projects/{projectId}/integrations/{provider}" -> (), IntegrationsWrite, Delete, Local, [NotFound, InvalidState, PreconditionFailed];

            audits::StartAudit => "audits.start" POST "/projects/{projectId}/audits" -> audits::AuditStarted, AuditsWrite, Start, Outbound, [QuotaExceeded, TooManyItems];
            audits::ListAudits => "audits.list" GET "/projects/{projectId}/audits" -> $crate::List<audits::Audit>, AuditsRead, Read, Local, [InvalidCursor];
            audits::GetCurrentAudit => "audits.current" GET "/projects/{projectId}/audits/current" -> audits::Audit, AuditsRead, Read, Local, [NotFound];
            audits::GetAudit => "audits.get" GET "/projects/{projectId}/audits/{auditId}" -> audits::Audit, AuditsRead, Read, Local, [NotFound];
            diffs::DiffAudits => "audits.diff" GET "/projects/{projectId}/audits/{auditId}/diff" -> diffs::AuditDiff, AuditsRead, Read, Local, [InvalidCursor, NotFound, InvalidState];
            audits::CancelAudit => "audits.cancel" POST "/projects/{projectId}/audits/{auditId}/cancel" -> audits::Audit, AuditsWrite, Change, Local, [NotFound, InvalidState];

            issues::ListIssues => "issues.list" GET "/projects/{projectId}/issues" -> $crate::List<issues::Issue>, AuditsRead, Read, Local, [InvalidCursor];
            issues::GetIssue => "issues.get" GET "/projects/{projectId}/issues/{issueId}" -> issues::Issue, AuditsRead, Read, Local, [NotFound];
            issues::ListOccurrences => "issues.occurrences" GET "/projects/{projectId}/issues/{issueId}/occurrences" -> $crate::List<issues::Occurrence>, AuditsRead, Read, Local, [InvalidCursor, NotFound];
            occurrences::MarkDone => "occurrences.done" POST "/projects/{projectId}/occurrences/done" -> occurrences::Marking, AuditsWrite, Change, Local, [InvalidState, TooManyItems];
            occurrences::UndoDone => "occurrences.undo" POST "/projects/{projectId}/occurrences/undo" -> occurrences::Marking, AuditsWrite, Change, Local, [InvalidState, TooManyItems];
            occurrences::IgnoreOccurrences => "occurrences.ignore" POST "/projects/{projectId}/occurrences/ignore" -> occurrences::Marking, AuditsWrite, Change, Local, [InvalidState, TooManyItems];
            occurrences::UnignoreOccurrences => "occurrences.unignore" POST "/projects/{projectId}/occurrences/unignore" -> occurrences::Marking, AuditsWrite, Change, Local, [InvalidState, TooManyItems];
            rechecks::StartRecheck => "rechecks.start" POST "/projects/{projectId}/rechecks" -> rechecks::RecheckStarted, AuditsWrite, Start, Outbound, [InvalidState, TooManyItems];
            rechecks::GetRecheck => "rechecks.get" GET "/projects/{projectId}/rechecks/{recheckId}" -> rechecks::Recheck, AuditsRead, Read, Local, [InvalidCursor, NotFound];
            pages::ListPages => "pages.list" GET "/projects/{projectId}/pages" -> $crate::List<pages::Page>, AuditsRead, Read, Local, [InvalidCursor];
            pages::GetPage => "pages.get" GET "/projects/{projectId}/pages/{pageId}" -> pages::PageDetail, AuditsRead, Read, Local, [NotFound];

            jobs::ListJobs => "jobs.list" GET "/projects/{projectId}/jobs" -> $crate::List<jobs::Job>, ProjectsRead, Read, Local, [InvalidCursor];
            jobs::GetJob => "jobs.get" GET "/projects/{projectId}/jobs/{jobId}" -> jobs::Job, ProjectsRead, Read, Local, [NotFound];
            jobs::CancelJob => "jobs.cancel" POST "/projects/{projectId}/jobs/{jobId}/cancel" -> jobs::Job, OfRecord, Change, Local, [NotFound, InvalidState];
            usage::GetUsage => "usage.get" GET "/projects/{projectId}/usage" -> usage::Usage, ProjectsRead, Read, Local, [];
            activity::ListActivity => "activity.list" GET "/projects/{projectId}/activity" -> $crate::List<activity::Activity>, ProjectsRead, Read, Local, [InvalidCursor];

            webhooks::ListWebhooks => "webhooks.list" GET "/projects/{projectId}/webhooks" -> $crate::List<webhooks::Webhook>, WebhooksRead, Read, Local, [InvalidCursor];
            webhooks::CreateWebhook => "webhooks.create" POST "/projects/{projectId}/webhooks" -> webhooks::Webhook, WebhooksWrite, Create, Outbound, [AlreadyExists, TooManyItems];
            webhooks::DeleteWebhook => "webhooks.delete" DELETE "/projects/{projectId}/webhooks/{webhookId}" -> (), WebhooksWrite, Delete, Local, [NotFound, InvalidState, PreconditionFailed];
            webhooks::TestWebhook => "webhooks.test" POST "/projects/{projectId}/webhooks/{webhookId}/test" -> webhooks::Delivery, WebhooksWrite, Change, Outbound, [NotFound, InvalidState];
            webhooks::RotateWebhookSecret => "webhooks.rotate" POST "/projects/{projectId}/webhooks/{webhookId}/rotate-secret" -> webhooks::Webhook, WebhooksWrite, Change, Outbound, [NotFound, PreconditionFailed];
            webhooks::ListDeliveries => "webhooks.deliveries" GET "/projects/{projectId}/webhooks/{webhookId}/deliveries" -> $crate::List<webhooks::Delivery>, WebhooksRead, Read, Local, [InvalidCursor, NotFound];
            webhooks::ReplayDelivery => "webhooks.replay" POST "/projects/{projectId}/webhooks/{webhookId}/deliveries/{deliveryId}/replay" -> webhooks::Delivery, WebhooksWrite, Change, Outbound, [NotFound, InvalidState];
            webhooks::RecoverWebhook => "webhooks.recover" POST "/projects/{projectId}/webhooks/{webhookId}/recover" -> webhooks::Recovery, WebhooksWrite, Change, Outbound, [NotFound, InvalidState];
            events::ListEvents => "events.list" GET "/projects/{projectId}/events" -> $crate::List<events::Event>, WebhooksRead, Read, Local, [InvalidCursor];

            autopilot::GetAutopilot => "autopilot.get" GET "/projects/{projectId}/autopilot" -> autopilot::Autopilot, AutopilotRead, Read, Local, [];
            autopilot::UpdateAutopilot => "autopilot.update" PATCH "/projects/{projectId}/autopilot" -> autopilot::Autopilot, AutopilotWrite, Change, Local, [InvalidState, PreconditionFailed, TooManyItems];
            autopilot::PreviewAutopilot => "autopilot.preview" POST "/projects/{projectId}/autopilot/preview" -> autopilot::SlotPreview, AutopilotRead, Read, Local, [TooManyItems];
            autopilot::ListAutopilotRuns => "autopilot.runs" GET "/projects/{projectId}/autopilot/runs" -> $crate::List<autopilot::AutopilotRun>, AutopilotRead, Read, Local, [InvalidCursor];
            approvals::ListApprovals => "approvals.list" GET "/projects/{projectId}/approvals" -> $crate::List<approvals::Approval>, PostsRead, Read, Local, [InvalidCursor];
            approvals::GetApproval => "approvals.get" GET "/projects/{projectId}/approvals/{approvalId}" -> approvals::Approval, PostsRead, Read, Local, [NotFound];
            schedules::ListSchedules => "schedules.list" GET "/projects/{projectId}/schedules" -> schedules::Schedules, Any, Read, Local, [];
            schedules::UpdateSchedule => "schedules.update" PATCH "/projects/{projectId}/schedules/{kind}" -> schedules::Schedule, OfRecord, Change, Local, [NotFound, InvalidState, PreconditionFailed, TooManyItems, AgentAutonomyRequired];

            visibility::GetOverview => "visibility.overview" GET "/projects/{projectId}/visibility/overview" -> visibility::Overview, VisibilityRead, Read, Local, [];
            engine_status::ListEngines => "visibility.engines" GET "/projects/{projectId}/visibility/engines" -> engine_status::EngineStatuses, VisibilityRead, Read, Local, [];
            opportunities::ListOpportunities => "visibility.opportunities" GET "/projects/{projectId}/visibility/opportunities" -> $crate::List<opportunities::Opportunity>, VisibilityRead, Read, Local, [InvalidCursor];
            prompts::ListPrompts => "prompts.list" GET "/projects/{projectId}/visibility/prompts" -> $crate::List<prompts::Prompt>, VisibilityRead, Read, Local, [InvalidCursor];
            prompts::CreatePrompt => "prompts.create" POST "/projects/{projectId}/visibility/prompts" -> prompts::Prompt, VisibilityWrite, Create, Local, [AlreadyExists, InvalidState];
            prompts::GetPrompt => "prompts.get" GET "/projects/{projectId}/visibility/prompts/{promptId}" -> prompts::Prompt, VisibilityRead, Read, Local, [NotFound];
            prompts::UpdatePrompt => "prompts.update" PATCH "/projects/{projectId}/visibility/prompts/{promptId}" -> prompts::Prompt, VisibilityWrite, Change, Local, [NotFound, AlreadyExists, InvalidState, PreconditionFailed];
            answers::ListAnswers => "prompts.answers" GET "/projects/{projectId}/visibility/prompts/{promptId}/answers" -> $crate::List<answers::EngineAnswer>, VisibilityRead, Read, Local, [InvalidCursor, NotFound];
            answers::ImportAnswers => "prompts.copy" POST "/projects/{projectId}/visibility/prompts/{promptId}/answers" -> answers::ImportedAnswers, VisibilityWrite, Create, Local, [NotFound, InvalidState, TooManyItems];
            answers::DisputeMention => "prompts.dispute" PATCH "/projects/{projectId}/visibility/prompts/{promptId}/answers/{answerId}" -> answers::EngineAnswer, VisibilityWrite, Change, Local, [NotFound, InvalidState];
            prompt_ideas::SuggestPrompts => "prompts.suggest" POST "/projects/{projectId}/visibility/prompts/suggest" -> prompt_ideas::SuggestedPrompts, ContentGenerate, Change, Local, [InvalidState];
            names::ListNames => "names.list" GET "/projects/{projectId}/visibility/names" -> $crate::List<names::UnknownName>, VisibilityRead, Read, Local, [InvalidCursor];
            names::DecideNames => "names.decide" POST "/projects/{projectId}/visibility/names" -> names::NamesDecided, VisibilityWrite, Change, Local, [AlreadyExists, InvalidState, TooManyItems, PreconditionFailed];
            runs::TrackPrompt => "prompts.track" POST "/projects/{projectId}/visibility/prompts/{promptId}/track" -> runs::RunStarted, VisibilityTrack, Spend, Outbound, [NotFound, QuotaExceeded, InvalidState, ProviderNotConfigured];
            runs::ListRuns => "runs.list" GET "/projects/{projectId}/visibility/runs" -> $crate::List<runs::Run>, VisibilityRead, Read, Local, [InvalidCursor];
            runs::GetRun => "runs.get" GET "/projects/{projectId}/visibility/runs/{runId}" -> runs::Run, VisibilityRead, Read, Local, [NotFound];
            reports::GetReports => "reports.get" GET "/projects/{projectId}/visibility/reports" -> reports::Reports, VisibilityRead, Read, Local, [];
            reports::ImportReport => "reports.import" POST "/projects/{projectId}/visibility/reports/import" -> reports::ImportedReport, VisibilityWrite, Import, Local, [];

            brand::GetBrand => "brand.get" GET "/projects/{projectId}/brand" -> brand::Brand, BrandRead, Read, Local, [];
            brand::UpdateBrand => "brand.update" PATCH "/projects/{projectId}/brand" -> brand::Brand, BrandWrite, Change, Local, [AlreadyExists, InvalidState, PreconditionFailed, TooManyItems];
            products::ListProducts => "products.list" GET "/projects/{projectId}/brand/products" -> $crate::List<brand::Item<products::Product>>, BrandRead, Read, Local, [InvalidCursor];
            products::CreateProducts => "products.create" POST "/projects/{projectId}/brand/products" -> brand::Added<products::Product>, BrandWrite, Create, Local, [AlreadyExists, TooManyItems];
            products::GetProduct => "products.get" GET "/projects/{projectId}/brand/products/{productId}" -> brand::Item<products::Product>, BrandRead, Read, Local, [NotFound];
            products::UpdateProduct => "products.update" PATCH "/projects/{projectId}/brand/products/{productId}" -> brand::Item<products::Product>, BrandWrite, Change, Local, [NotFound, AlreadyExists, InvalidState, PreconditionFailed, TooManyItems];
            products::DeleteProduct => "products.delete" DELETE "/projects/{projectId}/brand/products/{productId}" -> (), BrandWrite, Delete, Local, [NotFound, InvalidState, PreconditionFailed];
            competitors::ListCompetitors => "competitors.list" GET "/projects/{projectId}/brand/competitors" -> $crate::List<brand::Item<competitors::Competitor>>, BrandRead, Read, Local, [InvalidCursor];
            competitors::CreateCompetitors => "competitors.create" POST "/projects/{projectId}/brand/competitors" -> brand::Added<competitors::Competitor>, BrandWrite, Create, Local, [AlreadyExists, TooManyItems];
            competitors::GetCompetitor => "competitors.get" GET "/projects/{projectId}/brand/competitors/{competitorId}" -> brand::Item<competitors::Competitor>, BrandRead, Read, Local, [NotFound];
            competitors::UpdateCompetitor => "competitors.update" PATCH "/projects/{projectId}/brand/competitors/{competitorId}" -> brand::Item<competitors::Competitor>, BrandWrite, Change, Local, [NotFound, AlreadyExists, InvalidState, PreconditionFailed, TooManyItems];
            competitors::DeleteCompetitor => "competitors.delete" DELETE "/projects/{projectId}/brand/competitors/{competitorId}" -> (), BrandWrite, Delete, Local, [NotFound, InvalidState, PreconditionFailed];
            faqs::ListFaqs => "faqs.list" GET "/projects/{projectId}/brand/faqs" -> $crate::List<brand::Item<faqs::Faq>>, BrandRead, Read, Local, [InvalidCursor];
            faqs::CreateFaqs => "faqs.create" POST "/projects/{projectId}/brand/faqs" -> brand::Added<faqs::Faq>, BrandWrite, Create, Local, [AlreadyExists, TooManyItems];
            faqs::GetFaq => "faqs.get" GET "/projects/{projectId}/brand/faqs/{faqId}" -> brand::Item<faqs::Faq>, BrandRead, Read, Local, [NotFound];
            faqs::UpdateFaq => "faqs.update" PATCH "/projects/{projectId}/brand/faqs/{faqId}" -> brand::Item<faqs::Faq>, BrandWrite, Change, Local, [NotFound, AlreadyExists, InvalidState, PreconditionFailed, TooManyItems];
            faqs::DeleteFaq => "faqs.delete" DELETE "/projects/{projectId}/brand/faqs/{faqId}" -> (), BrandWrite, Delete, Local, [NotFound, InvalidState, PreconditionFailed];
            ctas::ListCtas => "ctas.list" GET "/projects/{projectId}/brand/ctas" -> $crate::List<brand::Item<ctas::Cta>>, BrandRead, Read, Local, [InvalidCursor];
            ctas::CreateCtas => "ctas.create" POST "/projects/{projectId}/brand/ctas" -> brand::Added<ctas::Cta>, BrandWrite, Create, Local, [AlreadyExists, TooManyItems];
            ctas::GetCta => "ctas.get" GET "/projects/{projectId}/brand/ctas/{ctaId}" -> brand::Item<ctas::Cta>, BrandRead, Read, Local, [NotFound];
            ctas::UpdateCta => "ctas.update" PATCH "/projects/{projectId}/brand/ctas/{ctaId}" -> brand::Item<ctas::Cta>, BrandWrite, Change, Local, [NotFound, AlreadyExists, InvalidState, PreconditionFailed, TooManyItems];
            ctas::DeleteCta => "ctas.delete" DELETE "/projects/{projectId}/brand/ctas/{ctaId}" -> (), BrandWrite, Delete, Local, [NotFound, InvalidState, PreconditionFailed];
        }
    };
}

macro_rules! implement {
    ($($module:ident::$op:ident => $name:literal $method:ident $path:literal -> $answer:ty, $scope:ident, $effect:ident, $reach:ident, [$($error:ident),*];)*) => {
        $(impl Operation for $module::$op {
            type Answer = $answer;
            const META: Meta = Meta {
                name: $name,
                method: Method::$method,
                path: $path,
                scope: Scope::$scope,
                effect: Effect::$effect,
                reach: Reach::$reach,
                errors: &[$(Code::$error),*],
            };
        })*

        /// Calls a visitor once per operation, in the order of the table.
        pub fn visit(visitor: &mut impl operation::Visitor) {
            $(visitor.operation::<$module::$op>();)*
        }
    };
}
operations!(implement);
