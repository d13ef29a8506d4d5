//! Routes about an account's money and traffic.

use crate::http::routes::{Routes, doc};
use crate::money::use_cases::{
    list_days, list_ledger, post_entry, show_balance, show_statement, show_traffic,
};
use hermod_domain::operator_role::OperatorPermission;

pub(crate) fn routes(routes: &mut Routes) {
    routes.section("Money", "Balances, ledgers, statements and traffic of accounts.");
    routes.get(
        "/accounts/{name}/balance",
        show_balance,
        doc("getBalance", "Read an account's balance", "Balance, credit and what is available.")
            .details("`available` is always balance + credit_limit - credit_used.")
            .errors(&["NOT_FOUND"])
            .least(OperatorPermission::Reading),
    );
    routes.get(
        "/accounts/{name}/ledger",
        list_ledger,
        doc("listLedger", "Read an account's ledger", "The newest entry first.")
            .details("Without the charges of messages: those are in the statement.")
            .errors(&["NOT_FOUND"])
            .least(OperatorPermission::Reading),
    );
    routes.post(
        "/accounts/{name}/ledger",
        post_entry,
        doc("postEntry", "Post a top-up, invoice, payment or adjustment", "The reference was posted before; nothing changed.")
            .created("It was posted.")
            .details(
                "With a `reference` the request can be repeated until its response arrives. An invoice without an amount is \
                 for the whole amount owed.",
            )
            .errors(&["NOT_FOUND", "INVALID_FIELD", "REFUSED", "NOTHING_OWED", "REFERENCE_TAKEN"])
            .least(OperatorPermission::Money),
    );
    routes.get(
        "/accounts/{name}/statement",
        show_statement,
        doc("getStatement", "Read an account's statement", "Ledger entries, and the charges of each day.")
            .details("The lines add up exactly from the opening to the closing. At most 366 UTC days.")
            .errors(&["NOT_FOUND"])
            .least(OperatorPermission::Reading),
    );
    routes.get(
        "/accounts/{name}/days",
        list_days,
        doc("listDays", "Read an account's messages and spend by day", "Days with messages.")
            .errors(&["NOT_FOUND"])
            .least(OperatorPermission::Reading),
    );
    routes.get(
        "/accounts/{name}/traffic",
        show_traffic,
        doc("getTraffic", "Read an account's traffic of today", "Today's totals, and each traffic control.")
            .errors(&["NOT_FOUND"])
            .least(OperatorPermission::Reading),
    );
}
