//! Parses submit_sm, data_sm and submit_multi into a submission, field by field. Pure. An invalid field is rejected
//! with the status that names it.

mod addresses;
mod data_coding;
#[cfg(test)]
mod tests;
mod validity;

pub(super) use addresses::{recipient, sender};

use data_coding::{Coding, DecodedText, Extent, SubmitAlphabet};
use hermod_domain::catalogue::SmppAccess;
use hermod_domain::origin::{Origin, QUOTE_CHARS_MAX, RegisteredDelivery, SmppAddress};
use hermod_domain::sender::{Sender, SenderKind};
use hermod_domain::submission::{Submission, measure};
use hermod_domain::text::{ConcatPart, Encoding, MessageText, SmsOptions, gsm7};
use hermod_domain::time::Timestamp;
use hermod_smpp::{Address, CommandStatus, DataSm, SubmitMulti, SubmitSm, Tag, Tlv, Tlvs, esm_class, udh};
use smallvec::SmallVec;
use std::sync::Arc;
use std::time::Duration;

/// The most octets of optional parameters that are kept for the carrier.
const PASSED_TLVS_BYTES_MAX: usize = 1_024;
/// Vendor-specific parameters (SMPP v3.4 section 5.3.2).
const VENDOR_TAGS: std::ops::RangeInclusive<u16> = 0x1400..=0x3FFF;
const MODE_TRANSACTION: u8 = 2;
const PRIORITY_LAST: u8 = 3;
/// `dest_addr_subunit`: display immediately (flash).
const SUBUNIT_DISPLAY: u8 = 1;
/// `dest_addr_subunit`: the SIM (SMPP v3.4 section 5.3.2.1, "Smart Card 1").
const SUBUNIT_SIM: u8 = 3;
/// The message class of the SIM (GSM 03.38 section 4).
const CLASS_SIM: u8 = 2;
/// User data header elements for the SIM: "(U)SIM Toolkit Security Headers" (3GPP TS 23.040 section 9.2.3.24).
const SIM_TOOLKIT_ELEMENTS: std::ops::RangeInclusive<u8> = 0x70..=0x7F;
/// User data header elements for applications on the handset: ports of 8 and 16 bits, and the control messages of WAP (3GPP TS
/// 23.040 section 9.2.3.24).
const PORT_ELEMENTS: [u8; 3] = [0x04, 0x05, 0x09];
/// The defined bits of `registered_delivery`.
const REGISTERED_DELIVERY_KNOWN: u8 = 0x1F;

/// The settings that apply to all submits of a bind.
#[derive(Clone, Copy)]
pub(super) struct SubmitTerms<'a> {
    pub(super) access: &'a SmppAccess,
    pub(super) is_3_4: bool,
    pub(super) on_transmitter: bool,
    /// The sender in receipts if the submit has none.
    pub(super) default_sender: Option<Sender>,
    pub(super) now: Timestamp,
}

/// The common fields of the three submit PDUs.
#[derive(Clone, Copy)]
pub(super) struct Fields<'a> {
    source: Address<'a>,
    esm_class: u8,
    protocol_id: u8,
    priority_flag: u8,
    schedule_delivery_time: &'a [u8],
    validity_period: &'a [u8],
    registered_delivery: u8,
    replace_if_present_flag: u8,
    data_coding: u8,
    sm_default_msg_id: u8,
    short_message: &'a [u8],
    tlvs: Tlvs<'a>,
}

macro_rules! fields_of {
    ($pdu:expr) => {
        Fields {
            source: $pdu.source,
            esm_class: $pdu.esm_class,
            protocol_id: $pdu.protocol_id,
            priority_flag: $pdu.priority_flag,
            schedule_delivery_time: $pdu.schedule_delivery_time,
            validity_period: $pdu.validity_period,
            registered_delivery: $pdu.registered_delivery,
            replace_if_present_flag: $pdu.replace_if_present_flag,
            data_coding: $pdu.data_coding,
            sm_default_msg_id: $pdu.sm_default_msg_id,
            short_message: $pdu.short_message.0,
            tlvs: $pdu.tlvs,
        }
    };
}

impl<'a> Fields<'a> {
    pub(super) fn of_submit_sm(pdu: &SubmitSm<'a>) -> Fields<'a> {
        fields_of!(pdu)
    }

    pub(super) fn of_submit_multi(pdu: &SubmitMulti<'a>) -> Fields<'a> {
        fields_of!(pdu)
    }

    /// Fields that a `data_sm` does not have are empty.
    pub(super) fn of_data_sm(pdu: &DataSm<'a>) -> Fields<'a> {
        Fields {
            source: pdu.source,
            esm_class: pdu.esm_class,
            protocol_id: 0,
            priority_flag: 0,
            schedule_delivery_time: &[],
            validity_period: &[],
            registered_delivery: pdu.registered_delivery,
            replace_if_present_flag: 0,
            data_coding: pdu.data_coding,
            sm_default_msg_id: 0,
            short_message: &[],
            tlvs: pdu.tlvs,
        }
    }
}

/// A submission without its recipient.
pub(super) struct SubmissionDraft {
    from: Option<Sender>,
    text: MessageText,
    encoding: Option<Encoding>,
    options: Option<Arc<SmsOptions>>,
    place: Option<ConcatPart>,
    tlvs: Option<Arc<[u8]>>,
    validity: Option<Duration>,
    source: SmppAddress,
    registered_delivery: RegisteredDelivery,
    reference: Option<u16>,
    short_id: bool,
    on_transmitter: bool,
    quote: SmallVec<[u8; QUOTE_CHARS_MAX]>,
    callback: Option<Sender>,
}

/// Parses everything except the recipient, in the order of the PDU's fields.
pub(super) fn draft(fields: &Fields<'_>, terms: &SubmitTerms<'_>) -> Result<SubmissionDraft, CommandStatus> {
    let SubmitTerms { access, is_3_4, on_transmitter, default_sender, now } = *terms;
    let from = addresses::sender(fields.source, access)?;
    check_flags(fields, access)?;
    let validity = validity::read(fields.validity_period, now)?;
    let Content { text, encoding, options, place } = content(fields, access)?;
    let quote = if access.receipt_text { quote(&text) } else { SmallVec::new() };
    Ok(SubmissionDraft {
        from,
        text,
        encoding,
        options: Some(options).filter(|options| !options.is_plain()).map(Arc::new),
        place,
        tlvs: passed(fields.tlvs, access)?,
        validity,
        source: written_source(fields.source, default_sender),
        registered_delivery: RegisteredDelivery::from_octet(fields.registered_delivery),
        reference: fields.tlvs.get_u16(Tag::USER_MESSAGE_REFERENCE),
        short_id: !is_3_4,
        on_transmitter,
        quote,
        callback: fields.tlvs.get(Tag::CALLBACK_NUM).and_then(addresses::callback),
    })
}

impl SubmissionDraft {
    /// Returns the number of parts, which is what counts towards the rate.
    pub(super) fn parts(&self) -> u8 {
        measure(&self.text, self.encoding, self.options.as_deref()).parts
    }

    pub(super) fn addressed_to(
        &self,
        destination: Address<'_>,
        access: &SmppAccess,
    ) -> Result<Submission, CommandStatus> {
        let to = addresses::recipient(destination, access)?;
        let mut submission = Submission {
            encoding: self.encoding,
            options: self.options.clone(),
            place: self.place,
            tlvs: self.tlvs.clone(),
            validity: self.validity,
            callback: self.callback,
            ..Submission::plain(to, self.from, self.text.clone())
        };
        // Always set: it marks a message that came over SMPP.
        submission.origin = Some(Arc::new(Origin {
            registered_delivery: self.registered_delivery,
            short_id: self.short_id,
            on_transmitter: self.on_transmitter,
            reference: self.reference,
            source: self.source.clone(),
            destination: SmppAddress::new(destination.ton, destination.npi, destination.value),
            quote: self.quote.clone(),
        }));
        Ok(submission)
    }
}

/// Returns the source address for receipts: as submitted, else the default sender.
fn written_source(source: Address<'_>, default_sender: Option<Sender>) -> SmppAddress {
    match default_sender {
        Some(sender) if source.value.is_empty() => {
            let (ton, npi) = if sender.kind() == SenderKind::Alphanumeric { (5, 0) } else { (1, 1) };
            SmppAddress::new(ton, npi, sender.address().as_bytes())
        }
        _ => SmppAddress::new(source.ton, source.npi, source.value),
    }
}

fn check_flags(fields: &Fields<'_>, access: &SmppAccess) -> Result<(), CommandStatus> {
    let mode = fields.esm_class & esm_class::MODE_MASK;
    if mode == MODE_TRANSACTION || fields.esm_class & esm_class::TYPE_MASK != 0 {
        return Err(CommandStatus::INVESMCLASS);
    }
    // Silent, replacing and SIM messages can be abused. `dest_addr_subunit` can address the SIM too.
    let is_special = matches!(fields.protocol_id, 0x40..=0x47 | 0x7F) || names_sim(fields.tlvs);
    if is_special && !access.special_protocol_ids {
        return Err(CommandStatus::SUBMITFAIL);
    }
    if names_port(fields.tlvs) && !access.application_ports {
        return Err(CommandStatus::SUBMITFAIL);
    }
    if fields.priority_flag > PRIORITY_LAST {
        return Err(CommandStatus::INVPRTFLG);
    }
    // Scheduled delivery is not supported, and sending early would be wrong.
    if !fields.schedule_delivery_time.is_empty() {
        return Err(CommandStatus::INVSCHED);
    }
    if access.strict && fields.registered_delivery & !REGISTERED_DELIVERY_KNOWN != 0 {
        return Err(CommandStatus::INVREGDLVFLG);
    }
    match fields.replace_if_present_flag {
        0 => {}
        1 => return Err(CommandStatus::INVSUBREP),
        _ => return Err(CommandStatus::INVREPFLAG),
    }
    if fields.sm_default_msg_id != 0 {
        return Err(CommandStatus::INVDFTMSGID);
    }
    Ok(())
}

fn names_sim(tlvs: Tlvs<'_>) -> bool {
    tlvs.get_u8(Tag::DEST_ADDR_SUBUNIT) == Some(SUBUNIT_SIM)
}

/// Whether a port of an application is addressed, or a type of payload other than text and data.
fn names_port(tlvs: Tlvs<'_>) -> bool {
    [Tag::SOURCE_PORT, Tag::DESTINATION_PORT].into_iter().any(|tag| tlvs.get(tag).is_some())
        || tlvs.get_u8(Tag::PAYLOAD_TYPE).is_some_and(|kind| kind != 0)
}

struct Content {
    text: MessageText,
    encoding: Option<Encoding>,
    options: SmsOptions,
    place: Option<ConcatPart>,
}

fn content(fields: &Fields<'_>, access: &SmppAccess) -> Result<Content, CommandStatus> {
    let coding = Coding::of(fields.data_coding, access)?;
    if coding.class == Some(CLASS_SIM) && !access.special_protocol_ids {
        return Err(CommandStatus::SUBMITFAIL);
    }
    let octets = match (fields.short_message, fields.tlvs.get(Tag::MESSAGE_PAYLOAD)) {
        ([], Some(payload)) => payload,
        (_, Some(_)) => return Err(CommandStatus::OPTPARNOTALLWD),
        (short_message, None) => short_message,
    };
    let joined = joined(fields.tlvs)?;
    let mut place = joined;
    let (header, octets, extent) = if fields.esm_class & esm_class::UDHI == 0 {
        (&[][..], octets, if joined.is_some() { Extent::Part } else { Extent::Whole })
    } else if joined.is_some() {
        return Err(CommandStatus::INVOPTPARAMVAL);
    } else {
        let parsed = udh::parse(octets).map_err(|_| CommandStatus::INVESMCLASS)?;
        check_elements(&parsed, access)?;
        place = parsed.concatenation().map(|found| ConcatPart {
            reference: found.reference,
            total: found.total,
            part: found.part,
        });
        let extent = if place.is_some() { Extent::Part } else { Extent::Headed };
        let (header, octets) = octets.split_at(octets.len() - parsed.text.len());
        (header, octets, extent)
    };
    let DecodedText { text, encoding, is_untouched } =
        data_coding::read(octets, coding.alphabet, access, extent)?;
    let class = match fields.tlvs.get_u8(Tag::DEST_ADDR_SUBUNIT) {
        Some(SUBUNIT_DISPLAY) => Some(0),
        Some(SUBUNIT_SIM) => Some(CLASS_SIM),
        Some(_) | None => coding.class,
    };
    let options = SmsOptions {
        header: header.into(),
        concat: joined,
        class,
        protocol_id: if matches!(fields.protocol_id, 0..=0x1F | 0x40..=0x47 | 0x7F) {
            fields.protocol_id
        } else {
            0
        },
        data_coding: (is_untouched || coding.is_special).then_some(fields.data_coding),
    };
    if extent != Extent::Whole && !fits(&text, encoding, &coding, &options) {
        return Err(CommandStatus::INVMSGLEN);
    }
    Ok(Content { text, encoding, options, place })
}

/// Rejects header elements for the SIM and for applications, unless the connection may send them.
fn check_elements(header: &udh::Udh<'_>, access: &SmppAccess) -> Result<(), CommandStatus> {
    let has = |is_special: &dyn Fn(u8) -> bool| header.elements().any(|element| is_special(element.id));
    let to_sim = has(&|id| SIM_TOOLKIT_ELEMENTS.contains(&id)) && !access.special_protocol_ids;
    let to_port = has(&|id| PORT_ELEMENTS.contains(&id)) && !access.application_ports;
    if to_sim || to_port { Err(CommandStatus::SUBMITFAIL) } else { Ok(()) }
}

/// Whether a part that the customer has split fits in one SMS.
fn fits(text: &MessageText, encoding: Option<Encoding>, coding: &Coding, options: &SmsOptions) -> bool {
    let encoding = encoding.unwrap_or(Encoding::Ucs2);
    // Octets passed through may be septets.
    let is_gsm = matches!(coding.alphabet, SubmitAlphabet::Gsm | SubmitAlphabet::Default);
    let room = if options.data_coding.is_some() && is_gsm { Encoding::Gsm7 } else { encoding };
    encoding.units_of(text.as_str()) <= options.units_max(room)
}

/// Reads the sar_* parameters. All three must be present, else they are ignored.
fn joined(tlvs: Tlvs<'_>) -> Result<Option<ConcatPart>, CommandStatus> {
    let reference = tlvs.get_u16(Tag::SAR_MSG_REF_NUM);
    let total = tlvs.get_u8(Tag::SAR_TOTAL_SEGMENTS);
    let part = tlvs.get_u8(Tag::SAR_SEGMENT_SEQNUM);
    match (reference, total, part) {
        (Some(reference), Some(total), Some(part)) if (1..=total).contains(&part) => {
            Ok(Some(ConcatPart { reference, total, part }).filter(|joined| joined.total > 1))
        }
        (Some(_), Some(_), Some(_)) => Err(CommandStatus::INVOPTPARAMVAL),
        _ => Ok(None),
    }
}

/// Encodes the parameters that are passed on to the carrier: those for the handset, and vendor-specific ones if the
/// connection may send them.
fn passed(tlvs: Tlvs<'_>, access: &SmppAccess) -> Result<Option<Arc<[u8]>>, CommandStatus> {
    let mut kept = Vec::new();
    for Tlv { tag, value } in tlvs.iter().filter(|tlv| is_passed(tlv.tag, access)) {
        let length = u16::try_from(value.len()).map_err(|_| CommandStatus::INVPARLEN)?;
        kept.extend_from_slice(&tag.0.to_be_bytes());
        kept.extend_from_slice(&length.to_be_bytes());
        kept.extend_from_slice(value);
        if kept.len() > PASSED_TLVS_BYTES_MAX {
            return Err(CommandStatus::INVPARLEN);
        }
    }
    Ok(if kept.is_empty() { None } else { Some(kept.into()) })
}

fn is_passed(tag: Tag, access: &SmppAccess) -> bool {
    match tag {
        Tag::CALLBACK_NUM
        | Tag::CALLBACK_NUM_PRES_IND
        | Tag::CALLBACK_NUM_ATAG
        | Tag::SOURCE_PORT
        | Tag::DESTINATION_PORT
        | Tag::SOURCE_SUBADDRESS
        | Tag::DEST_SUBADDRESS
        | Tag::LANGUAGE_INDICATOR
        | Tag::PAYLOAD_TYPE
        | Tag::PRIVACY_INDICATOR
        | Tag::MS_VALIDITY
        | Tag::MS_MSG_WAIT_FACILITIES
        | Tag::USER_RESPONSE_CODE
        | Tag::USSD_SERVICE_OP
        | Tag::DISPLAY_TIME
        | Tag::SMS_SIGNAL => true,
        Tag(number) => access.pass_tlvs && VENDOR_TAGS.contains(&number),
    }
}

/// Returns the beginning of the text for the receipt, one septet per character; others become `?`.
fn quote(text: &MessageText) -> SmallVec<[u8; QUOTE_CHARS_MAX]> {
    let septet = |character| match gsm7::code(character) {
        Some(gsm7::Gsm7Code::Basic(septet)) => septet,
        Some(gsm7::Gsm7Code::Extended(_)) | None => b'?',
    };
    text.as_str().chars().take(QUOTE_CHARS_MAX).map(septet).collect()
}
