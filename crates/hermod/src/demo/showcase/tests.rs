//! Unit tests of `mod.rs`.

use super::*;

#[test]
fn own_data_are_valid() {
    let wanted = read(provision_text());
    assert_eq!(wanted.accounts.len(), 2);
    assert_eq!(wanted.prices.len(), 2 * content::COUNTRIES.len());
    for account in [SHOP, TAXI] {
        assert!(wanted.keys.iter().any(|key| key.key == account.key), "{account:?}");
    }
}
