"""Not a change log: reads those of others."""

VERSION = "1.0"
