//! What the description of a kind does not give: the examples and notes of its help, and the verbs that do more than set a
//! field.

use super::operator_client::OperatorClient;
use super::target::ClientCommand;
use super::{account, carrier, connection, key, route, sender, user};
use crate::failure::CommandResult;
use clap::error::{Error, ErrorKind};
use clap::{ArgMatches, Command, Subcommand};
use hermod_operator::kind::Kind;
use std::pin::Pin;

/// A verb that sets one field of an existing entry.
pub(super) struct Switch {
    kind: Kind,
    pub(super) verb: &'static str,
    pub(super) about: &'static str,
    pub(super) field: &'static str,
    pub(super) value: bool,
}

const SWITCHES: [Switch; 3] = [
    Switch {
        kind: Kind::Account,
        verb: "verify",
        about: "Mark an account as verified; an unverified account cannot send",
        field: "verified",
        value: true,
    },
    Switch {
        kind: Kind::Carrier,
        verb: "enable",
        about: "Enable a carrier",
        field: "disabled",
        value: false,
    },
    Switch { kind: Kind::Key, verb: "revoke", about: "Revoke a key", field: "revoked", value: true },
];

pub(super) fn switches(kind: Kind) -> impl Iterator<Item = &'static Switch> {
    SWITCHES.iter().filter(move |switch| switch.kind == kind)
}

/// Runs a verb that was read from the command line.
pub(super) type RunVerb =
    Box<dyn FnOnce(&OperatorClient) -> Pin<Box<dyn Future<Output = CommandResult> + '_>>>;

pub(super) fn verb_of(run: impl AsyncFnOnce(&OperatorClient) -> CommandResult + 'static) -> RunVerb {
    Box::new(move |client| Box::pin(run(client)))
}

/// What a kind has beside its description. A kind without a row has its description only.
#[derive(Clone, Copy)]
pub(super) struct KindHelp {
    /// Examples and notes. The help of each verb shows the examples that are about it.
    pub(super) text: &'static str,
    /// Adds the verbs to the command of the kind.
    pub(super) augment: fn(Command) -> Command,
    pub(super) read: fn(&ArgMatches) -> Result<RunVerb, Error>,
}

const HELP: [(Kind, KindHelp); 17] = [
    (Kind::Account, KindHelp::with_verbs::<account::AccountVerb>(account::HELP)),
    (Kind::Carrier, KindHelp::with_verbs::<carrier::CarrierVerb>(carrier::HELP)),
    (Kind::Connection, KindHelp::with_verbs::<connection::ConnectionVerb>(connection::HELP)),
    (Kind::Key, KindHelp::with_verbs::<key::KeyVerb>(key::HELP)),
    (Kind::Route, KindHelp::with_verbs::<route::RouteVerb>(route::HELP)),
    (Kind::Sender, KindHelp::with_verbs::<sender::SenderVerb>(sender::HELP)),
    (Kind::User, KindHelp::with_verbs::<user::UserVerb>(user::HELP)),
    (Kind::Price, KindHelp::without_verbs(PRICE_HELP)),
    (Kind::PriceList, KindHelp::without_verbs(PRICE_LIST_HELP)),
    (Kind::Cost, KindHelp::without_verbs(COST_HELP)),
    (Kind::ExchangeRate, KindHelp::without_verbs(EXCHANGE_RATE_HELP)),
    (Kind::RateProfile, KindHelp::without_verbs(RATE_PROFILE_HELP)),
    (Kind::Number, KindHelp::without_verbs(NUMBER_HELP)),
    (Kind::Screen, KindHelp::without_verbs(SCREEN_HELP)),
    (Kind::Control, KindHelp::without_verbs(CONTROL_HELP)),
    (Kind::Block, KindHelp::without_verbs(BLOCK_HELP)),
    (Kind::Operator, KindHelp::without_verbs(OPERATOR_HELP)),
];

impl KindHelp {
    pub(super) fn of(kind: Kind) -> KindHelp {
        let row = HELP.iter().find(|(of, _)| *of == kind);
        row.map_or(KindHelp::without_verbs(""), |(_, help)| *help)
    }

    const fn with_verbs<V: Subcommand + ClientCommand + 'static>(text: &'static str) -> KindHelp {
        let read = |matches: &ArgMatches| -> Result<RunVerb, Error> {
            let verb = V::from_arg_matches(matches)?;
            Ok(verb_of(async move |client| verb.run(client).await))
        };
        KindHelp { text, augment: V::augment_subcommands, read }
    }

    const fn without_verbs(text: &'static str) -> KindHelp {
        let read = |_: &ArgMatches| Err(Error::new(ErrorKind::InvalidSubcommand));
        KindHelp { text, augment: |command| command, read }
    }
}

const PRICE_HELP: &str = "\
Examples:
  hermod price list
  hermod price list --account shop --at 2027-01-01
  hermod price set '*' per_part=0.05
  hermod price set shop/49@2027-01-01 per_part=0.0375
  hermod price set US per_part=0.01
  hermod price set 262-01 per_part=0.06
  hermod price set shop/DE per_part=0 free=true
  hermod price set list:standard/49@2027-01-01 per_part=0.035 until=2027-02-01
  hermod price set 8816 closed=true
  hermod price remove shop/49@2027-01-01
  hermod price export > prices.csv
  hermod price import prices.csv --dry-run

The name of a price is [ACCOUNT/]AREA[@FROM], or list:LIST/AREA[@FROM] in a price list. AREA is a
country (US), a prefix (49, or * for every number), a mobile network (262-01) or a mobile country
code (mcc262); FROM is the UTC day or time from which it applies, and until its end. A price is in the
currency of the sending account. The most specific price applies: network, longest prefix, mcc,
country, *. Prices of an account precede those of its price list, or the general ones if it has no
list. Of several with a start the latest that has begun and not ended applies. closed=true forbids a
destination although a broader area has a price; a price of 0 needs free=true. hermod lookup shows the
price of a number.";

const PRICE_LIST_HELP: &str = "\
Examples:
  hermod price-list list
  hermod price-list add standard currency=EUR
  hermod price set list:standard/49 per_part=0.045
  hermod account set shop price_list=standard
  hermod price-list remove standard

An account that names a price list pays its prices instead of the general ones; its own prices precede
both. The account must have its balance in the currency of the list.";

const COST_HELP: &str = "\
Examples:
  hermod cost list
  hermod cost list --at 2027-01-01
  hermod cost set north/49 per_part=0.031 currency=EUR
  hermod cost set north/262-01:alphanumeric@2027-01-01 per_part=0.034 currency=EUR basis=delivered
  hermod cost set north/8816 closed=true currency=EUR
  hermod cost remove north/49
  hermod cost export > costs.csv
  hermod cost import costs.csv --dry-run

A cost is what a carrier asks for a part. Its name is CARRIER/AREA[:SENDER_KIND][@FROM], with the same
areas as prices. The most specific area decides; within it, a cost for the kind of the sender
(alphanumeric or number) precedes one for any. hermod lookup shows the costs and margins of a number.
Customers never see them.";

const EXCHANGE_RATE_HELP: &str = "\
Examples:
  hermod exchange-rate list
  hermod exchange-rate set USD-EUR rate=0.9214
  hermod exchange-rate set USD-EUR@2027-01-01 rate=0.93

One unit of the first currency is worth RATE of the second. The reverse follows from it; rates are not
chained. They serve to compare prices with costs in other currencies: no customer is charged by them.";

const RATE_PROFILE_HELP: &str = "\
Examples:
  hermod rate-profile set north mode=full currency=EUR notice_days=7
  hermod rate-profile set north price_column='New price' dates=day-month-year
  hermod rate-profile set north prefix_column=1 price_column=2
  hermod rates import north sheet.xlsx --dry-run

The name of a rate profile is its carrier. A column is named by its header or its position from 1; well-known
headers need no column. What the profile does not say is recognised in each sheet, or the sheet is refused.
A full sheet closes the destinations that it does not list; a partial one, the default, says nothing of them.";

const NUMBER_HELP: &str = "\
Examples:
  hermod number list
  hermod number set +4915799999999 account=shop
  hermod number set 80808/SHOP account=shop
  hermod number remove 80808/SHOP

The account that owns a number may also send from it. A number that several accounts share has
keywords: the first word of an MO message selects the account.";

const SCREEN_HELP: &str = "\
Examples:
  hermod screen list
  hermod screen set short-links pattern='https?://(bit\\.ly|t\\.co)/'
  hermod screen set banks pattern='^.*bank$' field=sender
  hermod screen remove short-links

A message that matches a pattern is rejected and opens a review case: hermod review list. After
approval, the customer's retry passes.";

const CONTROL_HELP: &str = "\
Examples:
  hermod control list
  hermod control set shop-day account=shop spend_per_day=50
  hermod control set one-recipient per_recipient=20:1h
  hermod control set one-range per_range=200:10m mode=watch
  hermod control set abroad per_country=50:1h:DE,AT
  hermod control set shop-day spend_per_day= messages_per_day=500
  hermod control remove shop-day

Each control has one limit. Messages above it are rejected with 429 TRAFFIC_CONTROL; a control in
the mode watch only counts them: hermod account traffic NAME. Days are UTC days.";

const BLOCK_HELP: &str = "\
Examples:
  hermod block list
  hermod block add premium-and-satellite direction=sent
  hermod block add 49900 reason='Fraud in ticket 4711.'
  hermod block add 4990000-4990099 direction=sent until=2027-01-01
  hermod block add shop/+4915112345678 direction=received
  hermod block remove 49900

The name of a block is [ACCOUNT/]NUMBERS. NUMBERS is a prefix (one number is a prefix with all its
digits), a range, or the built-in list premium-and-satellite. Messages to blocked numbers are
rejected with 403 DESTINATION_BLOCKED; MO messages from them are accepted from the carrier and
dropped. Messages that were accepted before the block are sent: hermod queue cancel --prefix 49900.
hermod lookup names the block of a number.";

const OPERATOR_HELP: &str = "\
Examples:
  hermod operator add ann role=support until=2027-01-01
  hermod operator add ci role=operations --secrets-to ci.toml
  hermod operator set ann role=finance
  hermod operator list
  hermod operator remove ann

Roles: reader reads what has no secret. support also replays, and decides held messages and
requests of customers. finance changes prices and ledgers. operations changes carriers, routes,
accounts, keys and the gateway, but no money. admin may do everything, and is the only role that
changes operators. accounts are changed by finance and operations. Numbers of handsets and texts are
masked for reader, support and finance; support and finance see them whole with --unmask REASON.

Each operator has a token, and the audit log says who made a change: operator ann. A token is
printed only when it is generated: only a digest of it is stored. It is rejected from `until` on,
and at once when its operator is removed. The token in the data folder stays valid with the role
admin; its changes are by operator. To work from another machine:
  hermod messages --url https://sms.example:9090 --token-file ann.token --ca ca.pem";
