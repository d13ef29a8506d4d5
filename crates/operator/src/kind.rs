//! The table of kinds of entries. What a kind is follows from the type of its entries.

use serde::{Deserialize, Serialize};
use std::fmt;
use utoipa::ToSchema;

/// Gives a macro the kinds: variant, name, list of a setup, and type of an entry. The lists of a setup are applied in this order.
macro_rules! kinds {
    ($make:ident) => {
        $make! {
            Carrier "carrier" carriers WantedCarrier,
            Cost "cost" costs WantedCost,
            ExchangeRate "exchange_rate" exchange_rates WantedExchangeRate,
            RateProfile "rate_profile" rate_profiles WantedRateProfile,
            Route "route" routes WantedRoute,
            PriceList "price_list" price_lists WantedPriceList,
            Price "price" prices WantedPrice,
            Account "account" accounts WantedAccount,
            Sender "sender" senders WantedSender,
            Number "number" numbers WantedNumber,
            Connection "connection" connections WantedConnection,
            Key "key" keys WantedKey,
            Screen "screen" screens WantedScreen,
            Control "control" controls WantedControl,
            Block "block" blocks WantedBlock,
            User "user" users WantedUser,
            Operator "operator" operators WantedOperator,
        }
    };
}

pub(crate) use kinds;

macro_rules! make_kind {
    ($($kind:ident $name:tt $list:ident $entry:ident,)*) => {
        /// Stored by name: add kinds, never rename them.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
        #[serde(rename_all = "snake_case")]
        pub enum Kind {
            $($kind,)*
        }

        impl Kind {
            pub const ALL: [Kind; [$($name),*].len()] = [$(Kind::$kind),*];

            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Kind::$kind => $name,)*
                }
            }

            pub const fn plural(self) -> &'static str {
                match self {
                    $(Kind::$kind => stringify!($list),)*
                }
            }
        }
    };
}

kinds!(make_kind);

impl Kind {
    /// Returns the kind with this name.
    pub fn named(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.as_str() == name)
    }

    /// Returns the name in commands: `price-list`.
    pub fn command(self) -> String {
        self.as_str().replace('_', "-")
    }

    /// Returns the list in paths: `price-lists`.
    pub fn path(self) -> String {
        self.plural().replace('_', "-")
    }

    /// Returns the list in sentences: `price lists`.
    pub fn in_words(self) -> String {
        self.plural().replace('_', " ")
    }

    /// `an account`.
    pub fn with_article(self) -> String {
        let article = if self.as_str().starts_with(['a', 'e', 'i', 'o']) { "an" } else { "a" };
        format!("{article} {self}")
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
