//! Tests of exports: as a provision file, and as CSV files that are imported.

use super::*;
use crate::setup::csv_file::{self, FileOfKind};
use crate::setup::provision_export::{self, Extent};

/// What the example leaves out: two senders that look alike, lists of tables, a user without accounts.
const MORE: &str = "\
[[account]]\nname = \"bank\"\ncurrency = \"EUR\"\nverified = true\ncountries = \"*\"\ncredit_limit = \"50\"\n\
[[sender]]\nsender = \"Sh0p\"\naccount = \"bank\"\nlook_alike = true\n\
[[sender]]\nsender = \"Shop24\"\naccount = \"shop\"\nnote = \"=1+1, \\\"quoted\\\"\"\n\
[[carrier]]\nname = \"beta\"\ntls = { name = \"smsc.example\", ca = \"ca.pem\" }\n\
retry = [{ status = 0x45, class = \"temporary\", wait = \"30s\" }, { status = 8, class = \"rejected-message\" }]\n\
tlvs = [{ tag = 0x1400, text = \"a:b,c\" }]\n\
[[screen]]\nname = \"spaces\"\npattern = ' \\d{4}\\s'\n\
[[user]]\nemail = \"bob@example.com\"\ndisabled = true\n\
[[operator]]\nname = \"ann\"\nrole = \"support\"\nuntil = 2027-01-01\n";

async fn with_everything(folder: &Path) -> Store {
    let store = open(folder);
    for text in [EXAMPLE_TOML, MORE] {
        let told = applied(&store, text).await;
        assert!(!told.starts_with("refused"), "{told}");
    }
    store
}

async fn export(store: &Store, extent: Extent) -> String {
    let rows = store.setup().rows().await.unwrap();
    provision_export::written(&rows, &Kind::ALL, extent, |_, _, _| true).unwrap()
}

/// Whether every change is that an entry stays as it is, and no field of the file is left.
fn is_nothing(told: &str) -> bool {
    told.split(", ").all(|change| change.starts_with('=')) && !told.contains(" [")
}

#[tokio::test]
async fn exported_file_applies_without_changes_where_it_was_exported() {
    let folder = tempfile::tempdir().unwrap();
    let store = with_everything(folder.path()).await;
    for extent in [Extent::Told, Extent::Full] {
        let file = export(&store, extent).await;
        for _ in 0..2 {
            let told = applied(&store, &file).await;
            assert!(is_nothing(&told), "{told}\n{file}");
        }
        assert_eq!(export(&store, extent).await, file);
    }
    let rows = store.setup().rows().await.unwrap();
    let listed = export(&store, Extent::Told).await.lines().filter(|line| line.starts_with("[[")).count();
    assert_eq!(listed, rows.len());
}

#[tokio::test]
async fn exported_file_has_the_changes_by_requests() {
    let folder = tempfile::tempdir().unwrap();
    let store = with_everything(folder.path()).await;
    let fields =
        serde_json::json!({ "currency": "EUR", "verified": false, "countries": ["FR"], "warn_below": "7" });
    let (_, wanted) = wanted_entry(Kind::Account, "shop", fields.as_object().unwrap().clone()).unwrap();
    let plan =
        prepare_over(store.setup().rows().await.unwrap(), Vec::new(), &pepper(), &wanted, NOW).unwrap();
    carry_out(&store, &plan, NOW).await.unwrap();
    let file = export(&store, Extent::Told).await;
    assert!(file.contains("\ncountries = [\"FR\"]\nwarn_below = \"7\"\n"), "{file}");
    let told = applied(&store, &file).await;
    assert!(is_nothing(&told), "{told}");
    // It counts as the file that was last applied: a later request is left alone by the same file.
    let (_, wanted) = wanted_entry(Kind::Account, "shop", fields.as_object().unwrap().clone()).unwrap();
    let plan =
        prepare_over(store.setup().rows().await.unwrap(), Vec::new(), &pepper(), &wanted, NOW).unwrap();
    assert!(plan.changes.iter().all(|change| change.effect == Effect::Same), "{:?}", plan.changes);
}

#[tokio::test]
async fn exported_file_makes_the_same_setup_in_an_empty_store_once_carriers_have_passwords() {
    let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let store = with_everything(folder.path()).await;
    let empty = open(other.path());
    for extent in [Extent::Told, Extent::Full] {
        let file = export(&store, extent).await;
        let told = applied(&empty, &file).await;
        assert!(told.starts_with("refused: carrier \"acme\" is new and has no password"), "{told}");
    }
    let file = export(&store, Extent::Told).await;
    let given = file.replace("system_id = \"hermod\"\n", "system_id = \"hermod\"\npassword = \"secret08\"\n");
    let plan = apply(&empty, &pepper(), &wanted(&given), NOW).await.unwrap();
    assert!(plan.changes.iter().all(|change| change.effect == Effect::Created), "{:?}", plan.changes);
    let made: Vec<&str> = plan.secrets.iter().map(|made| made.key.as_str()).collect();
    assert_eq!(made, ["shop-key-1", "token of operator ann"]);
    assert_eq!(export(&empty, Extent::Told).await, file);
}

#[tokio::test]
async fn exported_file_reads_like_one_that_a_person_wrote() {
    let folder = tempfile::tempdir().unwrap();
    let store = with_everything(folder.path()).await;
    let file = export(&store, Extent::Told).await;
    for part in [
        "# The setup of a gateway, as hermod config export writes it.",
        "\n# prices: The price of one part.",
        "\n[[price]]\nprefix = \"49\"\nper_part = \"0.035\"\naccount = \"shop\"\nfrom = \"2027-01-01\"\n",
        "\n[[route]]\nprefix = \"*\"\ncarriers = [\"acme\", \"beta\"]\n",
        "\n[[key]]\nkey = \"shop-key-1\"\nconnection = \"shop-http\"\n",
        "\n[[sender]]\nsender = \"Sh0p\"\naccount = \"bank\"\nlook_alike = true\n",
        "# Left out: secret.",
    ] {
        assert!(file.contains(part), "{part:?} is not in\n{file}");
    }
    for secret in ["secret08", "secret09", "change-me", "(hidden)", "password = "] {
        assert!(!file.contains(secret), "{secret}\n{file}");
    }
    assert!(file.lines().filter(|line| line.starts_with('#')).all(|line| line.len() <= 130), "{file}");
    let full = export(&store, Extent::Full).await;
    assert!(full.contains("\nclosed = false\n") && !file.contains("closed = false"), "{full}");
}

/// Returns the file of a kind, and what its import would change.
fn round_trip(rows: &[CatalogueRow], kind: Kind) -> (String, String) {
    let entries = shown(rows, kind).unwrap();
    let csv = csv_file::written(kind, entries.values());
    let told = imported(rows, kind, &csv);
    (csv, told)
}

fn imported(rows: &[CatalogueRow], kind: Kind, csv: &str) -> String {
    let file = match FileOfKind::read(kind, csv.as_bytes()) {
        Ok(file) => file,
        Err(error) => return error.to_string(),
    };
    let plan = prepare_over(rows.to_vec(), Vec::new(), &pepper(), &file.wanted.clone().forced(true), NOW);
    actual(plan.map_err(|refusal| file.placed(refusal).into()))
}

#[tokio::test]
async fn exported_csv_files_are_imported_without_changes() {
    let folder = tempfile::tempdir().unwrap();
    let store = with_everything(folder.path()).await;
    let rows = store.setup().rows().await.unwrap();
    for kind in Kind::ALL {
        let (csv, told) = round_trip(&rows, kind);
        assert!(is_nothing(&told), "{kind}: {told}\n{csv}");
        // As a spreadsheet saves it: a mark, semicolons, capital letters for true and false.
        let lines = csv.replace(",false", ",FALSE").replace(",true", ",TRUE");
        assert!(is_nothing(&imported(&rows, kind, &format!("\u{feff}{lines}"))), "{kind}\n{lines}");
        assert!(!csv.contains("(hidden)") && !csv.lines().next().unwrap().contains("secret"), "{csv}");
    }
    let (csv, _) = round_trip(&rows, Kind::Sender);
    assert!(csv.contains("Shop24,shop,pending,,\"'=1+1, \"\"quoted\"\"\","), "{csv}");
}

#[tokio::test]
async fn imported_csv_file_creates_and_changes_entries_and_removes_none() {
    let folder = tempfile::tempdir().unwrap();
    let store = with_everything(folder.path()).await;
    let rows = store.setup().rows().await.unwrap();
    for (kind, csv, expect) in [
        (
            Kind::Price,
            "account;prefix;per_part\n;49;0.04\nshop;49;0.03\n;*;0.05\n",
            "+price 49, ~price shop/49 (per_part \"0.0375\" -> \"0.03\"), =price *",
        ),
        (Kind::Price, "country,per_part\nfr,0.05\n", "~price FR (per_part \"0.045\" -> \"0.05\")"),
        (Kind::Price, "per_part,country,free\n0,US,TRUE\n", "+price US"),
        (Kind::Block, "prefix,reason\n'+49900,Fraud\n", "~block 49900 (reason null -> \"Fraud\")"),
        (Kind::Block, "list,direction\npremium-and-satellite,\n", "=block premium-and-satellite"),
        (
            Kind::Sender,
            "account,sender,note\nshop,Shop24,\nshop,'+4915112345678,by phone\n",
            "~sender shop/Shop24 (note \"=1+1, \\\"quoted\\\"\" -> null), \
             ~sender shop/+4915112345678 (note null -> \"by phone\")",
        ),
        (
            Kind::Route,
            "prefix,carriers\n*,beta:1:70\n33,\"[{carrier = \"\"acme\"\"}]\"\n",
            "~route * (carriers [\"acme\",\"beta\"] -> [{\"carrier\":\"beta\",\"priority\":1,\"weight\":70}]), +route 33",
        ),
        (Kind::Number, "number,account\n80808,shop\n", "+number 80808"),
    ] {
        assert_eq!(imported(&rows, kind, csv), expect, "{csv}");
    }
}

#[tokio::test]
async fn import_leaves_what_the_last_provision_file_said() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let file = "[[price]]\nprefix = \"49\"\nper_part = \"0.05\"\n";
    assert_eq!(applied(&store, file).await, "+price 49");
    let import = FileOfKind::read(Kind::Price, b"prefix,per_part\n49,0.06\n").unwrap().wanted.forced(true);
    let plan =
        prepare_over(store.setup().rows().await.unwrap(), Vec::new(), &pepper(), &import, NOW).unwrap();
    carry_out(&store, &plan, NOW).await.unwrap();
    assert_eq!(applied(&store, file).await, "=price 49 [per_part \"0.06\", not \"0.05\"]");
    assert_eq!(
        applied(&store, &file.replace("0.05", "0.07")).await,
        "~price 49 (per_part \"0.06\" -> \"0.07\")"
    );
}

#[tokio::test]
async fn invalid_csv_file_is_rejected_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let store = with_everything(folder.path()).await;
    let rows = store.setup().rows().await.unwrap();
    for (kind, csv, expect) in [
        (
            Kind::Price,
            "prefx,per_part\n",
            "line 1, column prefx: there is no such column for prices; there are prefix,",
        ),
        (Kind::Price, "prefix,prefix\n", "line 1, column prefix: there are two columns of this name"),
        (
            Kind::Price,
            "per_part\n1\n",
            "line 1: no column says which price a row is; there must be some of prefix,",
        ),
        (Kind::Price, "prefix\n*\n47\n", "refused: line 3: price \"47\": missing field `per_part`"),
        (Kind::Price, "prefix,per_part\n49,1\n\n48,\"0,05\"\n", "line 4, column per_part: \"0,05\": "),
        (
            Kind::Price,
            "prefix,per_part,from\n49,1,31.12.2026\n",
            "line 2, column from: \"31.12.2026\" is not a day",
        ),
        (
            Kind::Price,
            "prefix,per_part,free\n49,0,ja\n",
            "line 2, column free: \"ja\": expected true or false",
        ),
        (Kind::Price, "prefix,per_part\n49,0\n", "refused: line 2: price \"49\" is 0: "),
        (
            Kind::Price,
            "prefix,country,per_part\n49,DE,1\n",
            "refused: line 2: price \"?\" needs exactly one of ",
        ),
        (Kind::Price, "prefix,per_part\n50,1\n50,1\n", "refused: line 3: price \"50\" is mentioned twice"),
        (
            Kind::Price,
            "account,prefix,per_part\nshop,50,1\nshopp,50,1\n",
            "refused: line 3: price \"shopp/50\" refers to account \"shopp\", which does not exist",
        ),
        (Kind::Sender, "account,sender\nshop,Way too long a name\n", "line 2, column sender: "),
        (Kind::Block, "prefix\n4.91511E+12\n", "line 2, column prefix: \"4.91511E+12\": "),
        (Kind::Carrier, "name,password\nacme,secret\n", "line 1, column password: there is no such column"),
        (
            Kind::User,
            "email,pending\nann@example.com,shop\n",
            "line 1, column pending: there is no such column",
        ),
        (
            Kind::Carrier,
            "name,address,system_id,window,rate\ngamma,smsc.example:2775,me,10,10\n",
            "refused: line 2: carrier \"gamma\" is new and has no password",
        ),
    ] {
        let told = imported(&rows, kind, csv);
        assert!(told.starts_with(expect), "{csv}: {told}");
    }
}
