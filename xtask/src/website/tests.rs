//! Reads a generated site back, without the plan that made it, and holds it against `expected.json`.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    fs,
    path::Path,
};

use super::{Answer, Expected, Made, Order, existing, generate};

const ORDER: Order = Order {
    pages: 1_000,
    seed: 7,
    port: 8099,
};

struct Site {
    folder: tempfile::TempDir,
    expected: Expected,
    pages: BTreeMap<String, String>,
}

fn site() -> Site {
    let folder = tempfile::tempdir().unwrap();
    let expected = generate(&ORDER, folder.path()).unwrap();
    let mut pages = BTreeMap::new();
    read(&folder.path().join("root"), "", &expected.origin, &mut pages);
    Site {
        folder,
        expected,
        pages,
    }
}

fn read(folder: &Path, path: &str, origin: &str, pages: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        if entry.file_type().unwrap().is_dir() {
            read(&entry.path(), &format!("{path}/{name}"), origin, pages);
        } else if name == "index.html" {
            pages.insert(
                format!("{origin}{path}/"),
                fs::read_to_string(entry.path()).unwrap(),
            );
        } else if name.ends_with(".html") {
            pages.insert(
                format!("{origin}{path}/{name}"),
                fs::read_to_string(entry.path()).unwrap(),
            );
        }
    }
}

fn between<'a>(text: &'a str, start: &str, end: &str) -> Option<&'a str> {
    let rest = &text[text.find(start)? + start.len()..];
    rest.get(..rest.find(end)?)
}

fn links(origin: &str, html: &str) -> Vec<String> {
    html.split("<a class=\"")
        .skip(1)
        .filter_map(|rest| rest.split_once("\" href=\""))
        .map(|(_, rest)| format!("{origin}{}", rest.split('"').next().unwrap()))
        .collect()
}

fn set(list: &[String]) -> BTreeSet<String> {
    list.iter().cloned().collect()
}

#[test]
fn pages_are_as_many_and_as_big_as_ordered() {
    let Site { expected, pages, .. } = site();
    assert_eq!(pages.len(), 1_000);
    let bytes: usize = pages.values().map(String::len).sum();
    assert_eq!(bytes as u64, expected.bytes);
    let average = bytes / pages.len();
    assert!((19_000..=21_000).contains(&average), "{average}");
    assert!(pages.values().all(|html| links("", html).len() == 50));
}

#[test]
fn every_link_leads_where_it_should() {
    let Site { expected, pages, .. } = site();
    let redirected: BTreeMap<_, _> = expected
        .redirects
        .iter()
        .map(|redirect| (&redirect.url, redirect))
        .collect();
    let mut broken = Vec::new();
    let mut entered = BTreeMap::new();
    for (url, html) in &pages {
        for target in links(&expected.origin, html) {
            if redirected.contains_key(&target) {
                entered.insert(target, url.clone());
            } else if !pages.contains_key(&target) {
                broken.push((url.clone(), target));
            }
        }
    }
    let planted: BTreeSet<_> = expected
        .broken_links
        .iter()
        .map(|link| (link.page.clone(), link.target.clone()))
        .collect();
    assert_eq!(broken.into_iter().collect::<BTreeSet<_>>(), planted);
    assert_eq!(planted.len(), 5);
    let linked: BTreeMap<_, _> = expected
        .redirects
        .iter()
        .filter_map(|redirect| Some((redirect.url.clone(), redirect.linked_from.clone()?)))
        .collect();
    assert_eq!(entered, linked);
    let ends = |url: &String| {
        let mut seen = vec![url];
        while let Some(next) = redirected.get(seen[seen.len() - 1]) {
            if seen.contains(&&next.target) {
                return (seen.len(), false);
            }
            seen.push(&next.target);
        }
        (seen.len() - 1, pages.contains_key(seen[seen.len() - 1]))
    };
    assert_eq!(ends(&expected.redirect_chain[0]), (3, true));
    assert_eq!(ends(&expected.redirect_loop[0]), (2, false));
    let long = expected
        .redirects
        .iter()
        .filter(|redirect| ends(&redirect.url) != (1, true))
        .count();
    assert_eq!(
        long, 4,
        "two hops of the chain have more than one hop before them, and the loop's two never end"
    );
}

#[test]
fn all_but_the_orphans_are_reached_from_the_home_page() {
    let Site {
        expected,
        pages,
        folder,
    } = site();
    let home = format!("{}/", expected.origin);
    let mut seen = BTreeSet::from([home.clone()]);
    let mut queue = VecDeque::from([home]);
    while let Some(url) = queue.pop_front() {
        for target in links(&expected.origin, &pages[&url]) {
            if pages.contains_key(&target) && seen.insert(target.clone()) {
                queue.push_back(target);
            }
        }
    }
    let unreached: BTreeSet<_> = pages.keys().filter(|url| !seen.contains(*url)).cloned().collect();
    assert_eq!(unreached, set(&expected.orphans));
    assert_eq!(unreached.len(), 5);
    let sitemap = fs::read_to_string(folder.path().join("root/sitemap.xml")).unwrap();
    let listed: BTreeSet<_> = sitemap
        .split("<loc>")
        .skip(1)
        .map(|rest| rest.split('<').next().unwrap().to_owned())
        .collect();
    let unlisted: BTreeSet<_> = pages
        .keys()
        .filter(|url| !listed.contains(*url))
        .cloned()
        .collect();
    assert_eq!(unlisted, set(&expected.noindex));
}

#[test]
fn heads_and_bodies_have_the_planted_faults_only() {
    let Site { expected, pages, .. } = site();
    let mut titles: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let mut bodies: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let mut descriptions = BTreeSet::new();
    let mut undescribed = BTreeSet::new();
    for (url, html) in &pages {
        let title = between(html, "<title>", "</title>").unwrap();
        assert!((30..=60).contains(&title.len()), "{title}");
        titles.entry(title).or_default().push(url.clone());
        bodies
            .entry(between(html, "<main>", "</main>").unwrap())
            .or_default()
            .push(url.clone());
        match between(html, "name=\"description\" content=\"", "\"") {
            Some(text) => {
                assert!((70..=155).contains(&text.len()), "{text}");
                assert!(descriptions.insert(text));
            }
            None => drop(undescribed.insert(url.clone())),
        }
        assert_eq!(
            html.contains("content=\"noindex\""),
            expected.noindex.contains(url)
        );
        assert_eq!(
            between(html, "rel=\"canonical\" href=\"", "\""),
            Some(url.as_str())
        );
    }
    let doubled = |groups: BTreeMap<&str, Vec<String>>| -> BTreeSet<_> {
        groups
            .into_values()
            .filter(|urls| urls.len() > 1)
            .map(|urls| urls.into_iter().collect::<BTreeSet<_>>())
            .collect()
    };
    let pairs = |pairs: &[[String; 2]]| -> BTreeSet<_> { pairs.iter().map(|pair| set(pair)).collect() };
    assert_eq!(doubled(titles), pairs(&expected.duplicate_titles));
    assert_eq!(doubled(bodies), pairs(&expected.duplicate_bodies));
    assert_eq!(undescribed, set(&expected.missing_descriptions));
    assert_eq!(
        (
            expected.duplicate_titles.len(),
            expected.duplicate_bodies.len(),
            undescribed.len()
        ),
        (5, 5, 10)
    );
}

#[test]
fn texts_have_several_hundred_to_two_and_a_half_thousand_words() {
    let Site { pages, .. } = site();
    let counts: Vec<usize> = pages
        .values()
        .map(|html| {
            let main = between(html, "<main>", "</main>").unwrap();
            let text: String = main
                .split('<')
                .map(|part| part.split_once('>').map_or(part, |(_, text)| text))
                .collect::<Vec<_>>()
                .join(" ");
            text.split_whitespace().count()
        })
        .collect();
    let (least, most) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
    assert!(
        (300..=900).contains(least) && (2_300..=2_700).contains(most),
        "{least} to {most}"
    );
}

#[test]
fn the_same_order_gives_the_same_site_and_another_seed_another() {
    let first = site();
    let second = site();
    assert_eq!(first.pages, second.pages);
    assert_eq!(first.expected, second.expected);
    let folder = tempfile::tempdir().unwrap();
    let other = generate(&Order { seed: 8, ..ORDER }, folder.path()).unwrap();
    assert_ne!(first.expected.orphans, other.orphans);
}

#[test]
fn an_earlier_site_is_known_by_its_order() {
    let Site { folder, expected, .. } = site();
    assert_eq!(existing(&ORDER, folder.path()), Some(expected));
    assert_eq!(existing(&Order { port: 8100, ..ORDER }, folder.path()), None);
}

#[test]
fn a_site_that_is_made_while_it_is_asked_for_is_the_one_on_disk() {
    // enough for an index of sitemaps, and few enough to be read
    for pages in [1_000, 30_000] {
        let order = Order { pages, ..ORDER };
        let made = Made::new(&order);
        let folder = tempfile::tempdir().unwrap();
        let expected = generate(&order, folder.path()).unwrap();
        assert_eq!(made.origin(), expected.origin);
        let found = |path: &str| match made.answer(path) {
            Answer::Found { body, .. } => body,
            other => panic!("{path}: {other:?}"),
        };
        let on_disk = |name: &str| fs::read_to_string(folder.path().join("root").join(name)).unwrap();
        assert_eq!(found("/"), on_disk("index.html"));
        for name in ["robots.txt", "favicon.svg", "sitemap.xml"] {
            assert_eq!(found(&format!("/{name}")), on_disk(name), "{name}");
        }
        let last = folder.path().join("root/sitemap-2.xml").exists();
        assert_eq!(last, pages > 25_000);
        assert_eq!(made.answer("/sitemap-2.xml") != Answer::Missing, last);
        let urls = fs::read_to_string(folder.path().join("urls.txt")).unwrap();
        let paths: Vec<&str> = urls.lines().map(|url| &url[expected.origin.len()..]).collect();
        for path in paths.iter().filter(|path| path.ends_with(".html")).step_by(97) {
            if path.contains("withdrawn") {
                assert_eq!(made.answer(path), Answer::Missing);
            } else {
                assert_eq!(found(path), on_disk(&path[1..]));
            }
        }
        for redirect in &expected.redirects {
            let (status, target) = (redirect.status, redirect.target.clone());
            let path = &redirect.url[expected.origin.len()..];
            assert_eq!(made.answer(path), Answer::Redirect { status, target });
        }
        for path in [
            "",
            "/guides/other-1.html",
            "/guides",
            "/-1.html",
            "/x-99999999999999999999.html",
        ] {
            assert_eq!(made.answer(path), Answer::Missing, "{path}");
        }
    }
}
