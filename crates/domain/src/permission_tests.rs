//! Unit tests of `permission.rs`.

use super::*;

#[test]
fn only_an_owner_may_do_everything() {
    for role in Role::ALL {
        let may_all = Permission::ALL.into_iter().all(|permission| role.may(permission));
        assert_eq!(may_all, role == Role::Owner, "{role}");
    }
}

#[test]
fn billing_sees_no_texts_and_a_viewer_changes_nothing() {
    assert!(!Role::Billing.may(Permission::ReadTexts) && !Role::Billing.may(Permission::ReadSetup));
    let changes = [
        Permission::SendMessages,
        Permission::ChangeSetup,
        Permission::ChangeMoney,
        Permission::MakeRequests,
        Permission::ChangeTeam,
    ];
    assert!(changes.into_iter().all(|change| !Role::Viewer.may(change)));
}
