//! Who a user is: an identity that another account made opens nothing that is added later, nobody is in an account without
//! accepting, and no answer tells whether an address is a user.

use super::mail_server::{MailServer, link_in};
use super::second_factor::code;
use super::team::{ACCEPT, id_of, row_of};
use super::{Browser, PASSWORD, link, member};
use crate::scenario::{GatewaySetup, Page, Scenario};
use hermod_domain::catalogue::Role;
use hermod_operator::author::{Acting, Author};
use hermod_operator::entry::views::SaveQuery;
use hermod_operator::kind::Kind;
use hermod_operator::setup::use_cases::{IfExists, patch_entry, put_entry};
use hermod_simulator::carrier::Script;
use serde_json::json;

pub(super) const VICTIM: &str = "victim@example.com";
const OWN_PASSWORD: &str = "password=my+own+horse+battery&password_again=my+own+horse+battery";

impl Browser {
    /// Posts a form of a page of an account.
    pub(super) async fn post_in(&mut self, account: &str, page: &str, fields: &str) -> Page {
        let csrf = self.get(&format!("/accounts/{account}")).await.csrf();
        self.post(&format!("/accounts/{account}/{page}"), &format!("csrf={csrf}&{fields}")).await
    }

    /// Invites a person to an account, and returns the link that the page shows.
    async fn invite(&mut self, account: &str, email: &str) -> String {
        let fields = format!("email={}&role=owner", email.replace('@', "%40"));
        let page = self.post_in(account, "team", &fields).await;
        assert_eq!(page.status, 200, "{}", page.text);
        shown_link(&page.text)
    }

    /// Answers an invitation: `accept=alice&password=...`.
    async fn answer(&mut self, link: &str, fields: &str) -> Page {
        let csrf = self.get(&format!("/invitations?link={link}")).await.csrf();
        self.post("/invitations", &format!("csrf={csrf}&link={link}&{fields}")).await
    }
}

fn shown_link(page: &str) -> String {
    let (_, rest) = page.split_once("/links/").expect("a link");
    format!("/links/{}", rest.split('<').next().unwrap_or_default())
}

fn operator(s: &Scenario) -> Acting {
    Acting { gateway: s.gateway().clone(), author: Author::operator(None) }
}

/// The owner of the account bob makes the victim a user, and holds password and second factor. Returns that session.
async fn take_identity(s: &Scenario) -> Browser {
    let mut mallory = member(s, "mallory@example.com", "bob", Role::Owner).await;
    let link = mallory.invite("bob", VICTIM).await;
    let mut attacker = Browser::new(s);
    assert_eq!(attacker.post(&link, ACCEPT).await.location(), "/");
    attacker.set_up(s).await;
    assert_eq!(attacker.get("/accounts/bob").await.status, 200);
    attacker
}

/// The ways by which an address is added to the account alice.
#[derive(Clone, Copy, Debug)]
enum Way {
    File,
    PutEntry,
    PatchEntry,
    OperatorInvites,
    OwnerInvites,
}

const WAYS: [Way; 5] = [Way::File, Way::PutEntry, Way::PatchEntry, Way::OperatorInvites, Way::OwnerInvites];

impl Way {
    async fn add(self, s: &Scenario) {
        let accounts =
            json!([{ "account": "bob", "role": "owner" }, { "account": "alice", "role": "owner" }]);
        let fields = [("accounts".to_owned(), accounts)];
        match self {
            Way::File => {
                let entry = format!(
                    "[[user]]\nemail = \"{VICTIM}\"\naccounts = [{{ account = \"bob\", role = \"owner\" }}, {{ account = \"alice\", role = \"owner\" }}]\n"
                );
                s.provision(&entry).await;
            }
            Way::PutEntry => {
                let (acting, fields) = (operator(s), fields.into_iter().collect());
                let query = SaveQuery::default();
                put_entry(&acting, Kind::User, VICTIM, &query, IfExists::Replace, fields)
                    .await
                    .expect("an entry");
            }
            Way::PatchEntry => {
                let (acting, fields) = (operator(s), fields.into_iter().collect());
                patch_entry(&acting, Kind::User, VICTIM, &SaveQuery::default(), fields)
                    .await
                    .expect("an entry");
            }
            Way::OperatorInvites => drop(link(s, VICTIM, "alice", Role::Owner).await),
            Way::OwnerInvites => {
                let mut ann = member(s, "ann@example.com", "alice", Role::Owner).await;
                ann.invite("alice", VICTIM).await;
            }
        }
    }
}

#[tokio::test]
async fn identity_that_another_account_made_opens_nothing_that_is_added_later() {
    for way in WAYS {
        let s = Scenario::with(Script::new()).await;
        let mut attacker = take_identity(&s).await;
        way.add(&s).await;
        let catalogue = s.gateway().catalogue();
        let (_, user) = catalogue.users().find(VICTIM).expect("a user");
        let alice = catalogue.accounts().find(|(_, view)| view.name == "alice").expect("an account").0;
        assert!(user.membership(alice).is_some_and(|one| one.pending.is_some()), "{way:?}");
        assert_eq!(attacker.get("/accounts/alice").await.status, 404, "{way:?}");
        let invitations = attacker.get("/invitations").await.text;
        assert!(!invitations.contains("alice"), "{way:?}: {invitations}");
        let fields = format!("accept=alice&password={}", PASSWORD.replace(' ', "+"));
        assert_eq!(attacker.answer("", &fields).await.status, 404, "{way:?}");
        assert_eq!(attacker.get("/accounts/alice").await.status, 404, "{way:?}");

        // The operator's link gives the identity to its owner, and leaves nothing of the other one.
        let path = link(&s, VICTIM, "alice", Role::Owner).await;
        let mut owner = Browser::new(&s);
        assert_eq!(owner.post(&path, OWN_PASSWORD).await.location(), "/", "{way:?}: no code is asked for");
        assert_eq!(owner.get("/accounts/alice").await.status, 200, "{way:?}");
        assert_eq!(owner.get("/accounts/bob").await.status, 404, "{way:?}: the owner has not accepted it");
        assert!(owner.get("/invitations").await.text.contains("bob"), "{way:?}");
        assert!(attacker.get("/accounts/bob").await.location().starts_with("/sign-in"), "{way:?}");
        assert_eq!(attacker.sign_in(VICTIM, PASSWORD).await.status, 401, "{way:?}");
        s.end().await;
    }
}

#[tokio::test]
async fn links_of_a_user_end_wherever_memberships_grow() {
    for way in WAYS {
        let s = Scenario::with(Script::new()).await;
        let invitation = link(&s, VICTIM, "bob", Role::Owner).await;
        way.add(&s).await;
        assert_eq!(Browser::new(&s).get(&invitation).await.status, 404, "{way:?}: the invitation");
        s.end().await;

        let s = Scenario::with(Script::new()).await;
        let victim = member(&s, VICTIM, "bob", Role::Owner).await;
        let reset = hermod_operator::user::links::invite(&operator(&s), VICTIM, None).await.expect("a link");
        let reset = format!("/links/{}", reset.token.reveal());
        way.add(&s).await;
        assert_eq!(Browser::new(&s).get(&reset).await.status, 404, "{way:?}: the link for another password");
        assert_eq!(victim.get("/accounts/bob").await.status, 200, "{way:?}: sessions stay");
        s.end().await;
    }
}

#[tokio::test]
async fn links_of_a_user_end_when_a_role_changes() {
    let s = Scenario::with(Script::new()).await;
    drop(member(&s, VICTIM, "bob", Role::Viewer).await);
    let mut bob = member(&s, "bob@example.com", "bob", Role::Owner).await;
    let reset = async || {
        let reset = hermod_operator::user::links::invite(&operator(&s), VICTIM, None).await.expect("a link");
        format!("/links/{}", reset.token.reveal())
    };
    let path = reset().await;
    s.provision(&format!("[[user]]\nemail = \"{VICTIM}\"\nname = \"Vic\"\n")).await;
    assert_eq!(Browser::new(&s).get(&path).await.status, 200, "another name opens nothing");
    s.provision(&format!(
        "[[user]]\nemail = \"{VICTIM}\"\naccounts = [{{ account = \"bob\", role = \"developer\" }}]\n"
    ))
    .await;
    assert_eq!(Browser::new(&s).get(&path).await.status, 404, "by file");
    let path = reset().await;
    let role = format!("team/{}/role", row_of(&s, "bob", VICTIM));
    assert_eq!(bob.post_in("bob", &role, "role=owner").await.status, 303);
    assert_eq!(Browser::new(&s).get(&path).await.status, 404, "by an owner");
    s.end().await;
}

#[tokio::test]
async fn further_link_of_an_account_ends_only_those_of_the_same_account() {
    let s = Scenario::with(Script::new()).await;
    let mut ann = member(&s, "ann@example.com", "alice", Role::Owner).await;
    let mut carol = member(&s, "carol@example.com", "carol", Role::Owner).await;
    let path = link(&s, VICTIM, "alice", Role::Viewer).await;
    carol.invite("carol", VICTIM).await;
    assert_eq!(Browser::new(&s).get(&path).await.status, 404, "a further account ends all");
    let (of_alice, of_carol) = (row_of(&s, "alice", VICTIM), row_of(&s, "carol", VICTIM));
    let of_alice = format!("team/{of_alice}/link");
    let first = shown_link(&ann.post_in("alice", &of_alice, "").await.text);
    let of_carol = shown_link(&carol.post_in("carol", &format!("team/{of_carol}/link"), "").await.text);
    assert_eq!(Browser::new(&s).get(&first).await.status, 200, "that of another account");
    let second = shown_link(&ann.post_in("alice", &of_alice, "").await.text);
    let reset = hermod_operator::user::links::invite(&operator(&s), VICTIM, None).await.expect("a link");
    let reset = format!("/links/{}", reset.token.reveal());
    for (path, status) in [(&first, 404), (&second, 200), (&of_carol, 200), (&reset, 200)] {
        assert_eq!(Browser::new(&s).get(path).await.status, status);
    }
    // The user that one of them makes has no use for the others.
    assert_eq!(Browser::new(&s).post(&reset, OWN_PASSWORD).await.location(), "/");
    for path in [second, of_carol, reset] {
        assert_eq!(Browser::new(&s).get(&path).await.status, 404);
    }
    s.end().await;
}

#[tokio::test]
async fn link_that_an_owner_has_seen_tells_nothing_about_its_person() {
    let s = Scenario::with(Script::new()).await;
    let mut ann = member(&s, "ann@example.com", "alice", Role::Owner).await;
    drop(member(&s, "known@example.com", "carol", Role::Owner).await);
    drop(member(&s, "away@example.com", "carol", Role::Owner).await);
    drop(link(&s, "waiting@example.com", "carol", Role::Owner).await);
    for (name, more) in [("known", ""), ("away", "disabled = true\n"), ("waiting", "")] {
        s.provision(&format!("[[user]]\nemail = \"{name}@example.com\"\nname = \"Lindgren\"\n{more}")).await;
    }
    for name in ["known", "away", "waiting", "fresh"] {
        let path = ann.invite("alice", &format!("{name}@example.com")).await;
        assert_eq!(Browser::new(&s).get(&path).await.status, 200, "{name}");
        let mut answers = Vec::new();
        for password in
            [format!("{name}@example.com").as_str(), "alice2026alice", "password1234", "carol-lindgren"]
        {
            let form = format!("password={password}&password_again={password}");
            let page = Browser::new(&s).post(&path, &form).await;
            let refusals = ["made of your address", "among the first", "does not replace a password"];
            let refusal = refusals.into_iter().find(|refusal| page.text.contains(refusal));
            answers.push((page.status, refusal.unwrap_or_default()));
        }
        let expect = match name {
            "known" | "away" => [(400, "does not replace a password"); 4],
            _ => [
                (400, "made of your address"),
                (400, "made of your address"),
                (400, "among the first"),
                (303, ""),
            ],
        };
        assert_eq!(answers, expect, "{name}");
    }
    s.end().await;
}

#[tokio::test]
async fn invited_user_accepts_with_the_password_declines_and_leaves() {
    let s = Scenario::with(Script::new()).await;
    let mut bob = member(&s, "bob@example.com", "bob", Role::Owner).await;
    s.provision("[[user]]\nemail = \"bob@example.com\"\naccounts = [{ account = \"bob\", role = \"owner\" }, { account = \"alice\", role = \"viewer\" }, { account = \"carol\", role = \"viewer\" }]\n").await;
    assert_eq!(bob.get("/accounts/alice").await.status, 404);
    assert!(bob.get("/accounts/bob").await.text.contains("You are invited to 2 accounts."));
    let list = bob.get("/invitations").await.text;
    assert!(list.contains("<h2>alice</h2>") && list.contains("the operator"), "{list}");
    assert_eq!(bob.answer("", "accept=alice&password=wrong+horse+battery").await.status, 401);
    assert_eq!(bob.post("/invitations", "csrf=00&accept=alice&password=x").await.status, 403);
    assert_eq!(bob.get("/accounts/alice").await.status, 404);
    let accepted = bob.answer("", "accept=alice&password=correct+horse+battery").await;
    assert_eq!(accepted.location(), "/accounts/alice?done=joined", "{}", accepted.text);
    assert_eq!(bob.get("/accounts/alice").await.status, 200);
    assert_eq!(bob.answer("", "decline=carol").await.location(), "/");
    assert!(!bob.get("/invitations").await.text.contains("carol"));
    assert_eq!(bob.answer("", "accept=carol&password=correct+horse+battery").await.status, 404);
    // A file that is applied again accepts nothing.
    s.provision("[[user]]\nemail = \"bob@example.com\"\naccounts = [{ account = \"carol\", role = \"viewer\" }, { account = \"alice\", role = \"viewer\" }, { account = \"bob\", role = \"owner\" }]\n").await;
    assert_eq!(bob.get("/accounts/carol").await.status, 404);
    assert_eq!(bob.get("/accounts/alice").await.status, 200);

    let profile = bob.get("/profile").await.text;
    assert!(profile.contains("/profile/accounts/alice/leave"), "{profile}");
    assert!(!profile.contains("/profile/accounts/bob/leave"), "the only owner stays: {profile}");
    let last = bob.post_own("/profile/accounts/bob/leave", "").await;
    assert!(last.status == 400 && last.text.contains("An account needs an owner"), "{}", last.text);
    assert!(bob.get("/profile/accounts/alice/leave").await.text.contains("Leave alice?"));
    assert_eq!(bob.post_own("/profile/accounts/alice/leave", "").await.location(), "/profile?done=left");
    assert_eq!(bob.get("/accounts/alice").await.status, 404);
    assert_eq!(bob.post_own("/profile/accounts/carol/leave", "").await.status, 404);

    // A user who leaves the only account is no user any more.
    let mut dev = member(&s, "dev@example.com", "alice", Role::Developer).await;
    assert_eq!(dev.post_own("/profile/accounts/alice/leave", "").await.location(), "/");
    assert!(dev.get("/").await.location().starts_with("/sign-in"));
    assert!(s.gateway().catalogue().users().find("dev@example.com").is_none());
    s.end().await;
}

#[tokio::test]
async fn invitation_of_a_user_looks_like_that_of_an_unknown_address() {
    let s = Scenario::with(Script::new()).await;
    let mut ann = member(&s, "ann@example.com", "alice", Role::Owner).await;
    let bob = member(&s, "known@example.com", "bob", Role::Owner).await;
    let mut pages = Vec::new();
    for name in ["known", "fresh"] {
        let fields = format!("email={name}%40example.com&role=viewer");
        let invited = ann.post_in("alice", "team", &fields).await;
        let link = shown_link(&invited.text);
        let id = row_of(&s, "alice", &format!("{name}@example.com"));
        let opened = Browser::new(&s).get(&link).await;
        let team = ann.get("/accounts/alice/team").await.text;
        let audit = ann.get("/accounts/alice/audit").await.text;
        let again = ann.post_in("alice", &format!("team/{id}/link"), "").await;
        let second = shown_link(&again.text);
        let withdrawn = ann.post_in("alice", &format!("team/invitations/{id}/withdraw"), "").await;
        let statuses = [invited.status, opened.status, again.status, withdrawn.status];
        let text = [&invited.text, &opened.text, &team, &again.text].map(|text| {
            let text = text.replace(name, "NAME").replace(&id, "ID");
            text.replace(&link["/links/".len()..], "TOKEN").replace(&second["/links/".len()..], "TOKEN")
        });
        let actions: Vec<String> = ["Created user", "Invited user", "Changed user", "Joined"]
            .map(|action| format!("{action}: {}", audit.matches(&format!("{action} {name}@")).count()))
            .into();
        pages.push((statuses, text, actions));
    }
    for (known, fresh) in pages[0].1.iter().zip(&pages[1].1) {
        assert_eq!(known, fresh);
    }
    assert_eq!((&pages[0].0, &pages[0].2), (&pages[1].0, &pages[1].2));
    // The id in addresses stays the same whether the user remained or is made anew.
    s.advance(std::time::Duration::from_millis(10)).await;
    for name in ["known", "fresh"] {
        let invited = ann.post_in("alice", "team", &format!("email={name}%40example.com&role=viewer")).await;
        let id = row_of(&s, "alice", &format!("{name}@example.com"));
        assert!(invited.text.contains(&format!("team/{id}/link")), "{name}: {}", invited.text);
        let number = id_of(&s, &format!("{name}@example.com"));
        assert!(!invited.text.contains(&format!("team/{number}")), "{name}: {}", invited.text);
    }
    assert_eq!(bob.get("/accounts/bob").await.status, 200);
    s.end().await;
}

#[tokio::test]
async fn link_that_an_owner_has_seen_replaces_no_password_and_is_accepted_signed_in() {
    let s = Scenario::with(Script::new()).await;
    let mut ann = member(&s, "ann@example.com", "alice", Role::Owner).await;
    let mut carol = member(&s, "carol@example.com", "carol", Role::Owner).await;
    let path = ann.invite("alice", "carol@example.com").await;
    // The owner tries the link.
    let tried = Browser::new(&s).post(&path, OWN_PASSWORD).await;
    assert!(tried.status == 400 && tried.text.contains("does not replace a password"), "{}", tried.text);
    assert_eq!(carol.get("/accounts/carol").await.status, 200, "the session goes on");
    assert_eq!(Browser::new(&s).sign_in("carol@example.com", PASSWORD).await.location(), "/");
    // Another user cannot use it, and the person accepts it.
    let token = &path["/links/".len()..];
    assert!(!ann.get(&format!("/invitations?link={token}")).await.text.contains("<h2>alice</h2>"));
    assert!(Browser::new(&s).get(&path).await.text.contains("Sign in to accept"));
    let accepted = carol.answer(token, "accept=alice&password=correct+horse+battery").await;
    assert_eq!(accepted.location(), "/accounts/alice?done=joined", "{}", accepted.text);
    assert_eq!(Browser::new(&s).get(&path).await.status, 404, "the link is used up");

    // A person who joined by a link that an owner saw accepts another one with link and password, and nothing without the link.
    let mut dev = Browser::new(&s);
    let first = ann.invite("alice", "dev@example.com").await;
    assert_eq!(dev.post(&first, ACCEPT).await.location(), "/");
    let second = carol.invite("carol", "dev@example.com").await;
    assert_eq!(dev.answer("", "accept=carol&password=correct+horse+battery").await.status, 404);
    let accepted =
        dev.answer(&second["/links/".len()..], "accept=carol&password=correct+horse+battery").await;
    assert_eq!(accepted.location(), "/accounts/carol?done=joined", "{}", accepted.text);
    s.end().await;
}

#[tokio::test]
async fn mailed_invitation_of_a_proven_user_has_no_link_and_looks_like_any_other() {
    let mails = MailServer::start().await;
    let setup = GatewaySetup { mail: Some(mails.address), ..GatewaySetup::with("") };
    let s = Scenario::with_setup(Script::new(), setup).await;
    let mut ann = member(&s, "ann@example.com", "alice", Role::Owner).await;
    let mut carol = member(&s, "carol@example.com", "carol", Role::Owner).await;
    let factor = carol.set_up(&s).await.0;
    let fields = "email=carol%40example.com&role=viewer";
    assert_eq!(ann.post_in("alice", "team", fields).await.location(), "/accounts/alice/team?done=invited");
    let (to, text) = mails.wait_for(1).await;
    assert!(to == "carol@example.com" && text.contains("/invitations"), "{to} {text}");
    assert!(!text.contains("/links/"), "a mailbox alone opens no account of a proven user: {text}");
    assert_eq!(carol.get("/accounts/alice").await.status, 404);
    s.skip(std::time::Duration::from_secs(90));
    let fields = format!("accept=alice&password=correct+horse+battery&code={}", code(&s, &factor));
    assert_eq!(carol.answer("", &fields).await.location(), "/accounts/alice?done=joined");
    let fields = "email=fresh%40example.com&role=viewer";
    assert_eq!(ann.post_in("alice", "team", fields).await.location(), "/accounts/alice/team?done=invited");
    let (_, text) = mails.wait_for(2).await;
    let mut fresh = Browser::new(&s);
    assert_eq!(fresh.post(&link_in(&text), ACCEPT).await.location(), "/");
    assert_eq!(fresh.get("/accounts/alice").await.status, 200);
    s.end().await;
}

#[tokio::test]
async fn number_of_a_removed_user_does_not_come_back() {
    let s = Scenario::with(Script::new()).await;
    let mut numbers = Vec::new();
    for _ in 0..5 {
        let session = member(&s, VICTIM, "alice", Role::Viewer).await;
        numbers.push(id_of(&s, VICTIM));
        s.provision(&format!("[[remove]]\nkind = \"user\"\nname = \"{VICTIM}\"\n")).await;
        assert!(session.get("/accounts/alice").await.location().starts_with("/sign-in"));
        s.advance(std::time::Duration::from_millis(10)).await;
    }
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), 5, "{numbers:?}");
    assert!(numbers.iter().all(|number| *number > 100), "numbers do not count users: {numbers:?}");
    s.end().await;
}
