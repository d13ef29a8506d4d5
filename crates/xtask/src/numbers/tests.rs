//! How names are joined and prefixes are shaped, on small tables.

use std::collections::{BTreeMap, BTreeSet};

use super::join::{Join, Joined};
use super::shape::{Holder, Holders, longest, simplify, write};
use super::tables::{Alias, ListedNetwork, Status};

fn network(code: &str, brand: &str, operator: &str, status: Status) -> ListedNetwork {
    let (brand, operator) = (brand.to_owned(), operator.to_owned());
    ListedNetwork { code: code.to_owned(), countries: vec!["DE".to_owned()], brand, operator, status }
}

fn alias(operator: &str, network: &str, listed_as: &str) -> Alias {
    let [country, operator, network, listed_as] = ["DE", operator, network, listed_as].map(str::to_owned);
    Alias { country, operator, network, listed_as }
}

/// A country that has every case at once.
fn networks() -> Vec<ListedNetwork> {
    use Status::{Closed, Operational, Unclear};
    vec![
        network("262-01", "Telekom", "Telekom Deutschland GmbH", Operational),
        network("262-02", "Vodafone", "Vodafone D2 GmbH", Operational),
        network("262-04", "Vodafone", "Vodafone D2 GmbH", Closed),
        network("262-09", "Vodafone", "VODAFONE D2", Operational),
        network("262-03", "O2 (Germany)", "Telefónica Germany GmbH & Co. oHG", Operational),
        network("262-16", "", "Telogic Germany GmbH", Closed),
        network("262-21", "", "Multiconnect GmbH", Unclear),
        network("262-40", "Airtel", "Bavaria", Operational),
        network("262-41", "AirTel", "Saxony", Operational),
        network("262-50", "DIGI mobil", "Digi A/S", Operational),
        network("262-60", "1O1O / SUNMobile", "CSL", Operational),
    ]
}

#[test]
fn a_name_joins_when_it_says_the_same_and_leaves_one_network() {
    let (networks, names) = (networks(), BTreeMap::from([("DE".to_owned(), "Germany".to_owned())]));
    let aliases = [alias("T-Mobile", "262-01", "Telekom"), alias("Eplus", "", "merged")];
    let join = Join::new(&networks, &names, &aliases);
    for (operator, network, joined) in [
        ("Telekom", "262-01", Joined::Name),
        ("TELEKOM DEUTSCHLAND Ltd.", "262-01", Joined::Name),
        // Of several networks of one company, the first that is in operation.
        ("Vodafone", "262-02", Joined::Name),
        ("Vodafone Germany", "262-02", Joined::Name),
        ("Telefonica Germany", "262-03", Joined::Name),
        ("Telefónica", "262-03", Joined::Name),
        ("O2", "262-03", Joined::Name),
        ("Multiconnect", "262-21", Joined::Name),
        ("DigiMobil", "262-50", Joined::Name),
        ("digi", "262-50", Joined::Name),
        ("Sun Mobile", "262-60", Joined::Name),
        // Nobody runs it any more.
        ("Telogic", "", Joined::None),
        // The same brand in two regions: the name does not say which.
        ("Airtel", "", Joined::None),
        // Part of a name is another name.
        ("Tele", "", Joined::None),
        ("Vodafone Business", "", Joined::None),
        // Nothing but words without meaning.
        ("Mobile Telecom GmbH", "", Joined::None),
        ("Nobody", "", Joined::None),
        ("T-Mobile", "262-01", Joined::Alias),
        ("Eplus", "", Joined::NoneByAlias),
    ] {
        assert_eq!(join.network_of("DE", operator), (network, joined), "{operator}");
    }
    assert_eq!(
        join.network_of("AT", "Telekom"),
        ("", Joined::None),
        "another country's networks do not count"
    );
}

#[test]
fn an_alias_that_no_longer_fits_is_reported() {
    let (networks, names) = (networks(), BTreeMap::new());
    let operators = BTreeSet::from([("DE".to_owned(), "T-Mobile".to_owned())]);
    let fitting = [alias("T-Mobile", "262-01", "Telekom Deutschland GmbH")];
    assert!(Join::new(&networks, &names, &fitting).check_aliases(&operators).is_ok());

    let stale = [alias("Gone", "262-01", "Telekom"), alias("T-Mobile", "262-02", "Telekom")];
    let told = Join::new(&networks, &names, &stale).check_aliases(&operators).unwrap_err().to_string();
    assert!(told.contains("DE Gone: no range belongs to it"), "{told}");
    assert!(told.contains("DE T-Mobile: 262-02 is not listed as Telekom"), "{told}");
}

fn holders(rows: &[(&str, &str)]) -> Holders {
    let holder = |operator: &str| Holder { operator: operator.to_owned(), ..Holder::default() };
    rows.iter().map(|(prefix, operator)| ((*prefix).to_owned(), holder(operator))).collect()
}

#[test]
fn a_prefix_that_repeats_the_one_around_it_goes() {
    let mut simplified =
        holders(&[("4", ""), ("49", "a"), ("491", "a"), ("4911", "b"), ("49111", "b"), ("492", "")]);
    simplify(&mut simplified);
    assert_eq!(simplified, holders(&[("49", "a"), ("4911", "b"), ("492", "")]));
}

#[test]
fn ten_neighbours_become_the_prefix_around_them() {
    let digits = |last: u8| format!("49{last}");
    let mut ten: Holders = (0..10).flat_map(|last| holders(&[(&digits(last), "a")])).collect();
    ten.extend(holders(&[("49", "c"), ("493", "b")]));
    let before = ten.clone();
    simplify(&mut ten);
    assert_eq!(ten, holders(&[("49", "a"), ("493", "b")]));
    for last in 0..10 {
        let number = format!("49{last}55");
        assert_eq!(longest(&ten, &number), longest(&before, &number), "{number}");
    }

    let mut different: Holders =
        (0..10).flat_map(|last| holders(&[(&digits(last), &digits(last))])).collect();
    let before = different.clone();
    simplify(&mut different);
    assert_eq!(different, before);
}

#[test]
fn neighbours_share_a_field_and_long_lines_are_broken() {
    let short = holders(&[
        ("490", "a"),
        ("491", "a"),
        ("492", "a"),
        ("494", "a"),
        ("499", "a"),
        ("500", "a"),
        ("6", ""),
    ]);
    assert_eq!(write(&short), "\t\t\t6\n\t\ta\t490-2 494 499 500\n");

    let many: Vec<String> = (0..40).map(|number| format!("49{:03}", number * 2)).collect();
    let rows: Vec<(&str, &str)> = many.iter().map(|prefix| (&**prefix, "a")).collect();
    let text = write(&holders(&rows));
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 3);
    assert!(lines[1..].iter().all(|line| line.starts_with(' ')), "{text}");
    assert!(lines.iter().all(|line| line.len() <= 118), "{text}");
    assert_eq!(text.split_whitespace().skip(1).collect::<Vec<_>>(), many);
}
