//! Rate sheets: a carrier's prices as it sends them, read by its rate profile, compared with its costs, applied when they are
//! confirmed, and taken back before they apply.

mod columns;
mod destination;
mod kept;
mod losses;
mod plan;
mod routes;
mod rows;
mod sheet;
mod sheet_file;
mod text_file;
mod traffic;
pub mod upload;
pub mod use_cases;
mod values;
pub mod views;
mod workbook;

pub(crate) use routes::routes;
