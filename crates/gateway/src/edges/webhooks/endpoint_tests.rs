//! What an endpoint's task does when it stops, when the store fails and when it waits; and when it says it posted.

use super::*;
use crate::clock::Clock;
use crate::clock::within;
use crate::config::{Config, Source};
use crate::edges::webhooks::client::Client;
use crate::edges::webhooks::endpoint_status::Standings;
use crate::edges::webhooks::post_limiter::Turnstile;
use crate::edges::webhooks::settings::Settings;
use crate::provision::{self, Wanted};
use crate::secrets::Pepper;
use crate::workers::Workers;
use crate::world::World;
use hermod_domain::ids::{AccountId, MessageId};
use hermod_domain::webhook::WebhookKind;
use hermod_domain::webhook::address::AddressRules;
use hermod_domain::webhook::signature::WEBHOOK_TIMESTAMP;
use hermod_simulator::webhooks::{ReceiverBehaviour, WebhookReceiver};
use hermod_store::{InboundRecord, OpenOptions, Store, WebhookContent};
use std::net::{Ipv4Addr, SocketAddr};

const START: Timestamp = Timestamp::from_millis(1_794_700_800_000);
const ENDPOINT: Endpoint = Endpoint { account: AccountId::new(1), kind: WebhookKind::Inbound };
const MOMENT: Duration = Duration::from_millis(200);

/// A desk whose account is told at this address.
async fn desk(url: &str) -> (Desk, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let clock = Clock::manual(START);
    let options = OpenOptions {
        folder: folder.path().to_owned(),
        low_water_bytes: 0,
        in_doubt_wait: Duration::from_secs(15),
        now: START,
    };
    let (store, pepper) = (Store::open(&options).unwrap(), Pepper::new(b"pepper"));
    let rules = AddressRules { allow_http: true, allow: vec!["127.0.0.0/8".parse().unwrap()] };
    let text = format!("[[account]]\nname = \"shop\"\ncurrency = \"EUR\"\ninbound_webhook = \"{url}\"\n");
    let wanted = Wanted::parse(&Source { path: "shop.toml".into(), text }).unwrap().judged_by(rules.clone());
    let plan = provision::apply(&store, &pepper, &wanted, START).await.unwrap();
    let world = World::new(clock.clone(), store, pepper, plan.catalogue, Duration::from_secs(60));
    let settings = Settings { rules, ..Settings::new(&Config::defaults().webhooks) };
    let shared = Shared {
        client: Client::new(&settings, clock, Workers::default()),
        turnstile: Turnstile::new(settings.posts_max),
        standings: Standings::default(),
        world: Arc::new(world),
        settings,
    };
    (Desk::new(ENDPOINT, Arc::new(shared)), folder)
}

fn delivered(event: u64) -> SettledAttempt {
    SettledAttempt {
        endpoint: ENDPOINT,
        event: EventId(event),
        failures: 0,
        attempt: None,
        next: AfterAttempt::Delivered,
    }
}

fn posted(event: u64) -> Posted {
    Posted { settled: delivered(event), answered: true, took: Duration::ZERO }
}

#[tokio::test]
async fn what_is_finished_when_everything_stops_is_written_down_whoever_still_hangs() {
    let (mut desk, _folder) = desk("https://shop.example/").await;
    desk.held.extend([1, 2, 3].map(EventId));
    desk.finished.push(delivered(1));
    desk.under_way.push(Box::pin(async { posted(2) }));
    desk.under_way.push(Box::pin(std::future::pending()));
    let ended = within(MOMENT, desk.come_to_an_end()).await;
    assert!(ended.is_err(), "one of them hangs");
    assert!(desk.finished.is_empty() && desk.settling.is_none());
    assert_eq!(desk.held, HashSet::from([EventId(3)]));
    desk.under_way.clear();
    desk.finished.push(delivered(3));
    desk.come_to_an_end().await;
    assert!(desk.held.is_empty(), "and when nobody hangs it ends by itself");
}

#[tokio::test]
async fn what_the_store_could_not_write_is_written_later_and_not_posted_again() {
    let (mut desk, _folder) = desk("https://shop.example/").await;
    let clock = desk.shared.world.clock.clone();
    desk.held.extend([1, 2].map(EventId));
    desk.more = false;
    desk.finished.push(delivered(2));
    desk.settled(Settled { batch: vec![delivered(1)], done: Err(StoreError::DiskLow) });
    assert_eq!(desk.finished, [delivered(1), delivered(2)], "in their order");
    assert_eq!(desk.held.len(), 2, "reading does not give them out again");
    assert!(!desk.more);
    desk.settle();
    let at_once = within(MOMENT, settled(&mut desk.settling)).await;
    assert!(at_once.is_err(), "the store is left alone for a while");
    clock.advance(FAULT_WAIT);
    let done = settled(&mut desk.settling).await;
    assert_eq!(done.batch.len(), 2);
    desk.settled(done);
    assert!(desk.held.is_empty() && desk.finished.is_empty() && !desk.store_failed);
}

#[tokio::test]
async fn nothing_that_is_due_is_waited_for_until_the_task_would_end() {
    let (mut desk, _folder) = desk("https://shop.example/").await;
    let moment = desk.shared.world.clock.moment();
    let idle_until = moment.plus(KEEP_ALIVE);
    let second = Duration::from_secs(1);
    desk.more = false;
    for (next_due, expect) in [
        (None, KEEP_ALIVE),
        (Some(START.plus(second)), second),
        (Some(START), SHORTEST_WAIT),
        (Some(Timestamp::EPOCH), SHORTEST_WAIT),
    ] {
        desk.next_due = next_due;
        assert_eq!(desk.wait(idle_until, moment), expect, "{next_due:?}");
    }
    desk.next_due = None;
    desk.queue.push_back(event(1));
    desk.rest_until = moment.plus(second);
    desk.shared.world.clock.advance(second);
    desk.begin(moment);
    assert!(desk.under_way.is_empty(), "it rests at this moment");
    assert_eq!(desk.wait(idle_until, moment), second, "and so is woken after it");
}

fn event(id: u64) -> WebhookEvent {
    let record = InboundRecord {
        id: 1,
        message: MessageId::first_at(START),
        from: "+4915112345678".to_owned(),
        to: "12345".to_owned(),
        text: "yes".to_owned(),
        received_at: START,
    };
    WebhookEvent {
        id: EventId(id),
        account: ENDPOINT.account,
        content: WebhookContent::Inbound(record),
        failures: 0,
        attempts: 0,
        due_at: START,
    }
}

#[tokio::test]
async fn a_post_is_signed_at_the_time_that_its_receiver_has() {
    let hooks = WebhookReceiver::start(
        SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
        ReceiverBehaviour::Status(200),
        None,
    )
    .unwrap();
    let (mut desk, _folder) = desk(&hooks.url("")).await;
    let clock = desk.shared.world.clock.clone();
    let hour = Duration::from_secs(3_600);
    clock.set_wall(START.plus(hour));
    desk.queue.push_back(event(1));
    desk.begin(clock.moment());
    let posted = desk.under_way.next().await.unwrap();
    assert_eq!(posted.settled.attempt.map(|attempt| attempt.at), Some(START), "as everything here is dated");
    let caught = hooks.wait_for(1, Duration::from_secs(5)).await;
    let seconds = (START.as_millis() / 1_000 + 3_600).to_string();
    assert_eq!(caught[0].header(WEBHOOK_TIMESTAMP), Some(seconds.as_str()));
    hooks.stop().await;
}
