//! Prints what a request changed, entry by entry, and the generated secrets, which cannot be read again.

use crate::failure::{CommandResult, Failure};
use crate::output::{self, Paint};
use hermod_operator::entry::plan::{Change, Effect, FieldChange, FieldLeft};
use hermod_operator::entry::views::{AppliedView, SecretView};
use serde_json::Value;
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// The prefix of `key` for the secret that signs an account's webhooks.
pub(crate) const WEBHOOKS_OF: &str = "webhooks of ";

/// The prefix of `key` for the SMPP password of a connection.
pub(crate) const PASSWORD_OF: &str = "password of ";

/// The prefix of `key` for the token of an operator.
pub(crate) const TOKEN_OF: &str = "token of operator ";

/// Returns a secret as an entry of a provision file.
fn as_entry(SecretView { key, secret }: &SecretView) -> String {
    let named = |name: &str| format!("name = {}", quoted(name));
    let (kind, name, field) = if let Some(account) = key.strip_prefix(WEBHOOKS_OF) {
        ("account", named(account), "webhook_secret")
    } else if let Some(connection) = key.strip_prefix(PASSWORD_OF) {
        ("connection", named(connection), "password")
    } else if let Some(operator) = key.strip_prefix(TOKEN_OF) {
        ("operator", named(operator), "token")
    } else {
        ("key", format!("key = {}", quoted(key)), "secret")
    };
    format!("[[{kind}]]\n{name}\n{field} = {}\n\n", quoted(secret))
}

/// Returns a line for each entry that changes, and the number of unchanged entries.
pub(super) fn difference(applied: &AppliedView, paint: Paint) -> String {
    let mut text = String::new();
    for Change { kind, name, effect, fields, left } in &applied.changes {
        let what = format!("{kind} {}", output::safe(name));
        match effect {
            Effect::Created => text.push_str(&format!("{}\n", paint.green(&format!("+ {what}")))),
            Effect::Removed => text.push_str(&format!("{}\n", paint.red(&format!("- {what}")))),
            Effect::Updated => {
                text.push_str(&format!("{}\n", paint.yellow(&format!("~ {what}"))));
                for FieldChange { field, before, after } in fields {
                    text.push_str(&format!("    {field}: {} -> {}\n", side(before), side(after)));
                }
            }
            Effect::Left => text.push_str(&format!("! {what} not applied: removed or created again since\n")),
            Effect::Same if !left.is_empty() => text.push_str(&format!("! {what}\n")),
            Effect::Same | Effect::Absent => {}
        }
        for FieldLeft { field, stored, file } in left {
            let (stored, file) = (side(stored), side(file));
            text.push_str(&format!("    {field} stays {stored}, changed since; the file has {file}\n"));
        }
    }
    let count = |wanted: Effect| applied.changes.iter().filter(|change| change.effect == wanted).count();
    let (same, absent, left) = (count(Effect::Same), count(Effect::Absent), count(Effect::Left));
    if applied.changes.iter().any(|change| change.effect == Effect::Left || !change.left.is_empty()) {
        text.push_str(
            "! Fields and entries that were changed since this file was last applied are not applied; --force \
             overwrites them.\n",
        );
    }
    if same + absent + left == applied.changes.len() {
        text.push_str("Nothing to change.\n");
    } else {
        if same > 0 {
            text.push_str(&format!("= {same} unchanged\n"));
        }
        if absent > 0 {
            text.push_str(&format!("  {absent} to remove: not found\n"));
        }
        for warning in &applied.warnings {
            text.push_str(&format!("{}\n", paint.yellow(&format!("Warning: {}.", output::safe(warning)))));
        }
        if applied.dry_run {
            text.push_str("This was a dry run: nothing was changed.\n");
        }
    }
    text
}

/// Returns a value before or after a change.
fn side(value: &Value) -> String {
    match value {
        Value::Null => "nothing".to_owned(),
        Value::String(text) => output::safe(text),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            output::safe(&value.to_string())
        }
    }
}

/// Where generated secrets are written.
pub(super) enum SecretsTo {
    Output,
    File { path: PathBuf, file: std::fs::File },
}

impl SecretsTo {
    /// Creates the file before secrets exist that could be lost. An existing file is an error: it may hold other secrets.
    pub(super) fn prepare(path: Option<&Path>) -> Result<SecretsTo, Failure> {
        let Some(path) = path else { return Ok(SecretsTo::Output) };
        let file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
        let file = file.map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => Failure::usage(format!(
                "{} already exists and may hold other secrets: give a new file",
                path.display()
            )),
            _ => Failure::usage(format!("{}: {error}", path.display())),
        })?;
        Ok(SecretsTo::File { path: path.to_owned(), file })
    }

    /// Writes the secrets to the file as entries of a provision file, or returns the text that prints them.
    pub(super) fn write(self, secrets: &[SecretView]) -> Result<String, Failure> {
        match self {
            SecretsTo::Output if secrets.is_empty() => Ok(String::new()),
            SecretsTo::Output => Ok(secrets_text(secrets)),
            SecretsTo::File { path, file } if secrets.is_empty() => {
                drop(file);
                remove(&path)?;
                Ok(String::new())
            }
            SecretsTo::File { path, mut file } => {
                let text: String = secrets.iter().map(as_entry).collect();
                let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
                written.map_err(|error| Failure::failed(format!("{}: {error}", path.display())))?;
                let what = match secrets.len() {
                    1 => "The new secret is".to_owned(),
                    several => format!("{several} new secrets are"),
                };
                Ok(format!("\n{what} in {}, readable only by you.\n", path.display()))
            }
        }
    }

    /// Removes the file of a request that failed.
    pub(super) fn discard(self) -> CommandResult {
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

/// Returns API secrets, tokens of operators, webhook secrets and SMPP passwords, each with how it is stored and how to get another.
fn secrets_text(secrets: &[SecretView]) -> String {
    let (webhooks, others): (Vec<&SecretView>, Vec<&SecretView>) =
        secrets.iter().partition(|secret| secret.key.starts_with(WEBHOOKS_OF));
    let (passwords, others): (Vec<&SecretView>, Vec<&SecretView>) =
        others.into_iter().partition(|secret| secret.key.starts_with(PASSWORD_OF));
    let (tokens, keys): (Vec<&SecretView>, Vec<&SecretView>) =
        others.into_iter().partition(|secret| secret.key.starts_with(TOKEN_OF));
    let lines = |secrets: &[&SecretView]| -> String {
        let width = secrets.iter().map(|secret| secret.key.len()).max().unwrap_or(0);
        secrets.iter().map(|SecretView { key, secret }| format!("  {key:width$}  {secret}\n")).collect()
    };
    let mut text = String::new();
    if !keys.is_empty() {
        text.push_str("\nNew secrets, shown only now: only a digest of each is stored. hermod key rotate KEY makes another.\n");
        text.push_str(&lines(&keys));
    }
    if let [first, ..] = tokens.as_slice() {
        let operator = first.key.trim_start_matches(TOKEN_OF);
        text.push_str(&format!(
            "\nNew tokens, shown only now: only a digest of each is stored. For another token, hermod operator remove \
             {operator} and hermod operator add {operator} role=ROLE.\n{}",
            lines(&tokens)
        ));
    }
    if let [first, ..] = passwords.as_slice() {
        let connection = first.key.trim_start_matches(PASSWORD_OF);
        text.push_str(&format!(
            "\nNew SMPP passwords, shown only now: only a hash of each is stored. hermod connection set {connection} \
             password=@FILE sets another.\n{}",
            lines(&passwords)
        ));
    }
    if let [first, ..] = webhooks.as_slice() {
        let account = first.key.trim_start_matches(WEBHOOKS_OF);
        text.push_str(&format!(
            "\nWebhooks are signed with this secret, shown only now: it is stored encrypted. hermod webhook secret stage \
             {account} makes another.\n{}",
            lines(&webhooks)
        ));
    }
    text
}

/// Quotes a key or secret; for those, TOML strings are JSON strings.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

fn remove(path: &Path) -> CommandResult {
    std::fs::remove_file(path).map_err(|error| Failure::failed(format!("{}: {error}", path.display())))
}

#[cfg(test)]
#[path = "changes_tests.rs"]
mod tests;
