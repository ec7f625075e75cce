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
        "account-removed" => "The account was removed, and its secret erased.".to_owned(),
        "account-saved" => "The account was saved.".to_owned(),
        "account-works" => "The provider knows the account.".to_owned(),
        "added" => "Added.".to_owned(),
        "answer-copied" => "The answer was stored, and counts at once.".to_owned(),
        "corrected" => "The correction counts at once. It can be withdrawn.".to_owned(),
        "keyword-added" => "The keyword was added.".to_owned(),
        "names-decided" => rows("One name was decided.", "# names were decided."),
        "names-recounted" => rows(
            "One name was decided. Stored answers are being analysed again.",
            "# names were decided. Stored answers are being analysed again.",
        ),
        "post-added" => "The post was started.".to_owned(),
        "prompt-added" => "The prompt was added. Track it, or copy an answer by hand.".to_owned(),
        "prompt-paused" => "The prompt is paused. Its answers are kept.".to_owned(),
        "prompt-resumed" => "The prompt is tracked again.".to_owned(),
        "prompts-paused" => rows(
            "The prompt is paused. Its answers are kept.",
            "# prompts are paused. Their answers are kept.",
        ),
        "prompts-resumed" => rows("The prompt is tracked again.", "# prompts are tracked again."),
        "prompts-added" => rows("One prompt was added.", "# prompts were added."),
        "report-imported" => rows("One row was read.", "# rows were read."),
        "run-running" => "An equal run was started a moment ago. Here it is.".to_owned(),
        "run-started" => "The engines are being asked.".to_owned(),
        "autonomy-off" => "It is off: agents have to ask from now on.".to_owned(),
        "autonomy-on" => "It is on: agents may do it without asking.".to_owned(),
        "check-saved" => "Saved. It counts from the next audit on.".to_owned(),
        "disconnected" => {
            "Disconnected. Its credentials were erased; published posts stay where they are.".to_owned()
        }
        "key-revoked" => "The key was revoked. It does nothing any more.".to_owned(),
        "marked-read" => "What changed until now is marked as read.".to_owned(),
        "mapping-saved" => "The mapping was saved.".to_owned(),
        "webhook-deleted" => "The webhook was deleted. Nothing more is sent to it.".to_owned(),
        "webhook-recovered" => match count {
            0 => "No delivery has failed in that time.".to_owned(),
            _ => rows("One delivery is sent again.", "# deliveries are sent again."),
        },
        "webhook-replayed" => "The delivery is sent again.".to_owned(),
        "webhook-tested" => "A test is on its way. Its delivery is in the list.".to_owned(),
        "checks-saved" => "Saved. It counts from the next audit on.".to_owned(),
        "zone-saved" => {
            "Saved. Schedules without a time zone of their own keep their hour, in the new zone.".to_owned()
        }
        "chat-removed" => "The chat was removed. Nothing more is sent to it.".to_owned(),
        "saved" => "Saved.".to_owned(),
        "deleted" => rows("Deleted.", "# were deleted."),
        "keywords-deleted" => rows("One keyword was deleted.", "# keywords were deleted."),
        "keywords-set" => rows("One keyword was changed.", "# keywords were changed."),
        "post-archived" => "The post was archived.".to_owned(),
        "post-begun" => "The draft was created. Write its text here, or let it be generated.".to_owned(),
        "post-claims" => rows(
            "The sentence is accepted as true. It no longer blocks publishing.",
            "# sentences are accepted as true. They no longer block publishing.",
        ),
        "post-draft" => "The post is a draft.".to_owned(),
        "post-generating" => "The text is being written.".to_owned(),
        "post-planned" => {
            "The date was set. The post is not published by itself until it is scheduled.".to_owned()
        }
        "post-publishing" => "The post is on its way to its destination.".to_owned(),
        "post-restored" => {
            "The earlier text is in force again. The one before it is kept as a revision.".to_owned()
        }
        "post-review" => "The post waits for review.".to_owned(),
        "post-saved" => "The post was saved.".to_owned(),
        "post-scheduled" => "The post is scheduled.".to_owned(),
        "post-undated" => "The post has no date any more.".to_owned(),
        "share-revoked" => "The link was revoked. It shows nothing any more.".to_owned(),
        "post-unpublishing" => "The post is being taken back from its destination.".to_owned(),
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
