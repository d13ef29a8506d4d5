//! Unit tests of `fields.rs`.

use super::*;

fn parsed(assignments: &[&str]) -> Result<String, String> {
    let assignments: Vec<String> = assignments.iter().map(ToString::to_string).collect();
    let fields = EntryFields::parse(Kind::Connection, &assignments);
    fields.map(|fields| fields.into_value().to_string()).map_err(|failure| format!("{failure:?}"))
}

#[test]
fn only_given_fields_are_set_and_an_empty_value_removes_one() {
    let expect = r#"{"allow":["192.0.2.1","192.0.2.0/28"],"default_sender":null,"rate":5}"#;
    let given = ["rate=5", "allow=192.0.2.1,192.0.2.0/28", "default_sender="];
    assert_eq!(parsed(&given), Ok(expect.to_owned()));
}

#[test]
fn invalid_assignment_is_rejected() {
    for (given, expect) in [
        (&["rate"][..], "write FIELD=VALUE"),
        (&["rata=5"], "unknown field rata"),
        (&["rate=5", "rate=6"], "rate is given twice"),
        (&["rate=fast"], "expected a whole number"),
        (&["password=secret99"], "password=@FILE"),
    ] {
        let error = parsed(given).expect_err("it is invalid");
        assert!(error.contains(expect), "{error}");
    }
}

#[test]
fn fields_are_completed_with_their_choices() {
    let parser = AssignmentParser(Kind::Sender);
    let values: Vec<String> =
        parser.possible_values().expect("fields").map(|value| value.get_name().to_owned()).collect();
    assert!(values.contains(&"state=blocked".to_owned()) && values.contains(&"reason=".to_owned()));
    assert!(!values.iter().any(|value| value.starts_with("account=")), "the name gives the account");
}
