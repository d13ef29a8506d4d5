//! Requests of customers and the operator: send, post entries, opt recipients out and in. Each outcome must be the
//! one the model returns.

use super::accounts::Posting;
use super::{Pair, Sent};
use crate::reports::origin;
use crate::world::*;
use hermod_domain::ids::AccountId;
use hermod_domain::money::Money;
use hermod_domain::origin::RegisteredDelivery;
use hermod_domain::phone::Msisdn;
use hermod_domain::time::Day;
use hermod_store::SubmitNote;
use hermod_store::{AcceptOutcome, Acceptance, Duplicate, LedgerEntry, LedgerKind, OptOut, PostOutcome};
use std::sync::Arc;

pub(super) const fn account(bob: bool) -> AccountId {
    if bob { BOB } else { ALICE }
}

fn recipient(number: u8) -> Msisdn {
    Msisdn::from_number(4_915_112_345_670 + u64::from(number)).expect("a number")
}

impl Pair {
    pub(super) async fn accept(&mut self, sent: &Sent) {
        let Sent { bob, parts, key: number, doubt, to, daily, wish } = *sent;
        let account = account(bob);
        let cost = PRICE * i64::from(parts);
        // Keys are unique per account.
        let number = number.map(|number| number * 2 + u64::from(bob));
        let acceptance = Acceptance {
            account,
            parts,
            to: recipient(to),
            cost: Money::from_micros(cost),
            daily,
            doubt,
            note: SubmitNote::default(),
            key: number.map(key),
            origin: wish.map(|wish| Arc::new(origin(wish))),
            ..self.world.sms()
        };
        let outcome = self.world.store.accept(acceptance).await.expect("the store answers");
        let purse = &self.books.purses[&account];
        if let Some(message) = number.and_then(|number| self.books.keys.get(&number)) {
            assert_eq!(
                outcome,
                AcceptOutcome::Duplicate(Duplicate { message: *message, is_same_request: true })
            );
        } else if let Some(refused) = purse.refuses(to, cost, daily, self.world.now.day()) {
            assert_eq!(outcome, refused);
        } else {
            let AcceptOutcome::Accepted { message, balance, today, alias: _, watched: _ } = outcome else {
                panic!("{outcome:?}")
            };
            assert_eq!(balance.as_micros(), purse.balance - cost);
            let wish = wish.map(RegisteredDelivery::from_octet);
            self.books.accept(message, account, parts, cost, doubt, wish, self.world.now);
            self.books.keys.extend(number.map(|number| (number, message)));
            assert_eq!(self.books.purses[&account].days().last(), Some(&today));
        }
    }

    pub(super) async fn post(&mut self, bob: bool, kind: LedgerKind, micros: i64, reference: Option<u8>) {
        let account = account(bob);
        let entry = LedgerEntry {
            reference: reference.map(|number| format!("reference {number}")),
            ..self.world.entry(account, kind, micros)
        };
        let outcome = self.world.store.money().post(entry).await.expect("the store answers");
        let purse = self.books.purses.get_mut(&account).expect("a purse");
        let expected = purse.post(kind, micros, reference);
        let figures = purse.figures();
        match (expected, outcome) {
            (Posting::Posted, PostOutcome::Posted { balance, .. })
            | (Posting::Repeated, PostOutcome::Repeated { balance, .. }) => assert_eq!(balance, figures),
            (Posting::Refused(refusal), outcome) => assert_eq!(outcome, PostOutcome::Refused(refusal)),
            (_, other) => panic!("{kind:?} of {micros}: {other:?}"),
        }
    }

    pub(super) async fn opt(&mut self, bob: bool, to: u8, out: bool) {
        let (account, number) = (account(bob), recipient(to));
        let opted_out = &mut self.books.purses.get_mut(&account).expect("a purse").opted_out;
        let store = &self.world.store;
        let (changed, expected) = if out {
            let entry = OptOut::by_keyword(account, number, self.world.now);
            (store.opt_outs().add(entry).await, opted_out.insert(to))
        } else {
            (store.opt_outs().remove(account, number).await, opted_out.remove(&to))
        };
        assert_eq!(changed.expect("the store answers"), expected);
        let listed = store.opt_outs().find(account, number).await.expect("the store answers");
        assert_eq!(listed.is_some(), out);
    }

    pub(super) async fn compare_accounts(&self) {
        for account in [ALICE, BOB] {
            let figures = self.world.store.money().balance(account).await.expect("a balance");
            assert_eq!(figures, self.books.purses[&account].figures(), "account {account}");
        }
    }

    pub(super) async fn compare_days(&self) {
        let (first, last) = (Day::new(noon().day().get() - 1), self.world.now.day());
        for account in [ALICE, BOB] {
            let purse = &self.books.purses[&account];
            let days = self.world.store.money().day_totals(account, first, last).await.expect("totals");
            assert_eq!(days, purse.days(), "account {account}");
            let statement =
                self.world.store.money().statement(account, first, last).await.expect("a statement");
            assert_eq!((statement.opening, statement.cut_off), (Default::default(), false));
            assert_eq!(statement.closing, purse.figures(), "account {account}");
        }
    }
}
