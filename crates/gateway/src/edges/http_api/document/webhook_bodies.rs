//! The webhook bodies as types, for the document only. `hermod_domain::webhook::payload` writes the bodies, and a test
//! compares them with these types.

use serde::Deserialize;
use utoipa::ToSchema;
use utoipa::openapi::path::OperationBuilder;
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::schema::OneOfBuilder;
use utoipa::openapi::{
    Content, HttpMethod, PathItem, Paths, PathsBuilder, Ref, RefOr, Required, Response, Schema,
};

pub(super) const TAG: &str = "Webhooks";

/// A delivery report in its full form.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DeliveryReport {
    #[schema(examples("123456789012345678"))]
    pub message_id: String,
    /// Always empty: there are no batches.
    pub batch_id: String,
    #[schema(examples("+4915112345678"))]
    pub to: String,
    #[schema(examples("Shop"))]
    pub from: String,
    /// `ACCEPTD`, `DELIVRD`, `UNDELIV`, `REJECTD`, `EXPIRED` or `UNKNOWN`.
    #[schema(examples("DELIVRD"))]
    pub status: String,
    /// 0 on success.
    pub err_code: u32,
    #[schema(examples("No error"))]
    pub err_desc: String,
    /// When the message was accepted.
    #[schema(examples("2026-11-15T09:30:00Z"))]
    pub submitted_at: String,
    /// When the message reached this status.
    #[schema(examples("2026-11-15T09:30:02Z"))]
    pub delivered_at: String,
    #[schema(examples("T-Mobile"))]
    pub network: String,
    #[schema(examples("262"))]
    pub mcc: String,
    #[schema(examples("01"))]
    pub mnc: String,
}

/// A delivery report in its short form.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ShortDeliveryReport {
    #[schema(examples("123456789012345678"))]
    pub id: String,
    #[schema(examples("+4915112345678"))]
    pub to: String,
    /// The state of the message, or `unknown`.
    #[schema(examples("delivered"))]
    pub status: String,
    pub error_code: Option<u32>,
    #[schema(examples("2026-11-15T09:30:02Z"))]
    pub delivered_at: String,
}

/// An inbound message (MO).
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct InboundEvent {
    #[schema(examples("+4915112345678"))]
    pub from: String,
    #[schema(examples("+4915799999999"))]
    pub to: String,
    #[schema(examples("Yes please"))]
    pub text: String,
    #[schema(examples("2026-11-15T09:31:00Z"))]
    pub received_at: String,
}

pub(super) fn all() -> Paths {
    let report = OneOfBuilder::new()
        .item(Ref::from_schema_name("DeliveryReport"))
        .item(Ref::from_schema_name("ShortDeliveryReport"));
    let report = event("deliveryReport", "Delivery report", RefOr::T(Schema::from(report.build())));
    let inbound = Ref::from_schema_name("InboundEvent");
    let inbound = event("inboundMessage", "Inbound message", RefOr::Ref(inbound));
    PathsBuilder::new().path("deliveryReport", report).path("inboundMessage", inbound).build()
}

fn event(id: &str, summary: &str, body: RefOr<Schema>) -> PathItem {
    let body = RequestBodyBuilder::new()
        .content("application/json", Content::new(Some(body)))
        .required(Some(Required::True))
        .build();
    let operation = OperationBuilder::new()
        .tag(TAG)
        .operation_id(Some(id))
        .summary(Some(summary))
        .request_body(Some(body))
        .response("2XX", Response::new("Accepted. Any other status is retried."));
    PathItem::new(HttpMethod::Post, operation.build())
}
