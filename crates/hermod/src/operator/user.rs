//! `hermod user`: people who use the portal.

use super::entries::{self, text};
use super::list::Column;
use super::operator_client::RequestBody;
use super::target::{MissingDir, TargetArgs};
use crate::client::escape;
use crate::failure::CommandResult;
use crate::output::Align::Left;
use clap::{Args, Subcommand};
use hermod_gateway::provision::Kind;
use hermod_gateway::views::users::{InvitationView, InviteRequest, SecondFactorView};
use hyper::Method;
use serde_json::Value;

const EXAMPLES: &str = "\
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

/// Manage the users of the portal
#[derive(Args)]
#[command(after_help = EXAMPLES, arg_required_else_help = true)]
pub(crate) struct UserArgs {
    #[command(flatten)]
    target: TargetArgs,
    #[command(subcommand)]
    command: UserCommand,
}

#[derive(Subcommand)]
enum UserCommand {
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
    /// List users with their roles
    #[command(after_help = "Examples:\n  hermod user list\n  hermod user list --account shop")]
    List {
        /// Only users with a role in this account
        #[arg(long, value_name = "NAME")]
        account: Option<String>,
    },
    /// Show a user
    #[command(after_help = "Example:\n  hermod user show ann@example.com")]
    Show {
        /// The e-mail address
        email: String,
    },
    /// Remove the second factor of a user who has lost it
    #[command(after_help = "Example:\n  hermod user reset-second-factor ann@example.com")]
    ResetSecondFactor {
        /// The e-mail address
        email: String,
    },
    /// Remove a user and end all sessions
    #[command(after_help = "Example:\n  hermod user remove bob@example.com")]
    Remove {
        /// The e-mail address
        email: String,
    },
}

const COLUMNS: [Column<Value>; 4] = [
    ("email", Left, |entry| text(&entry["email"])),
    ("name", Left, |entry| text(&entry["name"])),
    ("accounts", Left, roles),
    ("disabled", Left, |entry| text(&entry["disabled"])),
];

fn roles(user: &Value) -> String {
    let is_pending =
        |account: &Value| user["pending"].as_array().is_some_and(|names| names.contains(account));
    let accounts = user["accounts"].as_array().into_iter().flatten();
    let roles = accounts.map(|one| {
        let pending = if is_pending(&one["account"]) { ", pending" } else { "" };
        format!("{} ({}{pending})", text(&one["account"]), text(&one["role"]))
    });
    roles.collect::<Vec<_>>().join(", ")
}

impl UserArgs {
    pub(crate) fn run(self) -> CommandResult {
        let UserArgs { target, command } = self;
        target.run(MissingDir::Refuse, async move |client| match command {
            UserCommand::Invite { email, account, role } => {
                let path = format!("/users/{}/invite", escape(&email));
                let response = client
                    .send(Method::POST, &path, RequestBody::json(&InviteRequest { account, role }))
                    .await?;
                client.print(&response, |invitation: InvitationView| invitation_text(&invitation))
            }
            UserCommand::List { account } => entries::list(client, Kind::User, account, &COLUMNS).await,
            UserCommand::Show { email } => entries::show(client, Kind::User, &email).await,
            UserCommand::ResetSecondFactor { email } => {
                let path = format!("/users/{}/reset-second-factor", escape(&email));
                let response = client.send(Method::POST, &path, RequestBody::None).await?;
                client.print(&response, |view: SecondFactorView| second_factor_text(&view))
            }
            UserCommand::Remove { email } => entries::remove(client, Kind::User, &email).await,
        })
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
