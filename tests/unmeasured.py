"""Experiments whose results in full are not there yet; a name goes when its file comes."""

UNMEASURED = {
    "published-chips",
    "more-teachers",
    "from-zero-symmetry",
    "recurrence",
}

# Measured with the MNIST teacher of seed 2, which was the main one.
OTHER_TEACHER = {"anytime"}

# Rows of the bake-off that were measured before a search found better settings for them.
BEFORE_THE_SEARCH = {
    "mnist EP H=64 x 5",
    "fashion-mnist gower-bits x 5",
    "fashion-mnist EP H=64 x 5",
}
