//! Unit tests of `connection_limits.rs`.

use super::*;

const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1));
const THERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 2));

#[test]
fn address_over_its_limit_is_rejected_until_a_connection_closes() {
    let connection_limits = ConnectionLimits::default();
    let limits = AddressLimits { open_max: 2, half_open_max: 2 };
    let first = connection_limits.enter(HERE, limits).unwrap();
    let second = connection_limits.enter(HERE, limits).unwrap();
    assert!(connection_limits.enter(HERE, limits).is_none());
    let elsewhere = connection_limits.enter(THERE, limits);
    assert!(elsewhere.is_some(), "another address has its own limit");
    drop(first);
    let third = connection_limits.enter(HERE, limits);
    assert!(third.is_some());
    drop((second, third, elsewhere));
    assert!(connection_limits.0.lock().is_empty(), "closed connections leave no entry");
}

#[test]
fn half_open_connections_have_a_lower_limit_than_established_ones() {
    let connection_limits = ConnectionLimits::default();
    let limits = AddressLimits { open_max: 3, half_open_max: 1 };
    let first = connection_limits.enter(HERE, limits).unwrap();
    assert!(connection_limits.enter(HERE, limits).is_none(), "one is half open");
    first.establish();
    first.establish();
    let second = connection_limits.enter(HERE, limits).unwrap();
    second.establish();
    let third = connection_limits.enter(HERE, limits).unwrap();
    third.establish();
    assert!(connection_limits.enter(HERE, limits).is_none(), "three are open");
    drop((first, second, third));
    let half_open = connection_limits.enter(HERE, limits);
    drop(half_open);
    assert!(connection_limits.enter(HERE, limits).is_some(), "a closed half-open connection is not counted");
}
