//! Products of the brand.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    brand::OnDuplicate,
    declare::{item, operation},
    words::words,
};

words! {
    /// Status of a product.
    #[derive(Default)]
    ProductStatus {
        /// On offer.
        #[default]
        Active = "active",
        /// No longer on offer; left out of texts.
        Retired = "retired",
    }
}

/// A price.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Amount, in `currency`.
    #[schemars(range(min = 0, max = 1_000_000_000_000_i64), example = 499.5)]
    pub amount: f64,
    /// Currency (ISO 4217).
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
    /// Adds products, at most 100 per call and 2,000 in total. If any of them is invalid, none is added.
    ///
    /// Names are unique, ignoring case and white space. A duplicate answers `409 already_exists`, or is skipped with
    /// `onDuplicate: skip`.
    CreateProducts {
        project;
        /// The products.
        #[schemars(length(min = 1, max = 100))]
        json items: Vec<Product>,
        /// Handling of products that already exist; default `refuse`.
        on_duplicate: Option<OnDuplicate>,
    }
}

operation! {
    /// Returns one product.
    GetProduct {
        project;
        /// Id of the product.
        #[schemars(example = &"01936f33-8a1e-7c44-b1d2-0d4b8f2f7a10")]
        product_id: String,
    }
}

operation! {
    /// Deletes a product that no call to action refers to.
    DeleteProduct {
        project;
        /// Id of the product.
        #[schemars(example = &"01936f33-8a1e-7c44-b1d2-0d4b8f2f7a10")]
        product_id: String,
    }
}

item! {
    /// A product of the brand.
    Product,
    /// Changes the given fields; `null` clears a nullable field. A list is replaced as a whole.
    UpdateProduct {
        project;
        /// Id of the product.
        #[schemars(example = &"01936f33-8a1e-7c44-b1d2-0d4b8f2f7a10")]
        product_id: String,
    }
    {
        /// Name.
        #[schemars(length(min = 1, max = 200), example = &"Oak desk 160")]
        name: String,
        /// Other names of the product.
        #[schemars(length(max = 50), inner(length(min = 1, max = 200)), example = ["OD160"])]
        aliases: Vec<String>,
        /// URL of the product page.
        #[schemars(length(min = 1, max = 2048), example = &"https://fernfir.example/oak-desk")]
        url: Option<String>,
        /// Description.
        #[schemars(length(min = 1, max = 5000))]
        description: Option<String>,
        /// Category of the product.
        #[schemars(length(min = 1, max = 200), example = &"standing desk")]
        category: Option<String>,
        /// Price.
        json price: Option<Price>,
        /// Features.
        #[schemars(length(max = 50), inner(length(min = 1, max = 500)), example = ["two motors"])]
        features: Vec<String>,
        /// Target audience.
        #[schemars(length(min = 1, max = 500), example = &"people who work at home")]
        audience: Option<String>,
        /// Use cases.
        #[schemars(length(max = 50), inner(length(min = 1, max = 500)))]
        use_cases: Vec<String>,
        /// Differentiators: features that set it apart from competing products.
        #[schemars(length(max = 50), inner(length(min = 1, max = 500)))]
        differentiators: Vec<String>,
        /// Status; default `active`.
        status: ProductStatus,
        /// URL of a picture.
        #[schemars(length(min = 1, max = 2048))]
        image_url: Option<String>,
    }
}
