//! `hermod alarms [ack]`: lists and acknowledges alarms.

use super::list::{ListFormat, print_list};
use super::operator_client::{OperatorClient, RequestBody, with_query};
use super::tables::silent_nodes;
use super::target::ClientCommand;
use crate::failure::CommandResult;
use crate::output::{self, Paint};
use clap::{Args, Subcommand};
use hermod_operator::alarm::{AcknowledgedView, AlarmView, AlarmsQuery, AlarmsView};
use hyper::Method;

const EXAMPLES: &str = "\
Examples:
  hermod alarms
  hermod alarms --carrier acme
  hermod alarms ack
  hermod alarms ack --carrier acme

An alarm is listed once, however often it occurs, and is cleared when its cause is gone.
docs/alarms.md explains each alarm, and how alarms are sent by mail, webhook or command.";
const ACK_EXAMPLES: &str = "\
Examples:
  hermod alarms ack
  hermod alarms ack --carrier acme

A condition that persists raises its alarm again.";

/// List alarms, with what to do about them, or remove them from the list
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct AlarmsArgs {
    /// Only alarms of this carrier
    #[arg(long, global = true, value_name = "NAME")]
    carrier: Option<String>,
    #[command(flatten)]
    format: ListFormat,
    #[command(subcommand)]
    verb: Option<AlarmsVerb>,
}

#[derive(Subcommand)]
enum AlarmsVerb {
    /// Remove the alarms from the list
    #[command(after_help = ACK_EXAMPLES)]
    Ack,
}

impl ClientCommand for AlarmsArgs {
    async fn run(self, client: &OperatorClient) -> CommandResult {
        let AlarmsArgs { carrier, format, verb } = self;
        let path = with_query("/alarms", &AlarmsQuery { carrier });
        match verb {
            None => {
                let response = client.get(&path).await?;
                print_list(client, &response, format, |view: &AlarmsView| view.items.clone(), list_text)
            }
            Some(AlarmsVerb::Ack) => {
                let response = client.send(Method::DELETE, &path, RequestBody::None).await?;
                client.print(&response, acknowledged_text)
            }
        }
    }
}

fn list_text(AlarmsView { items, missing_nodes }: AlarmsView) -> String {
    let silent = silent_nodes(&missing_nodes);
    if items.is_empty() {
        return format!("There are no alarms.\n{silent}");
    }
    let paint = Paint::for_output();
    let alarms = items.iter().map(|alarm| alarm_text(alarm, paint)).collect::<Vec<_>>().join("\n");
    alarms + &silent
}

fn acknowledged_text(AcknowledgedView { acknowledged, missing_nodes }: AcknowledgedView) -> String {
    let done = match acknowledged {
        0 => "There are no alarms.\n".to_owned(),
        1 => "Acknowledged 1 alarm.\n".to_owned(),
        count => format!("Acknowledged {count} alarms.\n"),
    };
    done + &silent_nodes(&missing_nodes)
}

fn alarm_text(alarm: &AlarmView, paint: Paint) -> String {
    let AlarmView {
        kind,
        severity,
        carrier,
        account: _,
        about,
        detail,
        what_to_do,
        first_at,
        last_at,
        count,
        node,
    } = alarm;
    let node = node.as_ref().map(|node| format!(" (node {node})")).unwrap_or_default();
    let about = if about.is_empty() { String::new() } else { format!(" {about}") };
    let when = match count {
        1 if first_at == last_at => format!("at {first_at}"),
        1 => format!("since {first_at}"),
        times => format!("{times} times from {first_at} to {last_at}"),
    };
    let carrier = if carrier.is_empty() { String::new() } else { format!("{carrier}: ") };
    let head = output::safe(&format!("{carrier}{kind}{about}{node}"));
    let head = if severity == "critical" { paint.red(&head) } else { head };
    format!("{head}, {severity}, {when}\n    {}\n    {what_to_do}\n", output::safe(detail))
}
