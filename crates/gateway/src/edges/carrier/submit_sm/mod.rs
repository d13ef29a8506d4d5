//! Encodes a part as submit_sm by the carrier's profile. Values that are the same for all parts are computed once per
//! link; the rest is written into reused buffers, so that a part of an ordinary message costs no allocation.

mod alphabet;

use hermod_domain::carrier::{LongMessages, Profile, SmppVersion, ValidityFormat};
use hermod_domain::ids::PartNo;
use hermod_domain::numbers::Numbers;
use hermod_domain::phone::Msisdn;
use hermod_domain::sender::{Sender, SenderKind};
use hermod_domain::text::sms_options::PART_OCTETS_MAX;
use hermod_domain::text::{self as domain, Encoding, MessageText, SmsOptions};
use hermod_domain::time::Timestamp;
use hermod_smpp::time::TIME_CHARS;
use hermod_smpp::udh::{self, CONCATENATION_HEADER_BYTES, Concatenation};
use hermod_smpp::{Address, Hidden, Pdu, SubmitSm, Tag, TlvBuffer, Tlvs, esm_class, time};
use hermod_store::Job;
use metrics::{Counter, counter};
use std::time::Duration;

/// The least validity that is sent to a carrier.
const VALIDITY_MIN: Duration = Duration::from_secs(60);

/// What a submit_sm is made from: a job of the store, or the message of a probe.
#[derive(Clone, Copy)]
pub(super) struct PartToSend<'a> {
    pub(super) number: PartNo,
    pub(super) of: u8,
    /// The whole message in one submit_sm, for a carrier that splits it itself.
    pub(super) whole: bool,
    pub(super) from: Sender,
    pub(super) to: Msisdn,
    pub(super) text: &'a MessageText,
    pub(super) encoding: Encoding,
    /// The concatenation reference of the message's parts.
    pub(super) reference: u8,
    pub(super) expires_at: Timestamp,
    /// The customer's optional parameters, encoded.
    pub(super) tlvs: &'a [u8],
    pub(super) options: Option<&'a SmsOptions>,
}

impl<'a> PartToSend<'a> {
    pub(super) fn of(job: &'a Job) -> PartToSend<'a> {
        PartToSend {
            number: job.part,
            of: job.parts,
            whole: job.whole,
            from: job.from,
            to: job.to,
            text: &job.text,
            encoding: job.encoding,
            reference: job.reference,
            expires_at: job.expires_at,
            tlvs: job.tlvs.as_ref().map_or(&[], |tlvs| &tlvs.0),
            options: job.options.as_deref(),
        }
    }

    /// Returns the characters of the part, and the octets that they may take in UCS-2.
    fn characters(&self, joined_by: Joined) -> Option<(&'a str, usize)> {
        if let Some(options) = self.options.filter(|options| options.is_one_part()) {
            return Some((self.text.as_str(), 2 * options.units_max(Encoding::Ucs2)));
        }
        match joined_by {
            Joined::Alone if self.number.index() == 0 => Some((self.text.as_str(), PART_OCTETS_MAX)),
            Joined::Alone => None,
            // The carrier splits it.
            Joined::Payload => Some((self.text.as_str(), usize::MAX)),
            // An SMSC turns the sar_* parameters into the same header.
            Joined::Udh | Joined::Sar => {
                let characters = self.text.segments_in(self.encoding).slice(self.number)?;
                Some((characters, PART_OCTETS_MAX - CONCATENATION_HEADER_BYTES))
            }
        }
    }
}

/// How the parts of a message are joined.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Joined {
    /// A single part.
    Alone,
    Udh,
    Sar,
    Payload,
}

/// Encodes the parts of one link.
pub(super) struct PartEncoder {
    profile: Profile,
    /// The bind allows optional parameters.
    parameters: bool,
    /// A sender rewrite of the profile depends on the country.
    rewrites_by_country: bool,
    characters_lost: Counter,
    source: Vec<u8>,
    destination: Vec<u8>,
    validity: [u8; TIME_CHARS],
    body: Vec<u8>,
    tlvs: TlvBuffer,
}

impl PartEncoder {
    pub(super) fn new(profile: &Profile, carrier: &str) -> PartEncoder {
        PartEncoder {
            parameters: profile.version == SmppVersion::V34,
            rewrites_by_country: profile.senders.iter().any(|rule| rule.country.is_some()),
            profile: profile.clone(),
            characters_lost: counter!("hermod_characters_lost_total", "carrier" => carrier.to_owned()),
            source: Vec::new(),
            destination: Vec::new(),
            validity: [0; TIME_CHARS],
            body: Vec::new(),
            tlvs: TlvBuffer::new(),
        }
    }

    /// Adopts the version that the carrier's bind response announced. Without optional parameters, parts are joined by
    /// a user data header.
    pub(super) fn on_bound(&mut self, is_3_4: bool) {
        self.parameters = is_3_4 && self.profile.version == SmppVersion::V34;
    }

    /// Returns the PDU for a part. `None` if the text has no such part (only with corrupt data), or if a whole message
    /// needs a message_payload and the carrier takes none.
    pub(super) fn submit_sm(&mut self, part: &PartToSend<'_>, now: Timestamp) -> Option<Pdu<'_>> {
        let joined_by = self.joined_by(part)?;
        self.body.clear();
        if joined_by == Joined::Udh {
            write_header(part, &mut self.body);
        }
        let (characters, ucs2_octets_max) = part.characters(joined_by)?;
        let written = alphabet::write(
            characters,
            part.encoding,
            self.profile.alphabet,
            ucs2_octets_max,
            &mut self.body,
        )?;
        if written.lost > 0 {
            self.characters_lost.increment(written.lost);
        }
        let in_payload = self.write_tlvs(part, joined_by)?;
        let from = self.sender(part);
        write_source(&from, self.profile.plus, &mut self.source);
        write_number(part.to, self.profile.plus, &mut self.destination);
        let has_validity = self.write_validity(part.expires_at, now);
        let ton_npi = self.profile.source.of(from.kind());
        let to_ton_npi = self.profile.destination;
        Some(Pdu::SubmitSm(SubmitSm {
            service_type: self.profile.service_type.as_bytes(),
            source: Address::new(ton_npi.ton, ton_npi.npi, &self.source),
            destination: Address::new(to_ton_npi.ton, to_ton_npi.npi, &self.destination),
            esm_class: if joined_by == Joined::Udh { esm_class::UDHI } else { 0 },
            validity_period: if has_validity { &self.validity } else { &[] },
            registered_delivery: self.profile.registered_delivery,
            protocol_id: part.options.map_or(0, |options| options.protocol_id),
            data_coding: data_coding(part, written.data_coding),
            short_message: Hidden(if in_payload { &[] } else { &self.body }),
            tlvs: self.tlvs.as_tlvs(),
            ..SubmitSm::default()
        }))
    }

    fn joined_by(&self, part: &PartToSend<'_>) -> Option<Joined> {
        if let Some(options) = part.options.filter(|options| options.is_one_part()) {
            let as_parameters = self.parameters && self.profile.long_messages == LongMessages::Sar;
            // A header with other elements than the concatenation must stay a header.
            return Some(if as_parameters && place_of(options).is_some() {
                Joined::Sar
            } else {
                Joined::Udh
            });
        }
        if part.whole && part.text.measure_in(part.encoding).parts > 1 {
            return self.parameters.then_some(Joined::Payload);
        }
        Some(match self.profile.long_messages {
            _ if part.whole || part.of <= 1 => Joined::Alone,
            LongMessages::Sar if self.parameters => Joined::Sar,
            // Payload: a message that was split before the profile was changed.
            LongMessages::Udh | LongMessages::Sar | LongMessages::Payload => Joined::Udh,
        })
    }

    /// Writes the optional parameters. Returns true if they contain the text.
    fn write_tlvs(&mut self, part: &PartToSend<'_>, joined_by: Joined) -> Option<bool> {
        let PartEncoder { profile, tlvs, body, .. } = self;
        tlvs.clear();
        if !self.parameters {
            return Some(false);
        }
        match joined_by {
            Joined::Alone | Joined::Udh => {}
            Joined::Sar => {
                let ours = Concatenation {
                    reference: u16::from(part.reference),
                    total: part.of,
                    part: part.number.get(),
                };
                tlvs.push_sar(part.options.and_then(place_of).unwrap_or(ours));
            }
            Joined::Payload => {
                tlvs.try_push(Tag::MESSAGE_PAYLOAD, body).ok()?;
            }
        }
        let customers = match part.tlvs {
            [] => Tlvs::default(),
            octets => Tlvs::parse(octets).unwrap_or_default(),
        };
        // The customer's value replaces the profile's where both have one.
        let passed = |tag: u16| profile.pass_tlvs.contains(&tag).then(|| customers.get(Tag(tag))).flatten();
        for own in profile.tlvs.iter().filter(|own| passed(own.tag).is_none()) {
            tlvs.try_push(Tag(own.tag), &own.value).ok()?;
        }
        if !customers.is_empty() {
            for (tag, value) in profile.pass_tlvs.iter().filter_map(|tag| Some((*tag, passed(*tag)?))) {
                tlvs.try_push(Tag(tag), value).ok()?;
            }
        }
        Some(joined_by == Joined::Payload)
    }

    fn sender(&self, part: &PartToSend<'_>) -> Sender {
        if self.profile.senders.is_empty() {
            return part.from;
        }
        let country = self.rewrites_by_country.then(|| Numbers::embedded().find(part.to).country).flatten();
        self.profile.sender_for(&part.from, country)
    }

    /// Writes the validity_period. Returns false if none is sent. Seconds are cut off and the minimum is a minute, so
    /// the carrier keeps a message at most a minute longer than we do.
    fn write_validity(&mut self, expires_at: Timestamp, now: Timestamp) -> bool {
        let expires_at = expires_at.max(now.plus(VALIDITY_MIN));
        let written = match self.profile.validity {
            ValidityFormat::Off => return false,
            ValidityFormat::Relative => time::relative(expires_at.since(now).as_secs()),
            ValidityFormat::Absolute => time::utc(expires_at.as_millis().div_euclid(1000)),
        };
        // Two-digit years end in 2037; without a validity_period the carrier's default applies.
        let Ok(written) = written else { return false };
        self.validity = written;
        true
    }
}

/// Writes the user data header: the customer's own, or a concatenation header.
fn write_header(part: &PartToSend<'_>, body: &mut Vec<u8>) {
    let (reference, total, number) = match part.options {
        Some(options) if !options.header.is_empty() => return body.extend_from_slice(&options.header),
        Some(SmsOptions { concat: Some(joined), .. }) => {
            // A 16-bit reference needs one octet more than the part has room for.
            let [high, low] = joined.reference.to_be_bytes();
            (high ^ low, joined.total, joined.part)
        }
        _ => (part.reference, part.of, part.number.get()),
    };
    body.extend_from_slice(&udh::concatenation_header(reference, total, number));
}

/// Returns the customer's own concatenation, if its header contains nothing else.
fn place_of(options: &SmsOptions) -> Option<Concatenation> {
    if let Some(domain::ConcatPart { reference, total, part }) = options.concat {
        return Some(Concatenation { reference, total, part });
    }
    let header = udh::parse(&options.header).ok()?;
    header.concatenation().filter(|_| header.elements().count() == 1)
}

/// Returns the customer's data_coding for octets passed through, else ours, with the message class if there is one.
fn data_coding(part: &PartToSend<'_>, ours: u8) -> u8 {
    match part.options {
        Some(SmsOptions { data_coding: Some(theirs), .. }) => *theirs,
        Some(SmsOptions { class: Some(class), .. }) => alphabet::with_class(ours, *class),
        _ => ours,
    }
}

fn write_source(from: &Sender, plus: bool, out: &mut Vec<u8>) {
    out.clear();
    if plus && from.kind() == SenderKind::International {
        out.push(b'+');
    }
    out.extend_from_slice(from.address().as_bytes());
}

fn write_number(to: Msisdn, plus: bool, out: &mut Vec<u8>) {
    use std::io::Write;
    out.clear();
    if plus {
        out.push(b'+');
    }
    write!(out, "{}", to.number()).expect("a Vec takes everything");
}

#[cfg(test)]
mod tests;
