//! The content of a provision file. Every value is validated as it is parsed, so that errors name their line.

use crate::account::WantedAccount;
use crate::block::WantedBlock;
use crate::carrier::entry::WantedCarrier;
use crate::connection::WantedConnection;
use crate::control::WantedControl;
use crate::cost::WantedCost;
use crate::entry::draft::FileEntry;
use crate::entry::fields::KindDescription;
use crate::entry::mentioned_fields::{Mentions, NO_LIST, misplaced_list};
use crate::exchange_rate::WantedExchangeRate;
use crate::key::WantedKey;
use crate::kind::{Kind, kinds};
use crate::number::WantedNumber;
use crate::operator::WantedOperator;
use crate::price::WantedPrice;
use crate::price_list::WantedPriceList;
use crate::rate_profile::WantedRateProfile;
use crate::route::WantedRoute;
use crate::screen::WantedScreen;
use crate::sender::WantedSender;
use crate::user::entry::WantedUser;
use hermod_domain::operator_role::OperatorPermission;
use hermod_domain::webhook::url::AddressRules;
use hermod_gateway::config::{FileError, Source};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// An example with every key explained.
pub const EXAMPLE_TOML: &str = include_str!("example.toml");

macro_rules! make_setup {
    ($($kind:ident $name:tt $list:ident $entry:ident,)*) => {
        /// A provision file. Secrets are hidden when it is written.
        #[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
        #[serde(deny_unknown_fields, default)]
        #[schema(as = ProvisionFile)]
        pub struct WantedSetup {
            $(
                #[serde(rename = $name, skip_serializing_if = "Vec::is_empty")]
                pub $list: Vec<$entry>,
            )*
            #[serde(rename = "remove", skip_serializing_if = "Vec::is_empty")]
            pub removals: Vec<Removal>,
            /// The installation's rules for webhook addresses.
            #[serde(skip)]
            #[schema(ignore)]
            pub rules: AddressRules,
            /// The fields that the file mentions; the others keep their value. `None`: all entries are complete.
            #[serde(skip)]
            #[schema(ignore)]
            pub(crate) mentions: Option<Mentions>,
            /// Apply every field of the file, even if it was changed since.
            #[serde(skip)]
            #[schema(ignore)]
            pub(crate) force: bool,
        }

        impl WantedSetup {
            /// Whether it contains a password or a secret.
            pub fn has_secrets(&self) -> bool {
                [$(self.$list.iter().any(|entry| entry.secret().is_some())),*].contains(&true)
            }

            /// Returns the kinds that it changes, each at least once.
            pub(crate) fn kinds(&self) -> impl Iterator<Item = Kind> {
                std::iter::empty()
                    $(.chain(self.$list.first().map(|_| Kind::$kind)))*
                    .chain(self.removals.iter().map(|removal| removal.kind))
            }

            /// Returns what an operator needs to apply it.
            pub(crate) fn permissions(&self) -> impl Iterator<Item = OperatorPermission> {
                let mentioned = self.mentions.iter().flat_map(Mentions::fields);
                let of_fields = mentioned.filter_map(|(kind, field)| kind.field_changed_with(field));
                self.kinds().map(Kind::changed_with).chain(of_fields)
            }

            /// Returns the names of its entries.
            pub(crate) fn names(&self) -> impl Iterator<Item = String> {
                std::iter::empty()$(.chain(self.$list.iter().map(FileEntry::name)))*
            }
        }

        impl Kind {
            pub(crate) const fn description(self) -> &'static KindDescription {
                match self {
                    $(Kind::$kind => const { &KindDescription::of::<$entry>() },)*
                }
            }
        }
    };
}

kinds!(make_setup);

/// An entry to remove.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Removal {
    pub kind: Kind,
    pub name: String,
}

impl WantedSetup {
    /// Parses a file. Its entries change only the fields that they mention.
    pub fn parse(source: &Source) -> Result<WantedSetup, FileError> {
        let (wanted, mentions): (WantedSetup, _) =
            source.parse_adjusted(|file| match misplaced_list(file) {
                Some(key) => Err((key, NO_LIST)),
                None => Ok(Mentions::take_from(file)),
            })?;
        Ok(WantedSetup { mentions: Some(mentions), ..wanted })
    }

    /// Returns a request with one removal.
    pub fn removing(removal: Removal) -> WantedSetup {
        WantedSetup { removals: vec![removal], ..WantedSetup::default() }
    }

    /// Sets whether fields changed since are overwritten.
    #[must_use]
    pub fn forced(self, force: bool) -> WantedSetup {
        WantedSetup { force, ..self }
    }

    /// Sets the rules for webhook addresses; the default is the strictest.
    #[must_use]
    pub fn judged_by(self, rules: AddressRules) -> WantedSetup {
        WantedSetup { rules, ..self }
    }

    /// Writes the mentioned fields as TOML, without secrets.
    pub fn to_toml(&self) -> String {
        let mut whole = toml::Table::try_from(self).expect("what was read can be written");
        for kind in Kind::ALL {
            let entries = whole.get_mut(kind.as_str()).and_then(toml::Value::as_array_mut);
            for (index, entry) in entries.into_iter().flatten().enumerate() {
                let mentioned = self.mentions.as_ref().and_then(|mentions| mentions.of(kind, index));
                if let (Some(mentioned), Some(entry)) = (mentioned, entry.as_table_mut()) {
                    entry.retain(|field, _| mentioned.contains(field));
                }
            }
        }
        toml::to_string(&whole).expect("what was read can be written")
    }
}
