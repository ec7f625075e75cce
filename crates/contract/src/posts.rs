//! Posts: what is written, what is known of the text, and where it stands.

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
    /// Where a post stands.
    PostStatus {
        /// Being written by people.
        Draft = "draft",
        /// Waiting for the worker.
        Queued = "queued",
        /// The worker writes.
        Generating = "generating",
        /// Written, to be read by people.
        Review = "review",
        /// To be published at its time.
        Scheduled = "scheduled",
        /// On its way to the provider.
        Publishing = "publishing",
        /// Live.
        Published = "published",
        /// The last job failed.
        Failed = "failed",
        /// Put away.
        Archived = "archived",
    }
}

impl PostStatus {
    /// Whether the text may be changed: not while a job reads or writes it.
    pub const fn is_editable(self) -> bool {
        !matches!(self, Self::Generating | Self::Publishing)
    }
}

words! {
    /// Who made a post.
    PostOrigin {
        /// A person in the dashboard.
        Manual = "manual",
        /// A caller of the API.
        Api = "api",
        /// The autopilot.
        Autopilot = "autopilot",
    }
}
words! {
    /// What to do with a text that is there already.
    GenerateMode {
        /// Keep what people wrote, and write what is missing.
        Fill = "fill",
        /// Write all of it anew; what was there stays as a revision.
        Overwrite = "overwrite",
    }
}
words! {
    /// How a text was made.
    GenerationMethod {
        /// Without a language model: outline, facts and links to write from, from the project's own material.
        Brief = "brief",
        /// By a language model.
        Model = "model",
    }
}
words! {
    /// How a check of the text came out.
    CheckOutcome {
        /// All of the weight.
        Pass = "pass",
        /// Some of it.
        Partial = "partial",
        /// None of it.
        Fail = "fail",
        /// Says nothing about this post.
        NotApplicable = "not_applicable",
    }
}

operation! {
    /// Lists the posts of a project without their texts, newest first.
    ListPosts {
        project;
        /// Only posts of this status.
        status: Option<PostStatus>,
        /// Only posts that aim at this keyword.
        #[schemars(length(max = 64))]
        keyword_id: Option<String>,
        /// Only posts whose title contains this text, whatever the case.
        #[schemars(length(min = 1, max = 200))]
        q: Option<String>,
        paging;
    }
}

/// Declares an operation that names what people write of a post.
macro_rules! authored {
    ($(#[$doc:meta])* $name:ident { $($own:tt)* } $nullable:ident { $($more:tt)* }) => {
        operation! {
            $(#[$doc])*
            $name {
                $($own)*
                /// Title.
                #[schemars(length(min = 1, max = 300), example = &"How to choose a standing desk")]
                title: Option<String>,
                /// The text, Markdown (CommonMark with tables, footnotes, task lists), at most 300,000 characters.
                #[schemars(length(max = 300_000), example = &"A desk should fit you.\n\n## How high?\n\nAs high as your elbows.")]
                text content: Option<String>,
                /// The part of its address that names it: `a-z`, `0-9` and `-`, unique in the project; made of the
                /// title unless given.
                #[schemars(length(min = 1, max = 75), example = &"choose-a-standing-desk")]
                slug: Option<String>,
                /// Language, BCP 47; the project's unless given.
                #[schemars(length(min = 2, max = 35), example = &"en")]
                language: Option<String>,
                /// The keyword it aims at, one of the project.
                #[schemars(length(max = 64), example = &"01936f30-1c1e-7f7b-8a55-0d4b8f2f7a10")]
                keyword_id: $nullable<String>,
                /// Summary for lists.
                #[schemars(length(min = 1, max = 300))]
                excerpt: $nullable<String>,
                /// Title for search results; the title unless given.
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
                /// Sections of the blog it belongs to.
                #[schemars(length(max = 20), inner(length(min = 1, max = 100)))]
                categories: Option<Vec<String>>,
                /// Its main image.
                json featured_image: $nullable<FeaturedImage>,
                /// Who wrote it.
                json author: $nullable<Author>,
                /// Address that search engines are to take for it.
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
    /// It needs a title or a keyword. A slug that is given and taken answers `409 already_exists` with `existingId`; one
    /// that is made of the title gets a number where it is taken.
    CreatePost { project; } Option {}
}

operation! {
    /// Returns one post with its text.
    GetPost {
        project;
        /// The post.
        #[schemars(example = &"01936f34-2b1d-7c10-9a55-1d4b8f2f7a10")]
        post_id: String,
    }
}

authored! {
    /// Changes the members that are named; `null` clears those that may be empty. A list is replaced as a whole.
    ///
    /// Whoever changes `content` says which version was read, with `If-Match` or `ifVersion`, else
    /// `428 precondition_required`. A text is not emptied by accident: `allowEmptyContent` has to say so. A status that cannot
    /// follow the present one answers `409 invalid_state` with `from`, `to` and `allowed`. While a job reads or writes
    /// the text, only its status can be changed.
    UpdatePost {
        project;
        /// The post.
        #[schemars(example = &"01936f34-2b1d-7c10-9a55-1d4b8f2f7a10")]
        post_id: String,
    } Patch {
        /// Where it is to stand: `draft`, `review`, `scheduled` or `archived`; the rest is set by operations.
        status: Option<PostStatus>,
        /// When it is to be published, in the future.
        scheduled_at: Patch<Instant>,
        /// Takes a published post back when its status becomes `draft`.
        unpublish: Option<bool>,
        /// Sentences of `warnings` with the code `unverified_claims` that somebody vouches for, word by word: they no longer
        /// block publishing. A sentence that changes is unverified again.
        #[schemars(length(max = 100), inner(length(min = 1, max = 5000)))]
        accept_claims: Option<Vec<String>>,
        /// Lets `content` become empty.
        allow_empty_content: Option<bool>,
        /// `version` that was read, for callers that cannot send `If-Match`.
        #[schemars(range(min = 1, max = 9_007_199_254_740_991_i64))]
        if_version: Option<i64>,
    }
}

operation! {
    /// Lists earlier texts of a post, newest first; the last 50 are kept.
    ListRevisions {
        project;
        /// The post.
        #[schemars(example = &"01936f34-2b1d-7c10-9a55-1d4b8f2f7a10")]
        post_id: String,
        paging;
    }
}

operation! {
    /// Makes an earlier text the text of the post. What is replaced stays as a revision.
    ///
    /// Says which version was read, with `If-Match` or `ifVersion`, else `428 precondition_required`.
    RestoreRevision {
        project;
        /// The post.
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
    /// Writes a post, or what is missing of it, as a job. The post then stands at `review`.
    ///
    /// With a language model that the operator has set up, it writes an article from the project's own material and
    /// checks every claim against it; a claim without a source blocks publishing, and so does a text of which more than 30 %
    /// stands in one source. Without one it writes a brief:
    /// outline, facts and links to write from (`generation.method`). A text that is there is kept with `fill` and
    /// replaced with `overwrite`. A post that is being worked on answers `409 invalid_state`. A keyword that another post
    /// or an indexable page of the last audit aims at answers `409 already_exists` with `existingId` or `existingUrl`.
    GeneratePost {
        project;
        /// The post.
        #[schemars(example = &"01936f34-2b1d-7c10-9a55-1d4b8f2f7a10")]
        post_id: String,
        /// What to do with a text that is there; `fill` unless given.
        mode: Option<GenerateMode>,
        /// What the text is to do beyond its keyword.
        #[schemars(length(min = 1, max = 2000))]
        instructions: Option<String>,
        /// Pages of others to take facts from: they are read as their robots.txt allows, and what they say counts as shown.
        #[schemars(length(max = 10), inner(length(min = 1, max = 2048)), example = ["https://study.example/desks"])]
        sources: Option<Vec<String>>,
        /// Writes although another post, or a page by its title or first heading, aims at the keyword.
        allow_duplicate: Option<bool>,
        /// Changes nothing and calls nobody: the job's `result` is the brief.
        dry_run: Option<bool>,
    }
}

operation! {
    /// Publishes a post through an integration, or brings what is published there up to date, as a job.
    ///
    /// Nothing is sent twice: before anything is made, the post is looked for at the provider; when an answer is lost,
    /// `publications[].state` is `uncertain`, and it is looked for again until it is found or cannot be there. A post that the provider has
    /// as it is here is not sent. What others changed there is not overwritten (`remote_changed`) unless `force` says so.
    /// Called again while a post is `uncertain`, it looks at once. Without a ready integration it answers
    /// `409 provider_not_configured`.
    PublishPost {
        project;
        /// The post.
        #[schemars(example = &"01936f34-2b1d-7c10-9a55-1d4b8f2f7a10")]
        post_id: String,
        /// The provider; may be left out when exactly one is ready.
        #[schemars(length(max = 40), example = &"wordpress")]
        provider: Option<String>,
        /// `connectionId` of the integration.
        #[schemars(length(max = 64))]
        connection_id: Option<String>,
        /// Whether readers see it; `live` unless given.
        mode: Option<PublishMode>,
        /// Overwrites what others changed at the provider, and sends what is there unchanged. A post that is `uncertain` is sent again, which may
        /// make it twice.
        force: Option<bool>,
        /// Makes the post anew where somebody deleted it at the provider.
        recreate_missing: Option<bool>,
    }
}

operation! {
    /// Takes a published post back at its provider, as a job: it becomes a draft there and here.
    ///
    /// A provider that cannot take back answers `409 invalid_state` with `reason: unpublish_unsupported`.
    UnpublishPost {
        project;
        /// The post.
        #[schemars(example = &"01936f34-2b1d-7c10-9a55-1d4b8f2f7a10")]
        post_id: String,
        /// The provider; may be left out when the post is live at one.
        #[schemars(length(max = 40), example = &"wordpress")]
        provider: Option<String>,
    }
}
