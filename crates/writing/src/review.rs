//! Reasons for which a person has to read a text before it is published.

use searchwright_contract::posts::Post;

use crate::sensitive_topics::sensitive_topic;

/// Lists the reasons for which a person has to look at a post: its faults, and a topic on which errors do harm.
pub fn list_reasons(post: &Post, min_score: u8) -> Vec<String> {
    let mut reasons = list_faults(post, min_score);
    let summary = &post.summary;
    let subject = [&summary.title, &summary.keyword].map(|text| text.as_deref().unwrap_or_default());
    if let Some(topic) = sensitive_topic(&subject.join(" "), &summary.language) {
        let topic = topic.as_str();
        reasons.push(format!("its topic is {topic}: a person has to read such a text"));
    }
    reasons
}

/// Lists the faults of a post.
pub fn list_faults(post: &Post, min_score: u8) -> Vec<String> {
    let blocking = post
        .findings
        .warnings
        .iter()
        .filter(|warning| warning.blocks_publishing);
    let mut reasons: Vec<String> = blocking
        .map(|warning| format!("{}: {}", warning.code, warning.detail))
        .collect();
    reasons.sort();
    reasons.dedup();
    match post.summary.seo_score {
        Some(score) if score < min_score => {
            reasons.push(format!(
                "the content score is {score}, below min_score {min_score}"
            ));
        }
        Some(_) => {}
        None => reasons.push("the post has no text".to_owned()),
    }
    if post.summary.title.is_none() {
        reasons.push("the post has no title".to_owned());
    }
    reasons
}
