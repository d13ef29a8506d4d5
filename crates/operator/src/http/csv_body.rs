//! The body of a request that is a CSV file.

use crate::csv_table::CsvFile;
use crate::http::response::CSV;
use crate::http::routes::text;
use crate::http::use_case::{Call, Described, Input, OfRequest};
use crate::refusal::{OperatorRefusal, Result};
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::{ContentBuilder, Required};

impl Input<OfRequest> for CsvFile {
    type Pointer = Box<CsvFile>;

    fn describe(described: &mut Described) {
        let file = ContentBuilder::new().schema(Some(text())).build();
        let body = RequestBodyBuilder::new().required(Some(Required::True)).content(CSV, file);
        described.body = Some(body.build());
        described.errors.extend(["INVALID_CONTENT_TYPE", "INVALID_CSV", "BODY_TOO_LARGE"]);
    }

    fn take(call: &mut Call) -> Result<Box<CsvFile>> {
        let body = call.body();
        if body.is(CSV) {
            return Ok(Box::new(CsvFile(body.bytes().clone())));
        }
        Err(OperatorRefusal::InvalidContentType("send Content-Type: text/csv"))
    }
}
