//! The beginning of an image.
#![no_main]

use libfuzzer_sys::fuzz_target;
use searchwright_site::resources::dimensions;

fuzz_target!(|data: &[u8]| {
    if let Some((width, height)) = dimensions::of(data) {
        // more bytes do not make another image of it
        let longer = [data, b"\xff\xc0\0\x11\x08\0\x01\0\x01"].concat();
        assert_eq!(dimensions::of(&longer), Some((width, height)));
    }
});
