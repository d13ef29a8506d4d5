//! Prices, costs and exchange rates of the catalogue.

use super::{Account, CatalogueError, Cost, Documents, ExchangeRateEntry, Price, PriceListEntry};
use crate::area::Area;
use crate::cost::{CarrierCost, CostTerms, Costs};
use crate::dated::Dated;
use crate::exchange::{CurrencyPair, ExchangeRates};
use crate::ids::{AccountId, CarrierId, CostId, PriceListId};
use crate::price::{PriceOwner, Prices};
use crate::time::Timestamp;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The prices that accounts share.
pub(super) struct SharedPrices {
    general: Arc<Prices>,
    lists: HashMap<PriceListId, (String, PriceListEntry, Arc<Prices>)>,
}

/// Prices by account and price list.
pub(super) type OwnedPrices<'a> = HashMap<(Option<AccountId>, Option<PriceListId>), Vec<&'a Price>>;

impl SharedPrices {
    pub(super) fn build(
        documents: &Documents,
        owned: &OwnedPrices<'_>,
    ) -> Result<SharedPrices, CatalogueError> {
        let lists = documents.price_lists.iter().map(|(id, name, entry)| {
            let prices = prices(PriceOwner::List(*id), owned.get(&(None, Some(*id))))?;
            Ok((*id, (name.clone(), entry.clone(), Arc::new(prices))))
        });
        let lists: HashMap<_, _> = lists.collect::<Result<_, CatalogueError>>()?;
        let unknown = owned.keys().filter_map(|(_, list)| *list).find(|list| !lists.contains_key(list));
        match unknown {
            Some(list) => Err(CatalogueError::WithoutPriceList { what: "a price".to_owned(), list }),
            None => Ok(SharedPrices {
                general: Arc::new(prices(PriceOwner::General, owned.get(&(None, None)))?),
                lists,
            }),
        }
    }

    /// Returns the prices of an account: its own, and behind them those of its price list or the general ones.
    pub(super) fn of_account(
        &self,
        name: &str,
        account: &Account,
        own: Option<&Vec<&Price>>,
    ) -> Result<Prices, CatalogueError> {
        let shared = match account.price_list {
            None => &self.general,
            Some(list) => {
                let what = || format!("account \"{name}\"");
                let (list_name, entry, prices) = (self.lists.get(&list))
                    .ok_or_else(|| CatalogueError::WithoutPriceList { what: what(), list })?;
                if entry.currency != account.currency {
                    return Err(CatalogueError::ListCurrency {
                        account: name.to_owned(),
                        own: account.currency,
                        list: list_name.clone(),
                        of_list: entry.currency,
                    });
                }
                prices
            }
        };
        Ok(prices(PriceOwner::Account, own)?.over(shared.clone()))
    }

    pub(super) fn list_names(self) -> HashMap<PriceListId, String> {
        self.lists.into_iter().map(|(id, (name, ..))| (id, name)).collect()
    }
}

fn prices(owner: PriceOwner, prices: Option<&Vec<&Price>>) -> Result<Prices, CatalogueError> {
    let entries = prices.into_iter().flatten().map(|price| {
        let Price { prefix, network, mcc, country, per_part, from, until, account: _, price_list: _ } = price;
        let area = Area::one_of(*prefix, *network, *mcc, *country).ok_or(CatalogueError::PriceForNothing)?;
        let from = from.unwrap_or(Timestamp::EPOCH);
        Ok::<_, CatalogueError>((area, Dated { from, until: *until, value: *per_part }))
    });
    Ok(Prices::new(owner, entries.collect::<Result<Vec<_>, _>>()?)?)
}

impl Cost {
    /// Returns its destinations; none for an invalid entry.
    pub fn area(&self) -> Option<Area> {
        Area::one_of(self.prefix, self.network, self.mcc, self.country)
    }

    /// Returns it as a table of costs is built from it; none for an invalid entry.
    pub fn in_table(&self, entry: CostId) -> Option<CarrierCost> {
        let Cost { carrier, sender_kind, per_part, currency, basis, from, until, .. } = *self;
        let value = per_part.map(|per_part| CostTerms { per_part, currency, basis, entry });
        let terms = Dated { from: from.unwrap_or(Timestamp::EPOCH), until, value };
        Some(CarrierCost { carrier, area: self.area()?, sender_kind, terms })
    }
}

pub(super) fn costs(
    entries: &[(CostId, Cost)],
    carriers: &HashSet<CarrierId>,
) -> Result<Costs, CatalogueError> {
    let costs = entries.iter().map(|(entry, cost)| {
        if !carriers.contains(&cost.carrier) {
            return Err(CatalogueError::CostWithoutCarrier { carrier: cost.carrier });
        }
        cost.in_table(*entry).ok_or(CatalogueError::PriceForNothing)
    });
    Ok(Costs::build(costs.collect::<Result<Vec<_>, _>>()?)?)
}

pub(super) fn exchange_rates(entries: &[ExchangeRateEntry]) -> Result<ExchangeRates, CatalogueError> {
    let rates = entries.iter().map(|ExchangeRateEntry { base, quote, rate, from }| {
        (CurrencyPair { base: *base, quote: *quote }, from.unwrap_or(Timestamp::EPOCH), *rate)
    });
    Ok(ExchangeRates::build(rates)?)
}
