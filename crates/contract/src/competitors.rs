//! Competitors of the brand.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    brand::OnDuplicate,
    declare::{item, operation},
};

/// A statement about a competitor, with its source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Claim {
    /// The statement.
    #[schemars(length(min = 1, max = 1000), example = &"Ships within 30 days")]
    pub text: String,
    /// URL of the source.
    #[schemars(length(min = 1, max = 2048), example = &"https://oakworks.example/shipping")]
    pub source_url: String,
}

operation! {
    /// Lists the competitors of the brand, newest first.
    ListCompetitors {
        project;
        paging;
    }
}

operation! {
    /// Adds competitors, at most 100 per call and 2,000 in total. If any of them is invalid, none is added.
    ///
    /// Names are unique, ignoring case and white space, and so are registrable domains, which must not be the brand's
    /// own. A duplicate answers `409 already_exists`, or is skipped with `onDuplicate: skip`.
    CreateCompetitors {
        project;
        /// The competitors.
        #[schemars(length(min = 1, max = 100))]
        json items: Vec<Competitor>,
        /// Handling of competitors that already exist; default `refuse`.
        on_duplicate: Option<OnDuplicate>,
    }
}

operation! {
    /// Returns one competitor.
    GetCompetitor {
        project;
        /// Id of the competitor.
        #[schemars(example = &"01936f33-8a1e-7c44-b1d2-0d4b8f2f7a10")]
        competitor_id: String,
    }
}

operation! {
    /// Deletes a competitor.
    DeleteCompetitor {
        project;
        /// Id of the competitor.
        #[schemars(example = &"01936f33-8a1e-7c44-b1d2-0d4b8f2f7a10")]
        competitor_id: String,
    }
}

item! {
    /// A competitor of the brand.
    Competitor,
    /// Changes the given fields; `null` clears a nullable field. A list is replaced as a whole.
    UpdateCompetitor {
        project;
        /// Id of the competitor.
        #[schemars(example = &"01936f33-8a1e-7c44-b1d2-0d4b8f2f7a10")]
        competitor_id: String,
    }
    {
        /// Name.
        #[schemars(length(min = 1, max = 200), example = &"Oakworks")]
        name: String,
        /// Website: a host, or scheme, host and port.
        #[schemars(length(min = 1, max = 300), example = &"oakworks.example")]
        domain: String,
        /// Other spellings and short names.
        #[schemars(length(max = 50), inner(length(min = 1, max = 200)))]
        aliases: Vec<String>,
        /// Further domains of the competitor.
        #[schemars(length(max = 50), inner(length(min = 1, max = 300)))]
        owned_domains: Vec<String>,
        /// Whether the name is also an ordinary word, so that the name alone does not count as a mention.
        ambiguous: bool,
        /// Notes for people.
        #[schemars(length(min = 1, max = 5000))]
        notes: Option<String>,
        /// Statements about the competitor, with their sources.
        #[schemars(length(max = 100))]
        json claims: Vec<Claim>,
        /// Whether the brand is compared with it; default `true`.
        active: bool = true,
    }
}
