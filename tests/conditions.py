"""Circumstances in which every term and every method of steps has to be right."""

from __future__ import annotations

import pytest

# Couplings on a sparse graph, everything that can vary in time varies, noise, every n-th step.
CONDITIONS = {
    "plain": {},
    "recorded": {"record": 1},
    "noisy": {"noisy": True, "record": 2},
    "scheduled": {"scheduled": True, "record": 2},
    "sparse": {"sparse": True, "record": 2},
    "sparse, noisy, shared": {"sparse": True, "noisy": True, "shared": True},
    "all": {"sparse": True, "scheduled": True, "noisy": True, "record": 1},
    "all, dense, shared": {"scheduled": True, "noisy": True, "shared": True},
}
in_all_conditions = pytest.mark.parametrize("condition", CONDITIONS.values(), ids=list(CONDITIONS))
