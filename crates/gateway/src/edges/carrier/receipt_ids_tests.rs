//! Unit tests of `receipt_ids.rs`.

use super::*;
use IdConversion::{DecimalToHex, HexToDecimal, None};

const HEX: [&str; 3] = ["812FC747", "812fc748", "81200000"];
const DECIMAL: [&str; 3] = ["2167392071", "2167392072", "2167392073"];

fn ids(texts: &[&str]) -> Vec<RemoteId> {
    texts.iter().map(|text| RemoteId::from_text(text).unwrap()).collect()
}

#[track_caller]
fn check(present: IdConversion, responses: &[&str], receipts: &[&str], expect: UnmatchedCause) {
    let actual = UnmatchedCause::of(present, &ids(responses), &ids(receipts));
    assert_eq!(actual, expect, "{responses:?} {receipts:?}");
}

#[test]
fn ids_in_two_forms_need_a_conversion() {
    check(None, &HEX, &DECIMAL, UnmatchedCause::Forms(HexToDecimal));
    check(None, &DECIMAL, &HEX, UnmatchedCause::Forms(DecimalToHex));
    // The setting is the wrong one.
    check(DecimalToHex, &HEX, &DECIMAL, UnmatchedCause::Forms(HexToDecimal));
    check(HexToDecimal, &DECIMAL, &DECIMAL, UnmatchedCause::Forms(None));
}

#[test]
fn ids_in_the_form_that_is_set_belong_to_parts_of_another_gateway() {
    check(None, &DECIMAL, &DECIMAL, UnmatchedCause::UnknownParts);
    check(None, &HEX, &HEX, UnmatchedCause::UnknownParts);
    check(None, &["a3-1", "a3-2"], &["b7-1"], UnmatchedCause::UnknownParts);
    check(HexToDecimal, &HEX, &DECIMAL, UnmatchedCause::UnknownParts);
    assert!(UnmatchedCause::UnknownParts.advice().contains("a second gateway with the same system_id"));
}

#[test]
fn few_ids_prove_nothing() {
    check(None, &[], &DECIMAL, UnmatchedCause::Unclear);
    check(None, &DECIMAL, &[], UnmatchedCause::Unclear);
    check(None, &["12345678"], &HEX, UnmatchedCause::Unclear);
    check(None, &["a3-1", "a3-2", "a3-3"], &DECIMAL, UnmatchedCause::Unclear);
}
