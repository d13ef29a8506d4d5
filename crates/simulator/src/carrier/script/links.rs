//! Verbs about binds and links: who is let in, and how connections are held badly and ended.

use std::time::Duration;

use hermod_smpp::CommandStatus;

use super::{Act, Script, Voice, Wire};
use crate::carrier::when::When;

impl Script {
    /// The first `count` binds are refused.
    #[must_use]
    pub fn refuse_binds(mut self, count: u64, status: CommandStatus) -> Script {
        self.refuse_binds = Some((count, status));
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
    pub fn cut_before_answer(self, n: u64) -> Script {
        self.act(When::nth(n), Act::CutBeforeAnswer)
    }

    /// The connection is cut after the answer to the `n`-th submit. Once.
    #[must_use]
    pub fn cut_after(self, n: u64) -> Script {
        self.act(When::nth(n), Act::CutAfterAnswer)
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
    pub fn unbind_after(self, n: u64) -> Script {
        self.act(When::nth(n), Act::Unbind)
    }

    /// The carrier unbinds instead of answering the `n`-th submit. Once.
    #[must_use]
    pub fn unbind_before_answer(self, n: u64) -> Script {
        self.act(When::nth(n), Act::UnbindBeforeAnswer)
    }

    /// Unbinds get no unbind_resp.
    #[must_use]
    pub fn ignore_unbinds(mut self) -> Script {
        self.answer_unbinds = false;
        self
    }

    /// Octets that are no PDU follow the answer to the `n`-th submit. Once.
    #[must_use]
    pub fn garbage_after(self, n: u64) -> Script {
        self.act(When::nth(n), Act::Garbage)
    }

    /// A PDU that claims this length follows the answer to the `n`-th submit. Once.
    #[must_use]
    pub fn bad_length_after(self, n: u64, length: u32) -> Script {
        self.act(When::nth(n), Act::BadLength(length))
    }

    /// After the answer to the `n`-th submit its link is neither read nor written for so long. Once.
    #[must_use]
    pub fn stall_after(self, n: u64, time: Duration) -> Script {
        self.act(When::nth(n), Act::Stall(time))
    }

    /// After the answer to the `n`-th submit its link is half open: read, but never spoken to again. Once.
    #[must_use]
    pub fn mute_after(self, n: u64) -> Script {
        self.act(When::nth(n), Act::Mute)
    }

    /// Links that bind are half open from then on.
    #[must_use]
    pub fn mute_after_bind(mut self) -> Script {
        self.voice = Voice::MuteAfterBind;
        self
    }

    /// As long as this script plays nobody gets a word, not even a bind; what comes is read and forgotten.
    #[must_use]
    pub fn mute(mut self) -> Script {
        self.voice = Voice::Mute;
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
        self.wire = Wire::Trickle;
        self
    }

    #[must_use]
    pub fn coalesce(mut self, hold: Duration) -> Script {
        self.wire = Wire::Coalesce(hold);
        self
    }

    /// Dead, but the connection stays open: enquire_link gets no answer.
    #[must_use]
    pub fn ignore_enquire_links(mut self) -> Script {
        self.answer_enquire_links = false;
        self
    }
}
