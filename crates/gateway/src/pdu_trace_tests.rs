//! Unit tests of `pdu_trace.rs`.

use super::*;
use hermod_domain::time::Timestamp;
use hermod_smpp::Moment;
use hermod_smpp::session::ServerConfig;
use std::time::Duration;

/// A header alone, with sequence number 9.
const ENQUIRE_LINK: &[u8] = b"\0\0\0\x10\0\0\0\x15\0\0\0\0\0\0\0\x09";

#[test]
fn output_that_waits_is_written_once() {
    let clock = Clock::manual(Timestamp::from_millis(1_790_000_000_000));
    let trace = Arc::new(Trace::default());
    let mut pdu_trace = PduTrace::new(trace.clone(), 7, ReceiptDialect::Standard);
    let mut session: Session<u32> = Session::server(ServerConfig::standard(), Moment(0));
    trace.enable(clock.now().plus(Duration::from_secs(60)));
    pdu_trace.begin(&mut session);
    session.output().extend_from_slice(ENQUIRE_LINK);
    pdu_trace.note_after(0, &mut session, &clock);
    // A part of the first PDU is written to the socket; then there is more output.
    let _ = session.output().split_to(10);
    let traced = session.output().len();
    session.output().extend_from_slice(ENQUIRE_LINK);
    pdu_trace.begin(&mut session);
    pdu_trace.note_after(traced, &mut session, &clock);
    let lines: Vec<String> = trace.read(0).into_iter().map(|line| line.line).collect();
    assert_eq!(lines, ["enquire_link seq=9", "enquire_link seq=9"]);
}
