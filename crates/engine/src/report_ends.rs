//! What customers have answered to reports: as much a fact as what a carrier says.

use crate::ops::ReportId;
use hermod_domain::ids::ConnectionId;
use hermod_domain::time::Timestamp;

/// Reports of a connection that need not be told any more.
#[derive(Clone, Debug)]
pub struct ReportEnds {
    pub connection: ConnectionId,
    /// In order.
    pub taken: Vec<ReportId>,
    /// With the status they were refused with.
    pub refused: Vec<(ReportId, u32)>,
    pub now: Timestamp,
}

impl ReportEnds {
    pub fn is_empty(&self) -> bool {
        self.taken.is_empty() && self.refused.is_empty()
    }

    pub fn into_pieces(self) -> impl Iterator<Item = ReportEnds> {
        let ReportEnds { connection, taken, refused, now } = self;
        let taken = taken.into_iter().map(move |id| ReportEnds {
            connection,
            taken: vec![id],
            refused: Vec::new(),
            now,
        });
        taken.chain(refused.into_iter().map(move |one| ReportEnds {
            connection,
            taken: Vec::new(),
            refused: vec![one],
            now,
        }))
    }
}
