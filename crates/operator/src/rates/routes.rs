//! Routes about rate sheets.

use crate::http::routes::{Routes, doc};
use crate::rates::use_cases::{import_rates, list_rate_sheets, undo_rates};
use hermod_domain::operator_role::OperatorPermission;

pub(crate) fn routes(routes: &mut Routes) {
    routes.section("Rate sheets", "What carriers will ask, as they send it.");
    routes.post(
        "/carriers/{name}/rate-sheets",
        import_rates,
        doc("importRateSheet", "Plan or apply a rate sheet", "What changes, or would change.")
            .details(
                "An XLSX workbook or a text file, read as the rate profile of the carrier says, and compared with its costs. Nothing \
                 is stored without `apply=true`; then all changes are, in one transaction. A cost that is in force is not changed: \
                 another one follows it. Rows that cannot be read change nothing and are listed. A file that can mean two things \
                 is rejected. The same file again changes nothing.",
            )
            .errors(&["NOT_FOUND", "REFUSED"])
            .least(OperatorPermission::Money),
    );
    routes.get(
        "/carriers/{name}/rate-sheets",
        list_rate_sheets,
        doc(
            "listRateSheets",
            "List the rate sheets of a carrier",
            "Those that were applied, the newest first.",
        )
        .errors(&["NOT_FOUND"])
        .least(OperatorPermission::Money),
    );
    routes.post(
        "/carriers/{name}/rate-sheets/undo",
        undo_rates,
        doc("undoRateSheet", "Take the last rate sheet back", "What was taken back, or would be.")
            .details(
                "The last sheet of the carrier that was applied: its costs that are not in force yet are removed, and those that it \
                 replaced are as before. Costs in force stay.",
            )
            .errors(&["NOT_FOUND", "REFUSED"])
            .least(OperatorPermission::Money),
    );
}
