//! Fuzzes the decoder `pattern`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| stead_fuzz::entries::pattern(bytes));
