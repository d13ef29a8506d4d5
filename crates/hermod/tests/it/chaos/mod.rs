//! Carrier chaos: the real binary between a customer that records every response and three carriers that show every fault
//! of real carriers at once. Links are cut and stall, responses get lost, receipts overtake their responses, come twice or not
//! at all, ids change their number system, and some responses are throttling or temporary errors.
//!
//! At the end the customer's responses, the carriers' records and the store are compared; then all carriers
//! disconnect, and the gateway must reconnect at a low rate. `cargo xtask chaos carriers --messages N` runs it with N messages;
//! `HERMOD_CHAOS_SEED` repeats the random choices of a run.

mod checks;

use crate::gateways::{self, Served};
use crate::real_time::{PATIENCE, now, pause};
use crate::store_access::number_from;
use checks::{Compared, compare};
use hermod_simulator::carrier::{
    CarrierOptions, Outcome, Receipts, Script, SimulatedCarrier, SubmitAction, SubmitFilter,
};
use hermod_simulator::load::http::{self, Bound, HttpLoadOptions, HttpMessages, HttpTarget, KeyMode, Which};
use hermod_smpp::CommandStatus;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

const MESSAGES: u64 = 4_000;
const SEED: u64 = 20_261_115;
const CONNECTIONS: u32 = 16;
/// The shortest and the longest life of a link.
const LINK_LIFE: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(30));
/// The duration of the phase without carriers.
const QUIET: Duration = Duration::from_secs(15);
/// The largest CPU share in that phase, in thousandths.
const QUIET_CPU_PER_MILLE_MAX: u128 = 100;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_message_is_accounted_for_after_carrier_chaos() {
    let messages = number_from("HERMOD_CHAOS_MESSAGES").unwrap_or(MESSAGES);
    let seed = number_from("HERMOD_CHAOS_SEED").unwrap_or(SEED);
    let carriers = [
        ("hex", start(seed, chaotic().hex_ids_decimal_in_receipts()).await),
        ("decimal", start(seed + 1, slow_at_times(messages).decimal_ids_hex_in_receipts()).await),
        ("pair", start(seed + 2, refusing_at_times(messages).zeros_stripped_in_receipts()).await),
    ];
    let folder = tempfile::tempdir().expect("a temporary folder");
    let settings = "[messages]\nin_doubt_wait = \"1s\"\n[log]\nlevel = \"off\"\n";
    let gateway = Served::start_with(folder.path(), settings, &provisioned(&carriers));
    let began = now();

    let acknowledged = send(&gateway, messages).await;
    println!("{} messages accepted after {:.1?}", acknowledged.len(), began.elapsed());
    settle(folder.path(), &carriers).await;
    println!("all parts have ended after {:.1?}", began.elapsed());
    quiet_without_carriers(&gateway, &carriers, acknowledged.len() as u64).await;
    gateway.stop().await;

    let Compared { copies, resends, unreported, parked } =
        compare(folder.path(), &acknowledged, &carriers).await;
    println!(
        "{messages} messages: {copies} copies at the carriers, {resends} resends on record, {unreported} without a \
         receipt, {parked} receipts without a message"
    );
    for (name, carrier) in carriers {
        println!("{name}: {:?}", carrier.record().counts());
        carrier.stop().await;
    }
}

async fn start(seed: u64, script: Script) -> SimulatedCarrier {
    let options = CarrierOptions { seed, ..CarrierOptions::new(script) };
    SimulatedCarrier::start(options).await.expect("a free port on the loopback")
}

/// Links are cut; one response in a hundred is lost; one receipt in ten overtakes its response, one in twenty comes twice and
/// one in fifty never.
fn chaotic() -> Script {
    let receipt = Receipts::after(Duration::from_millis(20), Outcome::Delivered);
    Script::new()
        .rule(SubmitFilter::per_mille(5), SubmitAction::LoseResponse)
        .rule(SubmitFilter::per_mille(5), SubmitAction::Ignore)
        .receipts_when(SubmitFilter::per_mille(20), Receipts::never())
        .receipts_when(SubmitFilter::per_mille(100), Receipts { before_response: true, ..receipt })
        .receipts_when(SubmitFilter::per_mille(50), receipt.twice())
        .receipts_when(
            SubmitFilter::per_mille(30),
            Receipts::after(Duration::from_millis(20), Outcome::Undeliverable),
        )
        .receipts(receipt)
        .responses_out_of_order(Duration::from_millis(10))
        .cut_links_after(LINK_LIFE.0, LINK_LIFE.1)
}

/// Throttles single parts and stalls. Not in bursts: a throttled link sends one part at a time, so a burst
/// counted in parts would last until all messages moved to the other carriers.
fn slow_at_times(messages: u64) -> Script {
    chaotic()
        .rule(SubmitFilter::per_mille(3), SubmitAction::Reject(CommandStatus::THROTTLED))
        .rule(SubmitFilter::per_mille(1), SubmitAction::Reject(CommandStatus::MSGQFUL))
        .rule(SubmitFilter::every(messages / 4), SubmitAction::Stall(Duration::from_secs(20)))
}

fn refusing_at_times(messages: u64) -> Script {
    chaotic()
        .rule(SubmitFilter::per_mille(5), SubmitAction::Reject(CommandStatus::SYSERR))
        .rule(SubmitFilter::per_mille(2), SubmitAction::Reject(CommandStatus::INVDSTADR))
        .rule(SubmitFilter::every(messages / 5), SubmitAction::UnbindBeforeResponse)
}

/// Each carrier is the first route of a third of the recipients and the failover of the others.
fn provisioned(carriers: &[(&str, SimulatedCarrier); 3]) -> String {
    let usual = "window = 50\nrate = 3000\nresponse_timeout = \"3s\"\nenquire_link = \"5s\"\n";
    let settings = [
        "ids = \"hex-to-decimal\"\nlinks = 2",
        "ids = \"decimal-to-hex\"\nlinks = 2",
        "binds = \"transmitter-and-receiver\"\nlinks = 2",
    ];
    let entries = carriers.iter().zip(settings).map(|((name, carrier), settings)| {
        gateways::carrier_entry(name, carrier.addr(), &format!("{usual}{settings}"))
    });
    let shares =
        carriers.iter().map(|(name, _)| format!("{{ carrier = \"{name}\", priority = 1, weight = 1 }}"));
    let route = format!(
        "[[route]]\nprefix = \"49\"\ncarriers = [{}]\nfail_over_refusals = false\n",
        shares.collect::<Vec<_>>().join(", ")
    );
    let customers = gateways::customers_text(gateways::OPENING);
    format!("{}{route}{customers}", entries.collect::<String>())
}

/// Sends every message. Returns the message ids by index.
async fn send(gateway: &Served, messages: u64) -> BTreeMap<u64, String> {
    let target = HttpTarget::new(&gateway.base_url(), gateways::KEY, gateways::SECRET).expect("a target");
    let keys = KeyMode::Prefixed("chaos".to_owned());
    let texts =
        HttpMessages::new(("+4915100000000", 90_000_000), None, checks::TEXT, keys).expect("messages");
    let acknowledged: Arc<Mutex<BTreeMap<u64, String>>> = Arc::default();
    let mut options = HttpLoadOptions::new(target, texts, Bound::requests(messages));
    options.which = Which::From(0);
    options.connections = CONNECTIONS;
    (options.connect_wait_max, options.response_wait_max) = (PATIENCE, PATIENCE);
    let noted = acknowledged.clone();
    options.observer = Some(Arc::new(move |attempt| {
        let http::HttpOutcome::Answered { status: 202, message_id: Some(id) } = attempt.outcome else {
            panic!("message {} was not accepted: {:?}", attempt.index, attempt.outcome)
        };
        noted.lock().expect("the lock is not poisoned").insert(attempt.index, id.to_owned());
    }));
    http::run(options).await.expect("a run");
    let acknowledged = std::mem::take(&mut *acknowledged.lock().expect("the lock is not poisoned"));
    assert_eq!(acknowledged.len() as u64, messages, "every message was answered");
    acknowledged
}

/// Waits until the store's open parts and the carriers' unanswered receipts no longer change.
async fn settle(folder: &Path, carriers: &[(&str, SimulatedCarrier)]) {
    let (mut calm_since, mut last) = (now(), None);
    loop {
        let (data, looked) = (gateways::data_folder(folder), now());
        let open = tokio::task::spawn_blocking(move || checks::unfinished(&data)).await.expect("no panic");
        let unsettled: usize = carriers.iter().map(|(_, carrier)| carrier.receipts_pending()).sum();
        let state = (open, unsettled);
        if last != Some(state) {
            (last, calm_since) = (Some(state), now());
        }
        // No part is queued or in doubt, and further receipts change nothing.
        if open.waiting == 0 && unsettled == 0 && calm_since.elapsed() > Duration::from_secs(8) {
            return;
        }
        // A link may need a minute to reconnect, and the last resends follow after that.
        assert!(calm_since.elapsed() < PATIENCE, "no change for {PATIENCE:?}: {state:?}");
        // The audit of a big store takes a while and must not dominate the CPU.
        pause(looked.elapsed() * 5 + Duration::from_millis(300)).await;
    }
}

/// All carriers close every connection. The gateway must queue messages and reconnect with back-off only.
async fn quiet_without_carriers(gateway: &Served, carriers: &[(&str, SimulatedCarrier)], next: u64) {
    for (_, carrier) in carriers {
        carrier.set_script(Script::new().hang_up());
        carrier.cut_links();
    }
    let target = HttpTarget::new(&gateway.base_url(), gateways::KEY, gateways::SECRET).expect("a target");
    let keys = KeyMode::Prefixed("late".to_owned());
    let texts =
        HttpMessages::new(("+4915100000000", 90_000_000), None, checks::LATE_TEXT, keys).expect("messages");
    let mut options = HttpLoadOptions::new(target, texts, Bound::requests(checks::LATE));
    options.which = Which::From(next);
    (options.connect_wait_max, options.response_wait_max) = (PATIENCE, PATIENCE);
    options.observer = Some(Arc::new(|attempt| {
        let accepted = matches!(attempt.outcome, http::HttpOutcome::Answered { status: 202, .. });
        assert!(accepted, "messages are queued without carriers: {:?}", attempt.outcome);
    }));
    http::run(options).await.expect("a run");

    pause(Duration::from_secs(5)).await;
    let attempts = || -> Vec<u64> {
        carriers.iter().map(|(_, carrier)| carrier.record().counts().links_opened).collect()
    };
    let (before, cpu_before, began) = (attempts(), gateway.cpu_time(), now());
    pause(QUIET).await;
    let (after, cpu, took) = (attempts(), gateway.cpu_time() - cpu_before, began.elapsed());
    println!("without carriers: {cpu:.1?} of CPU in {took:.1?}; attempts before {before:?}, after {after:?}");
    assert!(
        cpu.as_millis() * 1000 <= took.as_millis() * QUIET_CPU_PER_MILLE_MAX,
        "{cpu:?} of CPU in {took:?}"
    );
    for ((name, _), (before, after)) in carriers.iter().zip(before.iter().zip(&after)) {
        // Two links, or two pairs (four binds), on average two seconds apart.
        let binds = if *name == "pair" { 4 } else { 2 };
        let most = binds * (took.as_secs() + 1) / 2;
        assert!(after - before <= most, "{name}: {} attempts in {took:?}", after - before);
    }
}
