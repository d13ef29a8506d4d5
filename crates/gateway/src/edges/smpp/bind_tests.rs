//! Tests of accepted and rejected binds, in the order of the checks, with their status.

use super::*;
use crate::clock::Clock;
use crate::config::Config;
use crate::secrets::{Pepper, passwords};
use futures_util::FutureExt as _;
use hermod_domain::catalogue::{
    Account, AllowList, BindTypes, Catalogue, Connection, Countries, Documents, SmppAccess, Tier,
};
use hermod_domain::ids::{AccountId, ConnectionId};
use hermod_domain::money::Money;
use hermod_domain::time::Timestamp;
use hermod_domain::webhook::DlrForm;
use hermod_smpp::Hidden;
use hermod_store::{OpenOptions, Store};
use metrics_exporter_prometheus::PrometheusBuilder;
use std::collections::BTreeSet;
use std::io::Write;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::{Arc, Mutex};

/// Returns a catalogue with one customer, who may bind twice from addresses on this list.
fn catalogue(pepper: &Pepper, allow: AllowList) -> Catalogue {
    Catalogue::build(documents(pepper, allow)).unwrap()
}

fn documents(pepper: &Pepper, allow: AllowList) -> Documents {
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
        webhooks: None,
        stop_words: Vec::new(),
        warn_below: None,
        urgent_below: None,
        suspended: None,
    };
    let hash = passwords::hash(pepper, "secret08").unwrap();
    let connection = Connection {
        account: AccountId::new(1),
        default_sender: None,
        requests_per_second: 10,
        max_parts: None,
        allow,
        smart_encoding: false,
        closed: false,
        smpp: Some(SmppAccess { max_binds: 2, ..SmppAccess::new("shop", &hash) }),
        dlr_form: DlrForm::default(),
        webhooks_too: false,
    };
    Documents {
        accounts: vec![(AccountId::new(1), "shop".to_owned(), account)],
        connections: vec![(ConnectionId::new(1), connection)],
        connection_names: vec![(ConnectionId::new(1), "shop-smpp".to_owned())],
        ..Documents::default()
    }
}

pub(in crate::edges::smpp) struct Stage {
    pub(in crate::edges::smpp) gateway: Arc<Gateway>,
    pub(in crate::edges::smpp) settings: SmppSettings,
    pub(in crate::edges::smpp) _folder: tempfile::TempDir,
}

impl Stage {
    pub(in crate::edges::smpp) async fn new(change: impl FnOnce(&mut Config)) -> Stage {
        let folder = tempfile::tempdir().unwrap();
        let clock = Clock::manual(Timestamp::from_millis(1_794_700_800_000));
        let options = OpenOptions {
            folder: folder.path().to_owned(),
            server: None,
            low_water_bytes: 0,
            in_doubt_wait: Duration::from_secs(15),
            record: false,
            now: clock.now(),
        };
        let (store, pepper) = (Store::open(&options).unwrap(), Pepper::new(b"pepper"));
        let catalogue = catalogue(&pepper, AllowList::default());
        let gateway = Gateway::new(clock, store, pepper, catalogue, Duration::from_secs(60));
        let mut config = Config::defaults();
        change(&mut config);
        let settings = SmppSettings::new(&config.smpp).unwrap();
        Stage { gateway: Arc::new(gateway), settings, _folder: folder }
    }

    async fn bind(&self, system_id: &str, password: &str) -> Result<AcceptedBind, BindRejection> {
        self.bind_from(1, system_id, password).await
    }

    async fn bind_from(
        &self,
        last: u8,
        system_id: &str,
        password: &str,
    ) -> Result<AcceptedBind, BindRejection> {
        let bind = Bind {
            system_id: system_id.as_bytes(),
            password: Hidden(password.as_bytes()),
            interface_version: 0x34,
            ..Bind::default()
        };
        check(&self.gateway, &self.settings, peer(last, false), BindType::Transceiver, &bind).await
    }
}

pub(in crate::edges::smpp) fn peer(last: u8, tls: bool) -> Peer {
    Peer { address: IpAddr::from([192, 0, 2, last]), tls }
}

fn actual(checked: &Result<AcceptedBind, BindRejection>) -> String {
    match checked {
        Ok(_) => "bound".to_owned(),
        Err(BindRejection { status, delay, why }) if delay.is_zero() => format!("0x{:02X} {why}", status.0),
        Err(BindRejection { status, delay, why }) => format!("0x{:02X} {why} after {delay:?}", status.0),
    }
}

#[tokio::test]
async fn unknown_system_id_and_wrong_password_get_the_same_status() {
    let stage = Stage::new(|_| {}).await;
    for (system_id, password, expect) in [
        ("shop", "secret08", "bound"),
        ("shop", "secret09", "0x0E wrong credentials"),
        ("shop", "", "0x0E wrong credentials"),
        ("other", "secret08", "0x0E wrong credentials"),
        ("Shop", "secret08", "0x0E wrong credentials"),
        ("caf\u{e9}", "secret08", "0x0E wrong credentials"),
        ("", "secret08", "0x0F invalid length of system_id"),
        ("sixteen-and-more", "secret08", "0x0F invalid length of system_id"),
        ("shop", "secret008", "0x0E password too long"),
    ] {
        assert_eq!(actual(&stage.bind(system_id, password).await), expect, "{system_id} {password}");
    }
}

#[tokio::test]
async fn accepted_bind_holds_a_slot_until_dropped() {
    let stage = Stage::new(|_| {}).await;
    let admitted = stage.bind("shop", "secret08").await.ok().unwrap();
    assert_eq!(admitted.access.system_id, "shop");
    assert_eq!(admitted.bind.began.connection, admitted.connection);
    let shown = stage.gateway.binds.show(stage.gateway.clock.moment());
    assert_eq!(
        (shown.len(), shown[0].began.kind, shown[0].began.is_3_4, shown[0].began.window),
        (1, BindType::Transceiver, true, 10)
    );
    assert_eq!(shown[0].began.account, AccountId::new(1));
    drop(admitted);
    assert_eq!(stage.gateway.binds.count(), 0);
}

#[tokio::test]
async fn attempts_over_the_limit_are_rejected_without_hashing() {
    let stage = Stage::new(|config| {
        config.smpp.bind_attempts = 3;
        config.smpp.bind_attempts_per_system_id = 5;
    })
    .await;
    let good = stage.bind("shop", "secret08").await;
    for guess in ["a", "b", "c"] {
        assert_eq!(actual(&stage.bind("shop", guess).await), "0x0E wrong credentials");
    }
    let spent = "0x0D too many attempts from this address after 5s";
    assert_eq!(actual(&stage.bind("shop", "d").await), spent);
    assert_eq!(
        actual(&stage.bind("shop", "secret08").await),
        spent,
        "the right password too: the customer retries"
    );
    assert_eq!(actual(&stage.bind_from(2, "shop", "e").await), "0x0E wrong credentials");
    assert_eq!(actual(&stage.bind_from(2, "shop", "f").await), "0x0E wrong credentials");
    let spent = "0x0D too many attempts for this system_id after 5s";
    assert_eq!(actual(&stage.bind_from(2, "shop", "g").await), spent);
    stage.gateway.clock.advance(Duration::from_secs(20));
    assert_eq!(actual(&stage.bind("shop", "secret08").await), "bound");
    drop(good);
}

#[tokio::test]
async fn wrong_binds_from_unlisted_addresses_do_not_lock_the_owner_out() {
    let stage = Stage::new(|config| config.smpp.bind_attempts_per_system_id = 5).await;
    let allow = AllowList(vec!["192.0.2.1/32".parse().unwrap()]);
    stage.gateway.set_catalogue(catalogue(&stage.gateway.pepper, allow));
    for stranger in 10..30 {
        let actual = actual(&stage.bind_from(stranger, "shop", "guess").await);
        assert!(actual.starts_with("0x0"), "{actual}");
    }
    assert_eq!(
        actual(&stage.bind("shop", "wrong").await),
        "0x0E wrong credentials",
        "the owner's limit is untouched"
    );
    assert_eq!(actual(&stage.bind("shop", "secret08").await), "bound");
    let unlisted = "0x0D too many attempts for this system_id after 5s";
    assert_eq!(actual(&stage.bind_from(40, "shop", "secret08").await), unlisted);
}

#[tokio::test]
async fn malformed_binds_count_against_their_address() {
    let stage = Stage::new(|config| config.smpp.bind_attempts = 3).await;
    for _ in 0..3 {
        assert_eq!(actual(&stage.bind("", "secret08").await), "0x0F invalid length of system_id");
    }
    assert_eq!(actual(&stage.bind("", "x").await), "0x0D too many attempts from this address after 5s");
    assert_eq!(
        actual(&stage.bind_from(2, "shop", "secret08").await),
        "bound",
        "other addresses are not affected"
    );
}

/// The time must not reveal whether a system_id exists: both responses come after one password check, which costs the same
/// (`passwords.rs`).
#[tokio::test]
async fn unknown_system_id_and_wrong_password_take_one_password_check_each() {
    let recorder = PrometheusBuilder::new().build_recorder();
    let figures = recorder.handle();
    let _recording = metrics::set_default_local_recorder(&recorder);
    let stage = Stage::new(|_| {}).await;
    for (number, system_id) in (1..).zip(["shop", "other", "shop", "other"]) {
        assert_eq!(actual(&stage.bind(system_id, "secret09").await), "0x0E wrong credentials");
        let (figures, line) = (figures.render(), format!("hermod_smpp_password_hashes_total {number}"));
        assert!(figures.lines().any(|found| found == line), "{system_id}: {figures}");
    }
}

/// Collects log lines.
#[derive(Clone, Default)]
struct LogLines(Arc<Mutex<Vec<u8>>>);

impl Write for LogLines {
    fn write(&mut self, octets: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(octets)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn merged_log_line_of_rejected_binds_has_the_system_id_of_a_known_connection_only() {
    let lines = LogLines::default();
    let writer = lines.clone();
    let subscriber = tracing_subscriber::fmt().with_ansi(false).with_writer(move || writer.clone()).finish();
    let _logging = tracing::subscriber::set_default(subscriber);
    let stage = Stage::new(|_| {}).await;
    let mut counting = pin!(stage.settings.rejected_bind_log.write_counts(&stage.gateway));
    assert!(counting.as_mut().now_or_never().is_none());
    for system_id in ["shop", "other", "shop", "another", "shop"] {
        assert_eq!(actual(&stage.bind(system_id, "secret09").await), "0x0E wrong credentials");
    }
    stage.gateway.clock.advance(Duration::from_secs(60));
    assert!(counting.as_mut().now_or_never().is_none());
    let lines = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
    let mut merged: Vec<&str> =
        lines.lines().filter_map(|line| Some(line.split_once("Rejected more binds: ")?.1)).collect();
    merged.sort_unstable();
    assert_eq!(
        merged,
        [
            "wrong credentials system_id=\"shop\" peer=192.0.2.1 times=2",
            "wrong credentials system_id=\"unknown\" peer=192.0.2.1 times=1",
        ]
    );
}

#[tokio::test]
async fn new_bind_of_a_suspended_account_is_rejected_and_a_live_one_stays() {
    let stage = Stage::new(|_| {}).await;
    let Ok(live) = stage.bind("shop", "secret08").await else { panic!("the account is not suspended yet") };
    let mut documents = documents(&stage.gateway.pepper, AllowList::default());
    documents.accounts[0].2.suspended = Some("unpaid invoice".to_owned());
    stage.gateway.set_catalogue(Catalogue::build(documents.clone()).unwrap());
    assert_eq!(actual(&stage.bind("shop", "secret08").await), "0x0D account suspended");
    assert_eq!(actual(&stage.bind("shop", "secret09").await), "0x0E wrong credentials");
    assert_eq!(rejection_of_live_bind(&stage.gateway, &live.bind, peer(1, false)), None);
    documents.accounts[0].2.suspended = None;
    stage.gateway.set_catalogue(Catalogue::build(documents).unwrap());
    assert_eq!(actual(&stage.bind("shop", "secret08").await), "bound");
}

#[tokio::test]
async fn right_password_never_counts_as_an_attempt() {
    let stage = Stage::new(|config| config.smpp.bind_attempts = 1).await;
    for _ in 0..50 {
        assert_eq!(actual(&stage.bind("shop", "secret08").await), "bound");
    }
}

#[tokio::test]
async fn binds_that_come_back_at_once_are_verified_by_the_first() {
    let stage = Stage::new(|config| config.smpp.bind_attempts = 1).await;
    let [first, second] = ["secret08", "secret08"].map(|password| stage.bind("shop", password));
    let (first, second) = tokio::join!(first, second);
    assert_eq!([actual(&first), actual(&second)], ["bound", "bound"]);
    let [first, second] = ["secret09", "secret09"].map(|password| stage.bind("shop", password));
    let (first, second) = tokio::join!(first, second);
    let refused = "0x0D too many attempts from this address after 5s";
    assert_eq!([actual(&first).as_str(), actual(&second).as_str()], ["0x0E wrong credentials", refused]);
    assert!(stage.settings.guard.is_idle(), "no credentials are kept");
}

#[tokio::test]
async fn bind_is_rejected_while_stopping_or_over_max_sessions() {
    let stage = Stage::new(|config| config.smpp.max_sessions = 1).await;
    stage.settings.open.store(2, std::sync::atomic::Ordering::Relaxed);
    assert_eq!(actual(&stage.bind("shop", "secret08").await), "0x0D too many sessions");
    stage.settings.open.store(1, std::sync::atomic::Ordering::Relaxed);
    assert_eq!(actual(&stage.bind("shop", "secret08").await), "bound");
    stage.gateway.start_draining();
    assert_eq!(actual(&stage.bind("shop", "secret08").await), "0x0D stopping");
}

/// Binds while the slots are full; `older` unbinds when it is probed, without one the probe times out.
async fn third_bind(stage: &Stage, older: Option<LiveBind>) -> Result<AcceptedBind, BindRejection> {
    let asked = async {
        match older {
            Some(older) => {
                assert_eq!(older.ordered().await, Order::Probe);
                older.leave();
            }
            // It stays bound and the wait passes.
            None => loop {
                tokio::task::yield_now().await;
                stage.gateway.clock.advance(Duration::from_millis(100));
            },
        }
        std::future::pending().await
    };
    tokio::select! {
        bound = stage.bind("shop", "secret08") => bound,
        () = asked => unreachable!("it never ends"),
    }
}

#[tokio::test]
async fn bind_over_max_binds_is_accepted_only_if_an_older_bind_from_its_address_is_dead() {
    let stage = Stage::new(|_| {}).await;
    let first = stage.bind("shop", "secret08").await.ok().unwrap();
    let _second = stage.bind_from(2, "shop", "secret08").await.ok().unwrap();
    let full = "0x0D maximum number of binds reached";
    assert_eq!(
        actual(&stage.bind_from(3, "shop", "secret08").await),
        full,
        "no older bind from this address"
    );
    assert_eq!(actual(&third_bind(&stage, None).await), full);
    // Probed before, and not answered yet.
    assert_eq!(first.bind.ordered().await, Order::Probe);
    assert_eq!(actual(&third_bind(&stage, Some(first.bind)).await), "bound");
}

#[track_caller]
fn check_rejection(
    change: impl FnOnce(&mut Connection, &mut SmppAccess, &mut bool, &mut Peer),
    expect: &str,
) {
    let mut access = SmppAccess::new("shop", "hash");
    let mut connection = Connection {
        account: AccountId::new(1),
        default_sender: None,
        requests_per_second: 10,
        max_parts: None,
        allow: Default::default(),
        smart_encoding: false,
        closed: false,
        smpp: None,
        dlr_form: Default::default(),
        webhooks_too: false,
    };
    let (mut open, mut from) = (true, peer(1, false));
    change(&mut connection, &mut access, &mut open, &mut from);
    let checked = check_connection(&connection, &access, open, from, BindType::Transmitter, Some(b"SMS"));
    let actual = checked
        .map_or_else(|refused| format!("0x{:02X} {}", refused.status.0, refused.why), |()| "in".into());
    assert_eq!(actual, expect);
}

#[test]
fn authenticated_bind_is_checked_against_its_connection() {
    check_rejection(|_, _, _, _| {}, "in");
    check_rejection(|connection, _, _, _| connection.closed = true, "0x0D closed");
    check_rejection(|_, _, open, _| *open = false, "0x0D closed");
    let only = |network: &str| hermod_domain::catalogue::AllowList(vec![network.parse().unwrap()]);
    check_rejection(|connection, _, _, _| connection.allow = only("192.0.2.0/24"), "in");
    check_rejection(
        |connection, _, _, _| connection.allow = only("198.51.100.0/24"),
        "0x0D address not allowed",
    );
    check_rejection(|_, access, _, _| access.tls_only = true, "0x0D TLS required");
    check_rejection(
        |_, access, _, from| {
            access.tls_only = true;
            from.tls = true;
        },
        "in",
    );
    check_rejection(|_, access, _, _| access.system_type = Some("SMS".to_owned()), "in");
    check_rejection(|_, access, _, _| access.system_type = Some("OWN".to_owned()), "0x53 wrong system_type");
    let receiving = BindTypes { transmitter: false, receiver: true, transceiver: true };
    check_rejection(|_, access, _, _| access.bind_types = receiving, "0x0D bind type not allowed");
    // Each before the next.
    check_rejection(
        |connection, access, open, _| {
            (access.bind_types, access.system_type, access.tls_only) =
                (receiving, Some("OWN".to_owned()), true);
            (connection.allow, *open) = (only("198.51.100.0/24"), false);
        },
        "0x0D closed",
    );
    check_rejection(
        |_, access, _, _| (access.bind_types, access.system_type) = (receiving, Some("OWN".to_owned())),
        "0x53 wrong system_type",
    );
}
