//! Fuzzes the decoder `head`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| stead_fuzz::entries::head(bytes));
