//! The PDU trace of a connection's binds: without passwords and texts, for ten minutes at a time.

use super::form::{Change, NoFields};
use super::member::Member;
use super::reply::{NoPage, Reply, page};
use super::{Portal, State};
use crate::elements::{Chip, Tone};
use crate::layout::{Entry, encode_segment};
use crate::pages::smpp::{SmppTrace, TracedLine};
use crate::time::Time;
use axum::extract::Path;
use hermod_domain::permission::Permission;
use hermod_gateway::app::operator;
use hermod_gateway::board::{PduDirection, TraceLine};

/// How often a page with a running trace is read again.
const REFRESH_MS: u32 = 2_000;
/// Lines of a page; a full trace has more than a person reads.
const LINES_MAX: usize = 200;

/// Fails unless the connection is one of the account, and the role sees whole numbers, which PDUs have.
fn require(portal: &Portal, member: &Member, connection: &str) -> Result<(), NoPage> {
    member.require(Permission::ReadSetup)?;
    member.require(Permission::ReadTexts)?;
    member.require_connection(portal, connection)
}

/// `GET /accounts/{account}/smpp/{connection}/trace`.
pub(super) async fn show(
    axum::extract::State(portal): State,
    Path((_, connection)): Path<(String, String)>,
    member: Member,
) -> Reply {
    require(&portal, &member, &connection)?;
    let trace = operator::read_bind_trace(&portal.world, &connection)?;
    let kept = trace.lines.len();
    let newest = trace.lines.into_iter().rev().take(LINES_MAX);
    Ok(page(&SmppTrace {
        shell: member.shell(Entry::Smpp),
        until: trace.until.map(|until| Time(until.as_millis())),
        refresh_ms: trace.until.map(|_| REFRESH_MS),
        lines: newest.map(traced_line).collect(),
        kept,
        can_change: member.may(Permission::ChangeSetup),
        connection,
    }))
}

fn traced_line(line: TraceLine) -> TracedLine {
    let TraceLine { seq: _, at, session, way, line } = line;
    let (command, details) = line.split_once(' ').unwrap_or((&line, ""));
    TracedLine {
        at: Time(at.as_millis()),
        bind: session,
        way: match way {
            PduDirection::In => Chip::new(Tone::Neutral, "from you"),
            PduDirection::Out => Chip::new(Tone::Good, "to you"),
        },
        command: command.to_owned(),
        details: details.to_owned(),
    }
}

/// `POST /accounts/{account}/smpp/{connection}/trace/start`.
pub(super) async fn start(
    axum::extract::State(portal): State,
    Path((_, connection)): Path<(String, String)>,
    Change { member, form: NoFields {} }: Change<NoFields>,
) -> Reply {
    require(&portal, &member, &connection)?;
    member.require(Permission::ChangeSetup)?;
    operator::start_bind_trace(&member.acting(&portal), &connection).await?;
    Ok(member.done(&trace_page(&connection), "trace-started"))
}

/// `POST /accounts/{account}/smpp/{connection}/trace/stop`.
pub(super) async fn stop(
    axum::extract::State(portal): State,
    Path((_, connection)): Path<(String, String)>,
    Change { member, form: NoFields {} }: Change<NoFields>,
) -> Reply {
    require(&portal, &member, &connection)?;
    member.require(Permission::ChangeSetup)?;
    operator::stop_bind_trace(&portal.world, &connection)?;
    Ok(member.done(&trace_page(&connection), "trace-stopped"))
}

fn trace_page(connection: &str) -> String {
    format!("smpp/{}/trace", encode_segment(connection))
}
