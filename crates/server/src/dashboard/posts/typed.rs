//! The fields of a post as its form has them: of the post, or as somebody typed them.

use searchwright_contract::{
    Patch,
    keywords::ListKeywords,
    posts::{Post, PostStatus, UpdatePost},
};
use searchwright_engine::{Failure, failure::fault};

use super::{
    super::{
        session::FormData,
        visit::{SentForm, Visit},
    },
    no_change,
};

/// Time of day of a planned post, where only a day was given.
const MORNING: &str = "09:00";

/// Pages of the keywords that contain a text, in which the one that is the text is looked for.
const MAX_KEYWORD_PAGES: u32 = 20;

/// Fields of the form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TypedPost {
    pub title: String,
    pub content: String,
    pub slug: String,
    pub meta_title: String,
    pub meta_description: String,
    pub excerpt: String,
    pub keyword: String,
    pub day: String,
    pub time: String,
}

/// Text with the line ends that Markdown is stored with; forms send others.
fn lines(text: &str) -> String {
    text.replace("\r\n", "\n")
}

impl TypedPost {
    /// Fields of a post.
    pub fn from_post(visit: &Visit, post: &Post) -> Self {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        let at = post.summary.scheduled_at;
        Self {
            title: text(&post.summary.title),
            content: post.content.clone(),
            slug: post.summary.slug.clone(),
            meta_title: text(&post.details.meta_title),
            meta_description: text(&post.details.meta_description),
            excerpt: text(&post.details.excerpt),
            keyword: text(&post.summary.keyword),
            day: at.map_or_else(String::new, |at| visit.day(&at)),
            time: at.map_or_else(String::new, |at| visit.clock(&at)),
        }
    }

    /// Fields of a form.
    pub fn from_form(form: &FormData) -> Self {
        let text = |name| form.get(name).trim().to_owned();
        let (day, time) = (text("day"), text("time"));
        Self {
            title: text("title"),
            content: lines(form.get("content")),
            slug: text("slug"),
            meta_title: text("metaTitle"),
            meta_description: text("metaDescription"),
            excerpt: text("excerpt"),
            keyword: text("keyword"),
            time: if time.is_empty() && !day.is_empty() {
                MORNING.to_owned()
            } else {
                time
            },
            day,
        }
    }

    /// Returns whether a post has exactly what was typed.
    pub fn is_in(&self, now: &Self) -> bool {
        self.differences(now).is_empty() && self.content == lines(&now.content)
    }

    /// Fields in which a post differs from what was typed, with what the post has.
    pub fn differences(&self, now: &Self) -> Vec<(&'static str, String)> {
        let pairs = [
            ("Title", &self.title, &now.title),
            ("Slug", &self.slug, &now.slug),
            ("Title in results", &self.meta_title, &now.meta_title),
            ("Description", &self.meta_description, &now.meta_description),
            ("Excerpt", &self.excerpt, &now.excerpt),
            ("Keyword", &self.keyword, &now.keyword),
            ("Day", &self.day, &now.day),
            ("Time", &self.time, &now.time),
        ];
        let differing = pairs.into_iter().filter(|(_, typed, now)| typed != now);
        differing.map(|(name, _, now)| (name, now.clone())).collect()
    }

    /// Returns whether the text in it would be gone.
    pub fn erases(&self, post: &Post) -> bool {
        self.content.trim().is_empty() && !post.content.trim().is_empty()
    }
}

/// A day and a time as a planned time; `Null` for none, `Absent` for those that the post has.
pub(super) fn planned(
    visit: &Visit,
    day: &str,
    time: &str,
    now: Option<&TypedPost>,
) -> Result<Patch<searchwright_contract::Instant>, Failure> {
    if now.is_some_and(|now| now.day == day && now.time == time) {
        return Ok(Patch::Absent);
    }
    if day.is_empty() {
        return Ok(Patch::Null);
    }
    let time = if time.is_empty() { MORNING } else { time };
    visit.moment(day, time).map(Patch::Value).ok_or_else(|| {
        fault(
            "/day",
            "invalid",
            "has to be a day such as 2026-12-31, with a time such as 09:00",
        )
    })
}

/// Finds the keyword with this text.
async fn keyword_by_text(visit: &Visit, text: &str) -> Result<String, Failure> {
    let wanted = text.to_lowercase();
    let mut cursor = None;
    for _ in 0..MAX_KEYWORD_PAGES {
        let listed = visit
            .read(&ListKeywords {
                project_id: visit.project_id(),
                status: None,
                intent: None,
                cluster_id: None,
                q: Some(text.chars().take(200).collect()),
                sort: None,
                limit: Some(100),
                cursor,
            })
            .await?;
        let mut keywords = listed.data.into_iter();
        if let Some(found) = keywords.find(|keyword| keyword.keyword.to_lowercase() == wanted) {
            return Ok(found.id.to_string());
        }
        cursor = listed.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    Err(fault(
        "/keyword",
        "unknown",
        "is not a keyword of the project: add it to the keywords first",
    ))
}

fn nullable(text: &str, before: &str) -> Patch<String> {
    match text.trim() {
        text if text == before => Patch::Absent,
        "" => Patch::Null,
        text => Patch::Value(text.to_owned()),
    }
}

/// Returns what a form changes of a post. Fields that are as they were are left out, so that they stay byte for byte.
pub(super) async fn order(sent: &SentForm, post: &Post, typed: &TypedPost) -> Result<UpdatePost, Failure> {
    let visit = &sent.visit;
    let now = TypedPost::from_post(visit, post);
    let given = |typed: &str, now: &str| {
        Some(typed.trim().to_owned()).filter(|text| text != now && !(text.is_empty() && now.is_empty()))
    };
    let keyword_id = match typed.keyword.trim() {
        text if text == now.keyword => Patch::Absent,
        "" => Patch::Null,
        text => Patch::Value(keyword_by_text(visit, text).await?),
    };
    let is_scheduling = sent.form.get("action") == "schedule";
    let is_scheduled = post.summary.status == PostStatus::Scheduled;
    Ok(UpdatePost {
        title: given(&typed.title, &now.title),
        content: Some(typed.content.clone()).filter(|text| *text != lines(&now.content)),
        slug: given(&typed.slug, &now.slug),
        meta_title: nullable(&typed.meta_title, &now.meta_title),
        meta_description: nullable(&typed.meta_description, &now.meta_description),
        excerpt: nullable(&typed.excerpt, &now.excerpt),
        keyword_id,
        scheduled_at: planned(visit, typed.day.trim(), typed.time.trim(), Some(&now))?,
        status: (is_scheduling && !is_scheduled).then_some(PostStatus::Scheduled),
        allow_empty_content: (sent.form.get("erase") == "1").then_some(true),
        ..no_change(visit, &post.summary.id.to_string())
    })
}
