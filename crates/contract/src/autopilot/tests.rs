//! Weekdays as callers write them.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::{Weekday, WeekdayInput, WeekdayInputs};

fn parse(text: &str) -> WeekdayInputs {
    let Ok(inputs) = text.parse();
    inputs
}

#[test]
fn a_weekday_is_a_number_of_cron_or_an_english_name() {
    for (text, day) in [
        ("0", Weekday::Sunday),
        ("7", Weekday::Sunday),
        ("1", Weekday::Monday),
        ("6", Weekday::Saturday),
        ("tue", Weekday::Tuesday),
        ("WED", Weekday::Wednesday),
        ("Thursday", Weekday::Thursday),
        ("fRiDaY", Weekday::Friday),
    ] {
        assert_eq!(parse(text).weekdays(""), Ok(vec![day]), "{text}");
    }
    for text in [
        "8",
        "-1",
        "256",
        "9223372036854775807",
        "",
        "m",
        "mo",
        "mond",
        "mondays",
        "montag",
        "1.0",
        "sünday",
    ] {
        let faults = parse(text).weekdays("/days").unwrap_err();
        assert_eq!(
            (faults.len(), faults[0].pointer.as_str(), faults[0].code.as_str()),
            (1, "/days/0", "not_a_weekday"),
            "{text}"
        );
    }
}

#[test]
fn every_fault_is_named_and_sunday_repeats_itself() {
    let faults = parse("7, sat ,Sun,x,0,saturday").weekdays("/days").unwrap_err();
    let named: Vec<(&str, &str)> = faults
        .iter()
        .map(|f| (f.pointer.as_str(), f.code.as_str()))
        .collect();
    assert_eq!(
        named,
        [
            ("/days/2", "duplicate"),
            ("/days/3", "not_a_weekday"),
            ("/days/4", "duplicate"),
            ("/days/5", "duplicate"),
        ]
    );
}

/// A weekday and one of its spellings.
fn spelled() -> impl Strategy<Value = (Weekday, WeekdayInput)> {
    (0..7_usize, 0..5_u8).prop_map(|(index, spelling)| {
        let day = Weekday::ALL[index];
        let name = day.as_str();
        let input = match spelling {
            0 => WeekdayInput::Number(day.number().into()),
            1 if day == Weekday::Sunday => WeekdayInput::Number(7),
            2 => WeekdayInput::Name(name[..3].to_uppercase()),
            3 => WeekdayInput::Name(name[..3].to_owned()),
            _ => WeekdayInput::Name(name.to_uppercase()),
        };
        (day, input)
    })
}

proptest! {
    /// The answer depends on the days alone: not on their spelling, nor on their order.
    #[test]
    fn days_are_sorted_and_without_duplicates_or_refused(spelled in prop::collection::vec(spelled(), 0..10)) {
        let (days, inputs): (Vec<Weekday>, Vec<WeekdayInput>) = spelled.into_iter().unzip();
        let distinct: BTreeSet<Weekday> = days.iter().copied().collect();
        let repeated = days.len() - distinct.len();
        match WeekdayInputs(inputs).weekdays("") {
            Ok(sorted) => {
                prop_assert_eq!(repeated, 0);
                prop_assert_eq!(sorted, distinct.into_iter().collect::<Vec<_>>());
            }
            Err(faults) => {
                prop_assert_eq!(faults.len(), repeated);
                prop_assert!(repeated > 0 && faults.iter().all(|f| f.code == "duplicate"));
            }
        }
    }

    #[test]
    fn no_text_and_no_number_breaks_it(text in ".{0,12}", number in any::<i64>()) {
        let _ = parse(&text).weekdays("");
        let day = Weekday::from_number(number);
        prop_assert_eq!(day.is_some(), (0..=7).contains(&number));
        prop_assert!(day.is_none_or(|day| i64::from(day.number()) == number % 7));
    }
}
