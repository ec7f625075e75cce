//! A whole site: crawled, and held against every check.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    searchwright_fuzz::audit(data);
});
