//! `cargo xtask bench smpp`: messages per second end to end over SMPP, with receipts, compared with an echo server that stores
//! nothing and the same client.

use std::path::Path;
use std::time::Duration;

use clap::Args;

use super::gateway::{Carrier, Gateway, make_certificate};
use super::process::{Process, Usage};
use super::programs::Programs;
use super::smpp_load::{SmppLoad, SmppReport};
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

pub(crate) fn run(programs: &Programs, options: &Options) -> Outcome {
    println!("load average before: {}", load_average());
    let seconds = if options.short { 2 } else { options.seconds };
    let others = if options.short { 2 } else { (seconds / 4).max(2) };
    let measured = compare(programs, MAIN, seconds)?;
    if !options.main_only {
        for setup in OTHERS {
            compare(programs, setup, others)?;
        }
    }
    println!("load average after:  {}", load_average());
    if !options.short && measured < options.floor {
        return Err(failure(format!("{measured:.0} messages per second are below {:.0}", options.floor)));
    }
    Ok(())
}

/// Measures the echo and the gateway one after the other. Returns the gateway's rate.
fn compare(programs: &Programs, setup: BindSetup, seconds: u64) -> Result<f64, Failure> {
    let echo = reference(programs, setup, seconds.min(ECHO_SECONDS_MAX))?;
    let measured = measure(programs, setup, seconds)?;
    let ratio = measured.load.per_second / echo.per_second.max(1e-9);
    println!("\n{} ({seconds} s, {})", setup.name, setup.goal);
    println!("  echo               {:>9.0} /s   {}", echo.per_second, echo.latencies());
    measured.print();
    println!("  ratio              {ratio:>9.3}   (end to end / echo, same client)");
    measured.load.require_no_errors()?;
    Ok(measured.load.per_second)
}

fn reference(programs: &Programs, setup: BindSetup, seconds: u64) -> Result<SmppReport, Failure> {
    let tls = std::env::temp_dir().join(format!("hermod-bench-tls-{}", std::process::id()));
    make_certificate(programs, &tls)?;
    let (certificate, key) = (tls.join("certificate.pem"), tls.join("key.pem"));
    let (shown, hidden) = (certificate.to_string_lossy(), key.to_string_lossy());
    let mut args = vec!["smpp-echo", "--listen", "127.0.0.1:0"];
    if setup.tls {
        args.extend(["--tls-certificate", &*shown, "--tls-key", &*hidden]);
    }
    let mut echo = Process::start(&programs.simulator, &args)?;
    let address = echo.line()?;
    let load = load(programs, setup, &address, &certificate, seconds)?;
    echo.end()?;
    std::fs::remove_dir_all(&tls).map_err(failure)?;
    load.require_no_errors()?;
    Ok(load)
}

/// What the gateway did.
struct Measured {
    load: SmppReport,
    gateway: Usage,
    carrier: Usage,
}

fn measure(programs: &Programs, setup: BindSetup, seconds: u64) -> Result<Measured, Failure> {
    let carrier = Carrier::start(programs, &["--receipt-after", "1ms"])?;
    let (gateway, smpp) = Gateway::start_for(programs, &carrier.address, setup.binds.into())?;
    let before = (gateway.usage()?, carrier.usage()?);
    let address = if setup.tls { &smpp.tls } else { &smpp.plain };
    let load = load(programs, setup, address, &smpp.certificate, seconds)?;
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

fn load(
    programs: &Programs,
    setup: BindSetup,
    address: &str,
    certificate: &Path,
    seconds: u64,
) -> Result<SmppReport, Failure> {
    let BindSetup { binds, window, tls, .. } = setup;
    let certificate = tls.then_some(certificate);
    SmppLoad { address, binds, window, certificate, rate: None, seconds, first: 0 }.run(programs)
}
