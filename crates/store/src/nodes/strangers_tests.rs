//! Unit tests of `strangers.rs`.

use super::*;
use std::net::Ipv4Addr;

const START: Duration = Duration::from_secs(1_000);

fn address(number: u32) -> IpAddr {
    Ipv4Addr::from_bits(number).into()
}

fn refusal(strangers: &Arc<Strangers>, peer: IpAddr, now: Duration) -> Option<Refused> {
    strangers.admit(peer, now).err()
}

#[test]
fn greetings_are_limited_per_address_and_in_all() {
    let strangers = Arc::new(Strangers::default());
    let mut open: Vec<Greeting> =
        (0..GREETINGS_PER_ADDRESS_MAX).map(|_| strangers.admit(address(1), START).ok().unwrap()).collect();
    assert_eq!(refusal(&strangers, address(1), START), Some(Refused::AddressLimit));
    for number in 2.. {
        match strangers.admit(address(number), START) {
            Ok(greeting) => open.push(greeting),
            Err(why) => {
                assert_eq!(why, Refused::Limit);
                break;
            }
        }
    }
    assert_eq!(open.len(), GREETINGS_MAX);
    drop(open);
    assert_eq!(refusal(&strangers, address(1), START), None);
    assert!(strangers.lock().addresses.is_empty(), "an address without failures is forgotten");
}

#[test]
fn address_that_fails_waits_longer_each_time_and_others_do_not() {
    let strangers = Arc::new(Strangers::default());
    for _ in 0..FAILURES_FREE {
        strangers.admit(address(1), START).ok().unwrap().failed(START);
    }
    let mut now = START;
    for wait in [1, 2, 4, 8, 16, 32, 32] {
        let wait = Duration::from_secs(wait);
        let early = now + wait - Duration::from_millis(1);
        assert_eq!(refusal(&strangers, address(1), early), Some(Refused::BackOff));
        assert_eq!(refusal(&strangers, address(2), early), None);
        now += wait;
        strangers.admit(address(1), now).ok().unwrap().failed(now);
    }
    now += WAIT_MAX;
    strangers.admit(address(1), now).ok().unwrap().succeeded();
    strangers.admit(address(1), now).ok().unwrap().failed(now);
    assert_eq!(refusal(&strangers, address(1), now), None, "a node ends the wait of its address");
}

#[test]
fn addresses_of_one_ipv6_network_count_as_one() {
    let strangers = Arc::new(Strangers::default());
    let of_network = |number: u16| IpAddr::from([0x2001, 0xdb8, 0, 1, 0, 0, 0, number]);
    let open: Vec<_> = (0..8).map(|number| strangers.admit(of_network(number), START).ok()).collect();
    assert!(open.iter().all(Option::is_some));
    assert_eq!(refusal(&strangers, of_network(99), START), Some(Refused::AddressLimit));
}

#[test]
fn remembered_addresses_are_bounded() {
    let strangers = Arc::new(Strangers::default());
    for number in 0..3_000 {
        strangers.admit(address(number), START).ok().unwrap().failed(START);
    }
    assert_eq!(strangers.lock().addresses.len(), ADDRESSES_MAX);
    let later = START + FORGOTTEN_AFTER;
    strangers.admit(address(9_999), later).ok().unwrap().failed(later);
    assert_eq!(strangers.lock().addresses.len(), 1, "old ones are forgotten");
}

#[test]
fn log_gets_one_line_a_minute_with_the_number_of_failures() {
    let strangers = Strangers::default();
    assert_eq!(strangers.note(START), Some(Line { failed: 1 }));
    for second in 0..59 {
        assert_eq!(strangers.note(START + Duration::from_secs(second)), None);
    }
    assert_eq!(strangers.line(START + LINE_EVERY), Some(Line { failed: 59 }));
    assert_eq!(strangers.line(START + 2 * LINE_EVERY), None, "nothing to log");
    assert_eq!(strangers.note(START + 2 * LINE_EVERY), Some(Line { failed: 1 }));
}
