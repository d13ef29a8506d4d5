//! Compares the documentation of carriers and alarms with the code.

use crate::entry::fields::schema_of;
use crate::kind::Kind;
use hermod_domain::carrier::ErrorClass;
use hermod_gateway::live_status::AlarmKind;
use std::path::Path;
use utoipa::openapi::{RefOr, Schema};

#[test]
fn carriers_page_and_alarms_page_have_a_row_for_every_field_class_and_alarm() {
    let read = |page: &str| {
        let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
        std::fs::read_to_string(docs.join(page)).unwrap()
    };
    let (page, alarms_page) = (read("carriers.md"), read("alarms.md"));
    let RefOr::T(Schema::Object(entry)) = schema_of(Kind::Carrier) else { panic!("an object") };
    let plain = ["name", "address", "system_id", "password", "system_type"];
    let fields = entry.properties.keys().filter(|field| !plain.contains(&field.as_str()));
    let classes = ErrorClass::ALL.into_iter().map(|class| class.as_str().to_owned());
    let alarms = AlarmKind::ALL.iter().map(|kind| kind.as_str().to_owned());
    for word in fields.cloned().chain(classes) {
        let row = format!("\n| `{word}` |");
        assert!(page.contains(&row), "{word} has no row in docs/carriers.md");
    }
    for alarm in alarms {
        let row = format!("\n| `{alarm}` |");
        assert!(alarms_page.contains(&row), "{alarm} has no row in docs/alarms.md");
    }
}
