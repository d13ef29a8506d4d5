//! The people of an account: invitations, roles, the last owner, links, mail.

use super::mail_server::{MailServer, link_in};
use super::{Browser, PASSWORD, member};
use crate::scenario::{GatewaySetup, Page, Scenario};
use hermod_domain::catalogue::Role;
use hermod_operator::user::team::team_row_id;
use hermod_simulator::carrier::Script;
use std::time::Duration;

pub(super) const ACCEPT: &str = "password=correct+horse+battery&password_again=correct+horse+battery";

impl Browser {
    /// Posts a form of a page of the account alice.
    async fn post_in_alice(&mut self, page: &str, fields: &str) -> Page {
        let csrf = self.get("/accounts/alice/team").await.csrf();
        self.post(&format!("/accounts/alice/{page}"), &format!("csrf={csrf}&{fields}")).await
    }
}

/// Returns the id of a person in an account, as in addresses.
pub(super) fn row_of(s: &Scenario, account: &str, email: &str) -> String {
    let catalogue = s.gateway().catalogue();
    let account = catalogue.accounts().find(|(_, view)| view.name == account).expect("an account").0;
    team_row_id(s.gateway(), account, email)
}

/// Returns the number of a user.
pub(super) fn id_of(s: &Scenario, email: &str) -> u32 {
    s.gateway().catalogue().users().find(email).expect("a user").0
}

#[tokio::test]
async fn owner_invites_changes_roles_and_removes_and_the_last_owner_stays() {
    let s = Scenario::with(Script::new()).await;
    let mut ann = member(&s, "ann@example.com", "alice", Role::Owner).await;
    let invited = ann.post_in_alice("team", "email=Dev%40Example.com&role=developer").await;
    assert!(invited.status == 200 && invited.text.contains("Pass this link on"), "{}", invited.text);
    let (_, rest) = invited.text.split_once("/links/").unwrap();
    let link = format!("/links/{}", rest.split('<').next().unwrap_or_default());
    let list = ann.get("/accounts/alice/team").await.text;
    assert!(list.contains("Pending invitations") && list.contains("dev@example.com"), "{list}");
    assert!(!list.contains("/links/"), "the link is shown once");
    let mut dev = Browser::new(&s);
    let page = dev.get(&link).await.text;
    assert!(
        page.contains("ann@example.com invited") && page.contains("<strong>developer</strong>"),
        "{page}"
    );
    assert_eq!(dev.post(&link, ACCEPT).await.location(), "/");
    assert_eq!(dev.get("/accounts/alice/team").await.status, 200);
    // A developer sees the team and changes nothing.
    assert_eq!(dev.post_in_alice("team", "email=eve%40example.com&role=owner").await.status, 403);
    let own = row_of(&s, "alice", "ann@example.com");
    for (page, fields) in [(format!("team/{own}/role"), "role=viewer"), (format!("team/{own}/remove"), "")] {
        let refused = ann.post_in_alice(&page, fields).await;
        assert!(
            refused.status == 400 && refused.text.contains("An account needs an owner"),
            "{}",
            refused.text
        );
    }
    let id = row_of(&s, "alice", "dev@example.com");
    let changed = ann.post_in_alice(&format!("team/{id}/role"), "role=billing").await;
    assert_eq!(changed.location(), "/accounts/alice/team?done=role-changed");
    assert_eq!(dev.get("/accounts/alice/team").await.status, 403);
    assert_eq!(ann.post_in_alice(&format!("team/{id}/role"), "role=owner").await.status, 303);
    assert_eq!(ann.post_in_alice(&format!("team/{own}/role"), "role=viewer").await.status, 303);
    // Now the other one is the last owner.
    assert_eq!(dev.post_in_alice(&format!("team/{id}/remove"), "").await.status, 400);
    let asked = dev.get(&format!("/accounts/alice/team/{own}/remove")).await;
    assert!(asked.text.contains("Remove ann@example.com?"), "{}", asked.text);
    assert_eq!(
        dev.post_in_alice(&format!("team/{own}/remove"), "").await.location(),
        "/accounts/alice/team?done=member-removed"
    );
    assert_eq!(ann.get("/accounts/alice").await.status, 303);
    let audit = dev.get("/accounts/alice/audit").await.text;
    for shown in ["Removed user ann@example.com", "Invited user dev@example.com", "developer", "billing"] {
        assert!(audit.contains(shown), "{shown}: {audit}");
    }
    s.end().await;
}

#[tokio::test]
async fn people_and_roles_of_other_accounts_are_invisible_and_stay() {
    let s = Scenario::with(Script::new()).await;
    let mut ann = member(&s, "ann@example.com", "alice", Role::Owner).await;
    let mut bob = member(&s, "bob@example.com", "bob", Role::Owner).await;
    // The operator gives bob a role in alice too, which bob accepts.
    s.provision(
        "[[user]]\nemail = \"bob@example.com\"\naccounts = [{ account = \"bob\", role = \"owner\" }, { account = \"alice\", role = \"viewer\" }]\n",
    )
    .await;
    let csrf = bob.get("/invitations").await.csrf();
    let accepted = bob.post("/invitations", &format!("csrf={csrf}&accept=alice&{ACCEPT}")).await;
    assert_eq!(accepted.location(), "/accounts/alice?done=joined", "{}", accepted.text);
    let carol = member(&s, "carol@example.com", "carol", Role::Owner).await;
    let list = ann.get("/accounts/alice/team").await.text;
    assert!(list.contains("bob@example.com") && !list.contains("carol@example.com"), "{list}");
    let id = row_of(&s, "alice", "bob@example.com");
    // A link would open the other account too, so there is none to show.
    assert!(!list.contains(&format!("team/{id}/link")), "{list}");
    assert_eq!(ann.post_in_alice(&format!("team/{id}/link"), "").await.status, 404);
    let again = ann.post_in_alice("team", "email=bob%40example.com&role=viewer").await;
    assert!(again.status == 400 && again.text.contains("in the account already"), "{}", again.text);
    // Users who are not in the account do not exist, for every form.
    let theirs = row_of(&s, "alice", "carol@example.com");
    for page in ["role", "remove", "link"] {
        let status = ann.post_in_alice(&format!("team/{theirs}/{page}"), "role=viewer").await.status;
        assert_eq!(status, 404, "{page}");
    }
    assert_eq!(ann.get(&format!("/accounts/alice/team/{theirs}/remove")).await.status, 404);
    assert_eq!(ann.post_in_alice(&format!("team/invitations/{theirs}/withdraw"), "").await.status, 404);
    assert_eq!(ann.get("/accounts/bob/team").await.status, 404);
    assert_eq!(ann.post_in_alice(&format!("team/{id}/role"), "role=developer").await.status, 303);
    let audit = ann.get("/accounts/alice/audit").await.text;
    assert!(audit.contains("developer") && !audit.contains("bob\""), "{audit}");
    assert!(!audit.contains("&#34;account&#34;"), "roles elsewhere are not shown: {audit}");
    assert_eq!(ann.post_in_alice(&format!("team/{id}/remove"), "").await.status, 303);
    assert_eq!(bob.get("/accounts/alice").await.status, 404);
    assert_eq!(bob.get("/accounts/bob/team").await.status, 200);
    assert!(!bob.get("/accounts/bob/audit").await.text.contains("alice"));
    assert_eq!(bob.sign_in("bob@example.com", PASSWORD).await.location(), "/");
    assert_eq!(carol.get("/accounts/carol").await.status, 200);
    s.end().await;
}

#[tokio::test]
async fn withdrawn_invitation_and_hostile_addresses() {
    let s = Scenario::with(Script::new()).await;
    let mut ann = member(&s, "ann@example.com", "alice", Role::Owner).await;
    let invited = ann.post_in_alice("team", "email=dev%40example.com&role=viewer").await.text;
    let (_, rest) = invited.split_once("/links/").unwrap();
    let link = format!("/links/{}", rest.split('<').next().unwrap_or_default());
    let id = row_of(&s, "alice", "dev@example.com");
    let done = ann.post_in_alice(&format!("team/invitations/{id}/withdraw"), "").await;
    assert_eq!(done.location(), "/accounts/alice/team?done=invitation-withdrawn");
    assert_eq!(Browser::new(&s).get(&link).await.status, 404);
    let hostile = "email=%22%3E%3Cscript%3Ealert(1)%3C%2Fscript%3E&role=viewer";
    let page = ann.post_in_alice("team", hostile).await;
    assert!(page.status == 400 && !page.text.contains("<script>alert"), "{}", page.text);
    assert!(page.text.contains("&#60;script&#62;alert(1)"), "{}", page.text);
    // Without the password of a short while ago nothing changes.
    s.skip(Duration::from_secs(700));
    let late = ann.post_in_alice("team", "email=dev%40example.com&role=viewer").await;
    assert_eq!(late.location(), "/accounts/alice/re-authenticate?next=%2Faccounts%2Falice%2Fteam");
    let forgotten = Browser::new(&s).get("/sign-in/forgotten").await.text;
    assert!(forgotten.contains("Ask its operator for a link"), "{forgotten}");
    s.end().await;
}

#[tokio::test]
async fn invitations_and_forgotten_passwords_are_mailed() {
    let mails = MailServer::start().await;
    let setup = GatewaySetup { mail: Some(mails.address), ..GatewaySetup::with("") };
    let s = Scenario::with_setup(Script::new(), setup).await;
    let mut ann = member(&s, "ann@example.com", "alice", Role::Owner).await;
    let invited = ann.post_in_alice("team", "email=dev%40example.com&role=developer").await;
    assert_eq!(invited.location(), "/accounts/alice/team?done=invited", "{}", invited.text);
    let (to, text) = mails.wait_for(1).await;
    assert!(to == "dev@example.com" && text.contains("Subject: Invitation to alice"), "{to} {text}");
    let mut dev = Browser::new(&s);
    assert_eq!(dev.post(&link_in(&text), ACCEPT).await.location(), "/");
    assert_eq!(dev.get("/accounts/alice").await.status, 200);

    let mut lost = Browser::new(&s);
    let known = lost.post("/sign-in/forgotten", "email=dev%40example.com").await;
    let unknown = lost.post("/sign-in/forgotten", "email=nobody%40example.com").await;
    assert_eq!((known.status, &known.text), (200, &unknown.text));
    let (to, text) = mails.wait_for(2).await;
    assert!(to == "dev@example.com" && text.contains("Subject: Choose another password"), "{to} {text}");
    // Another request within minutes sends nothing.
    lost.post("/sign-in/forgotten", "email=dev%40example.com").await;
    let form = "password=another+horse+battery&password_again=another+horse+battery";
    assert_eq!(lost.post(&link_in(&text), form).await.location(), "/");
    assert_eq!(dev.get("/accounts/alice").await.status, 303, "other sessions have ended");

    // A user of another account is invited too, and not added.
    let bob = member(&s, "bob@example.com", "bob", Role::Owner).await;
    let invited = ann.post_in_alice("team", "email=bob%40example.com&role=viewer").await;
    assert_eq!(invited.location(), "/accounts/alice/team?done=invited", "{}", invited.text);
    let (to, text) = mails.wait_for(3).await;
    assert!(to == "bob@example.com" && text.contains("/invitations"), "{to} {text}");
    assert_eq!(bob.get("/accounts/alice").await.status, 404);
    let mut statuses = Vec::new();
    for _ in 0..12 {
        statuses.push(lost.post("/sign-in/forgotten", "email=x%40example.com").await.status);
    }
    assert_eq!(statuses.last(), Some(&429), "{statuses:?}");
    assert_eq!(mails.received().len(), 3);
    s.end().await;
}
