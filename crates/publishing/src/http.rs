//! HTTP that all vendors share: JSON requests, and the meaning of an answer for a post.

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, header};
use searchwright_outbound::{
    Ambiguous, Guarded, Loss, NotSent, Rejected, RequestError, excerpt, retry_after,
};
use serde_json::Value;

use super::{
    answers::{json_within, wall},
    error::{Cause, Trouble, Why},
    publisher::Picture,
    values::digest,
};

/// Largest answer that is read whole, in bytes.
const MAX_ANSWER_BYTES: usize = 16 << 20;

/// An answer of a provider.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    /// `Null` where it is no JSON.
    pub body: Value,
    /// The firewall, or what else stands before the provider, that answered instead of it.
    pub wall: Option<&'static str>,
}

/// One vendor's server with what every request to it carries.
#[derive(Clone)]
pub(super) struct Server {
    client: Guarded,
    base: String,
    headers: Vec<(HeaderName, HeaderValue)>,
    secrets: Vec<String>,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Server({})", self.base)
    }
}

impl Server {
    /// A server at this address; a slash at its end is taken off.
    pub fn new(client: Guarded, base: &str) -> Self {
        Self {
            client,
            base: base.trim_end_matches('/').to_owned(),
            headers: vec![(header::ACCEPT, HeaderValue::from_static("application/json"))],
            secrets: Vec::new(),
        }
    }

    /// A server at exactly this address; a slash at its end is kept.
    pub fn at(client: Guarded, url: &str) -> Self {
        Self {
            base: url.to_owned(),
            ..Self::new(client, "")
        }
    }

    /// Address of the server, without a slash at its end.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// Adds a header to every request.
    pub fn with(mut self, name: HeaderName, value: &'static str) -> Self {
        self.headers.push((name, HeaderValue::from_static(value)));
        self
    }

    /// Adds a header that holds a secret to every request. The secret is kept out of logs and out of quotations of the
    /// provider. A value that is no valid header is refused as a wrong credential.
    pub fn with_secret(mut self, name: HeaderName, value: &str, secret: &str) -> Result<Self, Trouble> {
        let mut value = HeaderValue::from_str(value).map_err(|_| Trouble::refused(Why::Credential))?;
        value.set_sensitive(true);
        self.headers.push((name, value));
        self.secrets.push(secret.to_owned());
        Ok(self)
    }

    /// Adds another secret that quotations of the provider must not contain.
    pub fn hiding(mut self, secret: &str) -> Self {
        self.secrets.push(secret.to_owned());
        self
    }

    /// Adds `Authorization: Bearer` to every request.
    pub fn with_bearer(self, token: &str) -> Result<Self, Trouble> {
        self.with_secret(header::AUTHORIZATION, &format!("Bearer {token}"), token)
    }

    /// Sends GET, past caches. Sending it again is harmless.
    pub async fn get(&self, path: &str) -> Result<Answer, Trouble> {
        self.send(Method::GET, path, None, false).await
    }

    /// Sends GET for something that may be absent: `None` on 404 and 410.
    pub async fn get_if_there(&self, path: &str) -> Result<Option<Answer>, Trouble> {
        match self.get(path).await {
            Err(Trouble::Refused {
                why: Why::Missing, ..
            }) => Ok(None),
            answer => answer.map(Some),
        }
    }

    /// Returns an answer with a 2xx status, and turns any other into the error that it means.
    pub fn judged(&self, answer: Answer, writes: bool) -> Result<Answer, Trouble> {
        if let Some(wall) = answer.wall {
            return Err(walled(wall, &answer));
        }
        if is_success(answer.status) {
            return Ok(answer);
        }
        let rejected = Rejected {
            status: answer.status,
            headers: answer.headers,
            body: answer.body,
        };
        Err(self.trouble(&RequestError::Rejected(rejected), writes))
    }

    /// Reads by POST, as GraphQL and searches do.
    pub async fn ask(&self, path: &str, body: &Value) -> Result<Answer, Trouble> {
        self.send(Method::POST, path, Some(json_body(body)), false).await
    }

    /// Sends a change with a JSON body.
    pub async fn write(&self, method: Method, path: &str, body: &Value) -> Result<Answer, Trouble> {
        self.send(method, path, Some(json_body(body)), true).await
    }

    /// Sends a change with a body of another type.
    pub async fn write_bytes(
        &self,
        method: Method,
        path: &str,
        headers: Vec<(HeaderName, HeaderValue)>,
        body: Bytes,
    ) -> Result<Answer, Trouble> {
        self.send(method, path, Some((headers, body)), true).await
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        body: Option<Body>,
        writes: bool,
    ) -> Result<Answer, Trouble> {
        let answer = self.exchange(method, path, body, writes).await?;
        self.judged(answer, writes)
    }

    /// The answer whatever its status; a half one only where its status says enough.
    pub async fn exchange(
        &self,
        method: Method,
        path: &str,
        body: Option<Body>,
        writes: bool,
    ) -> Result<Answer, Trouble> {
        let (own, body) = body.unwrap_or_default();
        let mut request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.base))
            .body(body)
            .map_err(|_| Trouble::refused(Why::Address))?;
        let headers = request.headers_mut();
        headers.extend(self.headers.iter().cloned().chain(own));
        if !writes {
            // What a cache has kept since before a request says nothing about that request.
            headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        }
        let answer = self
            .client
            .send(request, MAX_ANSWER_BYTES)
            .await
            .map_err(|error| self.trouble(&error.into(), writes))?;
        match answer.cut {
            Some(cut) if is_success(answer.status) => {
                let error = RequestError::from_cut(cut, answer.status);
                Err(self.trouble(&error, writes))
            }
            _ => {
                let body = json_within(&answer.body);
                Ok(Answer {
                    status: answer.status,
                    wall: wall(answer.status, &answer.headers, &body, &answer.body),
                    headers: answer.headers,
                    body,
                })
            }
        }
    }

    /// Returns a refusal with the provider's own message, cut and without secrets.
    pub fn refusal(&self, why: Why, message: &str) -> Trouble {
        Trouble::Refused {
            why,
            said: excerpt(message, &self.secrets()),
        }
    }

    fn trouble(&self, error: &RequestError, writes: bool) -> Trouble {
        Trouble::from_request(error, writes, &self.secrets())
    }

    fn secrets(&self) -> Vec<&str> {
        self.secrets.iter().map(String::as_str).collect()
    }
}

/// Returns the error for an answer of what stands before a provider. It did not let the request through, so nothing was carried out.
fn walled(wall: &str, answer: &Answer) -> Trouble {
    match answer.status {
        // Such as for too many requests, so that it may let through what comes later.
        503 => Trouble::NotNow {
            cause: Cause::Firewall,
            after: retry_after(&answer.headers),
        },
        status => Trouble::because(
            Why::Firewall,
            format!("{wall} answered with {status} and a page of its own"),
        ),
    }
}

const fn is_success(status: u16) -> bool {
    matches!(status, 200..=299)
}

impl Trouble {
    /// Converts the error of a request. A read may be sent again; a change may have happened once it was sent.
    /// `secrets` must not be in what the provider said.
    pub(super) fn from_request(error: &RequestError, writes: bool, secrets: &[&str]) -> Self {
        match error {
            RequestError::NotSent(NotSent::Address) => Self::refused(Why::Address),
            RequestError::NotSent(NotSent::Dns) => Self::not_now(Cause::Dns),
            RequestError::NotSent(NotSent::Connect) => Self::not_now(Cause::Connect),
            RequestError::NotSent(NotSent::Tls) => Self::not_now(Cause::Tls),
            RequestError::Rejected(answer) => rejection(answer, writes, secrets),
            RequestError::Ambiguous(Ambiguous { cause, status }) => {
                let cause = match cause {
                    Loss::Timeout => Cause::Timeout,
                    Loss::Broken => Cause::Broken,
                    Loss::Oversized => Cause::Unreadable,
                };
                match (writes, cause) {
                    (true, _) => Self::Unclear {
                        cause,
                        status: *status,
                    },
                    (false, Cause::Unreadable) => Self::refused(Why::Unreadable),
                    (false, _) => Self::not_now(cause),
                }
            }
        }
    }
}

/// Turns an answer that is no success into the error that it means.
pub(super) fn rejection(answer: &Rejected, writes: bool, secrets: &[&str]) -> Trouble {
    let said = error_message(&answer.body).and_then(|text| excerpt(&text, secrets));
    let refused = |why| Trouble::Refused {
        why,
        said: said.clone(),
    };
    match answer.status {
        401 => refused(Why::Credential),
        403 => refused(Why::Permission),
        404 | 410 => refused(Why::Missing),
        409 | 412 => refused(Why::Conflict),
        413 => refused(Why::TooLarge),
        429 => Trouble::NotNow {
            cause: Cause::RateLimited,
            after: answer.retry_after(),
        },
        500..=599 if writes => Trouble::Unclear {
            cause: Cause::Status,
            status: Some(answer.status),
        },
        408 | 425 | 500..=599 => Trouble::NotNow {
            cause: Cause::Status,
            after: answer.retry_after(),
        },
        400..=499 => refused(Why::Invalid),
        // A redirect: not followed, for it would carry the credential elsewhere.
        _ => Trouble::Refused {
            why: Why::Unreadable,
            said: said.or_else(|| redirect(&answer.headers)),
        },
    }
}

/// Target of a redirect as a sentence, without query and fragment, which may hold secrets.
fn redirect(headers: &HeaderMap) -> Option<String> {
    let location = headers.get(header::LOCATION)?.to_str().ok()?;
    let location = location.split(['?', '#']).next()?;
    Some(format!("it redirects to {location}"))
}

/// Headers of a body, and its bytes.
pub(super) type Body = (Vec<(HeaderName, HeaderValue)>, Bytes);

/// A body of JSON.
pub(super) fn json_body(body: &Value) -> Body {
    let kind = HeaderValue::from_static("application/json");
    (vec![(header::CONTENT_TYPE, kind)], Bytes::from(body.to_string()))
}

/// A form with these fields and a file, whose part is called `file_name`.
pub(super) fn form_body(
    fields: &[(&str, &str)],
    file_name: &str,
    picture: &Picture,
) -> Result<Body, Trouble> {
    let boundary = format!("searchwright-{}", digest(&picture.bytes));
    let mut body = Vec::with_capacity(picture.bytes.len() + 1024);
    for (name, value) in fields {
        let part =
            format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n");
        body.extend_from_slice(part.as_bytes());
    }
    let part = format!(
        "--{boundary}\r\nContent-Disposition: form-data; name=\"{file_name}\"; filename=\"{}\"\r\nContent-Type: {}\r\n\r\n",
        picture.name, picture.media_type
    );
    body.extend_from_slice(part.as_bytes());
    body.extend_from_slice(&picture.bytes);
    body.extend_from_slice(format!("\r\n--{boundary}--\r\n").as_bytes());
    let kind = HeaderValue::from_str(&format!("multipart/form-data; boundary={boundary}"))
        .map_err(|_| Trouble::refused(Why::Invalid))?;
    Ok((vec![(header::CONTENT_TYPE, kind)], Bytes::from(body)))
}

/// The message in an error object of any of the vendors.
fn error_message(body: &Value) -> Option<String> {
    let first = |list: &Value| list.get(0).cloned();
    let errors = body.get("errors").and_then(first);
    let at = errors.as_ref().unwrap_or(body);
    let error = at.get("error").unwrap_or(at);
    let text = |name: &str| error.get(name).and_then(Value::as_str);
    let message = text("message").or_else(|| error.as_str())?;
    Some(match text("context").or_else(|| text("detail")) {
        Some(more) => format!("{message} {more}"),
        None => message.to_owned(),
    })
}

impl Answer {
    /// Returns the answer to a read as JSON. A body that is no JSON is refused as unreadable.
    pub fn json(self) -> Result<Value, Trouble> {
        if self.body.is_null() {
            return Err(Trouble::refused(Why::Unreadable));
        }
        Ok(self.body)
    }

    /// Reads the answer to a change with `read`. If it cannot be read, the error is `Unclear`: the change may have
    /// happened.
    pub fn made<T>(self, read: impl FnOnce(&Value) -> Option<T>) -> Result<T, Trouble> {
        read(&self.body).ok_or(Trouble::Unclear {
            cause: Cause::Unreadable,
            status: Some(self.status),
        })
    }
}

/// A part of a path or a query, escaped.
pub(super) fn escaped(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes())
        .collect::<String>()
        .replace('+', "%20")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from_request(error: RequestError, writes: bool) -> Trouble {
        Trouble::from_request(&error, writes, &[])
    }

    #[test]
    fn request_that_was_not_sent_is_never_unclear() {
        for writes in [true, false] {
            for (error, cause) in [
                (NotSent::Dns, Cause::Dns),
                (NotSent::Connect, Cause::Connect),
                (NotSent::Tls, Cause::Tls),
            ] {
                assert_eq!(from_request(error.into(), writes), Trouble::not_now(cause));
            }
            assert_eq!(
                from_request(NotSent::Address.into(), writes),
                Trouble::refused(Why::Address)
            );
        }
    }

    #[test]
    fn lost_answer_is_unclear_to_a_change_only() {
        for status in [None, Some(200)] {
            for (loss, cause, read) in [
                (Loss::Timeout, Cause::Timeout, Trouble::not_now(Cause::Timeout)),
                (Loss::Broken, Cause::Broken, Trouble::not_now(Cause::Broken)),
                (
                    Loss::Oversized,
                    Cause::Unreadable,
                    Trouble::refused(Why::Unreadable),
                ),
            ] {
                let lost = RequestError::Ambiguous(Ambiguous { cause: loss, status });
                assert_eq!(
                    from_request(lost.clone(), true),
                    Trouble::Unclear { cause, status }
                );
                assert_eq!(from_request(lost, false), read);
            }
        }
    }

    #[test]
    fn error_of_the_server_is_unclear_to_a_change_only() {
        let rejected = |status| RequestError::Rejected(Rejected::read(status, HeaderMap::new(), b""));
        for status in [500, 502, 503, 504, 599] {
            let unclear = Trouble::Unclear {
                cause: Cause::Status,
                status: Some(status),
            };
            assert_eq!(from_request(rejected(status), true), unclear);
            assert_eq!(
                from_request(rejected(status), false),
                Trouble::not_now(Cause::Status)
            );
        }
        for writes in [true, false] {
            for (status, expected) in [
                (408, Trouble::not_now(Cause::Status)),
                (425, Trouble::not_now(Cause::Status)),
                (429, Trouble::not_now(Cause::RateLimited)),
                (400, Trouble::refused(Why::Invalid)),
                (401, Trouble::refused(Why::Credential)),
                (403, Trouble::refused(Why::Permission)),
                (404, Trouble::refused(Why::Missing)),
                (410, Trouble::refused(Why::Missing)),
                (409, Trouble::refused(Why::Conflict)),
                (412, Trouble::refused(Why::Conflict)),
                (413, Trouble::refused(Why::TooLarge)),
                (422, Trouble::refused(Why::Invalid)),
                (302, Trouble::refused(Why::Unreadable)),
            ] {
                assert_eq!(from_request(rejected(status), writes), expected, "{status}");
            }
        }
    }
}
