"""Experiments whose results in full are not there yet; a name goes when its file comes."""

UNMEASURED = {"published-chips", "more-teachers", "from-zero-symmetry", "fine-records"}
