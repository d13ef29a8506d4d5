"""Provision files for schemathesis: a text is sent as it is, whatever it says."""

import schemathesis

schemathesis.serializer.alias("application/toml", "text/plain")
