//! Calls to action: what a text invites its readers to do.

use crate::{
    Instant,
    brand::OnDuplicate,
    declare::{item, operation},
    keywords::Intent,
    words::words,
};

words! {
    /// Where in a text a call to action stands.
    #[derive(Default)]
    Placement {
        /// Between two paragraphs.
        Inline = "inline",
        /// At the end.
        #[default]
        End = "end",
        /// In a box of its own.
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
    /// Adds calls to action, at most 100 per call and 2,000 in all: every one or, if any is at fault, none.
    ///
    /// A label is unique per URL whatever its case and spaces: a second one answers `409 already_exists`,
    /// or is left out with `onDuplicate: skip`.
    CreateCtas {
        project;
        /// The calls to action.
        #[schemars(length(min = 1, max = 100))]
        json items: Vec<Cta>,
        /// What to do with those that are there already; `refuse` unless given.
        on_duplicate: Option<OnDuplicate>,
    }
}

operation! {
    /// Returns one call to action.
    GetCta {
        project;
        /// The call to action.
        #[schemars(example = &"01936f33-8a1e-7c44-b1d2-0d4b8f2f7a10")]
        cta_id: String,
    }
}

operation! {
    /// Deletes a call to action.
    DeleteCta {
        project;
        /// The call to action.
        #[schemars(example = &"01936f33-8a1e-7c44-b1d2-0d4b8f2f7a10")]
        cta_id: String,
    }
}

item! {
    /// A call to action: chosen for a text by intent and language, the highest priority first.
    Cta,
    /// Changes the members that are named; `null` clears those that may be empty. A list is replaced as a whole.
    UpdateCta {
        project;
        /// The call to action.
        #[schemars(example = &"01936f33-8a1e-7c44-b1d2-0d4b8f2f7a10")]
        cta_id: String,
    }
    {
        /// What it says on the link.
        #[schemars(length(min = 1, max = 100), example = &"Try it at home")]
        label: String,
        /// Where the link leads.
        #[schemars(length(min = 1, max = 2048), example = &"https://fernfir.example/trial")]
        url: String,
        /// Text beside the link.
        #[schemars(length(min = 1, max = 500))]
        text: Option<String>,
        /// Where in a text it stands; `end` unless given.
        placement: Placement,
        /// Higher is chosen first; 0 unless given.
        #[schemars(range(min = 0, max = 100), example = 10)]
        priority: i64,
        /// Intents it suits; empty is every one.
        #[schemars(length(max = 4))]
        intents: Vec<Intent>,
        /// The product it is about.
        #[schemars(length(max = 36), example = &"01936f33-8a1e-7c44-b1d2-0d4b8f2f7a10")]
        product_id: Option<String>,
        /// From when on it is used.
        active_from: Option<Instant>,
        /// Until when it is used.
        active_to: Option<Instant>,
        /// Language, BCP 47; `null` is every one.
        #[schemars(length(min = 2, max = 35), example = &"en")]
        language: Option<String>,
    }
}
