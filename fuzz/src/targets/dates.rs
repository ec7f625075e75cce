//! Dates as sitemaps and callers write them.

use searchwright_contract::Instant;
use searchwright_site::dates::w3c_datetime_ms;

/// Reads one input.
pub fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    w3c_datetime_ms(text);
    if let Ok(instant) = Instant::from_text(text) {
        let written = instant.to_text();
        let written = std::str::from_utf8(&written).expect("ASCII");
        assert_eq!(Instant::from_text(written).ok(), Some(instant));
        assert!(w3c_datetime_ms(written).is_some(), "{written}");
    }
}
