//! The audit log is written with the change it is about, and tokens of users end with it.

use crate::world::*;
use hermod_domain::audit::{AuditEnd, AuditEntry, AuditFilter, AuditKey};
use hermod_domain::ids::AccountId;
use hermod_domain::phone::Msisdn;
use hermod_domain::time::Timestamp;
use hermod_store::{
    CatalogueChange, CatalogueRow, OptOut, Store, StoreError, TokenChange, TokenDigest, TokenPurpose,
    USER_TOKENS_MAX, UserToken,
};
use std::time::Duration;

fn entry(subject: &str) -> AuditEntry {
    AuditEntry {
        at: noon(),
        account: Some(AccountId::new(1)),
        by: "operator".to_owned(),
        from: "192.0.2.1".to_owned(),
        action: "key.update".to_owned(),
        subject: subject.to_owned(),
        detail: "{}".to_owned(),
    }
}

fn row(id: u32, name: &str) -> CatalogueRow {
    let body = "{\"token_digest\":\"00\",\"role\":\"admin\"}".to_owned();
    CatalogueRow { kind: "operator".to_owned(), id, name: name.to_owned(), body }
}

fn puts(id: u32, name: &str) -> CatalogueChange {
    CatalogueChange { put: vec![row(id, name)], ..CatalogueChange::default() }
}

fn recipient() -> Msisdn {
    Msisdn::from_number(4_915_100_000_001).expect("a number")
}

async fn subjects(store: &Store) -> Vec<String> {
    let rows = store.audit_log(AuditFilter::default(), None, 100).await.expect("the log can be read");
    rows.into_iter().map(|row| row.entry.subject).collect()
}

fn token(number: u8, user: u32, purpose: TokenPurpose, made_at: Timestamp) -> UserToken {
    UserToken {
        digest: TokenDigest([number; 32]),
        user,
        purpose,
        made_at,
        expires_at: made_at.plus(Duration::from_secs(3_600)),
        body: "{}".to_owned(),
    }
}

#[tokio::test]
async fn entry_is_written_with_its_change_and_not_with_a_refused_one() {
    let mut world = World::with_credit(0).await;
    let store = &world.store;
    store.audited(vec![entry("one"), entry("two")]).setup().change(puts(1, "one")).await.unwrap();
    let taken = store.audited(vec![entry("taken")]).setup().change(puts(2, "one")).await;
    assert!(matches!(taken, Err(StoreError::NameTaken { .. })), "{taken:?}");
    let opt_out = OptOut::by_keyword(AccountId::new(1), recipient(), noon());
    assert!(store.audited(vec![entry("opt-out")]).opt_outs().add(opt_out.clone()).await.unwrap());
    assert!(!store.audited(vec![entry("repeated")]).opt_outs().add(opt_out).await.unwrap());
    store.audited(vec![entry("noted")]).note_in_audit_log().await.unwrap();
    // A change without an author, such as one of the gateway itself, is not in the log.
    store.setup().change(puts(3, "three")).await.unwrap();
    assert_eq!(subjects(store).await, ["noted", "opt-out", "two", "one"]);
    world.restart().await;
    assert_eq!(subjects(&world.store).await, ["noted", "opt-out", "two", "one"]);
    let mut rows = world.store.audit_log(AuditFilter::default(), None, 100).await.unwrap();
    rows.reverse();
    let mut end = AuditEnd::EMPTY;
    for row in &rows {
        assert!(end.is_before(AuditKey::default(), row), "{row:?}");
        end = row.into();
    }
    assert_eq!(end.number, 4);
}

#[tokio::test]
async fn log_is_listed_in_pages_and_by_account() {
    let world = World::with_credit(0).await;
    for number in 1..=5 {
        let mut entry = entry(&number.to_string());
        entry.account = (number % 2 == 0).then(|| AccountId::new(2));
        world.store.audited(vec![entry]).note_in_audit_log().await.unwrap();
    }
    let page = |account, before, limit| {
        let store = &world.store;
        async move {
            let rows = store
                .audit_log(AuditFilter { account, ..AuditFilter::default() }, before, limit)
                .await
                .unwrap();
            rows.iter().map(|row| row.number).collect::<Vec<_>>()
        }
    };
    assert_eq!(page(None, None, 2).await, [5, 4]);
    assert_eq!(page(None, Some(4), 2).await, [3, 2]);
    assert_eq!(page(Some(AccountId::new(2)), None, 9).await, [4, 2]);
    assert_eq!(page(Some(AccountId::new(1)), None, 9).await, [0u64; 0]);
}

#[tokio::test]
async fn link_is_spent_once_and_other_tokens_end_with_the_change() {
    let world = World::with_credit(0).await;
    let store = &world.store;
    let link = token(1, 7, TokenPurpose::Reset, noon());
    let (session, kept) =
        (token(2, 7, TokenPurpose::Session, noon()), token(3, 7, TokenPurpose::Session, noon()));
    let (used, other) =
        (token(4, 7, TokenPurpose::UsedCode, noon()), token(5, 8, TokenPurpose::Session, noon()));
    for token in [&link, &session, &kept, &used, &other] {
        store.user_tokens().put(token.clone()).await.unwrap();
    }
    let change = || CatalogueChange {
        tokens: TokenChange {
            spend: Some(link.digest),
            end_all_of: vec![7],
            keep: Some(kept.digest),
            ..TokenChange::default()
        },
        ..puts(1, "one")
    };
    store.audited(vec![entry("spent")]).setup().change(change()).await.unwrap();
    assert_eq!(store.user_tokens().list(7, noon()).await.unwrap(), [kept.clone(), used]);
    assert_eq!(store.user_tokens().list(8, noon()).await.unwrap(), [other]);
    let again = store.audited(vec![entry("again")]).setup().change(change()).await;
    assert!(matches!(again, Err(StoreError::LinkSpent)), "{again:?}");
    assert_eq!(subjects(store).await, ["spent"]);
}

#[tokio::test]
async fn links_of_a_user_end_and_sessions_stay_when_memberships_grow() {
    let world = World::new().await;
    let store = &world.store;
    let session = token(1, 7, TokenPurpose::Session, noon());
    let links = [token(2, 7, TokenPurpose::Reset, noon()), token(3, 7, TokenPurpose::Invitation, noon())];
    let other = token(4, 8, TokenPurpose::Invitation, noon());
    for token in links.iter().chain([&session, &other]) {
        store.user_tokens().put(token.clone()).await.unwrap();
    }
    let tokens = TokenChange { end_links_of: vec![7], ..TokenChange::default() };
    store.setup().change(CatalogueChange { tokens, ..puts(1, "one") }).await.unwrap();
    assert_eq!(store.user_tokens().list(7, noon()).await.unwrap(), [session]);
    assert_eq!(store.user_tokens().list(8, noon()).await.unwrap(), [other]);
}

#[tokio::test]
async fn tokens_expire_and_the_oldest_of_a_sort_gives_way() {
    let world = World::with_credit(0).await;
    let store = &world.store;
    let link = token(200, 7, TokenPurpose::Reset, noon().minus(Duration::from_secs(1)));
    store.user_tokens().put(link.clone()).await.unwrap();
    let count = u8::try_from(USER_TOKENS_MAX).unwrap() + 1;
    for number in 0..count {
        let made_at = noon().plus(Duration::from_secs(number.into()));
        store.user_tokens().put(token(number, 7, TokenPurpose::Session, made_at)).await.unwrap();
    }
    let digest = |number: u8| TokenDigest([number; 32]);
    assert_eq!(store.user_tokens().find(digest(0), noon()).await.unwrap(), None);
    assert!(store.user_tokens().find(digest(1), noon()).await.unwrap().is_some());
    assert_eq!(store.user_tokens().list(7, noon()).await.unwrap().len(), USER_TOKENS_MAX + 1);
    assert_eq!(
        store.user_tokens().find(link.digest, noon()).await.unwrap(),
        Some(link),
        "sessions end no link"
    );
    let later = noon().plus(Duration::from_secs(3_600 + 10));
    assert_eq!(store.user_tokens().find(digest(10), later).await.unwrap(), None);
    assert!(store.user_tokens().find(digest(11), later).await.unwrap().is_some());
    assert!(store.user_tokens().end(digest(11)).await.unwrap());
    assert!(!store.user_tokens().end(digest(11)).await.unwrap());
}

#[tokio::test]
async fn request_that_read_a_token_before_another_one_changed_or_ended_it_changes_nothing() {
    let world = World::with_credit(0).await;
    let store = &world.store;
    let read = token(1, 7, TokenPurpose::Session, noon());
    store.user_tokens().put(read.clone()).await.unwrap();
    let confirmed = UserToken { body: "confirmed".to_owned(), ..read.clone() };
    let seen = UserToken { body: "seen".to_owned(), ..read.clone() };
    assert!(store.user_tokens().renew(read.clone(), confirmed.clone()).await.unwrap());
    assert!(!store.user_tokens().renew(read, seen.clone()).await.unwrap());
    assert_eq!(store.user_tokens().list(7, noon()).await.unwrap(), std::slice::from_ref(&confirmed));
    assert!(store.user_tokens().end(confirmed.digest).await.unwrap());
    assert!(!store.user_tokens().renew(confirmed, seen).await.unwrap());
    assert_eq!(store.user_tokens().list(7, noon()).await.unwrap(), []);
}

#[tokio::test]
async fn used_code_is_not_displaced_by_waiting_sign_ins_nor_displaces_them() {
    let world = World::with_credit(0).await;
    let store = &world.store;
    let used = token(200, 7, TokenPurpose::UsedCode, noon());
    store.user_tokens().put(used.clone()).await.unwrap();
    for number in 0..u8::try_from(USER_TOKENS_MAX).unwrap() {
        store.user_tokens().put(token(number, 7, TokenPurpose::SecondFactor, noon())).await.unwrap();
    }
    store.user_tokens().put(token(201, 7, TokenPurpose::UsedCode, noon())).await.unwrap();
    assert_eq!(store.user_tokens().find(used.digest, noon()).await.unwrap(), Some(used));
    assert_eq!(store.user_tokens().list(7, noon()).await.unwrap().len(), USER_TOKENS_MAX + 2);
}

#[tokio::test]
async fn rows_are_filtered_by_author_action_and_time() {
    let world = World::with_credit(0).await;
    let later = noon().plus(Duration::from_secs(60));
    for (by, action, at) in [
        ("operator", "key.update", noon()),
        ("operator Ann", "key.create", later),
        ("user bob@example.com", "keyring.create", later),
    ] {
        let (by, action) = (by.to_owned(), action.to_owned());
        let entry = AuditEntry { by, action, at, ..entry("x") };
        world.store.audited(vec![entry]).note_in_audit_log().await.unwrap();
    }
    let found = async |by: &str, action: &str, since: Option<Timestamp>| -> Vec<u64> {
        let filter = AuditFilter { account: None, by: by.to_owned(), action: action.to_owned(), since };
        let rows = world.store.audit_log(filter, None, 100).await.unwrap();
        rows.iter().map(|row| row.number).collect()
    };
    assert_eq!(found("", "", None).await, [3, 2, 1]);
    assert_eq!(found("ANN", "", None).await, [2]);
    assert_eq!(found("operator", "", None).await, [2, 1]);
    assert_eq!(found("", "key", None).await, [2, 1], "a kind is not the beginning of another");
    assert_eq!(found("", "key.create", None).await, [2]);
    assert_eq!(found("", "", Some(later)).await, [3, 2]);
    assert_eq!(found("%", "", None).await, [0; 0], "a pattern is a plain text");
}
