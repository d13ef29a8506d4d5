//! How a carrier writes its receipts: in which PDU, with or without TLVs, and in which text. A template may contain
//! `{id}`, `{sub}`, `{dlvrd}`, `{submit date}`, `{done date}`, `{stat}`, `{err}` and `{text}`.

use std::fmt::Write;

use hermod_domain::time::Timestamp;
use serde::Deserialize;

/// The format of dates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DateDigits {
    /// `YYMMDDhhmm`
    #[default]
    Minutes,
    /// `YYMMDDhhmmss`
    Seconds,
    /// `YYYYMMDDhhmmss`
    LongYear,
}

/// The field that holds the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TextPlace {
    #[default]
    ShortMessage,
    /// The TLV `message_payload`.
    Payload,
    /// The receipt has no text.
    None,
}

/// What a carrier does unless its script turns it off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub(super) struct UnlessOff(pub(super) bool);

impl Default for UnlessOff {
    fn default() -> UnlessOff {
        UnlessOff(true)
    }
}

/// How a carrier writes its receipts.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReceiptFormat {
    /// None: the text of SMPP v3.4 appendix B, written without replacing placeholders.
    pub(super) template: Option<String>,
    pub(super) dates: DateDigits,
    pub(super) text_place: TextPlace,
    /// Adds `receipted_message_id` and `message_state`.
    pub(super) tlvs: UnlessOff,
    pub(super) unknown_tlv: bool,
    /// Sends a data_sm instead of a deliver_sm, to SMPP 3.4 peers only.
    pub(super) data_sm: bool,
    /// Encodes the text in UCS-2, with `data_coding` 8.
    pub(super) ucs2: bool,
    /// Leaves `esm_class` at 0, so that only the TLVs mark it as a receipt.
    pub(super) unmarked: bool,
    /// Writes a `service_type` longer than SMPP allows.
    pub(super) long_service_type: bool,
    /// Replaces the `stat` word of the outcome.
    pub(super) stat: Option<String>,
    /// Replaces the three digits of `err`.
    pub(super) err: Option<String>,
}

/// Octets that `short_message` holds; longer texts are cut off.
const TEXT_BYTES_MAX: usize = 254;

impl ReceiptFormat {
    /// The text of SMPP v3.4 appendix B, and TLVs with the same content.
    pub fn standard() -> ReceiptFormat {
        ReceiptFormat::default()
    }

    /// A template, without TLVs.
    pub fn text(template: &str) -> ReceiptFormat {
        ReceiptFormat::text_only().template(template)
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

    /// The standard labels, separated by commas.
    pub fn labels_and_commas() -> ReceiptFormat {
        ReceiptFormat::text(
            "id:{id},sub:{sub},dlvrd:{dlvrd},submit date:{submit date},done date:{done date},stat:{stat},err:{err},text:",
        )
    }

    /// Values without labels, separated by commas: id, stat, err, submit date, done date.
    pub fn commas() -> ReceiptFormat {
        ReceiptFormat::text("{id},{stat},{err},{submit date},{done date}")
    }

    /// TLVs without a text.
    pub fn tlvs_only() -> ReceiptFormat {
        ReceiptFormat { text_place: TextPlace::None, ..ReceiptFormat::standard() }
    }

    /// The standard text without TLVs.
    pub fn text_only() -> ReceiptFormat {
        ReceiptFormat { tlvs: UnlessOff(false), ..ReceiptFormat::standard() }
    }

    /// The standard text in `message_payload`, without other TLVs.
    pub fn in_payload() -> ReceiptFormat {
        ReceiptFormat { text_place: TextPlace::Payload, ..ReceiptFormat::text_only() }
    }
}

builders! { ReceiptFormat
    template(template: &str) = set template(Some(template.to_owned()));
    dates(dates: DateDigits) = set dates(dates);
    in_ucs2() = set ucs2(true);
    /// Sets `esm_class` to 0: only the TLVs mark it as a receipt.
    unmarked() = set unmarked(true);
    /// Writes a `service_type` of seven characters; five are allowed (SMPP v3.4 §4.6.1).
    with_long_service_type() = set long_service_type(true);
    /// Replaces the `stat` word of the outcome. The TLV `message_state` still reports the outcome.
    stat(word: &str) = set stat(Some(word.to_owned()));
    /// Replaces the three digits of `err`.
    err(code: &str) = set err(Some(code.to_owned()));
    /// Adds TLVs with the same content as the text.
    with_tlvs() = set tlvs(UnlessOff(true));
    with_unknown_tlv() = set unknown_tlv(true);
    /// Sends a data_sm instead of a deliver_sm, to SMPP 3.4 peers only.
    by_data_sm() = set data_sm(true);
}

/// The values of one receipt.
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
    /// Replaces the content of `text` with the receipt's text; empty where the format has none.
    pub(super) fn write(&self, values: &ReceiptValues<'_>, text: &mut String) {
        text.clear();
        if self.text_place == TextPlace::None {
            return;
        }
        let ReceiptValues { id, delivered, submitted, done, .. } = *values;
        let stat = self.stat.as_deref().unwrap_or(values.stat);
        let written = match (&self.template, &self.err) {
            (None, None) => write!(
                text,
                "id:{id} sub:001 dlvrd:{delivered:03} submit date:{submitted} done date:{done} stat:{stat} \
                 err:{:03} text:",
                values.error_code.min(999)
            ),
            (None, Some(err)) => write!(
                text,
                "id:{id} sub:001 dlvrd:{delivered:03} submit date:{submitted} done date:{done} stat:{stat} \
                 err:{err} text:"
            ),
            (Some(template), err) => {
                let err = err.clone().unwrap_or_else(|| format!("{:03}", values.error_code.min(999)));
                let dlvrd = format!("{delivered:03}");
                let placeholders = [
                    ("{id}", id),
                    ("{sub}", "001"),
                    ("{dlvrd}", &dlvrd),
                    ("{submit date}", submitted),
                    ("{done date}", done),
                    ("{stat}", stat),
                    ("{err}", &err),
                    ("{text}", ""),
                ];
                let filled = placeholders
                    .iter()
                    .fold(template.clone(), |text, (name, value)| text.replace(name, value));
                text.write_str(&filled)
            }
        };
        written.expect("writing to a string does not fail");
        while text.len() > TEXT_BYTES_MAX {
            text.pop();
        }
    }
}

pub(super) fn write_date(dates: DateDigits, time: Timestamp) -> String {
    let minute = time.to_receipt_minute();
    let seconds = time.as_millis().div_euclid(1000).rem_euclid(60);
    match dates {
        DateDigits::Minutes => minute,
        DateDigits::Seconds => format!("{minute}{seconds:02}"),
        // Receipts are dated today, so after 2000.
        DateDigits::LongYear => format!("20{minute}{seconds:02}"),
    }
}

#[cfg(test)]
#[path = "receipt_format_tests.rs"]
mod tests;
