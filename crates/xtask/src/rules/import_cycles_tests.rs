//! Unit tests of `import_cycles.rs`.

use super::*;
use crate::rules::check_rule;

const BESIDE: &str = "use crate::b::B;";

#[test]
fn cycle_is_reported_with_its_imports() {
    check_rule(
        check,
        &[
            ("crates/smpp/src/a.rs", BESIDE),
            ("crates/smpp/src/b.rs", "\nuse super::c::C;"),
            ("crates/smpp/src/c/mod.rs", "mod d;"),
            ("crates/smpp/src/c/d.rs", "fn f() { crate::a::g() }"),
        ],
        &["crates/smpp/src/a.rs:1: a imports b (crates/smpp/src/a.rs:1), b imports c \
               (crates/smpp/src/b.rs:2), c imports a (crates/smpp/src/c/d.rs:1): move what both need below them"],
    );
}

#[test]
fn siblings_in_a_folder_are_checked() {
    check_rule(
        check,
        &[
            ("crates/hermod/src/x/a.rs", "use super::b::B;"),
            ("crates/hermod/src/x/b.rs", "use crate::x::a::A;"),
            ("crates/hermod/src/x/mod.rs", "mod a;\nmod b;"),
        ],
        &["crates/hermod/src/x/a.rs:1: a imports b (crates/hermod/src/x/a.rs:1), b imports a \
               (crates/hermod/src/x/b.rs:1): move what both need below them"],
    );
}

#[test]
fn re_exported_name_is_an_import_of_its_module() {
    check_rule(
        check,
        &[
            ("crates/smpp/src/x/a.rs", "use crate::x::B;\npub struct A;"),
            ("crates/smpp/src/x/b.rs", "use super::{A, Own};\npub struct B;"),
            ("crates/smpp/src/x/mod.rs", "mod a;\nmod b;\npub use a::*;\npub use b::B;\npub struct Own;"),
        ],
        &["crates/smpp/src/x/a.rs:1: a imports b (crates/smpp/src/x/a.rs:1), b imports a \
               (crates/smpp/src/x/b.rs:1): move what both need below them"],
    );
}

#[test]
fn parents_children_tests_and_other_crates_are_not_siblings() {
    check_rule(
        check,
        &[
            ("crates/smpp/src/a.rs", "use crate::b::B;\nuse self::inner::I;"),
            ("crates/smpp/src/a/inner.rs", "use super::A;"),
            ("crates/smpp/src/b.rs", "#[cfg(test)]\nmod tests {\n    use crate::a::A;\n}"),
            ("crates/gateway/src/a.rs", "use hermod_smpp::b::B;"),
            ("crates/gateway/src/b.rs", "use crate::a::A;"),
        ],
        &[],
    );
}
