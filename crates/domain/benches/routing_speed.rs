//! What the checks of a submission take by the rules of its route, with 100,000 costs and as many prices.

use hermod_domain::carrier::{Health, Profile};
use hermod_domain::catalogue::{
    Account, AllowList, Carrier, Catalogue, Connection, Cost, Countries, Documents, ExchangeRateEntry, Price,
    RouteCarrier, RouteEntry, SenderEntry, SenderState, Tier,
};
use hermod_domain::cost::CostBasis;
use hermod_domain::ids::{AccountId, CarrierId, ConnectionId, CostId, RouteId};
use hermod_domain::money::Money;
use hermod_domain::phone::Msisdn;
use hermod_domain::policy::{PolicyDecision, check_submission};
use hermod_domain::prefix::Prefix;
use hermod_domain::route::{ChooseBy, CostRules, Margin};
use hermod_domain::sender::Sender;
use hermod_domain::submission::Submission;
use hermod_domain::text::MessageText;
use hermod_domain::time::Timestamp;
use std::time::Instant;

const PRICES: u64 = 100_000;
const CARRIERS: u32 = 3;
const MESSAGES: u64 = 300_000;
const SHOP: AccountId = AccountId::new(1);
const HTTP: ConnectionId = ConnectionId::new(1);

fn prefix(number: u64) -> Option<Prefix> {
    Some(Prefix::parse(&format!("49{number:05}")).expect("a prefix"))
}

fn cost(carrier: u32, number: u64) -> Cost {
    Cost {
        carrier: CarrierId::new(carrier),
        prefix: prefix(number),
        network: None,
        mcc: None,
        country: None,
        sender_kind: None,
        per_part: Some(Money::from_micros(30_000)),
        // Half of them are converted.
        currency: if number.is_multiple_of(2) { "EUR" } else { "USD" }.parse().expect("a currency"),
        basis: CostBasis::Submit,
        from: None,
        until: None,
    }
}

fn price(number: u64) -> Price {
    Price {
        account: None,
        price_list: None,
        prefix: prefix(number),
        network: None,
        mcc: None,
        country: None,
        per_part: Some(Money::from_micros(50_000)),
        from: None,
        until: None,
    }
}

fn route(costs: CostRules) -> RouteEntry {
    let carriers = 1..=CARRIERS;
    let via = |carrier: u32| RouteCarrier { carrier: CarrierId::new(carrier), priority: 1, weight: 1 };
    RouteEntry {
        account: None,
        sender: None,
        prefix: Some(Prefix::ANY),
        network: None,
        mcc: None,
        country: None,
        carriers: carriers.map(via).collect(),
        in_doubt: None,
        fail_over_refusals: false,
        fail_over_after_ms: None,
        costs,
    }
}

fn carrier(number: u32) -> (CarrierId, String, Carrier) {
    let carrier = Carrier {
        address: "carrier.example:2775".to_owned(),
        system_id: "hermod".to_owned(),
        password: String::new(),
        system_type: String::new(),
        window: 10,
        parts_per_second: 10,
        response_timeout_ms: 1_000,
        enquire_link_ms: 1_000,
        disabled: false,
        draining: None,
        tls: None,
        profile: Profile::default(),
    };
    (CarrierId::new(number), format!("carrier-{number}"), carrier)
}

fn documents(costs: CostRules) -> Documents {
    let account = Account {
        currency: "EUR".parse().expect("a currency"),
        credit_limit: Money::ZERO,
        minimum: Money::ZERO,
        verified: true,
        terms: None,
        price_list: None,
        countries: Countries::All,
        closed: false,
        tier: Tier::default(),
        smpp_rate: None,
        webhooks: None,
        stop_words: Vec::new(),
        countries_off: std::collections::BTreeSet::new(),
        warn_below: None,
        urgent_below: None,
        suspended: None,
    };
    let connection = Connection {
        account: SHOP,
        default_sender: Some(Sender::parse("Shop").expect("a sender")),
        requests_per_second: 10,
        max_parts: None,
        allow: AllowList::default(),
        smart_encoding: false,
        closed: false,
        smpp: None,
        dlr_form: Default::default(),
        webhooks_too: false,
    };
    let sender = SenderEntry {
        account: Some(SHOP),
        sender: Sender::parse("Shop").expect("a sender"),
        state: SenderState::Approved,
        reason: None,
        note: None,
    };
    let dollars = ExchangeRateEntry {
        base: "USD".parse().expect("a currency"),
        quote: "EUR".parse().expect("a currency"),
        rate: "0.9214".parse().expect("a rate"),
        from: None,
    };
    Documents {
        accounts: vec![(SHOP, "shop".to_owned(), account)],
        connections: vec![(HTTP, connection)],
        senders: vec![sender],
        carriers: (1..=CARRIERS).map(carrier).collect(),
        prices: (0..PRICES).map(price).collect(),
        costs: (1..)
            .zip(0..PRICES)
            .map(|(id, number)| {
                let carrier = u32::try_from(number % 3).unwrap_or_default() + 1;
                (CostId::new(id), cost(carrier, number / 3))
            })
            .collect(),
        exchange_rates: vec![dollars],
        routes: vec![(RouteId::new(1), route(costs))],
        ..Documents::default()
    }
}

#[expect(clippy::disallowed_methods, clippy::print_stdout, reason = "it measures, and says what it measured")]
fn main() {
    let five_percent = Some(Margin::parse("5%").expect("a margin"));
    let rules = |choose, min_margin| CostRules { choose, min_margin, ..CostRules::default() };
    for (what, costs) in [
        ("by priority", rules(ChooseBy::Priority, None)),
        ("by priority, with a margin", rules(ChooseBy::Priority, five_percent)),
        ("by cost", rules(ChooseBy::Cost, None)),
        ("by cost, with a margin", rules(ChooseBy::Cost, five_percent)),
        ("by quality, with a margin", rules(ChooseBy::Quality, five_percent)),
    ] {
        let catalogue = Catalogue::build(documents(costs)).expect("a catalogue");
        let view = catalogue.account(SHOP).expect("an account");
        let connection = catalogue.connection(HTTP).expect("a connection");
        let text = MessageText::parse("Your code is 123456.").expect("a text");
        let mut submission =
            Submission::plain(Msisdn::parse("+4915112345678").expect("a number"), None, text);
        let (begun, mut allowed) = (Instant::now(), 0_u64);
        for number in 0..MESSAGES {
            let digits = 4_900_000_000_000 + number * 111_111 % 33_333_000_000;
            submission.to = Msisdn::from_number(digits).expect("a number");
            let now = Timestamp::from_millis(1_790_000_000_000);
            let status = |_: CarrierId| Health::Up;
            let decision = check_submission(&catalogue, view, connection, &submission, &[], now, &status);
            allowed += u64::from(matches!(decision, PolicyDecision::Allowed(_)));
        }
        let nanoseconds = begun.elapsed().as_nanos() / u128::from(MESSAGES);
        println!("{what}: {nanoseconds} ns a message, {allowed} of {MESSAGES} allowed");
    }
}
