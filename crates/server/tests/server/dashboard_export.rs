//! Lists of pages as CSV files: every row that passes the filters, for those who may see the page, and never a part that looks whole.

use searchwright_contract::people::Role;
use serde_json::json;

use crate::{
    audited::{audit, bench as audited_bench, issue},
    browser::Browser,
    dashboard_audits::{address, signed_in},
    harness::Bench,
    http2::{DATA, HEADERS, Http2, RESET},
    visibility::{copy, hours_ago, prompt},
};

on_both!(
    a_list_comes_as_a_file_with_its_filters_and_its_order,
    an_empty_list_has_the_names_of_its_columns,
    files_are_for_those_who_see_the_page,
    every_list_of_the_pages_has_its_file,
    a_file_that_cannot_be_finished_is_cut_off,
    tables_are_sorted_by_their_heads,
    an_order_has_its_own_cursors,
);

/// Imports this many keywords, whose searches per month grow.
async fn many_keywords(bench: &Bench, many: usize) {
    let mut file = "Keyword,Volume\n".to_owned();
    for number in 0..many {
        file.push_str(&format!("desk number {number:03},{}\n", 1000 + number));
    }
    let answer = bench.post("P/keywords/import", json!({ "file": file })).await;
    assert_eq!(answer.status, 200, "{}", answer.code());
}

/// The lines of a file; none of its fields has a line break.
fn lines(text: &str) -> Vec<&str> {
    let lines = text.strip_suffix("\r\n").unwrap();
    lines.split("\r\n").collect()
}

async fn a_list_comes_as_a_file_with_its_filters_and_its_order(database: &str) {
    let bench = Bench::on(database, &[]).await;
    many_keywords(&bench, 250).await;
    for text in ["=1+1 desk", "a \"standing\", desk"] {
        bench.post("P/keywords", json!({ "keyword": text })).await;
    }
    let eve = signed_in(&bench, "eve@example.com", Role::Viewer).await;
    let path = address(&bench, "/keywords.csv");
    let file = eve.open(&path).await;
    assert_eq!(file.status, 200, "{}", file.text);
    let header = |name: &str| file.headers[name].to_str().unwrap().to_owned();
    assert_eq!(header("content-type"), "text/csv; charset=utf-8");
    assert_eq!(header("cache-control"), "no-store");
    let name = header("content-disposition");
    assert!(
        name.starts_with("attachment; filename=\"keywords-example.com-20") && name.ends_with(".csv\""),
        "{name}"
    );
    let all = lines(&file.text);
    assert_eq!(all.len(), 1 + 252);
    let names: Vec<&str> = all[0].split(',').collect();
    assert!(
        names.contains(&"keyword") && names.contains(&"searchVolume"),
        "{names:?}"
    );
    assert!(!all[0].contains("allowedActions"), "{names:?}");
    assert!(file.text.contains(",'=1+1 desk,") && file.text.contains(",\"a \"\"standing\"\", desk\","));
    for number in [0, 99, 100, 199, 200, 249] {
        let text = format!(",desk number {number:03},");
        assert_eq!(file.text.matches(&text).count(), 1, "{text}");
    }
    let some = eve
        .open(&format!("{path}?q=number+01&status=new&sort=searchVolume"))
        .await;
    let some = lines(&some.text);
    let at = names.iter().position(|name| *name == "searchVolume").unwrap();
    let volumes: Vec<&str> = some[1..]
        .iter()
        .map(|line| line.split(',').nth(at).unwrap())
        .collect();
    let expected: Vec<String> = (1010..1020).rev().map(|volume: u32| volume.to_string()).collect();
    assert_eq!(volumes, expected);
    let none = eve.open(&format!("{path}?status=rejected")).await;
    assert_eq!(lines(&none.text), all[..1]);
    // The page leads to the file with its own filters, from wherever in the list it is.
    let page = eve
        .open(&address(&bench, "/keywords?status=new&sort=score"))
        .await;
    let link = format!("href=\"{path}?status=new&#38;sort=score\">Download CSV</a>");
    assert!(page.text.contains(&link), "{}", page.text);
}

async fn an_empty_list_has_the_names_of_its_columns(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let eve = signed_in(&bench, "eve@example.com", Role::Viewer).await;
    for (list, column) in [
        ("keywords", "keyword"),
        ("posts", "title"),
        ("issues", "checkId"),
        ("pages", "url"),
        ("audits", "healthScore"),
        ("visibility/prompts", "text"),
        ("visibility/sources", "domain"),
        ("visibility/runs", "status"),
        ("visibility/names", "name"),
        ("visibility/opportunities", "kind"),
        ("brand/faqs", "question"),
        ("approvals", "status"),
        ("webhooks", "targetUrl"),
    ] {
        let file = eve.open(&address(&bench, &format!("/{list}.csv"))).await;
        assert_eq!(file.status, 200, "{list}: {}", file.text);
        let all = lines(&file.text);
        assert_eq!(all.len(), 1, "{list}: {}", file.text);
        assert!(all[0].split(',').any(|name| name == column), "{list}: {}", all[0]);
    }
}

async fn files_are_for_those_who_see_the_page(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let eve = signed_in(&bench, "eve@example.com", Role::Viewer).await;
    let foreign = "/projects/01936f31-5f0b-7a01-9d3c-6f5e4d3c2b1a";
    let unknown = "01936f31-5f0b-7a01-9d3c-6f5e4d3c2b1a";
    for list in ["keywords", "activity", "visibility/competitors", "brand/products"] {
        assert_eq!(
            eve.open(&format!("{foreign}/{list}.csv")).await.status,
            404,
            "{list}"
        );
        let nobody = Browser::new(&bench);
        let page = nobody.open(&address(&bench, &format!("/{list}.csv"))).await;
        assert!(page.text.contains("name=\"password\""), "{list}: {}", page.text);
    }
    for list in [
        "issues/ID/occurrences",
        "audits/ID/changes",
        "posts/ID/revisions",
        "visibility/prompts/ID/answers",
        "webhooks/ID/deliveries",
    ] {
        for id in [unknown, "x"] {
            let path = address(&bench, &format!("/{}.csv", list.replace("ID", id)));
            assert_eq!(eve.open(&path).await.status, 404, "{path}");
        }
    }
    // What cannot be read at all is said on a page, and is no file.
    let wrong = eve
        .open(&address(&bench, "/visibility/days.csv?from=2026-11-01"))
        .await;
    assert_eq!(wrong.status, 422, "{}", wrong.text);
    assert!(wrong.text.contains("<h1>"), "{}", wrong.text);
}

async fn every_list_of_the_pages_has_its_file(database: &str) {
    let (bench, site) = audited_bench(database).await;
    site.put("/a", 404, "gone");
    audit(&bench).await;
    site.put("/b", 404, "gone");
    let again = audit(&bench).await;
    bench.keyword("standing desk").await;
    bench.post("P/posts", json!({ "title": "Desks" })).await;
    let prompt = prompt(&bench, "Which desk is the best one?").await;
    let item = json!({
        "engine": "chatgpt",
        "text": "I would look at Oakworks first.",
        "askedAt": hours_ago(&bench, 1),
        "citations": [{ "url": "https://example.org/desks" }],
    });
    let stored = copy(&bench, &prompt, json!([item])).await;
    assert!(stored.status < 300, "{}", stored.code());
    let rival = json!({ "items": [{ "name": "Oakworks", "domain": "oakworks.example" }] });
    assert_eq!(bench.post("P/brand/competitors", rival).await.status, 201);
    let hook = json!({ "targetUrl": "https://example.com/hook", "event": "post.created" });
    let hook = bench.post("P/webhooks", hook).await.json();
    let hook = hook["id"].as_str().unwrap().to_owned();
    let broken = issue(&bench, "broken-internal-link").await;
    let owner = signed_in(&bench, "owner@example.com", Role::Owner).await;
    let mut files = 0;
    for page in [
        "/keywords".to_owned(),
        "/posts".to_owned(),
        "/issues".to_owned(),
        format!("/issues/{}", broken["id"].as_str().unwrap()),
        "/pages".to_owned(),
        "/audits".to_owned(),
        format!("/audits/{}", again["id"].as_str().unwrap()),
        "/activity".to_owned(),
        "/integrations".to_owned(),
        "/webhooks".to_owned(),
        format!("/webhooks/{hook}"),
        "/visibility".to_owned(),
        "/visibility?view=prompts".to_owned(),
        "/visibility?view=engines".to_owned(),
        format!("/visibility/prompts/{prompt}"),
        "/brand?view=competitors".to_owned(),
        "../../projects".to_owned(),
    ] {
        let path = page
            .strip_prefix("../..")
            .map_or_else(|| address(&bench, &page), str::to_owned);
        let shown = owner.open(&path).await;
        assert_eq!(shown.status, 200, "{path}");
        let links = shown.text.split("href=\"").skip(1);
        let links = links.filter_map(|rest| rest.split_once("\">Download CSV</a>"));
        let links: Vec<String> = links
            .map(|(link, _)| link.replace("&#38;", "&"))
            .filter(|link| !link.contains('<'))
            .collect();
        for link in &links {
            let file = owner.open(link).await;
            assert_eq!(file.status, 200, "{link}: {}", file.text);
            assert_eq!(file.headers["content-type"], "text/csv; charset=utf-8", "{link}");
            assert!(file.text.lines().count() > 1, "{link}: {}", file.text);
        }
        files += links.len();
        let has_rows = !shown.text.contains("class=\"empty");
        assert!(
            !links.is_empty() || !has_rows,
            "{path} has no file: {}",
            shown.text
        );
    }
    assert!(files >= 15, "{files}");
}

async fn a_file_that_cannot_be_finished_is_cut_off(database: &str) {
    let bench = Bench::on(database, &["limits.write_ms=20000"]).await;
    many_keywords(&bench, 250).await;
    let eve = signed_in(&bench, "eve@example.com", Role::Viewer).await;
    let session = eve.cookie.borrow().clone().unwrap();
    let path = address(&bench, "/keywords.csv");
    // Nobody reads more than the first bytes: the rows behind them are not read from the database either.
    let mut client = Http2::open(bench.server.addresses.api, 4_000).await;
    client.get_as(1, &path, &session).await;
    assert_eq!(client.until(HEADERS).await.stream, 1);
    let mut read = 0;
    while read < 4_000 {
        read += client.until(DATA).await.payload.len();
    }
    let csrf = eve.open("/account").await.field("csrf");
    eve.send("/logout", &[("csrf", &csrf)]).await;
    client.open_window(0, 1 << 20).await;
    client.open_window(1, 1 << 20).await;
    loop {
        let frame = client.next().await.unwrap();
        assert_eq!(frame.stream, 1);
        match frame.kind {
            DATA => {
                read += frame.payload.len();
                assert_eq!(frame.flags & 1, 0, "the file looks whole after {read} bytes");
            }
            RESET => break,
            other => panic!("a frame of kind {other}"),
        }
    }
    assert!(read > 4_000);
}

/// Texts of the first cells of the rows of a page, by a mark before each.
fn cells<'a>(page: &'a str, mark: &str) -> Vec<&'a str> {
    let rows = page.split("<tbody>").nth(1).unwrap_or_default();
    let cells = rows.split(mark).skip(1);
    cells.map(|rest| rest.split('<').next().unwrap()).collect()
}

async fn tables_are_sorted_by_their_heads(database: &str) {
    let (bench, site) = audited_bench(database).await;
    site.put("/a", 404, "gone");
    audit(&bench).await;
    for title in ["Chairs", "desks", "Benches"] {
        bench.post("P/posts", json!({ "title": title })).await;
    }
    for text in ["Which desk is the best one?", "Are benches good for the back?"] {
        prompt(&bench, text).await;
    }
    let eve = signed_in(&bench, "eve@example.com", Role::Viewer).await;
    let posts = eve.open(&address(&bench, "/posts")).await.text;
    let link = format!(
        "<th><a href=\"{}\">Title</a></th>",
        address(&bench, "/posts?sort=title")
    );
    assert!(posts.contains(&link), "{posts}");
    let sorted = eve.open(&address(&bench, "/posts?sort=title")).await.text;
    let titles = cells(&sorted, "<tr><td class=\"text\"><a href=\"");
    assert_eq!(titles.len(), 3, "{sorted}");
    let places: Vec<usize> = [">Benches<", ">Chairs<", ">desks<"]
        .map(|title| sorted.find(title).unwrap())
        .to_vec();
    assert!(places.is_sorted(), "{sorted}");
    assert!(
        sorted.contains("<th aria-sort=\"ascending\"><a href=")
            && sorted.contains("name=\"sort\" value=\"title\"")
    );
    let pages = eve.open(&address(&bench, "/pages?sort=status")).await.text;
    assert!(pages.contains("aria-sort=\"descending\""), "{pages}");
    let marks = cells(&pages, "<td><span class=\"mark error\">");
    assert_eq!(marks.first(), Some(&"404"), "{pages}");
    assert!(pages.find(">404<").unwrap() < pages.find(">200<").unwrap());
    let prompts = eve
        .open(&address(&bench, "/visibility?view=prompts&sort=text"))
        .await
        .text;
    assert!(prompts.find("Are benches").unwrap() < prompts.find("Which desk").unwrap());
    for (path, head) in [
        ("/issues?sort=newest", "First seen"),
        ("/issues?sort=pages", "Pages"),
        ("/pages?sort=depth", "Depth"),
        ("/pages?sort=inlinks", "Links in"),
        ("/posts?sort=score", "Score"),
        ("/posts?sort=date", "When"),
        ("/visibility?view=prompts&sort=rate", "Named in"),
        ("/keywords", "Keyword, newest"),
    ] {
        let page = eve.open(&address(&bench, path)).await;
        assert_eq!(page.status, 200, "{path}");
        let heads: Vec<&str> = page
            .text
            .split("<th")
            .filter(|th| th.contains("aria-sort="))
            .collect();
        if page.text.contains("<thead>") {
            assert_eq!(heads.len(), 1, "{path}: {}", page.text);
            assert!(heads[0].contains(&format!(">{head}</a>")), "{path}: {}", heads[0]);
        }
    }
    let projects = eve.open("/projects?sort=health").await.text;
    assert!(
        projects.contains("aria-sort=\"ascending\"><a href=\"/projects?sort=health\">Health"),
        "{projects}"
    );
}

async fn an_order_has_its_own_cursors(database: &str) {
    let (bench, site) = audited_bench(database).await;
    site.put("/a", 404, "gone");
    audit(&bench).await;
    for title in ["Chairs", "desks", "Benches"] {
        bench.post("P/posts", json!({ "title": title })).await;
    }
    let brand = json!({ "name": "Acme Desk", "aliases": ["Acme Desk"], "domains": ["acme.example"], "category": "desks" });
    assert_eq!(bench.patch("P/brand", brand).await.status, 200);
    for text in [
        "Which desk is the best one?",
        "Are benches good for the back?",
        "Is a desk worth it?",
    ] {
        let asked = prompt(&bench, text).await;
        let words = if text.starts_with('W') {
            "I would look at Acme Desk first."
        } else {
            "I do not know."
        };
        let item = json!({ "engine": "chatgpt", "text": words, "askedAt": hours_ago(&bench, 1) });
        copy(&bench, &asked, json!([item])).await;
    }
    for (list, usual, orders) in [
        ("pages", "url", ["status", "depth", "inlinks"]),
        ("issues", "impact", ["pages", "newest", "pages"]),
        ("posts", "created", ["title", "score", "date"]),
        ("visibility/prompts", "created", ["rate", "text", "text"]),
    ] {
        let all = bench.get(&format!("P/{list}?limit=100")).await.json();
        let ids = |page: &serde_json::Value| -> Vec<String> {
            let rows = page["data"].as_array().unwrap().iter();
            rows.map(|row| row["id"].as_str().unwrap().to_owned()).collect()
        };
        let mut known = ids(&all);
        assert!(known.len() > 2, "{list}");
        assert_eq!(
            ids(&bench
                .get(&format!("P/{list}?limit=100&sort={usual}"))
                .await
                .json()),
            known
        );
        known.sort_unstable();
        for order in orders {
            let whole = ids(&bench
                .get(&format!("P/{list}?limit=100&sort={order}"))
                .await
                .json());
            let (mut walked, mut cursor) = (Vec::new(), String::new());
            loop {
                let page = bench
                    .get(&format!("P/{list}?limit=2&sort={order}{cursor}"))
                    .await
                    .json();
                walked.extend(ids(&page));
                let Some(next) = page["nextCursor"].as_str() else {
                    break;
                };
                let other = bench.get(&format!("P/{list}?limit=2&cursor={next}")).await;
                other.refuses(400, "invalid_cursor");
                cursor = format!("&cursor={next}");
            }
            assert_eq!(walked, whole, "{list} by {order}");
            walked.sort_unstable();
            assert_eq!(walked, known, "{list} by {order}");
        }
        bench
            .get(&format!("P/{list}?sort=x"))
            .await
            .refuses(422, "validation_failed");
    }
    let rates = bench.get("P/visibility/prompts?sort=rate").await.json();
    assert_eq!(
        rates["data"][0]["text"], "Which desk is the best one?",
        "{rates:#}"
    );
}
