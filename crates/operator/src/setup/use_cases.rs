//! Reading and changing the catalogue. Changes are serialized: each is planned against what is stored, written in one
//! transaction, and in force before the next one begins.

use crate::author::Acting;
use crate::entry::carry_out::execute_plan;
use crate::entry::export::{exported, shown, shown_one};
use crate::entry::names::canonical_name;
use crate::entry::plan::{Effect, Plan};
use crate::entry::views::{
    AppliedView, ApplyQuery, EntriesOfAccount, EntriesQuery, EntryView, ExportQuery, Fields, ImportQuery,
    SaveQuery, SavedEntryView,
};
use crate::export::{FileForm, TextFile};
use crate::input::invalid;
use crate::kind::Kind;
use crate::node_query::NodeQuery;
use crate::queue;
use crate::refusal::{OperatorRefusal, ProvisionRefusal, Result};
use crate::setup::csv_file::FileOfKind;
use crate::setup::file_entries::{Removal, WantedSetup};
use crate::setup::json::{check_fields, merged, wanted_entry};
use crate::setup::provision_export::Extent;
use crate::setup::{self, csv_file, provision_export};
use crate::views::Created;
use crate::views::paging::{Limit, Page};
use hermod_domain::ids::ConnectionId;
use hermod_gateway::gateway::Gateway;
use hermod_gateway::node_messages::query_others;
use hermod_store::CatalogueRow;
use serde_json::Value;
use std::collections::BTreeMap;
use std::ops::Bound;
use std::time::Duration;

/// How long an offer to move what waits may take, after a change of routes.
const OFFER_MAX: Duration = Duration::from_secs(5);

/// Lists entries of a kind in the order of their names.
pub async fn list_entries(gateway: &Gateway, kind: Kind, query: EntriesQuery) -> Result<Page<EntryView>> {
    let rows = gateway.store.setup().rows().await?;
    let all = read(&rows, kind)?;
    let filter = AccountFilter::new(query.account.as_deref(), kind, &rows)?;
    let after = query.after.map_or(Bound::Unbounded, Bound::Excluded);
    let mut found =
        all.range::<String, _>((after, Bound::Unbounded)).filter(|(_, entry)| filter.includes(entry));
    let limit = u32::from(query.limit.unwrap_or(Limit::MAX));
    let page = found.by_ref().take(usize::try_from(limit).unwrap_or(usize::MAX));
    let items: Vec<EntryView> =
        page.map(|(name, entry)| EntryView { name: name.clone(), entry: entry.clone() }).collect();
    let has_more = found.next().is_some();
    let next = items.last().filter(|_| has_more).map(|last| last.name.clone());
    Ok(Page { items, next })
}

pub async fn show_entry(gateway: &Gateway, kind: Kind, name: &str) -> Result<EntryView> {
    let rows = gateway.store.setup().rows().await?;
    let name = canonical_name(kind, name).map_err(|_| OperatorRefusal::no_such(kind.as_str(), name))?;
    match shown_one(&rows, kind, &name).map_err(ProvisionRefusal::from)? {
        Some(entry) => Ok(EntryView { name, entry }),
        None => Err(OperatorRefusal::no_such(kind.as_str(), &name)),
    }
}

/// What to do if the entry exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IfExists {
    Replace,
    Refuse,
}

/// Creates the entry, or replaces it as a whole.
pub async fn put_entry(
    gateway: &Acting,
    kind: Kind,
    name: &str,
    query: &SaveQuery,
    if_exists: IfExists,
    fields: Fields,
) -> Result<Created<SavedEntryView>> {
    check_binds(kind, query)?;
    let (name, wanted) = wanted_entry(kind, name, fields)?;
    let wanted = wanted.judged_by(gateway.webhook_rules.clone());
    let _alone = gateway.change_alone().await?;
    let rows = gateway.store.setup().rows().await?;
    let is_entry = |row: &CatalogueRow| row.kind == kind.as_str() && row.name == name;
    if if_exists == IfExists::Refuse && rows.iter().any(is_entry) {
        return Err(OperatorRefusal::AlreadyExists { kind: kind.as_str(), name });
    }
    let uses = gateway.store.setup().entry_uses().await?;
    let plan = setup::prepare_over(rows, uses, &gateway.pepper, &wanted, gateway.clock.now())?;
    let saved = execute_plan_of_entry(gateway, plan, kind, name, query).await?;
    let is_new = saved.applied.has_created(kind, &saved.entry.name);
    Ok(Created { view: saved, is_new })
}

/// Applies a JSON merge patch (RFC 7396) to an entry.
pub async fn patch_entry(
    gateway: &Acting,
    kind: Kind,
    name: &str,
    query: &SaveQuery,
    patch: Fields,
) -> Result<SavedEntryView> {
    check_binds(kind, query)?;
    change_entry(gateway, kind, name, query, |_| Ok(patch)).await
}

/// Applies a JSON merge patch that follows from the entry as it is. No other change comes between.
pub(crate) async fn change_entry(
    gateway: &Acting,
    kind: Kind,
    name: &str,
    query: &SaveQuery,
    patch_of: impl FnOnce(&Fields) -> Result<Fields>,
) -> Result<SavedEntryView> {
    let _alone = gateway.change_alone().await?;
    let rows = gateway.store.setup().rows().await?;
    let (name, plan) = plan_patch(gateway, rows, kind, name, patch_of)?;
    execute_plan_of_entry(gateway, plan, kind, name, query).await
}

/// Plans a JSON merge patch that follows from the entry as it is. Returns its canonical name and the plan.
pub(crate) fn plan_patch(
    gateway: &Gateway,
    rows: Vec<CatalogueRow>,
    kind: Kind,
    name: &str,
    patch_of: impl FnOnce(&Fields) -> Result<Fields>,
) -> Result<(String, Plan)> {
    let name = canonical_name(kind, name).map_err(|_| OperatorRefusal::no_such(kind.as_str(), name))?;
    let before = shown_one(&rows, kind, &name).map_err(ProvisionRefusal::from)?;
    let before = before.ok_or_else(|| OperatorRefusal::no_such(kind.as_str(), &name))?;
    let patch = patch_of(&before)?;
    check_fields(kind, &patch)?;
    let (name, wanted) = wanted_entry(kind, &name, merged(before, patch))?;
    let wanted = wanted.judged_by(gateway.webhook_rules.clone());
    Ok((name, setup::prepare_over(rows, Vec::new(), &gateway.pepper, &wanted, gateway.clock.now())?))
}

pub async fn remove_entry(gateway: &Acting, kind: Kind, name: &str) -> Result<AppliedView> {
    let name = canonical_name(kind, name)?;
    let wanted = WantedSetup::removing(Removal { kind, name: name.clone() });
    let applied = apply_file(gateway, &ApplyQuery::default(), wanted).await?;
    if applied.changes.iter().all(|change| change.effect == Effect::Absent) {
        return Err(OperatorRefusal::no_such(kind.as_str(), &name));
    }
    Ok(applied)
}

/// Applies a provision file, or returns what that would change.
pub async fn apply_file(gateway: &Acting, query: &ApplyQuery, wanted: WantedSetup) -> Result<AppliedView> {
    let ApplyQuery { dry_run, force } = *query;
    let _alone = gateway.change_alone().await?;
    let wanted = wanted.forced(force).judged_by(gateway.webhook_rules.clone());
    let plan = setup::prepare(&gateway.store, &gateway.pepper, &wanted, gateway.clock.now()).await?;
    if dry_run { Ok(would_apply(plan)) } else { execute(gateway, plan).await }
}

/// Executes a plan. After a change of routes, offers to move what waits for carriers that they do not choose any more.
async fn execute(gateway: &Acting, plan: Plan) -> Result<AppliedView> {
    let mut changes = plan.changes.iter();
    let changes_routes = changes.any(|change| change.kind == Kind::Route && change.effect.is_change());
    let before = gateway.catalogue();
    let mut applied = execute_plan(gateway, plan).await?;
    if changes_routes {
        // Other changes of the setup wait meanwhile.
        let offers = tokio::select! {
            offers = queue::offer_to_reroute(gateway, &before) => offers,
            () = gateway.clock.sleep(OFFER_MAX) => Ok(Vec::new()),
        };
        match offers {
            Ok(offers) => applied.warnings.extend(offers),
            // The change is made: it must not be answered with an error.
            Err(error) => {
                tracing::warn!(%error, "What waits for carriers could not be counted after a change of routes")
            }
        }
    }
    Ok(applied)
}

/// Returns what a plan would change.
fn would_apply(plan: Plan) -> AppliedView {
    // The secrets of a plan that is not executed do not exist.
    let Plan { changes, warnings, .. } = plan;
    AppliedView::new(true, changes, Vec::new(), warnings)
}

/// Returns the entries of these kinds that are in force as a provision file, without secrets.
pub(crate) async fn export_setup(gateway: &Gateway, kinds: &[Kind], query: &ExportQuery) -> Result<TextFile> {
    let ExportQuery { kinds: _, account, full } = query;
    let extent = if *full { Extent::Full } else { Extent::Told };
    let rows = gateway.store.setup().rows().await?;
    let account = account.as_deref();
    if let Some(name) = account.filter(|name| !rows.iter().any(|row| is_account(row, name))) {
        return Err(OperatorRefusal::no_such("account", name));
    }
    let mut filters = BTreeMap::new();
    for kind in kinds.iter().filter(|kind| account.is_none() || kind.owner_field().is_some()) {
        filters.insert(*kind, AccountFilter::new(account, *kind, &rows)?);
    }
    let includes = |kind: Kind, name: &str, entry: &Fields| match filters.get(&kind) {
        Some(filter) => filter.includes(entry),
        // Kinds without an owner: of one account there is the account itself.
        None => kind == Kind::Account && account == Some(name),
    };
    let text = provision_export::written(&rows, kinds, extent, includes)?;
    Ok(TextFile { form: FileForm::Toml, name: "provision", text })
}

/// Parses the names of kinds, separated by commas.
pub(crate) fn kinds_named(names: &str) -> Result<Vec<Kind>> {
    let known = || Kind::ALL.map(Kind::as_str).join(", ");
    let unknown = |name: &str| invalid("kinds", format!("\"{name}\" is none of {}", known()));
    names.split(',').map(|name| Kind::named(name).ok_or_else(|| unknown(name))).collect()
}

fn is_account(row: &CatalogueRow, name: &str) -> bool {
    row.kind == Kind::Account.as_str() && row.name == name
}

/// Returns the entries of a kind as a CSV file, without secrets.
pub async fn export_entries(gateway: &Gateway, kind: Kind, query: EntriesOfAccount) -> Result<TextFile> {
    let rows = gateway.store.setup().rows().await?;
    let filter = AccountFilter::new(query.account.as_deref(), kind, &rows)?;
    let all = exported(&rows, kind).map_err(ProvisionRefusal::from)?;
    let text = csv_file::written(kind, all.values().filter(|entry| filter.includes(entry)));
    Ok(TextFile { form: FileForm::Csv, name: kind.plural(), text })
}

/// Creates and changes the entries of a CSV file, or returns what that would change. Removes none. Like a request, and unlike a
/// provision file, it sets what it says, and the next provision file finds the fields changed.
pub(crate) async fn import_entries(
    gateway: &Acting,
    query: &ImportQuery,
    mut file: FileOfKind,
) -> Result<AppliedView> {
    let wanted = std::mem::take(&mut file.wanted);
    file.wanted = wanted.forced(true).judged_by(gateway.webhook_rules.clone());
    let _alone = gateway.change_alone().await?;
    let (rows, uses) = (gateway.store.setup().rows().await?, gateway.store.setup().entry_uses().await?);
    let plan = setup::prepare_over(rows, uses, &gateway.pepper, &file.wanted, gateway.clock.now());
    let plan = plan.map_err(|refusal| file.placed(refusal))?;
    if query.dry_run { Ok(would_apply(plan)) } else { execute(gateway, plan).await }
}

/// Rejects a query to unbind what has no binds.
fn check_binds(kind: Kind, query: &SaveQuery) -> Result<()> {
    if query.unbind != Some(true) || kind == Kind::Connection {
        return Ok(());
    }
    Err(invalid("unbind", format!("a {kind} has no binds; only connections have")))
}

/// Executes a plan and returns the entry as the plan leaves it.
async fn execute_plan_of_entry(
    gateway: &Acting,
    plan: Plan,
    kind: Kind,
    name: String,
    query: &SaveQuery,
) -> Result<SavedEntryView> {
    let entry = plan.shown(kind, &name).map_err(ProvisionRefusal::from)?;
    let entry = entry.ok_or(OperatorRefusal::Failed)?;
    let number = plan.number(kind, &name);
    let mut applied = execute(gateway, plan).await?;
    if query.unbind == Some(true)
        && let Some(connection) = number.filter(|_| kind == Kind::Connection).map(ConnectionId::new)
    {
        gateway.binds.unbind_all(connection);
        let missing = query_others(gateway, NodeQuery::UnbindAll(connection)).await.missing;
        let warning = |node| format!("node {node} did not answer: binds of {name} there were not unbound");
        applied.warnings.extend(missing.into_iter().map(warning));
    }
    Ok(SavedEntryView { entry: EntryView { name, entry }, applied })
}

fn read(rows: &[CatalogueRow], kind: Kind) -> Result<BTreeMap<String, Fields>> {
    Ok(shown(rows, kind).map_err(ProvisionRefusal::from)?)
}

/// Which entries belong to an account.
enum AccountFilter {
    All,
    /// The field that names the owner, and the owners that are included.
    Owners(&'static str, Vec<String>),
    /// Users with a role in this account.
    Members(String),
}

impl AccountFilter {
    fn new(account: Option<&str>, kind: Kind, rows: &[CatalogueRow]) -> Result<AccountFilter> {
        let Some(account) = account else { return Ok(AccountFilter::All) };
        match kind.owner_field() {
            // A key belongs to a connection, which belongs to an account.
            Some("connection") => {
                let connections = read(rows, Kind::Connection)?.into_iter();
                let own = connections.filter(|(_, entry)| names(entry, "account") == Some(account));
                Ok(AccountFilter::Owners("connection", own.map(|(name, _)| name).collect()))
            }
            Some("accounts") => Ok(AccountFilter::Members(account.to_owned())),
            Some(owner) => Ok(AccountFilter::Owners(owner, vec![account.to_owned()])),
            None => Err(invalid("account", format!("{} belong to no account", kind.in_words()))),
        }
    }

    fn includes(&self, entry: &Fields) -> bool {
        match self {
            AccountFilter::All => true,
            AccountFilter::Owners(field, owners) => {
                names(entry, field).is_some_and(|named| owners.iter().any(|owner| owner == named))
            }
            AccountFilter::Members(account) => {
                let roles = entry.get("accounts").and_then(Value::as_array).into_iter().flatten();
                roles.into_iter().any(|role| role.get("account").and_then(Value::as_str) == Some(account))
            }
        }
    }
}

fn names<'a>(entry: &'a Fields, field: &str) -> Option<&'a str> {
    entry.get(field).and_then(Value::as_str)
}
