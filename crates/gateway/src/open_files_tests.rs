//! Unit tests of `open_files.rs`.

use super::*;

const NEEDS: Needs = Needs { http_listeners: 2, has_operations: true, links: 10 };

/// Returns the default settings, fitted to a limit.
fn fitted(limit: u64) -> Config {
    let mut config = Config::defaults();
    fit(&mut config, NEEDS, limit);
    config
}

#[test]
fn settings_are_unchanged_with_enough_file_descriptors() {
    let all = needed(&Config::defaults(), NEEDS);
    assert_eq!(all, 96 + 2 * 10_000 + 1_000 + 20_100 + 2_000 + 10);
    assert_eq!(fitted(all), Config::defaults());
    assert_ne!(fitted(all - 1), Config::defaults());
}

#[test]
fn low_limit_is_divided_and_never_exceeded() {
    for limit in [256, 1_024, 4_096, 20_000, 40_000] {
        let config = fitted(limit);
        let needed = needed(&config, NEEDS);
        assert!(needed <= limit, "{needed} of {limit}");
        assert!(config.http.max_connections >= SHARE_MIN && config.smpp.max_sessions >= SHARE_MIN / 2);
    }
}

#[test]
fn address_limit_is_at_most_half_and_half_open_limit_a_quarter() {
    let Config { http, smpp, .. } = fitted(1_024);
    assert!(http.max_connections_per_address <= http.max_connections / 2);
    assert!(http.max_half_open_per_address <= http.max_connections / 4);
    assert!(smpp.max_sessions_per_address <= smpp.max_sessions / 2);
    assert!(smpp.max_half_open_per_address <= smpp.max_sessions / 4);
}

#[test]
fn soft_limit_is_raised_to_the_hard_limit() {
    let limit = raise();
    assert_eq!(Some(limit), getrlimit(Resource::Nofile).current.or(Some(UNLIMITED)));
    assert_eq!(limit, getrlimit(Resource::Nofile).maximum.unwrap_or(limit));
}
