//! Unit tests of `carriers.rs`.

use super::super::{Direction, LinkSettings, LinkState};
use super::*;
use hermod_domain::carrier::ErrorClass;

const ACME: CarrierId = CarrierId::new(7);

fn at(ms: i64) -> Timestamp {
    Timestamp::from_millis(ms)
}

fn settings(window: u32) -> LinkSettings {
    LinkSettings { address: "acme.example:2775".to_owned(), tls: false, window, full_rate: 50 }
}

#[test]
fn list_shows_each_link_with_its_counters() {
    let carriers = LiveCarriers::default();
    assert_eq!(carriers.health(ACME), Health::Down);
    let state = carriers.open(ACME, "acme");
    let receiver = state.link(1, Direction::Receives, settings(10), at(1));
    let sender = state.link(1, Direction::Sends, settings(10), at(1));
    receiver.enter(LinkState::Bound, at(2));
    assert_eq!(state.sending_links_bound(), 0, "nothing can be sent yet");
    sender.wait_until(at(9), at(3));
    sender.failed("cannot connect".to_owned(), at(3));
    sender.attempted();
    sender.enter(LinkState::Bound, at(9));
    assert_eq!(state.sending_links_bound(), 1);
    sender.submitted(3, Moment(500));
    sender.set_out(1);
    sender.accepted();
    sender.refused(ErrorClass::Temporary);

    let shown = &carriers.list(Moment(1_000))[0];
    assert_eq!((shown.id, shown.name.as_str(), shown.links.len()), (ACME, "acme", 2));
    let link = &shown.links[0];
    assert_eq!((link.number, link.direction.as_str(), link.state.as_str()), (1, "sends", "bound"));
    assert_eq!((link.since, link.next_attempt_at, link.bind_attempts), (at(9), None, 1));
    assert_eq!((link.window, link.out, link.rate, link.submitted_per_10_s), (10, 1, 50, 3));
    assert_eq!(link.last_error.as_ref().map(|error| error.text.as_str()), Some("cannot connect"));
    assert_eq!(shown.recent.minute.answered(), 2);
    assert_eq!(shown.recent.minute.refused_as(ErrorClass::Temporary), 1);
}

#[test]
fn link_with_new_settings_keeps_its_counters_and_a_removed_one_is_hidden() {
    let carriers = LiveCarriers::default();
    let state = carriers.open(ACME, "acme");
    let links = [1, 2].map(|number| state.link(number, Direction::Both, settings(10), at(1)));
    links.iter().for_each(|link| link.accepted());
    state.retire_links(at(2));
    state.link(1, Direction::Both, settings(20), at(2)).accepted();
    let shown = &carriers.list(Moment(0))[0];
    assert_eq!(shown.links.len(), 1);
    assert_eq!((shown.links[0].window, shown.links[0].totals.accepted), (20, 2));
    assert_eq!(state.totals().accepted, 3);
}

#[test]
fn stopped_carrier_keeps_its_first_reason_until_resumed() {
    let carriers = LiveCarriers::default();
    let state = carriers.open(ACME, "acme");
    let mut watching = state.watch_stopped();
    state.stop("protocol errors".to_owned(), at(5));
    state.stop("more errors".to_owned(), at(6));
    assert!(watching.has_changed().unwrap());
    watching.mark_unchanged();
    let stopped = carriers.list(Moment(0))[0].stopped_for.clone();
    assert_eq!(stopped, Some(Stopped { since: at(5), why: "protocol errors".to_owned(), is_drained: false }));
    assert_eq!(carriers.health(ACME), Health::Stopped);
    assert!(carriers.resume(ACME, Moment(9)));
    assert!(watching.has_changed().unwrap());
    assert_eq!(carriers.health(ACME), Health::Down);
    assert!(!carriers.resume(ACME, Moment(9)) && !carriers.resume(CarrierId::new(9), Moment(9)));
}
