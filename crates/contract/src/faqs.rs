//! Questions that people ask, with the brand's answers.

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
    /// Adds questions with answers, at most 100 per call and 2,000 in all: every one or, if any is at fault, none.
    ///
    /// A question is unique per language whatever its case and spaces: a second one answers
    /// `409 already_exists`, or is left out with `onDuplicate: skip`.
    CreateFaqs {
        project;
        /// The questions with their answers.
        #[schemars(length(min = 1, max = 100))]
        json items: Vec<Faq>,
        /// What to do with those that are there already; `refuse` unless given.
        on_duplicate: Option<OnDuplicate>,
    }
}

operation! {
    /// Returns one question with its answer.
    GetFaq {
        project;
        /// The question.
        #[schemars(example = &"01936f33-8a1e-7c44-b1d2-0d4b8f2f7a10")]
        faq_id: String,
    }
}

operation! {
    /// Deletes a question with its answer.
    DeleteFaq {
        project;
        /// The question.
        #[schemars(example = &"01936f33-8a1e-7c44-b1d2-0d4b8f2f7a10")]
        faq_id: String,
    }
}

item! {
    /// A question with the brand's answer.
    Faq,
    /// Changes the members that are named; `null` clears those that may be empty. A list is replaced as a whole.
    UpdateFaq {
        project;
        /// The question.
        #[schemars(example = &"01936f33-8a1e-7c44-b1d2-0d4b8f2f7a10")]
        faq_id: String,
    }
    {
        /// What is asked.
        #[schemars(length(min = 1, max = 300), example = &"How high does the desk go?")]
        question: String,
        /// The answer, Markdown.
        #[schemars(length(min = 1, max = 10_000), example = &"Up to **128 cm**.")]
        answer: String,
        /// Where the answer is on record.
        #[schemars(length(min = 1, max = 2048))]
        source_url: Option<String>,
        /// Language, BCP 47; the project's unless given.
        #[schemars(length(min = 2, max = 35), example = &"en")]
        language: Option<String>,
        /// Labels.
        #[schemars(length(max = 50), inner(length(min = 1, max = 100)), example = ["height"])]
        tags: Vec<String>,
        /// When somebody last checked that the answer holds.
        verified_at: Option<Instant>,
    }
}
