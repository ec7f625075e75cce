//! Choices of forms.

use searchwright_contract::{Instant, ids::CredentialId};
use uuid::Uuid;

/// A choice of a list or of tick boxes.
#[derive(Clone, Debug)]
pub(crate) struct Choice {
    /// Value that is sent.
    pub value: String,
    /// Text.
    pub text: String,
    /// Whether it is chosen.
    pub is_chosen: bool,
}

impl Choice {
    /// Creates the choices of pairs of value and text.
    pub fn list<'a>(
        all: impl IntoIterator<Item = (&'a str, &'a str)>,
        is_chosen: impl Fn(&str) -> bool,
    ) -> Vec<Self> {
        let choice = |(value, text): (&str, &str)| Self {
            is_chosen: is_chosen(value),
            value: value.to_owned(),
            text: text.to_owned(),
        };
        all.into_iter().map(choice).collect()
    }
}

/// Lengths of time that a form offers; the last has no end.
pub(crate) const DAYS: [(&str, &str); 5] = [
    ("7", "7 days"),
    ("30", "30 days"),
    ("90", "90 days"),
    ("365", "one year"),
    ("never", "no end"),
];

/// Reads a length of time in days. `None` is no end; an error if it is none of these.
pub(crate) fn days(text: &str) -> Result<Option<u32>, String> {
    match text {
        "never" => Ok(None),
        other => other
            .parse()
            .map(Some)
            .map_err(|_| "choose from the list how long it is valid".to_owned()),
    }
}

/// Reads a whole number; `None` if the field is empty, an error with the name of the field if it is something else.
pub(crate) fn whole<N: std::str::FromStr>(name: &str, text: &str) -> Result<Option<N>, String> {
    match text.trim() {
        "" => Ok(None),
        text => text
            .parse()
            .map(Some)
            .map_err(|_| format!("{name} has to be a whole number in its limits")),
    }
}

/// Weekdays, from Monday on, with the numbers that the contract has for them.
pub(crate) const WEEKDAYS: [(&str, &str); 7] = [
    ("1", "Monday"),
    ("2", "Tuesday"),
    ("3", "Wednesday"),
    ("4", "Thursday"),
    ("5", "Friday"),
    ("6", "Saturday"),
    ("0", "Sunday"),
];

/// The id for a credential that a form makes: the token of the page, which is an id of the time at which the page was made.
pub(crate) fn id_of_form(once: &str, now: Instant) -> Option<CredentialId> {
    let id = Uuid::parse_str(once)
        .ok()
        .filter(|id| id.get_version_num() == 7)?;
    let made = i64::try_from(id.as_u128() >> 80).ok()?;
    let age = now.millis() - made;
    (0..86_400_000).contains(&age).then(|| id.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_token_of_a_page_of_today_becomes_the_id_of_a_credential() {
        let now = Instant::from_millis(1_795_255_200_000);
        let at = |millis: i64| {
            let bits = (u128::try_from(millis).unwrap() << 80) | (0x7 << 76) | (0b10 << 62);
            Uuid::from_u128(bits).to_string()
        };
        assert!(id_of_form(&at(now.millis() - 1_000), now).is_some());
        for bad in [
            at(now.millis() + 1_000),
            at(now.millis() - 86_400_000),
            Uuid::nil().to_string(),
            "x".to_owned(),
        ] {
            assert_eq!(id_of_form(&bad, now), None, "{bad}");
        }
    }
}
