//! A body off the wire: the first byte chooses its coding, the second the size of the pieces, the third the limit.

use http::{HeaderMap, HeaderValue, header::CONTENT_ENCODING};
use searchwright_outbound::replay;

/// Decoded bytes before the ratio counts, and those of a byte on the wire beyond which a body is a bomb.
const BOMB: (usize, usize) = (1 << 20, 100);
/// Bytes that a decoder hands out at once.
const PIECE: usize = 64 << 10;

/// Reads one input.
pub fn run(data: &[u8]) {
    let [coding, size, limit, wire @ ..] = data else {
        return;
    };
    let coding = ["identity", "gzip", "br"][usize::from(*coding) % 3];
    let headers = HeaderMap::from_iter([(CONTENT_ENCODING, HeaderValue::from_static(coding))]);
    let limit = 1 << (limit % 24);
    let whole = replay(&headers, [wire], limit);
    let pieces = replay(&headers, wire.chunks(usize::from(*size) + 1), limit);
    for (bytes, _) in whole.iter().chain(&pieces) {
        assert!(bytes.len() <= limit, "{} of {limit} bytes", bytes.len());
        let most = BOMB.0.max(wire.len() * BOMB.1) + PIECE;
        assert!(bytes.len() <= most, "{} of {most} bytes", bytes.len());
    }
    // where a body is cut, it depends on the pieces how much of it had come
    let is_cut = |read: &Option<(_, Option<_>)>| matches!(read, Some((_, Some(_))));
    if is_cut(&whole) || is_cut(&pieces) {
        return;
    }
    assert_eq!(whole, pieces);
}
