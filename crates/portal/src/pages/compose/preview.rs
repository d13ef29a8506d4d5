//! Shows what the gateway would do with a message.

use super::characters::{forcing, is_forcing, replaced};
use crate::elements::Fact;
use crate::layout::{NavEntry, Shell};
use crate::numbers::amount;
use crate::pages::compose::{Preview, PreviewPart, SendRejection, TextRun};
use crate::request::remedies;
use hermod_domain::ids::PartNo;
use hermod_domain::money::Money;
use hermod_domain::numbers::Numbers;
use hermod_domain::refusal::Refusal;
use hermod_domain::submission::Submission;
use hermod_domain::text::{Encoding, Measure, MessageText};
use hermod_gateway::app::{Caller, MessagePreview};

/// The words of the button before there is a price.
const SEND: &str = "Send";

/// The account has no connection to send over.
pub(super) fn without_connection(shell: &Shell) -> Preview {
    let text = "The account or its connections are closed. Ask the operator to open one.";
    Preview {
        rejections: vec![SendRejection {
            code: "ACCOUNT_CLOSED".to_owned(),
            text: text.to_owned(),
            href: shell.can_open(&NavEntry::Requests).then(|| shell.path("requests")),
        }],
        summary: text.to_owned(),
        send_label: SEND.to_owned(),
        ..Preview::default()
    }
}

/// Shows a message that is not complete yet: its parts, and what is invalid.
pub(super) fn of_draft(
    shell: &Shell,
    caller: &Caller,
    text: Option<MessageText>,
    refusals: &[Refusal],
) -> Preview {
    let text = text.map(|text| match caller.connection().smart_encoding {
        true => text.with_plain_punctuation(),
        false => text,
    });
    let Some(text) = text else {
        return Preview {
            rejections: rejections(shell, refusals),
            send_label: SEND.to_owned(),
            ..Preview::default()
        };
    };
    let measure = text.measure();
    Preview {
        summary: format!("{}, {}", parts_words(measure.parts), encoding_words(measure.encoding)),
        parts: parts(&text, measure),
        facts: text_facts(&text, measure),
        rejections: rejections(shell, refusals),
        send_label: SEND.to_owned(),
        ..with_forced(&text, measure, None)
    }
}

/// Shows what a submission would get.
pub(super) fn of_message(
    shell: &Shell,
    caller: &Caller,
    submission: &Submission,
    found: &MessagePreview,
) -> Preview {
    let checked = &found.checked;
    let (text, measure) = (&checked.text, checked.measure);
    let currency = caller.account().account.currency.to_string();
    let price = found.cost().map(|cost| (cost, currency.as_str()));
    let destination = Numbers::embedded().find(submission.to);
    let mut facts = text_facts(text, measure);
    facts.extend(checked.from.map(|from| Fact::new("From", from.to_string())));
    facts.push(Fact::new("Country", or_unknown(destination.country_name())));
    facts.push(Fact::new(
        "Network",
        network(destination.operator, destination.network.map(|net| net.to_string())),
    ));
    let mut summary = format!("{}, {}", parts_words(measure.parts), encoding_words(measure.encoding));
    if let Some((cost, currency)) = price {
        let each = per_part(cost, measure.parts);
        facts
            .push(Fact::new("Price", format!("{} × {} {currency}", parts_words(measure.parts), money(each))));
        facts.push(Fact::new("Cost", format!("{} {currency}", money(cost))));
        summary.push_str(&format!(
            ", {} {currency} to {}",
            money(cost),
            or_unknown(destination.country_name())
        ));
    }
    let is_held = found.refusals == [Refusal::HeldForReview];
    let label = match price {
        _ if is_held => "Submit for review, not charged".to_owned(),
        Some((cost, currency)) if found.refusals.is_empty() => format!("Send for {} {currency}", money(cost)),
        _ => SEND.to_owned(),
    };
    if let Some(first) = found.refusals.first() {
        summary.push_str(&format!(". It would be rejected: {}", first.sentence()));
    }
    Preview {
        summary,
        parts: parts(text, measure),
        facts,
        rejections: rejections(shell, &found.refusals),
        price: found.cost().map(|cost| cost.to_string()).unwrap_or_default(),
        send_label: label,
        can_send: is_held || found.refusals.is_empty() && found.cost().is_some(),
        ..with_forced(text, measure, price)
    }
}

fn text_facts(text: &MessageText, Measure { encoding, parts }: Measure) -> Vec<Fact> {
    vec![
        Fact::new("Encoding", encoding_words(encoding).to_owned()),
        Fact::new("Characters", text.as_str().chars().count().to_string()),
        Fact::new("Parts", parts.to_string()),
    ]
}

/// Splits the text as it is sent.
fn parts(text: &MessageText, Measure { encoding, parts }: Measure) -> Vec<PreviewPart> {
    let segments = text.segments_in(encoding);
    let capacity = if parts == 1 { encoding.units_alone() } else { encoding.units_joined() };
    let slices = PartNo::up_to(parts).filter_map(|part| segments.slice(part));
    let part = |slice: &str| PreviewPart {
        runs: runs(slice, encoding == Encoding::Ucs2),
        used: format!("{} of {capacity} characters", encoding.units_of(slice)),
    };
    slices.map(part).collect()
}

/// Splits a text where marking changes. Nothing is marked in a text that is GSM-7.
fn runs(text: &str, marks: bool) -> Vec<TextRun> {
    let mut runs: Vec<TextRun> = Vec::new();
    for character in text.chars() {
        let is_marked = marks && is_forcing(character);
        match runs.last_mut() {
            Some(run) if run.is_marked == is_marked => run.text.push(character),
            _ => runs.push(TextRun { text: character.to_string(), is_marked }),
        }
    }
    runs
}

/// Returns a preview with the characters that force UCS-2, and what replacing them saves.
fn with_forced(text: &MessageText, measure: Measure, price: Option<(Money, &str)>) -> Preview {
    if measure.encoding != Encoding::Ucs2 {
        return Preview::default();
    }
    let forced = forcing(text.as_str());
    let count: usize = forced.iter().map(|forced| forced.count).sum();
    let forces = if count == 1 { "character forces" } else { "characters force" };
    let mut words = format!("{count} {forces} UCS-2.");
    if let Some(plain) = replaced(text.as_str()) {
        let after = plain.measure();
        let left = if after.encoding == Encoding::Ucs2 { ", still UCS-2" } else { "" };
        if after.parts < measure.parts {
            let saved = price.map(|(cost, currency)| {
                let each = per_part(cost, measure.parts).as_micros();
                let saved = Money::from_micros(each * i64::from(measure.parts - after.parts));
                format!(", {} {currency} less", money(saved))
            });
            words.push_str(&format!(
                " With the replacements: {} instead of {}{}{left}.",
                parts_words(after.parts),
                measure.parts,
                saved.unwrap_or_default()
            ));
        } else if after.encoding == Encoding::Gsm7 {
            words.push_str(" With the replacements it is GSM-7, with the same number of parts.");
        }
    }
    Preview { forced, forced_words: words, ..Preview::default() }
}

fn rejections(shell: &Shell, refusals: &[Refusal]) -> Vec<SendRejection> {
    let shown = refusals.iter().map(|refusal| SendRejection {
        code: refusal.code().to_owned(),
        text: refusal.sentence().replace('`', ""),
        href: Some(remedies::place(shell, refusal.code()).href),
    });
    shown.collect()
}

fn or_unknown(text: &str) -> String {
    if text.is_empty() { "Unknown".to_owned() } else { text.to_owned() }
}

fn network(operator: &str, codes: Option<String>) -> String {
    match codes {
        Some(codes) if operator.is_empty() => codes,
        Some(codes) => format!("{operator} ({codes})"),
        None => or_unknown(operator),
    }
}

fn parts_words(parts: u8) -> String {
    if parts == 1 { "1 part".to_owned() } else { format!("{parts} parts") }
}

const fn encoding_words(encoding: Encoding) -> &'static str {
    match encoding {
        Encoding::Gsm7 => "GSM-7",
        Encoding::Ucs2 => "UCS-2",
        Encoding::Octets => "binary",
    }
}

fn per_part(cost: Money, parts: u8) -> Money {
    Money::from_micros(cost.as_micros() / i64::from(parts.max(1)))
}

fn money(money: Money) -> String {
    amount(&money.to_string())
}
