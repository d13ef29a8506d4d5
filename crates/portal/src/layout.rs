//! What surrounds the content of every page of an account: navigation, account, user, notices.

use crate::elements::{Notice, Tone};

/// The frame of a page inside an account.
#[derive(Clone, Debug, Default)]
pub struct Shell {
    /// The account's name as in URLs.
    pub account: String,
    /// The account's name for people.
    pub account_label: String,
    /// Every account of the user, this one included.
    pub accounts: Vec<AccountChoice>,
    /// The user's e-mail address.
    pub email: String,
    /// The user's role in this account: `owner`, `developer`, `billing` or `viewer`.
    pub role: String,
    /// The token that every form sends as `csrf`.
    pub csrf: String,
    /// The entries of the navigation that this role may open, in any order.
    pub visible: Vec<NavEntry>,
    /// The entry that the page belongs to.
    pub current: Option<NavEntry>,
    /// Shown above the content of every page: low balance, a missing verification.
    pub notices: Vec<Notice>,
    /// The result of the request before this page.
    pub flash: Option<Flash>,
    /// Whether the user's menu leads to the profile.
    pub has_profile: bool,
}

/// An account that the user can switch to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AccountChoice {
    /// As in URLs.
    pub name: String,
    /// For people.
    pub label: String,
}

/// The result of a change, shown once on the next page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flash {
    pub tone: Tone,
    pub text: String,
}

/// A page in the navigation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NavEntry {
    Home,
    Messages,
    Live,
    Compose,
    Inbox,
    OptOuts,
    Senders,
    Destinations,
    Keys,
    Smpp,
    Webhooks,
    RequestLog,
    Quickstart,
    Billing,
    Limits,
    Held,
    Requests,
    Team,
    Audit,
}

/// A heading of the navigation with its entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NavGroup {
    /// Empty for the first group, which has no heading.
    pub title: &'static str,
    pub entries: Vec<NavEntry>,
}

const GROUPS: [(&str, &[NavEntry]); 4] = [
    ("", &[NavEntry::Home]),
    (
        "Messaging",
        &[
            NavEntry::Messages,
            NavEntry::Live,
            NavEntry::Compose,
            NavEntry::Inbox,
            NavEntry::OptOuts,
            NavEntry::Senders,
            NavEntry::Destinations,
        ],
    ),
    (
        "Developers",
        &[NavEntry::Keys, NavEntry::Smpp, NavEntry::Webhooks, NavEntry::RequestLog, NavEntry::Quickstart],
    ),
    (
        "Account",
        &[
            NavEntry::Billing,
            NavEntry::Limits,
            NavEntry::Held,
            NavEntry::Requests,
            NavEntry::Team,
            NavEntry::Audit,
        ],
    ),
];

impl NavEntry {
    /// Every entry in the order of the navigation.
    pub fn all() -> Vec<NavEntry> {
        GROUPS.iter().flat_map(|(_, entries)| entries.iter().copied()).collect()
    }

    /// Returns the words of the navigation.
    pub fn label(self) -> &'static str {
        self.describe().0
    }

    /// Returns the path below `/accounts/{account}`, without a slash; empty for the home page.
    pub fn path(self) -> &'static str {
        self.describe().1
    }

    /// Returns the name of its icon.
    pub fn icon(self) -> &'static str {
        self.describe().2
    }

    fn describe(self) -> (&'static str, &'static str, &'static str) {
        match self {
            NavEntry::Home => ("Home", "", "home"),
            NavEntry::Messages => ("Messages", "messages", "messages"),
            NavEntry::Live => ("Live", "live", "live"),
            NavEntry::Compose => ("Compose", "compose", "compose"),
            NavEntry::Inbox => ("Inbox", "inbox", "inbox"),
            NavEntry::OptOuts => ("Opt-outs", "opt-outs", "stop"),
            NavEntry::Senders => ("Senders and numbers", "senders", "sender"),
            NavEntry::Destinations => ("Destinations", "destinations", "globe"),
            NavEntry::Keys => ("API keys", "keys", "key"),
            NavEntry::Smpp => ("SMPP", "smpp", "plug"),
            NavEntry::Webhooks => ("Webhooks", "webhooks", "webhook"),
            NavEntry::RequestLog => ("Request log", "request-log", "log"),
            NavEntry::Quickstart => ("Quickstart", "quickstart", "code"),
            NavEntry::Billing => ("Billing", "billing", "billing"),
            NavEntry::Limits => ("Limits", "limits", "gauge"),
            NavEntry::Held => ("Held messages", "held", "hold"),
            NavEntry::Requests => ("Requests", "requests", "request"),
            NavEntry::Team => ("Team", "team", "team"),
            NavEntry::Audit => ("Audit log", "audit", "audit"),
        }
    }
}

impl Shell {
    /// Returns the groups of the navigation with the entries that the role may open, without empty groups.
    pub fn groups(&self) -> Vec<NavGroup> {
        let groups = GROUPS.iter().map(|(title, entries)| NavGroup {
            title,
            entries: entries.iter().copied().filter(|entry| self.can_open(entry)).collect(),
        });
        groups.filter(|group| !group.entries.is_empty()).collect()
    }

    /// Whether the role may open this page.
    pub fn can_open(&self, entry: &NavEntry) -> bool {
        self.visible.contains(entry)
    }

    /// Whether the page belongs to this entry.
    pub fn is_current(&self, entry: &NavEntry) -> bool {
        self.current == Some(*entry)
    }

    /// Returns the address of a page of this account. `page` is a path of ours such as `messages/4711`, or empty.
    pub fn path(&self, page: &str) -> String {
        self.path_of(&self.account, page)
    }

    /// Returns the address of a page of another account.
    pub fn path_of(&self, account: &str, page: &str) -> String {
        let account = encode_segment(account);
        if page.is_empty() { format!("/accounts/{account}") } else { format!("/accounts/{account}/{page}") }
    }

    /// Returns the address of a page about one object, whose id may have any characters.
    pub fn path_to(&self, page: &str, id: &str) -> String {
        self.path(&format!("{page}/{}", encode_segment(id)))
    }

    /// Whether there are other accounts to switch to.
    pub fn has_choice(&self) -> bool {
        self.accounts.len() > 1
    }

    /// Returns the first letter of the e-mail address, for the user's menu.
    pub fn initial(&self) -> String {
        self.email.chars().next().map(|letter| letter.to_uppercase().collect()).unwrap_or_default()
    }
}

/// Percent-encodes one segment of a path (RFC 3986, unreserved characters stay).
pub fn encode_segment(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                encoded.push(char::from(byte));
            }
            byte => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}

#[cfg(test)]
#[path = "layout_tests.rs"]
mod tests;
