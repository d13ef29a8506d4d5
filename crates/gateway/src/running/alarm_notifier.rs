//! Tells the operator about alarms: looks every second at what is raised, and queues what the plan says for mail, webhook and
//! command. Never waits for them. Each node tells its own alarms, so that those of a node that is cut off arrive too.

use crate::app::{
    AlarmNotification, NOTIFICATIONS_WAITING_MAX, NotificationPlan, PlannedNotification, count_notification,
};
use crate::config::NotifySection;
use crate::gateway::Gateway;
use crate::live_status::{AlarmKind, Mail};
use crate::node_messages::own_name;
use crate::secrets::random_token;
use parking_lot::Mutex;
use tokio::sync::mpsc;

/// Enough that two nodes never use one id.
const ID_CHARS: usize = 20;

pub(super) struct AlarmNotifier {
    plan: Mutex<NotificationPlan>,
    mail: Vec<String>,
    queues: Vec<(&'static str, mpsc::Sender<AlarmNotification>)>,
}

impl AlarmNotifier {
    pub(super) fn new(notify: &NotifySection) -> AlarmNotifier {
        AlarmNotifier {
            plan: Mutex::new(NotificationPlan::new(notify.least, notify.quiet.into())),
            mail: notify.mail.clone(),
            queues: Vec::new(),
        }
    }

    /// Adds a channel, and returns what comes over it.
    pub(super) fn add_channel(&mut self, name: &'static str) -> mpsc::Receiver<AlarmNotification> {
        let (queue, received) = mpsc::channel(NOTIFICATIONS_WAITING_MAX);
        self.queues.push((name, queue));
        received
    }

    /// Queues notifications about what was raised and cleared since the last look.
    pub(super) fn look(&self, gateway: &Gateway) {
        let raised = gateway.alarms.list();
        let now = gateway.clock.moment();
        let planned = self.plan.lock().next(&raised, now);
        for planned in planned {
            let (alarm, is_over) = match planned {
                PlannedNotification::Raised(alarm) => (alarm, false),
                PlannedNotification::Over(alarm) => (alarm, true),
            };
            // Without randomness receivers may take two notifications for one, which is better than none.
            let id = format!("alarm_{}", random_token(ID_CHARS).unwrap_or_default());
            let node = own_name(gateway);
            let notification = AlarmNotification { id, alarm, is_over, at: gateway.clock.now(), node };
            self.mail(gateway, &notification);
            self.queue(&notification);
        }
    }

    fn mail(&self, gateway: &Gateway, notification: &AlarmNotification) {
        if notification.alarm.kind == AlarmKind::MailFailing {
            // It would arrive when it is over.
            return;
        }
        for to in &self.mail {
            let mail = Mail { to: to.clone(), subject: notification.subject(), text: notification.text() };
            match gateway.mail.send_if_quiet(mail) {
                Ok(()) => count_notification("mail", "sent"),
                Err(error) => note_dropped(notification, "mail", &error.to_string()),
            }
        }
    }

    fn queue(&self, notification: &AlarmNotification) {
        // Copied, so that the name outlives the loop.
        for (channel, queue) in self.queues.iter().map(|(channel, queue)| (*channel, queue)) {
            if queue.try_send(notification.clone()).is_err() {
                note_dropped(notification, channel, "too many wait");
            }
        }
    }
}

fn note_dropped(notification: &AlarmNotification, channel: &'static str, error: &str) {
    count_notification(channel, "dropped");
    tracing::error!(
        alarm = notification.alarm.kind.as_str(),
        channel,
        error,
        "A notification about an alarm was dropped"
    );
}
