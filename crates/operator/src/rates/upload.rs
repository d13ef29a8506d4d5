//! The body of a request that is a rate sheet: a workbook or a text file. Which it is follows from its content.

use crate::http::response::CSV;
use crate::http::routes::text;
use crate::http::use_case::{Call, Described, Input, OfRequest};
use crate::refusal::{OperatorRefusal, Result};
use bytes::Bytes;
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::{ContentBuilder, Required};

const XLSX: &str = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
/// A file whose type the caller does not know.
const ANY_FILE: &str = "application/octet-stream";

/// The bytes of a rate sheet.
pub struct RateSheetFile(pub(crate) Bytes);

impl Input<OfRequest> for RateSheetFile {
    type Pointer = Box<RateSheetFile>;

    fn describe(described: &mut Described) {
        let file = || ContentBuilder::new().schema(Some(text())).build();
        let body = RequestBodyBuilder::new().required(Some(Required::True));
        let body = body.content(CSV, file()).content(XLSX, file()).content(ANY_FILE, file());
        described.body = Some(body.build());
        described.errors.extend(["INVALID_CONTENT_TYPE", "BODY_TOO_LARGE"]);
    }

    fn take(call: &mut Call) -> Result<Box<RateSheetFile>> {
        let body = call.body();
        if [CSV, XLSX, ANY_FILE].iter().any(|kind| body.is(kind)) {
            return Ok(Box::new(RateSheetFile(body.bytes().clone())));
        }
        Err(OperatorRefusal::InvalidContentType("send Content-Type: text/csv or application/octet-stream"))
    }
}
