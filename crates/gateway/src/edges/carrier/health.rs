//! How a carrier is doing, judged by its links and by what it did lately. Decisions only; whoever asks acts on them.

use crate::board::{Recent, Traffic};
use hermod_domain::carrier::{ErrorClass, Health};

/// Answers of a minute from which a share says something.
const ANSWERS_MIN: u64 = 20;
/// More failures of a minute's answers than this, in per mille, and it does poorly.
const FAILED_PER_MILLE_MAX: u64 = 500;
/// Accepted parts of ten minutes from which their receipts say something.
const RECEIPTED_MIN: u64 = 100;
/// Fewer receipts than this, in per mille of the accepted parts, and it does poorly, if it usually sends twice as many.
const RECEIPTED_PER_MILLE_MIN: u64 = 300;
const USUALLY_PER_MILLE_MIN: u64 = 600;
/// More refusals of a minute's answers than this, in per mille, that say we are wrong, and nothing more is sent.
const WRONG_PER_MILLE_MAX: u64 = 50;
/// How many receipts of five minutes may match nothing, in per mille. That says something from this many receipts on, ...
const UNMATCHED_PER_MILLE_MAX: u64 = 10;
const RECEIPTS_MIN: u64 = 100;
/// ... or from this many that match nothing: a carrier with little traffic is told of, too.
const UNMATCHED_MIN: u64 = 5;

/// What is known about a carrier.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    pub(super) stopped: bool,
    pub(super) sending_links_bound: usize,
    /// It throttles all links, and messages have waited long for it.
    pub(super) slow: bool,
    pub(super) recent: Recent,
}

/// For a carrier that is not disabled.
pub(super) fn health_of(seen: &Seen) -> Health {
    if seen.stopped {
        Health::Stopped
    } else if seen.sending_links_bound == 0 {
        Health::Down
    } else if seen.slow || fails_often(&seen.recent.minute) || loses_receipts(&seen.recent) {
        Health::Poor
    } else {
        Health::Up
    }
}

/// It puts off, leaves unanswered or refuses without a reason that we know most of what it gets.
fn fails_often(minute: &Traffic) -> bool {
    minute.answered() + minute.timed_out >= ANSWERS_MIN
        && minute.failed_per_mille().is_some_and(|failed| failed > FAILED_PER_MILLE_MAX)
}

/// It takes parts and tells nothing of them, although it used to. One that never does is as it is.
fn loses_receipts(recent: &Recent) -> bool {
    let Recent { ten_minutes, before, .. } = recent;
    ten_minutes.accepted >= RECEIPTED_MIN
        && ten_minutes.receipted_per_mille().is_some_and(|now| now < RECEIPTED_PER_MILLE_MIN)
        && before.accepted >= RECEIPTED_MIN
        && before.receipted_per_mille().is_some_and(|usual| usual >= USUALLY_PER_MILLE_MIN)
}

/// It says too often that we are wrong: going on would make more messages undeliverable than stopping.
pub(super) fn must_stop(minute: &Traffic) -> bool {
    let wrong = minute.refused_as(ErrorClass::ProtocolError);
    minute.answered() >= ANSWERS_MIN && wrong * 1000 > minute.answered() * WRONG_PER_MILLE_MAX
}

/// Too many receipts match nothing: its ids are probably read in the wrong way.
pub(super) fn ids_do_not_match(receipts: u64, unmatched: u64) -> bool {
    let enough = receipts >= RECEIPTS_MIN || unmatched >= UNMATCHED_MIN;
    enough && unmatched * 1000 > receipts * UNMATCHED_PER_MILLE_MAX
}

/// How a carrier stands at one look.
#[derive(Clone, Copy, Debug)]
pub(super) struct At {
    pub(super) stopped: bool,
    /// A link that sends is bound.
    pub(super) bound: bool,
    /// Messages wait for a slot.
    pub(super) messages_wait: bool,
    /// A part was answered since the last look.
    pub(super) answers: bool,
}

/// Whether a carrier works: it is bound, and it answers while messages wait for it. One that binds and drops the link at
/// once does not work. That one was stopped is another alarm.
pub(super) fn works(at: At) -> bool {
    at.stopped || at.bound && (at.answers || !at.messages_wait)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn traffic(accepted: u64, refused: &[(ErrorClass, u64)], timed_out: u64, receipts: u64) -> Traffic {
        let mut traffic = Traffic { accepted, timed_out, receipts, ..Traffic::default() };
        for (place, class) in ErrorClass::ALL.into_iter().enumerate() {
            traffic.refused[place] =
                refused.iter().filter(|(of, _)| *of == class).map(|(_, count)| count).sum();
        }
        traffic
    }

    #[track_caller]
    fn check(stopped: bool, sending_links_bound: usize, recent: Recent, expect: Health) {
        let seen = Seen { stopped, sending_links_bound, slow: false, recent };
        assert_eq!(health_of(&seen), expect, "{recent:?}");
    }

    #[test]
    fn carrier_that_throttles_while_messages_wait_does_poorly() {
        for (stopped, sending_links_bound, expect) in
            [(false, 1, Health::Poor), (false, 0, Health::Down), (true, 1, Health::Stopped)]
        {
            let seen = Seen { stopped, sending_links_bound, slow: true, recent: Recent::default() };
            assert_eq!(health_of(&seen), expect);
        }
    }

    #[test]
    fn links_and_the_operator_come_first() {
        check(false, 0, Recent::default(), Health::Down);
        check(false, 1, Recent::default(), Health::Up);
        check(true, 1, Recent::default(), Health::Stopped);
        check(true, 0, Recent::default(), Health::Stopped);
    }

    #[test]
    fn a_carrier_that_fails_at_more_than_half_of_a_minute_does_poorly() {
        use ErrorClass::{RejectedRoute, Temporary, Throttled, Unknown};
        for (minute, expect) in [
            (traffic(0, &[(Temporary, 19)], 0, 0), Health::Up),
            (traffic(0, &[(Temporary, 20)], 0, 0), Health::Poor),
            (traffic(10, &[(Temporary, 10)], 0, 0), Health::Up),
            (traffic(10, &[(Temporary, 6), (Unknown, 5)], 0, 0), Health::Poor),
            (traffic(10, &[], 11, 0), Health::Poor),
            (traffic(0, &[(RejectedRoute, 100)], 0, 0), Health::Up),
            (traffic(0, &[(Throttled, 100)], 0, 0), Health::Up),
        ] {
            check(false, 2, Recent { minute, ..Recent::default() }, expect);
        }
    }

    #[test]
    fn a_carrier_whose_receipts_stay_away_does_poorly_if_they_used_to_come() {
        for (ten_minutes, before, expect) in [
            ((100, 29), (1000, 990), Health::Poor),
            ((100, 30), (1000, 990), Health::Up),
            ((99, 0), (1000, 990), Health::Up),
            ((100, 0), (1000, 100), Health::Up),
            ((100, 0), (99, 99), Health::Up),
            ((100, 0), (1000, 600), Health::Poor),
        ] {
            let of = |(accepted, receipts)| traffic(accepted, &[], 0, receipts);
            let recent = Recent { ten_minutes: of(ten_minutes), before: of(before), ..Recent::default() };
            check(false, 1, recent, expect);
        }
    }

    #[test]
    fn one_in_twenty_that_we_got_wrong_is_too_many() {
        use ErrorClass::ProtocolError;
        for (accepted, wrong, expect) in
            [(0, 19, false), (0, 20, true), (19, 1, false), (18, 2, true), (950, 50, false), (949, 51, true)]
        {
            assert_eq!(
                must_stop(&traffic(accepted, &[(ProtocolError, wrong)], 0, 0)),
                expect,
                "{wrong} of {accepted}"
            );
        }
    }

    #[test]
    fn few_receipts_are_judged_by_share_too_once_five_match_nothing() {
        for (receipts, unmatched, expect) in [
            (4, 4, false),
            (5, 5, true),
            (18, 18, true),
            (18, 5, true),
            (99, 4, false),
            (99, 5, true),
            (0, 0, false),
        ] {
            assert_eq!(ids_do_not_match(receipts, unmatched), expect, "{unmatched} of {receipts}");
        }
    }

    #[test]
    fn carrier_works_if_it_is_bound_and_answers_while_messages_wait() {
        for (stopped, bound, messages_wait, answers, expect) in [
            (false, true, false, false, true),
            (false, true, true, true, true),
            (false, true, true, false, false),
            (false, false, false, false, false),
            (false, false, true, true, false),
            (true, false, true, false, true),
        ] {
            let at = At { stopped, bound, messages_wait, answers };
            assert_eq!(works(at), expect, "{at:?}");
        }
    }

    #[test]
    fn more_than_one_receipt_in_a_hundred_that_matches_nothing_is_too_many() {
        for (receipts, unmatched, expect) in
            [(100, 1, false), (100, 2, true), (1000, 10, false), (1000, 11, true), (500, 5, false)]
        {
            assert_eq!(ids_do_not_match(receipts, unmatched), expect, "{unmatched} of {receipts}");
        }
    }
}
