//! Exports: CSV files that are read page by page while they are sent, a few at a time, and files of the setup, made as a whole.

use crate::csv::push_headings;
use crate::refusal::{OperatorRefusal, Result};
use futures_util::future::BoxFuture;
use futures_util::{Stream, stream};
use hermod_gateway::gateway::Gateway;
use hermod_gateway::live_status::{EXPORTS_MAX, NoSlot, Slot};
use hermod_gateway::workers::Workers;
use hermod_store::record::Scope;
use std::io;
use std::sync::Arc;

/// Rows that are read at a time.
pub(crate) const PAGE_ROWS: u32 = 1_000;

/// Whether another page may follow.
pub(crate) type PageRead<'a> = BoxFuture<'a, Result<bool>>;

/// What an export reads.
pub(crate) trait Pages: Send + 'static {
    /// Adds the rows of the next page to the file.
    fn read<'a>(&'a mut self, gateway: &'a Gateway, csv: &'a mut String) -> PageRead<'a>;
}

/// A file that was made as a whole.
#[derive(Debug)]
pub struct TextFile {
    pub(crate) form: FileForm,
    /// What it lists, such as `prices`.
    pub(crate) name: &'static str,
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileForm {
    Csv,
    /// A provision file.
    Toml,
}

/// A CSV file that is read as it is sent.
pub struct Rows {
    gateway: Arc<Gateway>,
    /// What it lists, such as `messages`.
    name: &'static str,
    /// What is left to read.
    pages: Option<Box<dyn Pages>>,
    /// The beginning, read before the response begins so that an error is one.
    first: Option<String>,
    _slot: Slot<Scope>,
}

impl Rows {
    pub(crate) async fn begin(
        gateway: &Arc<Gateway>,
        name: &'static str,
        scope: Scope,
        headings: &[&str],
        pages: impl Pages,
    ) -> Result<Rows> {
        let slot = gateway
            .exports
            .take(scope)
            .map_err(|NoSlot| OperatorRefusal::ExportsRunning { max: EXPORTS_MAX })?;
        let mut rows =
            Rows { gateway: gateway.clone(), name, pages: Some(Box::new(pages)), first: None, _slot: slot };
        let mut first = String::new();
        push_headings(&mut first, headings);
        first.push_str(&rows.read().await?.unwrap_or_default());
        rows.first = Some(first);
        Ok(rows)
    }

    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the file as it is read. If reading fails or the gateway stops, it ends with an error, so that its receiver
    /// sees that it is incomplete.
    pub fn into_pieces(self, workers: &Workers) -> impl Stream<Item = io::Result<String>> + Send + use<> {
        let stopping = workers.stopping();
        stream::unfold(Some(self), move |rows| {
            let stopping = stopping.clone();
            async move {
                let mut rows = rows?;
                let piece = tokio::select! {
                    biased;
                    () = stopping.cancelled() => Err(OperatorRefusal::stopping()),
                    piece = rows.next() => piece,
                };
                match piece.transpose()? {
                    Ok(text) => Some((Ok(text), Some(rows))),
                    Err(refusal) => {
                        tracing::warn!(%refusal, "An export was cut off");
                        Some((Err(io::Error::other(refusal.to_string())), None))
                    }
                }
            }
        })
    }

    /// Returns the next piece of the file, which may be empty; none at its end.
    async fn next(&mut self) -> Result<Option<String>> {
        match self.first.take() {
            Some(first) => Ok(Some(first)),
            None => self.read().await,
        }
    }

    async fn read(&mut self) -> Result<Option<String>> {
        let Some(pages) = &mut self.pages else { return Ok(None) };
        let mut csv = String::new();
        if !pages.read(&self.gateway, &mut csv).await? {
            self.pages = None;
        }
        Ok(Some(csv))
    }
}
