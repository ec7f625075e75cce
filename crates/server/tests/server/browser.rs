//! A browser without scripts: keeps the session cookie, follows redirects of the server, sends forms.

use std::cell::RefCell;

use crate::harness::Bench;

/// A page, or a redirect that leads away.
#[derive(Clone, Debug)]
pub struct Page {
    pub status: u16,
    pub location: Option<String>,
    pub headers: http::HeaderMap,
    pub text: String,
}

/// A browser.
pub struct Browser<'a> {
    bench: &'a Bench,
    pub cookie: RefCell<Option<String>>,
    /// Headers that tell where a form comes from.
    pub origin: Vec<(&'static str, String)>,
}

impl<'a> Browser<'a> {
    pub fn new(bench: &'a Bench) -> Self {
        Self {
            bench,
            cookie: RefCell::default(),
            origin: vec![("sec-fetch-site", "same-origin".to_owned())],
        }
    }

    fn root(&self) -> String {
        format!("http://{}", self.bench.server.addresses.api)
    }

    /// Asks for an address and returns the answer as it comes.
    pub async fn stream(&self, path: &str) -> reqwest::Response {
        let mut request = self.bench.http.get(format!("{}{path}", self.root()));
        if let Some(cookie) = &*self.cookie.borrow() {
            request = request.header("cookie", format!("__Host-session={cookie}"));
        }
        request.send().await.unwrap()
    }

    async fn once(&self, method: http::Method, path: &str, form: Option<&[(&str, &str)]>) -> Page {
        let mut request = self.bench.http.request(method, format!("{}{path}", self.root()));
        if let Some(cookie) = &*self.cookie.borrow() {
            request = request.header("cookie", format!("__Host-session={cookie}"));
        }
        if let Some(form) = form {
            for (name, value) in &self.origin {
                request = request.header(*name, value);
            }
            let body = url::form_urlencoded::Serializer::new(String::new())
                .extend_pairs(form)
                .finish();
            request = request
                .header("content-type", "application/x-www-form-urlencoded")
                .body(body);
        }
        let response = request.send().await.unwrap();
        for set in response.headers().get_all("set-cookie") {
            let text = set.to_str().unwrap();
            for attribute in ["Secure", "HttpOnly", "SameSite=Lax", "Path=/"] {
                assert!(text.contains(attribute), "{text}");
            }
            let value = text
                .strip_prefix("__Host-session=")
                .unwrap()
                .split(';')
                .next()
                .unwrap();
            *self.cookie.borrow_mut() = Some(value.to_owned()).filter(|value| !value.is_empty());
        }
        Page {
            status: response.status().as_u16(),
            location: response
                .headers()
                .get("location")
                .map(|value| value.to_str().unwrap().to_owned()),
            headers: response.headers().clone(),
            text: response.text().await.unwrap(),
        }
    }

    async fn follow(&self, mut page: Page) -> Page {
        for _ in 0..5 {
            let Some(location) = page.location.clone() else {
                break;
            };
            let path = match location.strip_prefix(&self.root()) {
                Some(path) => path.to_owned(),
                None if location.starts_with('/') => location,
                None => break,
            };
            assert_eq!(page.status, 303, "{path}");
            page = self.once(http::Method::GET, &path, None).await;
        }
        page
    }

    /// Opens a page of the server.
    pub async fn open(&self, path: &str) -> Page {
        let page = self.once(http::Method::GET, path, None).await;
        self.follow(page).await
    }

    /// Sends a form to a page of the server.
    pub async fn send(&self, path: &str, form: &[(&str, &str)]) -> Page {
        let page = self.once(http::Method::POST, path, Some(form)).await;
        self.follow(page).await
    }

    /// Signs in on the sign-in page, and goes to the account.
    pub async fn sign_in(&self, email: &str, password: &str) -> Page {
        let form = [("email", email), ("password", password), ("next", "/account")];
        self.send("/login", &form).await
    }
}

impl Page {
    /// Value of a hidden or other field of a form.
    pub fn field(&self, name: &str) -> String {
        let at = format!("name=\"{name}\"");
        let tags = self.text.split('<').filter(|tag| tag.contains(&at));
        let value = tags.filter_map(|tag| tag.split_once("value=\"")).next();
        let (_, rest) = value.unwrap_or_else(|| panic!("no field {name}: {}", self.text));
        rest.split('"')
            .next()
            .unwrap()
            .replace("&amp;", "&")
            .replace("&#38;", "&")
    }

    /// Values of the ticked boxes of this name.
    pub fn ticked(&self, name: &str) -> Vec<String> {
        let at = format!("name=\"{name}\"");
        self.text
            .split('<')
            .filter(|tag| tag.contains(&at) && tag.contains(" checked"))
            .map(|tag| {
                tag.split_once("value=\"")
                    .unwrap()
                    .1
                    .split('"')
                    .next()
                    .unwrap()
                    .to_owned()
            })
            .collect()
    }
}
