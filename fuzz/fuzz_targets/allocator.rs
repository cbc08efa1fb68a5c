#![no_main]
#![allow(clippy::disallowed_methods, missing_docs, unsafe_code, reason = "of the macro's making")]

libfuzzer_sys::fuzz_target!(|data: &[u8]| plasma_store_fuzz::allocator::run(data));
