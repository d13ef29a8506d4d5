//! What the operator is sent about an alarm: as a mail, as JSON, and as variables of a command.

use crate::live_status::Alarm;
use hermod_domain::time::Timestamp;
use serde::Serialize;

/// An alarm was raised or is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlarmNotification {
    /// The same for every attempt to send it.
    pub id: String,
    pub alarm: Alarm,
    pub is_over: bool,
    pub at: Timestamp,
    /// The node that sends it, if there are several.
    pub node: Option<String>,
}

/// The JSON form.
#[derive(Serialize)]
struct NotificationBody<'a> {
    event: &'a str,
    alarm: &'a str,
    severity: &'a str,
    carrier: &'a str,
    account: &'a str,
    about: &'a str,
    detail: &'a str,
    what_to_do: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    node: Option<&'a str>,
    first_at: String,
    at: String,
    count: u64,
}

impl AlarmNotification {
    pub const fn event(&self) -> &'static str {
        if self.is_over { "over" } else { "raised" }
    }

    /// Returns the subject of a mail.
    pub fn subject(&self) -> String {
        let AlarmNotification { alarm, is_over, node, .. } = self;
        let state = if *is_over { "over" } else { alarm.severity().as_str() };
        let node = node.as_ref().map(|node| format!(" (node {node})")).unwrap_or_default();
        printable(&format!("Hermod {state}: {}{node}", name_of(alarm)))
    }

    /// Returns the text of a mail.
    pub fn text(&self) -> String {
        let AlarmNotification { alarm, is_over, at, .. } = self;
        let detail = printable(&alarm.detail);
        let since = alarm.first_at.to_iso();
        if *is_over {
            return format!(
                "{}: over at {}, raised at {since}.\n\nIt was: {detail}\n",
                printable(&name_of(alarm)),
                at.to_iso()
            );
        }
        format!(
            "{}: raised at {since}.\n\n{detail}\n\nWhat to do: {}\n\nhermod alarms lists what is raised now.\n",
            printable(&name_of(alarm)),
            alarm.kind.advice()
        )
    }

    /// Returns the JSON that is posted, and that a command reads.
    pub fn body(&self) -> String {
        let AlarmNotification { id: _, alarm, is_over: _, at, node } = self;
        let Alarm { kind, carrier, about, detail, first_at, last_at: _, count } = alarm;
        let body = NotificationBody {
            event: self.event(),
            alarm: kind.as_str(),
            severity: kind.severity().as_str(),
            carrier,
            account: alarm.account(),
            about,
            detail,
            what_to_do: kind.advice(),
            node: node.as_deref(),
            first_at: first_at.to_iso(),
            at: at.to_iso(),
            count: *count,
        };
        serde_json::to_string(&body).expect("texts and numbers")
    }

    /// Returns the environment variables of a command.
    pub fn variables(&self) -> [(&'static str, String); 8] {
        let AlarmNotification { alarm, node, .. } = self;
        let texts = [
            ("HERMOD_ALARM_EVENT", self.event()),
            ("HERMOD_ALARM", alarm.kind.as_str()),
            ("HERMOD_ALARM_SEVERITY", alarm.severity().as_str()),
            ("HERMOD_ALARM_CARRIER", alarm.carrier.as_str()),
            ("HERMOD_ALARM_ACCOUNT", alarm.account()),
            ("HERMOD_ALARM_ABOUT", alarm.about.as_str()),
            ("HERMOD_ALARM_DETAIL", alarm.detail.as_str()),
            ("HERMOD_ALARM_NODE", node.as_deref().unwrap_or_default()),
        ];
        texts.map(|(name, text)| (name, printable(text)))
    }
}

fn name_of(alarm: &Alarm) -> String {
    let Alarm { kind, carrier, about, .. } = alarm;
    let carrier = if carrier.is_empty() { String::new() } else { format!("{carrier}: ") };
    let about = if about.is_empty() { String::new() } else { format!(" {about}") };
    format!("{carrier}{}{about}", kind.as_str())
}

/// Details quote carriers and customers: a control character could end a line, or an environment variable.
fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
#[path = "alarm_notification_tests.rs"]
mod tests;
