//! Replays synthetic traces against the controls that the documentation recommends: pumping is stopped, and ordinary
//! traffic is not.

use super::*;

const ACME: AccountId = AccountId::new(1);
/// Messages of a trace.
const PUMPED: u64 = 10_000;
const ORDINARY: u64 = 100_000;
/// Messages of a pumping trace that may pass before the controls must stop it.
const STOPPED_AFTER: u64 = 100;

/// The controls of docs/security.md, for a customer in Germany.
fn recommended() -> Vec<Control> {
    let except = vec![Country::parse("DE").unwrap()];
    vec![
        Control::new(
            "one-recipient",
            Mode::Enforce,
            TrafficRule::PerRecipient { most: 20, per_ms: 3_600_000 },
        ),
        Control::new("one-range", Mode::Enforce, TrafficRule::PerRange { most: 30, per_ms: 3_600_000 }),
        Control::new(
            "abroad",
            Mode::Enforce,
            TrafficRule::PerCountry { most: 50, per_ms: 3_600_000, except },
        ),
    ]
}

/// A small generator, so that the traces are the same every time.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

fn to(prefix: &str, digits: usize, subscriber: u64) -> Msisdn {
    Msisdn::parse(&format!("+{prefix}{subscriber:0digits$}")).unwrap()
}

/// Counts a message, unless a control refuses it. Returns whether it is admitted.
fn admit(velocity: &mut Velocity, controls: &[Control], to: Msisdn, now: Timestamp) -> bool {
    let limits = velocity_limits(ACME, controls, to);
    let is_admitted = velocity.refusal(&limits, now).is_none();
    if is_admitted {
        velocity.count(&limits, now, |_| {});
    }
    is_admitted
}

/// Sends ten messages a second. Returns how many were refused among the first hundred, and among those after them.
fn refused(trace: impl Iterator<Item = Msisdn>) -> (u64, u64) {
    let (mut velocity, controls) = (Velocity::default(), recommended());
    let (mut early, mut late) = (0, 0);
    for (n, to) in (0..).zip(trace) {
        let now = Timestamp::from_millis(1_750_000_000_000 + n * 100);
        let refused = u64::from(!admit(&mut velocity, &controls, to, now));
        if n < i64::try_from(STOPPED_AFTER).unwrap() { early += refused } else { late += refused }
    }
    (early, late)
}

#[track_caller]
fn assert_stopped(kind: &str, trace: impl Iterator<Item = Msisdn>) {
    let (_, late) = refused(trace);
    let share = late * 1_000 / (PUMPED - STOPPED_AFTER);
    assert!(share >= 950, "{kind}: {share} per mille were stopped after the first {STOPPED_AFTER}");
}

#[test]
fn pumping_is_stopped_within_a_hundred_messages() {
    let mut chance = Random(7);
    // A block of domestic numbers, in order, repeatedly.
    assert_stopped("sequential", (0..PUMPED).map(|n| to("4915", 9, 123_450_000 + n % 3_000)));
    // The same block in random order.
    assert_stopped(
        "random in a block",
        (0..PUMPED).map(|_| to("4915", 9, 123_450_000 + chance.below(10_000))),
    );
    // Numbers across an expensive country, one of every block.
    assert_stopped("over a country", (0..PUMPED).map(|_| to("99450", 7, chance.below(10_000_000))));
    assert_stopped("one of each block", (0..PUMPED).map(|n| to("99450", 7, n * 10_007 % 10_000_000)));
    // One number, repeatedly.
    assert_stopped("one number", (0..PUMPED).map(|_| to("4915", 9, 123_456_789)));
}

#[test]
fn ordinary_traffic_passes() {
    // A shop's customers in its own country, and one in a hundred in one of thirty others.
    let abroad = ["43660", "41760", "33612", "39320", "34612", "44770", "48510", "31612", "32470", "45201"];
    let mut chance = Random(7);
    let trace = (0..ORDINARY).map(|n| match n % 100 {
        0 => {
            let prefix = abroad[usize::try_from(chance.below(10)).unwrap()];
            to(prefix, 11 - prefix.len(), chance.below(10_u64.pow(u32::try_from(11 - prefix.len()).unwrap())))
        }
        _ => to("4915", 9, chance.below(1_000_000_000)),
    });
    let (early, late) = refused(trace);
    assert!((early + late) * 1_000 <= ORDINARY, "{} of {ORDINARY} were refused", early + late);
}

#[test]
fn country_limit_counts_each_country_separately_and_skips_excepted_ones() {
    let controls = &recommended()[2..];
    let mut velocity = Velocity::default();
    let now = Timestamp::from_millis(1_750_000_000_000);
    let mut passes = |number: &str| admit(&mut velocity, controls, Msisdn::parse(number).unwrap(), now);
    for _ in 0..50 {
        assert!(passes("+994501234567"));
    }
    assert!(!passes("+994507654321"), "Azerbaijan is used up");
    assert!(passes("+436601234567"), "Austria is not");
    assert!((0..100).all(|_| passes("+4915112345678")), "Germany is excepted");
}
