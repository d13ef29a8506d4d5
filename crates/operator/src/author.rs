//! Who makes a change: named in the audit log, which is written in the transaction of the change.

use hermod_domain::audit::AuditEntry;
use hermod_domain::ids::AccountId;
use hermod_domain::time::Timestamp;
use hermod_gateway::gateway::Gateway;
use hermod_store::Store;
use serde_json::Value;
use std::net::IpAddr;
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

/// The author of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Author {
    name: String,
    /// None for a command on the gateway's own machine.
    address: Option<IpAddr>,
}

impl Author {
    /// The holder of the operator's token in the data folder.
    pub fn operator(address: Option<IpAddr>) -> Author {
        Author { name: "operator".to_owned(), address }
    }

    /// An operator with a token of its own.
    pub fn named_operator(name: &str, address: Option<IpAddr>) -> Author {
        Author { name: format!("operator {name}"), address }
    }

    /// Returns the name as the audit log has it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A user of the portal.
    pub fn user(email: &str, address: Option<IpAddr>) -> Author {
        Author { name: format!("user {email}"), address }
    }

    /// A provision file that is applied at the start.
    pub fn file(path: &Path) -> Author {
        Author { name: format!("file {}", path.display()), address: None }
    }

    /// Returns the e-mail address of a user of the portal.
    pub fn email(&self) -> Option<&str> {
        self.name.strip_prefix("user ")
    }

    /// Makes an entry for the audit log.
    pub fn entry(
        &self,
        now: Timestamp,
        account: Option<AccountId>,
        action: &str,
        subject: &str,
        detail: &Value,
    ) -> AuditEntry {
        AuditEntry {
            at: now,
            account,
            by: self.name.clone(),
            from: self.address.map(|address| address.to_string()).unwrap_or_default(),
            action: action.to_owned(),
            subject: subject.to_owned(),
            detail: detail.to_string(),
        }
    }
}

/// A gateway on which an author makes changes.
pub struct Acting {
    pub gateway: Arc<Gateway>,
    pub author: Author,
}

impl Acting {
    /// Returns the store, whose next change is written into the audit log with these words.
    pub fn audited(&self, account: Option<AccountId>, action: &str, subject: &str, detail: &Value) -> Store {
        let entry = self.author.entry(self.clock.now(), account, action, subject, detail);
        self.store.audited(vec![entry])
    }
}

impl Deref for Acting {
    type Target = Gateway;

    fn deref(&self) -> &Gateway {
        &self.gateway
    }
}
