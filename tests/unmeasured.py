"""Experiments whose results in full are not there yet; a name goes when its file comes."""

UNMEASURED = {
    "trained-for-chips",
    "published-chips",
    "chip-resources",
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
