//! Flags beside the verbs that write the same script.

use std::time::Duration;

use clap::Parser;
use hermod_simulator::carrier::{Alphabet, Dates, IdFormat, IdStyle, Manner, Outcome, Wording};
use hermod_smpp::CommandStatus;

use super::*;

#[derive(Parser)]
struct Line {
    #[command(flatten)]
    flags: ScriptFlags,
}

#[track_caller]
fn check(flags: &str, expect: Script) {
    let line = Line::parse_from(std::iter::once("carrier").chain(flags.split_whitespace()));
    assert_eq!(line.flags.script(), expect, "{flags}");
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

#[test]
fn flags_about_answers_write_the_script_that_verbs_would() {
    check("", Script::new());
    check("--delay 5ms --throttle 2 --silent-every 3", {
        Script::new().delay(ms(5)).throttle(2).silent_every(3)
    });
    check("--refuse 1 --status 0x08", Script::new().refuse_first(1, CommandStatus::SYSERR));
    check("--refuse-to 4915", Script::new().refuse_when(When::to("4915"), CommandStatus::SUBMITFAIL));
    check("--rate 100 --window 10", Script::new().per_second_max(100).window_max(10));
    check(
        "--throttle-bursts 2/10 --throttle-for 1s",
        Script::new().throttle_bursts(2, 10).throttle_for(ms(1000)),
    );
    check("--queue-full 3 --refuse-for 1s --status 0x0401", {
        Script::new().queue_full(3).refuse_for(ms(1000), CommandStatus(0x0401))
    });
    check("--nack 1 --lose-answers 2", Script::new().nack_first(1, CommandStatus::INVCMDID).lose_answers(2));
    check("--lose-answer-every 9", Script::new().act(When::every(9), Act::LoseAnswer));
    check("--late-every 5 --late-by 61s", Script::new().delay_when(When::every(5), ms(61_000)));
    check("--scatter 200ms", Script::new().answers_out_of_order(ms(200)));
    check(
        "--no-id 1 --oddly trailing-octets",
        Script::new().answers_without_id(1).trailing_octets_in_answers(),
    );
    check("--empty-id 2 --long-id 3", Script::new().answers_with_empty_id(2).answers_with_long_id(3));
    check("--oddly unknown-tlv", Script::new().unknown_tlvs_in_answers());
    check("--oddly body-on-error", Script::new().manner(When::always(), Manner::BodyOnError));
    check("--coding-zero latin1", Script::new().coding_zero_is(Alphabet::Latin1));
    check("--chaos silence:5 --chaos refuse-0x08:10", {
        Script::new()
            .act(When::per_mille(5), Act::Silence)
            .act(When::per_mille(10), Act::Refuse(CommandStatus::SYSERR))
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
    check("--cut-before-answer 3 --unbind-after 9", Script::new().cut_before_answer(3).unbind_after(9));
    check("--cut-after-bytes 99 --trickle", Script::new().cut_after_bytes(99).trickle());
    check("--refuse-binds 2", Script::new().refuse_binds(2, CommandStatus::BINDFAIL));
    check("--system-id a --password b", Script::new().credentials("a", "b"));
    check("--binds-max 2 --already-bound-for 5s", Script::new().binds_max(2).already_bound_for(ms(5000)));
    check("--crash-loop 8/5", Script::new().crash_loop(8, 5));
    check("--cut-links 1s..30s", Script::new().cut_links_after(ms(1000), ms(30_000)));
    check(
        "--unbind-before-answer 2 --ignore-unbinds",
        Script::new().unbind_before_answer(2).ignore_unbinds(),
    );
    check("--bad-length-after 1 --bad-length 9", Script::new().bad_length_after(1, 9));
    check("--stall-after 7 --stall-for 1s", Script::new().stall_after(7, ms(1000)));
    check("--mute", Script::new().mute());
    check("--mute-after-bind --mute-after 4", Script::new().mute_after_bind().mute_after(4));
    check("--hang-up --down-after 1s --down-for 2s", Script::new().hang_up().down(ms(1000), ms(2000)));
}

#[test]
fn flags_about_receipts_write_the_script_that_verbs_would() {
    check("--receipt-first --outcome undeliv", Script::new().receipt_first(Outcome::Undeliverable));
    check("--receipt-first --delay 2s", Script::new().receipt_ahead(ms(2000), Outcome::Delivered));
    check("--receipt-twice --enroute-after 1s", Script::new().receipt_twice().enroute_after(ms(1000)));
    check("--no-receipts --ignore-enquire-links", Script::new().receipt_never().ignore_enquire_links());
    check("--receipts-elsewhere --malformed-receipts", {
        Script::new().receipts_elsewhere().malformed_before_receipts()
    });
    check("--receipts-after-reconnect", Script::new().receipts_after_reconnect());
    let wordings = [
        ("standard", Wording::standard()),
        ("text-only", Wording::text_only()),
        ("tlvs-only", Wording::tlvs_only()),
        ("payload", Wording::in_payload()),
        ("short", Wording::short()),
        ("shortest", Wording::shortest()),
        ("odd-labels", Wording::odd_labels()),
        ("labels-and-commas", Wording::labels_and_commas()),
        ("commas", Wording::commas()),
    ];
    for (name, wording) in wordings {
        check(&format!("--receipt-wording {name}"), Script::new().receipts_worded(wording));
    }
    check("--receipt-text {id}/{stat} --receipt-stat GONE --receipt-err x9 --receipt-dates 12", {
        let wording = Wording::text("{id}/{stat}").stat("GONE").err("x9").dates(Dates::Seconds);
        Script::new().receipts_worded(wording)
    });
    check("--receipt-ucs2 --receipt-long-service-type", {
        Script::new().receipts_worded(Wording::standard().in_ucs2().with_long_service_type())
    });
    check("--receipt-wording tlvs-only --receipt-data-sm --receipt-unmarked", {
        Script::new().receipts_worded(Wording::tlvs_only().by_data_sm().unmarked())
    });
    check("--receipt-data-sm --receipt-unknown-tlv", {
        Script::new().receipts_worded(Wording::standard().by_data_sm().with_unknown_tlv())
    });
}
