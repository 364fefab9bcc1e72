"""Experiments whose results in full are not there yet; a name goes when its file comes."""

UNMEASURED = {"architecture-orders"}
