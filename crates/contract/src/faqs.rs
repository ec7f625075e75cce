//! Frequently asked questions with the brand's answers.

use crate::{
    Instant,
    brand::OnDuplicate,
    declare::{item, operation},
};

operation! {
    /// Lists the questions and answers of the brand, newest first.
    ListFaqs {
        project;
        paging;
    }
}

operation! {
    /// Adds questions with answers, at most 100 per call and 2,000 in total. If any of them is invalid, none is
    /// added.
    ///
    /// Questions are unique per language, ignoring case and white space. A duplicate answers `409 already_exists`, or
    /// is skipped with `onDuplicate: skip`.
    CreateFaqs {
        project;
        /// The questions with their answers.
        #[schemars(length(min = 1, max = 100))]
        json items: Vec<Faq>,
        /// Handling of questions that already exist; default `refuse`.
        on_duplicate: Option<OnDuplicate>,
    }
}

operation! {
    /// Returns one question with its answer.
    GetFaq {
        project;
        /// Id of the question.
        #[schemars(example = &"01936f33-8a1e-7c44-b1d2-0d4b8f2f7a10")]
        faq_id: String,
    }
}

operation! {
    /// Deletes a question with its answer.
    DeleteFaq {
        project;
        /// Id of the question.
        #[schemars(example = &"01936f33-8a1e-7c44-b1d2-0d4b8f2f7a10")]
        faq_id: String,
    }
}

item! {
    /// A question with the brand's answer.
    Faq,
    /// Changes the given fields; `null` clears a nullable field. A list is replaced as a whole.
    UpdateFaq {
        project;
        /// Id of the question.
        #[schemars(example = &"01936f33-8a1e-7c44-b1d2-0d4b8f2f7a10")]
        faq_id: String,
    }
    {
        /// The question.
        #[schemars(length(min = 1, max = 300), example = &"How high does the desk go?")]
        question: String,
        /// The answer, in Markdown.
        #[schemars(length(min = 1, max = 10_000), example = &"Up to **128 cm**.")]
        answer: String,
        /// URL of the source of the answer.
        #[schemars(length(min = 1, max = 2048))]
        source_url: Option<String>,
        /// Language (BCP 47); defaults to the project's.
        #[schemars(length(min = 2, max = 35), example = &"en")]
        language: Option<String>,
        /// Labels.
        #[schemars(length(max = 50), inner(length(min = 1, max = 100)), example = ["height"])]
        tags: Vec<String>,
        /// Time at which a person last verified the answer.
        verified_at: Option<Instant>,
    }
}
