//! `/projects/{id}/calendar`: posts by their day, and those without one. A post is moved by a form.

use std::{
    collections::{BTreeMap, HashSet},
    sync::Arc,
};

use askama::Template;
use axum::{Router, body::Body, routing::get};
use http::{Response, StatusCode};
use searchwright_contract::{
    Instant, Patch, Scope,
    posts::{ListPosts, PostStatus, PostSummary, UpdatePost},
};
use searchwright_engine::{Failure, autopilot::CalendarMonth, failure::fault};

use super::{
    frame::{ProjectFrame, Section},
    page::{self, Form},
    posts::{self, no_change, title_of},
    show,
    visit::{self, FilterLink, PageResult, SentForm, Visit},
};
use crate::app::App;

/// Pages of scheduled posts, and of posts of any status, that the calendar is made of.
const MAX_PAGES: u32 = 4;
/// Posts of a day that the month shows.
const MAX_OF_DAY: usize = 4;
/// Posts of the list and of the tray.
const MAX_LISTED: usize = 60;
/// Time of day of a post to which only a day was given.
const MORNING: &str = "09:00";

/// The pages.
pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route("/projects/{project}/calendar", get(open).post(move_post))
}

/// A post in the calendar.
#[derive(Clone)]
struct PlannedPost {
    id: String,
    version: String,
    href: String,
    title: String,
    mark: (&'static str, &'static str),
    day: String,
    time: String,
    at: Option<Instant>,
    is_scheduled: bool,
    /// Address of this page with the form that moves it; `None` where it cannot be moved.
    mover: Option<String>,
    may_schedule: bool,
}

impl PlannedPost {
    fn new(visit: &Visit, post: &PostSummary) -> Self {
        let is_public = matches!(post.status, PostStatus::Published | PostStatus::Publishing);
        let at = if is_public {
            post.published_at.or(post.scheduled_at)
        } else {
            post.scheduled_at
        };
        let is_movable = visit.may(Scope::PostsWrite)
            && matches!(
                post.status,
                PostStatus::Draft | PostStatus::Review | PostStatus::Scheduled | PostStatus::Failed
            );
        let id = post.id.to_string();
        Self {
            version: post.version.to_string(),
            href: visit.address(&format!("/posts/{id}")),
            title: title_of(post),
            mark: posts::status_mark(post.status),
            day: at.map_or_else(String::new, |at| visit.day(&at)),
            time: at.map_or_else(String::new, |at| visit.clock(&at)),
            at,
            is_scheduled: post.status == PostStatus::Scheduled,
            mover: is_movable.then(|| format!("{}#move", visit.with_parameter("move", Some(&id)))),
            may_schedule: is_movable && visit.may(Scope::ContentPublish),
            id,
        }
    }

    /// Button of the form that gives it another day and nothing else.
    const fn action(&self) -> &'static str {
        if self.is_scheduled { "move" } else { "plan" }
    }

    /// Value of the hidden field that names it as it was seen.
    fn value(&self) -> String {
        format!("{} {}", self.id, self.version)
    }
}

/// A day of the month.
struct DayCell {
    text: String,
    number: i8,
    is_inside: bool,
    is_today: bool,
    posts: Vec<PlannedPost>,
    /// Posts that are not shown, with the list that has them.
    more: Option<(usize, String)>,
}

/// Fields of the form that moves a post, as they were typed.
struct TypedMove {
    id: String,
    day: String,
    time: String,
}

#[derive(Template)]
#[template(path = "calendar.html")]
struct CalendarView {
    frame: ProjectFrame,
    name: String,
    previous: String,
    next: String,
    today: Option<String>,
    views: Vec<FilterLink>,
    weeks: Vec<Vec<DayCell>>,
    is_list: bool,
    listed: Vec<PlannedPost>,
    listed_more: usize,
    tray: Vec<PlannedPost>,
    tray_more: usize,
    moved: Option<PlannedPost>,
    unmoved: String,
    action: String,
    posts: String,
    may_write: bool,
    is_cut: bool,
    wrong: Option<String>,
}

/// Posts for the calendar, each once, and whether there are more than were read.
async fn load(visit: &Visit) -> Result<(Vec<PostSummary>, bool), Failure> {
    let mut found: Vec<PostSummary> = Vec::new();
    let mut known = HashSet::new();
    let mut is_cut = false;
    // Scheduled posts first and on their own: the newest of any status may leave an old one out.
    for status in [Some(PostStatus::Scheduled), None] {
        let mut cursor = None;
        for turn in 1..=MAX_PAGES {
            let listed = visit
                .read(&ListPosts {
                    project_id: visit.project_id(),
                    status,
                    keyword_id: None,
                    q: None,
                    sort: None,
                    limit: Some(100),
                    cursor,
                })
                .await?;
            found.extend(listed.data.into_iter().filter(|post| known.insert(post.id)));
            cursor = listed.next_cursor;
            if cursor.is_none() {
                break;
            }
            is_cut |= turn == MAX_PAGES;
        }
    }
    found.retain(|post| post.status != PostStatus::Archived);
    Ok((found, is_cut))
}

fn weeks(
    visit: &Visit,
    month: CalendarMonth,
    by_day: &mut BTreeMap<String, Vec<PlannedPost>>,
) -> Vec<Vec<DayCell>> {
    let today = visit.day(&visit.now());
    let list = visit.with_parameter("view", Some("list"));
    let weeks = month.weeks().into_iter().map(|week| {
        let days = week.into_iter().map(|day| {
            let mut posts = by_day.remove(&day.text).unwrap_or_default();
            let hidden = posts.len().saturating_sub(MAX_OF_DAY);
            posts.truncate(MAX_OF_DAY);
            DayCell {
                is_today: day.text == today,
                more: (hidden > 0).then(|| (hidden, list.clone())),
                number: day.number,
                is_inside: day.is_inside,
                text: day.text,
                posts,
            }
        });
        days.collect()
    });
    weeks.collect()
}

async fn show_calendar(
    visit: &Visit,
    wrong: Option<(StatusCode, String)>,
    typed: Option<TypedMove>,
) -> PageResult {
    let this_month = CalendarMonth::from_time(visit.now(), &visit.project.timezone);
    let month = visit
        .parameter("month")
        .and_then(CalendarMonth::parse)
        .unwrap_or(this_month);
    let (found, is_cut) = load(visit).await?;
    let mut dated = Vec::new();
    let mut tray = Vec::new();
    for post in &found {
        let planned = PlannedPost::new(visit, post);
        match planned.at {
            Some(_) => dated.push(planned),
            None => tray.push(planned),
        }
    }
    dated.sort_by_key(|planned| planned.at);
    let wanted = typed
        .as_ref()
        .map(|typed| typed.id.as_str())
        .or_else(|| visit.parameter("move"));
    let moved = dated
        .iter()
        .chain(&tray)
        .find(|planned| planned.mover.is_some() && Some(planned.id.as_str()) == wanted)
        .cloned();
    let moved = match (moved, typed) {
        (Some(moved), Some(typed)) => Some(PlannedPost {
            day: typed.day,
            time: typed.time,
            ..moved
        }),
        (moved, _) => moved,
    };
    let is_list = visit.parameter("view") == Some("list");
    let prefix = month.text();
    let mut listed: Vec<PlannedPost> = dated
        .iter()
        .filter(|planned| planned.day.starts_with(&prefix))
        .cloned()
        .collect();
    let mut by_day: BTreeMap<String, Vec<PlannedPost>> = BTreeMap::new();
    for planned in dated {
        by_day.entry(planned.day.clone()).or_default().push(planned);
    }
    let (listed_more, tray_more) = (
        listed.len().saturating_sub(MAX_LISTED),
        tray.len().saturating_sub(MAX_LISTED),
    );
    listed.truncate(MAX_LISTED);
    tray.truncate(MAX_LISTED);
    let (code, wrong) = wrong.map_or((StatusCode::OK, None), |(status, text)| (status, Some(text)));
    let view = CalendarView {
        frame: visit.frame("Calendar", Section::Calendar),
        name: month.name(),
        previous: visit.with_parameter("month", Some(&month.previous().text())),
        next: visit.with_parameter("month", Some(&month.next().text())),
        today: (month != this_month).then(|| visit.with_parameter("month", None)),
        views: vec![
            FilterLink::new(visit, "view", None, "Month"),
            FilterLink::new(visit, "view", Some("list"), "List"),
        ],
        weeks: if is_list {
            Vec::new()
        } else {
            weeks(visit, month, &mut by_day)
        },
        is_list,
        listed,
        listed_more,
        tray,
        tray_more,
        moved,
        unmoved: visit.with_parameter("move", None),
        action: visit.with_parameter("move", None),
        posts: visit.address("/posts"),
        may_write: visit.may(Scope::PostsWrite),
        is_cut,
        wrong,
    };
    Ok(page::respond(code, &view, Form::OwnWithScript))
}

async fn open(visit: Visit) -> PageResult {
    show_calendar(&visit, None, None).await
}

async fn carry_out(sent: &SentForm, typed: &TypedMove) -> Result<Response<Body>, Failure> {
    let visit = &sent.visit;
    let rows = sent.ticked_rows();
    let Some(row) = rows.first() else {
        return Err(fault("", "missing", "name the post to move"));
    };
    let time = if typed.time.is_empty() {
        MORNING
    } else {
        &typed.time
    };
    let at = visit.moment(&typed.day, time).ok_or_else(|| {
        fault(
            "/day",
            "invalid",
            "has to be a day such as 2026-12-31, with a time such as 09:00",
        )
    });
    let nothing = no_change(visit, &row.id);
    let (operation, code) = match sent.form.get("action") {
        "plan" => (
            UpdatePost {
                scheduled_at: Patch::Value(at?),
                ..nothing
            },
            "post-planned",
        ),
        "schedule" => (
            UpdatePost {
                scheduled_at: Patch::Value(at?),
                status: Some(PostStatus::Scheduled),
                ..nothing
            },
            "post-scheduled",
        ),
        // A scheduled post keeps its status: only its time changes.
        "move" => (
            UpdatePost {
                scheduled_at: Patch::Value(at?),
                ..nothing
            },
            "post-scheduled",
        ),
        "undate" => (
            UpdatePost {
                scheduled_at: Patch::Null,
                ..nothing
            },
            "post-undated",
        ),
        "unschedule" => (
            UpdatePost {
                scheduled_at: Patch::Null,
                status: Some(PostStatus::Draft),
                ..nothing
            },
            "post-undated",
        ),
        _ => return Err(fault("", "invalid", "choose one of the buttons")),
    };
    sent.change_row(&operation, row).await?;
    // The post keeps the focus where it is now.
    Ok(sent.done(&format!("{}#post-{}", visit.here(), row.id), code, 1))
}

async fn move_post(sent: SentForm) -> PageResult {
    let typed = TypedMove {
        id: sent
            .ticked_rows()
            .first()
            .map_or_else(String::new, |row| row.id.clone()),
        day: sent.form.get("day").trim().to_owned(),
        time: sent.form.get("time").trim().to_owned(),
    };
    match carry_out(&sent, &typed).await {
        Ok(response) => Ok(response),
        Err(failure) => match visit::refusal(&failure) {
            Some(wrong) => show_calendar(&sent.visit, Some(wrong), Some(typed)).await,
            None => Err(failure.into()),
        },
    }
}
