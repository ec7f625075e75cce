//! A stream of events of a language model: the first byte chooses the vendor, the second the size of the pieces.

use searchwright_providers::{Provider, replay};

/// Reads one input.
pub fn run(data: &[u8]) {
    let [vendor, size, events @ ..] = data else { return };
    let vendor = [Provider::OpenAi, Provider::Anthropic, Provider::Gemini][usize::from(*vendor) % 3];
    let whole = replay(vendor, [events]);
    assert_eq!(whole, replay(vendor, events.chunks(usize::from(*size % 16) + 1)));
}
