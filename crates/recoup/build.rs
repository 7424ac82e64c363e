//! Adds `static_lookup.c` to a program that is linked statically with glibc (`cargo xtask dist`).

#![allow(clippy::disallowed_methods, reason = "cargo tells a build script through variables")]

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=static_lookup.c");
    let has = |name: &str, value: &str| {
        env::var(name).is_ok_and(|list| list.split(',').any(|item| item == value))
    };
    if has("CARGO_CFG_TARGET_FEATURE", "crt-static") && has("CARGO_CFG_TARGET_ENV", "gnu") {
        for object in cc::Build::new().file("static_lookup.c").compile_intermediates() {
            println!("cargo::rustc-link-arg-bins={}", object.display());
        }
    }
}
