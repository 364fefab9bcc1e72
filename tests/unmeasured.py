"""Experiments whose results in full are not there yet; a name goes when its file comes."""

UNMEASURED = {
    "published-chips",
    "teacher-sweep",
    "more-teachers",
    "single-runs",
    "from-zero-symmetry",
    "recurrence",
    "likelihood",
    "test-norm",
}

# Measured with the MNIST teacher of seed 0, which will be the main one: the others are seed 2's.
OTHER_TEACHER = {"fragility", "typical-yield", "bake-off"}

# Rows of the bake-off that were measured before a search found better settings for them.
BEFORE_THE_SEARCH = {
    "mnist EP H=64 x 5",
    "fashion-mnist gower x 5",
    "fashion-mnist gower-bits x 5",
    "fashion-mnist snn x 5",
    "fashion-mnist EP H=64 x 5",
}
