//! `hermod KIND list`, `show`, `set`, `add`, `remove`, `export` and `import` for every kind of entry, from the description of the
//! kind.

use super::account_details;
use super::changes::SecretsTo;
use super::entries;
use super::entry_files::{self, ImportArgs};
use super::fields::{AssignmentParser, EntryFields, fields_help, first_sentence};
use super::list::ListFormat;
use super::operator_client::with_query;
use super::own_verbs::{KindHelp, RunVerb, Switch, switches, verb_of};
use super::target::{MissingDir, TargetArgs};
use crate::failure::CommandResult;
use clap::error::{Error, ErrorKind};
use clap::{Arg, ArgAction, ArgMatches, Args as _, Command, FromArgMatches, Subcommand, value_parser};
use hermod_operator::entry::fields::fields_of;
use hermod_operator::entry::views::SaveQuery;
use hermod_operator::kind::Kind;
use hermod_operator::setup::csv_file;
use std::path::PathBuf;

/// A command about entries of one kind.
pub(crate) struct EntryCommand {
    target: TargetArgs,
    run: RunVerb,
}

impl Subcommand for EntryCommand {
    fn augment_subcommands(command: Command) -> Command {
        command.subcommands(Kind::ALL.map(command_of))
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        Self::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        kind_of_command(name).is_some()
    }
}

fn kind_of_command(name: &str) -> Option<Kind> {
    Kind::ALL.into_iter().find(|kind| kind.command() == name)
}

impl FromArgMatches for EntryCommand {
    fn from_arg_matches(matches: &ArgMatches) -> Result<EntryCommand, Error> {
        let named = matches.subcommand().and_then(|(name, matches)| Some((kind_of_command(name)?, matches)));
        let (kind, matches) = named.ok_or_else(|| Error::new(ErrorKind::MissingSubcommand))?;
        Ok(EntryCommand { target: TargetArgs::from_arg_matches(matches)?, run: read_verb(kind, matches)? })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

fn command_of(kind: Kind) -> Command {
    let command = Command::new(kind.command())
        .about(first_sentence(kind.about()))
        .after_help(KindHelp::of(kind).text)
        .subcommand_required(true)
        .arg_required_else_help(true);
    let mut command = TargetArgs::augment_args(command)
        .subcommand(list_command(kind))
        .subcommand(
            verb(kind, "show", format!("Show all fields of {}", kind.with_article())).arg(name_arg(kind)),
        )
        .subcommand(change_command(kind, "set", format!("Create or change {}", kind.with_article())))
        .subcommand(change_command(
            kind,
            "add",
            format!("Create {}; fails if it exists", kind.with_article()),
        ));
    let about = match kind.instead_of_removing() {
        None => format!("Remove {}", kind.with_article()),
        Some(_) => format!("Remove {} that was never used", kind.with_article()),
    };
    command = command.subcommand(verb(kind, "remove", about).arg(name_arg(kind)));
    command = command.subcommand(export_command(kind)).subcommand(import_command(kind));
    for switch in switches(kind) {
        command = command.subcommand(verb(kind, switch.verb, switch.about.to_owned()).arg(name_arg(kind)));
    }
    (KindHelp::of(kind).augment)(command)
}

/// Returns a command with the examples of the kind that show it.
fn verb(kind: Kind, verb: &'static str, about: String) -> Command {
    Command::new(verb).about(about).after_help(examples(kind, verb))
}

fn examples(kind: Kind, verb: &str) -> String {
    let shown = format!("  hermod {} {verb}", kind.command());
    let is_of_verb = |line: &str| line == shown || line.starts_with(&format!("{shown} "));
    let mut found = String::new();
    let mut continues = false;
    for line in KindHelp::of(kind).text.lines() {
        if is_of_verb(line) || continues {
            found.push_str(&format!("\n{line}"));
            continues = line.ends_with('\\');
        }
    }
    if found.is_empty() {
        let (_, name) = kind.name_form();
        let rest = match verb {
            "list" => String::new(),
            "set" | "add" => format!(" {name} FIELD=VALUE"),
            "export" => format!(" > {}.csv", kind.path()),
            "import" => format!(" {}.csv --dry-run", kind.path()),
            _ => format!(" {name}"),
        };
        found = format!("\n{shown}{rest}");
    }
    format!("Examples:{found}")
}

fn list_command(kind: Kind) -> Command {
    let command = verb(kind, "list", format!("List {}", kind.in_words()));
    let command = with_account(kind, ListFormat::augment_args(command));
    if !has_start(kind) {
        return command;
    }
    let help = format!("Mark the {} that apply at this UTC day or time, such as 2027-01-01", kind.in_words());
    command.arg(Arg::new("at").long("at").value_name("TIME").help(help))
}

/// Whether the entries apply from a time on, which their names have.
fn has_start(kind: Kind) -> bool {
    fields_of(kind).iter().any(|field| field.name == "from" && field.is_in_name)
}

/// Adds the option that selects an account, for kinds whose entries belong to one.
fn with_account(kind: Kind, command: Command) -> Command {
    if kind.owner_field().is_none() {
        return command;
    }
    let account = Arg::new("account").long("account").value_name("NAME");
    command.arg(account.help("Only entries of this account"))
}

fn export_command(kind: Kind) -> Command {
    let about = format!("Print {} as a CSV file that import reads, without secrets", kind.in_words());
    let command = with_account(kind, verb(kind, "export", about));
    command.after_help(format!("{}\n\n{}", examples(kind, "export"), entry_files::EXPORT_NOTE))
}

fn import_command(kind: Kind) -> Command {
    let about =
        format!("Create and change {} by a CSV file, all of it or nothing; removes none", kind.in_words());
    let command = ImportArgs::augment_args(verb(kind, "import", about));
    let names: Vec<&str> = csv_file::columns(kind).map(|field| field.name.as_str()).collect();
    let help = format!(
        "{}\n\nColumns, in any order: {}.\n\n{}",
        examples(kind, "import"),
        names.join(", "),
        entry_files::IMPORT_NOTE
    );
    command.after_help(help)
}

fn name_arg(kind: Kind) -> Arg {
    let (form, _) = kind.name_form();
    Arg::new("name")
        .value_name("NAME")
        .required(true)
        .help(form.replace('`', "").trim_end_matches('.').to_owned())
}

fn change_command(kind: Kind, name: &'static str, about: String) -> Command {
    let fields = Arg::new("fields")
        .value_name("FIELD=VALUE")
        .help("Fields to set, as in a provision file")
        .num_args(1..)
        .action(ArgAction::Append)
        .required(name == "set")
        .value_parser(AssignmentParser(kind))
        .hide_possible_values(true);
    let mut command = verb(kind, name, about).arg(name_arg(kind)).arg(fields);
    let help = format!("{}\n\n{}", examples(kind, name), fields_help(kind));
    command = command.after_help(help);
    if makes_secrets(kind) {
        let file =
            Arg::new("secrets_to").long("secrets-to").value_name("FILE").value_parser(value_parser!(PathBuf));
        command = command.arg(
            file.help("Write a generated secret to this file, readable only by you, instead of printing it"),
        );
    }
    if kind == Kind::Connection && name == "set" {
        let unbind = Arg::new("unbind").long("unbind").action(ArgAction::SetTrue);
        command = command.arg(unbind.help("Also unbind all live binds"));
    }
    command
}

/// Whether an entry without a secret gets a generated one.
fn makes_secrets(kind: Kind) -> bool {
    kind != Kind::Carrier && fields_of(kind).iter().any(|field| field.is_secret)
}

/// Reads a verb and its arguments.
fn read_verb(kind: Kind, matches: &ArgMatches) -> Result<RunVerb, Error> {
    let (verb, given) = matches.subcommand().ok_or_else(|| Error::new(ErrorKind::MissingSubcommand))?;
    let text = |name: &str| given.try_get_one::<String>(name).ok().flatten().cloned();
    let (name, account) = (text("name").unwrap_or_default(), text("account"));
    let assignments = given.try_get_many::<String>("fields").ok().flatten();
    let assignments: Vec<String> = assignments.into_iter().flatten().cloned().collect();
    let secrets_to = given.try_get_one::<PathBuf>("secrets_to").ok().flatten().cloned();
    Ok(match verb {
        "list" => {
            let (at, ListFormat { csv }) = (text("at"), ListFormat::from_arg_matches(given)?);
            verb_of(async move |client| entries::list(client, kind, account, at.as_deref(), csv).await)
        }
        "export" => verb_of(async move |client| entry_files::export(client, kind, account).await),
        "import" => {
            let import = ImportArgs::from_arg_matches(given)?;
            verb_of(async move |client| import.run(client, kind).await)
        }
        "show" if kind == Kind::Account => {
            verb_of(async move |client| account_details::show(client, &name).await)
        }
        "show" => verb_of(async move |client| entries::show(client, kind, &name).await),
        "set" => {
            let unbind = given.try_get_one::<bool>("unbind").ok().flatten() == Some(&true);
            verb_of(async move |client| {
                let fields = EntryFields::parse(kind, &assignments)?;
                let query = SaveQuery { unbind: unbind.then_some(true) };
                let path = with_query(&entries::path(kind, &name), &query);
                entries::set(client, &path, fields, SecretsTo::prepare(secrets_to.as_deref())?).await
            })
        }
        "add" => verb_of(async move |client| {
            let fields = EntryFields::parse(kind, &assignments)?;
            entries::create(client, kind, &name, fields, secrets_to.as_deref()).await
        }),
        "remove" => verb_of(async move |client| entries::remove(client, kind, &name).await),
        verb => match switches(kind).find(|switch| switch.verb == verb) {
            Some(Switch { field, value, .. }) => verb_of(async move |client| {
                entries::patch(client, kind, &name, EntryFields::one(field, *value)).await
            }),
            None => (KindHelp::of(kind).read)(matches)?,
        },
    })
}

impl EntryCommand {
    pub(crate) fn run(self) -> CommandResult {
        self.target.run(MissingDir::Refuse, async move |client| (self.run)(client).await)
    }
}
