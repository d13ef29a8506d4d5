//! Unit tests of `published.rs`.

use super::*;
use hermod_domain::refusal::Class;
use std::collections::HashSet;

#[test]
fn error_codes_are_unique_and_temporary_ones_are_429_500_503() {
    let codes: HashSet<&str> = OPERATOR_ERRORS.iter().map(|row| row.code).collect();
    assert_eq!(codes.len(), OPERATOR_ERRORS.len());
    for row in OPERATOR_ERRORS {
        assert_eq!(row.class == Class::Temporary, matches!(row.http, 429 | 500 | 503), "{}", row.code);
        assert!(row.meaning.ends_with('.') && row.what_to_do.ends_with('.'), "{}", row.code);
    }
}
