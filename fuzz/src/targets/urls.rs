//! A base on the first line, a link below it: keys are keys of themselves, and both ways to one agree.

use searchwright_site::{
    url_key::{Base, url_key},
    urls::{KEY_LIMIT, UrlTable},
};
use url::Url;

/// Reads one input.
pub fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let (base, href) = text
        .split_once('\n')
        .unwrap_or(("https://example.com/a/b?c", text));
    let Ok(base) = Url::parse(base) else { return };
    let short = Base::new(&base).key(href).map(str::to_owned);
    let Ok(url) = base.join(href) else {
        assert_eq!(short, None);
        return;
    };
    if !matches!(url.scheme(), "http" | "https") {
        return;
    }
    let key = url_key(&url).into_owned();
    let again = Url::parse(&key).expect("a key is a URL");
    assert_eq!(url_key(&again), key);
    assert!(short.is_none_or(|short| short == key));
    let mut table = UrlTable::new(10);
    let id = table.add_url(&url);
    assert_eq!(id.is_some(), key.len() <= KEY_LIMIT);
    if let Some(id) = id {
        assert_eq!((table.key(id), table.get(&key)), (key.as_str(), Some(id)));
        let fetched = Url::parse(table.url(id)).expect("what is fetched is a URL");
        assert_eq!(url_key(&fetched), key);
    }
}
