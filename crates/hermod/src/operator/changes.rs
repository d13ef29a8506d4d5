//! What a change did, or would do, thing by thing; and the secrets it made, which are shown this once.

use crate::ending::{Ended, Failure};
use crate::paint::Paint;
use crate::show;
use serde::Deserialize;
use serde_json::Value;
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

#[derive(Deserialize)]
pub(super) struct Applied {
    pub(super) dry_run: bool,
    pub(super) changes: Vec<Change>,
    pub(super) secrets: Vec<Issued>,
    #[serde(default)]
    warnings: Vec<String>,
}

#[derive(Deserialize)]
pub(super) struct Change {
    kind: String,
    name: String,
    effect: Effect,
    fields: Vec<FieldChange>,
    #[serde(default)]
    left: Vec<FieldLeft>,
}

/// A field of a file that keeps what is stored.
#[derive(Deserialize)]
struct FieldLeft {
    field: String,
    stored: Value,
    file: Value,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Effect {
    Made,
    Updated,
    Same,
    Removed,
    Absent,
    Left,
}

#[derive(Deserialize)]
struct FieldChange {
    field: String,
    before: Value,
    after: Value,
}

/// What stands for a key where the secret is the one an account's webhooks are signed with.
pub(crate) const WEBHOOKS_OF: &str = "webhooks of ";

/// What stands for a key where the secret is the SMPP password of a connection.
pub(crate) const PASSWORD_OF: &str = "password of ";

/// A key and the secret that was made for it.
#[derive(Deserialize)]
pub(super) struct Issued {
    key: String,
    secret: String,
}

impl Applied {
    /// Whether anything is stored differently now.
    pub(super) fn has_changes(&self) -> bool {
        let changed = |change: &Change| match change.effect {
            Effect::Made | Effect::Updated | Effect::Removed => true,
            Effect::Same | Effect::Absent | Effect::Left => false,
        };
        !self.dry_run && self.changes.iter().any(changed)
    }
}

impl Issued {
    /// As a provision file has it.
    fn as_entry(&self) -> String {
        let Issued { key, secret } = self;
        let (kind, name, field) = match (key.strip_prefix(WEBHOOKS_OF), key.strip_prefix(PASSWORD_OF)) {
            (Some(account), _) => ("account", format!("name = {}", quoted(account)), "webhook_secret"),
            (_, Some(connection)) => ("connection", format!("name = {}", quoted(connection)), "password"),
            (None, None) => ("key", format!("key = {}", quoted(key)), "secret"),
        };
        format!("[[{kind}]]\n{name}\n{field} = {}\n\n", quoted(secret))
    }
}

/// The difference, a line for each thing that changes and a count of those that do not.
pub(super) fn difference(applied: &Applied, paint: Paint) -> String {
    let mut text = String::new();
    for Change { kind, name, effect, fields, left } in &applied.changes {
        let what = format!("{kind} {}", show::safe(name));
        match effect {
            Effect::Made => text.push_str(&format!("{}\n", paint.green(&format!("+ {what}")))),
            Effect::Removed => text.push_str(&format!("{}\n", paint.red(&format!("- {what}")))),
            Effect::Updated => {
                text.push_str(&format!("{}\n", paint.yellow(&format!("~ {what}"))));
                for FieldChange { field, before, after } in fields {
                    text.push_str(&format!("    {field}: {} -> {}\n", side(before), side(after)));
                }
            }
            Effect::Left => text.push_str(&format!("! {what} left as it is: removed or made again since\n")),
            Effect::Same if !left.is_empty() => text.push_str(&format!("! {what}\n")),
            Effect::Same | Effect::Absent => {}
        }
        for FieldLeft { field, stored, file } in left {
            let (stored, file) = (side(stored), side(file));
            text.push_str(&format!("    {field} left at {stored}, changed since; the file says {file}\n"));
        }
    }
    let count = |wanted: Effect| applied.changes.iter().filter(|change| change.effect == wanted).count();
    let (same, absent, left) = (count(Effect::Same), count(Effect::Absent), count(Effect::Left));
    if applied.changes.iter().any(|change| change.effect == Effect::Left || !change.left.is_empty()) {
        text.push_str(
            "! Fields and entries that were changed since this file was last applied are left alone; --force brings \
             them to the file.\n",
        );
    }
    if same + absent + left == applied.changes.len() {
        text.push_str("Nothing to change.\n");
    } else {
        if same > 0 {
            text.push_str(&format!("= {same} unchanged\n"));
        }
        if absent > 0 {
            text.push_str(&format!("  {absent} to remove: not there\n"));
        }
        for warning in &applied.warnings {
            text.push_str(&format!("{}\n", paint.yellow(&format!("Warning: {}.", show::safe(warning)))));
        }
        if applied.dry_run {
            text.push_str("This was a dry run: nothing was changed.\n");
        }
    }
    text
}

fn side(value: &Value) -> String {
    match value {
        Value::Null => "nothing".to_owned(),
        Value::String(text) => show::safe(text),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            show::safe(&value.to_string())
        }
    }
}

/// Where secrets go that were made.
pub(super) enum SecretsTo {
    Output,
    File { path: PathBuf, file: std::fs::File },
}

impl SecretsTo {
    /// The file is made before there are secrets to lose. One that is there is left alone: it may hold others.
    pub(super) fn prepare(path: Option<&Path>) -> Result<SecretsTo, Failure> {
        let Some(path) = path else { return Ok(SecretsTo::Output) };
        let file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
        let file = file.map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => Failure::mend(format!(
                "{} is there already and may hold other secrets: name a new file",
                path.display()
            )),
            _ => Failure::mend(format!("{}: {error}", path.display())),
        })?;
        Ok(SecretsTo::File { path: path.to_owned(), file })
    }

    /// Hands out the secrets, in the form a provision file takes. `body` is printed for whoever asked for JSON.
    pub(super) fn hand_out(self, secrets: &[Issued]) -> Result<String, Failure> {
        match self {
            SecretsTo::Output if secrets.is_empty() => Ok(String::new()),
            SecretsTo::Output => Ok(shown(secrets)),
            SecretsTo::File { path, file } if secrets.is_empty() => {
                drop(file);
                remove(&path)?;
                Ok(String::new())
            }
            SecretsTo::File { path, mut file } => {
                let text: String = secrets.iter().map(|issued| issued.as_entry()).collect();
                let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
                written.map_err(|error| Failure::failed(format!("{}: {error}", path.display())))?;
                let what = match secrets.len() {
                    1 => "The new secret is".to_owned(),
                    several => format!("{several} new secrets are"),
                };
                Ok(format!("\n{what} in {}, for your eyes only.\n", path.display()))
            }
        }
    }

    /// Nothing came of it: leave no empty file behind.
    pub(super) fn give_up(self) -> Ended {
        match self {
            SecretsTo::Output => Ok(()),
            SecretsTo::File { path, file } => {
                drop(file);
                remove(&path)
            }
        }
    }

    pub(super) fn is_output(&self) -> bool {
        matches!(self, SecretsTo::Output)
    }
}

/// API secrets, those of webhooks and SMPP passwords, each with how it is kept and how to get another.
fn shown(secrets: &[Issued]) -> String {
    let (webhooks, others): (Vec<&Issued>, Vec<&Issued>) =
        secrets.iter().partition(|issued| issued.key.starts_with(WEBHOOKS_OF));
    let (passwords, keys): (Vec<&Issued>, Vec<&Issued>) =
        others.into_iter().partition(|issued| issued.key.starts_with(PASSWORD_OF));
    let lines = |issued: &[&Issued]| -> String {
        let width = issued.iter().map(|issued| issued.key.len()).max().unwrap_or(0);
        issued.iter().map(|Issued { key, secret }| format!("  {key:width$}  {secret}\n")).collect()
    };
    let mut text = String::new();
    if !keys.is_empty() {
        text.push_str("\nNew secrets, shown this once: only a digest of each is kept. hermod key rotate KEY makes another.\n");
        text.push_str(&lines(&keys));
    }
    if let [first, ..] = passwords.as_slice() {
        let connection = first.key.trim_start_matches(PASSWORD_OF);
        text.push_str(&format!(
            "\nNew SMPP passwords, shown this once: only a hash of each is kept. hermod connection set {connection} \
             --password-file FILE gives another.\n{}",
            lines(&passwords)
        ));
    }
    if let [first, ..] = webhooks.as_slice() {
        let account = first.key.trim_start_matches(WEBHOOKS_OF);
        text.push_str(&format!(
            "\nWebhooks are signed with this secret, shown this once: it is kept sealed. hermod webhook secret stage \
             {account} makes another.\n{}",
            lines(&webhooks)
        ));
    }
    text
}

/// A basic string of TOML is written as one of JSON is, as far as keys and secrets go.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

fn remove(path: &Path) -> Ended {
    std::fs::remove_file(path).map_err(|error| Failure::failed(format!("{}: {error}", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_reads_like_one() {
        let applied = r#"{"dry_run": true, "secrets": [], "changes": [
            {"kind": "account", "name": "shop", "effect": "made", "fields": []},
            {"kind": "connection", "name": "shop-http", "effect": "updated",
             "fields": [{"field": "rate", "before": 10, "after": 20}, {"field": "allow", "before": null, "after": ["192.0.2.7"]}]},
            {"kind": "route", "name": "*", "effect": "same", "fields": []},
            {"kind": "key", "name": "old", "effect": "removed", "fields": []}]}"#;
        let applied: Applied = serde_json::from_str(applied).unwrap();
        let expect = "+ account shop\n~ connection shop-http\n    rate: 10 -> 20\n    allow: nothing -> [\"192.0.2.7\"]\n\
                      - key old\n= 1 unchanged\nThis was a dry run: nothing was changed.\n";
        assert_eq!(difference(&applied, Paint::Plain), expect);
    }

    #[test]
    fn secrets_are_shown_with_the_command_that_makes_another() {
        let issued = |key: &str| Issued { key: key.to_owned(), secret: format!("secret of {key}") };
        let text = shown(&[issued("shop-key-1"), issued("webhooks of shop")]);
        let expect = "\nNew secrets, shown this once: only a digest of each is kept. hermod key rotate KEY makes another.\n\
                      \u{20} shop-key-1  secret of shop-key-1\n\
                      \nWebhooks are signed with this secret, shown this once: it is kept sealed. hermod webhook secret \
                      stage shop makes another.\n  webhooks of shop  secret of webhooks of shop\n";
        assert_eq!(text, expect);
        assert!(!shown(&[issued("webhooks of shop")]).contains("digest"));
    }

    #[test]
    fn nothing_to_do_is_said_so() {
        let applied =
            Applied { dry_run: false, changes: Vec::new(), secrets: Vec::new(), warnings: Vec::new() };
        assert_eq!(difference(&applied, Paint::Plain), "Nothing to change.\n");
    }
}
