//! The PDU trace of a connection's binds, without passwords and texts.

use super::extract::{MemberForm, NoFields, Path};
use super::member::Member;
use super::reply::{NoPage, Reply, page};
use super::smpp::own_access;
use super::{Portal, State};
use crate::elements::{Chip, Tone};
use crate::layout::{NavEntry, encode_segment};
use crate::pages::smpp::{SmppTracePage, TracedLine};
use crate::time::Time;
use hermod_domain::permission::Permission;
use hermod_domain::shown_number::{NumberKind, ShownNumbers};
use hermod_gateway::live_status::{PduDirection, TraceLine};
use hermod_operator::trace;
use hermod_operator::trace::{BIND_TRACE_LASTS, BindTrace};

/// How often a page with a running trace is read again.
const REFRESH_MS: u32 = 2_000;
/// Lines of a page; a full trace has more than a person reads.
const LINES_MAX: usize = 200;

/// Fails unless the connection is one of the account, and the role may read whole numbers, which PDUs have. Today every role that
/// may read the setup may read numbers too.
fn require(portal: &Portal, member: &Member, connection: &str) -> Result<(), NoPage> {
    member.require(Permission::ReadSetup)?;
    member.require(Permission::ReadTexts)?;
    own_access(&portal.gateway.catalogue(), member, connection).map(drop)
}

/// `GET /accounts/{account}/smpp/{connection}/trace`.
pub(super) async fn show(
    axum::extract::State(portal): State,
    Path((_, connection)): Path<(String, String)>,
    member: Member,
) -> Reply {
    require(&portal, &member, &connection)?;
    let BindTrace { until, lines, kept } = trace::read_bind_trace(&portal.gateway, &connection, LINES_MAX)?;
    let mut nodes: Vec<String> =
        portal.gateway.store.cluster().nodes().into_iter().map(|node| node.name).collect();
    nodes.sort_unstable();
    Ok(page(&SmppTracePage {
        shell: member.shell(NavEntry::Smpp),
        until: until.map(|until| Time(until.as_millis())),
        refresh_ms: until.map(|_| REFRESH_MS),
        lines: lines.into_iter().map(|line| traced_line(line, &nodes, &portal.gateway.numbers)).collect(),
        kept,
        minutes: BIND_TRACE_LASTS.as_secs() / 60,
        can_change: member.may(Permission::ChangeSetup),
        connection,
    }))
}

/// `nodes`: the names of all nodes, which customers do not see.
fn traced_line(line: TraceLine, nodes: &[String], numbers: &ShownNumbers) -> TracedLine {
    let TraceLine { seq: _, at, node, session, way, line } = line;
    let (command, details) = line.split_once(' ').unwrap_or((&line, ""));
    let bind = numbers.show(NumberKind::Bind, session);
    TracedLine {
        at: Time(at.as_millis()),
        bind: match node.and_then(|node| nodes.iter().position(|name| *name == node)) {
            Some(index) => format!("{bind} (node {})", index + 1),
            None => bind.to_string(),
        },
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
    MemberForm { member, form: NoFields {} }: MemberForm<NoFields>,
) -> Reply {
    require_change(&portal, &member, &connection)?;
    trace::start_bind_trace(&member.acting(&portal), &connection).await?;
    Ok(member.done(&trace_page(&connection), "trace-started"))
}

/// `POST /accounts/{account}/smpp/{connection}/trace/stop`.
pub(super) async fn stop(
    axum::extract::State(portal): State,
    Path((_, connection)): Path<(String, String)>,
    MemberForm { member, form: NoFields {} }: MemberForm<NoFields>,
) -> Reply {
    require_change(&portal, &member, &connection)?;
    trace::stop_bind_trace(&portal.gateway, &connection).await?;
    Ok(member.done(&trace_page(&connection), "trace-stopped"))
}

fn require_change(portal: &Portal, member: &Member, connection: &str) -> Result<(), NoPage> {
    require(portal, member, connection)?;
    member.require(Permission::ChangeSetup)
}

fn trace_page(connection: &str) -> String {
    format!("smpp/{}/trace", encode_segment(connection))
}
