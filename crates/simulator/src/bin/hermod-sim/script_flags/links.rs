//! Flags about links: how they are ended, and how badly they are held.

use std::time::Duration;

use clap::Args;
use hermod_simulator::carrier::{Script, SubmitAction, SubmitFilter};

use super::add_acts;
use crate::values;

#[derive(Args)]
#[command(next_help_heading = "Links")]
pub(super) struct LinkFlags {
    /// Cut the connection before the answer to the N-th message
    #[arg(long, value_name = "N")]
    cut_before_answer: Option<u64>,
    /// Cut the connection after the answer to the N-th message
    #[arg(long, value_name = "N")]
    cut_after: Option<u64>,
    /// Cut the connection after the answer to every K-th message
    #[arg(long, value_name = "K")]
    cut_every: Option<u64>,
    /// Cut a connection, once, after it was sent N octets
    #[arg(long, value_name = "N")]
    cut_after_bytes: Option<u64>,
    /// Cut every link some time after its bind, as in 1s..30s
    #[arg(long, value_name = "MIN..MAX", value_parser = values::durations)]
    cut_links: Option<(Duration, Duration)>,
    /// Crash on each of the first BINDS links at its SUBMITS-th message without having answered any, as in 8/5
    #[arg(long, value_name = "BINDS/SUBMITS", value_parser = values::binds_and_submits)]
    crash_loop: Option<(u64, u32)>,
    /// Unbind after the answer to the N-th message
    #[arg(long, value_name = "N")]
    unbind_after: Option<u64>,
    /// Unbind instead of answering the N-th message
    #[arg(long, value_name = "N")]
    unbind_before_answer: Option<u64>,
    /// Leave unbinds unanswered
    #[arg(long)]
    ignore_unbinds: bool,
    /// Send octets that are no PDU after the answer to the N-th message
    #[arg(long, value_name = "N")]
    garbage_after: Option<u64>,
    /// Send a PDU that claims --bad-length octets after the answer to the N-th message
    #[arg(long, value_name = "N")]
    bad_length_after: Option<u64>,
    /// What it claims
    #[arg(long, value_name = "OCTETS", default_value_t = 4)]
    bad_length: u32,
    /// Neither read nor write a link for --stall-for after the answer to the N-th message
    #[arg(long, value_name = "N")]
    stall_after: Option<u64>,
    /// How long that is
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = values::duration)]
    stall_for: Duration,
    /// Say nothing to anybody, not even to a bind
    #[arg(long)]
    mute: bool,
    /// Say nothing any more on a link after the answer to the N-th message
    #[arg(long, value_name = "N")]
    mute_after: Option<u64>,
    /// Say nothing any more on a link once it is bound
    #[arg(long, conflicts_with = "mute")]
    mute_after_bind: bool,
    /// Close connections as they come
    #[arg(long)]
    hang_up: bool,
    /// Cut all links and refuse connections from this time on, for --down-for
    #[arg(long, value_name = "TIME", value_parser = values::duration)]
    down_after: Option<Duration>,
    /// How long that is
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = values::duration)]
    down_for: Duration,
    /// Leave enquire_link unanswered
    #[arg(long)]
    ignore_enquire_links: bool,
    /// Write one octet at a time
    #[arg(long)]
    trickle: bool,
    /// Hold octets back this long and write them together
    #[arg(long, value_parser = values::duration, conflicts_with = "trickle")]
    coalesce: Option<Duration>,
}

impl LinkFlags {
    pub(super) fn write(&self, script: Script) -> Script {
        let script = add_acts(
            script,
            [
                (self.cut_before_answer.map(SubmitFilter::nth), SubmitAction::CutBeforeResponse),
                (self.cut_after.map(SubmitFilter::nth), SubmitAction::CutAfterResponse),
                (self.cut_every.map(SubmitFilter::every), SubmitAction::CutAfterResponse),
                (self.unbind_after.map(SubmitFilter::nth), SubmitAction::Unbind),
                (self.unbind_before_answer.map(SubmitFilter::nth), SubmitAction::UnbindBeforeResponse),
                (self.garbage_after.map(SubmitFilter::nth), SubmitAction::Garbage),
                (self.bad_length_after.map(SubmitFilter::nth), SubmitAction::BadLength(self.bad_length)),
                (self.stall_after.map(SubmitFilter::nth), SubmitAction::Stall(self.stall_for)),
                (self.mute_after.map(SubmitFilter::nth), SubmitAction::Mute),
            ],
        );
        self.write_wire(self.write_times(script))
    }

    fn write_times(&self, mut script: Script) -> Script {
        if let Some((least, most)) = self.cut_links {
            script = script.cut_links_after(least, most);
        }
        if let Some((binds, submits)) = self.crash_loop {
            script = script.crash_loop(binds, submits);
        }
        if let Some(after) = self.down_after {
            script = script.down(after, self.down_for);
        }
        if let Some(bytes) = self.cut_after_bytes {
            script = script.cut_after_bytes(bytes);
        }
        script
    }

    fn write_wire(&self, mut script: Script) -> Script {
        if self.ignore_enquire_links {
            script = script.ignore_enquire_links();
        }
        if self.ignore_unbinds {
            script = script.ignore_unbinds();
        }
        if self.mute {
            script = script.mute();
        }
        if self.mute_after_bind {
            script = script.mute_after_bind();
        }
        if self.hang_up {
            script = script.hang_up();
        }
        if self.trickle {
            script = script.trickle();
        }
        if let Some(hold) = self.coalesce {
            script = script.coalesce(hold);
        }
        script
    }
}
