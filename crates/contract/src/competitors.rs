//! Competitors of the brand.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    brand::OnDuplicate,
    declare::{item, operation},
};

/// Something said of a competitor, with where it is said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Claim {
    /// What is said.
    #[schemars(length(min = 1, max = 1000), example = &"Ships within 30 days")]
    pub text: String,
    /// Where.
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
    /// Adds competitors, at most 100 per call and 2,000 in all: every one or, if any is at fault, none.
    ///
    /// A name is unique whatever its case and spaces, and so is the registrable part of a domain, which is
    /// never the brand's own: a second one answers `409 already_exists`, or is left out with `onDuplicate: skip`.
    CreateCompetitors {
        project;
        /// The competitors.
        #[schemars(length(min = 1, max = 100))]
        json items: Vec<Competitor>,
        /// What to do with those that are there already; `refuse` unless given.
        on_duplicate: Option<OnDuplicate>,
    }
}

operation! {
    /// Returns one competitor.
    GetCompetitor {
        project;
        /// The competitor.
        #[schemars(example = &"01936f33-8a1e-7c44-b1d2-0d4b8f2f7a10")]
        competitor_id: String,
    }
}

operation! {
    /// Deletes a competitor.
    DeleteCompetitor {
        project;
        /// The competitor.
        #[schemars(example = &"01936f33-8a1e-7c44-b1d2-0d4b8f2f7a10")]
        competitor_id: String,
    }
}

item! {
    /// A competitor of the brand.
    Competitor,
    /// Changes the members that are named; `null` clears those that may be empty. A list is replaced as a whole.
    UpdateCompetitor {
        project;
        /// The competitor.
        #[schemars(example = &"01936f33-8a1e-7c44-b1d2-0d4b8f2f7a10")]
        competitor_id: String,
    }
    {
        /// Name.
        #[schemars(length(min = 1, max = 200), example = &"Oakworks")]
        name: String,
        /// Its website: a host, or scheme, host and port.
        #[schemars(length(min = 1, max = 300), example = &"oakworks.example")]
        domain: String,
        /// Other spellings and short names.
        #[schemars(length(max = 50), inner(length(min = 1, max = 200)))]
        aliases: Vec<String>,
        /// Further domains of it.
        #[schemars(length(max = 50), inner(length(min = 1, max = 300)))]
        owned_domains: Vec<String>,
        /// Its name is also an ordinary word: a mention needs more to go by than the name.
        ambiguous: bool,
        /// For people.
        #[schemars(length(min = 1, max = 5000))]
        notes: Option<String>,
        /// What is said of it, and where.
        #[schemars(length(max = 100))]
        json claims: Vec<Claim>,
        /// Whether it is compared with; `true` unless given.
        active: bool = true,
    }
}
