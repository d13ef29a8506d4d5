//! `hermod user`: the verbs for people who use the portal that do more than set a field.

use super::entries;
use super::operator_client::{OperatorClient, RequestBody};
use super::target::ClientCommand;
use crate::failure::CommandResult;
use clap::Subcommand;
use hermod_operator::kind::Kind;
use hermod_operator::user::use_cases::{InvitationView, InviteRequest, SecondFactorView};
use hyper::Method;

pub(super) const HELP: &str = "\
Examples:
  hermod user invite ann@example.com --account shop
  hermod user invite bob@example.com --account shop --role billing
  hermod user invite ann@example.com
  hermod user list
  hermod user reset-second-factor ann@example.com
  hermod user remove bob@example.com

An invitation prints a link that works once. Send it to the user, who chooses a password and accepts with it. Until then the
membership is pending and opens nothing. For a user who is in other accounts already, using the link ends all sessions, replaces
the password and removes the second factor; such a user can sign in and accept under Invitations instead. Without --account it
makes another link for a user who has lost the password.

Roles: an owner may do everything; a developer manages keys, binds and webhooks and sends; billing sees money, and neither
texts nor whole numbers; a viewer reads and changes nothing.";

#[derive(Subcommand)]
pub(super) enum UserVerb {
    /// Invite a person to an account, and print a link for choosing a password
    #[command(after_help = "Examples:\n  hermod user invite ann@example.com --account shop\n  \
                            hermod user invite bob@example.com --account shop --role viewer")]
    Invite {
        /// The e-mail address
        email: String,
        /// The account; without it the roles stay as they are
        #[arg(long, value_name = "NAME")]
        account: Option<String>,
        /// owner, developer, billing or viewer [default: owner]
        #[arg(long, value_name = "ROLE", requires = "account")]
        role: Option<String>,
    },
    /// Remove the second factor of a user who has lost it
    #[command(after_help = "Example:\n  hermod user reset-second-factor ann@example.com")]
    ResetSecondFactor {
        /// The e-mail address
        email: String,
    },
}

impl ClientCommand for UserVerb {
    async fn run(self, client: &OperatorClient) -> CommandResult {
        match self {
            UserVerb::Invite { email, account, role } => {
                let path = format!("{}/invite", entries::path(Kind::User, &email));
                let request = RequestBody::json(&InviteRequest { account, role });
                let response = client.send(Method::POST, &path, request).await?;
                client.print(&response, |invitation: InvitationView| invitation_text(&invitation))
            }
            UserVerb::ResetSecondFactor { email } => {
                let path = format!("{}/reset-second-factor", entries::path(Kind::User, &email));
                let response = client.send(Method::POST, &path, RequestBody::None).await?;
                client.print(&response, |view: SecondFactorView| second_factor_text(&view))
            }
        }
    }
}

fn invitation_text(invitation: &InvitationView) -> String {
    let InvitationView { email, link, expires_at, is_reset, starts_afresh } = invitation;
    let does = if *is_reset { "chooses another password" } else { "chooses a password and signs in" };
    let existing = match starts_afresh {
        true => format!(
            "\n{email} is already a user. Using the link ends all sessions, replaces the password and removes the second factor. \
             To keep them, the user signs in and accepts under Invitations instead.\n"
        ),
        false => String::new(),
    };
    format!(
        "{link}\n\nSend this link to {email}, who {does} with it. It works once, until {expires_at}.\n{existing}"
    )
}

fn second_factor_text(SecondFactorView { email, was_on }: &SecondFactorView) -> String {
    match was_on {
        true => format!("The second factor of {email} is removed; the password is enough now.\n"),
        false => format!("{email} has no second factor; nothing changed.\n"),
    }
}
