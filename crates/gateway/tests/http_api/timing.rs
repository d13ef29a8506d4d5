//! Failed authentication takes constant time: an unknown key, a wrong secret and unreadable credentials take the same
//! work. Measured as the CPU time of this thread, so that other processes do not count, and compared by
//! medians of interleaved samples.

use crate::fixture::Service;
use crate::test_customers::ACME;
use hermod_gateway::app::{Credentials, authenticate};
use hermod_gateway::secrets::Secret;
use rustix::time::{ClockId, clock_gettime};
use std::net::{IpAddr, Ipv4Addr};

/// Samples of each kind; a little over 100,000 for all three.
const SAMPLES: usize = 34_000;
const KINDS: usize = 3;

fn processor_ns() -> i64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}

fn median_of(mut samples: Vec<i64>) -> i64 {
    samples.sort_unstable();
    samples[samples.len() / 2]
}

fn timed(work: impl FnOnce()) -> i64 {
    let before = processor_ns();
    work();
    processor_ns() - before
}

#[tokio::test]
async fn unknown_key_wrong_secret_and_unreadable_credentials_take_the_same_time() {
    let service = Service::start().await;
    let gateway = &service.gateway;
    let guess = "a-guess-with-as-many-characters-as-a-secret";
    let given = |key: &str| Some(Credentials { key: key.to_owned(), secret: Secret::new(guess) });
    let kinds: [Option<Credentials>; KINDS] = [given(ACME), given("unknown-key"), None];
    let source = Some(IpAddr::V4(Ipv4Addr::LOCALHOST));
    let digest = gateway.pepper.digest("another secret");
    let mut samples: [Vec<i64>; KINDS] = Default::default();
    let mut compare = Vec::new();
    for round in 0..SAMPLES {
        for place in 0..KINDS {
            // Each kind is first, second and last equally often.
            let kind = (round + place) % KINDS;
            let credentials = kinds[kind].as_ref();
            samples[kind].push(timed(|| assert!(authenticate(gateway, credentials, source).is_err())));
        }
        compare.push(timed(|| assert!(!gateway.pepper.matches(guess, &digest))));
    }
    let medians = samples.map(median_of);
    let (least, most) = (medians.iter().min().unwrap(), medians.iter().max().unwrap());
    let compare = median_of(compare);
    // A kind without the comparison would be faster by its whole duration.
    assert!(
        most - least < compare / 2,
        "wrong secret, unknown key and unreadable take {medians:?} ns, one comparison {compare} ns"
    );
}
