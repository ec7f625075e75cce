//! Page at the URL in the crawler's `User-Agent`: who crawls, for what purpose, and how to keep it out.

use axum::body::Body;
use http::Response;
use searchwright_engine::audits::TOKEN;

use super::docs::html;
use crate::dashboard::page;

/// Serves the page to anyone.
pub async fn serve() -> Response<Body> {
    html(format!(
        "{head}<body>{top}<main>
<h1>{TOKEN}</h1>
<p>The crawler of a Searchwright installation, which its operator runs for the owners of websites. It reads the pages of a website of
theirs to say what is wrong with them, and asks other websites, one request a second, whether links to them still work.</p>
<h2>How to keep it out</h2>
<p>It obeys robots.txt (RFC 9309) of the website it reads, by the name <code>{TOKEN}</code>, and <code>Crawl-delay</code> up to 10 seconds:</p>
<pre>User-agent: {TOKEN}
Disallow: /</pre>
<p>A change counts within a day. Answers 429 and 503 halve its rate, and <code>Retry-After</code> up to a minute is waited for.</p>
<h2>Whether it is this one</h2>
<p>Anybody can send its name. Requests of this installation come from the address of its operator, whom to ask.
<a href=\"{repository}\">The program and its source</a>.</p>
</main></body></html>
",
        head = page::head(TOKEN),
        top = page::TOP,
        repository = env!("CARGO_PKG_REPOSITORY"),
    ))
}
