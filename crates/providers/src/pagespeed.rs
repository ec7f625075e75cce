//! Google's PageSpeed Insights: Core Web Vitals of a page from the visits of people (Chrome UX Report), and from one in the lab,
//! which also shows what can hardly be tapped and which images are larger than they are shown (Lighthouse 13).
//! It charges nothing; a key has a quota per day and per minute.

use bytes::Bytes;
use http::{HeaderName, Method};
use searchwright_outbound::Guarded;
use searchwright_site::vitals::{Figure, Oversized, Source, TapTarget, Vitals};
use searchwright_text as text;
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;

use super::{
    account::Account,
    circuit::Circuit,
    error::{ProviderError, Why},
    http::{Terms, build_request, fetch_json, secret_header},
};
use crate::Credentials;

/// Things of one kind that are kept of a page.
const MAX_ITEMS: usize = 100;
/// Characters kept of what stands in a page, and of a MAX_URL.
const MAX_TEXT: usize = 200;
const MAX_URL: usize = 2_048;
/// Words of Lighthouse about an image that is larger than it is shown, and about no other: "This image file is
/// larger than it needs to be (1600x1200) for its displayed dimensions (350x263)."
const SHOWN: &str = "for its displayed dimensions";

const ADDRESS: &str = "https://www.googleapis.com";

/// PageSpeed Insights with the key of an account.
pub struct PageSpeed {
    url: String,
    secret: SecretString,
    client: Guarded,
    circuit: Circuit,
}

impl std::fmt::Debug for PageSpeed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PageSpeed")
    }
}

impl PageSpeed {
    pub(super) fn new(
        client: Guarded,
        account: &Credentials,
        circuit: Circuit,
    ) -> Result<Self, ProviderError> {
        let secret = account.secret.clone();
        Ok(Self {
            url: format!(
                "{}/pagespeedonline/v5/runPagespeed",
                Account(&account.settings).base_url(ADDRESS)
            ),
            secret: secret.ok_or(ProviderError::NotConfigured("key"))?,
            client,
            circuit,
        })
    }

    /// Fetches the vitals of a page on phones, at least one figure; `measured_at` is left to the caller.
    pub async fn measure(&self, page: &str) -> Result<Vitals, ProviderError> {
        let query = url::form_urlencoded::Serializer::new(String::new())
            .append_pair("url", page)
            .append_pair("strategy", "mobile")
            .append_pair("category", "performance")
            .append_pair("category", "accessibility")
            // what it says of images is read
            .append_pair("locale", "en-US")
            .finish();
        let mut request = build_request(Method::GET, &format!("{}?{query}", self.url), Bytes::new())?;
        let key = self.secret.expose_secret();
        let header = HeaderName::from_static("x-goog-api-key");
        request.headers_mut().insert(header, secret_header(key)?);
        let terms = Terms {
            charges: false,
            secrets: &[key],
        };
        let call = async {
            let answer = fetch_json(&self.client, request, terms).await?;
            read(&answer).ok_or_else(|| ProviderError::refused(Why::Empty))
        };
        self.circuit.watch(call).await
    }
}

/// Figures of people's visits first. What is known of the whole origin only says nothing of the page.
fn read(answer: &Value) -> Option<Vitals> {
    let field = &answer["loadingExperience"];
    let of_page = field["origin_fallback"] != true;
    let seen = |name: &str, unit: f64| {
        let value = field["metrics"][name]["percentile"]
            .as_f64()
            .filter(|_| of_page)?;
        figure(value * unit, Source::Field)
    };
    let tried = |name: &str, unit: f64| {
        let value = answer["lighthouseResult"]["audits"][name]["numericValue"].as_f64()?;
        figure(value * unit, Source::Lab)
    };
    let vitals = Vitals {
        lcp: seen("LARGEST_CONTENTFUL_PAINT_MS", 1.0).or_else(|| tried("largest-contentful-paint", 1.0)),
        inp: seen("INTERACTION_TO_NEXT_PAINT", 1.0),
        // The field's is a whole number of hundredths.
        cls: seen("CUMULATIVE_LAYOUT_SHIFT_SCORE", 10.0).or_else(|| tried("cumulative-layout-shift", 1000.0)),
        small_targets: small_targets(&answer["lighthouseResult"]["audits"]["target-size"]),
        oversized: oversized(&answer["lighthouseResult"]["audits"]["image-delivery-insight"]),
        measured_at: String::new(),
    };
    (vitals != Vitals::default()).then_some(vitals)
}

/// Items that an audit of Lighthouse lists; `None` if it was not carried out.
fn items(audit: &Value) -> Option<&[Value]> {
    match audit["scoreDisplayMode"].as_str()? {
        "error" => None,
        // there is nothing that it could be about
        "notApplicable" => Some(&[]),
        _ => {
            let all = audit["details"]["items"].as_array()?;
            Some(&all[..all.len().min(MAX_ITEMS)])
        }
    }
}

/// The beginning of a text, which a website chose.
fn kept(value: &Value, most: usize) -> Option<Box<str>> {
    Some(text::cut(value.as_str()?, most).into())
}

fn small_targets(audit: &Value) -> Option<Vec<TapTarget>> {
    let target = |item: &Value| {
        Some(TapTarget {
            selector: kept(&item["node"]["selector"], MAX_TEXT)?,
            html: kept(&item["node"]["snippet"], MAX_TEXT)?,
        })
    };
    Some(items(audit)?.iter().filter_map(target).collect())
}

/// Images may be improved in other ways too, which other checks tell of.
fn oversized(audit: &Value) -> Option<Vec<Oversized>> {
    let image = |item: &Value| {
        let mut ways = item["subItems"]["items"].as_array()?.iter();
        let way = ways.find(|way| way["reason"].as_str().is_some_and(|why| why.contains(SHOWN)))?;
        let mut sizes = way["reason"].as_str()?.split('(').skip(1);
        let mut size = || Some(text::cut(sizes.next()?.split(')').next()?, 20).into());
        Some(Oversized {
            url: kept(&item["url"], MAX_URL)?,
            sizes: [size()?, size()?],
            bytes: item["totalBytes"].as_u64()?,
            wasted_bytes: way["wastedBytes"].as_f64()?.max(0.0) as u64,
        })
    };
    Some(items(audit)?.iter().filter_map(image).collect())
}

fn figure(value: f64, source: Source) -> Option<Figure> {
    let value = (0.0..=f64::from(u32::MAX))
        .contains(&value)
        .then(|| value.round() as u32)?;
    Some(Figure { value, source })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Made by Lighthouse 13.5 of a page with three links of ten pixels and an image of 1600 pixels, without what is not read.
    const LIGHTHOUSE: &str = include_str!("pagespeed/lighthouse.json");

    #[test]
    fn what_a_browser_showed_is_read() {
        let lab: Value = serde_json::from_str(LIGHTHOUSE).unwrap();
        let shown = |lab: &Value| read(&json!({ "lighthouseResult": lab }));
        let seen = shown(&lab).unwrap();
        let targets = seen.small_targets.unwrap();
        assert_eq!(
            (targets.len(), &*targets[0].selector, &*targets[0].html),
            (3, "body > p > a.t", "<a class=\"t\" href=\"/a\">")
        );
        let [image] = &seen.oversized.unwrap()[..] else {
            panic!("one image")
        };
        assert_eq!((&*image.sizes[0], &*image.sizes[1]), ("1600x1200", "350x263"));
        assert_eq!((image.bytes, image.wasted_bytes), (5_763_023, 5_487_253));
        assert!(image.url.ends_with("/big.png"));
        let mut good = lab.clone();
        good["audits"]["target-size"] = json!({ "score": null, "scoreDisplayMode": "notApplicable" });
        good["audits"]["image-delivery-insight"]["details"]["items"][0]["subItems"]["items"][1] = Value::Null;
        let good = shown(&good).unwrap();
        assert_eq!((good.small_targets, good.oversized), (Some(vec![]), Some(vec![])));
        let mut lost = lab;
        for audit in ["target-size", "image-delivery-insight"] {
            lost["audits"][audit] =
                json!({ "score": null, "scoreDisplayMode": "error", "errorMessage": "x" });
        }
        let lost = shown(&lost).unwrap();
        assert_eq!((lost.small_targets, lost.oversized), (None, None), "nobody knows");
    }

    #[test]
    fn what_people_met_comes_first() {
        let lab = json!({ "audits": { "largest-contentful-paint": { "numericValue": 3900.4 }, "cumulative-layout-shift": { "numericValue": 0.0124 } } });
        let field = json!({ "metrics": { "LARGEST_CONTENTFUL_PAINT_MS": { "percentile": 1800 }, "INTERACTION_TO_NEXT_PAINT": { "percentile": 90 } } });
        let of = |value, source| Some(Figure { value, source });
        let both = read(&json!({ "loadingExperience": field, "lighthouseResult": lab })).unwrap();
        assert_eq!(
            (both.lcp, both.inp, both.cls),
            (
                of(1800, Source::Field),
                of(90, Source::Field),
                of(12, Source::Lab)
            )
        );
        let mut origin = field;
        origin["origin_fallback"] = true.into();
        let lab = read(&json!({ "loadingExperience": origin, "lighthouseResult": lab })).unwrap();
        assert_eq!((lab.lcp, lab.inp), (of(3900, Source::Lab), None));
        assert_eq!(read(&json!({ "loadingExperience": origin })), None);
        assert_eq!(
            read(
                &json!({ "lighthouseResult": { "audits": { "largest-contentful-paint": { "numericValue": -1 } } } })
            ),
            None
        );
    }
}
