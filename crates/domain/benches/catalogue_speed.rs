//! How long a catalogue of many accounts, prices and rules takes to build: every change of the setup builds it anew.

use hermod_domain::catalogue::{Account, Catalogue, Countries, Documents, Price, ScreenEntry, Tier};
use hermod_domain::ids::AccountId;
use hermod_domain::money::Money;
use hermod_domain::prefix::Prefix;
use hermod_domain::screen::ScreenedField;
use std::time::Instant;

const ACCOUNTS: u32 = 10_000;
const PRICES: u32 = 100_000;
const SCREENS: u32 = 500;

#[expect(clippy::disallowed_methods, clippy::print_stdout, reason = "it measures, and says what it measured")]
fn main() {
    let account = |number| {
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
        (AccountId::new(number), format!("account-{number}"), account)
    };
    let price = |number: u32| Price {
        // Half of them everybody's, the others ten to an account.
        account: number.is_multiple_of(2).then(|| AccountId::new(number / 2 % (ACCOUNTS / 2) + 1)),
        prefix: Some(Prefix::parse(&format!("{}", 1_000_000 + number)).expect("a prefix")),
        network: None,
        mcc: None,
        country: None,
        per_part: Some(Money::from_micros(50_000)),
        from: None,
        until: None,
        price_list: None,
    };
    let screen = |number| {
        let pattern = format!(r"\bword{number}\b.*https?://");
        (format!("screen-{number}"), ScreenEntry { account: None, field: ScreenedField::Text, pattern })
    };
    let documents = Documents {
        accounts: (1..=ACCOUNTS).map(account).collect(),
        prices: (0..PRICES).map(price).collect(),
        ..Documents::default()
    };
    for (what, screens) in [("no rules", 0), ("rules", SCREENS)] {
        let documents = Documents { screens: (0..screens).map(screen).collect(), ..documents.clone() };
        let begun = Instant::now();
        let catalogue = Catalogue::build(documents).expect("a catalogue");
        let (built_ms, accounts) = (begun.elapsed().as_millis(), catalogue.accounts().count());
        println!("{accounts} accounts, {PRICES} prices, {what}: {built_ms} ms");
    }
}
