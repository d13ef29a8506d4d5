//! Forbidden dependencies are found in manifests, imports and plain paths; allowed ones pass.

use super::*;
use crate::rules::check_rule;

#[track_caller]
fn check_source(path: &str, code: &str, expect: &str) {
    let expect: Vec<String> = expect.lines().map(|line| format!("{path}:{line}")).collect();
    check_rule(check, &[(path, code)], &expect.iter().map(String::as_str).collect::<Vec<_>>());
}

#[test]
fn a_pure_crate_touches_neither_the_world_nor_the_clock() {
    for folder in ["domain", "smpp", "engine"] {
        let path = format!("crates/{folder}/src/a.rs");
        check_source(
            &path,
            "use tokio::sync::mpsc;",
            "1: tokio::sync::mpsc does not belong in this layer: stay synchronous and return what is to be done",
        );
        check_source(
            &path,
            "use std::{\n fs,\n time::{Duration, Instant},\n};",
            "2: std::fs does not belong in this layer: take the content as an argument\n\
             3: std::time::Instant does not belong in this layer: take `now` as an argument",
        );
        check_source(
            &path,
            "fn f() { std::time::SystemTime::now(); }",
            "1: std::time::SystemTime::now does not belong in this layer: take `now` as an argument",
        );
        check_source(
            &path,
            "use std::net::TcpStream;",
            "1: std::net::TcpStream does not belong in this layer: take bytes, return bytes",
        );
    }
}

#[test]
fn values_without_effects_are_pure() {
    check_source(
        "crates/domain/src/a.rs",
        "use std::time::Duration;\nuse std::net::IpAddr;\nuse std::fmt;",
        "",
    );
}

#[test]
fn tests_of_a_pure_crate_may_read_golden_files() {
    check_source("crates/domain/src/a.rs", "#[cfg(test)]\nmod tests { use std::fs; }", "");
    check_source("crates/smpp/tests/vectors.rs", "use std::fs;", "");
}

#[test]
fn crates_point_one_way() {
    for (path, code, expect) in [
        (
            "crates/domain/src/a.rs",
            "use hermod_smpp::Pdu;",
            "1: crates/domain uses nothing of ours, and here it names hermod_smpp",
        ),
        (
            "crates/smpp/src/a.rs",
            "use hermod_domain::Msisdn;",
            "1: crates/smpp uses nothing of ours, and here it names hermod_domain",
        ),
        (
            "crates/store/src/a.rs",
            "use hermod_smpp::Pdu;",
            "1: crates/store may use hermod-engine, hermod-domain of ours, and here it names hermod_smpp",
        ),
        (
            "crates/simulator/src/a.rs",
            "fn f() { hermod_store::open(); }",
            "1: crates/simulator may use hermod-smpp, hermod-domain of ours, and here it names hermod_store",
        ),
        (
            "crates/xtask/src/a.rs",
            "use hermod_domain as d;",
            "1: crates/xtask uses nothing of ours, and here it names hermod_domain",
        ),
        ("crates/store/src/a.rs", "use hermod_domain::Msisdn;", ""),
        ("crates/store/tests/a.rs", "use hermod_store::Store;", ""),
        ("crates/gateway/src/a.rs", "use hermod_store::S;\nuse hermod_smpp::P;\nuse hermod_domain::M;", ""),
        ("crates/hermod/src/main.rs", "use hermod_gateway::serve;\nuse hermod_simulator::Carrier;", ""),
    ] {
        check_source(path, code, expect);
    }
}

#[test]
fn a_manifest_may_not_open_a_forbidden_way() {
    check_rule(
        check,
        &[("crates/store/Cargo.toml", "[dependencies]\nhermod-domain = {}\nhermod-gateway = {}\n")],
        &[
            "crates/store/Cargo.toml:3: crates/store may use hermod-engine, hermod-domain of ours, and here it names hermod-gateway",
        ],
    );
    check_rule(
        check,
        &[("crates/domain/Cargo.toml", "[dev-dependencies]\nhermod-smpp = {}\n")],
        &["crates/domain/Cargo.toml:2: crates/domain uses nothing of ours, and here it names hermod-smpp"],
    );
}

#[test]
fn only_the_gateways_tests_may_use_the_simulator() {
    check_rule(check, &[("crates/gateway/Cargo.toml", "[dev-dependencies]\nhermod-simulator = {}\n")], &[]);
    check_rule(
        check,
        &[("crates/gateway/Cargo.toml", "[dependencies]\nhermod-simulator = {}\n")],
        &[
            "crates/gateway/Cargo.toml:2: crates/gateway may use hermod-store, hermod-smpp, hermod-domain of ours, \
         and here it names hermod-simulator",
        ],
    );
}

#[test]
fn the_use_cases_know_no_wire() {
    for (name, instead) in [
        ("axum::Json", "let the edge translate"),
        ("hyper::Request", "let the edge translate"),
        ("tokio::net::TcpStream", "let the edge own the socket"),
        ("hermod_smpp::Pdu", "let the edge translate"),
        ("crate::edges::http_api", "edges call app, never the other way"),
    ] {
        let expect = format!("1: {name} does not belong in this layer: {instead}");
        for path in ["crates/gateway/src/app/submit_message.rs", "crates/gateway/src/app.rs"] {
            check_source(path, &format!("use {name};"), &expect);
        }
        check_source("crates/gateway/src/apple.rs", &format!("use {name};"), "");
    }
    check_source("crates/gateway/src/app/submit_message.rs", "use tokio::sync::mpsc;", "");
}

#[test]
fn an_edge_knows_no_other_edge() {
    let other = ("crates/gateway/src/edges/carrier.rs", "pub fn f() {}");
    for (path, code) in [
        ("crates/gateway/src/edges/http_api/sms.rs", "use crate::edges::carrier::f;"),
        ("crates/gateway/src/edges/http_api/sms.rs", "use super::super::carrier::f;"),
        ("crates/gateway/src/edges/http_api/mod.rs", "use super::carrier;"),
        ("crates/gateway/src/edges/http_api.rs", "use super::{carrier::f};"),
        ("crates/gateway/src/edges/http_api.rs", "fn g() { crate::edges::carrier::f() }"),
    ] {
        let expect = format!(
            "{path}:1: edge http_api names edge carrier: what both need belongs in app or beside the edges"
        );
        check_rule(check, &[other, (path, code)], &[&expect]);
    }
}

#[test]
fn an_edge_knows_itself_the_app_and_what_lies_beside_the_edges() {
    for code in
        ["use super::errors::E;", "use crate::app::submit_message;", "use crate::edges::http_api::errors;"]
    {
        check_rule(
            check,
            &[
                ("crates/gateway/src/edges/http_api/sms.rs", code),
                ("crates/gateway/src/edges/http_api/responses.rs", ""),
            ],
            &[],
        );
    }
    let list = "pub mod carrier;\npub use self::carrier::f;";
    check_rule(
        check,
        &[("crates/gateway/src/edges/mod.rs", list), ("crates/gateway/src/edges/carrier.rs", "")],
        &[],
    );
}

#[test]
fn store_names_sqlite_in_its_folder_and_where_backends_are_listed() {
    check_rule(
        check,
        &[
            ("crates/store/src/audit.rs", "#[cfg(test)]\nmod tests {\n    use rusqlite::Row;\n}"),
            ("crates/store/src/sqlite/parts.rs", "use crate::sqlite::columns;\nuse rusqlite::Connection;"),
            ("crates/store/src/backend/mod.rs", "use crate::sqlite::parts;"),
            ("crates/store/src/writer/mod.rs", "use rusqlite::Connection;\nuse crate::sqlite::parts;"),
            ("crates/store/tests/it/faults.rs", "use rusqlite::Connection;"),
        ],
        &[
            "crates/store/src/audit.rs:3: rusqlite::Row does not belong in this layer: put it behind a function of \
             `sqlite/`, and that behind a backend",
            "crates/store/src/writer/mod.rs:1: rusqlite::Connection does not belong in this layer: put it behind a \
             function of `sqlite/`, and that behind a backend",
            "crates/store/src/writer/mod.rs:2: crate::sqlite::parts does not belong in this layer: ask a backend, so \
             that another database can answer",
        ],
    );
}

#[test]
fn parts_of_a_subject_point_one_way() {
    for (file, code, expect) in [
        (
            "price/entry.rs",
            "use crate::setup::json;",
            "1: crate::setup::json does not belong here: entry is below setup",
        ),
        (
            "carrier/entry/details.rs",
            "use crate::http::body;",
            "1: crate::http::body does not belong here: entry is below http",
        ),
        (
            "money/views.rs",
            "use super::use_cases::post;",
            "1: super::use_cases::post does not belong here: views is below use_cases",
        ),
        (
            "money/use_cases.rs",
            "fn f() { super::routes::routes() }",
            "1: super::routes::routes does not belong here: use_cases is below routes",
        ),
        (
            "bind.rs",
            "use crate::api::document;",
            "1: crate::api::document does not belong here: a subject is below api",
        ),
        ("money/routes.rs", "use crate::http::routes::doc;\nuse crate::money::use_cases::post;", ""),
        ("bind.rs", "use crate::http::routes::doc;\nuse crate::carrier::use_cases::resume;", ""),
        ("money/use_cases.rs", "use hermod_gateway::http::Source;", ""),
        ("api/mod.rs", "use crate::money::routes;", ""),
    ] {
        check_source(&format!("crates/operator/src/{file}"), code, expect);
    }
}

#[test]
fn only_routes_and_what_they_share_know_http() {
    for file in ["http/body.rs", "api/mod.rs", "money/routes.rs"] {
        check_source(&format!("crates/operator/src/{file}"), "use axum::Json;", "");
    }
    for file in ["bind.rs", "money/use_cases.rs", "user/mod.rs"] {
        check_source(
            &format!("crates/operator/src/{file}"),
            "use axum::Json;",
            "1: axum::Json does not belong in this layer: let a route or `http/` translate",
        );
    }
}
