//! What is due, and the stored form of a cost.

use super::*;

fn cost(per_part: i64, currency: &str, basis: CostBasis, entry: u32, whole: bool) -> BelievedCost {
    let (per_part, entry) = (Money::from_micros(per_part), CostId::new(entry));
    let currency = Currency::parse(currency).unwrap();
    BelievedCost { terms: CostTerms { per_part, currency, basis, entry }, whole }
}

#[test]
fn amount_due_follows_the_basis_and_the_parts_of_a_submit_sm() {
    let billable = Billable { submitted: 3, delivered: 1 };
    for (basis, whole, due) in [
        (CostBasis::Submit, false, 174_000),
        (CostBasis::Delivered, false, 58_000),
        (CostBasis::Submit, true, 3 * 4 * 58_000),
        (CostBasis::Delivered, true, 4 * 58_000),
    ] {
        assert_eq!(cost(58_000, "EUR", basis, 1, whole).due(billable, 4), Money::from_micros(due));
        assert_eq!(cost(58_000, "EUR", basis, 1, whole).due(Billable::default(), 4), Money::ZERO);
    }
}

#[test]
fn terms_are_read_back_from_one_number() {
    for entry in [0, 1, 16_383, 16_384, 1 << 30, u32::MAX] {
        for currency in ["AED", "EUR", "USD", "ZWG"] {
            for (basis, whole) in [(CostBasis::Submit, true), (CostBasis::Delivered, false)] {
                let cost = cost(61_000, currency, basis, entry, whole);
                let packed = cost.packed_terms();
                assert_eq!(BelievedCost::unpack(cost.terms.per_part, packed), Ok(cost));
                assert!(
                    entry > 16_383 || i32::try_from(packed).is_ok(),
                    "{packed} has more than four octets"
                );
                let written = serde_json::to_string(&cost).unwrap();
                assert_eq!(serde_json::from_str::<BelievedCost>(&written).unwrap(), cost);
            }
        }
    }
}

#[test]
fn number_that_says_no_terms_is_refused() {
    let euro = cost(1, "EUR", CostBasis::Submit, 1, false).packed_terms();
    // A negative amount, no currency (AAA), letters beyond ZZZ, a negative number.
    for (per_part, packed) in [(-1, euro), (1, 1 << ENTRY_SHIFT), (1, euro | 0x7fff << 2), (1, -1)] {
        let read = BelievedCost::unpack(Money::from_micros(per_part), packed);
        assert_eq!(read, Err(UnknownTerms(packed)));
    }
}
