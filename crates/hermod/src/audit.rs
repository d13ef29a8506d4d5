//! `hermod audit`: checks a data folder for consistency, from its raw rows.

use crate::backup::copy_by_gateway;
use crate::failure::{CommandResult, Failure};
use crate::operator::operator_client::OperatorClient;
use crate::operator::target::TargetArgs;
use crate::{output, runtime};
use clap::Args;
use hermod_gateway::running::{self, AuditProof, AuditReport, RecordAudit, StoreError, Violation};
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

Every balance, state and reference between tables is computed again from the raw rows and compared. A running gateway
is asked for a copy of its database, as hermod backup does; the copy is audited and removed, because a long read of the
database itself would let its log grow. The copy needs as much space as the database; --work-dir puts it on another disk.
The journal in the data folder is checked as well: every batch that the database lacks must be in it, intact and in order.

The audit also checks the structure of every page of the database file, the type of every value and every index against
its table. The file has no checksums: a changed byte inside a value, such as a letter of a text, is found only if an
index or another row contradicts it. Use a file system with checksums if that is not enough.

Each row of the audit log has a keyed hash that covers the row before it, and its end is sealed in the database and in the
file hermod.audit: changed, removed and added rows are found, also at the end. Top-ups, adjustments, invoices and payments are
compared with the log. If hermod.audit is missing although the log has rows, a note says so. The key is derived from the pepper.
If the pepper cannot be read, the audit checks everything else, says what it left out, and does not succeed. For a backup
--without-keys, name the pepper: [data] pepper_file, HERMOD_PEPPER.

Exit codes: 0 everything was checked, no violations; 1 violations, or the audit failed; 3 no violations, but the pepper could
not be read, so the audit log may have been changed.";

/// What cannot be checked without the pepper.
const WITHOUT_PEPPER: &str = "the hashes of the audit log, its sealed end, and the end in hermod.audit";

/// What a missing file means.
const WITHOUT_FILE: &str = "Note: hermod.audit is missing, although the audit log has rows. If rows at its end were removed together with \
                            the sealed end, this audit does not find it.\n";

/// Progress is printed after this many seconds, then every second.
const PROGRESS_AFTER_S: u64 = 2;

/// Check that balances, messages and ledger are consistent
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct AuditArgs {
    /// Folder for the copy of a running gateway's database [default: the data folder]
    #[arg(long, value_name = "DIR")]
    work_dir: Option<PathBuf>,
    #[command(flatten)]
    target: TargetArgs,
}

impl AuditArgs {
    pub(crate) fn run(self) -> CommandResult {
        runtime::block_on(self.audit())
    }

    async fn audit(self) -> CommandResult {
        let AuditArgs { work_dir, target } = self;
        let folder = target.folder()?;
        let (key, no_key) = target.audit_key()?.map_or_else(|why| (None, Some(why)), |key| (Some(key), None));
        let not_checked = no_key.map(|why| format!("{WITHOUT_PEPPER}: {why}"));
        let report = match target.server()? {
            Some(server) => running::Store::audit_server(&server, key).map_err(Failure::failed)?,
            None => {
                let proof = AuditProof::read(&folder, key).map_err(Failure::failed)?;
                audit_folder(&target, work_dir.as_deref(), &folder, proof).await?
            }
        };
        let printed = if target.wants_json() {
            output::print_json(&to_json(&report, not_checked.as_deref()).to_string())
        } else {
            output::print(&to_text(&report, not_checked.as_deref(), &folder))
        };
        printed?;
        match (report.is_clean(), not_checked) {
            (false, _) => Err(Failure::printed()),
            (true, Some(_)) => Err(Failure::incomplete()),
            (true, None) => Ok(()),
        }
    }
}

/// Audits the embedded store of a folder, or a copy of it if a gateway has it open.
async fn audit_folder(
    target: &TargetArgs,
    work_dir: Option<&Path>,
    folder: &Path,
    proof: AuditProof,
) -> Result<AuditReport, Failure> {
    Ok(match target.running().await? {
        Some(gateway) => {
            let mut report = audit_copy(&gateway, work_dir.unwrap_or(folder), proof).await?;
            report.violations.extend(journal_violation(folder));
            report
        }
        None => {
            audit_showing_progress(folder, proof, GatewayStarts::StopAudit).map_err(|fault| match fault {
                StoreError::ReadTooLong => Failure::failed(format!(
                    "a gateway started on {} during the audit, which was stopped: run it again",
                    folder.display()
                )),
                fault => Failure::failed(fault),
            })?
        }
    })
}

async fn audit_copy(
    gateway: &OperatorClient,
    work_dir: &Path,
    proof: AuditProof,
) -> Result<AuditReport, Failure> {
    let copy = work_dir.join(running::AUDIT_COPY_FOLDER);
    // Remains of an audit that was killed.
    let _ = std::fs::remove_dir_all(&copy);
    copy_by_gateway(gateway, &copy).await?;
    let report = audit_showing_progress(&copy, proof, GatewayStarts::Continue).map_err(Failure::failed);
    std::fs::remove_dir_all(&copy)
        .map_err(|error| Failure::failed(format!("{}: {error}; remove it", copy.display())))?;
    report
}

/// Checks the journal of a running gateway, which its copy does not have. `None` if it is intact.
fn journal_violation(folder: &Path) -> Option<Violation> {
    let error = running::Store::check_live_journal(folder).err()?;
    let rule = "the journal continues the database without a gap";
    Some(Violation { rule, detail: error.to_string() })
}

/// What to do if a gateway starts on the folder: the snapshot of the audit would let its log grow.
#[derive(Clone, Copy, PartialEq, Eq)]
enum GatewayStarts {
    StopAudit,
    Continue,
}

fn audit_showing_progress(
    folder: &Path,
    proof: AuditProof,
    starts: GatewayStarts,
) -> Result<AuditReport, StoreError> {
    let (done, waiting) = sync_channel(1);
    let stop = Arc::new(AtomicBool::new(false));
    let (audited, stopped) = (folder.to_owned(), stop.clone());
    let working = std::thread::spawn(move || {
        let report =
            running::Store::audit_with_stop(&audited, proof, move || stopped.load(Ordering::Relaxed));
        // The receiver may be gone; the report itself is joined below.
        let _ = done.send(());
        report
    });
    let shown = std::io::stderr().is_terminal();
    let mut seconds = 0;
    while waiting.recv_timeout(Duration::from_secs(1)) == Err(RecvTimeoutError::Timeout) {
        seconds += 1;
        if starts == GatewayStarts::StopAudit && running::Store::is_in_use(folder)? {
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

fn to_json(report: &AuditReport, not_checked: Option<&str>) -> serde_json::Value {
    let AuditReport {
        messages,
        accounts,
        open_parts,
        waiting_parts,
        resends,
        purged_before,
        record,
        audit_log,
        is_audit_log_checked,
        lacks_audit_file,
        violations,
    } = report;
    let violations: Vec<_> = violations
        .iter()
        .map(|violation| serde_json::json!({ "rule": violation.rule, "detail": violation.detail }))
        .collect();
    serde_json::json!({
        "clean": report.is_clean() && not_checked.is_none(),
        "not_checked": not_checked,
        "messages": messages,
        "accounts": accounts,
        "open_parts": open_parts,
        "waiting_parts": waiting_parts,
        "resends": resends,
        "purged_before": purged_before.map(|before| before.to_iso()),
        "record": record_json(*record),
        "audit_log": {
            "rows": audit_log.number, "last_hash": audit_log.hash.short(), "checked": is_audit_log_checked,
            "file_missing": lacks_audit_file
        },
        "violations": violations,
    })
}

fn record_json(record: RecordAudit) -> serde_json::Value {
    match record {
        RecordAudit::None => serde_json::Value::Null,
        RecordAudit::Compared { messages } => {
            serde_json::json!({ "state": "compared", "messages": messages })
        }
        RecordAudit::Behind { missing, outdated } => {
            serde_json::json!({ "state": "behind", "missing": missing, "outdated": outdated })
        }
        RecordAudit::Unusable => serde_json::json!({ "state": "unusable" }),
    }
}

/// Returns the line about the record; empty if there is none.
fn record_text(record: RecordAudit) -> String {
    let text = match record {
        RecordAudit::None => return String::new(),
        RecordAudit::Compared { messages } => format!("{messages} messages, compared with the store"),
        RecordAudit::Behind { missing, outdated } => format!(
            "lacks {missing} messages, and the end of {outdated}; not compared: it catches up when the gateway runs"
        ),
        RecordAudit::Unusable => "not usable: it is made again at the next start".to_owned(),
    };
    format!("  record          {text}\n")
}

fn to_text(report: &AuditReport, not_checked: Option<&str>, folder: &Path) -> String {
    let AuditReport {
        messages,
        accounts,
        open_parts,
        waiting_parts,
        resends,
        purged_before,
        record,
        audit_log,
        is_audit_log_checked: _,
        lacks_audit_file,
        violations,
    } = report;
    let mut text = format!(
        "{}\n  messages        {messages}\n  accounts        {accounts}\n  open parts      {open_parts}\n  waiting parts   {waiting_parts}\n  \
         resends         {resends}\n",
        folder.display()
    );
    if let Some(before) = purged_before {
        text.push_str(&format!(
            "  purged before   {before}: costs and refunds are rolled up in the ledger\n"
        ));
    }
    text.push_str(record_text(*record).as_str());
    text.push_str(&format!(
        "  audit log       {} rows, the last has the hash {}\n",
        audit_log.number,
        audit_log.hash.short()
    ));
    if *lacks_audit_file {
        text.push_str(WITHOUT_FILE);
    }
    if let Some(not_checked) = not_checked {
        text.push_str(&format!("Not checked: {not_checked}\n"));
    }
    if report.is_clean() {
        text.push_str(match not_checked {
            None => "No violations.\n",
            Some(_) => "The audit is incomplete. No violations in what was checked.\n",
        });
        return text;
    }
    text.push_str(&format!("{} violations:\n", violations.len()));
    for violation in violations {
        text.push_str(&format!("  violated: {}: {}\n", violation.rule, violation.detail));
    }
    text
}
