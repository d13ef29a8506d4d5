//! `hermod audit`: proves the books of a data folder from its raw rows.

use crate::copying::copy_by_gateway;
use crate::ending::{Ended, Failure};
use crate::operator::desk::Desk;
use crate::operator::place::Place;
use crate::{runtime, show};
use clap::Args;
use hermod_gateway::running::{self, AuditReport, StoreError};
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  hermod audit
  hermod audit --config /etc/hermod/hermod.toml
  hermod audit --data-dir backups/monday --json | jq .violations

Every balance, state and link between tables is worked out again from the raw rows and compared. Where a gateway runs,
it is asked for a copy of its database (hermod backup does the same), and the copy is audited and removed: reading the
database itself for so long would let its log grow. The copy needs as much room as the database; --work-dir names
another disk for it.

It also checks the structure of every page of the database file, the type of every value and every index against its
table. The file has no checksums: a byte that changed inside a value, such as a letter of a text, is found only where an
index or another row says otherwise. Use a file system with checksums where that is not enough.

Exit codes: 0 nothing is wrong, 1 something is or the audit could not be done.";

/// The first word on how long it takes comes after this, and then one each second.
const PROGRESS_AFTER_S: u64 = 2;

/// Prove that balances, messages and ledger agree
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Audit {
    /// Where the copy of a running gateway's database is made; the data folder otherwise
    #[arg(long, value_name = "DIR")]
    work_dir: Option<PathBuf>,
    #[command(flatten)]
    place: Place,
}

impl Audit {
    pub(crate) fn run(self) -> Ended {
        runtime::block_on(self.audit())
    }

    async fn audit(self) -> Ended {
        let Audit { work_dir, place } = self;
        let folder = place.folder()?;
        let report = match place.running().await? {
            Some(gateway) => audit_copy(&gateway, work_dir.as_deref().unwrap_or(&folder)).await?,
            None => audit_showing_progress(&folder, GatewayStarts::EndsIt).map_err(|fault| match fault {
                StoreError::ReadTooLong => Failure::failed(format!(
                    "a gateway started on {} meanwhile, so the audit was ended: run it again",
                    folder.display()
                )),
                fault => Failure::failed(fault),
            })?,
        };
        let told = if place.wants_json() {
            show::say_raw(&to_json(&report).to_string())
        } else {
            show::say(&to_text(&report, &folder))
        };
        told?;
        if report.is_clean() { Ok(()) } else { Err(Failure::told()) }
    }
}

async fn audit_copy(gateway: &Desk, work_dir: &Path) -> Result<AuditReport, Failure> {
    let copy = work_dir.join(running::AUDIT_COPY_FOLDER);
    // Left over by an audit that was killed.
    let _ = std::fs::remove_dir_all(&copy);
    copy_by_gateway(gateway, &copy).await?;
    let report = audit_showing_progress(&copy, GatewayStarts::DoesNotMatter).map_err(Failure::failed);
    std::fs::remove_dir_all(&copy)
        .map_err(|error| Failure::failed(format!("{}: {error}; remove it", copy.display())))?;
    report
}

/// What becomes of an audit when a gateway starts on its folder: its snapshot would let the log grow.
#[derive(Clone, Copy, PartialEq, Eq)]
enum GatewayStarts {
    EndsIt,
    DoesNotMatter,
}

fn audit_showing_progress(folder: &Path, starts: GatewayStarts) -> Result<AuditReport, StoreError> {
    let (done, waiting) = sync_channel(1);
    let stop = Arc::new(AtomicBool::new(false));
    let (audited, stopped) = (folder.to_owned(), stop.clone());
    let working = std::thread::spawn(move || {
        let report = running::Store::audit_with_stop(&audited, move || stopped.load(Ordering::Relaxed));
        // Nobody may be waiting for the signal any more; the report itself is joined below.
        let _ = done.send(());
        report
    });
    let shown = std::io::stderr().is_terminal();
    let mut seconds = 0;
    while waiting.recv_timeout(Duration::from_secs(1)) == Err(RecvTimeoutError::Timeout) {
        seconds += 1;
        if starts == GatewayStarts::EndsIt && running::Store::is_in_use(folder)? {
            stop.store(true, Ordering::Relaxed);
        }
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
