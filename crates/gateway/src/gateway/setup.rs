//! What a gateway is given before it starts.

use super::{Gateway, SmppServer};
use crate::http::body_memory::BodyMemory;
use crate::live_status::MailQueue;
use hermod_domain::webhook::url::AddressRules;

impl Gateway {
    /// Sets the limit of failed sign-ins per address and minute.
    pub fn allowing_failed_sign_ins(mut self, a_minute: u32) -> Gateway {
        self.limits.allow_failed_sign_ins(a_minute);
        self
    }

    /// Sets the memory limit of request bodies.
    pub fn limiting_body_memory(mut self, bytes_max: u64) -> Gateway {
        self.body_memory = BodyMemory::new(bytes_max);
        self
    }

    /// Sets the rules for webhook addresses; the default is public https only.
    pub fn judging_webhooks_by(mut self, rules: AddressRules) -> Gateway {
        self.webhook_rules = rules;
        self
    }

    /// Sets the address of the web pages.
    pub fn with_portal_at(mut self, url: String) -> Gateway {
        self.portal_url = url;
        self
    }

    /// Sets what customers need to know of the SMPP server.
    pub fn serving_smpp(mut self, server: SmppServer) -> Gateway {
        self.smpp_server = server;
        self
    }

    /// Queues mails to users instead of dropping them.
    pub fn sending_mail(mut self) -> Gateway {
        self.mail = MailQueue::open();
        self
    }
}
