//! What surrounds the content of every page of an account: navigation, account, user, notices.

use crate::elements::{Notice, Tone};
use hermod_domain::catalogue::Role;
use hermod_domain::permission::Permission;

/// The frame of a page inside an account.
#[derive(Clone, Debug, Default)]
pub struct Shell {
    /// The account's name as in URLs.
    pub account: String,
    /// The names of every account of the user, this one included.
    pub accounts: Vec<String>,
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
}

/// The result of a change, shown once on the next page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flash {
    pub tone: Tone,
    pub text: String,
}

/// A page in the navigation, in its order.
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

/// The pages in the order of the navigation: each with its heading, which the first has not, its words, its path below
/// `/accounts/{account}`, its icon, and what a role must have to open it.
const PAGES: [(NavEntry, &str, &str, &str, &str, Permission); 19] = [
    (NavEntry::Home, "", "Home", "", "home", Permission::ReadMessages),
    (NavEntry::Messages, "Messaging", "Messages", "messages", "messages", Permission::ReadMessages),
    (NavEntry::Live, "Messaging", "Live", "live", "live", Permission::ReadMessages),
    (NavEntry::Compose, "Messaging", "Compose", "compose", "compose", Permission::SendMessages),
    (NavEntry::Inbox, "Messaging", "Inbox", "inbox", "inbox", Permission::ReadMessages),
    (NavEntry::OptOuts, "Messaging", "Opt-outs", "opt-outs", "stop", Permission::ReadTexts),
    (NavEntry::Senders, "Messaging", "Senders and numbers", "senders", "sender", Permission::ReadSetup),
    (NavEntry::Destinations, "Messaging", "Destinations", "destinations", "globe", Permission::ReadMoney),
    (NavEntry::Keys, "Developers", "API keys", "keys", "key", Permission::ReadSetup),
    (NavEntry::Smpp, "Developers", "SMPP", "smpp", "plug", Permission::ReadSetup),
    (NavEntry::Webhooks, "Developers", "Webhooks", "webhooks", "webhook", Permission::ReadSetup),
    (NavEntry::RequestLog, "Developers", "Request log", "request-log", "log", Permission::ReadMessages),
    (NavEntry::Quickstart, "Developers", "Quickstart", "quickstart", "code", Permission::ReadSetup),
    (NavEntry::Billing, "Account", "Billing", "billing", "billing", Permission::ReadMoney),
    (NavEntry::Limits, "Account", "Limits", "limits", "gauge", Permission::ReadMessages),
    (NavEntry::Held, "Account", "Held messages", "held", "hold", Permission::ReadMessages),
    (NavEntry::Requests, "Account", "Requests", "requests", "request", Permission::ReadMessages),
    (NavEntry::Team, "Account", "Team", "team", "team", Permission::ReadTeam),
    (NavEntry::Audit, "Account", "Audit log", "audit", "audit", Permission::ReadTeam),
];

impl NavEntry {
    /// Every entry in the order of the navigation.
    pub fn all() -> Vec<NavEntry> {
        PAGES.map(|(entry, ..)| entry).to_vec()
    }

    /// Returns the entries that a role may open.
    pub fn visible_to(role: Role) -> Vec<NavEntry> {
        let visible = PAGES.into_iter().filter(|(.., permission)| role.may(*permission));
        visible.map(|(entry, ..)| entry).collect()
    }

    /// Returns the words of the navigation.
    pub fn label(self) -> &'static str {
        PAGES[self as usize].2
    }

    /// Returns the path below `/accounts/{account}`, without a slash; empty for the home page.
    pub fn path(self) -> &'static str {
        PAGES[self as usize].3
    }

    /// Returns the name of its icon.
    pub fn icon(self) -> &'static str {
        PAGES[self as usize].4
    }
}

impl Shell {
    /// Returns the headings of the navigation with the entries that the role may open. The first heading is empty.
    pub fn groups(&self) -> Vec<(&'static str, Vec<NavEntry>)> {
        let visible: Vec<_> = PAGES.into_iter().filter(|(entry, ..)| self.can_open(entry)).collect();
        let groups = visible.chunk_by(|one, next| one.1 == next.1);
        groups.map(|group| (group[0].1, group.iter().map(|(entry, ..)| *entry).collect())).collect()
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

/// Returns the query of an address with these fields, without the empty ones.
pub fn url_query(fields: &[(&str, &str)]) -> String {
    let given = fields.iter().filter(|(_, value)| !value.is_empty());
    let pairs: Vec<String> = given.map(|(name, value)| format!("{name}={}", encode_segment(value))).collect();
    pairs.join("&")
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
