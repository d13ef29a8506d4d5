//! Carriers for the tests that are made with other people's SMPP libraries: one in Node, one in Python. The scripts stand
//! beside the tests; what they import is installed here, with every version pinned.

use clap::ValueEnum;

use crate::packages;
use crate::shell::Failure;

/// A library to make a carrier with.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Library {
    /// The package `smpp` of npm
    Node,
    /// The package `smpp.twisted3` of PyPI
    Twisted,
}

impl Library {
    pub(crate) const ALL: [Library; 2] = [Library::Node, Library::Twisted];

    /// Tells the tests where it is.
    pub(crate) fn variable(self) -> &'static str {
        match self {
            Library::Node => "HERMOD_SMSC_NODE",
            Library::Twisted => "HERMOD_SMSC_TWISTED",
        }
    }

    /// For Node the folder in which it finds its packages; for Twisted the Python that has them.
    pub(crate) fn ensure(self) -> Result<String, Failure> {
        let place = match self {
            Library::Node => {
                packages::node("smsc-node", "crates/hermod/tests/smsc/node")?.join("node_modules")
            }
            Library::Twisted => {
                let requirements = "crates/hermod/tests/smsc/python/requirements.txt";
                packages::python("smsc-twisted", requirements)?.join("bin/python")
            }
        };
        Ok(place.to_string_lossy().into_owned())
    }
}
