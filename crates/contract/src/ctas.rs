//! Calls to action: invitations to readers, placed in texts.

use crate::{
    Instant,
    brand::OnDuplicate,
    declare::{item, operation},
    keywords::Intent,
    words::words,
};

words! {
    /// Position of a call to action in a text.
    #[derive(Default)]
    Placement {
        /// Between two paragraphs.
        Inline = "inline",
        /// At the end.
        #[default]
        End = "end",
        /// In a separate box.
        Banner = "banner",
    }
}

operation! {
    /// Lists the calls to action of the brand, newest first.
    ListCtas {
        project;
        paging;
    }
}

operation! {
    /// Adds calls to action, at most 100 per call and 2,000 in total. If any of them is invalid, none is added.
    ///
    /// Labels are unique per URL, ignoring case and white space. A duplicate answers `409 already_exists`, or is
    /// skipped with `onDuplicate: skip`.
    CreateCtas {
        project;
        /// The calls to action.
        #[schemars(length(min = 1, max = 100))]
        json items: Vec<Cta>,
        /// Handling of calls to action that already exist; default `refuse`.
        on_duplicate: Option<OnDuplicate>,
    }
}

operation! {
    /// Returns one call to action.
    GetCta {
        project;
        /// Id of the call to action.
        #[schemars(example = &"01936f33-8a1e-7c44-b1d2-0d4b8f2f7a10")]
        cta_id: String,
    }
}

operation! {
    /// Deletes a call to action.
    DeleteCta {
        project;
        /// Id of the call to action.
        #[schemars(example = &"01936f33-8a1e-7c44-b1d2-0d4b8f2f7a10")]
        cta_id: String,
    }
}

item! {
    /// A call to action. Texts use those that match their intent and language, highest priority first.
    Cta,
    /// Changes the given fields; `null` clears a nullable field. A list is replaced as a whole.
    UpdateCta {
        project;
        /// Id of the call to action.
        #[schemars(example = &"01936f33-8a1e-7c44-b1d2-0d4b8f2f7a10")]
        cta_id: String,
    }
    {
        /// Text of the link.
        #[schemars(length(min = 1, max = 100), example = &"Try it at home")]
        label: String,
        /// Target URL of the link.
        #[schemars(length(min = 1, max = 2048), example = &"https://fernfir.example/trial")]
        url: String,
        /// Text next to the link.
        #[schemars(length(min = 1, max = 500))]
        text: Option<String>,
        /// Position in a text; default `end`.
        placement: Placement,
        /// Priority, 0 to 100; higher is chosen first; default 0.
        #[schemars(range(min = 0, max = 100), example = 10)]
        priority: i64,
        /// Search intents it suits; empty for all.
        #[schemars(length(max = 4))]
        intents: Vec<Intent>,
        /// Id of the product it is about.
        #[schemars(length(max = 36), example = &"01936f33-8a1e-7c44-b1d2-0d4b8f2f7a10")]
        product_id: Option<String>,
        /// Start of the period in which it is used; `null` for no start.
        active_from: Option<Instant>,
        /// End of the period in which it is used; `null` for no end.
        active_to: Option<Instant>,
        /// Language (BCP 47); `null` for all languages.
        #[schemars(length(min = 2, max = 35), example = &"en")]
        language: Option<String>,
    }
}
