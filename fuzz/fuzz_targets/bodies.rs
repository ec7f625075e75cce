#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| searchwright_fuzz::targets::bodies::run(data));
