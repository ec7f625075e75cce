//! Products of the brand.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    brand::OnDuplicate,
    declare::{item, operation},
    words::words,
};

words! {
    /// Whether a product is on offer.
    #[derive(Default)]
    ProductStatus {
        /// On offer.
        #[default]
        Active = "active",
        /// No longer on offer; texts leave it out.
        Retired = "retired",
    }
}

/// A price.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// How much.
    #[schemars(range(min = 0, max = 1_000_000_000_000_i64), example = 499.5)]
    pub amount: f64,
    /// Of which currency, ISO 4217.
    #[schemars(length(min = 3, max = 3), example = &"EUR")]
    pub currency: String,
}

operation! {
    /// Lists the products of the brand, newest first.
    ListProducts {
        project;
        paging;
    }
}

operation! {
    /// Adds products, at most 100 per call and 2,000 in all: every one or, if any is at fault, none.
    ///
    /// A name is unique whatever its case and spaces: a second one answers `409 already_exists`, or is left
    /// out with `onDuplicate: skip`.
    CreateProducts {
        project;
        /// The products.
        #[schemars(length(min = 1, max = 100))]
        json items: Vec<Product>,
        /// What to do with those that are there already; `refuse` unless given.
        on_duplicate: Option<OnDuplicate>,
    }
}

operation! {
    /// Returns one product.
    GetProduct {
        project;
        /// The product.
        #[schemars(example = &"01936f33-8a1e-7c44-b1d2-0d4b8f2f7a10")]
        product_id: String,
    }
}

operation! {
    /// Deletes a product that no call to action names.
    DeleteProduct {
        project;
        /// The product.
        #[schemars(example = &"01936f33-8a1e-7c44-b1d2-0d4b8f2f7a10")]
        product_id: String,
    }
}

item! {
    /// A product of the brand.
    Product,
    /// Changes the members that are named; `null` clears those that may be empty. A list is replaced as a whole.
    UpdateProduct {
        project;
        /// The product.
        #[schemars(example = &"01936f33-8a1e-7c44-b1d2-0d4b8f2f7a10")]
        product_id: String,
    }
    {
        /// Name.
        #[schemars(length(min = 1, max = 200), example = &"Oak desk 160")]
        name: String,
        /// Other names of it.
        #[schemars(length(max = 50), inner(length(min = 1, max = 200)), example = ["OD160"])]
        aliases: Vec<String>,
        /// Its page.
        #[schemars(length(min = 1, max = 2048), example = &"https://fernfir.example/oak-desk")]
        url: Option<String>,
        /// What it is.
        #[schemars(length(min = 1, max = 5000))]
        description: Option<String>,
        /// Kind of product.
        #[schemars(length(min = 1, max = 200), example = &"standing desk")]
        category: Option<String>,
        /// What it costs.
        json price: Option<Price>,
        /// What it has.
        #[schemars(length(max = 50), inner(length(min = 1, max = 500)), example = ["two motors"])]
        features: Vec<String>,
        /// Whom it is for.
        #[schemars(length(min = 1, max = 500), example = &"people who work at home")]
        audience: Option<String>,
        /// What it is used for.
        #[schemars(length(max = 50), inner(length(min = 1, max = 500)))]
        use_cases: Vec<String>,
        /// What sets it apart.
        #[schemars(length(max = 50), inner(length(min = 1, max = 500)))]
        differentiators: Vec<String>,
        /// Whether it is on offer; `active` unless given.
        status: ProductStatus,
        /// A picture of it.
        #[schemars(length(min = 1, max = 2048))]
        image_url: Option<String>,
    }
}
