//! The beginning of an image.

use searchwright_site::resources::dimensions;

/// Reads one input.
pub fn run(data: &[u8]) {
    if let Some((width, height)) = dimensions::read(data) {
        // more bytes do not make another image of it
        let longer = [data, b"\xff\xc0\0\x11\x08\0\x01\0\x01"].concat();
        assert_eq!(dimensions::read(&longer), Some((width, height)));
    }
}
