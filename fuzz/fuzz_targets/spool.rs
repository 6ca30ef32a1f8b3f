//! Fuzzes the decoder `spool`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| stead_fuzz::entries::spool(bytes));
