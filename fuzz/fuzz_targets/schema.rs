//! Fuzzes `schema`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| stead_fuzz::schemas::schema(bytes));
