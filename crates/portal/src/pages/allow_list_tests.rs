//! Unit tests of `allow_list.rs`.

use super::*;

fn list(networks: &[&str]) -> AllowList {
    AllowList(networks.iter().map(|network| network.parse().unwrap()).collect())
}

#[test]
fn invalid_line_is_named() {
    assert_eq!(parse("203.0.113.9\n\n 10.1.2.3/8 ").unwrap(), ["203.0.113.9", "10.0.0.0/8"]);
    assert!(parse("203.0.113.9\n203.0.113.0/33").unwrap_err().starts_with("Line 2: "));
    assert!(parse("<script>").is_err());
    assert_eq!(parse(""), Ok(Vec::new()));
    assert!(parse(&"192.0.2.1\n".repeat(LINES_MAX + 1)).is_err());
}

#[test]
fn admission_names_the_list_that_rejects() {
    let (key, connection) = (list(&["203.0.113.0/24"]), list(&["203.0.113.9/32", "192.0.2.0/24"]));
    let ask = |address: &str| {
        let lists = [("Key".to_owned(), &key), ("Connection c".to_owned(), &connection)];
        admission(address.parse().unwrap(), "key k", lists)
    };
    let admitted = ask("203.0.113.9");
    assert!(admitted.is_admitted, "{admitted:?}");
    let by_key = ask("192.0.2.7");
    assert!(!by_key.is_admitted && by_key.text.contains("the list of the key "), "{by_key:?}");
    assert_eq!(by_key.lists, ["Key: no match in 1 network", "Connection c: 192.0.2.0/24 matches"]);
    let by_connection = ask("203.0.113.10");
    assert!(by_connection.text.contains("the list of the connection "), "{by_connection:?}");
}
