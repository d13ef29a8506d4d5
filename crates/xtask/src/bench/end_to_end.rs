//! `cargo xtask bench http` and `cargo xtask bench smpp`: messages per second end to end, compared with a server that stores
//! nothing and the same client.

use clap::Args;

use super::Programs;
use super::bed::{Bed, Loaded};
use super::gateway::{Setup, fresh_folder, make_certificate};
use super::load::{Length, Listeners, Load, Over, Report, WITH_KEYS};
use super::process::Process;
use super::{Judged, failure, missed};
use crate::gateway_files::Customer;
use crate::shell::Failure;

/// The longest measurement of the echo.
const ECHO_SECONDS_MAX: u64 = 10;

#[derive(Args)]
pub(crate) struct HttpOptions {
    /// Seconds of load; the reference is measured as long, half before and half after
    #[arg(long, default_value_t = 20)]
    seconds: u64,
    /// Connections, each with one request in flight
    #[arg(long, default_value_t = 64)]
    connections: u32,
    /// Give every message an idempotency key
    #[arg(long)]
    keys: bool,
    /// Fail below this ratio
    #[arg(long, default_value_t = 0.25)]
    floor: f64,
}

#[derive(Args)]
pub(crate) struct SmppOptions {
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

/// The runs over SMPP: name, binds, window, TLS, and what is asked. The first is the main run.
const SMPP_RUNS: [(&str, Over, &str); 4] = [
    (
        "one bind, window 100",
        Over::Smpp { binds: 1, window: 100, tls: false },
        "floor 10,000/s, aim 25,000/s",
    ),
    ("one bind, window 10", Over::Smpp { binds: 1, window: 10, tls: false }, "floor 8,000/s"),
    ("four binds, window 100", Over::Smpp { binds: 4, window: 100, tls: false }, "no floor"),
    ("one bind over TLS", Over::Smpp { binds: 1, window: 100, tls: true }, "no floor"),
];

pub(super) fn run_http(programs: &Programs, options: &HttpOptions) -> Judged {
    let HttpOptions { seconds, connections, keys, floor } = *options;
    let over = Over::Http { connections, flags: if keys { WITH_KEYS } else { &[] } };
    let half = (seconds / 2).max(1);
    let before = reference(programs, over, half)?.per_second;
    let measured = measure(programs, over, seconds)?;
    let after = reference(programs, over, half)?.per_second;
    let ratio = measured.per_second / f64::midpoint(before, after);
    println!("\n  empty endpoint     {before:>9.0} /s before, {after:.0} /s after");
    measured.print();
    println!(
        "  ratio              {ratio:>9.3}   (end to end / empty endpoint, same client, {connections} connections)"
    );
    Ok(missed(ratio < floor, || format!("the ratio {ratio:.3} is below {floor}")))
}

pub(super) fn run_smpp(programs: &Programs, options: &SmppOptions) -> Judged {
    let SmppOptions { seconds, short, main_only, floor } = *options;
    let seconds = if short { 2 } else { seconds };
    let [main, others @ ..] = SMPP_RUNS;
    let rate = compare(programs, main, seconds)?;
    for run in others.into_iter().filter(|_| !main_only) {
        compare(programs, run, (seconds / 4).max(2))?;
    }
    Ok(missed(!short && rate < floor, || format!("{rate:.0} messages per second are below {floor:.0}")))
}

/// Measures the echo and the gateway one after the other. Returns the gateway's rate.
fn compare(
    programs: &Programs,
    (name, over, goal): (&str, Over, &str),
    seconds: u64,
) -> Result<f64, Failure> {
    let echo = reference(programs, over, seconds.min(ECHO_SECONDS_MAX))?;
    let measured = measure(programs, over, seconds)?;
    let ratio = measured.per_second / echo.per_second.max(1e-9);
    println!("\n{name} ({seconds} s, {goal})");
    println!("  echo               {:>9.0} /s   {}", echo.per_second, echo.latencies());
    measured.print();
    println!("  ratio              {ratio:>9.3}   (end to end / echo, same client)");
    Ok(measured.per_second)
}

/// Measures a server that stores nothing.
fn reference(programs: &Programs, over: Over, seconds: u64) -> Result<Report, Failure> {
    let folder = fresh_folder()?;
    make_certificate(programs, &folder)?;
    let (certificate, key) = (folder.join("certificate.pem"), folder.join("key.pem"));
    let (shown, hidden) = (certificate.to_string_lossy(), key.to_string_lossy());
    let mut words = match over {
        Over::Smpp { .. } => vec!["smpp-echo", "--listen", "127.0.0.1:0"],
        Over::Http { .. } => vec!["empty-http", "--port", "0"],
    };
    if matches!(over, Over::Smpp { tls: true, .. }) {
        words.extend(["--tls-certificate", &*shown, "--tls-key", &*hidden]);
    }
    let mut server = Process::start(&programs.simulator, &words)?;
    let address = server.line()?;
    let (smpp, smpp_tls, url) = (address.clone(), address.clone(), address);
    let listeners = Listeners { smpp, smpp_tls, url, certificate: certificate.clone() };
    let load = Load { over, rate: None, length: Length::Seconds(seconds) };
    let report = load.start(programs, &listeners, &Customer::new("bench"), 0)?.finish()?;
    server.end()?;
    std::fs::remove_dir_all(&folder).map_err(failure)?;
    Ok(report)
}

fn measure(programs: &Programs, over: Over, seconds: u64) -> Result<Loaded, Failure> {
    let mut bed = Bed::start(programs, Setup::default())?;
    let measured = bed.load(&Load { over, rate: None, length: Length::Seconds(seconds) })?;
    bed.end()?;
    Ok(measured)
}
