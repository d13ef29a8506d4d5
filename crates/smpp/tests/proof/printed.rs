//! Prints PDUs for the golden vectors: one line for each field without default values. Unlike
//! `Debug` it hides nothing, so it belongs to the tests.

use bytes::BytesMut;
use hermod_smpp::*;
use std::fmt::Write;

pub(crate) const PDU_BYTES_MAX: u32 = 16_384;

/// Returns the decoded PDU as text, or the response to invalid octets.
pub(crate) fn meaning(octets: &[u8]) -> String {
    let mut buf = BytesMut::from(octets);
    match next_frame(&mut buf, PDU_BYTES_MAX) {
        Err(fault) => {
            let sequence = fault.sequence.unwrap_or(0);
            format!("broken: generic_nack {} seq={sequence}, link closes\n", FrameError::STATUS)
        }
        Ok(None) => "unfinished\n".into(),
        Ok(Some(frame)) => {
            assert!(buf.is_empty(), "a vector holds one PDU");
            match frame.decode() {
                Ok(pdu) => pdu_lines(&frame.header, &pdu),
                Err(fault) => refusal_line(&fault),
            }
        }
    }
}

fn refusal_line(fault: &DecodeError) -> String {
    let DecodeError { status, link, field, header } = fault;
    let link = match link {
        AfterError::Continue => "goes on",
        AfterError::Close => "closes",
    };
    format!("refused: {} seq={} {status} for {field}, link {link}\n", header.command, header.sequence)
}

struct Lines(String);

impl Lines {
    fn line(&mut self, name: &str, value: impl std::fmt::Display) {
        writeln!(self.0, "  {name:<24} {value}").expect("a string takes every line");
    }

    fn octet(&mut self, name: &str, value: u8) {
        if value != 0 {
            self.line(name, format_args!("0x{value:02x}"));
        }
    }

    fn text(&mut self, name: &str, value: &[u8]) {
        if !value.is_empty() {
            self.line(name, quoted(value));
        }
    }

    fn address(&mut self, name: &str, value: Address<'_>) {
        if value != Address::default() {
            self.line(name, address(value));
        }
    }

    fn tlvs(&mut self, tlvs: Tlvs<'_>) {
        for Tlv { tag, value } in tlvs {
            let hex: String = value.iter().map(|octet| format!("{octet:02x}")).collect();
            self.line(&tag.to_string(), format_args!("len={} 0x{hex}", value.len()));
        }
    }
}

fn quoted(value: &[u8]) -> String {
    format!("\"{}\"", value.escape_ascii())
}

fn address(value: Address<'_>) -> String {
    format!("{}/{} {}", value.ton, value.npi, quoted(value.value))
}

fn pdu_lines(header: &Header, pdu: &Pdu<'_>) -> String {
    let mut lines = Lines(format!("{} seq={}", header.command, header.sequence));
    if !header.status.is_ok() {
        write!(lines.0, " {}", header.status).expect("a string takes every line");
    }
    lines.0.push('\n');
    match pdu {
        Pdu::Bind(_, pdu) => bind(&mut lines, pdu),
        Pdu::BindResp(_, BindResp { system_id, tlvs }) => {
            lines.text("system_id", system_id);
            lines.tlvs(*tlvs);
        }
        Pdu::Outbind(Outbind { system_id, password }) => {
            lines.text("system_id", system_id);
            lines.text("password", password);
        }
        Pdu::SubmitSm(pdu) => submit_sm(&mut lines, pdu),
        Pdu::DeliverSm(pdu) => deliver_sm(&mut lines, pdu),
        Pdu::DataSm(pdu) => data_sm(&mut lines, pdu),
        Pdu::SubmitSmResp(SubmitSmResp { message_id, tlvs })
        | Pdu::DeliverSmResp(DeliverSmResp { message_id, tlvs })
        | Pdu::DataSmResp(DataSmResp { message_id, tlvs }) => {
            lines.text("message_id", message_id);
            lines.tlvs(*tlvs);
        }
        Pdu::SubmitMulti(pdu) => submit_multi(&mut lines, pdu),
        Pdu::SubmitMultiResp(pdu) => submit_multi_resp(&mut lines, pdu),
        Pdu::QuerySm(QuerySm { message_id, source }) => {
            lines.text("message_id", message_id);
            lines.address("source", *source);
        }
        Pdu::QuerySmResp(pdu) => query_sm_resp(&mut lines, pdu),
        Pdu::CancelSm(pdu) => cancel_sm(&mut lines, pdu),
        Pdu::ReplaceSm(pdu) => replace_sm(&mut lines, pdu),
        Pdu::AlertNotification(AlertNotification { source, esme, tlvs }) => {
            lines.address("source", *source);
            lines.address("esme", *esme);
            lines.tlvs(*tlvs);
        }
        Pdu::Unknown(_, body) => lines.text("body", body),
        Pdu::Unbind
        | Pdu::UnbindResp
        | Pdu::EnquireLink
        | Pdu::EnquireLinkResp
        | Pdu::GenericNack
        | Pdu::CancelSmResp
        | Pdu::ReplaceSmResp => {}
    }
    lines.0
}

fn bind(lines: &mut Lines, pdu: &Bind<'_>) {
    let Bind { system_id, password, system_type, interface_version, addr_ton, addr_npi, address_range } = pdu;
    lines.text("system_id", system_id);
    lines.text("password", password);
    lines.text("system_type", system_type);
    lines.octet("interface_version", *interface_version);
    lines.octet("addr_ton", *addr_ton);
    lines.octet("addr_npi", *addr_npi);
    lines.text("address_range", address_range);
}

fn submit_sm(lines: &mut Lines, pdu: &SubmitSm<'_>) {
    lines.text("service_type", pdu.service_type);
    lines.address("source", pdu.source);
    lines.address("destination", pdu.destination);
    lines.octet("esm_class", pdu.esm_class);
    lines.octet("protocol_id", pdu.protocol_id);
    lines.octet("priority_flag", pdu.priority_flag);
    lines.text("schedule_delivery_time", pdu.schedule_delivery_time);
    lines.text("validity_period", pdu.validity_period);
    lines.octet("registered_delivery", pdu.registered_delivery);
    lines.octet("replace_if_present_flag", pdu.replace_if_present_flag);
    lines.octet("data_coding", pdu.data_coding);
    lines.octet("sm_default_msg_id", pdu.sm_default_msg_id);
    lines.text("short_message", &pdu.short_message);
    lines.tlvs(pdu.tlvs);
}

fn deliver_sm(lines: &mut Lines, pdu: &DeliverSm<'_>) {
    lines.text("service_type", pdu.service_type);
    lines.address("source", pdu.source);
    lines.address("destination", pdu.destination);
    lines.octet("esm_class", pdu.esm_class);
    lines.octet("protocol_id", pdu.protocol_id);
    lines.octet("priority_flag", pdu.priority_flag);
    lines.text("schedule_delivery_time", pdu.schedule_delivery_time);
    lines.text("validity_period", pdu.validity_period);
    lines.octet("registered_delivery", pdu.registered_delivery);
    lines.octet("replace_if_present_flag", pdu.replace_if_present_flag);
    lines.octet("data_coding", pdu.data_coding);
    lines.octet("sm_default_msg_id", pdu.sm_default_msg_id);
    lines.text("short_message", &pdu.short_message);
    lines.tlvs(pdu.tlvs);
}

fn data_sm(lines: &mut Lines, pdu: &DataSm<'_>) {
    let DataSm { service_type, source, destination, esm_class, registered_delivery, data_coding, tlvs } = pdu;
    lines.text("service_type", service_type);
    lines.address("source", *source);
    lines.address("destination", *destination);
    lines.octet("esm_class", *esm_class);
    lines.octet("registered_delivery", *registered_delivery);
    lines.octet("data_coding", *data_coding);
    lines.tlvs(*tlvs);
}

fn submit_multi(lines: &mut Lines, pdu: &SubmitMulti<'_>) {
    lines.text("service_type", pdu.service_type);
    lines.address("source", pdu.source);
    assert_eq!(pdu.destinations.iter().count(), pdu.destinations.len());
    for destination in pdu.destinations.iter() {
        match destination {
            DestinationEntry::Sme(sme) => lines.line("destination", address(sme)),
            DestinationEntry::DistributionList(name) => lines.line("distribution list", quoted(name)),
        }
    }
    lines.octet("esm_class", pdu.esm_class);
    lines.octet("protocol_id", pdu.protocol_id);
    lines.octet("priority_flag", pdu.priority_flag);
    lines.text("schedule_delivery_time", pdu.schedule_delivery_time);
    lines.text("validity_period", pdu.validity_period);
    lines.octet("registered_delivery", pdu.registered_delivery);
    lines.octet("replace_if_present_flag", pdu.replace_if_present_flag);
    lines.octet("data_coding", pdu.data_coding);
    lines.octet("sm_default_msg_id", pdu.sm_default_msg_id);
    lines.text("short_message", &pdu.short_message);
    lines.tlvs(pdu.tlvs);
}

fn submit_multi_resp(lines: &mut Lines, pdu: &SubmitMultiResp<'_>) {
    let SubmitMultiResp { message_id, unsuccessful, tlvs } = pdu;
    lines.text("message_id", message_id);
    assert_eq!(unsuccessful.iter().count(), unsuccessful.len());
    for UnsuccessfulSme { destination, status } in unsuccessful.iter() {
        lines.line("unsuccessful", format_args!("{} {status}", address(destination)));
    }
    lines.tlvs(*tlvs);
}

fn query_sm_resp(lines: &mut Lines, pdu: &QuerySmResp<'_>) {
    let QuerySmResp { message_id, final_date, message_state, error_code } = pdu;
    lines.text("message_id", message_id);
    lines.text("final_date", final_date);
    lines.octet("message_state", *message_state);
    lines.octet("error_code", *error_code);
}

fn cancel_sm(lines: &mut Lines, pdu: &CancelSm<'_>) {
    let CancelSm { service_type, message_id, source, destination } = pdu;
    lines.text("service_type", service_type);
    lines.text("message_id", message_id);
    lines.address("source", *source);
    lines.address("destination", *destination);
}

fn replace_sm(lines: &mut Lines, pdu: &ReplaceSm<'_>) {
    lines.text("message_id", pdu.message_id);
    lines.address("source", pdu.source);
    lines.text("schedule_delivery_time", pdu.schedule_delivery_time);
    lines.text("validity_period", pdu.validity_period);
    lines.octet("registered_delivery", pdu.registered_delivery);
    lines.octet("sm_default_msg_id", pdu.sm_default_msg_id);
    lines.text("short_message", &pdu.short_message);
}
