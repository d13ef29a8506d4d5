//! Quickstart: programs that send one message, with an own key. The same files are run by a test against a gateway.

use crate::forms::Select;
use crate::layout::{NavEntry, Shell};
use crate::pages::keys::base_url;
use crate::request::extract::Query;
use crate::request::member::Member;
use crate::request::reply::{NoPage, Reply, page};
use askama::Template;
use hermod_domain::permission::Permission;
use serde::Deserialize;

/// `GET /accounts/{account}/quickstart?key=…`.
#[derive(Clone, Debug, Template)]
#[template(path = "quickstart.html")]
pub struct QuickstartPage {
    pub shell: Shell,
    /// The keys that can be used.
    pub keys: Select,
    pub samples: Vec<Sample>,
}

/// A program that sends one message. It reads the secret from the variable `API_SECRET`, and the number from its argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    pub language: &'static str,
    /// The name to save it under.
    pub file: &'static str,
    /// What it needs.
    pub needs: &'static str,
    pub text: String,
    /// How to run it.
    pub run: String,
}

/// What the files have instead of the address of the API and the key.
const BASE_URL: &str = "BASE_URL";
const API_KEY: &str = "API_KEY";

/// A file of `quickstarts`, with its language, what it needs, and its interpreter.
const FILES: [(&str, &str, &str, &str, &str); 5] = [
    ("curl", "send.sh", "curl 7.76 or later", "sh", include_str!("../../quickstarts/send.sh")),
    (
        "Python",
        "send.py",
        "Python 3.8 or later, no packages",
        "python3",
        include_str!("../../quickstarts/send.py"),
    ),
    ("Node", "send.mjs", "Node 18 or later, no packages", "node", include_str!("../../quickstarts/send.mjs")),
    ("PHP", "send.php", "PHP 8 or later, no packages", "php", include_str!("../../quickstarts/send.php")),
    ("Java", "Send.java", "Java 11 or later, no build", "java", include_str!("../../quickstarts/Send.java")),
];

impl Sample {
    /// Returns the programs for an address of the API, such as `https://sms.example/api/v1`, and a key.
    pub fn all(base_url: &str, key: &str) -> Vec<Sample> {
        let sample = |(language, file, needs, interpreter, text): (_, _, _, &str, &str)| Sample {
            language,
            file,
            needs,
            text: text.replace(BASE_URL, base_url).replace(API_KEY, key),
            run: format!("API_SECRET=… {interpreter} {file} +4915112345678"),
        };
        FILES.map(sample).into_iter().collect()
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct QuickstartQuery {
    key: String,
}

/// `GET /accounts/{account}/quickstart`.
pub(crate) async fn show(member: Member, Query(QuickstartQuery { key }): Query<QuickstartQuery>) -> Reply {
    member.require(Permission::ReadSetup)?;
    let (catalogue, now) = (member.gateway().catalogue(), member.gateway().clock.now());
    let valid = catalogue.keys_of(member.account).into_iter().filter(|(_, key)| key.is_valid_at(now));
    let mut keys: Vec<(&str, String)> = valid
        .map(|(id, key)| match key.label.as_str() {
            "" => (id, id.to_owned()),
            label => (id, format!("{id}, {label}")),
        })
        .collect();
    keys.sort_unstable();
    let wanted = if key.is_empty() { keys.first().map_or("", |(id, _)| *id) } else { key.as_str() };
    if !wanted.is_empty() && !keys.iter().any(|(id, _)| *id == wanted) {
        return Err(NoPage::NotFound);
    }
    Ok(page(&QuickstartPage {
        shell: member.shell(NavEntry::Quickstart),
        samples: if wanted.is_empty() { Vec::new() } else { Sample::all(&base_url(&member), wanted) },
        keys: Select::new(keys.iter().map(|(id, label)| (*id, label.clone())), wanted),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sample_has_the_key_the_address_and_no_secret() {
        for Sample { language, text, run, .. } in Sample::all("https://sms.example/api/v1", "shop-key-1") {
            assert!(text.contains("https://sms.example/api/v1/sms"), "{language}");
            assert!(text.contains("shop-key-1:"), "{language}");
            assert!(
                text.contains("API_SECRET") && !text.contains(API_KEY) && !text.contains(BASE_URL),
                "{language}"
            );
            assert!(text.contains(run.split('…').next().unwrap_or_default()), "{language}");
        }
    }
}
