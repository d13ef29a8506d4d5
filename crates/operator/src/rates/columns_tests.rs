//! Tests of headers, positions and separators.

use super::*;

fn columns(named: &[(&str, &str)]) -> SheetColumns {
    let mut columns = SheetColumns::default();
    for (column, header) in named {
        let field = match *column {
            "price" => &mut columns.price,
            "prefix" => &mut columns.prefix,
            "mccmnc" => &mut columns.mccmnc,
            other => panic!("unknown column {other}"),
        };
        *field = Some((*header).to_owned());
    }
    columns
}

/// Returns the first row with its price, or the refusal.
fn found(text: &str, named: &[(&str, &str)]) -> Result<String, String> {
    let (lines, map) = of_text(text, &columns(named)).map_err(|error| error.to_string())?;
    let price = map.at(Column::Price).unwrap_or(usize::MAX);
    let row = &lines.lines[map.lines_before];
    Ok(format!("{}: {}", row.line, row.cell(price).text))
}

#[test]
fn headers_are_found_below_a_preamble_with_any_separator() {
    for separator in [",", ";", "\t", "|"] {
        let lines = [
            "Prices of North Ltd",
            "",
            "Country|MCC|MNC|Old price|New Rate|Currency",
            "Germany|262|01|0.05|0.065|EUR",
        ];
        let text = lines.join("\n").replace('|', separator);
        assert_eq!(found(&text, &[]).as_deref(), Ok("4: 0.065"), "{separator}");
    }
    assert_eq!(found("MCC;MNC;Price\n262;01;0,065\n", &[]).as_deref(), Ok("2: 0,065"));
}

#[test]
fn profile_names_columns_by_header_or_position() {
    let text = "Zone,Code,Wholesale EUR\nx,26201,0.065\n";
    assert!(found(text, &[]).is_err_and(|error| error.contains("no line with headers for the price")));
    let named = [("mccmnc", "code"), ("price", "Wholesale EUR")];
    assert_eq!(found(text, &named).as_deref(), Ok("2: 0.065"));
    assert_eq!(found("+4915;0.06\n", &[("prefix", "1"), ("price", "2")]).as_deref(), Ok("1: 0.06"));
    let missing = found("MCC,MNC,Price\n262,01,0.065\n", &[("price", "Wholesale")]);
    assert!(missing.is_err());
    assert!(found(text, &[("price", "0")]).is_err_and(|error| error.contains("has no column 0")));
}

#[test]
fn two_columns_that_can_be_the_price_stop() {
    let text = "MCCMNC,PriceSubmit,PriceDelivered\n23410,0.0,0.016\n";
    let refused = found(text, &[]).unwrap_err();
    assert!(
        refused.contains("two columns that can be the price, \"PriceSubmit\" and \"PriceDelivered\""),
        "{refused}"
    );
    assert_eq!(found(text, &[("price", "PriceDelivered")]).as_deref(), Ok("2: 0.016"));
}
