//! How a receipt is written: in which PDU, with or without TLVs, and in which words. A wording is a template with
//! the places `{id}`, `{sub}`, `{dlvrd}`, `{submit date}`, `{done date}`, `{stat}`, `{err}` and `{text}`; the named
//! ones are dialects that carriers speak.

use std::fmt::Write;

use hermod_domain::time::Timestamp;

/// How long the dates are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dates {
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
pub struct Wording {
    /// None: the usual text, written the fast way.
    pub(super) template: Option<String>,
    pub(super) dates: Dates,
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

impl Default for Wording {
    fn default() -> Self {
        Wording::standard()
    }
}

impl Wording {
    /// As SMPP v3.4 appendix B has it, with TLVs that say the same.
    pub fn standard() -> Wording {
        Wording {
            template: None,
            dates: Dates::Minutes,
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
    pub fn text(template: &str) -> Wording {
        Wording { template: Some(template.to_owned()), tlvs: false, ..Wording::standard() }
    }

    /// Without `sub`, `dlvrd` and `text`.
    pub fn short() -> Wording {
        Wording::text("id:{id} submit date:{submit date} done date:{done date} stat:{stat} err:{err}")
    }

    /// Only `id` and `stat`.
    pub fn shortest() -> Wording {
        Wording::text("id:{id} stat:{stat}")
    }

    /// Labels in another case and order, with other spaces.
    pub fn odd_labels() -> Wording {
        Wording::text(
            "Stat:{stat}  ERR: {err} Done_Date:{done date} SubmitDate:{submit date} DLVRD:{dlvrd} SUB:{sub} \
             ID:{id} Text:",
        )
    }

    /// The usual labels between commas.
    pub fn labels_and_commas() -> Wording {
        Wording::text(
            "id:{id},sub:{sub},dlvrd:{dlvrd},submit date:{submit date},done date:{done date},stat:{stat},err:{err},text:",
        )
    }

    /// Values alone between commas: id, state, error, when it was submitted, when it was done.
    pub fn commas() -> Wording {
        Wording::text("{id},{stat},{err},{submit date},{done date}")
    }

    /// No text at all: `receipted_message_id` and `message_state` say everything.
    pub fn tlvs_only() -> Wording {
        Wording { place: TextPlace::Nowhere, ..Wording::standard() }
    }

    /// The usual text, and no TLVs.
    pub fn text_only() -> Wording {
        Wording { tlvs: false, ..Wording::standard() }
    }

    /// The usual text in `message_payload`, and no other TLVs.
    pub fn in_payload() -> Wording {
        Wording { place: TextPlace::Payload, tlvs: false, ..Wording::standard() }
    }

    /// Dates with this many digits.
    #[must_use]
    pub fn dates(mut self, dates: Dates) -> Wording {
        self.dates = dates;
        self
    }

    /// The text in UCS-2.
    #[must_use]
    pub fn in_ucs2(mut self) -> Wording {
        self.ucs2 = true;
        self
    }

    /// With `esm_class` 0: only the TLVs say that it is a receipt.
    #[must_use]
    pub fn unmarked(mut self) -> Wording {
        self.unmarked = true;
        self
    }

    /// With a `service_type` of seven characters; five are allowed (SMPP v3.4 §4.6.1).
    #[must_use]
    pub fn with_long_service_type(mut self) -> Wording {
        self.long_service_type = true;
        self
    }

    /// This word in place of the outcome's own. The TLV `message_state`, where there is one, stays true.
    #[must_use]
    pub fn stat(mut self, word: &str) -> Wording {
        self.stat = Some(word.to_owned());
        self
    }

    /// This in place of the three digits of `err`.
    #[must_use]
    pub fn err(mut self, code: &str) -> Wording {
        self.err = Some(code.to_owned());
        self
    }

    /// TLVs that say the same as the text.
    #[must_use]
    pub fn with_tlvs(mut self) -> Wording {
        self.tlvs = true;
        self
    }

    /// A TLV beside the others that nobody knows.
    #[must_use]
    pub fn with_unknown_tlv(mut self) -> Wording {
        self.unknown_tlv = true;
        self
    }

    /// In a data_sm instead of a deliver_sm, for those who speak 3.4.
    #[must_use]
    pub fn by_data_sm(mut self) -> Wording {
        self.data_sm = true;
        self
    }
}

/// What a receipt says, ready for any wording.
#[derive(Debug, Clone, Copy)]
pub(super) struct Said<'a> {
    pub(super) id: &'a str,
    pub(super) delivered: u8,
    pub(super) stat: &'a str,
    pub(super) error_code: u16,
    pub(super) submitted: &'a str,
    pub(super) done: &'a str,
}

impl Wording {
    /// Writes the text; empty where there is none.
    pub(super) fn write(&self, said: &Said<'_>, text: &mut String) {
        text.clear();
        if self.place == TextPlace::Nowhere {
            return;
        }
        let Said { id, delivered, submitted, done, .. } = *said;
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
pub(super) fn write_date(dates: Dates, time: Timestamp) -> String {
    let minute = time.to_receipt_minute();
    let seconds = time.as_millis().div_euclid(1000).rem_euclid(60);
    match dates {
        Dates::Minutes => minute,
        Dates::Seconds => format!("{minute}{seconds:02}"),
        // A date in a receipt is never older than this program.
        Dates::LongYear => format!("20{minute}{seconds:02}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(wording: &Wording, expect: &str) {
        let said = Said {
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
        check(&Wording::standard(), usual);
        check(&Wording::text_only(), usual);
        check(&Wording::in_payload(), usual);
        check(&Wording::tlvs_only(), "");
        check(&Wording::short(), "id:1f submit date:2402282359 done date:2402290001 stat:UNDELIV err:011");
        check(&Wording::shortest().stat("BUFFRED"), "id:1f stat:BUFFRED");
        check(
            &Wording::odd_labels(),
            "Stat:UNDELIV  ERR: 011 Done_Date:2402290001 SubmitDate:2402282359 DLVRD:000 SUB:001 ID:1f Text:",
        );
        check(&Wording::labels_and_commas(), &usual.replace(' ', ",").replace(",date", " date"));
        check(&Wording::commas(), "1f,UNDELIV,011,2402282359,2402290001");
        check(&Wording::standard().err("0x1F-ABSENT"), &usual.replace("011", "0x1F-ABSENT"));
        check(&Wording::text("{id}|{stat}|{text}"), "1f|UNDELIV|");
        check(&Wording::text(&"x".repeat(999)), &"x".repeat(254));
    }

    #[test]
    fn dates_have_ten_twelve_or_fourteen_digits() {
        let time = Timestamp::from_utc((2024, 2, 29), (23, 59, 58)).unwrap();
        assert_eq!(write_date(Dates::Minutes, time), "2402292359");
        assert_eq!(write_date(Dates::Seconds, time), "240229235958");
        assert_eq!(write_date(Dates::LongYear, time), "20240229235958");
    }
}
