//! The digest of a week, in plain words. What was not measured says so.

use crate::{
    render::ProjectOfMessage,
    wording::{count, one_line},
};

/// Facts of a week.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WeekFacts {
    /// First and last local day, such as `2026-11-23`.
    pub days: DigestDays,
    /// Health score of the newest audit; `None` if there is none.
    pub health: Option<u8>,
    /// Health score of the newest audit before the week.
    pub health_before: Option<u8>,
    /// Whether an audit ended in the week.
    pub was_audited: bool,
    /// Issues that were found for the first time.
    pub opened: u64,
    /// Issues that came back.
    pub reopened: u64,
    /// Issues that are gone.
    pub resolved: u64,
    /// Posts that became public.
    pub published: u64,
    /// Attempts to publish that failed.
    pub failed: u64,
    /// Posts that wait for a decision.
    pub approvals: u64,
    /// Posts whose outcome at the provider is not known.
    pub uncertain: u64,
    /// Connections that are lost.
    pub lost: u64,
    /// Whether the autopilot has paused itself.
    pub is_paused: bool,
    /// Share of answers that mention the brand; `None` if it was not measured.
    pub mentions: Option<MentionRate>,
}

/// Days of a week.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DigestDays {
    /// First.
    pub from: String,
    /// Last.
    pub to: String,
}

/// Share of answers that mention the brand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MentionRate {
    /// Share, 0 to 1.
    pub rate: f64,
    /// Bounds of the interval of 95 %, where there is one.
    pub low: Option<f64>,
    /// Upper bound.
    pub high: Option<f64>,
    /// Answers.
    pub answers: u64,
    /// Days over which they were asked.
    pub days: u32,
}

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

impl MentionRate {
    fn text(&self) -> String {
        let interval = match (self.low, self.high) {
            (Some(low), Some(high)) => {
                format!("95 % interval {} to {}, ", percent(low), percent(high))
            }
            _ => "no interval, ".to_owned(),
        };
        format!(
            "{} ({interval}{} of {} days)",
            percent(self.rate),
            count(self.answers, "answer", "answers"),
            self.days
        )
    }
}

impl WeekFacts {
    fn health_text(&self) -> String {
        match (self.health, self.health_before) {
            (None, _) => "not measured: no audit has ended".to_owned(),
            (Some(now), None) => format!("{now} of 100; a week before it was not measured"),
            (Some(now), Some(before)) => {
                let change = match i16::from(now) - i16::from(before) {
                    0 => "unchanged".to_owned(),
                    change if change > 0 => format!("{change} more"),
                    change => format!("{} less", -change),
                };
                format!("{now} of 100, {change} since a week before")
            }
        }
    }

    fn issues_text(&self) -> String {
        if !self.was_audited && self.opened + self.reopened + self.resolved == 0 {
            return "not measured: no audit ended this week".to_owned();
        }
        format!(
            "{} new, {} came back, {} fixed",
            self.opened, self.reopened, self.resolved
        )
    }

    fn waiting(&self) -> Vec<String> {
        let mut waiting = Vec::new();
        for (number, one, many) in [
            (self.approvals, "post for approval", "posts for approval"),
            (
                self.uncertain,
                "post whose publication is uncertain",
                "posts whose publication is uncertain",
            ),
            (self.lost, "lost connection", "lost connections"),
        ] {
            if number > 0 {
                waiting.push(count(number, one, many));
            }
        }
        if self.is_paused {
            waiting.push("the autopilot, which paused itself".to_owned());
        }
        waiting
    }

    /// Returns the subject of the digest.
    pub fn subject(&self, project: &ProjectOfMessage) -> String {
        let waiting = self.approvals + self.uncertain + self.lost + u64::from(self.is_paused);
        let what = match waiting {
            0 => "The week".to_owned(),
            waiting => format!(
                "The week, and {}",
                count(waiting, "thing that waits for you", "things that wait for you")
            ),
        };
        one_line(&format!("[{}] {what}", one_line(&project.name, 60)), 140)
    }

    /// Returns the text of the digest.
    pub fn text(&self, project: &ProjectOfMessage) -> String {
        let base = &project.base;
        let mentions = self
            .mentions
            .map_or_else(|| "not measured".to_owned(), |rate| rate.text());
        let waiting = match self.waiting() {
            waiting if waiting.is_empty() => "nothing".to_owned(),
            waiting => waiting.join(", "),
        };
        let name = one_line(&project.name, 60);
        let domain = one_line(&project.domain, 120);
        format!(
            "{name} ({domain})\n{} to {}\n\n\
             Waits for a person: {waiting}\n{base}\n\n\
             Health: {}\n{base}/audits\n\n\
             Issues: {}\n{base}/issues\n\n\
             Posts: {} published, {} failed\n{base}/posts\n\n\
             Mention rate: {mentions}\n{base}/visibility\n",
            self.days.from,
            self.days.to,
            self.health_text(),
            self.issues_text(),
            self.published,
            count(self.failed, "attempt", "attempts"),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project() -> ProjectOfMessage {
        ProjectOfMessage {
            name: "Oak".to_owned(),
            domain: "example.com".to_owned(),
            base: "https://sw.example/projects/1".to_owned(),
            zone: "UTC".to_owned(),
        }
    }

    #[test]
    fn what_was_not_measured_says_so() {
        let facts = WeekFacts::default();
        let text = facts.text(&project());
        assert!(text.contains("Health: not measured"), "{text}");
        assert!(text.contains("Issues: not measured"), "{text}");
        assert!(text.contains("Mention rate: not measured"), "{text}");
        assert!(text.contains("Waits for a person: nothing"), "{text}");
        assert_eq!(facts.subject(&project()), "[Oak] The week");
    }

    #[test]
    fn figures_come_with_their_change_and_their_sample() {
        let facts = WeekFacts {
            health: Some(80),
            health_before: Some(83),
            was_audited: true,
            opened: 4,
            approvals: 2,
            is_paused: true,
            mentions: Some(MentionRate {
                rate: 0.34,
                low: Some(0.284),
                high: Some(0.405),
                answers: 250,
                days: 28,
            }),
            ..WeekFacts::default()
        };
        let text = facts.text(&project());
        for line in [
            "Health: 80 of 100, 3 less since a week before\n",
            "Issues: 4 new, 0 came back, 0 fixed\n",
            "Mention rate: 34 % (95 % interval 28 % to 40 %, 250 answers of 28 days)\n",
            "Waits for a person: 2 posts for approval, the autopilot, which paused itself\n",
        ] {
            assert!(text.contains(line), "{line}: {text}");
        }
        assert_eq!(
            facts.subject(&project()),
            "[Oak] The week, and 3 things that wait for you"
        );
    }
}
