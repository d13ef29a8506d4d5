//! Well-known numbers and whose they are.

use super::*;

#[test]
fn a_number_belongs_to_a_country_and_an_operator() {
    for (number, country, operator) in [
        ("+4915112345678", "DE", "T-Mobile"),
        ("+498912345678", "DE", ""),
        ("+447700900123", "GB", "O2"),
        ("+12025550123", "US", ""),
        ("+14165550123", "CA", ""),
        ("+8801712345678", "BD", "Grameenphone"),
    ] {
        let found = Numbers::embedded().find(Msisdn::parse(number).unwrap());
        assert_eq!((found.country.unwrap().as_str(), found.operator), (country, operator), "{number}");
    }
}
