//! Flags beside the verbs that write the same script.

use std::time::Duration;

use clap::Parser;
use hermod_simulator::carrier::{
    Alphabet, DateDigits, IdFormat, IdStyle, Outcome, ReceiptFormat, ResponseQuirk,
};
use hermod_smpp::CommandStatus;

use super::*;

#[derive(Parser)]
struct SessionDriver {
    #[command(flatten)]
    flags: ScriptFlags,
}

#[track_caller]
fn check(flags: &str, expect: Script) {
    let line = SessionDriver::parse_from(std::iter::once("carrier").chain(flags.split_whitespace()));
    assert_eq!(line.flags.script(), expect, "{flags}");
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

#[test]
fn flags_about_answers_write_the_script_that_verbs_would() {
    check("", Script::new());
    check("--delay 5ms --throttle 2 --silent-every 3", {
        Script::new().delay(ms(5)).throttle(2).ignore_every(3)
    });
    check("--refuse 1 --status 0x08", Script::new().reject_first(1, CommandStatus::SYSERR));
    check("--refuse-to 4915", Script::new().reject_when(SubmitFilter::to("4915"), CommandStatus::SUBMITFAIL));
    check("--rate 100 --window 10", Script::new().rate_max(100).window_max(10));
    check(
        "--throttle-bursts 2/10 --throttle-for 1s",
        Script::new().throttle_bursts(2, 10).throttle_for(ms(1000)),
    );
    check("--queue-full 3 --refuse-for 1s --status 0x0401", {
        Script::new().queue_full(3).reject_for(ms(1000), CommandStatus(0x0401))
    });
    check(
        "--nack 1 --lose-answers 2",
        Script::new().nack_first(1, CommandStatus::INVCMDID).lose_responses(2),
    );
    check("--lose-answer-every 9", Script::new().rule(SubmitFilter::every(9), SubmitAction::LoseResponse));
    check("--late-every 5 --late-by 61s", Script::new().delay_when(SubmitFilter::every(5), ms(61_000)));
    check("--scatter 200ms", Script::new().responses_out_of_order(ms(200)));
    check(
        "--no-id 1 --oddly trailing-octets",
        Script::new().responses_without_id(1).trailing_octets_in_responses(),
    );
    check("--empty-id 2 --long-id 3", Script::new().responses_with_empty_id(2).responses_with_long_id(3));
    check("--oddly unknown-tlv", Script::new().unknown_tlvs_in_responses());
    check("--oddly body-on-error", Script::new().quirk(SubmitFilter::always(), ResponseQuirk::BodyOnError));
    check("--coding-zero latin1", Script::new().default_alphabet(Alphabet::Latin1));
    check("--chaos silence:5 --chaos refuse-0x08:10", {
        Script::new()
            .rule(SubmitFilter::per_mille(5), SubmitAction::Silence)
            .rule(SubmitFilter::per_mille(10), SubmitAction::Reject(CommandStatus::SYSERR))
    });
}

#[test]
fn flags_about_ids_write_the_script_that_verbs_would() {
    check("--ids upper-hex --receipt-ids decimal", Script::new().hex_ids_decimal_in_receipts());
    check("--ids zero-decimal --receipt-ids decimal", Script::new().zeros_stripped_in_receipts());
    check("--ids uuid --receipt-ids upper-uuid --id-prefix x-", {
        Script::new().uuid_ids_raised_in_receipts().id_prefix("x-")
    });
    check("--ids zero-hex", Script::new().ids(IdFormat::new(IdStyle::ZeroHex(20))));
}

#[test]
fn flags_about_links_write_the_script_that_verbs_would() {
    check(
        "--cut-before-answer 3 --unbind-after 9",
        Script::new().cut_before_response(3).unbind_after_response(9),
    );
    check("--cut-after-bytes 99 --trickle", Script::new().cut_after_bytes(99).trickle());
    check("--refuse-binds 2", Script::new().reject_binds(2, CommandStatus::BINDFAIL));
    check("--system-id a --password b", Script::new().credentials("a", "b"));
    check("--binds-max 2 --already-bound-for 5s", Script::new().binds_max(2).already_bound_for(ms(5000)));
    check("--crash-loop 8/5", Script::new().crash_loop(8, 5));
    check("--cut-links 1s..30s", Script::new().cut_links_after(ms(1000), ms(30_000)));
    check(
        "--unbind-before-answer 2 --ignore-unbinds",
        Script::new().unbind_before_response(2).ignore_unbinds(),
    );
    check("--bad-length-after 1 --bad-length 9", Script::new().bad_length_after(1, 9));
    check("--stall-after 7 --stall-for 1s", Script::new().stall_after(7, ms(1000)));
    check("--mute", Script::new().mute());
    check("--mute-after-bind --mute-after 4", Script::new().mute_after_bind().mute_after(4));
    check("--hang-up --down-after 1s --down-for 2s", Script::new().hang_up().down(ms(1000), ms(2000)));
}

#[test]
fn flags_about_receipts_write_the_script_that_verbs_would() {
    check("--receipt-first --outcome undeliv", Script::new().receipt_before_response(Outcome::Undeliverable));
    check(
        "--receipt-first --delay 2s",
        Script::new().receipt_ahead_of_response(ms(2000), Outcome::Delivered),
    );
    check("--receipt-twice --enroute-after 1s", Script::new().receipt_twice().enroute_after(ms(1000)));
    check("--no-receipts --ignore-enquire-links", Script::new().no_receipts().ignore_enquire_links());
    check("--receipts-elsewhere --malformed-receipts", {
        Script::new().receipts_on_other_link().malformed_before_receipts()
    });
    check("--receipts-after-reconnect", Script::new().receipts_after_reconnect());
    let wordings = [
        ("standard", ReceiptFormat::standard()),
        ("text-only", ReceiptFormat::text_only()),
        ("tlvs-only", ReceiptFormat::tlvs_only()),
        ("payload", ReceiptFormat::in_payload()),
        ("short", ReceiptFormat::short()),
        ("shortest", ReceiptFormat::shortest()),
        ("odd-labels", ReceiptFormat::odd_labels()),
        ("labels-and-commas", ReceiptFormat::labels_and_commas()),
        ("commas", ReceiptFormat::commas()),
    ];
    for (name, wording) in wordings {
        check(&format!("--receipt-wording {name}"), Script::new().receipt_format(wording));
    }
    check("--receipt-text {id}/{stat} --receipt-stat GONE --receipt-err x9 --receipt-dates 12", {
        let wording = ReceiptFormat::text("{id}/{stat}").stat("GONE").err("x9").dates(DateDigits::Seconds);
        Script::new().receipt_format(wording)
    });
    check("--receipt-ucs2 --receipt-long-service-type", {
        Script::new().receipt_format(ReceiptFormat::standard().in_ucs2().with_long_service_type())
    });
    check("--receipt-wording tlvs-only --receipt-data-sm --receipt-unmarked", {
        Script::new().receipt_format(ReceiptFormat::tlvs_only().by_data_sm().unmarked())
    });
    check("--receipt-data-sm --receipt-unknown-tlv", {
        Script::new().receipt_format(ReceiptFormat::standard().by_data_sm().with_unknown_tlv())
    });
}
