//! HTTP statuses that describe the server or the client rather than the page.

/// Whether a status is temporary: the server is busy or failing and may respond differently later.
pub(crate) const fn is_transient(status: u16) -> bool {
    matches!(status, 408 | 425 | 429 | 500..)
}

/// Whether servers send a status to bots and not to browsers.
pub(crate) const fn is_bot_refusal(status: u16) -> bool {
    matches!(status, 401 | 403 | 405 | 406 | 429 | 451 | 503 | 999)
}
