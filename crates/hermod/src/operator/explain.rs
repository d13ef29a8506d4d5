//! `hermod route explain`: why a message goes where it goes.

use super::desk::Desk;
use crate::client::escape;
use crate::ending::Ended;
use crate::show::Align::{Left, Right};
use crate::show::{self, Table};
use clap::Args;
use serde::Deserialize;

#[derive(Args)]
pub(super) struct Explain {
    /// + and the number with its country code
    number: String,
    /// Whose message it is; without it, an account that no route is for
    #[arg(long, value_name = "NAME")]
    account: Option<String>,
    /// The sender; without it, one that no route is for
    #[arg(long, value_name = "SENDER")]
    from: Option<String>,
}

/// What the operator API tells.
#[derive(Deserialize)]
pub(super) struct Explained {
    sentence: String,
    in_doubt: Option<String>,
    fail_over_refusals: bool,
    routes: Vec<Route>,
    carriers: Vec<Carrier>,
}

#[derive(Deserialize)]
struct Route {
    route: String,
    verdict: String,
    why: String,
}

#[derive(Deserialize)]
struct Carrier {
    carrier: String,
    priority: u8,
    weight: u16,
    health: Option<String>,
    standing: String,
    why: String,
}

impl Explain {
    pub(super) async fn run(self, desk: &Desk) -> Ended {
        let Explain { number, account, from } = self;
        let query = [("account", account), ("from", from)];
        let more = query.into_iter().filter_map(|(name, value)| Some(format!("&{name}={}", escape(&value?))));
        let path = format!("/routes/explain?to={}{}", escape(&number), more.collect::<String>());
        desk.tell(&desk.get(&path).await?, |told: Explained| told.text())
    }
}

impl Explained {
    pub(super) fn text(&self) -> String {
        let mut carriers = Table::new(&[
            ("carrier", Left),
            ("priority", Right),
            ("weight", Right),
            ("health", Left),
            ("standing", Left),
            ("why", Left),
        ]);
        for Carrier { carrier, priority, weight, health, standing, why } in &self.carriers {
            carriers.row([
                carrier.clone(),
                priority.to_string(),
                weight.to_string(),
                health.clone().unwrap_or_default(),
                standing.replace('-', " "),
                why.clone(),
            ]);
        }
        let mut routes = Table::new(&[("route", Left), ("verdict", Left), ("why", Left)]);
        for Route { route, verdict, why } in &self.routes {
            routes.row([route.clone(), verdict.replace('-', " "), why.clone()]);
        }
        let mut text = format!("{}\n", show::safe(&self.sentence));
        if !self.carriers.is_empty() {
            text.push_str(&format!("\n{}", carriers.text("")));
        }
        if !self.routes.is_empty() {
            text.push_str(&format!("\n{}", routes.text("")));
        }
        if let Some(policy) = &self.in_doubt {
            let resent = match policy.as_str() {
                "resend" => "resent up to three times",
                "resend-once" => "resent once",
                _ => "never resent",
            };
            let refused = if self.fail_over_refusals { "offered to the next one" } else { "final" };
            text.push_str(&format!("\nA part in doubt is {resent}; what a carrier refuses is {refused}.\n"));
        }
        text
    }
}
