//! Unit tests of `file.rs`.

use super::*;
use crate::carrier::ids::{IdFormat, IdStyle};
use crate::carrier::outcome::{Outcome, ReceiptLink, Receipts};
use crate::carrier::receipt_format::DateDigits;
use crate::carrier::response_quirk::ResponseQuirk;
use crate::carrier::script::SubmitAction;
use crate::carrier::submit_filter::SubmitFilter;
use crate::carrier::text::CodingZeroAlphabet;

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

#[track_caller]
fn check(toml: &str, expect: Script) {
    assert_eq!(Script::from_toml(toml), Ok(expect), "{toml}");
}

#[test]
fn empty_file_is_the_carrier_without_faults() {
    check("", Script::new());
}

#[test]
fn response_rules_equal_those_built_by_methods() {
    let rule = |when: &str, then: &str| format!("[[responses.rules]]\nwhen = {when}\nthen = {then}\n");
    let rules = [
        rule("{ submits = { first = 2 } }", "{ reject = 0x58 }"),
        rule("{ submits = { every = 3 } }", r#""ignore""#),
        rule("{ submits = { burst = { count = 2, of = 10 } } }", "{ reject = 0x14 }"),
        rule(r#"{ submits = { during = { from = "0s", to = "1s" } } }"#, "{ nack = 3 }"),
        rule(r#"{ destination_prefix = "+4915" }"#, "{ reject = 0x45 }"),
        rule(r#"{ destination_suffix = "99", text_contains = "win" }"#, r#"{ stall = "30s" }"#),
        rule("{ submits = { per-mille = 5 } }", r#""cut-before-response""#),
        rule("{ submits = { nth = 7 } }", "{ bad-length = 9 }"),
    ];
    let expect = Script::new()
        .throttle(2)
        .ignore_every(3)
        .rule(SubmitFilter::burst(2, 10), SubmitAction::Reject(CommandStatus::MSGQFUL))
        .rule(SubmitFilter::during(Duration::ZERO, ms(1000)), SubmitAction::Nack(CommandStatus::INVCMDID))
        .reject_when(SubmitFilter::to("+4915"), CommandStatus::SUBMITFAIL)
        .rule(
            SubmitFilter { text_contains: Some("win".to_owned()), ..SubmitFilter::to_ending("99") },
            SubmitAction::Stall(ms(30_000)),
        )
        .rule(SubmitFilter::per_mille(5), SubmitAction::CutBeforeResponse)
        .bad_length_after(7, 9);
    check(&rules.concat(), expect);
}

#[test]
fn delays_quirks_and_limits_equal_those_built_by_methods() {
    let toml = r#"
            response_spread = "200ms"
            response_delay = { default = "5ms", rules = [{ when = { submits = { every = 5 } }, then = "61s" }] }
            response_quirks = { rules = [{ when = { submits = { first = 1 } }, then = "no-body" }], default = "unknown-tlv" }
            default_alphabet = "latin1"
            window_max = 10
            rate_max = 100
            ids = { response = "upper-hex", receipt = { zero-decimal = 20 }, prefix = "x-" }
        "#;
    let mut expect = Script::new()
        .responses_out_of_order(ms(200))
        .delay(ms(5))
        .delay_when(SubmitFilter::every(5), ms(61_000))
        .responses_without_id(1)
        .default_alphabet(CodingZeroAlphabet::Latin1)
        .window_max(10)
        .rate_max(100)
        .ids(IdFormat::each(IdStyle::UpperHex, IdStyle::ZeroDecimal(20)))
        .id_prefix("x-");
    expect.response_quirks.default = ResponseQuirk::UnknownTlv;
    check(toml, expect);
}

#[test]
fn bind_and_link_keys_equal_those_built_by_methods() {
    let toml = r#"
            credentials = { system_id = "a", password = "b" }
            reject_binds = { first = 2, status = 0x0d }
            binds_max = 2
            already_bound_for = "5s"
            write_mode = { coalesce = "20ms" }
            muted_links = "after-bind"
            hang_up = true
            cut_after_bytes = 99
            crash_loop = { binds = 8, submits = 5 }
            cut_links = { from = "1s", to = "30s" }
            down = { from = "1s", to = "3s" }
            answer_enquire_link = false
            answer_unbind = false
        "#;
    let expect = Script::new()
        .credentials("a", "b")
        .reject_binds(2, CommandStatus::BINDFAIL)
        .binds_max(2)
        .already_bound_for(ms(5000))
        .coalesce(ms(20))
        .mute_after_bind()
        .hang_up()
        .cut_after_bytes(99)
        .crash_loop(8, 5)
        .cut_links_after(ms(1000), ms(30_000))
        .down(ms(1000), ms(2000))
        .ignore_enquire_links()
        .ignore_unbinds();
    check(toml, expect);
    check(r#"muted_links = "all""#, Script::new().mute());
    check(r#"write_mode = "trickle""#, Script::new().trickle());
}

#[test]
fn receipt_keys_equal_those_built_by_methods() {
    let toml = r#"
            reply_number_for_names = "12345"
            replies.rules = [{ when = { destination_suffix = "8" }, then = { after = "1s", text = "Yes" } }]
            [receipts]
            default = { after = "500ms", outcome = "EXPIRED", before_response = true, copies = 2, via = "other-link" }
            [[receipts.rules]]
            when = { submits = { per-mille = 20 } }
            then = { outcome = "none", enroute_after = "1s", malformed_first = true, unknown_id = true, error_code = 7 }
            [receipt_format.default]
            template = "{id}/{stat}"
            stat = "GONE"
            err = "x9"
            dates = "seconds"
            text_place = "payload"
            tlvs = false
            unknown_tlv = true
            data_sm = true
            ucs2 = true
            unmarked = true
            long_service_type = true
        "#;
    let receipts = Receipts {
        before_response: true,
        copies: 2,
        ..Receipts::after(ms(500), Outcome::Expired).via(ReceiptLink::OtherLink)
    };
    let unusual = Receipts {
        enroute_after: Some(ms(1000)),
        malformed_first: true,
        unknown_id: true,
        error_code: 7,
        ..Receipts::never()
    };
    let format = ReceiptFormat::in_payload().template("{id}/{stat}").stat("GONE").err("x9");
    let format = format.dates(DateDigits::Seconds).with_unknown_tlv().by_data_sm().in_ucs2();
    let expect = Script::new()
        .reply_when(SubmitFilter::to_ending("8"), ms(1000), "Yes")
        .reply_number_for_names("12345")
        .receipts(receipts)
        .receipts_when(SubmitFilter::per_mille(20), unusual)
        .receipt_format(format.unmarked().with_long_service_type());
    check(toml, expect);
}

#[test]
fn mistakes_are_reported_with_line_and_valid_values() {
    for (toml, expect) in [
        ("\nthrotle = 5", &["line 2", "unknown field `throtle`", "`responses`"][..]),
        (
            "[[responses.rules]]\nthen = \"explode\"",
            &["line 2", "unknown variant `explode`", "`cut-before-response`"],
        ),
        ("[[responses.rules]]\nthen = { reject = 0 }", &["line 2", "0 is not an SMPP error status"]),
        (
            "[[responses.rules]]\nwhen = { submits = { every = 0 } }\nthen = \"ignore\"",
            &["line 2", "nonzero"],
        ),
        ("response_spread = 5", &["line 1", "expected a string"]),
        ("response_spread = \"5\"", &["line 1", "a number and ms, s, m or h"]),
        ("[receipts.default]\noutcome = \"LOST\"", &["line 2", "\"LOST\" is not an outcome", "DELIVRD"]),
        ("ids = { response = \"hex\" }", &["line 1", "missing field `receipt`"]),
    ] {
        let error = Script::from_toml(toml).expect_err(toml);
        for part in expect {
            assert!(error.contains(part), "{toml}: {error}");
        }
    }
}

#[test]
fn example_in_the_documentation_is_a_valid_script() {
    let page = include_str!("../../../../../docs/simulator.md");
    let (_, rest) = page.split_once("```toml\n").expect("the page has an example");
    let (example, _) = rest.split_once("```").expect("the example has an end");
    let script = Script::from_toml(example).expect("the example parses");
    assert!(script.responses.rules.len() >= 3 && !script.receipts.rules.is_empty());
}
