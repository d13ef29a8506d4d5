//! Carrier chaos: the real binary between a customer who notes every answer and three carriers that do everything carriers
//! are known for at once. Links are cut and stall, answers get lost, receipts overtake their answers, come twice or not
//! at all, ids change their number system, and some answers are "slow down" and "later".
//!
//! At the end what the customer was told, what the carriers saw and what the store holds are compared; then all carriers
//! go away, and the gateway must be quiet about it. `cargo xtask chaos carriers --messages N` runs it for as many messages
//! as wanted; `HERMOD_CHAOS_SEED` repeats a run's chances.

mod checks;

use crate::assembly::{self, Served};
use crate::real_time::{now, pause};
use checks::{Compared, compare};
use hermod_simulator::carrier::{
    Carrier, CarrierOptions, Outcome, Receipts, Script, SubmitAction, SubmitFilter,
};
use hermod_simulator::load::http::{self, Bound, Keys, LoadOptions, Messages, Target, Which};
use hermod_smpp::CommandStatus;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

const MESSAGES: u64 = 20_000;
const SEED: u64 = 20_261_115;
const CONNECTIONS: u32 = 16;
/// Both ends of the life of a link.
const LINK_LIFE: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(30));
/// A carrier whose links were cut may be waited for up to a minute, and the last doubts come after that.
const SETTLE_WAIT: Duration = Duration::from_secs(600);
/// How long the silence at the end is listened to.
const QUIET: Duration = Duration::from_secs(15);
/// Of that time, in thousandths, the gateway may work.
const QUIET_CPU_PER_MILLE_MAX: u128 = 100;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_carriers_do_every_message_is_accounted_for() {
    let messages = number_from("HERMOD_CHAOS_MESSAGES").unwrap_or(MESSAGES);
    let seed = number_from("HERMOD_CHAOS_SEED").unwrap_or(SEED);
    let carriers = [
        ("hex", start(seed, chaotic().hex_ids_decimal_in_receipts()).await),
        ("decimal", start(seed + 1, slow_at_times().decimal_ids_hex_in_receipts()).await),
        ("pair", start(seed + 2, refusing_at_times().zeros_stripped_in_receipts()).await),
    ];
    let folder = tempfile::tempdir().expect("a temporary folder");
    let settings = "[messages]\nin_doubt_wait = \"1s\"\n[log]\nlevel = \"off\"\n";
    let gateway = Served::start_with(folder.path(), settings, &provisioned(&carriers));
    let began = now();

    let told = send(&gateway, messages).await;
    println!("{} messages accepted after {:.1?}", told.len(), began.elapsed());
    settle(folder.path(), &carriers).await;
    println!("everything has come to its end after {:.1?}", began.elapsed());
    quiet_without_carriers(&gateway, &carriers, told.len() as u64).await;
    gateway.stop().await;

    let Compared { copies, resends, unreported, parked } = compare(folder.path(), &told, &carriers).await;
    println!(
        "{messages} messages: {copies} copies at the carriers, {resends} resends on record, {unreported} without a \
         receipt, {parked} receipts without a message"
    );
    for (name, carrier) in carriers {
        println!("{name}: {:?}", carrier.record().counts());
        carrier.stop().await;
    }
}

async fn start(seed: u64, script: Script) -> Carrier {
    let options = CarrierOptions { seed, ..CarrierOptions::new(script) };
    Carrier::start(options).await.expect("a free port on the loopback")
}

/// Links are cut, one answer in a hundred is lost, one receipt in ten overtakes its answer, one in twenty comes twice and
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

/// It throttles now and then, and it stalls. Not in bursts: a link that was throttled tries one part at a time, and a burst
/// that is counted in parts would last until everything has gone to the other carriers.
fn slow_at_times() -> Script {
    chaotic()
        .rule(SubmitFilter::per_mille(3), SubmitAction::Reject(CommandStatus::THROTTLED))
        .rule(SubmitFilter::per_mille(1), SubmitAction::Reject(CommandStatus::MSGQFUL))
        .rule(SubmitFilter::every(9_000), SubmitAction::Stall(Duration::from_secs(20)))
}

fn refusing_at_times() -> Script {
    chaotic()
        .rule(SubmitFilter::per_mille(5), SubmitAction::Reject(CommandStatus::SYSERR))
        .rule(SubmitFilter::per_mille(2), SubmitAction::Reject(CommandStatus::INVDSTADR))
        .rule(SubmitFilter::every(7_000), SubmitAction::UnbindBeforeResponse)
}

/// Each carrier takes a third of the recipients and stands in for the others.
fn provisioned(carriers: &[(&str, Carrier); 3]) -> String {
    let usual = "window = 50\nrate = 3000\nresponse_timeout = \"3s\"\nenquire_link = \"5s\"\n";
    let settings = [
        "ids = \"hex-to-decimal\"\nlinks = 2",
        "ids = \"decimal-to-hex\"\nlinks = 2",
        "binds = \"transmitter-and-receiver\"\nlinks = 2",
    ];
    let entries = carriers.iter().zip(settings).map(|((name, carrier), settings)| {
        assembly::carrier_entry(name, carrier.addr(), &format!("{usual}{settings}"))
    });
    let shares =
        carriers.iter().map(|(name, _)| format!("{{ carrier = \"{name}\", priority = 1, weight = 1 }}"));
    let route = format!(
        "[[route]]\nprefix = \"49\"\ncarriers = [{}]\nfail_over_refusals = false\n",
        shares.collect::<Vec<_>>().join(", ")
    );
    let customers = assembly::customers_text("100000");
    format!("{}{route}{customers}", entries.collect::<String>())
}

/// Sends every message and gives the id of each by its index.
async fn send(gateway: &Served, messages: u64) -> BTreeMap<u64, String> {
    let target = Target::new(&gateway.base_url(), assembly::KEY, assembly::SECRET).expect("a target");
    let keys = Keys::Prefixed("chaos".to_owned());
    let texts = Messages::new(("+4915100000000", 90_000_000), None, checks::TEXT, keys).expect("messages");
    let told: Arc<Mutex<BTreeMap<u64, String>>> = Arc::default();
    let mut options = LoadOptions::new(target, texts, Bound::requests(messages));
    options.which = Which::From(0);
    options.connections = CONNECTIONS;
    let noted = told.clone();
    options.observer = Some(Arc::new(move |attempt| {
        let http::Outcome::Answered { status: 202, message_id: Some(id) } = attempt.outcome else {
            panic!("message {} was not accepted: {:?}", attempt.index, attempt.outcome)
        };
        noted.lock().expect("nobody panics with it").insert(attempt.index, id.to_owned());
    }));
    http::run(options).await.expect("a run");
    let told = std::mem::take(&mut *told.lock().expect("nobody panics with it"));
    assert_eq!(told.len() as u64, messages, "every message was answered");
    told
}

/// Waits until nothing more happens: the store's open parts and the carriers' unsettled receipts stay as they are.
async fn settle(folder: &Path, carriers: &[(&str, Carrier)]) {
    let (started, mut calm_since, mut last) = (now(), now(), None);
    loop {
        let (data, looked) = (assembly::data_folder(folder), now());
        let open = tokio::task::spawn_blocking(move || checks::unfinished(&data)).await.expect("no panic");
        let unsettled: usize = carriers.iter().map(|(_, carrier)| carrier.receipts_pending()).sum();
        let state = (open, unsettled);
        if last != Some(state) {
            (last, calm_since) = (Some(state), now());
        }
        // Nothing waits or is in doubt any more, and what the carriers still say changes nothing.
        if open.waiting == 0 && unsettled == 0 && calm_since.elapsed() > Duration::from_secs(8) {
            return;
        }
        assert!(started.elapsed() < SETTLE_WAIT, "after {SETTLE_WAIT:?}: {state:?}");
        // Looking through a big store takes a while, and must not be what the machine is busy with.
        pause(looked.elapsed() * 5 + Duration::from_millis(300)).await;
    }
}

/// All carriers hang up on everyone. The gateway keeps a queue, comes back on its curve, and does nothing else.
async fn quiet_without_carriers(gateway: &Served, carriers: &[(&str, Carrier)], next: u64) {
    for (_, carrier) in carriers {
        carrier.set_script(Script::new().hang_up());
        carrier.cut_links();
    }
    let target = Target::new(&gateway.base_url(), assembly::KEY, assembly::SECRET).expect("a target");
    let keys = Keys::Prefixed("late".to_owned());
    let texts =
        Messages::new(("+4915100000000", 90_000_000), None, checks::LATE_TEXT, keys).expect("messages");
    let mut options = LoadOptions::new(target, texts, Bound::requests(checks::LATE));
    options.which = Which::From(next);
    options.observer = Some(Arc::new(|attempt| {
        let accepted = matches!(attempt.outcome, http::Outcome::Answered { status: 202, .. });
        assert!(accepted, "a queue is kept without carriers: {:?}", attempt.outcome);
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
    for ((name, carrier), (before, after)) in carriers.iter().zip(before.iter().zip(&after)) {
        // Two links, or two pairs: four binds. Half a second apart at the very least, and mostly much further.
        let binds = if *name == "pair" { 4 } else { 2 };
        let most = binds * QUIET.as_secs();
        assert!(after - before <= most / 2, "{name}: {} attempts in {QUIET:?}", after - before);
        checks::attempts_keep_their_distance(name, carrier, binds);
    }
}

fn number_from(variable: &str) -> Option<u64> {
    #[expect(clippy::disallowed_methods, reason = "how cargo xtask chaos tells the rig what to do")]
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable} is not a number: {text}")))
}
