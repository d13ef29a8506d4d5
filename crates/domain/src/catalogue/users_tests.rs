//! Tests of memberships and of what a link lets its holder do.

use super::*;

const ALICE: AccountId = AccountId::new(1);
const CORP: AccountId = AccountId::new(2);
const NOW: Timestamp = Timestamp::from_millis(1_790_000_000_000);

fn member(account: AccountId) -> Membership {
    Membership { account, role: Role::Owner, pending: None }
}

fn invited(account: AccountId) -> Membership {
    Membership { pending: Some(PendingInvitation::default()), ..member(account) }
}

fn user(accounts: Vec<Membership>, password: Option<&str>, is_proven: bool) -> User {
    let factor = SecondFactor { secret: String::new(), recovery: Vec::new(), since: NOW };
    User {
        name: String::new(),
        accounts,
        password: password.map(str::to_owned),
        is_proven,
        second_factor: password.map(|_| factor),
        disabled: false,
    }
}

#[test]
fn link_that_an_owner_has_seen_never_replaces_a_password() {
    use LinkCourier::{Mail, Operator, Owner};
    let choose = |is_afresh| LinkUse::ChoosePassword { is_afresh };
    let invited_only = user(vec![invited(CORP)], None, false);
    let disabled = User { disabled: true, ..invited_only.clone() };
    let unproven = user(vec![member(ALICE), invited(CORP)], Some("hash"), false);
    let proven = user(vec![member(ALICE), invited(CORP)], Some("hash"), true);
    for (user, account, courier, expect) in [
        (&invited_only, Some(CORP), Owner, choose(true)),
        (&invited_only, Some(CORP), Mail, choose(true)),
        (&disabled, Some(CORP), Owner, LinkUse::SignIn),
        (&unproven, Some(CORP), Owner, LinkUse::SignIn),
        (&unproven, Some(CORP), Mail, choose(true)),
        (&unproven, None, Mail, choose(true)),
        (&unproven, Some(CORP), Operator, choose(true)),
        (&proven, Some(CORP), Owner, LinkUse::SignIn),
        (&proven, Some(CORP), Mail, choose(false)),
        (&proven, None, Mail, choose(false)),
        (&proven, Some(CORP), Operator, choose(true)),
        (&proven, Some(ALICE), Operator, choose(false)),
        (&proven, None, Operator, choose(false)),
    ] {
        assert_eq!(user.link_use(account, courier), expect, "{user:?} {account:?} {courier:?}");
    }
}

#[test]
fn password_chosen_afresh_leaves_nothing_of_an_unproven_predecessor() {
    let mut taken = user(vec![member(ALICE), invited(CORP)], Some("of the attacker"), false);
    assert_eq!(taken.role_in(CORP), None);
    assert_eq!(taken.invitations(NOW).count(), 0, "an unproven user accepts nothing with the password");
    assert!(!taken.clone().choose_password("of another".to_owned(), Some(CORP), LinkCourier::Owner));
    assert!(taken.choose_password("of the owner".to_owned(), Some(CORP), LinkCourier::Operator));
    assert_eq!((taken.password.as_deref(), &taken.second_factor), (Some("of the owner"), &None));
    assert_eq!(taken.role_in(CORP), Some(Role::Owner));
    assert_eq!(taken.role_in(ALICE), None, "accepted by the attacker");
    let open: Vec<AccountId> = taken.invitations(NOW).map(|(membership, _)| membership.account).collect();
    assert_eq!(open, [ALICE]);
}

#[test]
fn proven_user_keeps_memberships_and_the_second_factor_with_a_link_for_another_password() {
    let mut ann = user(vec![member(ALICE), invited(CORP)], Some("old"), true);
    assert!(ann.choose_password("new".to_owned(), None, LinkCourier::Mail));
    assert!(ann.second_factor.is_some() && ann.is_proven);
    assert_eq!((ann.role_in(ALICE), ann.role_in(CORP)), (Some(Role::Owner), None));
    assert!(ann.choose_password("newer".to_owned(), Some(CORP), LinkCourier::Operator));
    assert!(ann.second_factor.is_none());
    assert_eq!((ann.role_in(ALICE), ann.role_in(CORP)), (Some(Role::Owner), Some(Role::Owner)));
}

#[test]
fn link_that_proves_the_address_and_the_password_together_leave_all_that_an_unproven_user_has() {
    let unproven = user(vec![member(ALICE), invited(CORP)], Some("hash"), false);
    for (courier, is_proven) in
        [(LinkCourier::Owner, false), (LinkCourier::Mail, true), (LinkCourier::Operator, true)]
    {
        let mut ann = unproven.clone();
        ann.accept_with_link(CORP, courier);
        assert_eq!(ann.is_proven, is_proven, "{courier:?}");
        assert!(ann.second_factor.is_some() && ann.password == unproven.password, "{courier:?}");
        assert_eq!((ann.role_in(ALICE), ann.role_in(CORP)), (Some(Role::Owner), Some(Role::Owner)));
    }
}

#[test]
fn invitation_that_has_expired_cannot_be_accepted() {
    let mut ann = user(vec![invited(CORP)], Some("hash"), true);
    ann.accounts[0].pending = Some(PendingInvitation { invited_by: None, expires_at: Some(NOW) });
    assert_eq!(ann.invitations(NOW).count(), 0);
    assert!(ann.accept(CORP) && !ann.accept(CORP), "accepted once");
}
