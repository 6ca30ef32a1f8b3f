//! Fuzzes the decoder `config`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| stead_fuzz::config(bytes));
