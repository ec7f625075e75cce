//! Google's PageSpeed Insights: Core Web Vitals of a page from the visits of people (Chrome UX Report), and from one in the lab.
//! It charges nothing; a key has a quota per day and per minute.

use bytes::Bytes;
use http::{HeaderName, Method};
use searchwright_site::vitals::{Figure, Source, Vitals};
use searchwright_store::providers::Opened;
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;

use super::{
    account::Account,
    circuit::Circuit,
    error::{ProviderError, Why},
    exchange::{self, Terms, secret_header},
    outbound::Guarded,
};

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
    pub(super) fn new(client: Guarded, account: &Opened, circuit: Circuit) -> Result<Self, ProviderError> {
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

    /// What is known of a page on phones, at least one figure; `measured_at` is left to the caller.
    pub async fn measure(&self, page: &str) -> Result<Vitals, ProviderError> {
        let query = url::form_urlencoded::Serializer::new(String::new())
            .append_pair("url", page)
            .append_pair("strategy", "mobile")
            .append_pair("category", "performance")
            .finish();
        let mut request = exchange::request(Method::GET, &format!("{}?{query}", self.url), Bytes::new())?;
        let key = self.secret.expose_secret();
        let header = HeaderName::from_static("x-goog-api-key");
        request.headers_mut().insert(header, secret_header(key)?);
        let terms = Terms {
            charges: false,
            secrets: &[key],
        };
        let call = async {
            let answer = exchange::json(&self.client, request, terms).await?;
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
        measured_at: String::new(),
    };
    (vitals != Vitals::default()).then_some(vitals)
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
