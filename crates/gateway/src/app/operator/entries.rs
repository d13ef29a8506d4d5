//! Reading and changing the catalogue. Only one change is made at a time: it is planned against what is stored, written
//! in one transaction, and the catalogue it leads to is in force before the next begins.

use crate::app::operator::refusal::OperatorRefusal;
use crate::board::Order;
use crate::provision::{
    self, Change, Kind, Made, Plan, Removal, Wanted, canonical_name, merged, shown, shown_one, wanted_entry,
};
use crate::secrets::{Secret, random_token};
use crate::world::World;
use hermod_domain::ids::ConnectionId;
use hermod_store::CatalogueRow;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::ops::Bound;

/// Entries one page has at most.
pub const PAGE_ENTRIES_MAX: usize = 1_000;
/// Five bits each: 160 bits.
const SECRET_CHARS: usize = 32;

pub type Fields = Map<String, Value>;

/// What a change came to.
#[derive(Debug)]
pub struct Applied {
    /// Nothing was done: this is what would be.
    pub dry_run: bool,
    pub changes: Vec<Change>,
    /// Secrets that were made; nobody can read them again.
    pub secrets: Vec<Made>,
    /// What is done and will not work as somebody may expect.
    pub warnings: Vec<String>,
}

/// One thing, as somebody would have written it.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    pub name: String,
    pub entry: Fields,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    pub items: Vec<Item>,
    /// The name to go on behind, if there is more.
    pub next: Option<String>,
}

/// Which entries somebody wants to see.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listed {
    /// Only what belongs to this account.
    pub account: Option<String>,
    /// Only what stands behind this name.
    pub after: Option<String>,
    pub limit: usize,
}

pub async fn list_entries(world: &World, kind: Kind, listed: &Listed) -> Result<Page, OperatorRefusal> {
    let rows = world.store.catalogue().await?;
    let all = read(&rows, kind)?;
    let owned = Owned::by(listed.account.as_deref(), kind, &rows)?;
    let behind = listed.after.clone().map_or(Bound::Unbounded, Bound::Excluded);
    let mut found =
        all.range::<String, _>((behind, Bound::Unbounded)).filter(|(_, entry)| owned.covers(entry));
    let limit = listed.limit.clamp(1, PAGE_ENTRIES_MAX);
    let items: Vec<Item> = found.by_ref().take(limit).map(|(name, entry)| item(name, entry)).collect();
    let more = found.next().is_some();
    let next = items.last().filter(|_| more).map(|last| last.name.clone());
    Ok(Page { items, next })
}

pub async fn show_entry(world: &World, kind: Kind, name: &str) -> Result<Item, OperatorRefusal> {
    let rows = world.store.catalogue().await?;
    let name = canonical_name(kind, name).map_err(|_| OperatorRefusal::no_such(kind.as_str(), name))?;
    match shown_one(&rows, kind, &name).map_err(provision::ProvisionRefusal::from)? {
        Some(entry) => Ok(Item { name, entry }),
        None => Err(OperatorRefusal::no_such(kind.as_str(), &name)),
    }
}

/// What to do with a thing that is there already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IfThere {
    Replace,
    Refuse,
}

/// What a change of a connection does to its live binds. Those that the change does not admit any more go either way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LiveBinds {
    #[default]
    Keep,
    /// All of them are unbound, so that they have to bind anew.
    Unbind,
}

/// Makes the thing, or replaces all of it.
pub async fn put_entry(
    world: &World,
    kind: Kind,
    name: &str,
    fields: Fields,
    if_there: IfThere,
    binds: LiveBinds,
) -> Result<(Applied, Item), OperatorRefusal> {
    let (name, wanted) = wanted_entry(kind, name, fields)?;
    let wanted = wanted.judged_by(world.webhook_rules.clone());
    let _alone = world.changing.lock().await;
    let rows = world.store.catalogue().await?;
    let there = |row: &CatalogueRow| row.kind == kind.as_str() && row.name == name;
    if if_there == IfThere::Refuse && rows.iter().any(there) {
        return Err(OperatorRefusal::ThereAlready { kind: kind.as_str(), name });
    }
    let plan = provision::prepare_over(rows, &world.pepper, &wanted, world.clock.now())?;
    carry_out_showing(world, plan, kind, name, binds).await
}

/// Changes the fields that are named, as RFC 7396 says.
pub async fn patch_entry(
    world: &World,
    kind: Kind,
    name: &str,
    patch: Fields,
    binds: LiveBinds,
) -> Result<(Applied, Item), OperatorRefusal> {
    let _alone = world.changing.lock().await;
    let rows = world.store.catalogue().await?;
    let name = canonical_name(kind, name).map_err(|_| OperatorRefusal::no_such(kind.as_str(), name))?;
    provision::check_fields(kind, &patch)?;
    let before = shown_one(&rows, kind, &name).map_err(provision::ProvisionRefusal::from)?;
    let before = before.ok_or_else(|| OperatorRefusal::no_such(kind.as_str(), &name))?;
    let (name, wanted) = wanted_entry(kind, &name, merged(before, patch))?;
    let wanted = wanted.judged_by(world.webhook_rules.clone());
    let plan = provision::prepare_over(rows, &world.pepper, &wanted, world.clock.now())?;
    carry_out_showing(world, plan, kind, name, binds).await
}

pub async fn remove_entry(world: &World, kind: Kind, name: &str) -> Result<Applied, OperatorRefusal> {
    let name = canonical_name(kind, name)?;
    let wanted = Wanted::removing(Removal { kind, name: name.clone() });
    let applied = apply_wanted(world, &wanted, false).await?;
    if applied.changes.iter().all(|change| change.effect == provision::Effect::Absent) {
        return Err(OperatorRefusal::no_such(kind.as_str(), &name));
    }
    Ok(applied)
}

/// Brings the catalogue to what is wanted, or says what that would change.
pub async fn apply_wanted(world: &World, wanted: &Wanted, dry_run: bool) -> Result<Applied, OperatorRefusal> {
    let _alone = world.changing.lock().await;
    let wanted = wanted.clone().judged_by(world.webhook_rules.clone());
    let plan = provision::prepare(&world.store, &world.pepper, &wanted, world.clock.now()).await?;
    if dry_run {
        // A secret that was made for a plan nobody carries out would only mislead.
        let Plan { changes, warnings, .. } = plan;
        return Ok(Applied { dry_run, changes, secrets: Vec::new(), warnings });
    }
    carry_out(world, plan).await
}

/// Gives a key a new secret; the old one opens nothing any more.
pub async fn rotate_key(world: &World, key: &str) -> Result<Applied, OperatorRefusal> {
    let made = random_token(SECRET_CHARS).map_err(|error| {
        tracing::error!(%error, "There is no randomness for a secret");
        OperatorRefusal::Failed
    })?;
    let patch = Fields::from_iter([("secret".to_owned(), Value::String(made.clone()))]);
    let (mut applied, _) = patch_entry(world, Kind::Key, key, patch, LiveBinds::Keep).await?;
    applied.secrets.push(Made { key: key.to_owned(), secret: Secret::new(made) });
    Ok(applied)
}

/// Carries a plan out, with the thing as the plan leaves it: somebody else may have removed it by the time of an answer.
async fn carry_out_showing(
    world: &World,
    plan: Plan,
    kind: Kind,
    name: String,
    binds: LiveBinds,
) -> Result<(Applied, Item), OperatorRefusal> {
    let entry = plan.shown(kind, &name).map_err(provision::ProvisionRefusal::from)?;
    let entry = entry.ok_or(OperatorRefusal::Failed)?;
    let number = plan.number(kind, &name);
    let applied = carry_out(world, plan).await?;
    if binds == LiveBinds::Unbind
        && let Some(connection) = number.filter(|_| kind == Kind::Connection).map(ConnectionId::new)
    {
        world.binds.of_connection(connection).iter().for_each(|bind| bind.order(Order::Unbind));
    }
    Ok((applied, Item { name, entry }))
}

/// Whoever calls holds [`World::changing`].
pub(super) async fn carry_out(world: &World, plan: Plan) -> Result<Applied, OperatorRefusal> {
    provision::carry_out(&world.store, &plan, world.clock.now()).await?;
    let Plan { changes, secrets, catalogue, warnings, .. } = plan;
    world.set_catalogue(catalogue);
    for change in changes.iter().filter(|change| change.effect.is_change()) {
        tracing::info!(kind = %change.kind, name = change.name, effect = change.effect.as_str(), "Changed by the operator");
    }
    Ok(Applied { dry_run: false, changes, secrets, warnings })
}

fn read(rows: &[CatalogueRow], kind: Kind) -> Result<BTreeMap<String, Fields>, OperatorRefusal> {
    Ok(shown(rows, kind).map_err(provision::ProvisionRefusal::from)?)
}

fn item(name: &str, entry: &Fields) -> Item {
    Item { name: name.to_owned(), entry: entry.clone() }
}

/// Which entries are an account's.
enum Owned {
    All,
    /// The field that names the owner, and whom it may name.
    Those(&'static str, Vec<String>),
}

impl Owned {
    fn by(account: Option<&str>, kind: Kind, rows: &[CatalogueRow]) -> Result<Owned, OperatorRefusal> {
        let Some(account) = account else { return Ok(Owned::All) };
        match kind {
            Kind::Route
            | Kind::Price
            | Kind::Sender
            | Kind::Number
            | Kind::Connection
            | Kind::Screen
            | Kind::Control => Ok(Owned::Those("account", vec![account.to_owned()])),
            // A key belongs to a connection, which belongs to an account.
            Kind::Key => {
                let connections = read(rows, Kind::Connection)?.into_iter();
                let own = connections.filter(|(_, entry)| names(entry, "account") == Some(account));
                Ok(Owned::Those("connection", own.map(|(name, _)| name).collect()))
            }
            Kind::Carrier | Kind::Account => Err(OperatorRefusal::InvalidField {
                field: "account",
                rule: format!("{} belong to no account", kind.plural()),
            }),
        }
    }

    fn covers(&self, entry: &Fields) -> bool {
        match self {
            Owned::All => true,
            Owned::Those(field, owners) => {
                names(entry, field).is_some_and(|named| owners.iter().any(|owner| owner == named))
            }
        }
    }
}

fn names<'a>(entry: &'a Fields, field: &str) -> Option<&'a str> {
    entry.get(field).and_then(Value::as_str)
}
