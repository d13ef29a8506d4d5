//! Commands that were prepared before an entry was removed.

use crate::steps::World;
use hermod_domain::ids::{AccountId, CarrierId, ConnectionId};
use hermod_domain::money::Money;
use hermod_domain::phone::Msisdn;
use hermod_engine::commands::AnyCommand;
use hermod_engine::ops::{Acceptance, CatalogueChange, CatalogueRow, Inbound, LedgerEntry, LedgerKind};
use hermod_engine::steps::StepKind;
use hermod_engine::tables::{OptOut, OptOutSource};

const GONE: u32 = 9;

/// Returns a world in which an account, a carrier and a connection were added and removed.
fn world_without_entries() -> World {
    let mut world = World::new();
    for kind in ["account", "carrier", "connection"] {
        let name = format!("{kind}-{GONE}");
        let row = CatalogueRow { kind: kind.to_owned(), id: GONE, name, body: "{}".to_owned() };
        world.run(Box::new(CatalogueChange { put: vec![row], ..CatalogueChange::default() }));
        let remove = vec![(kind.to_owned(), GONE)];
        world.run(Box::new(CatalogueChange { remove, ..CatalogueChange::default() }));
    }
    world
}

/// Returns a command of each kind that names an entry which was removed.
fn commands_about_removed_entries(world: &World) -> Vec<AnyCommand> {
    let (account, now, sms) = (AccountId::new(GONE), world.now, || world.sms());
    let number = Msisdn::from_number(4_915_112_345_678).expect("a number");
    let posting = LedgerEntry {
        account,
        kind: LedgerKind::TopUp,
        amount: Money::from_micros(5),
        reference: None,
        note: String::new(),
        now,
    };
    let row = |kind: &str| CatalogueRow {
        kind: kind.to_owned(),
        id: GONE,
        name: "again".to_owned(),
        body: "{}".to_owned(),
    };
    // The first row of the change is of an entry that may be added.
    let rows = vec![CatalogueRow { id: GONE + 1, name: "new".to_owned(), ..row("account") }, row("carrier")];
    let [from, to, text] = ["+4915112345678", "+4915799999999", "hello"].map(str::to_owned);
    vec![
        Box::new(Acceptance { account, ..sms() }).into(),
        Box::new(Acceptance { carrier: CarrierId::new(GONE), ..sms() }).into(),
        Box::new(Acceptance { connection: ConnectionId::new(GONE), ..sms() }).into(),
        posting.clone().into(),
        OptOut { account, number, source: OptOutSource::Operator, how: "by a test".to_owned(), now }.into(),
        Inbound { account, from, to, text, received_at: now }.into(),
        Box::new(CatalogueChange { put: rows, ..CatalogueChange::default() }).into(),
        Box::new(CatalogueChange { entries: vec![posting], ..CatalogueChange::default() }).into(),
    ]
}

#[test]
fn command_about_a_removed_entry_is_refused_and_the_others_of_its_batch_are_done() {
    let mut world = world_without_entries();
    let before = world.dump();
    let refused = commands_about_removed_entries(&world);
    let count = refused.len();
    let steps = world.run_all(refused);
    assert!(steps.is_empty(), "{steps:?}");
    assert_eq!(world.dump().differences(&before), [""; 0]);

    // Between others, in one batch.
    let mut batch: Vec<AnyCommand> = vec![Box::new(world.sms()).into()];
    for refused in commands_about_removed_entries(&world) {
        batch.extend([refused, Box::new(world.sms()).into()]);
    }
    let steps = world.run_all(batch);
    let accepted = steps.iter().filter(|step| matches!(step.kind, StepKind::Accepted { .. })).count();
    assert_eq!(accepted, count + 1);
    assert_eq!(world.dump().table("message").len(), count + 1);
}
