//! Encryption, and headers that protect visitors.

use serde_json::{Value, json};

use super::{
    Category::Security,
    Check, Page, Scope, Site, Test,
    evidence::{at_least, list, with},
    prerequisite::Prerequisite,
};
use crate::{
    dates,
    page::{Form, HtmlFacts, INSECURE, PageFacts, ResourceRef, base_url, cut, is_frame_ancestors},
};

const HTTPS: &str = "https://web.dev/articles/why-https-matters";
const MIXED: &str = "https://web.dev/articles/what-is-mixed-content";
const HEADERS: &str = "https://cheatsheetseries.owasp.org/cheatsheets/HTTP_Headers_Cheat_Sheet.html";

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "https-missing",
        title: "Page without https",
        description: "An indexable page is served over http.",
        why_it_matters: "Browsers call it not secure, and anyone on the way can change it.",
        recommendation: "Serve it over https, and redirect http with 301.",
        source: HTTPS,
        ..Check::error(Security, Test::Html(https_missing))
    },
    Check {
        id: "tls-invalid",
        rests_on: &[Prerequisite::Variants],
        title: "Certificate not valid",
        scope: Scope::Site,
        description: "The https address of the site, or its twin with or without www, has a certificate that is expired, for another name, or of an unknown issuer.",
        why_it_matters: "Browsers show a warning instead of the site.",
        recommendation: "Renew the certificate for all names of the site.",
        source: HTTPS,
        ..Check::error(Security, Test::Site(certificate))
    },
    Check {
        id: "tls-expiring",
        rests_on: &[Prerequisite::Home, Prerequisite::Connection],
        title: "Certificate expires soon",
        scope: Scope::Site,
        description: "The certificate of the site is valid for less than 14 days.",
        why_it_matters: "On the day it expires browsers show a warning instead of the site.",
        recommendation: "Renew it, and see to it that it is renewed by itself.",
        source: HTTPS,
        ..Check::warning(Security, Test::Site(expiring))
    },
    Check {
        id: "http-not-redirected",
        rests_on: &[Prerequisite::Variants],
        title: "http is not redirected",
        scope: Scope::Site,
        description: "The root of the site answers 200 over http, although the site has https.",
        why_it_matters: "Visitors who type the address stay on the insecure copy.",
        recommendation: "Redirect every http URL to https with 301.",
        source: "https://developer.chrome.com/docs/lighthouse/pwa/redirects-http",
        ..Check::error(Security, Test::Site(not_redirected))
    },
    Check {
        id: "mixed-content-active",
        title: "Insecure scripts or frames",
        description: "A page on https loads a script, style or frame over http.",
        why_it_matters: "Browsers block it, and the page breaks.",
        recommendation: "Load it over https.",
        source: MIXED,
        changed_in: [2, 0, 0],
        ..Check::error(Security, Test::Html(mixed_active))
    },
    Check {
        id: "mixed-content-passive",
        title: "Insecure images or media",
        description: "A page on https shows an image, sound or video over http.",
        why_it_matters: "Browsers warn, or fail to show it.",
        recommendation: "Load it over https.",
        source: MIXED,
        changed_in: [2, 2, 0],
        ..Check::warning(Security, Test::Html(mixed_passive))
    },
    Check {
        id: "form-insecure",
        title: "Insecure form",
        description: "A form is sent over http, or a page on http asks for a password.",
        why_it_matters: "What visitors enter can be read on the way.",
        recommendation: "Serve the page and receive the form over https.",
        source: HTTPS,
        reads: cut::RESOURCES,
        ..Check::error(Security, Test::Html(form))
    },
    Check {
        id: "hsts-missing",
        rests_on: &[Prerequisite::Home],
        title: "No Strict-Transport-Security",
        scope: Scope::Site,
        description: "The home page sends no Strict-Transport-Security with a max-age above 0.",
        why_it_matters: "The first visit can still be led over http.",
        recommendation: "Send Strict-Transport-Security: max-age=31536000; includeSubDomains.",
        source: "https://www.rfc-editor.org/rfc/rfc6797.html",
        ..Check::notice(Security, Test::Site(hsts))
    },
    Check {
        id: "csp-missing",
        rests_on: &[Prerequisite::Home],
        title: "No Content-Security-Policy",
        scope: Scope::Site,
        description: "The home page sends no Content-Security-Policy, neither as header nor as meta.",
        why_it_matters: "A script that gets into a page may load and send whatever it likes.",
        recommendation: "Begin with a policy in report-only mode, then enforce it.",
        source: "https://web.dev/articles/csp",
        ..Check::notice(Security, Test::Site(csp))
    },
    Check {
        id: "nosniff-missing",
        rests_on: &[Prerequisite::Home],
        title: "No nosniff",
        scope: Scope::Site,
        description: "The home page does not send X-Content-Type-Options: nosniff.",
        why_it_matters: "Browsers may run as a script what was uploaded as something else.",
        recommendation: "Send X-Content-Type-Options: nosniff.",
        source: HEADERS,
        changed_in: [2, 0, 0],
        ..Check::notice(Security, Test::Site(nosniff))
    },
    Check {
        id: "clickjacking",
        rests_on: &[Prerequisite::Home],
        title: "May be framed by anybody",
        scope: Scope::Site,
        description: "The home page sends neither X-Frame-Options nor frame-ancestors.",
        why_it_matters: "Another site can show it invisibly and catch clicks.",
        recommendation: "Send Content-Security-Policy: frame-ancestors 'self'.",
        source: "https://cheatsheetseries.owasp.org/cheatsheets/Clickjacking_Defense_Cheat_Sheet.html",
        ..Check::notice(Security, Test::Site(clickjacking))
    },
    Check {
        id: "referrer-policy-missing",
        rests_on: &[Prerequisite::Home],
        title: "No Referrer-Policy",
        scope: Scope::Site,
        description: "The home page sends no Referrer-Policy, or unsafe-url.",
        why_it_matters: "Full addresses of pages may be told to other sites.",
        recommendation: "Send Referrer-Policy: strict-origin-when-cross-origin.",
        source: "https://web.dev/articles/referrer-best-practices",
        ..Check::notice(Security, Test::Site(referrer_policy))
    },
];

fn https_missing(page: &Page<'_>, _: &HtmlFacts) -> Option<Value> {
    (page.indexable && page.facts.url.starts_with("http:")).then(|| json!({"url": page.facts.url}))
}

fn certificate(site: &Site<'_>) -> Option<Value> {
    let faults = site.origin().faults.iter();
    list(
        "hosts",
        faults.map(|(url, fault)| json!({"url": url, "error": fault.code()})),
    )
}

fn expiring(site: &Site<'_>) -> Option<Value> {
    const DAY_MS: i64 = 24 * 60 * 60 * 1000;
    let until = site.origin().certificate_until_ms?;
    let days = (until - site.context.now_ms).div_euclid(DAY_MS);
    (days < i64::from(site.context.thresholds.certificate_days))
        .then(|| json!({"notAfter": dates::day(until), "days": days}))
}

fn not_redirected(site: &Site<'_>) -> Option<Value> {
    let plain = site.origin().other_scheme.as_ref()?;
    let secure = site.origin().root.starts_with("https:");
    (secure && plain.status == 200).then(|| json!({"httpUrl": plain.url, "status": plain.status}))
}

fn insecure(page: &Page<'_>, html: &HtmlFacts, passive: bool) -> Option<Value> {
    if !page.is_https() {
        return None;
    }
    let is_found = |resource: &&ResourceRef| resource.is_passive() == passive;
    let found = html.insecure.iter().filter(is_found);
    let evidence = list(
        "resources",
        found.map(|ResourceRef { tag, url }| json!({"tag": tag, "src": url})),
    )?;
    // of each kind the first are kept, and all are counted together
    let kept = html.insecure.iter().filter(is_found).count();
    let others = html.insecure.len() - kept;
    let total = (html.insecure_total as usize).saturating_sub(others).max(kept);
    Some(if others < INSECURE {
        with(evidence, "total", total)
    } else {
        at_least(evidence, kept >= INSECURE)
    })
}

fn mixed_active(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    insecure(page, html, false)
}

fn mixed_passive(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    insecure(page, html, true)
}

fn form(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    let plain_base = html
        .base
        .as_ref()
        .filter(|_| page.is_https())
        .and_then(|_| base_url(page.facts, html))
        .filter(|base| base.scheme() == "http");
    // without an action a form is sent to its page, whatever the base is
    let by_base = |action: &str| {
        let url = plain_base
            .as_ref()
            .filter(|_| !action.is_empty())
            .and_then(|base| base.join(action).ok());
        url.is_some_and(|url| url.scheme() == "http")
    };
    let exposed = |form: &&Form| {
        let plain = form
            .action
            .get(..5)
            .is_some_and(|scheme| scheme.eq_ignore_ascii_case("http:"));
        plain || by_base(&form.action) || form.password && !page.is_https()
    };
    list(
        "forms",
        html.forms
            .iter()
            .filter(exposed)
            .map(|form| json!({"action": form.action, "password": form.password})),
    )
}

fn hsts(site: &Site<'_>) -> Option<Value> {
    let valid = |facts: &PageFacts| {
        let header = facts
            .headers
            .hsts
            .as_deref()
            .unwrap_or_default()
            .to_ascii_lowercase();
        let age = header.split(';').find_map(|part| {
            part.trim()
                .strip_prefix("max-age=")
                .map(|age| age.trim_matches('"').to_owned())
        });
        // the header means nothing over http, and the lack of https has its own check
        !facts.url.starts_with("https:") || age.is_some_and(|age| age.parse::<u64>().is_ok_and(|age| age > 0))
    };
    site.home_header(valid, |facts| json!({"value": facts.headers.hsts}))
}

fn meta_csp(facts: &PageFacts) -> Option<&str> {
    let html = facts.html.as_deref()?;
    html.metas
        .iter()
        .find(|meta| &*meta.name == "=content-security-policy")
        .map(|meta| &*meta.content)
}

fn csp(site: &Site<'_>) -> Option<Value> {
    site.home_header(
        |facts| facts.headers.csp.is_some() || meta_csp(facts).is_some(),
        |_| json!({}),
    )
}

fn nosniff(site: &Site<'_>) -> Option<Value> {
    let set = |facts: &PageFacts| {
        facts
            .headers
            .content_type_options
            .as_deref()
            // sent twice it still counts, by what comes first
            .and_then(|value| value.split(',').next())
            .is_some_and(|value| value.trim().eq_ignore_ascii_case("nosniff"))
    };
    site.home_header(set, |facts| json!({"value": facts.headers.content_type_options}))
}

fn clickjacking(site: &Site<'_>) -> Option<Value> {
    // frame-ancestors has no effect in a meta element
    let protected = |facts: &PageFacts| {
        let framed = facts
            .headers
            .csp
            .as_deref()
            .is_some_and(|csp| csp.split([',', ';']).any(is_frame_ancestors));
        framed || facts.headers.frame_options.is_some()
    };
    site.home_header(protected, |_| json!({}))
}

fn referrer_policy(site: &Site<'_>) -> Option<Value> {
    let fine = |facts: &PageFacts| {
        let meta = facts
            .html
            .iter()
            .flat_map(|html| &html.metas)
            .find(|meta| &*meta.name == "referrer")
            .map(|meta| &*meta.content);
        let value = facts.headers.referrer_policy.as_deref().or(meta);
        value.is_some_and(|value| {
            !value.trim().is_empty() && !value.to_ascii_lowercase().contains("unsafe-url")
        })
    };
    site.home_header(fine, |facts| json!({"value": facts.headers.referrer_policy}))
}
