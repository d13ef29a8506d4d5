//! Unit tests of `resolver.rs`.

use super::*;
use crate::clock::within;
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Duration;

const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

#[tokio::test]
async fn concurrent_lookups_of_one_name_share_one_permit() {
    let asked = Arc::new(AtomicUsize::new(0));
    let (answer, answers) = mpsc::channel::<()>();
    let (counted, answers) = (asked.clone(), Mutex::new(answers));
    let lookups = Lookups::with_lookup(move |name| {
        if name == "hangs.example" {
            counted.fetch_add(1, Ordering::Relaxed);
            let _ = answers.lock().recv();
        }
        Ok(vec![HERE])
    });
    for doubtful in [false, true, false, true] {
        let waited = Duration::from_millis(20);
        let lookup = lookups.look_up("hangs.example", doubtful);
        assert!(within(waited, lookup).await.is_err(), "the lookup hangs");
    }
    let places = (lookups.trusted.available_permits(), lookups.doubtful.available_permits());
    assert_eq!(places, (LOOKUPS_MAX - 1, DOUBTFUL_LOOKUPS_MAX));
    assert_eq!(lookups.look_up("answers.example", false).await, Ok(vec![HERE]));
    let two = async {
        tokio::join!(lookups.look_up("hangs.example", false), lookups.look_up("hangs.example", true))
    };
    let (both, ()) = tokio::join!(two, async { answer.send(()).unwrap() });
    assert_eq!(both, (Ok(vec![HERE]), Ok(vec![HERE])));
    assert_eq!(asked.load(Ordering::Relaxed), 1, "all waited for the same lookup");
    assert_eq!(lookups.trusted.available_permits(), LOOKUPS_MAX);
    answer.send(()).unwrap();
    assert_eq!(lookups.look_up("hangs.example", false).await, Ok(vec![HERE]));
    assert_eq!(asked.load(Ordering::Relaxed), 2, "results are not cached");
    assert!(lookups.in_progress.lock().is_empty());
}

#[tokio::test]
async fn failed_lookup_is_reported_and_retried() {
    let asked = AtomicUsize::new(0);
    let lookups = Lookups::with_lookup(move |_| match asked.fetch_add(1, Ordering::Relaxed) {
        0 => Err(io::Error::other("no such name")),
        1 => panic!("a lookup that panics"),
        _ => Ok(vec![HERE]),
    });
    assert_eq!(lookups.look_up("a.example", false).await, Err("no such name".to_owned()));
    assert_eq!(lookups.look_up("a.example", false).await, Err("the lookup was cut short".to_owned()));
    assert_eq!(lookups.look_up("a.example", false).await, Ok(vec![HERE]));
}
