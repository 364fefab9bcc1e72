"""Experiments whose results in full are not there yet; a name goes when its file comes."""

UNMEASURED = {
    "trained-for-chips",
    "fragility",
    "typical-yield",
    "published-chips",
    "chip-resources",
    "even-coupling",
    "bake-off",
    "rule-gradients",
    "rules-on-chips",
    "teacher-sweep",
    "more-teachers",
    "single-runs",
    "from-zero-symmetry",
    "recurrence",
    "likelihood",
    "test-norm",
}
