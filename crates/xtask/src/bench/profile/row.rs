//! One line of the profile, of one build or of two.

use super::figures::Figures;
use super::scenario::Scenario;
use crate::shell::Failure;

/// The figures of one build, or why there are none.
pub(super) type Measured = Result<Figures, Failure>;

pub(super) struct Row {
    pub(super) scenario: Scenario,
    /// The build that is compared, if there is one.
    pub(super) old: Option<Measured>,
    pub(super) new: Measured,
}

impl Row {
    /// The builds with their names. A build alone has no name.
    pub(super) fn builds(&self) -> Vec<(&'static str, &Measured)> {
        match &self.old {
            None => vec![("", &self.new)],
            Some(old) => vec![("old", old), ("new", &self.new)],
        }
    }

    /// The figures of both builds, old first, if both were measured.
    pub(super) fn both(&self) -> Option<(&Figures, &Figures)> {
        Some((self.old.as_ref()?.as_ref().ok()?, self.new.as_ref().ok()?))
    }

    pub(super) fn failed(&self) -> usize {
        self.builds().iter().filter(|(_, measured)| measured.is_err()).count()
    }
}
