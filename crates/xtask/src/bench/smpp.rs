//! `cargo xtask bench smpp`: messages per second end to end over SMPP, with receipts, compared with an echo server that stores
//! nothing and the same client.

use std::path::Path;
use std::time::Duration;

use clap::Args;
use serde_json::Value;

use super::gateway::{Carrier, Gateway, PASSWORD, SYSTEM_ID, make_certificate};
use super::process::{Process, Usage};
use super::{failure, load_average};
use crate::shell::{Failure, Outcome};

/// Time for all accepted messages to be settled after the last receipt.
const SETTLE_WAIT: Duration = Duration::from_secs(120);
/// The longest measurement of the echo.
const ECHO_SECONDS_MAX: u64 = 10;

#[derive(Args)]
pub(crate) struct Options {
    /// Seconds of the main run; the others take a quarter of it
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// Two seconds per run, to test the benchmark
    #[arg(long)]
    short: bool,
    /// Only the main run and its reference
    #[arg(long)]
    main_only: bool,
    /// Fail below this many messages per second in the main run
    #[arg(long, default_value_t = 10_000.0)]
    floor: f64,
}

/// The binds of one run.
#[derive(Clone, Copy)]
struct BindSetup {
    name: &'static str,
    binds: u32,
    window: u32,
    tls: bool,
    goal: &'static str,
}

const MAIN: BindSetup = BindSetup {
    name: "one bind, window 100",
    binds: 1,
    window: 100,
    tls: false,
    goal: "floor 10,000/s, aim 25,000/s",
};
const OTHERS: [BindSetup; 3] = [
    BindSetup { name: "one bind, window 10", binds: 1, window: 10, tls: false, goal: "floor 8,000/s" },
    BindSetup { name: "four binds, window 100", binds: 4, window: 100, tls: false, goal: "no floor" },
    BindSetup { name: "one bind over TLS", binds: 1, window: 100, tls: true, goal: "no floor" },
];

pub(crate) fn run(options: &Options) -> Outcome {
    println!("load average before: {}", load_average());
    let seconds = if options.short { 2 } else { options.seconds };
    let others = if options.short { 2 } else { (seconds / 4).max(2) };
    let measured = compare(MAIN, seconds)?;
    if !options.main_only {
        for setup in OTHERS {
            compare(setup, others)?;
        }
    }
    println!("load average after:  {}", load_average());
    if !options.short && measured < options.floor {
        return Err(failure(format!("{measured:.0} messages per second are below {:.0}", options.floor)));
    }
    Ok(())
}

/// Measures the echo and the gateway one after the other. Returns the gateway's rate.
fn compare(setup: BindSetup, seconds: u64) -> Result<f64, Failure> {
    let echo = reference(setup, seconds.min(ECHO_SECONDS_MAX))?;
    let measured = measure(setup, seconds)?;
    let ratio = measured.load.per_second / echo.per_second.max(1e-9);
    println!("\n{} ({seconds} s, {})", setup.name, setup.goal);
    println!("  echo               {:>9.0} /s   {}", echo.per_second, echo.latencies());
    measured.print();
    println!("  ratio              {ratio:>9.3}   (end to end / echo, same client)");
    measured.load.require_no_errors()?;
    Ok(measured.load.per_second)
}

/// One run of the load generator.
struct Load {
    /// Messages that were accepted and receipted per second, until the last receipt.
    per_second: f64,
    accepted: u64,
    report: Value,
}

impl Load {
    fn count(&self, pointer: &str) -> u64 {
        self.report.pointer(pointer).and_then(Value::as_u64).unwrap_or(0)
    }

    fn latencies(&self) -> String {
        let ms = |pointer: &str| {
            #[expect(clippy::cast_precision_loss, reason = "a latency, shown with one decimal")]
            let us = self.count(pointer) as f64;
            us / 1000.0
        };
        format!(
            "response {:.1} ms p50, {:.1} ms p99; receipt {:.1} ms p50, {:.1} ms p99",
            ms("/response/p50_us"),
            ms("/response/p99_us"),
            ms("/receipt/p50_us"),
            ms("/receipt/p99_us")
        )
    }

    /// The generator's errors and the messages that were not delivered.
    fn errors(&self) -> u64 {
        let ended: u64 = self.report["binds_ended"]
            .as_object()
            .map_or(0, |ends| ends.values().filter_map(Value::as_u64).sum());
        let errors = ["/rejected", "/timed_out", "/lost", "/bad_ids"];
        let receipts = ["/receipts/duplicated", "/receipts/unknown", "/receipts/missing"];
        let errors: u64 = errors.iter().chain(&receipts).map(|pointer| self.count(pointer)).sum();
        let undelivered = self.accepted.abs_diff(self.count("/receipts/states/DELIVRD"));
        errors + ended + undelivered
    }

    fn require_no_errors(&self) -> Outcome {
        match self.errors() {
            0 => Ok(()),
            errors => Err(failure(format!("{errors} errors: {}", self.report))),
        }
    }
}

fn reference(setup: BindSetup, seconds: u64) -> Result<Load, Failure> {
    let tls = std::env::temp_dir().join(format!("hermod-bench-tls-{}", std::process::id()));
    make_certificate(&tls)?;
    let (certificate, key) = (tls.join("certificate.pem"), tls.join("key.pem"));
    let (shown, hidden) = (certificate.to_string_lossy(), key.to_string_lossy());
    let mut args = vec!["smpp-echo", "--listen", "127.0.0.1:0"];
    if setup.tls {
        args.extend(["--tls-certificate", &*shown, "--tls-key", &*hidden]);
    }
    let mut echo = Process::start("hermod-sim", &args)?;
    let address = echo.line()?;
    let load = load(setup, &address, &certificate, seconds)?;
    echo.end()?;
    std::fs::remove_dir_all(&tls).map_err(failure)?;
    load.require_no_errors()?;
    Ok(load)
}

/// What the gateway did.
struct Measured {
    load: Load,
    gateway: Usage,
    carrier: Usage,
}

fn measure(setup: BindSetup, seconds: u64) -> Result<Measured, Failure> {
    let carrier = Carrier::start(&["--receipt-after", "1ms"])?;
    let (gateway, smpp) = Gateway::start_for(&carrier.address, setup.binds.into())?;
    let before = (gateway.usage()?, carrier.usage()?);
    let address = if setup.tls { &smpp.tls } else { &smpp.plain };
    let load = load(setup, address, &smpp.certificate, seconds)?;
    gateway.wait_until_settled(load.accepted, SETTLE_WAIT)?;
    let after = (gateway.usage()?, carrier.usage()?);
    if load.errors() == 0 {
        gateway.end_and_audit(load.accepted)?;
        carrier.end_and_compare(load.accepted)?;
    }
    Ok(Measured { load, gateway: after.0.since(before.0), carrier: after.1.since(before.1) })
}

impl Measured {
    fn print(&self) {
        let Measured { load, gateway, carrier } = self;
        println!("  hermod end to end  {:>9.0} /s   {}", load.per_second, load.latencies());
        println!(
            "    messages         {:>9}      accepted, charged, at the carrier, receipted; {} errors",
            load.accepted,
            load.errors()
        );
        let per_message = |amount: u128| amount / u128::from(load.accepted.max(1));
        println!(
            "    CPU per message  {:>9} us   gateway; {} us carrier, {} us generator",
            per_message(gateway.cpu.as_micros()),
            per_message(carrier.cpu.as_micros()),
            per_message(load.count("/cpu_us").into())
        );
        println!("    written          {:>9} bytes per message", per_message(gateway.written_bytes.into()));
        println!("    memory           {:>9} MiB at most", gateway.resident_peak_bytes >> 20);
    }
}

fn load(setup: BindSetup, address: &str, certificate: &Path, seconds: u64) -> Result<Load, Failure> {
    // The certificate is for a name, and the listener's address has the number that name stands for.
    let address = address.replace("127.0.0.1", "localhost");
    let (binds, window, duration) =
        (setup.binds.to_string(), setup.window.to_string(), format!("{seconds}s"));
    let certificate = certificate.to_string_lossy();
    let mut args = vec![
        "smpp-load",
        "--json",
        "--address",
        &address,
        "--system-id",
        SYSTEM_ID,
        "--password",
        PASSWORD,
        "--transceivers",
        &binds,
        "--window",
        &window,
        "--duration",
        &duration,
    ];
    if setup.tls {
        args.extend(["--tls-ca", &*certificate]);
    }
    let mut generator = Process::start("hermod-sim", &args)?;
    let report: Value = serde_json::from_str(&generator.line()?).map_err(failure)?;
    Ok(Load {
        per_second: report["receipts"]["per_second"].as_f64().unwrap_or(0.0),
        accepted: report["accepted"].as_u64().unwrap_or(0),
        report,
    })
}
