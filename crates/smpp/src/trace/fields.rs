//! Writes the fields of each PDU into a trace line, in their order. Fields that are usually at their default are
//! omitted then.

use super::line::TraceText;
use crate::{
    Bind, DataSm, DeliverSm, DestinationEntry, Hidden, Pdu, QuerySmResp, ReceiptDialect, ReceiptField,
    ReplaceSm, SubmitMulti, SubmitMultiResp, SubmitSm, esm_class,
};

/// Entries of a list that are written; the total is written as well.
const ENTRIES_MAX: usize = 5;

pub(super) fn write_fields(line: &mut TraceText, pdu: &Pdu<'_>, dialect: ReceiptDialect) {
    match pdu {
        Pdu::Bind(_, pdu) => bind(line, pdu),
        Pdu::BindResp(_, pdu) => {
            line.octets("system_id", pdu.system_id);
            line.tlvs(pdu.tlvs);
        }
        Pdu::Outbind(pdu) => line.octets("system_id", pdu.system_id),
        Pdu::SubmitSm(pdu) => submit_sm(line, pdu),
        Pdu::SubmitMulti(pdu) => submit_multi(line, pdu),
        Pdu::SubmitMultiResp(pdu) => submit_multi_resp(line, pdu),
        Pdu::DeliverSm(pdu) => deliver_sm(line, pdu, dialect),
        Pdu::DataSm(pdu) => data_sm(line, pdu, dialect),
        Pdu::QuerySm(pdu) => {
            line.octets("message_id", pdu.message_id);
            line.address("source", pdu.source);
        }
        Pdu::QuerySmResp(pdu) => query_sm_resp(line, pdu),
        Pdu::CancelSm(pdu) => {
            line.octets_if_set("service_type", pdu.service_type);
            line.octets("message_id", pdu.message_id);
            line.address("source", pdu.source);
            line.address("dest", pdu.destination);
        }
        Pdu::ReplaceSm(pdu) => replace_sm(line, pdu),
        Pdu::AlertNotification(pdu) => {
            line.address("source", pdu.source);
            line.address("esme", pdu.esme);
            line.tlvs(pdu.tlvs);
        }
        Pdu::SubmitSmResp(pdu) => {
            line.octets("message_id", pdu.message_id);
            line.tlvs(pdu.tlvs);
        }
        Pdu::DataSmResp(pdu) => {
            line.octets("message_id", pdu.message_id);
            line.tlvs(pdu.tlvs);
        }
        Pdu::DeliverSmResp(pdu) => {
            line.octets_if_set("message_id", pdu.message_id);
            line.tlvs(pdu.tlvs);
        }
        Pdu::Unknown(_, body) => line.hidden("body", body.len()),
        Pdu::Unbind
        | Pdu::UnbindResp
        | Pdu::EnquireLink
        | Pdu::EnquireLinkResp
        | Pdu::GenericNack
        | Pdu::CancelSmResp
        | Pdu::ReplaceSmResp => {}
    }
}

fn bind(line: &mut TraceText, pdu: &Bind<'_>) {
    line.octets("system_id", pdu.system_id);
    line.octets_if_set("system_type", pdu.system_type);
    line.hex("interface_version", pdu.interface_version);
    line.hex_if_set("addr_ton", pdu.addr_ton);
    line.hex_if_set("addr_npi", pdu.addr_npi);
    line.octets_if_set("address_range", pdu.address_range);
}

fn submit_sm(line: &mut TraceText, pdu: &SubmitSm<'_>) {
    line.octets_if_set("service_type", pdu.service_type);
    line.address("source", pdu.source);
    line.address("dest", pdu.destination);
    line.hex("esm_class", pdu.esm_class);
    line.hex_if_set("protocol_id", pdu.protocol_id);
    line.hex_if_set("priority", pdu.priority_flag);
    line.octets_if_set("schedule", pdu.schedule_delivery_time);
    line.octets("validity", pdu.validity_period);
    line.hex("registered_delivery", pdu.registered_delivery);
    line.hex_if_set("replace_if_present", pdu.replace_if_present_flag);
    line.hex("data_coding", pdu.data_coding);
    line.hex_if_set("default_msg_id", pdu.sm_default_msg_id);
    line.hidden("text", pdu.short_message.len());
    line.tlvs(pdu.tlvs);
}

fn submit_multi(line: &mut TraceText, pdu: &SubmitMulti<'_>) {
    line.octets_if_set("service_type", pdu.service_type);
    line.address("source", pdu.source);
    line.field("dests", pdu.destinations.len());
    line.list("first", |line| {
        for destination in pdu.destinations.iter().take(ENTRIES_MAX) {
            match destination {
                DestinationEntry::Sme(address) => line.address("dest", address),
                DestinationEntry::DistributionList(name) => line.octets("list", name),
            }
        }
    });
    line.hex("esm_class", pdu.esm_class);
    line.hex_if_set("protocol_id", pdu.protocol_id);
    line.hex_if_set("priority", pdu.priority_flag);
    line.octets_if_set("schedule", pdu.schedule_delivery_time);
    line.octets("validity", pdu.validity_period);
    line.hex("registered_delivery", pdu.registered_delivery);
    line.hex_if_set("replace_if_present", pdu.replace_if_present_flag);
    line.hex("data_coding", pdu.data_coding);
    line.hex_if_set("default_msg_id", pdu.sm_default_msg_id);
    line.hidden("text", pdu.short_message.len());
    line.tlvs(pdu.tlvs);
}

fn submit_multi_resp(line: &mut TraceText, pdu: &SubmitMultiResp<'_>) {
    line.octets("message_id", pdu.message_id);
    line.field("unsuccessful", pdu.unsuccessful.len());
    if !pdu.unsuccessful.is_empty() {
        line.list("first", |line| {
            for entry in pdu.unsuccessful.iter().take(ENTRIES_MAX) {
                line.address("dest", entry.destination);
                line.field("status", entry.status);
            }
        });
    }
    line.tlvs(pdu.tlvs);
}

fn deliver_sm(line: &mut TraceText, pdu: &DeliverSm<'_>, dialect: ReceiptDialect) {
    line.octets_if_set("service_type", pdu.service_type);
    line.address("source", pdu.source);
    line.address("dest", pdu.destination);
    line.hex("esm_class", pdu.esm_class);
    line.hex_if_set("protocol_id", pdu.protocol_id);
    line.hex_if_set("priority", pdu.priority_flag);
    line.octets_if_set("schedule", pdu.schedule_delivery_time);
    line.octets_if_set("validity", pdu.validity_period);
    line.hex_if_set("registered_delivery", pdu.registered_delivery);
    line.hex_if_set("replace_if_present", pdu.replace_if_present_flag);
    line.hex("data_coding", pdu.data_coding);
    line.hex_if_set("default_msg_id", pdu.sm_default_msg_id);
    receipt(line, pdu.esm_class, pdu.text(), dialect);
    line.hidden("text", pdu.short_message.len());
    line.tlvs(pdu.tlvs);
}

fn data_sm(line: &mut TraceText, pdu: &DataSm<'_>, dialect: ReceiptDialect) {
    line.octets_if_set("service_type", pdu.service_type);
    line.address("source", pdu.source);
    line.address("dest", pdu.destination);
    line.hex("esm_class", pdu.esm_class);
    line.hex("registered_delivery", pdu.registered_delivery);
    line.hex("data_coding", pdu.data_coding);
    receipt(line, pdu.esm_class, pdu.text(), dialect);
    line.tlvs(pdu.tlvs);
}

fn query_sm_resp(line: &mut TraceText, pdu: &QuerySmResp<'_>) {
    line.octets("message_id", pdu.message_id);
    line.octets("final_date", pdu.final_date);
    line.field("message_state", pdu.message_state);
    line.field("error_code", pdu.error_code);
}

fn replace_sm(line: &mut TraceText, pdu: &ReplaceSm<'_>) {
    line.octets("message_id", pdu.message_id);
    line.address("source", pdu.source);
    line.octets_if_set("schedule", pdu.schedule_delivery_time);
    line.octets("validity", pdu.validity_period);
    line.hex("registered_delivery", pdu.registered_delivery);
    line.hex_if_set("default_msg_id", pdu.sm_default_msg_id);
    line.hidden("text", pdu.short_message.len());
}

/// Writes the fields of a receipt, recognised by `esm_class` only, which a subscriber cannot set.
fn receipt(line: &mut TraceText, class: u8, text: Hidden<'_>, dialect: ReceiptDialect) {
    if class & (esm_class::RECEIPT | esm_class::INTERMEDIATE) == 0 {
        return;
    }
    let receipt = dialect.read_before_text(&text);
    line.list("receipt", |line| {
        for field in ReceiptField::ALL {
            if let Some(value) = receipt.get(field) {
                line.octets(field.name(), first_word(value));
            }
        }
    });
}

/// Returns the first word of a value. If a label is not recognised, the value before it would extend into the message
/// text.
fn first_word(value: &[u8]) -> &[u8] {
    value.split(|octet| octet.is_ascii_whitespace() || b",;\0".contains(octet)).next().unwrap_or_default()
}
