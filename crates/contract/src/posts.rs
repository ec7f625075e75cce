//! Posts: their text, its analysis, and their status.

mod publication;
mod record;

use crate::{Instant, declare::operation, words::words};

pub use publication::{
    Evidence, Publication, PublicationState, PublishAttempt, PublishMode, Verification, VerificationState,
};
pub use record::{
    Author, ExternalSource, FeaturedImage, Generation, Post, PostDetails, PostFailure, PostFindings,
    PostReadability, PostStarted, PostSummary, PostWarning, Revision, SeoCheck, TextLink,
};

words! {
    /// Status of a post.
    PostStatus {
        /// Draft, edited by people.
        Draft = "draft",
        /// Waiting for a worker.
        Queued = "queued",
        /// Being generated.
        Generating = "generating",
        /// Generated; waiting for review by a person.
        Review = "review",
        /// Scheduled for publication.
        Scheduled = "scheduled",
        /// Being published.
        Publishing = "publishing",
        /// Live.
        Published = "published",
        /// The last job failed.
        Failed = "failed",
        /// Archived.
        Archived = "archived",
    }
}

impl PostStatus {
    /// Returns whether the text may be changed: not while a job reads or writes it.
    pub const fn is_editable(self) -> bool {
        !matches!(self, Self::Generating | Self::Publishing)
    }
}

words! {
    /// Origin of a post.
    PostOrigin {
        /// Created by a person in the dashboard.
        Manual = "manual",
        /// Created by a caller of the API.
        Api = "api",
        /// Created by the autopilot.
        Autopilot = "autopilot",
    }
}
words! {
    /// Handling of an existing text.
    GenerateMode {
        /// Keep the existing text and write only what is missing.
        Fill = "fill",
        /// Write everything anew; the old text is kept as a revision.
        Overwrite = "overwrite",
    }
}
words! {
    /// Method by which a text was generated.
    GenerationMethod {
        /// Without a language model: a brief with outline, facts and links from the project's own material.
        Brief = "brief",
        /// By a language model.
        Model = "model",
    }
}
words! {
    /// Outcome of a check of the text.
    CheckOutcome {
        /// Full weight earned.
        Pass = "pass",
        /// Part of the weight earned.
        Partial = "partial",
        /// No weight earned.
        Fail = "fail",
        /// Does not apply to this post.
        NotApplicable = "not_applicable",
    }
}

words! {
    /// Sort order of posts.
    PostSort {
        /// By time of creation, newest first.
        Created = "created",
        /// By title.
        Title = "title",
        /// By score, highest first; unknown last.
        Score = "score",
        /// By time of publication, or the time for which it is scheduled; latest first, without one last.
        Date = "date",
    }
}

operation! {
    /// Lists the posts of a project without their texts.
    ListPosts {
        project;
        /// Only posts with this status.
        status: Option<PostStatus>,
        /// Only posts that target the keyword with this id.
        #[schemars(length(max = 64))]
        keyword_id: Option<String>,
        /// Only posts whose title contains this text, ignoring case.
        #[schemars(length(min = 1, max = 200))]
        q: Option<String>,
        /// Order; default `created`.
        sort: Option<PostSort>,
        paging;
    }
}

/// Declares an operation with the editable fields of a post.
macro_rules! authored {
    ($(#[$doc:meta])* $name:ident { $($own:tt)* } $nullable:ident { $($more:tt)* }) => {
        operation! {
            $(#[$doc])*
            $name {
                $($own)*
                /// Title.
                #[schemars(length(min = 1, max = 300), example = &"How to choose a standing desk")]
                title: Option<String>,
                /// Body text in Markdown (CommonMark with tables, footnotes, task lists), at most 300,000 characters.
                #[schemars(length(max = 300_000), example = &"A desk should fit you.\n\n## How high?\n\nAs high as your elbows.")]
                text content: Option<String>,
                /// URL slug: `a-z`, `0-9` and `-`, unique in the project; by default derived from the title.
                #[schemars(length(min = 1, max = 75), example = &"choose-a-standing-desk")]
                slug: Option<String>,
                /// Language (BCP 47); defaults to the project's.
                #[schemars(length(min = 2, max = 35), example = &"en")]
                language: Option<String>,
                /// Id of the target keyword, which is one of the project.
                #[schemars(length(max = 64), example = &"01936f30-1c1e-7f7b-8a55-0d4b8f2f7a10")]
                keyword_id: $nullable<String>,
                /// Summary for lists.
                #[schemars(length(min = 1, max = 300))]
                excerpt: $nullable<String>,
                /// Title for search results; defaults to the title.
                #[schemars(length(min = 1, max = 300))]
                meta_title: $nullable<String>,
                /// Description for search results.
                #[schemars(length(min = 1, max = 500))]
                meta_description: $nullable<String>,
                /// Further keywords.
                #[schemars(length(max = 20), inner(length(min = 1, max = 200)))]
                secondary_keywords: Option<Vec<String>>,
                /// Labels.
                #[schemars(length(max = 50), inner(length(min = 1, max = 100)))]
                tags: Option<Vec<String>>,
                /// Categories of the blog.
                #[schemars(length(max = 20), inner(length(min = 1, max = 100)))]
                categories: Option<Vec<String>>,
                /// Main image.
                json featured_image: $nullable<FeaturedImage>,
                /// Author.
                json author: $nullable<Author>,
                /// Canonical URL.
                #[schemars(length(min = 1, max = 2048))]
                canonical_url: $nullable<String>,
                $($more)*
            }
        }
    };
}

authored! {
    /// Creates a draft.
    ///
    /// Needs a title or a keyword. A given slug that is taken answers `409 already_exists` with `existingId`; a slug
    /// derived from the title gets a number if it is taken.
    CreatePost { project; } Option {}
}

operation! {
    /// Returns one post with its text.
    GetPost {
        project;
        /// Id of the post.
        #[schemars(example = &"01936f34-2b1d-7c10-9a55-1d4b8f2f7a10")]
        post_id: String,
    }
}

authored! {
    /// Changes the given fields; `null` clears a nullable field. A list is replaced as a whole.
    ///
    /// A change of `content` needs the version that was read, in `If-Match` or `ifVersion`, else it answers
    /// `428 precondition_required`. Emptying `content` needs `allowEmptyContent`. A status that cannot follow the current
    /// one answers `409 invalid_state` with `from`, `to` and `allowed`. While a job reads or writes the text, only
    /// the status can be changed.
    UpdatePost {
        project;
        /// Id of the post.
        #[schemars(example = &"01936f34-2b1d-7c10-9a55-1d4b8f2f7a10")]
        post_id: String,
    } Patch {
        /// New status: `draft`, `review`, `scheduled` or `archived`; the others are set by operations. To schedule takes the scope
        /// `content:publish`, for OAuth clients Agent Autonomy too.
        status: Option<PostStatus>,
        /// Time of publication, in the future.
        scheduled_at: Patch<Instant>,
        /// Whether to unpublish a published post when its status becomes `draft`.
        unpublish: Option<bool>,
        /// Sentences from `warnings` with the code `unverified_claims` to accept as true, verbatim: they no longer
        /// block publishing. A sentence that changes is unverified again.
        #[schemars(length(max = 100), inner(length(min = 1, max = 5000)))]
        accept_claims: Option<Vec<String>>,
        /// Whether `content` may become empty.
        allow_empty_content: Option<bool>,
        /// `version` of the post that was read, for callers that cannot send `If-Match`.
        #[schemars(range(min = 1, max = 9_007_199_254_740_991_i64))]
        if_version: Option<i64>,
    }
}

operation! {
    /// Lists the revisions of a post (its earlier texts), newest first; the last 50 are kept.
    ListRevisions {
        project;
        /// Id of the post.
        #[schemars(example = &"01936f34-2b1d-7c10-9a55-1d4b8f2f7a10")]
        post_id: String,
        paging;
    }
}

operation! {
    /// Restores a revision as the text of the post. The replaced text is kept as a revision.
    ///
    /// Needs the version of the post that was read, in `If-Match` or `ifVersion`, else it answers
    /// `428 precondition_required`.
    RestoreRevision {
        project;
        /// Id of the post.
        #[schemars(example = &"01936f34-2b1d-7c10-9a55-1d4b8f2f7a10")]
        post_id: String,
        /// `number` of the revision.
        #[schemars(example = &"3")]
        number: String,
        /// `version` of the post that was read, for callers that cannot send `If-Match`.
        #[schemars(range(min = 1, max = 9_007_199_254_740_991_i64))]
        if_version: Option<i64>,
    }
}

operation! {
    /// Generates the text of a post, or its missing parts, in a job. The post then has the status `review`.
    ///
    /// If the operator has set up a language model, it writes an article from the project's own material and checks
    /// every claim against that; a claim without a source blocks publishing, and so does a text with more than 30 %
    /// taken from one source. Otherwise it writes a brief: outline, facts and links (see `generation.method`). An
    /// existing text is kept with `fill` and replaced with `overwrite`. A post with an active job answers
    /// `409 invalid_state`. A keyword that another post or an indexable page of the last audit already targets answers
    /// `409 already_exists` with `existingId` or `existingUrl`.
    GeneratePost {
        project;
        /// Id of the post.
        #[schemars(example = &"01936f34-2b1d-7c10-9a55-1d4b8f2f7a10")]
        post_id: String,
        /// Handling of an existing text; default `fill`.
        mode: Option<GenerateMode>,
        /// Further instructions for the text.
        #[schemars(length(min = 1, max = 2000))]
        instructions: Option<String>,
        /// URLs of external pages to take facts from: they are fetched if their robots.txt allows it, and count as
        /// sources of claims.
        #[schemars(length(max = 10), inner(length(min = 1, max = 2048)), example = ["https://study.example/desks"])]
        sources: Option<Vec<String>>,
        /// Whether to write even if another post, or a page by its title or first heading, already targets the
        /// keyword.
        allow_duplicate: Option<bool>,
        /// Whether to only plan: nothing is changed, no provider is called, and the job's `result` is the brief.
        dry_run: Option<bool>,
    }
}

operation! {
    /// Publishes a post through an integration, or updates the published post, in a job.
    ///
    /// A post is never created twice: before it is created, it is searched for at the provider; if a response is
    /// lost, `publications[].state` is `uncertain`, and the search is repeated until the post is found or ruled out.
    /// A post that is already up to date at the provider is not sent. Changes made by others at the provider are not
    /// overwritten (`remote_changed`) unless `force` is set. A call while a post is `uncertain` repeats the search at
    /// once. Without a ready integration the answer is `409 provider_not_configured`.
    PublishPost {
        project;
        /// Id of the post.
        #[schemars(example = &"01936f34-2b1d-7c10-9a55-1d4b8f2f7a10")]
        post_id: String,
        /// Provider; optional if exactly one is ready.
        #[schemars(length(max = 40), example = &"wordpress")]
        provider: Option<String>,
        /// `connectionId` of the integration.
        #[schemars(length(max = 64))]
        connection_id: Option<String>,
        /// Visibility at the provider; default `live`.
        mode: Option<PublishMode>,
        /// Whether to overwrite changes made by others at the provider, and to send a post that is already up to
        /// date. An `uncertain` post is sent again, which may create a duplicate.
        force: Option<bool>,
        /// Whether to create the post again if it was deleted at the provider.
        recreate_missing: Option<bool>,
    }
}

operation! {
    /// Unpublishes a post at its provider, in a job: it becomes a draft there and here.
    ///
    /// For a provider that does not support unpublishing, the answer is `409 invalid_state` with
    /// `reason: unpublish_unsupported`.
    UnpublishPost {
        project;
        /// Id of the post.
        #[schemars(example = &"01936f34-2b1d-7c10-9a55-1d4b8f2f7a10")]
        post_id: String,
        /// Provider; optional if the post is live at only one.
        #[schemars(length(max = 40), example = &"wordpress")]
        provider: Option<String>,
    }
}
