//! How a receipt is written: in which PDU, with or without TLVs, and in which words. A wording is a template with
//! the places `{id}`, `{sub}`, `{dlvrd}`, `{submit date}`, `{done date}`, `{stat}`, `{err}` and `{text}`; the named
//! ones are dialects that carriers speak.

use std::fmt::Write;

use hermod_domain::time::Timestamp;

/// How long the dates are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DateDigits {
    /// `YYMMDDhhmm`
    Minutes,
    /// `YYMMDDhhmmss`
    Seconds,
    /// `YYYYMMDDhhmmss`
    LongYear,
}

/// Where the text stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextPlace {
    ShortMessage,
    /// In the TLV `message_payload`.
    Payload,
    /// There is no text.
    Nowhere,
}

/// How a carrier writes its receipts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceiptFormat {
    /// None: the usual text, written the fast way.
    pub(super) template: Option<String>,
    pub(super) dates: DateDigits,
    pub(super) place: TextPlace,
    pub(super) tlvs: bool,
    pub(super) unknown_tlv: bool,
    pub(super) data_sm: bool,
    /// The text is in UCS-2, under `data_coding` 8.
    pub(super) ucs2: bool,
    /// `esm_class` does not say that it is a receipt.
    pub(super) unmarked: bool,
    /// `service_type` is longer than SMPP allows.
    pub(super) long_service_type: bool,
    /// In place of the outcome's own word.
    pub(super) stat: Option<String>,
    /// In place of the three digits.
    pub(super) err: Option<String>,
}

/// A text longer than this is cut off: `short_message` holds no more.
const TEXT_BYTES_MAX: usize = 254;

impl Default for ReceiptFormat {
    fn default() -> Self {
        ReceiptFormat::standard()
    }
}

impl ReceiptFormat {
    /// As SMPP v3.4 appendix B has it, with TLVs that say the same.
    pub fn standard() -> ReceiptFormat {
        ReceiptFormat {
            template: None,
            dates: DateDigits::Minutes,
            place: TextPlace::ShortMessage,
            tlvs: true,
            unknown_tlv: false,
            data_sm: false,
            ucs2: false,
            unmarked: false,
            long_service_type: false,
            stat: None,
            err: None,
        }
    }

    /// Any text, with the places named above. No TLVs say it better.
    pub fn text(template: &str) -> ReceiptFormat {
        ReceiptFormat { template: Some(template.to_owned()), tlvs: false, ..ReceiptFormat::standard() }
    }

    /// Without `sub`, `dlvrd` and `text`.
    pub fn short() -> ReceiptFormat {
        ReceiptFormat::text("id:{id} submit date:{submit date} done date:{done date} stat:{stat} err:{err}")
    }

    /// Only `id` and `stat`.
    pub fn shortest() -> ReceiptFormat {
        ReceiptFormat::text("id:{id} stat:{stat}")
    }

    /// Labels in another case and order, with other spaces.
    pub fn odd_labels() -> ReceiptFormat {
        ReceiptFormat::text(
            "Stat:{stat}  ERR: {err} Done_Date:{done date} SubmitDate:{submit date} DLVRD:{dlvrd} SUB:{sub} \
             ID:{id} Text:",
        )
    }

    /// The usual labels between commas.
    pub fn labels_and_commas() -> ReceiptFormat {
        ReceiptFormat::text(
            "id:{id},sub:{sub},dlvrd:{dlvrd},submit date:{submit date},done date:{done date},stat:{stat},err:{err},text:",
        )
    }

    /// Values alone between commas: id, state, error, when it was submitted, when it was done.
    pub fn commas() -> ReceiptFormat {
        ReceiptFormat::text("{id},{stat},{err},{submit date},{done date}")
    }

    /// No text at all: `receipted_message_id` and `message_state` say everything.
    pub fn tlvs_only() -> ReceiptFormat {
        ReceiptFormat { place: TextPlace::Nowhere, ..ReceiptFormat::standard() }
    }

    /// The usual text, and no TLVs.
    pub fn text_only() -> ReceiptFormat {
        ReceiptFormat { tlvs: false, ..ReceiptFormat::standard() }
    }

    /// The usual text in `message_payload`, and no other TLVs.
    pub fn in_payload() -> ReceiptFormat {
        ReceiptFormat { place: TextPlace::Payload, tlvs: false, ..ReceiptFormat::standard() }
    }

    /// DateDigits with this many digits.
    #[must_use]
    pub fn dates(mut self, dates: DateDigits) -> ReceiptFormat {
        self.dates = dates;
        self
    }

    /// The text in UCS-2.
    #[must_use]
    pub fn in_ucs2(mut self) -> ReceiptFormat {
        self.ucs2 = true;
        self
    }

    /// With `esm_class` 0: only the TLVs say that it is a receipt.
    #[must_use]
    pub fn unmarked(mut self) -> ReceiptFormat {
        self.unmarked = true;
        self
    }

    /// With a `service_type` of seven characters; five are allowed (SMPP v3.4 §4.6.1).
    #[must_use]
    pub fn with_long_service_type(mut self) -> ReceiptFormat {
        self.long_service_type = true;
        self
    }

    /// This word in place of the outcome's own. The TLV `message_state`, where there is one, stays true.
    #[must_use]
    pub fn stat(mut self, word: &str) -> ReceiptFormat {
        self.stat = Some(word.to_owned());
        self
    }

    /// This in place of the three digits of `err`.
    #[must_use]
    pub fn err(mut self, code: &str) -> ReceiptFormat {
        self.err = Some(code.to_owned());
        self
    }

    /// TLVs that say the same as the text.
    #[must_use]
    pub fn with_tlvs(mut self) -> ReceiptFormat {
        self.tlvs = true;
        self
    }

    /// A TLV beside the others that nobody knows.
    #[must_use]
    pub fn with_unknown_tlv(mut self) -> ReceiptFormat {
        self.unknown_tlv = true;
        self
    }

    /// In a data_sm instead of a deliver_sm, for those who speak 3.4.
    #[must_use]
    pub fn by_data_sm(mut self) -> ReceiptFormat {
        self.data_sm = true;
        self
    }
}

/// What a receipt says, ready for any wording.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReceiptValues<'a> {
    pub(super) id: &'a str,
    pub(super) delivered: u8,
    pub(super) stat: &'a str,
    pub(super) error_code: u16,
    pub(super) submitted: &'a str,
    pub(super) done: &'a str,
}

impl ReceiptFormat {
    /// Writes the text; empty where there is none.
    pub(super) fn write(&self, said: &ReceiptValues<'_>, text: &mut String) {
        text.clear();
        if self.place == TextPlace::Nowhere {
            return;
        }
        let ReceiptValues { id, delivered, submitted, done, .. } = *said;
        let stat = self.stat.as_deref().unwrap_or(said.stat);
        let written = match (&self.template, &self.err) {
            (None, None) => write!(
                text,
                "id:{id} sub:001 dlvrd:{delivered:03} submit date:{submitted} done date:{done} stat:{stat} \
                 err:{:03} text:",
                said.error_code.min(999)
            ),
            (None, Some(err)) => write!(
                text,
                "id:{id} sub:001 dlvrd:{delivered:03} submit date:{submitted} done date:{done} stat:{stat} \
                 err:{err} text:"
            ),
            (Some(template), err) => {
                let err = err.clone().unwrap_or_else(|| format!("{:03}", said.error_code.min(999)));
                let dlvrd = format!("{delivered:03}");
                let places = [
                    ("{id}", id),
                    ("{sub}", "001"),
                    ("{dlvrd}", &dlvrd),
                    ("{submit date}", submitted),
                    ("{done date}", done),
                    ("{stat}", stat),
                    ("{err}", &err),
                    ("{text}", ""),
                ];
                let filled =
                    places.iter().fold(template.clone(), |t, (place, value)| t.replace(place, value));
                text.write_str(&filled)
            }
        };
        written.expect("a string takes what is written to it");
        while text.len() > TEXT_BYTES_MAX {
            text.pop();
        }
    }
}

/// A date of a receipt in this many digits.
pub(super) fn write_date(dates: DateDigits, time: Timestamp) -> String {
    let minute = time.to_receipt_minute();
    let seconds = time.as_millis().div_euclid(1000).rem_euclid(60);
    match dates {
        DateDigits::Minutes => minute,
        DateDigits::Seconds => format!("{minute}{seconds:02}"),
        // A date in a receipt is never older than this program.
        DateDigits::LongYear => format!("20{minute}{seconds:02}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(wording: &ReceiptFormat, expect: &str) {
        let said = ReceiptValues {
            id: "1f",
            delivered: 0,
            stat: "UNDELIV",
            error_code: 11,
            submitted: "2402282359",
            done: "2402290001",
        };
        let mut text = "what stood here".to_owned();
        wording.write(&said, &mut text);
        assert_eq!(text, expect);
    }

    #[test]
    fn every_dialect_says_the_same_in_its_own_words() {
        let usual =
            "id:1f sub:001 dlvrd:000 submit date:2402282359 done date:2402290001 stat:UNDELIV err:011 text:";
        check(&ReceiptFormat::standard(), usual);
        check(&ReceiptFormat::text_only(), usual);
        check(&ReceiptFormat::in_payload(), usual);
        check(&ReceiptFormat::tlvs_only(), "");
        check(
            &ReceiptFormat::short(),
            "id:1f submit date:2402282359 done date:2402290001 stat:UNDELIV err:011",
        );
        check(&ReceiptFormat::shortest().stat("BUFFRED"), "id:1f stat:BUFFRED");
        check(
            &ReceiptFormat::odd_labels(),
            "Stat:UNDELIV  ERR: 011 Done_Date:2402290001 SubmitDate:2402282359 DLVRD:000 SUB:001 ID:1f Text:",
        );
        check(&ReceiptFormat::labels_and_commas(), &usual.replace(' ', ",").replace(",date", " date"));
        check(&ReceiptFormat::commas(), "1f,UNDELIV,011,2402282359,2402290001");
        check(&ReceiptFormat::standard().err("0x1F-ABSENT"), &usual.replace("011", "0x1F-ABSENT"));
        check(&ReceiptFormat::text("{id}|{stat}|{text}"), "1f|UNDELIV|");
        check(&ReceiptFormat::text(&"x".repeat(999)), &"x".repeat(254));
    }

    #[test]
    fn dates_have_ten_twelve_or_fourteen_digits() {
        let time = Timestamp::from_utc((2024, 2, 29), (23, 59, 58)).unwrap();
        assert_eq!(write_date(DateDigits::Minutes, time), "2402292359");
        assert_eq!(write_date(DateDigits::Seconds, time), "240229235958");
        assert_eq!(write_date(DateDigits::LongYear, time), "20240229235958");
    }
}
