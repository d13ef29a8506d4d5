//! Connection entries: HTTP and SMPP access to an account.

use crate::entry::documents::EntryNames;
use crate::entry::draft::{Draft, FileEntry, required};
use crate::entry::names::NameForm;
use crate::entry::plan::{FieldChange, previous_changes};
use crate::entry::{checks, names, values};
use crate::kind::Kind;
use crate::refusal::{ProvisionRefusal, ProvisionResult};
use hermod_domain::catalogue::{
    AllowList, BINDS_DEFAULT, BindTypes, CodingZero, Connection, InboundForm, SmppAccess, WINDOW_DEFAULT,
};
use hermod_domain::ids::AccountId;
use hermod_domain::operator_role::OperatorPermission;
use hermod_domain::sender::Sender;
use hermod_domain::webhook::DlrForm;
use hermod_gateway::secrets::{Secret, passwords};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// HTTP or SMPP access to an account.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Connection)]
pub struct WantedConnection {
    #[serde(deserialize_with = "checks::name")]
    #[schema(pattern = "^[A-Za-z0-9._-]{1,64}$", examples("shop-http"))]
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required, value_type = String, examples("shop"))]
    pub account: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    /// The sender of requests without one.
    #[schema(value_type = Option<String>, examples("Shop"))]
    pub default_sender: Option<Sender>,
    #[serde(default = "ten", deserialize_with = "checks::rate")]
    /// Requests per second over all keys.
    #[schema(minimum = 1, maximum = 1000000)]
    pub rate: u32,
    #[serde(default, deserialize_with = "checks::max_parts", skip_serializing_if = "Option::is_none")]
    /// Rejects messages with more parts.
    #[schema(minimum = 1, maximum = 255)]
    pub max_parts: Option<u8>,
    #[serde(
        default,
        deserialize_with = "values::networks",
        serialize_with = "values::networks_text",
        skip_serializing_if = "AllowList::is_empty"
    )]
    /// The allow-list of addresses and networks; empty: any address.
    #[schema(value_type = Vec<String>, examples("192.0.2.0/24"))]
    pub allow: AllowList,
    /// Replaces typographic characters if that keeps a text in GSM-7.
    #[serde(default)]
    pub smart_encoding: bool,
    /// Rejects all sign-ins and binds.
    #[serde(default)]
    pub closed: bool,
    /// The customer's system_id, unique among connections. Without it the connection cannot bind.
    #[serde(
        default,
        deserialize_with = "checks::customer_system_id",
        skip_serializing_if = "Option::is_none"
    )]
    #[schema(pattern = "^[!-~]{1,15}$", examples("shop"))]
    pub system_id: Option<String>,
    /// The bind password. Only a hash is stored. An existing one is kept unless another is given; without one, a
    /// password is generated and shown once. Live binds stay, unless the change has `unbind=true`.
    #[serde(
        default,
        deserialize_with = "checks::customer_password",
        serialize_with = "values::hidden",
        skip_serializing_if = "Option::is_none"
    )]
    #[schema(value_type = Option<String>, write_only, min_length = 8, max_length = 8)]
    pub password: Option<Secret>,
    /// The `system_type` that binds must have. Default: any.
    #[serde(
        default,
        deserialize_with = "checks::wanted_system_type",
        skip_serializing_if = "Option::is_none"
    )]
    #[schema(max_length = 12)]
    pub system_type: Option<String>,
    /// The permitted bind types. Default: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(inline)]
    pub bind_types: Option<Vec<BindTypeName>>,
    /// The most concurrent binds. Default: 10.
    #[serde(default, deserialize_with = "checks::max_binds", skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 10000)]
    pub max_binds: Option<u32>,
    /// The window of each bind, in either direction. Default: 10.
    #[serde(default, deserialize_with = "checks::customer_window", skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 100)]
    pub window: Option<u16>,
    /// Rejects binds without TLS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls_only: Option<bool>,
    /// The alphabet of `data_coding` 0: `gsm` (default), `ascii`, `latin1` or `utf8`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, pattern = "^(gsm|ascii|latin1|utf8)$")]
    pub alphabet: Option<CodingZero>,
    /// Reads a text of `data_coding` 0 that is not GSM-7 as Latin-1, instead of rejecting it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latin1_fallback: Option<bool>,
    /// Rejects undefined TON, NPI and registered_delivery values, instead of ignoring them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strict: Option<bool>,
    /// Uses vendor-specific error codes (0x0400 to 0x0407), on 3.4 binds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extended_codes: Option<bool>,
    /// Includes the first 20 characters of the text in receipts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receipt_text: Option<bool>,
    /// Passes vendor parameters (0x1400 to 0x3FFF) on, if the carrier's entry does too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pass_tlvs: Option<bool>,
    /// Accepts silent, replacing and SIM messages: `protocol_id` 0x40 to 0x47 and 0x7F, message class
    /// 2, `dest_addr_subunit` 3 and user data header elements 0x70 to 0x7F.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub special_protocol_ids: Option<bool>,
    /// Accepts messages to applications on the handset, such as WAP push: user data header elements 0x04, 0x05 and 0x09, and
    /// the parameters `source_port`, `destination_port` and `payload_type` 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub application_ports: Option<bool>,
    /// Accepts message waiting indications (`data_coding` 0xC0 to 0xDF).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_waiting: Option<bool>,
    /// The form of delivery reports in webhooks: `full` (default) or `short`.
    #[serde(default, skip_serializing_if = "is_usual")]
    #[schema(value_type = String, pattern = "^(full|short)$", examples("short"))]
    pub dlr_form: DlrForm,
    /// Reports messages submitted over SMPP by webhook too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub webhooks_too: bool,
    /// How MO messages are delivered to its binds: long ones in `parts` (default), whole in one `payload`, or `none`.
    /// An account's MO messages go to its first connection that accepts them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, pattern = "^(parts|payload|none)$")]
    pub inbound: Option<InboundForm>,
}

impl FileEntry for WantedConnection {
    const KIND: Kind = Kind::Connection;
    const ABOUT: &'static str = "Connections of customers, over HTTP or SMPP. One that was never used can be removed; close any other.";
    const NAME_FORM: NameForm = NameForm::of_word("The name of the connection.", "shop-http");
    const INSTEAD_OF_REMOVING: Option<&'static str> = Some("set closed = true instead");
    const COLUMNS: &'static [&'static str] =
        &["account", "default_sender", "rate", "max_parts", "allow", "smart_encoding", "closed", "system_id"];
    const SECRET: Option<&'static str> = Some("password");
    const CHANGED_WITH: OperatorPermission = OperatorPermission::Operations;
    type Document = Connection;

    fn name(&self) -> String {
        self.name.clone()
    }

    fn document(&self, draft: &mut Draft<'_>, before: Option<&Connection>) -> ProvisionResult<Connection> {
        let WantedConnection {
            name,
            account,
            default_sender,
            rate,
            max_parts,
            allow,
            smart_encoding,
            closed,
            ..
        } = self;
        let what = format!("connection \"{name}\"");
        let account = &required(account, &what, "account")?;
        let owner = AccountId::new(draft.find(Kind::Account, account, &what)?);
        if before.is_some_and(|before| before.account != owner) {
            let sentence =
                format!("belongs to another account than \"{account}\", and its messages stay there");
            return Err(ProvisionRefusal::about(&what, sentence));
        }
        if let Some(sender) = default_sender.filter(|sender| !is_known(draft, account, sender)) {
            let sentence = format!(
                "has the default sender \"{sender}\", which is not among the senders of account \"{account}\""
            );
            return Err(ProvisionRefusal::about(&what, sentence));
        }
        let smpp = before.and_then(|before| before.smpp.as_ref());
        let smpp = smpp_access(self, &what, smpp, draft)?;
        Ok(Connection {
            account: owner,
            default_sender: *default_sender,
            requests_per_second: *rate,
            max_parts: *max_parts,
            allow: allow.clone(),
            smart_encoding: *smart_encoding,
            closed: *closed,
            smpp,
            dlr_form: self.dlr_form,
            webhooks_too: self.webhooks_too,
        })
    }

    fn shown(name: &str, document: Connection, names: &EntryNames) -> WantedConnection {
        let Connection {
            account,
            default_sender,
            requests_per_second,
            max_parts,
            allow,
            smart_encoding,
            closed,
            smpp,
            dlr_form,
            webhooks_too,
        } = document;
        let mut shown = WantedConnection {
            name: name.to_owned(),
            account: Some(names.of(Kind::Account, account.get())),
            default_sender,
            rate: requests_per_second,
            max_parts,
            allow,
            smart_encoding,
            closed,
            dlr_form,
            webhooks_too,
            ..WantedConnection::default()
        };
        if let Some(access) = smpp {
            show_smpp_access(access, &mut shown);
        }
        shown
    }

    fn unshown_changes(before: &Connection, after: &Connection) -> Vec<FieldChange> {
        let previous =
            |connection: &Connection| connection.smpp.as_ref().and_then(|smpp| smpp.previous.clone());
        let secret = Self::secret_changed(before, after).map(FieldChange::hidden);
        let (before, after) = (previous(before), previous(after));
        let until = previous_changes("old_password_until", before.as_ref(), after.as_ref());
        secret.into_iter().chain(until).collect()
    }

    fn secret(&self) -> Option<&Secret> {
        self.password.as_ref()
    }

    fn kept_secret(document: &Connection) -> Value {
        document.smpp.as_ref().map_or(Value::Null, |smpp| Value::from(smpp.password_hash.clone()))
    }

    fn secret_fits(given: &Secret, kept: &str, _: &str, draft: &Draft<'_>) -> bool {
        passwords::matches(draft.pepper, given.reveal().as_bytes(), kept)
    }
}

/// Whether the account has this sender, in any state: a sender that is blocked later must not make its file invalid.
fn is_known(draft: &Draft<'_>, account: &str, sender: &Sender) -> bool {
    draft.has(Kind::Sender, &names::of_sender(Some(account), sender)) || draft.owns_number(account, sender)
}

fn ten() -> u32 {
    10
}

fn is_usual(form: &DlrForm) -> bool {
    *form == DlrForm::default()
}

/// A bind type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum BindTypeName {
    Transmitter,
    Receiver,
    Transceiver,
}

/// The label of a generated password in a plan.
const PASSWORD_OF: &str = "password of ";

/// Makes the stored SMPP settings; `None` without a `system_id`. Only the hash of the password is stored. The existing
/// hash is kept unless a password is given; without both, a password is generated.
fn smpp_access(
    wanted: &WantedConnection,
    what: &str,
    before: Option<&SmppAccess>,
    draft: &mut Draft<'_>,
) -> ProvisionResult<Option<SmppAccess>> {
    let Some(system_id) = &wanted.system_id else {
        let sentence = "has a password and no system_id; name both, or neither";
        return wanted.password.as_ref().map_or(Ok(None), |_| Err(ProvisionRefusal::about(what, sentence)));
    };
    let password_hash = password_hash(wanted, what, before, draft)?;
    // Another password ends a rotation: only the given one is valid.
    let kept = before.filter(|before| before.password_hash == password_hash);
    let previous = kept.and_then(|before| before.previous.clone());
    Ok(Some(SmppAccess {
        system_id: system_id.clone(),
        password_hash,
        system_type: wanted.system_type.clone(),
        bind_types: wanted.bind_types.as_deref().map_or_else(BindTypes::default, types),
        max_binds: wanted.max_binds.unwrap_or(BINDS_DEFAULT),
        window: wanted.window.unwrap_or(WINDOW_DEFAULT),
        tls_only: wanted.tls_only.unwrap_or_default(),
        alphabet: wanted.alphabet.unwrap_or_default(),
        latin1_fallback: wanted.latin1_fallback.unwrap_or_default(),
        strict: wanted.strict.unwrap_or_default(),
        extended_codes: wanted.extended_codes.unwrap_or_default(),
        receipt_text: wanted.receipt_text.unwrap_or_default(),
        pass_tlvs: wanted.pass_tlvs.unwrap_or_default(),
        special_protocol_ids: wanted.special_protocol_ids.unwrap_or_default(),
        application_ports: wanted.application_ports.unwrap_or_default(),
        message_waiting: wanted.message_waiting.unwrap_or_default(),
        inbound: wanted.inbound.unwrap_or_default(),
        previous,
    }))
}

/// Returns the hash to store. Hashes are salted, so an existing hash that matches the given password is kept: applying
/// a file again changes nothing.
fn password_hash(
    wanted: &WantedConnection,
    what: &str,
    before: Option<&SmppAccess>,
    draft: &mut Draft<'_>,
) -> ProvisionResult<String> {
    let pepper = draft.pepper;
    let hash = |password: &Secret| {
        let hash = passwords::hash(pepper, password.reveal());
        hash.map_err(|error| ProvisionRefusal::about(what, format!("got no hash of its password: {error}")))
    };
    let kept = before.map(|before| before.password_hash.clone());
    match (&wanted.password, kept) {
        (None, Some(kept)) => Ok(kept),
        (Some(given), Some(kept)) if passwords::matches(pepper, given.reveal().as_bytes(), &kept) => Ok(kept),
        (Some(given), _) => hash(given),
        (None, None) => {
            let made = passwords::random()
                .map_err(|error| ProvisionRefusal::about(what, format!("got no random password: {error}")))?;
            let hash = hash(&made)?;
            draft.made_secret(&format!("{PASSWORD_OF}{}", wanted.name), made);
            Ok(hash)
        }
    }
}

fn types(named: &[BindTypeName]) -> BindTypes {
    BindTypes {
        transmitter: named.contains(&BindTypeName::Transmitter),
        receiver: named.contains(&BindTypeName::Receiver),
        transceiver: named.contains(&BindTypeName::Transceiver),
    }
}

/// Fills in the SMPP fields of the entry, without the password.
fn show_smpp_access(access: SmppAccess, connection: &mut WantedConnection) {
    let SmppAccess {
        system_id,
        password_hash: _,
        system_type,
        bind_types,
        max_binds,
        window,
        tls_only,
        alphabet,
        latin1_fallback,
        strict,
        extended_codes,
        receipt_text,
        pass_tlvs,
        special_protocol_ids,
        application_ports,
        message_waiting,
        inbound,
        previous: _,
    } = access;
    connection.system_id = Some(system_id);
    connection.system_type = system_type;
    connection.bind_types = Some(named(bind_types));
    connection.max_binds = Some(max_binds);
    connection.window = Some(window);
    connection.tls_only = Some(tls_only);
    connection.alphabet = Some(alphabet);
    connection.latin1_fallback = Some(latin1_fallback);
    connection.strict = Some(strict);
    connection.extended_codes = Some(extended_codes);
    connection.receipt_text = Some(receipt_text);
    connection.pass_tlvs = Some(pass_tlvs);
    connection.special_protocol_ids = Some(special_protocol_ids);
    connection.application_ports = Some(application_ports);
    connection.message_waiting = Some(message_waiting);
    connection.inbound = Some(inbound);
}

fn named(types: BindTypes) -> Vec<BindTypeName> {
    let BindTypes { transmitter, receiver, transceiver } = types;
    let all = [
        (transmitter, BindTypeName::Transmitter),
        (receiver, BindTypeName::Receiver),
        (transceiver, BindTypeName::Transceiver),
    ];
    all.into_iter().filter(|(may, _)| *may).map(|(_, name)| name).collect()
}
