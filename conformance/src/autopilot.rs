//! A week of the autopilot at a real WordPress, by a clock that is moved: seven slots around a change of the clocks, with a person, an
//! outage and a downtime among them. After each the website is asked, not the product.

pub(crate) mod model;
mod product;

use std::collections::BTreeSet;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::publish::{
    cms::{Cms, Item, ItemStatus, list, scalar, text},
    http::HttpClient,
    step_results::StepResults,
    wordpress::WordPress,
};
use model::TopicModel;
use product::{TimedProduct, expect_outcome, read_time};

/// Monday noon in Berlin. On the Sunday that follows, 02:00 is followed by 03:00.
const BEGINNING: &str = "2027-03-22T11:00:00.000Z";
const SLOTS: [&str; 7] = [
    "2027-03-24T01:30:00.000Z",
    "2027-03-25T01:30:00.000Z",
    "2027-03-27T01:30:00.000Z",
    // 02:30 is no time of this day
    "2027-03-28T01:30:00.000Z",
    "2027-03-29T00:30:00.000Z",
    "2027-03-31T00:30:00.000Z",
    "2027-04-01T00:30:00.000Z",
];
const WEDNESDAY: &str = "2027-03-24";
const THURSDAY: &str = "2027-03-25";
const SATURDAY: &str = "2027-03-27";
const SUNDAY: &str = "2027-03-28";
const SECOND_MONDAY: &str = "2027-03-29";
const SECOND_WEDNESDAY: &str = "2027-03-31";
const SECOND_THURSDAY: &str = "2027-04-01";
const KEYWORDS: [&str; 10] = [
    "standing desk",
    "oak bookshelf",
    "reading lamp",
    "kitchen trolley",
    "garden bench",
    "wool carpet",
    "coat rack",
    "bamboo blinds",
    "shoe cabinet",
    "piano stool",
];
const HOUR: i64 = 3_600_000;

/// Everything a day needs.
struct Week {
    product: TimedProduct,
    wordpress: WordPress,
    model: TopicModel,
    /// Posts that the site had before.
    before: usize,
}

type Day = (&'static str, fn(&mut Week) -> Result<String>);

/// Days in their order; each begins where the one before ended.
const DAYS: [Day; 8] = [
    ("keywords, settings, preview", turn_on),
    ("Wed: held, then published", publish_after_hold),
    ("Thu: a person approves", publish_after_approval),
    ("Sat: WordPress is down", publish_after_outage),
    ("Sun: the clocks change", publish_after_clock_change),
    ("Mon to Thu: the server is down", return_after_downtime),
    ("Thu: what was overdue", publish_overdue),
    ("all of it at WordPress", compare_everything),
];

/// Goes through the week; fails if a day was not as expected.
pub(crate) fn check() -> Result<()> {
    let wordpress = WordPress::start("wordpress-week", false)?;
    let model = TopicModel::start()?;
    let allowed = vec![
        format!("publish={}", wordpress.address()),
        format!("provider={}", model.address),
    ];
    let mut week = Week {
        product: TimedProduct::start(read_time(BEGINNING)?, allowed)?,
        before: wordpress.list_items()?.len(),
        wordpress,
        model,
    };
    let mut table = StepResults::default();
    for (what, day) in DAYS {
        let outcome = day(&mut week);
        table.add("autopilot", what, outcome);
    }
    eprintln!("\n{table}");
    table.check()
}

impl Week {
    fn pass_to(&self, slot: &str, hours: i64) -> Result<()> {
        self.product.pass_to(read_time(slot)?.plus_millis(hours * HOUR))
    }

    fn set(&self, settings: &Value) -> Result<Value> {
        self.product.call("PATCH", "/autopilot", Some(settings))
    }

    /// Posts that the autopilot brought to the site.
    fn count_live(&self) -> Result<usize> {
        Ok(self.wordpress.list_items()?.len() - self.before)
    }

    /// Fails unless the post of a date is at WordPress once, as it is here, and its run says so.
    fn expect_published(&self, date: &str) -> Result<String> {
        let run = self.product.run_on(date)?;
        expect_outcome(&run, "published")?;
        ensure!(run["verified"] == true, "it is not verified: {run:#}");
        let post = self.product.get(&format!("/posts/{}", text(&run, "/postId")?))?;
        let title = text(&post, "/title")?;
        let item = self.wordpress.find_only_post(&title)?;
        ensure!(item.status == ItemStatus::Live, "it is {:?}", item.status);
        check_body(&item, &post)?;
        let url = text(&post, "/publishedUrl")?;
        ensure!(
            run["publishedUrl"] == url.as_str(),
            "{url} is not {}",
            run["publishedUrl"]
        );
        check_page(&url, &title)?;
        Ok(format!("{} {title}", scalar(&post, "/publishedAt")))
    }
}

fn check_body(item: &Item, post: &Value) -> Result<()> {
    let (before, mark) = item.content.split_once("<!-- searchwright:").context("no mark")?;
    let (mark, after) = mark.split_once(" -->").context("an open mark")?;
    ensure!(
        mark.starts_with(&text(post, "/id")?),
        "the mark is of another post: {mark}"
    );
    let (sent, html) = (format!("{before}{after}"), text(post, "/contentHtml")?);
    let same = sent.chars().zip(html.chars()).take_while(|(a, b)| a == b).count();
    ensure!(
        sent.trim() == html.trim(),
        "its text is another one from character {same} on: {}",
        sent.chars().skip(same).take(80).collect::<String>()
    );
    ensure!(item.slug == scalar(post, "/slug"), "its slug is {}", item.slug);
    Ok(())
}

/// Fails unless readers see the title and the last heading of the text.
fn check_page(url: &str, title: &str) -> Result<()> {
    let (host, path) = url
        .trim_start_matches("http://")
        .split_once('/')
        .with_context(|| format!("no address: {url}"))?;
    let page = HttpClient::new(format!("http://{host}")).request("GET", &format!("/{path}"), None)?;
    let says = String::from_utf8_lossy(&page.body);
    ensure!(
        page.status() == 200 && says.contains(title) && says.contains("Keeping it in good order"),
        "{url}: {}",
        page.start
    );
    Ok(())
}

fn turn_on(week: &mut Week) -> Result<String> {
    let product = &week.product;
    product.connect(&week.model.address, &week.wordpress)?;
    for keyword in KEYWORDS {
        let added = product.call("POST", "/keywords", Some(&json!({ "keyword": keyword })))?;
        ensure!(added["status"] == "approved", "{added:#}");
    }
    let settings = json!({
        "enabled": true, "mode": "auto", "hold_hours": 12, "lead_days": 1, "publish_interval_days": 1,
        "publish_weekdays": ["sun", "mon", "wed", "thu", "sat"], "publish_time": "02:30", "timezone": "Europe/Berlin",
    });
    let set = week.set(&settings)?;
    ensure!(set["next_publish_at"] == SLOTS[0], "{set:#}");
    let preview = product.call(
        "POST",
        "/autopilot/preview",
        Some(&json!({ "count": SLOTS.len() })),
    )?;
    let times: Vec<String> = list(&preview, "/slots")
        .iter()
        .map(|slot| scalar(slot, "/at"))
        .collect();
    ensure!(times == SLOTS, "{preview:#}");
    Ok(times.join(" "))
}

fn publish_after_hold(week: &mut Week) -> Result<String> {
    let slot = read_time(SLOTS[0])?;
    week.product.pass_to(slot.plus_millis(-1))?;
    let run = week.product.run_on(WEDNESDAY)?;
    expect_outcome(&run, "scheduled")?;
    let held = week.product.approval_of(&run["postId"])?;
    ensure!(
        held["status"] == "pending" && held["expiresAt"] == SLOTS[0],
        "{held:#}"
    );
    ensure!(week.count_live()? == 0, "it was published before its slot");
    week.pass_to(SLOTS[0], 1)?;
    let approval = week.product.approval_of(&run["postId"])?;
    ensure!(approval["status"] == "lapsed", "{approval:#}");
    ensure!(week.count_live()? == 1, "{} posts", week.count_live()?);
    week.expect_published(WEDNESDAY)
}

/// The mode becomes review for this day: nothing goes without a decision.
fn publish_after_approval(week: &mut Week) -> Result<String> {
    week.set(&json!({ "mode": "review" }))?;
    week.product.settle()?;
    let run = week.product.run_on(THURSDAY)?;
    let asked = week.product.approval_of(&run["postId"])?;
    ensure!(asked["status"] == "pending", "{asked:#}");
    let page = week.product.decide(&asked, "approve")?;
    ensure!(page.contains("approved by Ann"), "{page}");
    week.pass_to(SLOTS[1], 1)?;
    ensure!(week.count_live()? == 2, "{} posts", week.count_live()?);
    let said = week.expect_published(THURSDAY)?;
    week.set(&json!({ "mode": "auto" }))?;
    Ok(said)
}

/// WordPress does not answer from before the slot until three hours after it.
fn publish_after_outage(week: &mut Week) -> Result<String> {
    week.pass_to(SLOTS[2], -1)?;
    week.wordpress.stop();
    week.pass_to(SLOTS[2], 3)?;
    let run = week.product.run_on(SATURDAY)?;
    let integration = week.product.get("/integrations?limit=100")?;
    let integration = list(&integration, "/data")
        .iter()
        .find(|one| one["provider"] == "wordpress")
        .context("it is not listed")?
        .clone();
    let post = week.product.get(&format!("/posts/{}", text(&run, "/postId")?))?;
    let meanwhile = format!(
        "run {} ({}), post {}, integration {} ({})",
        scalar(&run, "/outcome"),
        scalar(&run, "/detail"),
        scalar(&post, "/status"),
        scalar(&integration, "/status"),
        scalar(&integration, "/lastError/detail"),
    );
    eprintln!("{meanwhile}");
    week.wordpress.resume()?;
    week.pass_to(SLOTS[2], 6)?;
    let said = week.expect_published(SATURDAY)?;
    ensure!(week.count_live()? == 3, "{} posts", week.count_live()?);
    Ok(format!("{said}; meanwhile {meanwhile}"))
}

fn publish_after_clock_change(week: &mut Week) -> Result<String> {
    let slot = read_time(SLOTS[3])?;
    week.product.pass_to(slot.plus_millis(-1))?;
    ensure!(week.count_live()? == 3, "it was published before its slot");
    week.pass_to(SLOTS[3], 1)?;
    ensure!(week.count_live()? == 4, "{} posts", week.count_live()?);
    week.expect_published(SUNDAY)
}

/// The server is down from Sunday noon to Thursday noon. The post of Monday was ready and waits for a person, the slot of Wednesday is
/// skipped, and that of Thursday is made up for after a hold.
fn return_after_downtime(week: &mut Week) -> Result<String> {
    week.pass_to(SLOTS[3], 9)?;
    week.set(&json!({ "hold_hours": 6 }))?;
    week.product.settle()?;
    let ready = week.product.run_on(SECOND_MONDAY)?;
    expect_outcome(&ready, "scheduled")?;
    week.product.stop()?;
    let down = read_time(SLOTS[6])?.plus_millis(10 * HOUR).millis() - week.product.clock.now().millis();
    week.product.clock.advance(down);
    week.product.resume()?;
    week.product.settle()?;
    ensure!(week.count_live()? == 4, "something was published unasked");
    let overdue = week.product.get("/autopilot")?["overdue"].clone();
    ensure!(
        list(&overdue, "").len() == 1 && overdue[0]["postId"] == ready["postId"],
        "{overdue:#}"
    );
    expect_outcome(&week.product.run_on(SECOND_MONDAY)?, "awaiting_review")?;
    expect_outcome(&week.product.run_on(SECOND_WEDNESDAY)?, "skipped_missed")?;
    expect_outcome(&week.product.run_on(SECOND_THURSDAY)?, "scheduled")?;
    week.pass_to(SLOTS[6], 15)?;
    ensure!(week.count_live()? == 4, "the hold was not kept");
    week.pass_to(SLOTS[6], 18)?;
    ensure!(week.count_live()? == 5, "{} posts", week.count_live()?);
    Ok(format!(
        "{} h down, {}",
        down / HOUR,
        week.expect_published(SECOND_THURSDAY)?
    ))
}

/// The post that was ready before the downtime takes the next free slot.
fn publish_overdue(week: &mut Week) -> Result<String> {
    let run = week.product.run_on(SECOND_MONDAY)?;
    let asked = week.product.approval_of(&run["postId"])?;
    let page = week.product.decide(&asked, "approve")?;
    ensure!(page.contains("approved by Ann"), "{page}");
    let all = week.product.runs()?;
    let run = all.iter().find(|other| other["id"] == run["id"]);
    let run = run.context("the run is gone")?;
    let (date, at) = (text(run, "/slotDate")?, text(run, "/slotAt")?);
    ensure!(
        all.iter()
            .filter(|other| other["slotDate"] == date.as_str())
            .count()
            == 1,
        "{date} has two slots"
    );
    week.pass_to(&at, 1)?;
    week.expect_published(&date)
}

/// Compares all runs with all that WordPress has.
fn compare_everything(week: &mut Week) -> Result<String> {
    let runs = week.product.runs()?;
    let published: Vec<&Value> = runs.iter().filter(|run| run["outcome"] == "published").collect();
    let mut dates = BTreeSet::new();
    for run in &published {
        week.expect_published(&text(run, "/slotDate")?)?;
        let post = week.product.get(&format!("/posts/{}", text(run, "/postId")?))?;
        // in a zone that is one or two hours ahead, no slot or hold here crosses midnight
        let date = text(&post, "/publishedAt")?[..10].to_owned();
        ensure!(dates.insert(date.clone()), "two posts on {date}");
    }
    ensure!(
        week.count_live()? == published.len(),
        "{} posts for {} runs",
        week.count_live()?,
        published.len()
    );
    let mut told = week.product.get("/events?limit=100&event=autopilot.published")?;
    let told = told["data"].as_array_mut().map_or(0, |events| events.len());
    ensure!(
        told == published.len(),
        "{told} events for {} runs",
        published.len()
    );
    let asked = week.model.outlines();
    ensure!(
        asked.values().all(|count| *count == 1),
        "an article was written twice: {asked:?}"
    );
    let mut said: Vec<String> = runs
        .iter()
        .map(|run| format!("{} {}", scalar(run, "/slotDate"), scalar(run, "/outcome")))
        .collect();
    said.sort();
    Ok(said.join(", "))
}
