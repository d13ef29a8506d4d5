//! `hermod audit`: proves the books of a data folder from its raw rows.

use crate::ending::{Ended, Failure};
use crate::show;
use clap::Args;
use hermod_gateway::running::{self, AuditReport, StoreFault};
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  hermod audit --data-dir hermod-data
  hermod audit --data-dir hermod-data --json | jq .violations

Every balance, state and link between tables is worked out again from the raw rows and compared. It reads one
snapshot and may run beside a live gateway.

Exit codes: 0 nothing is wrong, 1 something is or the audit could not be done.";

/// The first word on how long it takes comes after this, and then one each second.
const PROGRESS_AFTER_S: u64 = 2;

/// Prove that balances, messages and ledger agree
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Audit {
    /// The data folder
    #[arg(long, value_name = "DIR")]
    data_dir: PathBuf,
    /// Print the result as one JSON object
    #[arg(long)]
    json: bool,
}

impl Audit {
    pub(crate) fn run(self) -> Ended {
        let report = audit_showing_progress(&self.data_dir).map_err(Failure::failed)?;
        let told = if self.json {
            show::say_raw(&to_json(&report).to_string())
        } else {
            show::say(&to_text(&report, &self.data_dir))
        };
        told?;
        if report.is_clean() { Ok(()) } else { Err(Failure::told()) }
    }
}

fn audit_showing_progress(folder: &Path) -> Result<AuditReport, StoreFault> {
    let (done, waiting) = sync_channel(1);
    let folder = folder.to_owned();
    let working = std::thread::spawn(move || {
        let report = running::audit(&folder);
        // Nobody may be waiting for the signal any more; the report itself is joined below.
        let _ = done.send(());
        report
    });
    let shown = std::io::stderr().is_terminal();
    let mut seconds = 0;
    while waiting.recv_timeout(Duration::from_secs(1)) == Err(RecvTimeoutError::Timeout) {
        seconds += 1;
        if shown && seconds >= PROGRESS_AFTER_S {
            eprint!("\raudit: reading every row, {seconds} s so far ");
        }
    }
    if shown && seconds >= PROGRESS_AFTER_S {
        eprint!("\r\x1b[K");
    }
    working.join().expect("an audit does not panic")
}

fn to_json(report: &AuditReport) -> serde_json::Value {
    let AuditReport { messages, accounts, open_parts, waiting_parts, resends, purged_before, violations } =
        report;
    let violations: Vec<_> = violations
        .iter()
        .map(|violation| serde_json::json!({ "rule": violation.rule, "detail": violation.detail }))
        .collect();
    serde_json::json!({
        "clean": report.is_clean(),
        "messages": messages,
        "accounts": accounts,
        "open_parts": open_parts,
        "waiting_parts": waiting_parts,
        "resends": resends,
        "purged_before": purged_before.map(|before| before.to_iso()),
        "violations": violations,
    })
}

fn to_text(report: &AuditReport, folder: &Path) -> String {
    let AuditReport { messages, accounts, open_parts, waiting_parts, resends, purged_before, violations } =
        report;
    let mut text = format!(
        "{}\n  messages        {messages}\n  accounts        {accounts}\n  parts under way {open_parts}\n  still to send   {waiting_parts}\n  \
         resends         {resends}\n",
        folder.display()
    );
    if let Some(before) = purged_before {
        text.push_str(&format!(
            "  purged before   {before}: costs and refunds are rolled up in the ledger\n"
        ));
    }
    if report.is_clean() {
        text.push_str("Everything agrees.\n");
        return text;
    }
    text.push_str(&format!("{} violations:\n", violations.len()));
    for violation in violations {
        text.push_str(&format!("  not true that {}: {}\n", violation.rule, violation.detail));
    }
    text
}
