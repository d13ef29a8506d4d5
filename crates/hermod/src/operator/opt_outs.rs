//! Who does not want to hear from an account.

use super::desk::{Body, Desk};
use super::entries;
use crate::client::escape;
use crate::ending::Ended;
use crate::show::Align::Left;
use crate::show::{self, Table};
use clap::Args;
use hermod_gateway::provision::Kind;
use hyper::Method;
use serde::Deserialize;
use serde_json::json;

#[derive(Args)]
pub(super) struct OptOuts {
    /// The account
    name: String,
    /// Send nothing to this number any more
    #[arg(long, value_name = "NUMBER", conflicts_with = "lift")]
    add: Option<String>,
    /// How it was asked for, for the record
    #[arg(long, value_name = "TEXT", requires = "add")]
    how: Option<String>,
    /// This number wants to hear from the account again
    #[arg(long, value_name = "NUMBER")]
    lift: Option<String>,
    /// Only numbers after this one
    #[arg(long, value_name = "NUMBER")]
    after: Option<String>,
}

#[derive(Deserialize)]
struct Page {
    items: Vec<OptOut>,
    next: Option<String>,
}

#[derive(Deserialize)]
struct OptOut {
    number: String,
    how: String,
    at: String,
}

#[derive(Deserialize)]
struct Lifted {
    number: String,
}

impl OptOuts {
    pub(super) async fn run(self, desk: &Desk) -> Ended {
        let OptOuts { name, add, how, lift, after } = self;
        let path = format!("{}/opt-outs", entries::path(Kind::Account, &name));
        if let Some(number) = add {
            let body = json!({ "how": how.unwrap_or_else(|| "operator".to_owned()) });
            let path = format!("{path}/{}", escape(&number));
            let answer = desk.asked(Method::PUT, &path, Body::Json(&body)).await?;
            return desk.tell(&answer, |OptOut { number, at, .. }| {
                format!("{} gets nothing from {name} any more, since {at}.\n", show::safe(&number))
            });
        }
        if let Some(number) = lift {
            let answer =
                desk.asked(Method::DELETE, &format!("{path}/{}", escape(&number)), Body::None).await?;
            return desk.tell(&answer, |Lifted { number }| {
                format!("{} hears from {name} again.\n", show::safe(&number))
            });
        }
        let after = after.map(|number| format!("&after={}", escape(&number))).unwrap_or_default();
        desk.tell(&desk.get(&format!("{path}?limit=1000{after}")).await?, |page: Page| {
            let mut table = Table::new(&[("number", Left), ("since", Left), ("how", Left)]);
            for OptOut { number, how, at } in page.items {
                table.row([number, at, how]);
            }
            let mut text = table.text("Nobody opted out.");
            if let Some(next) = page.next {
                text.push_str(&format!("\nMore: hermod account opt-outs {name} --after {next}\n"));
            }
            text
        })
    }
}
