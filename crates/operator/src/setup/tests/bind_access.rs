//! Tests of the SMPP fields of connections: password hashes and unique system_ids.

use crate::entry::export::shown_one;
use crate::entry::plan::Made;
use crate::kind::Kind;
use crate::setup::tests::{CUSTOMER, NOW, applied, apply, open, pepper, wanted};
use hermod_domain::catalogue::{BindTypes, CodingZero, InboundForm, SmppAccess, Tier};
use hermod_gateway::gateway::load_catalogue;
use hermod_gateway::secrets::passwords;
use hermod_store::Store;

async fn access(store: &Store, system_id: &str) -> SmppAccess {
    let catalogue = load_catalogue(store).await.unwrap();
    let connection = catalogue.connection_by_system_id(system_id).expect("it binds");
    catalogue.connection(connection).unwrap().smpp.clone().unwrap()
}

const BINDING: &str = "[[connection]]\nname = \"c\"\naccount = \"a\"\nsystem_id = \"me\"\n";

#[tokio::test]
async fn password_is_stored_as_hash_kept_and_changed() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    applied(&store, CUSTOMER).await;
    let given = format!("{BINDING}password = \"secret08\"\n");
    let actual = applied(&store, &given).await;
    assert!(actual.contains("(system_id null -> \"me\")") && actual.contains("(password "), "{actual}");
    assert!(!actual.contains("secret08") && !actual.contains("argon2"), "{actual}");
    let first = access(&store, "me").await.password_hash;
    assert!(passwords::matches(&pepper(), b"secret08", &first));
    assert_eq!(applied(&store, &given).await, "=connection c", "the same file again changes nothing");
    assert_eq!(applied(&store, BINDING).await, "=connection c", "nor does one without the password");
    assert_eq!(access(&store, "me").await.password_hash, first);
    let other = format!("{BINDING}password = \"secret09\"\n");
    let hidden = "~connection c (password \"(hidden)\" -> \"(hidden)\")";
    assert_eq!(applied(&store, &other).await, hidden);
    assert!(passwords::matches(&pepper(), b"secret09", &access(&store, "me").await.password_hash));
    let rows = store.setup().rows().await.unwrap();
    let shown = shown_one(&rows, Kind::Connection, "c").unwrap().unwrap();
    assert!(!shown.contains_key("password"), "{shown:?}");
    assert!(!format!("{:?}", wanted(&other)).contains("secret09"));
    assert!(
        applied(&store, &format!("{CUSTOMER}system_id = \"\"\n")).await.contains("system_id \"me\" -> null"),
        "the connection cannot bind any more"
    );
    assert_eq!(load_catalogue(&store).await.unwrap().connection_by_system_id("me"), None);
}

#[tokio::test]
async fn missing_password_is_generated_once_and_a_short_one_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    applied(&store, CUSTOMER).await;
    let made = apply(&store, &pepper(), &wanted(BINDING), NOW).await.unwrap().secrets;
    let [Made { key, secret }] = made.as_slice() else { panic!("{made:?}") };
    assert_eq!(key, "password of c");
    assert!(secret.reveal().len() == 8 && secret.reveal().bytes().all(|octet| octet.is_ascii_alphanumeric()));
    let hash = access(&store, "me").await.password_hash;
    assert!(passwords::matches(&pepper(), secret.reveal().as_bytes(), &hash));
    let again = apply(&store, &pepper(), &wanted(BINDING), NOW).await.unwrap();
    assert!(again.secrets.is_empty() && again.put.is_empty(), "it keeps the one it has");
    for (password, is_taken) in [("secret0", false), ("secret008", false), ("", false), ("sec et08", true)] {
        let text = format!("{BINDING}password = \"{password}\"\n");
        let source = hermod_gateway::config::Source { path: "file.toml".into(), text };
        let actual = source
            .parse::<crate::setup::file_entries::WantedSetup>()
            .map(|_| ())
            .map_err(|error| error.to_string());
        let rule = "an SMPP password has exactly 8 printable ASCII characters";
        assert!(
            actual.as_ref().map_or_else(|actual| actual.contains(rule) && !is_taken, |()| is_taken),
            "{actual:?}"
        );
    }
}

#[tokio::test]
async fn absent_fields_have_defaults_and_the_others_are_stored() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    applied(&store, CUSTOMER).await;
    applied(&store, &format!("{BINDING}password = \"secret08\"\n")).await;
    let usual = access(&store, "me").await;
    assert_eq!(usual, SmppAccess::new("me", &usual.password_hash));
    let all = format!(
        "{BINDING}system_type = \"OWN\"\nbind_types = [\"transmitter\", \"receiver\"]\nmax_binds = 3\nwindow = 100\n\
         tls_only = true\nalphabet = \"latin1\"\nlatin1_fallback = true\nstrict = true\nextended_codes = true\n\
         receipt_text = true\npass_tlvs = true\nspecial_protocol_ids = true\napplication_ports = true\nmessage_waiting = true\n\
         inbound = \"payload\"\n\
         [[account]]\nname = \"a\"\ncurrency = \"EUR\"\nsenders = [\"Me\"]\ntier = \"enterprise\"\nsmpp_rate = 25000\n\
         stop_words = [\"Basta\", \"no more\"]\n"
    );
    applied(&store, &all).await;
    let stored = access(&store, "me").await;
    assert_eq!(stored.bind_types, BindTypes { transmitter: true, receiver: true, transceiver: false });
    assert_eq!((stored.alphabet, stored.window, stored.max_binds), (CodingZero::Latin1, 100, 3));
    assert_eq!(stored.system_type.as_deref(), Some("OWN"));
    let switches = [stored.tls_only, stored.latin1_fallback, stored.strict, stored.extended_codes];
    assert_eq!(switches, [true; 4]);
    let more = [stored.receipt_text, stored.pass_tlvs, stored.special_protocol_ids, stored.message_waiting];
    assert_eq!((more, stored.application_ports), ([true; 4], true));
    assert_eq!(stored.inbound, InboundForm::Payload);
    let catalogue = load_catalogue(&store).await.unwrap();
    let (_, view) = catalogue.accounts().next().unwrap();
    assert_eq!((view.account.tier, view.account.smpp_rate), (Tier::Enterprise, Some(25_000)));
    assert_eq!(view.account.stop_words, ["Basta", "no more"]);
    let rows = store.setup().rows().await.unwrap();
    let shown = shown_one(&rows, Kind::Connection, "c").unwrap().unwrap();
    assert_eq!(shown["bind_types"].to_string(), r#"["transmitter","receiver"]"#);
    let plan = apply(&store, &pepper(), &wanted(&all), NOW).await.unwrap();
    assert!(plan.put.is_empty(), "the same again changes nothing");
}

#[test]
fn invalid_stop_words_are_rejected() {
    let account = |words: &str| {
        let text = format!("[[account]]\nname = \"a\"\ncurrency = \"EUR\"\nstop_words = {words}\n");
        let source = hermod_gateway::config::Source { path: "file.toml".into(), text };
        source
            .parse::<crate::setup::file_entries::WantedSetup>()
            .map(|_| ())
            .map_err(|error| error.to_string())
    };
    assert_eq!(account("[\"Basta\"]"), Ok(()));
    for words in ["[\"\"]", "[\"?!\"]", "[\"Start\"]", "[\"unstop.\"]", &format!("[\"{}\"]", "x".repeat(41))]
    {
        let actual = account(words).unwrap_err();
        assert!(actual.contains("an opt-out keyword has 1 to 40 characters"), "{words}: {actual}");
    }
    let many = vec!["\"x\""; 51].join(", ");
    let actual = account(&format!("[{many}]")).unwrap_err();
    assert!(actual.contains("at most 50 opt-out keywords, not 51"), "{actual}");
}

#[tokio::test]
async fn invalid_bind_settings_are_rejected_with_a_hint() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    applied(&store, CUSTOMER).await;
    applied(&store, &format!("{BINDING}password = \"secret08\"\n")).await;
    let second = "[[connection]]\nname = \"d\"\naccount = \"a\"\n";
    for (text, expect) in [
        (
            format!("{second}password = \"secret08\"\n"),
            "refused: connection \"d\" has a password and no system_id; name both, or neither",
        ),
        (
            format!("{second}system_id = \"me\"\npassword = \"secret08\"\n"),
            "refused: connections \"c\" and \"d\" both have the system_id \"me\"; it must be unique",
        ),
        (
            format!("{second}system_id = \"me\"\npassword = \"secret08\"\n{CUSTOMER}system_id = \"\"\n"),
            "=account a, =sender a/Me, +connection d, ~connection c",
        ),
    ] {
        let actual = applied(&store, &text).await;
        assert!(actual.starts_with(expect), "{actual}");
    }
}
