//! Statuses of HTTP that say less about a page than about the server or the client.

/// Whether the server says that it is busy or ill: tomorrow it may say something else.
pub(crate) const fn is_transient(status: u16) -> bool {
    matches!(status, 408 | 425 | 429 | 500..)
}

/// Whether servers answer so to programs and not to browsers.
pub(crate) const fn is_bot_refusal(status: u16) -> bool {
    matches!(status, 401 | 403 | 405 | 406 | 429 | 451 | 503 | 999)
}
