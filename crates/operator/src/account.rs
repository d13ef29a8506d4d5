//! Account entries: credit, permitted countries, senders, SMPP rate and webhooks of a customer. A webhook URL is checked when it
//! is saved. A signing secret is rotated in two steps, so that a receiver can always verify.

use crate::entry::documents::EntryNames;
use crate::entry::draft::{Draft, FileEntry, required};
use crate::entry::names::NameForm;
use crate::entry::plan::Plan;
use crate::entry::{checks, values};
use crate::kind::Kind;
use crate::refusal::{ProvisionRefusal, ProvisionResult};
use crate::sender::WantedSender;
use hermod_domain::catalogue::{
    Account, Countries, PreviousSecret, SenderEntry, SenderState, Terms, Tier, Webhooks,
};
use hermod_domain::ids::{AccountId, PriceListId};
use hermod_domain::money::{Currency, Money};
use hermod_domain::numbers::Country;
use hermod_domain::operator_role::OperatorPermission;
use hermod_domain::sender::Sender;
use hermod_domain::time::Timestamp;
use hermod_domain::webhook::url::AddressRules;
use hermod_gateway::secrets::{Pepper, Secret, webhook_secret};
use hermod_store::CatalogueRow;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeSet;
use std::time::Duration;
use utoipa::ToSchema;

/// A customer.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Account)]
pub struct WantedAccount {
    #[serde(deserialize_with = "checks::name")]
    #[schema(pattern = "^[A-Za-z0-9._-]{1,64}$", examples("shop"))]
    pub name: String,
    /// A code of ISO 4217. Cannot change later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required, value_type = String, pattern = "^[A-Z]{3}$", examples("EUR"))]
    pub currency: Option<Currency>,
    /// Posted once, when the account is created.
    #[serde(default, deserialize_with = "values::amount", skip_serializing_if = "is_nothing")]
    #[schema(value_type = String, pattern = r"^[0-9]+(\.[0-9]{1,6})?$", examples("100"))]
    pub opening_balance: Money,
    /// How far below zero the balance may go.
    #[serde(default, deserialize_with = "values::amount")]
    #[schema(value_type = String, pattern = r"^[0-9]+(\.[0-9]{1,6})?$", examples("0"))]
    pub credit_limit: Money,
    /// The least balance that must remain.
    #[serde(default, deserialize_with = "values::amount")]
    #[schema(value_type = String, pattern = r"^[0-9]+(\.[0-9]{1,6})?$", examples("0"))]
    pub minimum: Money,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    /// The payment terms shown to the customer. Default: postpaid with a credit limit, else prepaid.
    #[schema(value_type = Option<String>, pattern = "^(prepaid|postpaid)$")]
    pub terms: Option<Terms>,
    /// The price list whose prices it pays, beside its own; in its currency. Default: the general prices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price_list: Option<String>,
    /// The customer's identity was verified. Required before anything can be sent.
    #[serde(default)]
    pub verified: bool,
    /// The permitted countries. Default: none.
    #[serde(default = "nowhere")]
    #[schema(value_type = CountriesShape)]
    pub countries: Countries,
    /// Countries that the customer switched off among the permitted ones, usually in the portal.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    #[schema(value_type = Vec<String>, examples("FR"))]
    pub countries_off: BTreeSet<Country>,
    /// Rejects all sign-ins and binds.
    #[serde(default)]
    pub closed: bool,
    /// Why the account is suspended; the customer reads it in the portal. A suspended account cannot send, and its new binds
    /// are rejected. Reading, live binds, receipts, MO messages and the portal stay.
    #[serde(default, deserialize_with = "checks::suspension", skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 200)]
    pub suspended: Option<String>,
    /// Short form for approved senders of this account.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<String>, examples("Shop"))]
    pub senders: Vec<Sender>,
    /// The SMPP throughput: `standard`, 100 parts per second over all binds, or `enterprise`, 10,000 per second on each
    /// bind.
    #[serde(default, skip_serializing_if = "is_standard")]
    #[schema(value_type = String, pattern = "^(standard|enterprise)$", examples("enterprise"))]
    pub tier: Tier,
    /// Parts per second over SMPP, instead of the tier's rate.
    #[serde(default, deserialize_with = "checks::rate", skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 1000000)]
    pub smpp_rate: Option<u32>,
    /// The URL for delivery reports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 2048, examples("https://shop.example/dlr"))]
    pub dlr_webhook: Option<String>,
    /// The URL for MO messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 2048, examples("https://shop.example/inbound"))]
    pub inbound_webhook: Option<String>,
    /// The secret that signs webhooks. An existing one is kept unless another is given. With the first URL a secret is
    /// generated and shown once.
    #[serde(
        default,
        deserialize_with = "checks::webhook_secret",
        serialize_with = "values::hidden",
        skip_serializing_if = "Option::is_none"
    )]
    #[schema(value_type = Option<String>, write_only, min_length = 16, max_length = 256, pattern = "^[!-~]*$")]
    pub webhook_secret: Option<Secret>,
    /// Additional opt-out keywords besides STOP and similar ones. The whole message must be one of them.
    #[serde(default, deserialize_with = "checks::stop_words", skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 50, examples("BASTA"))]
    pub stop_words: Vec<String>,
    /// Warn the customer, in the portal and by mail, if less than this is available.
    #[serde(default, deserialize_with = "values::amount", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, pattern = r"^[0-9]+(\.[0-9]{1,6})?$", examples("200"))]
    pub warn_below: Option<Money>,
    /// Warn again, urgently, if less than this is available.
    #[serde(default, deserialize_with = "values::amount", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, pattern = r"^[0-9]+(\.[0-9]{1,6})?$", examples("50"))]
    pub urgent_below: Option<Money>,
}

impl FileEntry for WantedAccount {
    const KIND: Kind = Kind::Account;
    const ABOUT: &'static str =
        "Accounts of customers. One that was never used can be removed; close any other.";
    const NAME_FORM: NameForm = NameForm::of_word("The name of the account.", "shop");
    const INSTEAD_OF_REMOVING: Option<&'static str> = Some("set closed = true instead");
    const COLUMNS: &'static [&'static str] = &[
        "currency",
        "credit_limit",
        "minimum",
        "terms",
        "price_list",
        "verified",
        "countries",
        "closed",
        "suspended",
    ];
    // The list's name is for operators; its prices stand in the portal.
    const PRIVATE: &'static [&'static str] = &["price_list"];
    const SECRET: Option<&'static str> = Some("webhook_secret");
    const ONLY_WHEN_NEW: &'static [&'static str] = &["opening_balance", "senders"];
    const CHANGED_WITH: OperatorPermission = OperatorPermission::Accounts;
    const FIELDS_CHANGED_WITH: &'static [(&'static str, OperatorPermission)] = &[
        ("opening_balance", OperatorPermission::Money),
        ("price_list", OperatorPermission::Money),
        ("senders", OperatorPermission::Customers),
        ("webhook_secret", OperatorPermission::Operations),
    ];
    type Document = Account;

    fn name(&self) -> String {
        self.name.clone()
    }

    fn document(&self, draft: &mut Draft<'_>, before: Option<&Account>) -> ProvisionResult<Account> {
        let WantedAccount {
            name,
            currency,
            opening_balance,
            credit_limit,
            minimum,
            terms,
            price_list,
            verified,
            countries,
            countries_off,
            closed,
            suspended,
            senders: _,
            tier,
            smpp_rate,
            dlr_webhook: _,
            inbound_webhook: _,
            webhook_secret: _,
            stop_words,
            warn_below,
            urgent_below,
        } = self;
        if let (Some(warn), Some(urgent)) = (warn_below, urgent_below)
            && urgent >= warn
        {
            let sentence = format!("must have an urgent_below of less than its warn_below, {warn}");
            return Err(ProvisionRefusal::about(&format!("account \"{name}\""), sentence));
        }
        let currency = required(currency, &format!("account \"{name}\""), "currency")?;
        match before {
            Some(before) if before.currency != currency => {
                let sentence = format!(
                    "has its balance in {}, and that cannot change; make a new account for {currency}",
                    before.currency
                );
                return Err(ProvisionRefusal::about(&format!("account \"{name}\""), sentence));
            }
            Some(_) => {}
            None => {
                let id = AccountId::new(draft.number(Kind::Account, name));
                draft.open_account(id, *opening_balance);
            }
        }
        let wanted_by = format!("account \"{name}\"");
        let price_list = draft.find_optional(Kind::PriceList, price_list.as_deref(), &wanted_by)?;
        let webhooks = webhooks_document(self, before.and_then(|before| before.webhooks.as_ref()), draft)?;
        Ok(Account {
            currency,
            credit_limit: *credit_limit,
            minimum: *minimum,
            verified: *verified,
            terms: *terms,
            price_list: price_list.map(PriceListId::new),
            countries: countries.clone(),
            countries_off: countries_off.clone(),
            closed: *closed,
            suspended: suspended.clone(),
            tier: *tier,
            smpp_rate: *smpp_rate,
            webhooks,
            stop_words: stop_words.clone(),
            warn_below: *warn_below,
            urgent_below: *urgent_below,
        })
    }

    fn shown(name: &str, document: Account, names: &EntryNames) -> WantedAccount {
        let Account {
            currency,
            credit_limit,
            minimum,
            verified,
            terms,
            price_list,
            countries,
            countries_off,
            closed,
            suspended,
            tier,
            smpp_rate,
            webhooks,
            stop_words,
            warn_below,
            urgent_below,
        } = document;
        let addresses = webhooks.map(|webhooks| (webhooks.dlr_url, webhooks.inbound_url));
        let (dlr_webhook, inbound_webhook) = addresses.unwrap_or_default();
        WantedAccount {
            name: name.to_owned(),
            currency: Some(currency),
            opening_balance: Money::ZERO,
            credit_limit,
            minimum,
            terms,
            price_list: price_list.map(|list| names.of(Kind::PriceList, list.get())),
            verified,
            countries,
            countries_off,
            closed,
            suspended,
            senders: Vec::new(),
            tier,
            smpp_rate,
            dlr_webhook,
            inbound_webhook,
            webhook_secret: None,
            stop_words,
            warn_below,
            urgent_below,
        }
    }

    fn secret_changed(before: &Account, after: &Account) -> Option<&'static str> {
        secrets_differ(before.webhooks.as_ref(), after.webhooks.as_ref()).then_some("webhook_secret")
    }

    fn secret(&self) -> Option<&Secret> {
        self.webhook_secret.as_ref()
    }

    fn kept_secret(document: &Account) -> Value {
        document.webhooks.as_ref().map_or(Value::Null, |webhooks| Value::from(webhooks.secret.clone()))
    }

    /// A file that names the secret from before a rotation does not undo the rotation.
    fn given_secret(given: &Secret, _: &Account, name: &str, draft: &Draft<'_>) -> Value {
        let account = draft.find(Kind::Account, name, "the file").map(AccountId::new);
        account.map_or(Value::Null, |account| Value::from(webhook_secret::seal(draft.pepper, account, given)))
    }

    fn secret_fits(given: &Secret, kept: &str, name: &str, draft: &Draft<'_>) -> bool {
        let account = draft.find(Kind::Account, name, "the file").map(AccountId::new);
        account.is_ok_and(|account| webhook_secret::seal(draft.pepper, account, given) == kept)
    }
}

impl WantedAccount {
    /// Approves the senders listed in the account entry. A sender that the operator blocked stays blocked, because a
    /// file may be applied at every start. Senders of a file are compared three-way like any of its entries.
    pub(crate) fn approve_senders(&self, draft: &mut Draft<'_>, of_file: bool) -> ProvisionResult<()> {
        if !draft.has(Kind::Account, &self.name) {
            // It was removed, and the file does not create it again.
            return Ok(());
        }
        let mentioned = ["sender", "account", "state"].map(str::to_owned).into();
        for sender in self.senders.iter().copied() {
            let wanted = WantedSender::approved(sender, &self.name);
            let name = wanted.name();
            let stored: Option<SenderEntry> = draft.stored(Kind::Sender, &name)?;
            let blocked = stored.is_some_and(|entry| entry.state == SenderState::Blocked);
            if draft.has_seen(Kind::Sender, &name) {
                continue;
            }
            match (blocked, of_file) {
                (true, _) => draft.leave_blocked(name),
                (false, true) => draft.bring(&wanted, &mentioned)?,
                (false, false) => draft.put(&wanted)?,
            }
        }
        Ok(())
    }
}

/// `"*"`, or country codes.
#[derive(ToSchema)]
#[schema(as = Countries)]
#[serde(untagged)]
#[expect(dead_code, reason = "the domain parses countries; this type documents them")]
enum CountriesShape {
    /// `*`: every country.
    All(String),
    /// Two-letter codes.
    Only(Vec<String>),
}

fn is_nothing(amount: &Money) -> bool {
    *amount == Money::ZERO
}

fn is_standard(tier: &Tier) -> bool {
    *tier == Tier::Standard
}

fn nowhere() -> Countries {
    Countries::Only(BTreeSet::new())
}

/// How long webhooks are signed with the old secret too after a switch.
pub const PREVIOUS_SECRET_KEPT: Duration = Duration::from_secs(24 * 3_600);

/// A step of a secret rotation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rotation {
    /// Also sign with this secret.
    Stage(Secret),
    /// The staged secret becomes the current one; the old one still signs for a while.
    Switch,
    /// Removes the staged secret; without one, the previous secret.
    Drop,
}

/// Makes the stored form. Unchanged URLs are not checked again: they were checked when saved, and are checked at every
/// connection.
fn webhooks_document(
    wanted: &WantedAccount,
    before: Option<&Webhooks>,
    draft: &mut Draft<'_>,
) -> ProvisionResult<Option<Webhooks>> {
    let WantedAccount { name, dlr_webhook, inbound_webhook, webhook_secret: secret, .. } = wanted;
    let what = format!("account \"{name}\"");
    let stored =
        [before.and_then(|old| old.dlr_url.as_ref()), before.and_then(|old| old.inbound_url.as_ref())];
    let given = [("dlr_webhook", dlr_webhook.as_ref()), ("inbound_webhook", inbound_webhook.as_ref())];
    for ((field, url), old) in given.into_iter().zip(stored) {
        if let Some(url) = url.filter(|url| Some(*url) != old) {
            let judged = draft.rules.check(url);
            judged.map_err(|refusal| {
                ProvisionRefusal::about(&what, format!("cannot have this {field}: {refusal}"))
            })?;
        }
    }
    let account = AccountId::new(draft.number(Kind::Account, name));
    let wants_any = dlr_webhook.is_some() || inbound_webhook.is_some();
    let mut next = before.and_then(|before| before.next.clone());
    let mut previous = before.and_then(|before| before.previous.clone());
    let secret = match (secret, before) {
        (Some(given), before) => {
            let given = webhook_secret::seal(draft.pepper, account, given);
            match before {
                // A file that names the secret from before the switch must not undo the switch.
                Some(before) if previous.as_ref().is_some_and(|old| old.secret == given) => {
                    before.secret.clone()
                }
                Some(before) if before.secret != given => {
                    let until = draft.now.plus(PREVIOUS_SECRET_KEPT);
                    previous = Some(PreviousSecret { secret: before.secret.clone(), until });
                    next = next.filter(|staged| *staged != given);
                    given
                }
                Some(_) | None => given,
            }
        }
        (None, Some(before)) => before.secret.clone(),
        (None, None) if wants_any => {
            let made = webhook_secret::make()
                .map_err(|error| ProvisionRefusal::about(&what, format!("got no random secret: {error}")))?;
            let sealed = webhook_secret::seal(draft.pepper, account, &made);
            draft.made_secret(&format!("webhooks of {name}"), made);
            sealed
        }
        (None, None) => return Ok(None),
    };
    Ok(Some(Webhooks {
        dlr_url: dlr_webhook.clone(),
        inbound_url: inbound_webhook.clone(),
        secret,
        next,
        previous,
    }))
}

fn secrets_differ(before: Option<&Webhooks>, after: Option<&Webhooks>) -> bool {
    let secrets = |webhooks: &Webhooks| {
        let Webhooks { dlr_url: _, inbound_url: _, secret, next, previous } = webhooks;
        (secret.clone(), next.clone(), previous.clone())
    };
    before.map(secrets) != after.map(secrets)
}

/// Plans a step of a secret rotation.
pub fn rotate(
    rows: Vec<CatalogueRow>,
    pepper: &Pepper,
    account: &str,
    step: &Rotation,
    now: Timestamp,
) -> ProvisionResult<Plan> {
    let rules = AddressRules::default();
    let mut draft = Draft::over(rows, pepper, &rules, now)?;
    let what = format!("account \"{account}\"");
    let id = AccountId::new(draft.find(Kind::Account, account, "the change")?);
    draft.rewrite::<WantedAccount>(account, |document: &mut Account| {
        let refuse = |sentence: &str| ProvisionRefusal::about(&what, sentence);
        let webhooks = document.webhooks.as_mut().ok_or_else(|| refuse("has no webhooks"))?;
        match step {
            Rotation::Stage(secret) => webhooks.next = Some(webhook_secret::seal(pepper, id, secret)),
            Rotation::Switch => {
                let next =
                    webhooks.next.take().ok_or_else(|| refuse("has no secret staged; stage one first"))?;
                let secret = std::mem::replace(&mut webhooks.secret, next);
                webhooks.previous = Some(PreviousSecret { secret, until: now.plus(PREVIOUS_SECRET_KEPT) });
            }
            Rotation::Drop if webhooks.next.is_some() => webhooks.next = None,
            Rotation::Drop => {
                webhooks
                    .previous
                    .take()
                    .ok_or_else(|| refuse("has neither a staged nor a previous secret"))?;
            }
        }
        Ok(())
    })?;
    draft.finish()
}
