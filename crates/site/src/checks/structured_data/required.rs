//! Properties that Google requires of objects.

use std::borrow::Cow;

use serde_json::{Value, json};

use crate::{
    checks::{
        Page,
        evidence::list,
        schema::{Extent, Item, is_local_business, says_something},
    },
    json::Json,
    page::HtmlFacts,
};

/// Events that people attend; Google has other requirements for broadcasts, deliveries and courses.
const EVENTS: &[&str] = &[
    "Event",
    "BusinessEvent",
    "ChildrensEvent",
    "ComedyEvent",
    "ConferenceEvent",
    "DanceEvent",
    "EducationEvent",
    "ExhibitionEvent",
    "Festival",
    "FoodEvent",
    "Hackathon",
    "LiteraryEvent",
    "MusicEvent",
    "PerformingArtsEvent",
    "SaleEvent",
    "ScreeningEvent",
    "SocialEvent",
    "SportsEvent",
    "TheaterEvent",
    "VisualArtsEvent",
];

/// Properties that Google requires of a type; alternatives are separated by bars.
const REQUIRED: &[(&[&str], &[&str])] = &[
    (&["Product"], &["name", "offers|review|aggregateRating"]),
    (EVENTS, &["name", "startDate", "location"]),
    (
        &["JobPosting"],
        &[
            "title",
            "description",
            "datePosted",
            "hiringOrganization",
            "jobLocation|applicantLocationRequirements",
        ],
    ),
    (&["Recipe"], &["name", "image"]),
    (&["VideoObject"], &["name", "thumbnailUrl", "uploadDate"]),
    (&["BreadcrumbList"], &["itemListElement"]),
    (&[LOCAL_BUSINESS], &["name", "address"]),
    (&["Review"], &["itemReviewed", "author", "reviewRating"]),
];

const LOCAL_BUSINESS: &str = "LocalBusiness";

/// Whether an object is of a type or, for businesses, of a subtype. A vacation rental has its own requirements.
fn is_kind(item: &Item<'_>, name: &str) -> bool {
    let is_business = |of: &Cow<'_, str>| is_local_business(of) && of != "VacationRental";
    if name == LOCAL_BUSINESS {
        item.types.iter().any(is_business)
    } else {
        item.is(name)
    }
}

/// Whether another object refers to a review by its `@id`.
fn is_review_of_another(page: &Page<'_>, review: &Item<'_>) -> bool {
    let Some(id) = review.id() else { return false };
    let is_it = |one: &Json<'_>| {
        let named = one.as_object().and_then(|one| one.get("@id")?.as_str());
        named.is_some_and(|named| named.trim() == id)
    };
    let names_it = |item: &Item<'_>| {
        let reviews = ["review", "reviews"]
            .iter()
            .filter_map(|name| item.properties.get(name));
        reviews.flat_map(Json::each).any(is_it)
    };
    let markup = page.markup();
    markup.items.iter().chain(&markup.nested).any(names_it)
}

pub(super) fn required(page: &Page<'_>, _: &HtmlFacts) -> Option<Value> {
    let incomplete = page.items().iter().filter_map(|item| {
        let (names, properties) = REQUIRED
            .iter()
            .find(|(names, _)| names.iter().any(|name| is_kind(item, name)))?;
        let says = |property: &&str| {
            // the object that refers to a review is what it reviews
            property.split('|').any(|one| item.has(one))
                || *property == "itemReviewed" && is_review_of_another(page, item)
        };
        let mut missing: Vec<String> = properties
            .iter()
            .filter(|property| !says(property))
            .map(|p| p.replace('|', " or "))
            .collect();
        if names.contains(&"BreadcrumbList") && item.extent == Extent::Whole {
            missing.extend(crumbs(item));
        }
        let kind = item.types.iter().find(|kind| names.contains(&&***kind));
        let kind = kind.or_else(|| item.types.iter().find(|kind| is_local_business(kind)));
        (!missing.is_empty()).then(|| item.located(json!({"type": kind, "missing": missing})))
    });
    list("objects", incomplete)
}

/// Returns the properties that entries of a breadcrumb list lack. The last entry needs no item, because it is the page.
fn crumbs(list: &Item<'_>) -> Vec<String> {
    let Some(Json::Array(entries)) = list.properties.get("itemListElement") else {
        return Vec::new();
    };
    let mut missing = Vec::new();
    for (i, entry) in entries.iter().enumerate() {
        let Json::Object(entry) = entry else { continue };
        let has = |name: &str| entry.get(name).is_some_and(says_something);
        let in_item = |name: &str| {
            entry
                .get("item")
                .and_then(|item| item.get(name))
                .is_some_and(says_something)
        };
        let last = i + 1 == entries.len();
        for (name, there) in [
            ("position", has("position")),
            ("name", has("name") || in_item("name")),
            ("item", has("item") || last),
        ] {
            let name = format!("itemListElement.{name}");
            if !there && !missing.contains(&name) {
                missing.push(name);
            }
        }
    }
    missing
}
