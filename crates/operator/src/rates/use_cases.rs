//! Plans and applies rate sheets, lists those that were applied, and takes the last one back.

use crate::author::Acting;
use crate::cost::WantedCost;
use crate::entry::carry_out::execute_plan_noted;
use crate::entry::documents;
use crate::find::find_carrier;
use crate::kind::Kind;
use crate::rates::kept::{KEPT_MAX, KeptSheet, KeptSheets, changes_of};
use crate::rates::losses::{self, Losses};
use crate::rates::plan::{self, RatePlan};
use crate::rates::rows::{self, ReadSheet};
use crate::rates::traffic::with_traffic;
use crate::rates::upload::RateSheetFile;
use crate::rates::views::{
    RateChangeView, RatePlanView, RateSheetQuery, RateSheetView, RateSheetsView, RowProblemView, UndoQuery,
    UndoneView,
};
use crate::refusal::{OperatorRefusal, ProvisionRefusal, Result};
use crate::setup;
use crate::setup::file_entries::{Removal, WantedSetup};
use crate::views::amount::Amount;
use bytes::Bytes;
use hermod_domain::catalogue::{Catalogue, Cost};
use hermod_domain::hex::hex;
use hermod_domain::ids::CarrierId;
use hermod_domain::rate_profile::{RateProfile, SheetMode};
use hermod_domain::time::Timestamp;
use hermod_gateway::gateway::Gateway;
use hermod_store::CatalogueRow;
use serde_json::json;
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;

/// Changes and losses that are listed unless the request says how many.
const LISTED: u32 = 200;
const LISTED_MAX: u32 = 250_000;
const FILE_CHARS_MAX: usize = 200;

/// Plans a rate sheet against the costs of its carrier, and applies the plan if the request says so.
pub async fn import_rates(
    gateway: &Acting,
    carrier: &str,
    query: &RateSheetQuery,
    file: RateSheetFile,
) -> Result<RatePlanView> {
    let id = find_carrier(gateway, carrier)?;
    check(query)?;
    // A plan alone does not hold changes up.
    let _alone = if query.apply { Some(gateway.change_alone().await?) } else { None };
    let rows = gateway.store.setup().rows().await?;
    let sheet = Sheet { carrier: carrier.to_owned(), id, file: file.0, query: query.clone() };
    let (catalogue, now) = (gateway.catalogue(), gateway.clock.now());
    // Reading and comparing 100,000 rows takes a second.
    let planned = tokio::task::spawn_blocking(move || {
        let planned = sheet.plan(&rows, &catalogue, now);
        (planned, sheet, rows)
    });
    let (planned, sheet, rows) = planned.await.map_err(|_| OperatorRefusal::Failed)?;
    let planned = planned?;
    let mut view = planned.view(&sheet);
    (view.losses, view.losses_found) = with_traffic(gateway, &planned.losses, listed(query)).await;
    if query.plan.as_ref().is_some_and(|plan| *plan != planned.digest) {
        let sentence = "has another plan now: its profile or the costs were changed; look at the plan again";
        return Err(ProvisionRefusal::about("the sheet", sentence).into());
    }
    if query.apply && planned.plan.counts.changes() > 0 {
        apply(gateway, &sheet, &planned, rows, now).await?;
        view.applied = true;
    }
    Ok(view)
}

fn check(query: &RateSheetQuery) -> Result<()> {
    if query.mode.as_deref().is_some_and(|mode| mode_named(mode).is_none()) {
        return Err(crate::input::invalid("mode", "must be full or partial"));
    }
    if query.file.as_ref().is_some_and(|file| file.chars().count() > FILE_CHARS_MAX) {
        return Err(crate::input::invalid("file", format!("has at most {FILE_CHARS_MAX} characters")));
    }
    if query.listed.is_some_and(|listed| listed > LISTED_MAX) {
        return Err(crate::input::invalid("listed", format!("must be at most {LISTED_MAX}")));
    }
    Ok(())
}

fn listed(query: &RateSheetQuery) -> usize {
    usize::try_from(query.listed.unwrap_or(LISTED)).unwrap_or(usize::MAX)
}

fn mode_named(mode: &str) -> Option<SheetMode> {
    match mode {
        "full" => Some(SheetMode::Full),
        "partial" => Some(SheetMode::Partial),
        _ => None,
    }
}

const fn mode_text(mode: SheetMode) -> &'static str {
    match mode {
        SheetMode::Full => "full",
        SheetMode::Partial => "partial",
    }
}

/// A sheet that is to be planned.
struct Sheet {
    carrier: String,
    id: CarrierId,
    file: Bytes,
    query: RateSheetQuery,
}

/// The plan of a sheet, and what follows from it.
struct PlannedSheet {
    read: ReadSheet,
    plan: RatePlan,
    losses: Losses,
    mode: SheetMode,
    sha256: String,
    digest: String,
}

impl Sheet {
    fn plan(&self, rows: &[CatalogueRow], catalogue: &Catalogue, now: Timestamp) -> Result<PlannedSheet> {
        let profile = self.profile(rows)?;
        let costs = rows.iter().filter(|row| row.kind == Kind::Cost.as_str());
        let costs =
            costs.map(documents::read).collect::<Result<Vec<Cost>, _>>().map_err(ProvisionRefusal::from)?;
        let stored = plan::costs_of(costs, self.id);
        let read = rows::read(&self.file, &profile)?;
        let plan = plan::plan(stored.clone(), &read, &profile, now);
        let losses = losses::find(catalogue, self.id, &stored, &plan.planned);
        let losses = losses.map_err(|refusal| ProvisionRefusal::about("the sheet:", refusal.to_string()))?;
        let sha256 = hex(&Sha256::digest(&self.file));
        let digest = self.digest(rows, &profile, &sha256);
        Ok(PlannedSheet { read, plan, losses, mode: profile.mode, sha256, digest })
    }

    /// Returns the rate profile of the carrier, as the request changes it.
    fn profile(&self, rows: &[CatalogueRow]) -> Result<RateProfile> {
        let kind = Kind::RateProfile.as_str();
        let row = rows.iter().find(|row| row.kind == kind && row.name == self.carrier);
        let stored = row.map(documents::read).transpose().map_err(ProvisionRefusal::from)?;
        let mut profile: RateProfile = stored.unwrap_or_else(|| RateProfile::of(self.id));
        profile.mode = self.query.mode.as_deref().and_then(mode_named).unwrap_or(profile.mode);
        profile.sheet = self.query.sheet.clone().or(profile.sheet);
        Ok(profile)
    }

    /// Returns the digest of everything that the plan follows from but the time.
    fn digest(&self, rows: &[CatalogueRow], profile: &RateProfile, sha256: &str) -> String {
        let mut digest = Sha256::new();
        digest.update(sha256);
        digest.update(format!("{profile:?}"));
        let prefix = format!("{}/", self.carrier);
        for row in rows.iter().filter(|row| row.kind == Kind::Cost.as_str() && row.name.starts_with(&prefix))
        {
            digest.update(&row.name);
            digest.update(&row.body);
        }
        hex(&digest.finalize())
    }
}

impl PlannedSheet {
    fn view(&self, sheet: &Sheet) -> RatePlanView {
        let PlannedSheet { read, plan, losses, mode, sha256, digest } = self;
        let change = |planned: &plan::PlannedRate| RateChangeView {
            line: planned.line,
            destination: plan::label((planned.area(), None)),
            sender_kind: planned.cost.sender_kind.map(|kind| kind.as_str().to_owned()),
            change: planned.change,
            before: planned.before.as_ref().and_then(|before| before.per_part).map(Amount),
            per_part: planned.cost.per_part.map(Amount),
            currency: planned.cost.currency.to_string(),
            from: planned.from().to_iso(),
            until: planned.cost.until.map(Timestamp::to_iso),
        };
        let problems = read.problems.iter();
        RatePlanView {
            carrier: sheet.carrier.clone(),
            applied: false,
            plan: digest.clone(),
            sha256: sha256.clone(),
            mode: mode_text(*mode).to_owned(),
            rows: u64::try_from(read.rows).unwrap_or(u64::MAX),
            counts: plan.counts,
            changes: plan.planned.iter().take(listed(&sheet.query)).map(change).collect(),
            problems: problems
                .map(|problem| RowProblemView { line: problem.line, problem: problem.sentence.clone() })
                .collect(),
            warnings: plan.warnings.clone(),
            ignored_columns: read.ignored_columns.clone(),
            losses: Vec::new(),
            losses_found: 0,
            losses_complete: losses.is_complete,
        }
    }
}

/// Stores the costs of a plan, and the sheet with what is needed to take it back, in one transaction.
async fn apply(
    gateway: &Acting,
    sheet: &Sheet,
    planned: &PlannedSheet,
    rows: Vec<CatalogueRow>,
    now: Timestamp,
) -> Result<()> {
    let Sheet { carrier, id, query, .. } = sheet;
    let costs = planned.plan.planned.iter().map(|planned| wanted(carrier, &planned.cost)).collect();
    let wanted = WantedSetup { costs, ..WantedSetup::default() };
    let mut plan = setup::prepare_over(rows, Vec::new(), &gateway.pepper, &wanted, now)?;
    let kept = KeptSheets::read(gateway.store.setup().rate_sheets().await?)?;
    let number = kept.next_number();
    let file = query.file.clone().unwrap_or_default();
    let new = KeptSheet {
        carrier: *id,
        file: file.clone(),
        sha256: planned.sha256.clone(),
        by: gateway.author.name().to_owned(),
        at: now,
        mode: mode_text(planned.mode).to_owned(),
        counts: planned.plan.counts,
        undone_at: None,
        changes: changes_of(carrier, &planned.plan.planned),
    };
    plan.put.push(new.row(number));
    for (age, (number, earlier)) in kept.of(*id).into_iter().enumerate() {
        let is_too_old = age + 1 >= KEPT_MAX;
        let has_changes = !earlier.changes.is_empty();
        let row = KeptSheet { changes: Vec::new(), ..earlier }.row(number);
        if is_too_old {
            plan.removed.push(row);
        } else if has_changes {
            plan.put.push(row);
        }
    }
    let detail =
        json!({ "sheet": number, "file": file, "sha256": planned.sha256, "counts": planned.plan.counts });
    let note = gateway.author.entry(now, None, "rates.import", carrier, &detail);
    execute_plan_noted(gateway, plan, note).await?;
    Ok(())
}

/// Returns a cost as an entry of a request.
fn wanted(carrier: &str, cost: &Cost) -> WantedCost {
    let Cost { carrier: _, prefix, network, mcc, country, sender_kind, .. } = *cost;
    let Cost { per_part, currency, basis, from, until, .. } = *cost;
    WantedCost {
        carrier: carrier.to_owned(),
        prefix,
        network,
        mcc,
        country,
        sender_kind,
        per_part,
        closed: per_part.is_none(),
        currency: Some(currency),
        basis,
        from,
        until,
    }
}

/// Lists the rate sheets of a carrier that were applied.
pub async fn list_rate_sheets(gateway: &Gateway, carrier: &str) -> Result<RateSheetsView> {
    let id = find_carrier(gateway, carrier)?;
    let sheets = KeptSheets::read(gateway.store.setup().rate_sheets().await?)?.of(id);
    let items: Vec<RateSheetView> =
        sheets.into_iter().map(|(number, sheet)| sheet.view(number, carrier)).collect();
    Ok(RateSheetsView { items })
}

/// Takes the last sheet of a carrier back, as far as its costs are not in force yet.
pub async fn undo_rates(gateway: &Acting, carrier: &str, query: &UndoQuery) -> Result<UndoneView> {
    let id = find_carrier(gateway, carrier)?;
    let _alone = gateway.change_alone().await?;
    let rows = gateway.store.setup().rows().await?;
    let now = gateway.clock.now();
    let sheets = KeptSheets::read(gateway.store.setup().rate_sheets().await?)?.of(id);
    let last = sheets.into_iter().find(|(_, sheet)| sheet.undone_at.is_none());
    let Some((number, sheet)) = last.filter(|(_, sheet)| !sheet.changes.is_empty()) else {
        let sentence = "has no sheet to take back: only the last one that was applied can be, once";
        return Err(ProvisionRefusal::about(&format!("carrier \"{carrier}\""), sentence).into());
    };
    let mut view = UndoneView {
        dry_run: query.dry_run,
        number,
        file: sheet.file.clone(),
        taken_back: 0,
        in_force: 0,
        changed_since: 0,
    };
    let wanted = taken_back(carrier, &sheet, &rows, now, &mut view)?;
    if query.dry_run || view.taken_back == 0 {
        return Ok(view);
    }
    let mut plan = setup::prepare_over(rows, Vec::new(), &gateway.pepper, &wanted, now)?;
    let detail = json!({ "sheet": number, "file": sheet.file, "taken_back": view.taken_back });
    plan.put.push(KeptSheet { undone_at: Some(now), changes: Vec::new(), ..sheet }.row(number));
    let note = gateway.author.entry(now, None, "rates.undo", carrier, &detail);
    execute_plan_noted(gateway, plan, note).await?;
    Ok(view)
}

/// Returns the changes that take a sheet back, and counts what stays.
fn taken_back(
    carrier: &str,
    sheet: &KeptSheet,
    rows: &[CatalogueRow],
    now: Timestamp,
    view: &mut UndoneView,
) -> Result<WantedSetup> {
    let costs = rows.iter().filter(|row| row.kind == Kind::Cost.as_str());
    let by_name: HashMap<&str, &CatalogueRow> = costs.map(|row| (row.name.as_str(), row)).collect();
    let mut wanted = WantedSetup::default();
    for change in &sheet.changes {
        let stored = by_name.get(change.name.as_str()).map(|row| documents::read::<Cost>(row));
        match stored.transpose().map_err(ProvisionRefusal::from)? {
            Some(cost) if cost.from.is_none_or(|from| from <= now) => view.in_force += 1,
            Some(cost) if cost.per_part == change.per_part => {
                view.taken_back += 1;
                match &change.replaced {
                    Some(before) => wanted.costs.push(self::wanted(carrier, before)),
                    None => wanted.removals.push(Removal { kind: Kind::Cost, name: change.name.clone() }),
                }
            }
            Some(_) | None => view.changed_since += 1,
        }
    }
    Ok(wanted)
}
