//! Backups (only for local callers, only into new folders) and
//! erasure of a number.

use crate::fixture::ApiFixture;
use serde_json::json;
use std::os::unix::fs::PermissionsExt;

#[tokio::test]
async fn backup_creates_a_private_folder_and_overwrites_nothing() {
    let fixture = ApiFixture::open().await;
    let elsewhere = tempfile::tempdir().unwrap();
    let folder = elsewhere.path().join("monday");
    let wanted = json!({ "folder": folder });
    let refused = fixture.post("/backups", wanted.clone()).await.status_and_error();
    assert!(refused.contains("NOT_RUNNING"), "{refused}");
    let fixture = fixture.running();
    let made = fixture.post("/backups", wanted.clone()).await;
    assert_eq!(made.status, 200, "{}", made.text);
    let copy = std::fs::metadata(folder.join("hermod.db")).unwrap();
    assert_eq!(made.body["bytes"].as_u64(), Some(copy.len()));
    assert_eq!(copy.permissions().mode() & 0o777, 0o600);
    assert_eq!(std::fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
    assert!(hermod_store::Store::audit(&folder).unwrap().is_clean());

    let refused = fixture.post("/backups", wanted).await.status_and_error();
    assert!(refused.starts_with("400 INVALID_FIELD"), "the folder already exists: {refused}");
    for unfit in ["relative/folder", "/nowhere/at/all", ""] {
        let refused = fixture.post("/backups", json!({ "folder": unfit })).await.status_and_error();
        assert!(refused.starts_with("400 INVALID_FIELD"), "{unfit}: {refused}");
    }
}

#[tokio::test]
async fn backup_for_a_remote_caller_is_rejected() {
    let fixture = ApiFixture::open().await.running().on_public_listener();
    let elsewhere = tempfile::tempdir().unwrap();
    for (caller, status) in [("192.0.2.7", 403), ("127.0.0.1", 200)] {
        let folder = elsewhere.path().join(caller);
        let made = fixture.post_from(caller, "/backups", json!({ "folder": folder })).await;
        assert_eq!((made.status, folder.exists()), (status, status == 200), "{caller}: {}", made.text);
    }
}

#[tokio::test]
async fn erasure_needs_a_valid_number_and_a_known_account() {
    let fixture = ApiFixture::open().await;
    let erased = fixture.post("/erasures", json!({ "number": "+4915112345678" })).await;
    assert_eq!((erased.status, &erased.body["messages"]), (200, &json!(0)), "{}", erased.text);
    for (wanted, told) in [
        (json!({ "number": "4915112345678" }), "400 INVALID_FIELD"),
        (json!({ "number": "+4915112345678", "account": "nobody" }), "404 NOT_FOUND"),
        (json!({}), "400 INVALID_JSON"),
    ] {
        let refused = fixture.post("/erasures", wanted).await.status_and_error();
        assert!(refused.starts_with(told), "{refused}");
    }
}
