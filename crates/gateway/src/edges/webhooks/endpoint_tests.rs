//! Tests of an endpoint's task: stopping, store errors, waiting, and signature timestamps.

use super::*;
use crate::clock::Clock;
use crate::clock::within;
use crate::config::Config;
use crate::edges::webhooks::client::WebhookClient;
use crate::edges::webhooks::endpoint_status::EndpointStatuses;
use crate::edges::webhooks::post_limiter::PostLimiter;
use crate::edges::webhooks::settings::WebhookSettings;
use crate::gateway::Gateway;
use crate::secrets::{Pepper, webhook_secret};
use crate::workers::Workers;
use hermod_domain::catalogue::{Account, Catalogue, Countries, Documents, Tier, Webhooks};
use hermod_domain::ids::{AccountId, MessageId};
use hermod_domain::money::Money;
use hermod_domain::webhook::WebhookKind;
use hermod_domain::webhook::signature::WEBHOOK_TIMESTAMP;
use hermod_domain::webhook::url::AddressRules;
use hermod_simulator::webhooks::{ReceiverBehaviour, WebhookReceiver};
use hermod_store::{InboundRecord, OpenOptions, Store, WebhookContent};
use std::collections::BTreeSet;
use std::net::{Ipv4Addr, SocketAddr};

const START: Timestamp = Timestamp::from_millis(1_794_700_800_000);
const ENDPOINT: Endpoint = Endpoint { account: AccountId::new(1), kind: WebhookKind::Inbound };
const MOMENT: Duration = Duration::from_millis(200);
/// The longest wait for what must happen. It only bounds a hang: how long things take depends on the machine.
const PATIENCE: Duration = Duration::from_secs(300);

fn catalogue(pepper: &Pepper, url: &str) -> Catalogue {
    let secret = webhook_secret::seal(pepper, ENDPOINT.account, &webhook_secret::make().unwrap());
    let webhooks =
        Webhooks { dlr_url: None, inbound_url: Some(url.to_owned()), secret, next: None, previous: None };
    let account = Account {
        currency: "EUR".parse().unwrap(),
        credit_limit: Money::ZERO,
        minimum: Money::ZERO,
        verified: true,
        terms: None,
        price_list: None,
        countries: Countries::All,
        countries_off: BTreeSet::new(),
        closed: false,
        tier: Tier::default(),
        smpp_rate: None,
        webhooks: Some(webhooks),
        stop_words: Vec::new(),
        warn_below: None,
        urgent_below: None,
        suspended: None,
    };
    let accounts = vec![(ENDPOINT.account, "shop".to_owned(), account)];
    Catalogue::build(Documents { accounts, ..Documents::default() }).unwrap()
}

/// Makes the task of an account with this webhook URL.
async fn task(url: &str) -> (EndpointTask, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let clock = Clock::manual(START);
    let options = OpenOptions {
        folder: folder.path().to_owned(),
        server: None,
        low_water_bytes: 0,
        in_doubt_wait: Duration::from_secs(15),
        record: false,
        now: START,
    };
    let (store, pepper) = (Store::open(&options).unwrap(), Pepper::new(b"pepper"));
    let rules = AddressRules { allow_http: true, allow: vec!["127.0.0.0/8".parse().unwrap()] };
    let catalogue = catalogue(&pepper, url);
    let gateway = Gateway::new(clock.clone(), store, pepper, catalogue, Duration::from_secs(60));
    let settings = WebhookSettings { rules, ..WebhookSettings::new(&Config::defaults().webhooks) };
    let shared = Shared {
        client: WebhookClient::new(&settings, clock, Workers::default()),
        post_limiter: PostLimiter::new(settings.posts_max),
        statuses: EndpointStatuses::default(),
        gateway: Arc::new(gateway),
        settings,
    };
    (EndpointTask::new(ENDPOINT, Arc::new(shared)), folder)
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
async fn finished_posts_are_settled_on_stop_while_others_hang() {
    let (mut task, _folder) = task("https://shop.example/").await;
    task.held.extend([1, 2, 3].map(EventId));
    task.finished.push(delivered(1));
    task.in_progress.push(Box::pin(async { posted(2) }));
    task.in_progress.push(Box::pin(std::future::pending()));
    let both_are_settled = async {
        while task.held.len() > 1 {
            let ended = within(MOMENT, task.finish_posts()).await;
            assert!(ended.is_err(), "one of them hangs");
        }
    };
    within(PATIENCE, both_are_settled).await.expect("the store writes the results");
    assert!(task.finished.is_empty() && task.settling.is_none());
    assert_eq!(task.held, HashSet::from([EventId(3)]));
    task.in_progress.clear();
    task.finished.push(delivered(3));
    task.finish_posts().await;
    assert!(task.held.is_empty(), "without hanging posts it ends by itself");
}

#[tokio::test]
async fn batch_that_the_store_failed_to_write_is_retried_without_a_post() {
    let (mut task, _folder) = task("https://shop.example/").await;
    let clock = task.shared.gateway.clock.clone();
    task.held.extend([1, 2].map(EventId));
    task.more = false;
    task.finished.push(delivered(2));
    task.settled(Settled { batch: vec![delivered(1)], done: Err(StoreError::DiskLow) });
    assert_eq!(task.finished, [delivered(1), delivered(2)], "in order");
    assert_eq!(task.held.len(), 2, "they are not posted again");
    assert!(!task.more);
    task.settle();
    let at_once = within(MOMENT, completed(&mut task.settling)).await;
    assert!(at_once.is_err(), "the retry waits");
    clock.advance(FAULT_WAIT);
    let done = completed(&mut task.settling).await;
    assert_eq!(done.batch.len(), 2);
    task.settled(done);
    assert!(task.held.is_empty() && task.finished.is_empty() && !task.store_failed);
}

#[tokio::test]
async fn wait_ends_when_the_next_event_is_due() {
    let (mut task, _folder) = task("https://shop.example/").await;
    let moment = task.shared.gateway.clock.moment();
    let idle_until = moment.plus(KEEP_ALIVE);
    let second = Duration::from_secs(1);
    task.more = false;
    for (next_due, expect) in [
        (None, KEEP_ALIVE),
        (Some(START.plus(second)), second),
        (Some(START), SHORTEST_WAIT),
        (Some(Timestamp::EPOCH), SHORTEST_WAIT),
    ] {
        task.next_due = next_due;
        assert_eq!(task.wait(idle_until, moment), expect, "{next_due:?}");
    }
    task.next_due = None;
    task.queue.push_back(event(1));
    task.rest_until = moment.plus(second);
    task.shared.gateway.clock.advance(second);
    task.begin(moment);
    assert!(task.in_progress.is_empty(), "it must not post yet");
    assert_eq!(task.wait(idle_until, moment), second, "it wakes up after the rest");
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
async fn signature_timestamp_is_the_machine_time() {
    let hooks = WebhookReceiver::start(
        SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
        ReceiverBehaviour::Status(200),
        None,
    )
    .unwrap();
    let (mut task, _folder) = task(&hooks.url("")).await;
    let clock = task.shared.gateway.clock.clone();
    let hour = Duration::from_secs(3_600);
    clock.set_wall(START.plus(hour));
    task.queue.push_back(event(1));
    task.begin(clock.moment());
    let posted = task.in_progress.next().await.unwrap();
    assert_eq!(
        posted.settled.attempt.map(|attempt| attempt.at),
        Some(START),
        "attempts have the gateway's own time"
    );
    let caught = hooks.wait_for(1, PATIENCE).await;
    let seconds = (START.as_millis() / 1_000 + 3_600).to_string();
    assert_eq!(caught[0].header(WEBHOOK_TIMESTAMP), Some(seconds.as_str()));
    hooks.stop().await;
}
