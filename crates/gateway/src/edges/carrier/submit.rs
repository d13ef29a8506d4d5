//! From a part to the submit_sm that carries it.

use hermod_domain::phone::Msisdn;
use hermod_domain::sender::{Sender, SenderKind};
use hermod_domain::text::Encoding;
use hermod_smpp::{Address, Hidden, Pdu, SubmitSm, esm_class, udh};
use hermod_store::Job;

/// Receipts are asked for on every part, for success and failure alike.
const RECEIPT_ON_FINAL: u8 = 0x01;
const CODING_DEFAULT: u8 = 0x00;
const CODING_UCS2: u8 = 0x08;
/// TON and NPI of a short code.
const TON_NETWORK_SPECIFIC: u8 = 3;
const NPI_UNKNOWN: u8 = 0;

/// The octets a part's submit_sm borrows from. Used again for every part, so that a part costs no allocation here.
#[derive(Default)]
pub(super) struct Scratch {
    destination: String,
    body: Vec<u8>,
}

impl Scratch {
    /// The PDU for a part. `None` if the job names a part its text does not have, which only damage can bring about.
    pub(super) fn submit_sm<'a>(&'a mut self, job: &'a Job) -> Option<Pdu<'a>> {
        self.body.clear();
        if job.parts > 1 {
            self.body.extend_from_slice(&udh::concatenation_header(job.reference, job.parts, job.part.get()));
        }
        self.body.extend_from_slice(&job.text.segments().part(job.part)?);
        write_digits(job.to, &mut self.destination);
        Some(Pdu::SubmitSm(SubmitSm {
            source: source(&job.from),
            destination: Address::international(self.destination.as_bytes()),
            esm_class: if job.parts > 1 { esm_class::UDHI } else { 0 },
            registered_delivery: RECEIPT_ON_FINAL,
            data_coding: match job.encoding {
                Encoding::Gsm7 => CODING_DEFAULT,
                Encoding::Ucs2 => CODING_UCS2,
            },
            short_message: Hidden(&self.body),
            ..SubmitSm::default()
        }))
    }
}

fn write_digits(to: Msisdn, digits: &mut String) {
    use std::fmt::Write;
    digits.clear();
    write!(digits, "{}", to.number()).expect("a String takes everything");
}

fn source(from: &Sender) -> Address<'_> {
    let address = from.address().as_bytes();
    match from.kind() {
        SenderKind::Alphanumeric => Address::alphanumeric(address),
        SenderKind::International => Address::international(address),
        SenderKind::ShortCode => Address::new(TON_NETWORK_SPECIFIC, NPI_UNKNOWN, address),
    }
}
