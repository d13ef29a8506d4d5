//! The accounts, connections, numbers and report channels of a simulated gateway. The model reads these
//! lists, the engine reads the catalogue built from them.

use hermod_domain::catalogue::{
    Account, Catalogue, Connection, Countries, Documents, InboundForm, NumberEntry, SmppAccess, Webhooks,
};
use hermod_domain::ids::{AccountId, ConnectionId};
use hermod_domain::money::{Currency, Money};
use hermod_domain::sender::Sender;
use hermod_domain::webhook::WebhookKind;
use std::sync::Arc;

pub(super) const ACCOUNTS: [AccountId; 4] =
    [AccountId::new(1), AccountId::new(2), AccountId::new(3), AccountId::new(4)];

/// A number of one account.
pub(super) const OWNED: &str = "4915799990001";
/// A number that accounts share by keyword, with the fourth account as default.
pub(super) const SHARED: &str = "80800";
/// A number with a keyword and without a default account.
pub(super) const SHARED_BY_NONE: &str = "80801";
/// A number that no account owns.
pub(super) const FOREIGN: &str = "80802";
/// (shared number, keyword, account)
const KEYWORDS: [(&str, &str, AccountId); 3] =
    [(SHARED, "VOTE", ACCOUNTS[1]), (SHARED, "NEWS", ACCOUNTS[2]), (SHARED_BY_NONE, "ONLY", ACCOUNTS[1])];

/// The report channels of all accounts. The connection of an account has the account's number.
pub(super) struct Setup {
    dlr_webhooks: &'static [u32],
    inbound_webhooks: &'static [u32],
    webhooks_too: &'static [u32],
    mo_over_smpp: &'static [u32],
    pub(super) catalogue: Arc<Catalogue>,
}

impl Setup {
    /// Returns the setups that a run alternates between. The second lacks endpoints of the first.
    pub(super) fn all() -> [Setup; 2] {
        [
            Setup::build(&[2, 3], &[2, 4], &[3], &[1, 2, 3]),
            Setup::build(&[3, 4], &[1, 2], &[3, 4], &[1, 3, 4]),
        ]
    }

    fn build(
        dlr_webhooks: &'static [u32],
        inbound_webhooks: &'static [u32],
        webhooks_too: &'static [u32],
        mo_over_smpp: &'static [u32],
    ) -> Setup {
        let url = |hooks: &[u32], id: AccountId| hooks.contains(&id.get()).then(|| "https://hook".to_owned());
        let webhooks = |id| Webhooks {
            dlr_url: url(dlr_webhooks, id),
            inbound_url: url(inbound_webhooks, id),
            secret: String::new(),
            next: None,
            previous: None,
        };
        let numbers = [(OWNED, None, ACCOUNTS[0]), (SHARED, None, ACCOUNTS[3])].into_iter();
        let keywords =
            KEYWORDS.into_iter().map(|(number, keyword, account)| (number, Some(keyword), account));
        let documents = Documents {
            accounts: ACCOUNTS.map(|id| (id, format!("account {id}"), account(webhooks(id)))).into(),
            connections: ACCOUNTS
                .map(|id| {
                    let takes_mo = mo_over_smpp.contains(&id.get());
                    (connection_of(id), connection(id, takes_mo, webhooks_too.contains(&id.get())))
                })
                .into(),
            numbers: numbers
                .chain(keywords)
                .map(|(number, keyword, id)| entry(number, keyword, id))
                .collect(),
            ..Documents::default()
        };
        let catalogue = Arc::new(Catalogue::build(documents).expect("a catalogue"));
        Setup { dlr_webhooks, inbound_webhooks, webhooks_too, mo_over_smpp, catalogue }
    }

    /// Whether an account has a webhook of this kind.
    pub(super) fn has_webhook(&self, account: AccountId, kind: WebhookKind) -> bool {
        match kind {
            WebhookKind::Dlr => self.dlr_webhooks.contains(&account.get()),
            WebhookKind::Inbound => self.inbound_webhooks.contains(&account.get()),
        }
    }

    /// Whether a connection has `webhooks_too`.
    pub(super) fn has_webhooks_too(&self, connection: ConnectionId) -> bool {
        self.webhooks_too.contains(&connection.get())
    }

    /// Returns the connection that takes the MO messages of an account.
    pub(super) fn mo_connection(&self, account: AccountId) -> Option<ConnectionId> {
        self.mo_over_smpp.contains(&account.get()).then(|| connection_of(account))
    }
}

/// The result of an owner lookup by number and first word of a text.
pub(super) enum NumberClaim<'a> {
    /// The account has the number or the keyword; the text follows it.
    Owner(AccountId, &'a str),
    /// The number has keywords, and the text none of them.
    Shared(Option<AccountId>),
    Foreign,
}

/// Returns the owner of a text to a number.
pub(super) fn claim<'a>(number: &str, text: &'a str) -> NumberClaim<'a> {
    let (first, rest) = text.split_once(' ').unwrap_or((text, ""));
    let keyword = KEYWORDS.iter().find(|(of, keyword, _)| *of == number && *keyword == first);
    match (number, keyword) {
        (_, Some((.., account))) => NumberClaim::Owner(*account, rest),
        (OWNED, None) => NumberClaim::Owner(ACCOUNTS[0], text),
        (SHARED, None) => NumberClaim::Shared(Some(ACCOUNTS[3])),
        (SHARED_BY_NONE, None) => NumberClaim::Shared(None),
        _ => NumberClaim::Foreign,
    }
}

pub(super) fn connection_of(account: AccountId) -> ConnectionId {
    ConnectionId::new(account.get())
}

fn account(webhooks: Webhooks) -> Account {
    Account {
        currency: Currency::parse("EUR").expect("a currency"),
        credit_limit: Money::ZERO,
        minimum: Money::ZERO,
        verified: true,
        terms: None,
        price_list: None,
        countries: Countries::All,
        closed: false,
        tier: Default::default(),
        smpp_rate: None,
        webhooks: Some(webhooks),
        stop_words: Vec::new(),
        countries_off: std::collections::BTreeSet::new(),
        warn_below: None,
        urgent_below: None,
        suspended: None,
    }
}

fn connection(account: AccountId, takes_mo: bool, webhooks_too: bool) -> Connection {
    let inbound = if takes_mo { InboundForm::Parts } else { InboundForm::None };
    Connection {
        account,
        default_sender: None,
        requests_per_second: 10,
        max_parts: None,
        allow: Default::default(),
        smart_encoding: false,
        closed: false,
        smpp: Some(SmppAccess { inbound, ..SmppAccess::new(&format!("account{account}"), "") }),
        dlr_form: Default::default(),
        webhooks_too,
    }
}

fn entry(number: &str, keyword: Option<&str>, account: AccountId) -> NumberEntry {
    let number = Sender::parse(number).expect("a number");
    NumberEntry { number, account, keyword: keyword.map(str::to_owned) }
}
