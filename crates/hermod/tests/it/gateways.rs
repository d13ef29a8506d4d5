//! Starts a gateway for a test: in this process with a manual clock, or as the real binary.

mod addresses;
mod nodes;
mod provision_text;

pub(crate) use addresses::{free_address, is_ready};
use hermod_operator::setup;
pub(crate) use nodes::NodeSetup;
pub(crate) use provision_text::{carrier_entry, customers_text, provision_text, provision_text_with};

use crate::real_time::{PATIENCE, block, now, pause};
use crate::store_access::{self, store_of};
use hermod_domain::time::Timestamp;
use hermod_gateway::clock::Clock;
use hermod_gateway::config::{
    Bytes, Config, IpNetwork, MailSection, MailTls, NotifySection, Period, ShutdownSection, Source,
    StoreAddress,
};
use hermod_gateway::gateway::Gateway;
use hermod_gateway::running::{self, GatewayOptions, Resolver, Running};
use hermod_operator::api::OPERATOR_SIDE;
use hermod_operator::author::Author;
use hermod_operator::setup::file_entries::WantedSetup;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

pub(crate) const KEY: &str = "alice-key";
pub(crate) const SECRET: &str = "alice-secret-of-many-characters";
pub(crate) const OPENING_MICROS: i64 = 10_000_000_000_000;
/// The same as provision files have it: enough for 500 kills under load, which take more than two million messages.
pub(crate) const OPENING: &str = "10000000";
pub(crate) const PRICE_MICROS: i64 = 50_000;

/// The log file of a gateway, beside its settings.
pub(crate) const LOG: &str = "gateway.log";
const POLL: Duration = Duration::from_millis(20);

pub(crate) fn data_folder(folder: &Path) -> PathBuf {
    folder.join("data")
}

/// The settings of a gateway in this process, kept for restarts.
pub(crate) struct GatewaySetup {
    /// Lines of the carrier's entry.
    pub(crate) carrier: String,
    /// The customers' entries of the provision file.
    pub(crate) customers: String,
    /// Networks that webhooks may be posted to.
    pub(crate) webhooks_to: Vec<&'static str>,
    pub(crate) resolver: Resolver,
    /// A mail server without TLS, if mails are sent.
    pub(crate) mail: Option<SocketAddr>,
    pub(crate) portal_url: Option<String>,
    /// Where alarms are sent.
    pub(crate) notify: Option<NotifySection>,
}

impl GatewaySetup {
    pub(crate) fn with(carrier: &str) -> GatewaySetup {
        GatewaySetup {
            carrier: carrier.to_owned(),
            customers: customers_text("100"),
            webhooks_to: vec!["127.0.0.0/8"],
            resolver: Resolver::system(),
            mail: None,
            portal_url: None,
            notify: None,
        }
    }

    /// Adds lines to a customer's account.
    pub(crate) fn account(mut self, customer: &str, lines: &str) -> GatewaySetup {
        let entry = format!("[[account]]\nname = \"{customer}\"\n");
        self.customers = self.customers.replace(&entry, &format!("{entry}{lines}"));
        self
    }

    /// Adds lines to a customer's connection.
    pub(crate) fn connection(mut self, customer: &str, lines: &str) -> GatewaySetup {
        let entry = format!("[[connection]]\nname = \"{customer}-http\"\n");
        self.customers = self.customers.replace(&entry, &format!("{entry}{lines}"));
        self
    }
}

fn network(text: &str) -> IpNetwork {
    IpNetwork::parse(text).expect("a network")
}

/// A gateway in this process.
pub(crate) struct InProcess {
    running: Running,
    pub(crate) address: SocketAddr,
}

impl InProcess {
    pub(crate) async fn start(
        folder: &Path,
        carrier: SocketAddr,
        staged: &GatewaySetup,
        clock: Clock,
    ) -> InProcess {
        let mut config = Config::defaults();
        config.webhooks.allow_http = true;
        config.webhooks.allow = staged.webhooks_to.iter().map(|text| network(text)).collect();
        if let Some(server) = staged.mail {
            let (server, port) = (Some(server.ip().to_string()), Some(server.port()));
            let sender = Some("sms@example.org".to_owned());
            config.mail = MailSection { server, port, tls: MailTls::None, sender, ..config.mail };
        }
        config.portal.url.clone_from(&staged.portal_url);
        if let Some(notify) = &staged.notify {
            config.alarms.notify.clone_from(notify);
        }
        config.shutdown = ShutdownSection::AT_ONCE;
        config.data.folder = data_folder(folder);
        config.data.store = store_of(&config.data.folder);
        config.data.low_water = Bytes(16 << 20);
        config.messages.in_doubt_wait = Period::from_secs(15);
        let http = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a free port");
        let opened = running::open(&config, &clock).expect("the data folder opens");
        let text = provision_text_with(&carrier_entry("acme", carrier, &staged.carrier), &staged.customers);
        // As the real gateway reads it: what customers changed meanwhile stays.
        let source = Source { path: "provision.toml".into(), text };
        let wanted = WantedSetup::parse(&source).expect("a provision file");
        let wanted = wanted.judged_by(config.webhooks.rules());
        let applied =
            setup::apply(&opened.store, &opened.pepper, &wanted, &Author::operator(None), clock.now()).await;
        applied.expect("the provision file is valid");
        let smpp = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a free port");
        let smpp = Some(smpp);
        let options = GatewayOptions {
            config,
            http,
            https: None,
            smpp,
            smpps: None,
            operations: None,
            operator: Some(OPERATOR_SIDE),
            pages: Some(hermod_portal::server::pages()),
            clock,
        };
        let running = Running::start_resolving(options, opened, staged.resolver.clone()).await;
        let running = running.expect("the gateway starts");
        InProcess { address: running.http_addr(), running }
    }

    /// Returns the address for customers' binds.
    pub(crate) fn smpp_address(&self) -> SocketAddr {
        self.running.smpp_addr().expect("every test's gateway listens for binds")
    }

    /// Applies a provision text with whole entries to the running gateway.
    pub(crate) async fn provision(&self, text: &str) {
        self.apply(source_of(text).parse().expect("a provision file")).await;
    }

    /// Applies a provision text with only the fields that change, as a file of the operator's.
    pub(crate) async fn change(&self, text: &str) {
        self.apply(WantedSetup::parse(&source_of(text)).expect("a provision file")).await;
    }

    async fn apply(&self, wanted: WantedSetup) {
        let gateway = self.running.gateway();
        let wanted = wanted.judged_by(gateway.webhook_rules.clone());
        // On a server the gateway also reads the setup after each change, and must not do so in between.
        let _alone = gateway.change_alone().await.expect("the lock of the setup");
        let plan = setup::apply(
            &gateway.store,
            &gateway.pepper,
            &wanted,
            &Author::operator(None),
            gateway.clock.now(),
        )
        .await;
        gateway.set_catalogue(plan.expect("the provision file is valid").catalogue);
    }

    pub(crate) fn gateway(&self) -> &Arc<Gateway> {
        self.running.gateway()
    }

    pub(crate) async fn stop(self) {
        self.running.stop().await.expect("the gateway stops without an error");
    }
}

fn source_of(text: &str) -> Source {
    Source { path: "change.toml".into(), text: text.to_owned() }
}

/// The program that is tested.
pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_hermod");

/// A process of `hermod serve`, killed on drop.
pub(crate) struct Served {
    child: Child,
    address: SocketAddr,
    smpp: SocketAddr,
    /// Printed when the test fails.
    log: PathBuf,
}

impl Served {
    pub(crate) fn start(folder: &Path, carrier: SocketAddr) -> Served {
        Served::start_under(&[], folder, carrier)
    }

    /// Runs it under another program, such as one that makes system calls fail.
    pub(crate) fn start_under(program: &[&str], folder: &Path, carrier: SocketAddr) -> Served {
        let more = "[messages]\nin_doubt_wait = \"200ms\"\n[log]\nlevel = \"warn\"\n";
        Served::set_up(
            program,
            folder,
            &stored_in(folder),
            more,
            &provision_text(carrier, OPENING),
            &folder.join(LOG),
        )
    }

    /// Starts with these settings. The first of them belong to `[http]`, and `[smpp]` needs no address.
    pub(crate) fn start_with(folder: &Path, settings: &str, provision: &str) -> Served {
        Served::set_up(&[], folder, &stored_in(folder), settings, provision, &folder.join(LOG))
    }

    /// Like [`Served::start_with`], with this log file.
    pub(crate) fn start_logging(folder: &Path, settings: &str, provision: &str, log: &Path) -> Served {
        Served::set_up(&[], folder, &stored_in(folder), settings, provision, log)
    }

    /// Like [`Served::start_with`], under another program.
    pub(crate) fn start_with_under(
        program: &[&str],
        folder: &Path,
        settings: &str,
        provision: &str,
    ) -> Served {
        Served::set_up(program, folder, &stored_in(folder), settings, provision, &folder.join(LOG))
    }

    fn set_up(
        program: &[&str],
        folder: &Path,
        store: &StoreAddress,
        settings: &str,
        provision: &str,
        log: &Path,
    ) -> Served {
        let words: Vec<&str> = program.iter().copied().chain([PROGRAM]).collect();
        let mut served = Served::spawn(&words, &[], folder, store, settings, provision, log);
        served.wait_until_ready();
        served
    }

    /// Starts it, and does not wait until it is ready.
    fn spawn(
        words: &[&str],
        options: &[&str],
        folder: &Path,
        store: &StoreAddress,
        settings: &str,
        provision: &str,
        log: &Path,
    ) -> Served {
        let (address, smpp) = (free_address(), free_address());
        let settings = format!(
            "[data]\nfolder = \"data\"\nstore = \"{}\"\nlow_water = \"16MiB\"\n[provision]\nfile = \"provision.toml\"\n\
             [http]\nlisten = \"{address}\"\n{}{}",
            store,
            with_smpp(settings, smpp),
            // Most tests have no customers who are to notice nothing.
            if settings.contains("[shutdown]") { "" } else { STOP_AT_ONCE },
        );
        std::fs::write(folder.join("hermod.toml"), settings).expect("a settings file");
        std::fs::write(folder.join("provision.toml"), provision).expect("a provision file");
        let file = std::fs::File::options().append(true).create(true).open(log).expect("a log file");
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).arg("serve").arg("--config").arg(folder.join("hermod.toml")).args(options);
        let child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(file)
            .spawn()
            .expect("the binary starts");
        Served { child, address, smpp, log: log.to_owned() }
    }

    pub(crate) fn wait_until_ready(&mut self) {
        let started = now();
        while !is_ready(self.address) {
            assert!(started.elapsed() < PATIENCE, "the gateway is not ready after {PATIENCE:?}");
            let ended = self.child.try_wait().expect("a child can be asked");
            assert!(ended.is_none(), "the gateway ended with {ended:?} instead of getting ready");
            block(POLL);
        }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the address for customers' binds.
    pub(crate) fn smpp_address(&self) -> SocketAddr {
        self.smpp
    }

    /// Waits for it to end by itself.
    pub(crate) fn exit_code(&mut self) -> Option<i32> {
        self.child.wait().expect("it can be waited for").code()
    }

    pub(crate) fn base_url(&self) -> String {
        format!("http://{}/api/v1", self.address)
    }

    /// Returns the CPU time used so far.
    pub(crate) fn cpu_time(&self) -> Duration {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).expect("it is alive");
        let fields: Vec<&str> = stat.rsplit(')').next().expect("a name").split_whitespace().collect();
        // utime and stime, fields 14 and 15, in hundredths of a second.
        let ticks: u64 = [11, 12].iter().map(|place| fields[*place].parse::<u64>().expect("a number")).sum();
        Duration::from_millis(ticks * 10)
    }

    /// Returns its soft limit of open files.
    pub(crate) fn open_files_limit(&self) -> u64 {
        let limits =
            std::fs::read_to_string(format!("/proc/{}/limits", self.child.id())).expect("it is alive");
        let line = limits.lines().find(|line| line.starts_with("Max open files")).expect("a limit");
        line.split_whitespace().nth(3).expect("a soft limit").parse().expect("a number")
    }

    /// Sends SIGKILL.
    pub(crate) fn kill(mut self) {
        self.child.kill().expect("it was alive");
        self.child.wait().expect("it is gone");
    }

    /// Sends a signal by its name, such as `STOP`.
    pub(crate) fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        let sent =
            Command::new("kill").args([&format!("-{name}"), &id]).status().expect("kill is everywhere");
        assert!(sent.success());
    }

    /// Sends SIGTERM and asserts a successful exit.
    pub(crate) async fn stop(mut self) {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args(["-TERM", &id]).status().expect("kill is everywhere");
        assert!(sent.success());
        let status =
            tokio::task::spawn_blocking(move || self.child.wait().expect("it can be waited for")).await;
        let status = status.expect("waiting does not panic");
        assert!(status.success(), "the gateway ended with {status}");
    }

    pub(crate) async fn wait_until_no_open_parts(&self, folder: &Path) {
        wait_until_no_open_parts(&stored_in(folder), folder).await;
    }
}

/// Waits until no part of the store is open any more. Fails when there are as many as before for too long.
pub(crate) async fn wait_until_no_open_parts(store: &StoreAddress, folder: &Path) {
    let (mut fewest, mut since) = (u64::MAX, now());
    loop {
        let (store, data) = (store.clone(), data_folder(folder));
        let audit = tokio::task::spawn_blocking(move || store_access::audit_store(&store, &data)).await;
        let open = audit.expect("an audit does not panic").open_parts;
        if open == 0 {
            return;
        }
        if open < fewest {
            (fewest, since) = (open, now());
        }
        assert!(since.elapsed() < PATIENCE, "{open} parts are still open after {PATIENCE:?}");
        pause(Duration::from_millis(200)).await;
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // An error means that the process has already ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            eprintln!("{}", std::fs::read_to_string(&self.log).unwrap_or_default());
        }
    }
}

/// Returns where the gateway of a folder stores its messages.
pub(crate) fn stored_in(folder: &Path) -> StoreAddress {
    store_of(&data_folder(folder))
}

/// Returns the settings with this address in their `[smpp]` section, which is added if missing.
fn with_smpp(settings: &str, address: SocketAddr) -> String {
    let section = format!("[smpp]\nlisten = \"{address}\"\n");
    match settings.contains("[smpp]\n") {
        true => settings.replace("[smpp]\n", &section),
        false => format!("{settings}{section}"),
    }
}

/// Settings of a gateway that stops without waiting for load balancers and customers.
pub(crate) const STOP_AT_ONCE: &str = "[shutdown]\nannounce = \"0s\"\nlinger = \"0s\"\n";

pub(crate) fn wall_time() -> Timestamp {
    Clock::real().now()
}
