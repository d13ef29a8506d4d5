//! Tests of empty texts and values of the wrong type in every field of every kind of entry: each is rejected, or has the
//! documented meaning.

use crate::entry::export::shown;
use crate::entry::fields::{removable, schema_of};
use crate::entry::last_applied::LastApplied;
use crate::entry::plan::Plan;
use crate::kind::Kind;
use crate::setup::file_entries::WantedSetup;
use crate::setup::plan;
use crate::setup::tests::{NOW, pepper, source};
use hermod_store::CatalogueRow;
use std::collections::BTreeSet;
use toml::{Table, Value};
use utoipa::openapi::{RefOr, Schema};

/// One entry of each kind with the fields that it needs.
const SETUP: &str = r#"
    [[carrier]]
    name = "acme"
    address = "smsc.example:2775"
    system_id = "us"
    password = "secret08"
    window = 10
    rate = 100
    [[cost]]
    carrier = "acme"
    prefix = "49"
    per_part = "0.03"
    currency = "EUR"
    [[exchange_rate]]
    base = "USD"
    quote = "EUR"
    rate = "0.9"
    [[rate_profile]]
    carrier = "acme"
    [[route]]
    prefix = "49"
    carriers = ["acme"]
    [[price_list]]
    name = "standard"
    currency = "EUR"
    [[price]]
    prefix = "49"
    per_part = "0.05"
    [[account]]
    name = "shop"
    currency = "EUR"
    [[sender]]
    sender = "Shop"
    account = "shop"
    [[number]]
    number = "80808"
    account = "shop"
    [[connection]]
    name = "c"
    account = "shop"
    [[key]]
    key = "k"
    connection = "c"
    [[screen]]
    name = "links"
    pattern = "bit"
    [[control]]
    name = "day"
    messages_per_day = 10
    [[block]]
    prefix = "49900"
    [[user]]
    email = "ann@example.com"
    [[operator]]
    name = "ann"
    role = "reader"
"#;

/// The fields that identify an entry, which a partial entry has.
const fn identity(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Route | Kind::Price | Kind::Block => &["prefix"],
        Kind::Cost => &["carrier", "prefix"],
        Kind::ExchangeRate => &["base", "quote"],
        Kind::RateProfile => &["carrier"],
        Kind::Sender => &["sender", "account"],
        Kind::Number => &["number"],
        Kind::Key => &["key"],
        Kind::User => &["email"],
        Kind::Carrier
        | Kind::PriceList
        | Kind::Account
        | Kind::Connection
        | Kind::Screen
        | Kind::Control
        | Kind::Operator => &["name"],
    }
}

/// Fields that have an empty text as a value.
const fn takes_empty(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Carrier => &["password", "system_type", "service_type"],
        Kind::Key => &["label"],
        Kind::User => &["name"],
        _ => &[],
    }
}

/// Fields that take more types than their schema, which describes JSON: whole amounts, codes and times without quotes.
fn takes_number(field: &str) -> bool {
    let amounts = [
        "per_part",
        "opening_balance",
        "credit_limit",
        "minimum",
        "warn_below",
        "urgent_below",
        "spend_per_day",
        "mcc",
    ];
    amounts.contains(&field)
}

fn rows_of(text: &str) -> Vec<CatalogueRow> {
    planned(text, Vec::new()).unwrap().rows.into_values().collect()
}

fn planned(text: &str, rows: Vec<CatalogueRow>) -> Result<Plan, String> {
    let wanted = WantedSetup::parse(&source(text)).map_err(|error| error.to_string())?;
    plan(&wanted, (rows, Vec::new()), LastApplied::default(), &pepper(), NOW)
        .map_err(|error| error.to_string())
}

fn fields_of(kind: Kind) -> Vec<(String, RefOr<Schema>)> {
    let RefOr::T(Schema::Object(entry)) = schema_of(kind) else { panic!("an entry is a table") };
    entry.properties.into_iter().collect()
}

/// Returns the JSON types that a schema names, those of its alternatives included.
fn types_of(schema: &serde_json::Value) -> BTreeSet<String> {
    let alternatives = schema["oneOf"].as_array().into_iter().flatten();
    let named = schema["type"].as_array().into_iter().flatten().chain([&schema["type"]]);
    let own = named.filter_map(|name| name.as_str().map(str::to_owned));
    own.chain(alternatives.flat_map(types_of)).collect()
}

fn entry_of(setup: &Table, kind: Kind) -> Table {
    setup[kind.as_str()].as_array().unwrap()[0].as_table().unwrap().clone()
}

/// Sets one field of the stored entry, in a partial entry as in a file of changes.
fn set(kind: Kind, field: &str, value: Value, rows: &[CatalogueRow]) -> Result<Plan, String> {
    let setup: Table = toml::from_str(SETUP).unwrap();
    let mut entry = entry_of(&setup, kind);
    entry.retain(|name, _| identity(kind).contains(&name));
    entry.insert(field.to_owned(), value);
    let file = Table::from_iter([(kind.as_str().to_owned(), Value::Array(vec![Value::Table(entry)]))]);
    planned(&toml::to_string(&file).unwrap(), rows.to_vec())
}

/// Creates everything, with one field set.
fn create_with(kind: Kind, field: &str, value: Value) -> Result<Plan, String> {
    let mut setup: Table = toml::from_str(SETUP).unwrap();
    let entries = setup.get_mut(kind.as_str()).unwrap().as_array_mut().unwrap();
    entries[0].as_table_mut().unwrap().insert(field.to_owned(), value);
    planned(&toml::to_string(&setup).unwrap(), Vec::new())
}

#[test]
fn empty_text_in_any_field_is_rejected_or_removes_an_optional_field() {
    let rows = rows_of(SETUP);
    for kind in Kind::ALL {
        for (field, _) in fields_of(kind) {
            let field = field.as_str();
            let is_value = takes_empty(kind).contains(&field);
            let is_removal = removable(kind).any(|known| known.name == field);
            let empty = Value::String(String::new());
            for (way, applied) in
                [("set", set(kind, field, empty.clone(), &rows)), ("new", create_with(kind, field, empty))]
            {
                match applied {
                    Err(refusal) => {
                        // Without its only limit a control is refused too.
                        let only = field == "messages_per_day";
                        assert!(only || !(is_value || is_removal), "{way} {kind} {field}: {refusal}");
                    }
                    Ok(plan) => {
                        assert!(is_value || is_removal, "{way} {kind} {field} = \"\" was accepted");
                        let after: Vec<CatalogueRow> = plan.rows.into_values().collect();
                        assert_eq!(shown(&after, kind), shown(&rows, kind), "{way} {kind} {field}");
                    }
                }
            }
        }
    }
}

#[test]
fn value_of_another_type_is_rejected_in_every_field() {
    let rows = rows_of(SETUP);
    for kind in Kind::ALL {
        for (field, schema) in fields_of(kind) {
            let types = types_of(&serde_json::to_value(&schema).unwrap());
            let values = [
                ("string", Value::String("?\u{1}".to_owned())),
                ("integer", Value::Integer(-7)),
                ("number", Value::Float(0.5)),
                ("boolean", Value::Boolean(true)),
                ("array", Value::Array(vec![Value::Boolean(true)])),
                ("object", Value::Table(Table::from_iter([("x".to_owned(), Value::Integer(1))]))),
            ];
            for (name, value) in values {
                let refused = set(kind, &field, value.clone(), &rows).is_err();
                let fits = name == "boolean" && (types.contains(name) || field == "tls");
                assert!(refused || fits, "{kind} {field} = {value} was accepted");
                let refused = create_with(kind, &field, value.clone()).is_err();
                assert!(refused || fits, "new {kind} {field} = {value} was accepted");
            }
            let whole = Value::Integer(1);
            let fits = types.contains("integer") || takes_number(&field);
            assert!(set(kind, &field, whole, &rows).is_err() || fits, "{kind} {field} = 1 was accepted");
        }
    }
}

#[test]
fn absent_required_field_of_a_new_entry_is_rejected_by_name() {
    let setup: Table = toml::from_str(SETUP).unwrap();
    for kind in Kind::ALL {
        let RefOr::T(Schema::Object(schema)) = schema_of(kind) else { panic!("an entry is a table") };
        for field in schema.required.iter().filter(|field| !identity(kind).contains(&field.as_str())) {
            let mut setup = setup.clone();
            let entries = setup.get_mut(kind.as_str()).unwrap().as_array_mut().unwrap();
            entries[0].as_table_mut().unwrap().remove(field);
            let refused = planned(&toml::to_string(&setup).unwrap(), Vec::new()).unwrap_err();
            assert!(refused.ends_with(&format!(": missing field `{field}`")), "{kind} {field}: {refused}");
        }
    }
}

#[test]
fn removable_fields_are_optional_and_neither_switch_list_secret_nor_part_of_the_name() {
    for (kind, expect) in [
        (Kind::Sender, "reason note"),
        (Kind::Key, "expires_at"),
        (Kind::Route, "in_doubt fail_over_after min_margin failover_margin unknown_cost"),
        (Kind::Price, "until"),
        (Kind::Cost, "until"),
        (Kind::Operator, "until"),
        (
            Kind::Account,
            "terms price_list suspended smpp_rate dlr_webhook inbound_webhook warn_below urgent_below",
        ),
        (
            Kind::Connection,
            "default_sender max_parts system_id system_type max_binds window alphabet inbound",
        ),
        (Kind::Block, "reason until"),
        (Kind::Control, "account spend_per_day messages_per_day per_recipient per_range per_country"),
    ] {
        let names: Vec<&str> = removable(kind).map(|field| field.name.as_str()).collect();
        assert_eq!(names.join(" "), expect, "{kind}");
    }
}

#[test]
fn list_in_place_of_a_table_is_rejected() {
    for (text, key) in [
        ("[[carrier]]\nname = \"acme\"\nsource = []", "carrier 1.source"),
        ("[[carrier]]\nname = \"acme\"\nsenders = [[\"US\", \"+12025550123\"]]", "carrier 1.senders 1"),
        ("sender = [[\"shop\", \"Shop\"]]", "sender 1"),
        ("remove = [[\"sender\", \"shop/Shop\"]]", "remove 1"),
    ] {
        let refused = WantedSetup::parse(&source(text)).expect_err("it is rejected").to_string();
        assert!(refused.contains(&format!("{key}: must not be a list")), "{refused}");
    }
}
