//! Verbs about binds and links: who is let in, and how connections are held badly and ended.

use std::time::Duration;

use hermod_smpp::CommandStatus;

use super::{Script, Silence, SubmitAction, WriteMode};
use crate::carrier::submit_filter::SubmitFilter;

impl Script {
    /// The first `count` binds are refused.
    #[must_use]
    pub fn reject_binds(mut self, count: u64, status: CommandStatus) -> Script {
        self.reject_binds = Some((count, status));
        self
    }

    /// Only this system_id and password may bind; others get 0x0E.
    #[must_use]
    pub fn credentials(mut self, system_id: &str, password: &str) -> Script {
        self.credentials = Some((system_id.to_owned(), password.to_owned()));
        self
    }

    /// One system_id may be bound this many times; further binds get 0x05.
    #[must_use]
    pub fn binds_max(mut self, links: usize) -> Script {
        self.binds_max = Some((links, CommandStatus::ALYBND));
        self
    }

    /// A link that was lost without an unbind counts as bound for so long: binds of its system_id get 0x05, or only
    /// those beyond `binds_max`.
    #[must_use]
    pub fn already_bound_for(mut self, time: Duration) -> Script {
        self.already_bound_for = Some(time);
        self
    }

    /// The `n`-th submit is taken and the connection cut before its answer. Once.
    #[must_use]
    pub fn cut_before_response(self, n: u64) -> Script {
        self.rule(SubmitFilter::nth(n), SubmitAction::CutBeforeResponse)
    }

    /// The connection is cut after the answer to the `n`-th submit. Once.
    #[must_use]
    pub fn cut_after_response(self, n: u64) -> Script {
        self.rule(SubmitFilter::nth(n), SubmitAction::CutAfterResponse)
    }

    /// A link that has been sent this many octets is cut, be it in the middle of a PDU. Once.
    #[must_use]
    pub fn cut_after_bytes(mut self, bytes: u64) -> Script {
        self.cut_after_bytes = Some(bytes);
        self
    }

    /// Each of the first `binds` links answers no submit, forgets them all, and crashes at its `submits`-th.
    #[must_use]
    pub fn crash_loop(mut self, binds: u64, submits: u32) -> Script {
        self.crash_loop = Some((binds, submits));
        self
    }

    /// Every link that binds is cut some time later: between these two, by the carrier's seed.
    #[must_use]
    pub fn cut_links_after(mut self, least: Duration, most: Duration) -> Script {
        self.cut_links = Some((least, most));
        self
    }

    /// The carrier unbinds after the answer to the `n`-th submit. Once.
    #[must_use]
    pub fn unbind_after_response(self, n: u64) -> Script {
        self.rule(SubmitFilter::nth(n), SubmitAction::Unbind)
    }

    /// The carrier unbinds instead of answering the `n`-th submit. Once.
    #[must_use]
    pub fn unbind_before_response(self, n: u64) -> Script {
        self.rule(SubmitFilter::nth(n), SubmitAction::UnbindBeforeResponse)
    }

    /// Unbinds get no unbind_resp.
    #[must_use]
    pub fn ignore_unbinds(mut self) -> Script {
        self.answer_unbinds = false;
        self
    }

    /// ByteStream that are no PDU follow the answer to the `n`-th submit. Once.
    #[must_use]
    pub fn garbage_after_response(self, n: u64) -> Script {
        self.rule(SubmitFilter::nth(n), SubmitAction::Garbage)
    }

    /// A PDU that claims this length follows the answer to the `n`-th submit. Once.
    #[must_use]
    pub fn bad_length_after(self, n: u64, length: u32) -> Script {
        self.rule(SubmitFilter::nth(n), SubmitAction::BadLength(length))
    }

    /// After the answer to the `n`-th submit its link is neither read nor written for so long. Once.
    #[must_use]
    pub fn stall_after(self, n: u64, time: Duration) -> Script {
        self.rule(SubmitFilter::nth(n), SubmitAction::Stall(time))
    }

    /// After the answer to the `n`-th submit its link is half open: read, but never spoken to again. Once.
    #[must_use]
    pub fn mute_after(self, n: u64) -> Script {
        self.rule(SubmitFilter::nth(n), SubmitAction::Mute)
    }

    /// Links that bind are half open from then on.
    #[must_use]
    pub fn mute_after_bind(mut self) -> Script {
        self.voice = Silence::MuteAfterBind;
        self
    }

    /// As long as this script plays nobody gets a word, not even a bind; what comes is read and forgotten.
    #[must_use]
    pub fn mute(mut self) -> Script {
        self.voice = Silence::Mute;
        self
    }

    /// Connections are closed as they come. Unlike those to a closed door they stand in the record.
    #[must_use]
    pub fn hang_up(mut self) -> Script {
        self.hang_up = true;
        self
    }

    /// This long after the script began all links are cut and connections refused, for so much time.
    #[must_use]
    pub fn down(mut self, after: Duration, lasting: Duration) -> Script {
        self.down = Some((after, after + lasting));
        self
    }

    #[must_use]
    pub fn trickle(mut self) -> Script {
        self.write_mode = WriteMode::Trickle;
        self
    }

    #[must_use]
    pub fn coalesce(mut self, hold: Duration) -> Script {
        self.write_mode = WriteMode::Coalesce(hold);
        self
    }

    /// Dead, but the connection stays open: enquire_link gets no answer.
    #[must_use]
    pub fn ignore_enquire_links(mut self) -> Script {
        self.answer_enquire_links = false;
        self
    }
}
