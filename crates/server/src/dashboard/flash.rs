//! Messages about what was just done, by the code in the address: the address carries no text of its own.

/// Returns the message of a code; `None` for one that is not known.
pub(crate) fn message(code: &str, count: u64) -> Option<String> {
    let rows = |one: &str, many: &str| {
        if count == 1 {
            one.to_owned()
        } else {
            many.replace('#', &count.to_string())
        }
    };
    Some(match code {
        "audit-started" => "The audit was started.".to_owned(),
        "audit-running" => "An audit was already running. Here it is.".to_owned(),
        "audit-cancelled" => {
            "The audit was cancelled. The results of the audit before stay in force.".to_owned()
        }
        "marked-done" => rows(
            "One occurrence was marked as done. A recheck proves it.",
            "# occurrences were marked as done. A recheck proves it.",
        ),
        "undone" => rows("One occurrence is open again.", "# occurrences are open again."),
        "ignored" => rows("One occurrence is ignored.", "# occurrences are ignored."),
        "unignored" => rows(
            "One occurrence is no longer ignored.",
            "# occurrences are no longer ignored.",
        ),
        "recheck-started" => "The recheck was started.".to_owned(),
        "recheck-running" => "A recheck was already running. Start another when it has ended.".to_owned(),
        "autonomy-off" => "It is off: agents have to ask from now on.".to_owned(),
        "autonomy-on" => "It is on: agents may do it without asking.".to_owned(),
        "check-saved" => "Saved. It counts from the next audit on.".to_owned(),
        "disconnected" => {
            "Disconnected. Its credentials were erased; published posts stay where they are.".to_owned()
        }
        "key-revoked" => "The key was revoked. It does nothing any more.".to_owned(),
        "mapping-saved" => "The mapping was saved.".to_owned(),
        "webhook-deleted" => "The webhook was deleted. Nothing more is sent to it.".to_owned(),
        "webhook-recovered" => match count {
            0 => "No delivery has failed in that time.".to_owned(),
            _ => rows("One delivery is sent again.", "# deliveries are sent again."),
        },
        "webhook-replayed" => "The delivery is sent again.".to_owned(),
        "webhook-tested" => "A test is on its way. Its delivery is in the list.".to_owned(),
        "saved" => "Saved.".to_owned(),
        "deleted" => rows("Deleted.", "# were deleted."),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::message;

    #[test]
    fn messages_count_and_know_no_text_of_others() {
        assert_eq!(message("ignored", 1).unwrap(), "One occurrence is ignored.");
        assert_eq!(message("ignored", 12).unwrap(), "12 occurrences are ignored.");
        assert_eq!(message("<b>call 555</b>", 1), None);
    }
}
