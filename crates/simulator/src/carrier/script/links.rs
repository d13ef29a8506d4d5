//! Script methods for binds and connections: which binds are rejected, and how links misbehave and end.

use std::time::Duration;

use hermod_smpp::CommandStatus;

use super::{
    BindCredentials, CrashLoop, MutedLinks, RejectedBinds, Script, SubmitAction, TimeRange, UnlessOff,
    WriteMode,
};
use crate::carrier::submit_filter::SubmitFilter;

builders! { Script
    /// Rejects the first `count` binds.
    reject_binds(count: u64, status: CommandStatus) = set reject_binds(Some(RejectedBinds { first: count, status }));
    /// Accepts only this system_id and password; other binds get 0x0E.
    credentials(system_id: &str, password: &str) =
        set credentials(Some(BindCredentials { system_id: system_id.to_owned(), password: password.to_owned() }));
    /// Limits the binds of one system_id; further ones get 0x05.
    binds_max(links: usize) = set binds_max(Some(links));
    /// Counts a link that was lost without an unbind as bound for this long: binds of its system_id get 0x05, or only
    /// those beyond `binds_max`.
    already_bound_for(time: Duration) = set already_bound_for(Some(time));
    /// Accepts the `n`-th submit and cuts the connection before its response. Once.
    cut_before_response(n: u64) = call rule(SubmitFilter::nth(n), SubmitAction::CutBeforeResponse);
    /// Cuts the connection after the response to the `n`-th submit. Once.
    cut_after_response(n: u64) = call rule(SubmitFilter::nth(n), SubmitAction::CutAfterResponse);
    /// Cuts a link that was sent this many octets, also in the middle of a PDU. Once.
    cut_after_bytes(bytes: u64) = set cut_after_bytes(Some(bytes));
    /// Cuts each of the first `binds` links at its submit number `submits`; no submit on them gets a response or an id.
    crash_loop(binds: u64, submits: u32) = set crash_loop(Some(CrashLoop { binds, submits }));
    /// Cuts every link at a random time after its bind, between `least` and `most`.
    cut_links_after(least: Duration, most: Duration) = set cut_links(Some(TimeRange { from: least, to: most }));
    /// Unbinds after the response to the `n`-th submit. Once.
    unbind_after_response(n: u64) = call rule(SubmitFilter::nth(n), SubmitAction::Unbind);
    /// Unbinds instead of responding to the `n`-th submit. Once.
    unbind_before_response(n: u64) = call rule(SubmitFilter::nth(n), SubmitAction::UnbindBeforeResponse);
    /// Sends no unbind_resp.
    ignore_unbinds() = set answer_unbind(UnlessOff(false));
    /// Sends octets that are not a PDU after the response to the `n`-th submit. Once.
    garbage_after_response(n: u64) = call rule(SubmitFilter::nth(n), SubmitAction::Garbage);
    /// Sends a PDU header with this command_length after the response to the `n`-th submit. Once.
    bad_length_after(n: u64, length: u32) = call rule(SubmitFilter::nth(n), SubmitAction::BadLength(length));
    /// Neither reads nor writes the link for this long after the response to its `n`-th submit. Once.
    stall_after(n: u64, time: Duration) = call rule(SubmitFilter::nth(n), SubmitAction::Stall(time));
    /// Leaves the link half open after the response to the `n`-th submit: read, but never written to. Once.
    mute_after(n: u64) = call rule(SubmitFilter::nth(n), SubmitAction::Mute);
    /// Leaves links half open once they are bound.
    mute_after_bind() = set muted_links(MutedLinks::AfterBind);
    /// Writes nothing on any link while this script is in force, not even a bind response; input is read and dropped.
    mute() = set muted_links(MutedLinks::All);
    /// Closes connections as soon as they are accepted. Unlike connections to a closed port they are in the record.
    hang_up() = set hang_up(true);
    /// Cuts all links and closes the port `after` this time from the start of the script, for `lasting`.
    down(after: Duration, lasting: Duration) = set down(Some(TimeRange { from: after, to: after + lasting }));
    /// Writes one octet at a time.
    trickle() = set write_mode(WriteMode::Trickle);
    /// Holds output back this long and writes it at once.
    coalesce(hold: Duration) = set write_mode(WriteMode::Coalesce(hold));
    /// Sends no enquire_link_resp.
    ignore_enquire_links() = set answer_enquire_link(UnlessOff(false));
}
