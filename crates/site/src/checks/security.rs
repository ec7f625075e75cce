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
    private_network::is_private,
};

const HTTPS: &str = "https://web.dev/articles/why-https-matters";
const MIXED: &str = "https://web.dev/articles/what-is-mixed-content";
const HEADERS: &str = "https://cheatsheetseries.owasp.org/cheatsheets/HTTP_Headers_Cheat_Sheet.html";

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "https-missing",
        title: "Missing HTTPS",
        description: "An indexable page is served over HTTP. A site on a private network (localhost, an address such as 192.168.1.2, a name such as shop.test) is left out.",
        why_it_matters: "Browsers mark the page as not secure, and it can be read and changed on its way.",
        recommendation: "Serve the page over HTTPS, and redirect HTTP to it with a 301.",
        source: HTTPS,
        changed_in: [2, 6, 0],
        ..Check::error(Security, Test::Html(https_missing))
    },
    Check {
        id: "tls-invalid",
        rests_on: &[Prerequisite::Variants],
        title: "Invalid TLS certificate",
        scope: Scope::Site,
        description: "The TLS certificate of the site's HTTPS URL, or of its www or non-www variant, is expired, issued for another name, or from an untrusted issuer. A site on a private network may have an issuer of its own and is left out.",
        why_it_matters: "Browsers show a security warning instead of the site.",
        recommendation: "Renew the certificate for all hostnames of the site.",
        source: HTTPS,
        changed_in: [2, 6, 0],
        ..Check::error(Security, Test::Site(certificate))
    },
    Check {
        id: "tls-expiring",
        rests_on: &[Prerequisite::Home, Prerequisite::Connection],
        title: "TLS certificate expires soon",
        scope: Scope::Site,
        description: "The TLS certificate of the site expires in less than 14 days.",
        why_it_matters: "From the day it expires, browsers show a security warning instead of the site.",
        recommendation: "Renew the certificate, and set up automatic renewal.",
        source: HTTPS,
        ..Check::warning(Security, Test::Site(expiring))
    },
    Check {
        id: "http-not-redirected",
        rests_on: &[Prerequisite::Variants],
        title: "HTTP not redirected to HTTPS",
        scope: Scope::Site,
        description: "The root URL of an HTTPS site returns 200 over HTTP. A site on a private network is left out.",
        why_it_matters: "Visitors who type the address stay on the insecure version.",
        recommendation: "Redirect every HTTP URL to HTTPS with a 301.",
        source: "https://developer.chrome.com/docs/lighthouse/pwa/redirects-http",
        changed_in: [2, 6, 0],
        ..Check::error(Security, Test::Site(not_redirected))
    },
    Check {
        id: "mixed-content-active",
        title: "Mixed content: scripts or frames",
        description: "An HTTPS page loads a script, stylesheet or frame over HTTP.",
        why_it_matters: "Browsers block these files, so the page may not work.",
        recommendation: "Load the files over HTTPS.",
        source: MIXED,
        changed_in: [2, 0, 0],
        ..Check::error(Security, Test::Html(mixed_active))
    },
    Check {
        id: "mixed-content-passive",
        title: "Mixed content: images or media",
        description: "An HTTPS page loads an image, audio or video file over HTTP.",
        why_it_matters: "Browsers show a warning or do not load the file.",
        recommendation: "Load the files over HTTPS.",
        source: MIXED,
        changed_in: [2, 2, 0],
        ..Check::warning(Security, Test::Html(mixed_passive))
    },
    Check {
        id: "form-insecure",
        title: "Insecure form",
        description: "A form is submitted over HTTP, or an HTTP page has a password field. Forms of a site on a private network that stay there are left out.",
        why_it_matters: "Anything that visitors enter can be read on its way.",
        recommendation: "Serve the page and submit the form over HTTPS.",
        source: HTTPS,
        reads: cut::RESOURCES,
        changed_in: [2, 6, 0],
        ..Check::error(Security, Test::Html(form))
    },
    Check {
        id: "hsts-missing",
        rests_on: &[Prerequisite::Home],
        title: "Missing HSTS header",
        scope: Scope::Site,
        description: "The home page sends no Strict-Transport-Security header with a max-age above 0. A site on a private network is left out.",
        why_it_matters: "The first visit can still be intercepted over HTTP.",
        recommendation: "Send Strict-Transport-Security: max-age=31536000; includeSubDomains.",
        source: "https://www.rfc-editor.org/rfc/rfc6797.html",
        changed_in: [2, 6, 0],
        ..Check::notice(Security, Test::Site(hsts))
    },
    Check {
        id: "csp-missing",
        rests_on: &[Prerequisite::Home],
        title: "Missing Content-Security-Policy",
        scope: Scope::Site,
        description: "The home page sends no Content-Security-Policy, neither as a header nor as a meta tag.",
        why_it_matters: "A script injected into a page can load and send any data.",
        recommendation: "Start with a report-only policy, then enforce it.",
        source: "https://web.dev/articles/csp",
        ..Check::notice(Security, Test::Site(csp))
    },
    Check {
        id: "nosniff-missing",
        rests_on: &[Prerequisite::Home],
        title: "Missing X-Content-Type-Options header",
        scope: Scope::Site,
        description: "The home page does not send X-Content-Type-Options: nosniff.",
        why_it_matters: "Browsers may run an uploaded file of another type as a script.",
        recommendation: "Send X-Content-Type-Options: nosniff.",
        source: HEADERS,
        changed_in: [2, 0, 0],
        ..Check::notice(Security, Test::Site(nosniff))
    },
    Check {
        id: "clickjacking",
        rests_on: &[Prerequisite::Home],
        title: "Missing clickjacking protection",
        scope: Scope::Site,
        description: "The home page sends neither X-Frame-Options nor a Content-Security-Policy header with frame-ancestors.",
        why_it_matters: "Another site can embed the page in an invisible frame and capture clicks.",
        recommendation: "Send Content-Security-Policy: frame-ancestors 'self'.",
        source: "https://cheatsheetseries.owasp.org/cheatsheets/Clickjacking_Defense_Cheat_Sheet.html",
        ..Check::notice(Security, Test::Site(clickjacking))
    },
    Check {
        id: "referrer-policy-missing",
        rests_on: &[Prerequisite::Home],
        title: "Missing or unsafe Referrer-Policy",
        scope: Scope::Site,
        description: "The home page sends no Referrer-Policy, or unsafe-url.",
        why_it_matters: "Full page URLs may leak to other sites.",
        recommendation: "Send Referrer-Policy: strict-origin-when-cross-origin.",
        source: "https://web.dev/articles/referrer-best-practices",
        ..Check::notice(Security, Test::Site(referrer_policy))
    },
];

fn https_missing(page: &Page<'_>, _: &HtmlFacts) -> Option<Value> {
    (page.indexable && page.facts.url.starts_with("http:") && !page.context.is_private_site)
        .then(|| json!({"url": page.facts.url}))
}

fn certificate(site: &Site<'_>) -> Option<Value> {
    if site.context.is_private_site {
        return None;
    }
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
    if site.context.is_private_site {
        return None;
    }
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
    // each kind has a limit of kept entries, but the total covers all kinds
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
    // a form without an action is sent to its page, whatever the base URL is
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
        let stays = page.context.is_private_site && (!plain || is_private(&form.action));
        !stays && (plain || by_base(&form.action) || form.password && !page.is_https())
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
    if site.context.is_private_site {
        return None;
    }
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
        // the header has no effect over http, and missing https has its own check
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
            // if it is sent twice, the first value counts
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
