//! Which refusal a submission gets, as a table over one small catalogue.

use super::*;
use crate::block::{BlockDirection, BlockedNumbers};
use crate::carrier::{Health, Profile};
use crate::catalogue::{
    Account, BlockEntry, Carrier, Cost, Countries, Documents, NumberEntry, Price, RouteCarrier, RouteEntry,
    ScreenEntry, SenderEntry, SenderState,
};
use crate::cost::CostBasis;
use crate::ids::{AccountId, ConnectionId, CostId, RouteId};
use crate::phone::Msisdn;
use crate::prefix::Prefix;
use crate::route::{ChooseBy, Margin};
use crate::screen::ScreenedField;

const ACME: AccountId = AccountId::new(1);
const NOW: Timestamp = Timestamp::from_millis(1_750_000_000_000);

/// An account that may send to Germany and France, as Shop and from its own number, and one screening rule.
fn documents() -> Documents {
    let sender = |account, sender: &str, state| SenderEntry {
        account,
        sender: Sender::parse(sender).unwrap(),
        state,
        reason: None,
        note: None,
    };
    let route = |number, prefix: &str| {
        let prefix = Prefix::parse(prefix).unwrap();
        let carriers = vec![RouteCarrier { carrier: CarrierId::new(1), priority: 1, weight: 1 }];
        let entry = RouteEntry {
            account: None,
            sender: None,
            prefix: Some(prefix),
            network: None,
            mcc: None,
            country: None,
            carriers,
            in_doubt: None,
            fail_over_refusals: false,
            fail_over_after_ms: None,
            costs: Default::default(),
        };
        (RouteId::new(number), entry)
    };
    let price = |prefix: &str| Price {
        account: None,
        prefix: Some(Prefix::parse(prefix).unwrap()),
        network: None,
        mcc: None,
        country: None,
        per_part: Some(Money::parse("0.05").unwrap()),
        from: None,
        until: None,
        price_list: None,
    };
    Documents {
        accounts: vec![(ACME, "acme".to_owned(), account())],
        connections: vec![(ConnectionId::new(1), connection())],
        prices: vec![price(""), price("882")],
        routes: vec![route(1, "49"), route(2, ""), route(3, "883")],
        carriers: vec![(CarrierId::new(1), "carrier".to_owned(), carrier())],
        senders: vec![
            sender(Some(ACME), "Shop", SenderState::Approved),
            sender(Some(ACME), "Later", SenderState::Pending),
            sender(Some(ACME), "Never", SenderState::Blocked),
            sender(None, "BANK", SenderState::Blocked),
            sender(Some(ACME), "BANK", SenderState::Approved),
        ],
        numbers: vec![NumberEntry {
            number: Sender::parse("+4915100000").unwrap(),
            account: ACME,
            keyword: None,
        }],
        screens: vec![(
            "links".to_owned(),
            ScreenEntry { account: None, field: ScreenedField::Text, pattern: "https?://".to_owned() },
        )],
        ..Documents::default()
    }
}

fn account() -> Account {
    Account {
        currency: "EUR".parse().unwrap(),
        credit_limit: Money::ZERO,
        minimum: Money::ZERO,
        verified: true,
        terms: None,
        price_list: None,
        countries: serde_json::from_str::<Countries>(r#"["DE", "FR"]"#).unwrap(),
        closed: false,
        tier: Default::default(),
        smpp_rate: None,
        webhooks: None,
        stop_words: Vec::new(),
        countries_off: std::collections::BTreeSet::new(),
        warn_below: None,
        urgent_below: None,
        suspended: None,
    }
}

fn connection() -> Connection {
    Connection {
        account: ACME,
        default_sender: Some(Sender::parse("Shop").unwrap()),
        requests_per_second: 10,
        max_parts: Some(2),
        allow: Default::default(),
        smart_encoding: false,
        closed: false,
        smpp: None,
        dlr_form: Default::default(),
        webhooks_too: false,
    }
}

fn carrier() -> Carrier {
    Carrier {
        address: "carrier.example:2775".to_owned(),
        system_id: "hermod".to_owned(),
        password: String::new(),
        system_type: String::new(),
        window: 10,
        parts_per_second: 10,
        response_timeout_ms: 1000,
        enquire_link_ms: 1000,
        disabled: false,
        draining: None,
        tls: None,
        profile: Profile::default(),
    }
}

/// Returns `parts encoding cost`, the refusal's code, or `screened by` and the result without screening.
fn result(documents: Documents, from: &str, to: &str, text: &str) -> String {
    let catalogue = Catalogue::build(documents).unwrap();
    let from = if from.is_empty() { None } else { Some(Sender::parse(from).unwrap()) };
    let submission = Submission::plain(Msisdn::parse(to).unwrap(), from, MessageText::parse(text).unwrap());
    let connection = catalogue.connection(ConnectionId::new(1)).unwrap();
    let summary =
        |allowed: AllowedMessage| format!("{} {} {}", allowed.parts, allowed.encoding.as_str(), allowed.cost);
    match check_submission(
        &catalogue,
        catalogue.account(ACME).unwrap(),
        connection,
        &submission,
        &[],
        NOW,
        &|_: CarrierId| Health::Up,
    ) {
        PolicyDecision::Allowed(allowed) => summary(allowed),
        PolicyDecision::Refused(refusal) => refusal.code().to_owned(),
        PolicyDecision::Screened { matches, otherwise, .. } => {
            format!(
                "screened by {}, else {}",
                matches[0].rules[0],
                otherwise.map_or_else(|r| r.code().to_owned(), summary)
            )
        }
    }
}

#[test]
fn each_check_gives_its_refusal() {
    for (from, to, text, expect) in [
        ("", "+4915112345678", "hello", "1 gsm7 0.05"),
        ("Shop", "+33612345678", "h\u{2019}i", "1 ucs2 0.05"),
        ("+4915100000", "+4915112345678", "from its own number", "1 gsm7 0.05"),
        ("4915100000", "+4915112345678", "with or without the plus", "1 gsm7 0.05"),
        ("Other", "+4915112345678", "hello", "SENDER_NOT_APPROVED"),
        ("Later", "+4915112345678", "hello", "SENDER_NOT_APPROVED"),
        ("Never", "+4915112345678", "hello", "SENDER_BLOCKED"),
        ("BANK", "+4915112345678", "blocked for all accounts", "SENDER_BLOCKED"),
        ("", "+447700900123", "hello", "COUNTRY_BLOCKED"),
        ("", "+4915112345678", "see http://x.example", "screened by links, else 1 gsm7 0.05"),
        ("", "+9991234567", "an unassigned calling code", "NO_ROUTE"),
        ("", "+88312345678", "an unassigned calling code with a route", "COUNTRY_BLOCKED"),
        ("", "+88112345678", "a satellite number without a route", "NO_ROUTE"),
    ] {
        assert_eq!(result(documents(), from, to, text), expect, "{from} {to} {text}");
    }
    assert_eq!(result(documents(), "", "+4915112345678", &"x".repeat(307)), "TEXT_TOO_LONG");
    let mut everywhere = documents();
    everywhere.accounts[0].2.countries = Countries::All;
    assert_eq!(result(everywhere.clone(), "", "+88312345678", "a route names it"), "1 gsm7 0.05");
    assert_eq!(result(everywhere, "", "+88112345678", "no route names it"), "NO_ROUTE");
}

#[test]
fn every_text_that_a_part_makes_with_its_neighbours_needs_an_approval() {
    let catalogue = Catalogue::build(documents()).unwrap();
    let piece = |text: &str| Piece { text: MessageText::parse(text).unwrap(), encoding: Encoding::Gsm7 };
    let text = MessageText::parse("://x.example").unwrap();
    let submission = Submission::plain(Msisdn::parse("+4915112345678").unwrap(), None, text);
    let joined =
        ["harmless", "http", "your bank: http"].map(|first| vec![piece(first), piece("://x.example")]);
    let decision = check_submission(
        &catalogue,
        catalogue.account(ACME).unwrap(),
        catalogue.connection(ConnectionId::new(1)).unwrap(),
        &submission,
        &joined,
        NOW,
        &|_: CarrierId| Health::Up,
    );
    let PolicyDecision::Screened { matches, .. } = decision else { panic!("{decision:?}") };
    let matching: Vec<&str> = matches.iter().map(|found| found.text.as_str()).collect();
    assert_eq!(matching, ["http://x.example", "your bank: http://x.example"]);
}

#[test]
fn sender_blocked_for_all_accounts_is_blocked_in_any_case() {
    let mut documents = documents();
    let entry = documents.senders[0].clone();
    documents.senders.push(SenderEntry { sender: Sender::parse("Bank").unwrap(), ..entry });
    assert_eq!(result(documents, "Bank", "+4915112345678", "approved before"), "SENDER_BLOCKED");
}

#[test]
fn debug_output_has_no_password() {
    let mut documents = documents();
    documents.carriers[0].2.password = "hunter22".to_owned();
    assert!(!format!("{documents:?}").contains("hunter22"));
    assert!(!format!("{:?}", Catalogue::build(documents).unwrap()).contains("hunter22"));
}

#[test]
fn order_of_checks_decides_the_refusal() {
    let mut everything_wrong = documents();
    everything_wrong.connections[0].1.default_sender = None;
    everything_wrong.accounts[0].2.suspended = Some("unpaid invoice".to_owned());
    everything_wrong.accounts[0].2.verified = false;
    everything_wrong.prices.clear();
    everything_wrong.routes.clear();
    let long = "http://".repeat(100);
    let result = |documents: &Documents, from: &str, text: &str| {
        super::tests::result(documents.clone(), from, "+447700900123", text)
    };
    assert_eq!(result(&everything_wrong, "", &long), "INVALID_SENDER");
    assert_eq!(result(&everything_wrong, "Never", &long), "TEXT_TOO_LONG");
    assert_eq!(result(&everything_wrong, "Never", "http://"), "ACCOUNT_SUSPENDED");
    everything_wrong.accounts[0].2.suspended = None;
    assert_eq!(result(&everything_wrong, "Never", "http://"), "VERIFICATION_REQUIRED");
    everything_wrong.accounts[0].2.verified = true;
    assert_eq!(result(&everything_wrong, "Never", "http://"), "SENDER_BLOCKED");
    assert_eq!(result(&everything_wrong, "Shop", "http://"), "COUNTRY_BLOCKED");
    everything_wrong.accounts[0].2.countries = Countries::All;
    everything_wrong.blocks.push(("44".to_owned(), block("44", None)));
    assert_eq!(result(&everything_wrong, "Shop", "http://"), "DESTINATION_BLOCKED");
    everything_wrong.blocks.clear();
    assert_eq!(result(&everything_wrong, "Shop", "http://"), "screened by links, else NO_PRICE");
    everything_wrong.screens.clear();
    assert_eq!(result(&everything_wrong, "Shop", "http://"), "NO_PRICE");
    everything_wrong.prices = documents().prices;
    assert_eq!(result(&everything_wrong, "Shop", "http://"), "NO_ROUTE");
}

fn block(prefix: &str, account: Option<AccountId>) -> BlockEntry {
    BlockEntry {
        account,
        numbers: BlockedNumbers::Prefix(Prefix::parse(prefix).unwrap()),
        direction: BlockDirection::Both,
        reason: None,
        until: None,
    }
}

#[test]
fn blocked_number_is_refused_for_all_accounts_or_for_one_in_the_direction_and_before_the_end_of_the_block() {
    let other = AccountId::new(2);
    let ended = |until| BlockEntry { until: Some(until), ..block("49151", None) };
    let received = BlockEntry { direction: BlockDirection::Received, ..block("49151", None) };
    let sent = BlockEntry { direction: BlockDirection::Sent, ..block("49151", None) };
    let later = Timestamp::from_millis(NOW.as_millis() + 1);
    let allowed = "1 gsm7 0.05";
    for (entry, expect) in [
        (block("49151", None), "DESTINATION_BLOCKED"),
        (block("49151", Some(ACME)), "DESTINATION_BLOCKED"),
        (block("49151", Some(other)), allowed),
        (block("4915112345678", None), "DESTINATION_BLOCKED"),
        (block("4915112345679", None), allowed),
        (sent, "DESTINATION_BLOCKED"),
        (received, allowed),
        (ended(later), "DESTINATION_BLOCKED"),
        (ended(NOW), allowed),
    ] {
        let mut documents = documents();
        documents.accounts.push((other, "other".to_owned(), account()));
        documents.blocks.push(("block".to_owned(), entry.clone()));
        assert_eq!(result(documents, "", "+4915112345678", "hello"), expect, "{entry:?}");
    }
}

#[test]
fn mo_message_is_blocked_for_all_accounts_or_for_its_owner() {
    let handset = Msisdn::parse("+4915112345678").unwrap();
    let sent = BlockEntry { direction: BlockDirection::Sent, ..block("49151", None) };
    let over = BlockEntry { until: Some(NOW), ..block("49151", None) };
    for (entry, without_owner, of_acme) in [
        (block("49151", None), true, true),
        (block("49151", Some(ACME)), false, true),
        (sent, false, false),
        (over, false, false),
    ] {
        let mut documents = documents();
        documents.blocks.push(("block".to_owned(), entry.clone()));
        let catalogue = Catalogue::build(documents).unwrap();
        assert_eq!(catalogue.blocks_mo(handset, None, NOW), without_owner, "{entry:?}");
        assert_eq!(catalogue.blocks_mo(handset, Some(ACME), NOW), of_acme, "{entry:?}");
    }
}

#[test]
fn smart_encoding_applies_only_if_enabled() {
    let mut documents = documents();
    assert_eq!(result(documents.clone(), "", "+4915112345678", "it\u{2019}s"), "1 ucs2 0.05");
    documents.connections[0].1.smart_encoding = true;
    assert_eq!(result(documents, "", "+4915112345678", "it\u{2019}s"), "1 gsm7 0.05");
}

#[test]
fn account_with_a_credit_limit_is_postpaid_unless_it_says_otherwise() {
    use crate::catalogue::Terms;
    let mut account = account();
    assert_eq!(account.terms(), Terms::Prepaid);
    account.credit_limit = Money::parse("5").unwrap();
    assert_eq!(account.terms(), Terms::Postpaid);
    account.terms = Some(Terms::Prepaid);
    assert_eq!(account.terms(), Terms::Prepaid);
}

#[test]
fn long_text_that_the_carriers_alphabet_lacks_is_charged_as_gsm7_and_sent_in_ucs2() {
    use crate::carrier::DefaultAlphabet::{Ascii, Gsm, Latin1};
    let long = format!("{}€", "a".repeat(99));
    let longer = format!("{}é", "a".repeat(199));
    for (alphabet, text, charged, sent) in [
        (Gsm, long.as_str(), "1 gsm7", "1 gsm7"),
        (Latin1, &long, "1 gsm7", "2 ucs2"),
        (Latin1, &longer, "2 gsm7", "2 gsm7"),
        (Ascii, &longer, "2 gsm7", "3 ucs2"),
        // It fits one part of UCS-2, so it is converted when it is sent.
        (Latin1, "10 €", "1 gsm7", "1 gsm7"),
    ] {
        let mut documents = documents();
        documents.carriers[0].2.profile.alphabet = alphabet;
        let catalogue = Catalogue::build(documents).unwrap();
        let submission = Submission::plain(
            Msisdn::parse("+4915112345678").unwrap(),
            None,
            MessageText::parse(text).unwrap(),
        );
        let connection = catalogue.connection(ConnectionId::new(1)).unwrap();
        let view = catalogue.account(ACME).unwrap();
        let allowed =
            check_submission(&catalogue, view, connection, &submission, &[], NOW, &|_: CarrierId| Health::Up);
        let PolicyDecision::Allowed(allowed) = allowed else { panic!("{allowed:?}") };
        let result = |Measure { encoding, parts }| format!("{parts} {}", encoding.as_str());
        let measure = Measure { encoding: allowed.encoding, parts: allowed.parts };
        assert_eq!(
            (result(measure).as_str(), result(allowed.sent).as_str()),
            (charged, sent),
            "{alphabet:?}"
        );
    }
}

#[test]
fn carriers_are_compared_by_the_parts_that_they_count() {
    use crate::carrier::DefaultAlphabet::{Gsm, Latin1};
    use crate::carrier::LongMessages::{Payload, Udh};
    // One part of GSM-7 for 0.05, two of UCS-2 where the alphabet lacks the euro sign.
    let text = format!("{}€", "a".repeat(99));
    for (alphabet, long_messages, cost, min_margin, expect) in [
        (Latin1, Udh, "0.016", "0", "carrier 1, 2 parts sent, margin 0.018"),
        (Latin1, Udh, "0.02", "0", "carrier 2, 1 parts sent, margin 0.015"),
        (Gsm, Udh, "0.02", "0", "carrier 1, 1 parts sent, margin 0.03"),
        // It splits the message itself and counts what the customer pays for.
        (Latin1, Payload, "0.02", "0", "carrier 1, 1 parts sent, margin 0.03"),
        (Latin1, Udh, "0.016", "0.01", "carrier 2, 1 parts sent, margin 0.015"),
        (Latin1, Udh, "0.016", "0.009", "carrier 1, 2 parts sent, margin 0.018"),
        (Latin1, Udh, "0.016", "50%", "NO_ROUTE"),
    ] {
        let mut documents = documents();
        let mut second = carrier();
        second.profile.alphabet = Gsm;
        documents.carriers.push((CarrierId::new(2), "second".to_owned(), second));
        let profile = &mut documents.carriers[0].2.profile;
        (profile.alphabet, profile.long_messages) = (alphabet, long_messages);
        let (_, route) = &mut documents.routes[0];
        route.carriers.push(RouteCarrier { carrier: CarrierId::new(2), priority: 2, weight: 1 });
        route.costs.choose = ChooseBy::Cost;
        route.costs.min_margin = Some(Margin::parse(min_margin).unwrap());
        let costs = [(1, cost), (2, "0.035")];
        documents.costs =
            costs.map(|(carrier, per_part)| (CostId::new(carrier), cost_of(carrier, per_part))).into();
        let catalogue = Catalogue::build(documents).unwrap();
        let to = Msisdn::parse("+4915112345678").unwrap();
        let submission = Submission::plain(to, None, MessageText::parse(&text).unwrap());
        let connection = catalogue.connection(ConnectionId::new(1)).unwrap();
        let view = catalogue.account(ACME).unwrap();
        let up = |_: CarrierId| Health::Up;
        let found = match check_submission(&catalogue, view, connection, &submission, &[], NOW, &up) {
            PolicyDecision::Allowed(allowed) => {
                let compared = allowed.compared.as_deref().unwrap_or_default();
                let chosen = compared.iter().find(|one| one.carrier == allowed.carrier).unwrap();
                let margin = chosen.judgement.margin.unwrap();
                format!("carrier {}, {} parts sent, margin {margin}", allowed.carrier, allowed.sent.parts)
            }
            PolicyDecision::Refused(refusal) => refusal.code().to_owned(),
            PolicyDecision::Screened { .. } => panic!("no rule matches"),
        };
        assert_eq!(found, expect, "{alphabet:?} {long_messages:?} {cost} {min_margin}");
    }
}

fn cost_of(carrier: u32, per_part: &str) -> Cost {
    Cost {
        carrier: CarrierId::new(carrier),
        prefix: Some(Prefix::parse("49").unwrap()),
        network: None,
        mcc: None,
        country: None,
        sender_kind: None,
        per_part: Some(Money::parse(per_part).unwrap()),
        currency: "EUR".parse().unwrap(),
        basis: CostBasis::Submit,
        from: None,
        until: None,
    }
}
