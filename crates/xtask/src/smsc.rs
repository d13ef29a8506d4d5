//! Installs the third-party SMPP libraries, with pinned versions, that tests use as carriers: one for Node, one for Python.
//! The scripts that use them are beside the tests.

use clap::ValueEnum;

use crate::packages;
use crate::shell::Failure;

/// A library that a carrier of the tests uses.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Library {
    /// The package `smpp` of npm
    Node,
    /// The package `smpp.twisted3` of PyPI
    Twisted,
}

impl Library {
    pub(crate) const ALL: [Library; 2] = [Library::Node, Library::Twisted];

    /// The variable that gives its path to the tests.
    pub(crate) fn variable(self) -> &'static str {
        match self {
            Library::Node => "HERMOD_SMSC_NODE",
            Library::Twisted => "HERMOD_SMSC_TWISTED",
        }
    }

    /// Returns the folder of the packages for Node, or the Python that has Twisted.
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
