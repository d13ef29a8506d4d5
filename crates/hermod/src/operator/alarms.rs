//! `hermod alarms`: lists and acknowledges alarms.

use super::operator_client::{RequestBody, with_query};
use super::tables::silent_nodes;
use super::target::{MissingDir, TargetArgs};
use crate::failure::CommandResult;
use crate::output::{self, Paint};
use clap::Args;
use hermod_operator::alarm::{AcknowledgedView, AlarmView, AlarmsQuery, AlarmsView};
use hyper::Method;

const EXAMPLES: &str = "\
Examples:
  hermod alarms
  hermod alarms --carrier acme
  hermod alarms --acknowledge

An alarm is listed once, however often it occurs, and is cleared when its cause is gone.
--acknowledge removes the listed alarms; a condition that persists raises its alarm again.
docs/alarms.md explains each alarm.";

/// List alarms, with what to do about them
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct AlarmsArgs {
    /// Only alarms of this carrier
    #[arg(long, value_name = "NAME")]
    carrier: Option<String>,
    /// Remove the alarms from the list
    #[arg(long)]
    acknowledge: bool,
    #[command(flatten)]
    target: TargetArgs,
}

impl AlarmsArgs {
    pub(crate) fn run(self) -> CommandResult {
        let AlarmsArgs { carrier, acknowledge, target } = self;
        target.run(MissingDir::Refuse, async move |client| {
            let path = with_query("/alarms", &AlarmsQuery { carrier });
            if acknowledge {
                let response = client.send(Method::DELETE, &path, RequestBody::None).await?;
                return client.print(&response, |AcknowledgedView { acknowledged, missing_nodes }| {
                    let done = match acknowledged {
                        0 => "There are no alarms.\n".to_owned(),
                        1 => "Acknowledged 1 alarm.\n".to_owned(),
                        count => format!("Acknowledged {count} alarms.\n"),
                    };
                    done + &silent_nodes(&missing_nodes)
                });
            }
            client.print(&client.get(&path).await?, |AlarmsView { items, missing_nodes }| {
                let silent = silent_nodes(&missing_nodes);
                if items.is_empty() {
                    return format!("There are no alarms.\n{silent}");
                }
                let paint = Paint::for_output();
                let alarms =
                    items.iter().map(|alarm| alarm_text(alarm, paint)).collect::<Vec<_>>().join("\n");
                alarms + &silent
            })
        })
    }
}

fn alarm_text(alarm: &AlarmView, paint: Paint) -> String {
    let AlarmView { kind, carrier, about, detail, what_to_do, first_at, last_at, count, node } = alarm;
    let node = node.as_ref().map(|node| format!(" (node {node})")).unwrap_or_default();
    let about = if about.is_empty() { String::new() } else { format!(" {about}") };
    let when = match count {
        1 if first_at == last_at => format!("at {first_at}"),
        1 => format!("since {first_at}"),
        times => format!("{times} times from {first_at} to {last_at}"),
    };
    let carrier = if carrier.is_empty() { String::new() } else { format!("{carrier}: ") };
    let head = output::safe(&format!("{carrier}{kind}{about}{node}"));
    format!("{}, {when}\n    {}\n    {what_to_do}\n", paint.red(&head), output::safe(detail))
}
