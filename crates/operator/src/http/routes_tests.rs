//! Unit tests of `routes.rs`.

use super::*;
use crate::money::use_cases::show_balance;

fn add(path: &str) {
    let doc = doc("getBalance", "Read a balance", "The balance.");
    Routes::default().get(path, show_balance, doc.least(OperatorPermission::Reading));
}

#[test]
fn route_with_the_names_of_its_use_case_is_added() {
    add("/accounts/{name}/balance");
    add("/accounts/{*name}");
}

#[test]
#[should_panic(expected = "/accounts/{name}/days/{day} has 2 names, but its use case takes 1")]
fn route_with_more_names_than_its_use_case_takes_panics() {
    add("/accounts/{name}/days/{day}");
}

#[test]
#[should_panic(expected = "/accounts has 0 names, but its use case takes 1")]
fn route_with_fewer_names_than_its_use_case_takes_panics() {
    add("/accounts");
}
