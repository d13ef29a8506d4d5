//! Script methods for binds and connections: which binds are rejected, and how links misbehave and end.

use std::time::Duration;

use hermod_smpp::CommandStatus;

use super::{
    BindCredentials, CrashLoop, MutedLinks, RejectedBinds, Script, SubmitAction, TimeRange, WriteMode,
};
use crate::carrier::submit_filter::SubmitFilter;

impl Script {
    /// Rejects the first `count` binds.
    #[must_use]
    pub fn reject_binds(mut self, count: u64, status: CommandStatus) -> Script {
        self.reject_binds = Some(RejectedBinds { first: count, status });
        self
    }

    /// Accepts only this system_id and password; other binds get 0x0E.
    #[must_use]
    pub fn credentials(mut self, system_id: &str, password: &str) -> Script {
        let (system_id, password) = (system_id.to_owned(), password.to_owned());
        self.credentials = Some(BindCredentials { system_id, password });
        self
    }

    /// Limits the binds of one system_id; further ones get 0x05.
    #[must_use]
    pub fn binds_max(mut self, links: usize) -> Script {
        self.binds_max = Some(links);
        self
    }

    /// Counts a link that was lost without an unbind as bound for this long: binds of its system_id get 0x05, or only
    /// those beyond `binds_max`.
    #[must_use]
    pub fn already_bound_for(mut self, time: Duration) -> Script {
        self.already_bound_for = Some(time);
        self
    }

    /// Accepts the `n`-th submit and cuts the connection before its response. Once.
    #[must_use]
    pub fn cut_before_response(self, n: u64) -> Script {
        self.rule(SubmitFilter::nth(n), SubmitAction::CutBeforeResponse)
    }

    /// Cuts the connection after the response to the `n`-th submit. Once.
    #[must_use]
    pub fn cut_after_response(self, n: u64) -> Script {
        self.rule(SubmitFilter::nth(n), SubmitAction::CutAfterResponse)
    }

    /// Cuts a link that was sent this many octets, also in the middle of a PDU. Once.
    #[must_use]
    pub fn cut_after_bytes(mut self, bytes: u64) -> Script {
        self.cut_after_bytes = Some(bytes);
        self
    }

    /// Cuts each of the first `binds` links at its submit number `submits`; no submit on them gets a response or an id.
    #[must_use]
    pub fn crash_loop(mut self, binds: u64, submits: u32) -> Script {
        self.crash_loop = Some(CrashLoop { binds, submits });
        self
    }

    /// Cuts every link at a random time after its bind, between `least` and `most`.
    #[must_use]
    pub fn cut_links_after(mut self, least: Duration, most: Duration) -> Script {
        self.cut_links = Some(TimeRange { from: least, to: most });
        self
    }

    /// Unbinds after the response to the `n`-th submit. Once.
    #[must_use]
    pub fn unbind_after_response(self, n: u64) -> Script {
        self.rule(SubmitFilter::nth(n), SubmitAction::Unbind)
    }

    /// Unbinds instead of responding to the `n`-th submit. Once.
    #[must_use]
    pub fn unbind_before_response(self, n: u64) -> Script {
        self.rule(SubmitFilter::nth(n), SubmitAction::UnbindBeforeResponse)
    }

    /// Sends no unbind_resp.
    #[must_use]
    pub fn ignore_unbinds(mut self) -> Script {
        self.answer_unbind = false;
        self
    }

    /// Sends octets that are not a PDU after the response to the `n`-th submit. Once.
    #[must_use]
    pub fn garbage_after_response(self, n: u64) -> Script {
        self.rule(SubmitFilter::nth(n), SubmitAction::Garbage)
    }

    /// Sends a PDU header with this command_length after the response to the `n`-th submit. Once.
    #[must_use]
    pub fn bad_length_after(self, n: u64, length: u32) -> Script {
        self.rule(SubmitFilter::nth(n), SubmitAction::BadLength(length))
    }

    /// Neither reads nor writes the link for this long after the response to its `n`-th submit. Once.
    #[must_use]
    pub fn stall_after(self, n: u64, time: Duration) -> Script {
        self.rule(SubmitFilter::nth(n), SubmitAction::Stall(time))
    }

    /// Leaves the link half open after the response to the `n`-th submit: read, but never written to. Once.
    #[must_use]
    pub fn mute_after(self, n: u64) -> Script {
        self.rule(SubmitFilter::nth(n), SubmitAction::Mute)
    }

    /// Leaves links half open once they are bound.
    #[must_use]
    pub fn mute_after_bind(mut self) -> Script {
        self.muted_links = MutedLinks::AfterBind;
        self
    }

    /// Writes nothing on any link while this script is in force, not even a bind response; input is read and dropped.
    #[must_use]
    pub fn mute(mut self) -> Script {
        self.muted_links = MutedLinks::All;
        self
    }

    /// Closes connections as soon as they are accepted. Unlike connections to a closed port they are in the record.
    #[must_use]
    pub fn hang_up(mut self) -> Script {
        self.hang_up = true;
        self
    }

    /// Cuts all links and closes the port `after` this time from the start of the script, for `lasting`.
    #[must_use]
    pub fn down(mut self, after: Duration, lasting: Duration) -> Script {
        self.down = Some(TimeRange { from: after, to: after + lasting });
        self
    }

    /// Writes one octet at a time.
    #[must_use]
    pub fn trickle(mut self) -> Script {
        self.write_mode = WriteMode::Trickle;
        self
    }

    /// Holds output back this long and writes it at once.
    #[must_use]
    pub fn coalesce(mut self, hold: Duration) -> Script {
        self.write_mode = WriteMode::Coalesce(hold);
        self
    }

    /// Sends no enquire_link_resp.
    #[must_use]
    pub fn ignore_enquire_links(mut self) -> Script {
        self.answer_enquire_link = false;
        self
    }
}
