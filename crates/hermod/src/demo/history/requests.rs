//! Plays requests of customers and the operator's answers, each at its own time.

use super::{DemoError, Timestamp, VALIDITY};
use hermod_gateway::clock::Clock;
use hermod_gateway::gateway::{Gateway, load_catalogue};
use hermod_gateway::running::Opened;
use hermod_operator::author::{Acting, Author};
use hermod_operator::customer_request::use_cases::{
    accept_customer_request, decline_customer_request, make_customer_request,
};
use hermod_operator::customer_request::views::{AcceptRequest, CustomerRequestDraft, DeclineRequest};
use hermod_operator::refusal::OperatorRefusal;
use std::sync::Arc;
use std::time::Duration;

/// A request that a customer made.
#[derive(Clone, Debug)]
pub(crate) struct DemoRequest {
    pub(crate) at: Timestamp,
    pub(crate) account: String,
    /// The e-mail address of the user who made it.
    pub(crate) by: String,
    pub(crate) draft: CustomerRequestDraft,
    /// The operator's answer and how long it took; none if the request is open.
    pub(crate) answer: Option<(Duration, DemoAnswer)>,
}

#[derive(Clone, Debug)]
pub(crate) enum DemoAnswer {
    Accepted { note: String },
    Declined { reason: String },
}

/// Plays requests in this order. Accepted ones make their change.
pub(crate) async fn play_requests(opened: &Opened, requests: Vec<DemoRequest>) -> Result<(), DemoError> {
    let refused = |refusal: OperatorRefusal| DemoError::Invalid(refusal.to_string());
    for DemoRequest { at, account, by, draft, answer } in requests {
        let gateway = gateway_at(opened, at).await?;
        let customer = Acting { gateway, author: Author::user(&by, None) };
        let id = make_customer_request(&customer, &account, draft).await.map_err(refused)?;
        let Some((after, answer)) = answer else { continue };
        let gateway = gateway_at(opened, at.plus(after)).await?;
        let operator = Acting { gateway, author: Author::operator(None) };
        match answer {
            DemoAnswer::Accepted { note } => {
                let decision = AcceptRequest { value: None, done: false, note };
                accept_customer_request(&operator, id, Some(decision)).await.map_err(refused)?;
            }
            DemoAnswer::Declined { reason } => {
                decline_customer_request(&operator, id, DeclineRequest { reason }).await.map_err(refused)?;
            }
        }
    }
    Ok(())
}

async fn gateway_at(opened: &Opened, at: Timestamp) -> Result<Arc<Gateway>, DemoError> {
    let catalogue = load_catalogue(&opened.store).await?;
    let (store, pepper) = (opened.store.clone(), opened.pepper.clone());
    Ok(Arc::new(Gateway::new(Clock::manual(at), store, pepper, catalogue, VALIDITY)))
}
