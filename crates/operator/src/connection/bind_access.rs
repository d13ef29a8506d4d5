//! Converts the SMPP fields of a connection's entry to the stored form and back.

use crate::connection::WantedConnection;
use crate::entry::draft::Draft;
use crate::setup::ProvisionRefusal;
use hermod_domain::catalogue::{BINDS_DEFAULT, BindTypes, SmppAccess, WINDOW_DEFAULT};
use hermod_gateway::secrets::Secret;
use hermod_gateway::secrets::passwords;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

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
pub(crate) fn access(
    wanted: &WantedConnection,
    what: &str,
    before: Option<&SmppAccess>,
    draft: &mut Draft<'_>,
) -> Result<Option<SmppAccess>, ProvisionRefusal> {
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
) -> Result<String, ProvisionRefusal> {
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
pub(crate) fn show(access: SmppAccess, connection: &mut WantedConnection) {
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
