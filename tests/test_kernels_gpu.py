"""The CUDA kernels against the reference, on outputs and on every gradient.

For real where there is a CUDA device; elsewhere the same source and the same wrapper run on the
CPU through a small emulator, which needs a C++ compiler. The facts themselves are in
kernel_facts.py.
"""

from __future__ import annotations

from typing import Any

import pytest

import kernel_facts as facts
from cuda_emulation import DEVICE, REAL, emulation
from entrain.kernels import gpu

on_a_device = pytest.mark.skipif(not REAL, reason="needs a CUDA device")

# runs, batch, oscillators, steps: one sample, odd sizes, many runs, one step
SHAPES = [(1, 1, 8, 7), (2, 5, 9, 9), (3, 9, 25, 5), (1, 3, 4, 1), (1, 2, 37, 6)]
HELD = [(1, 3, 138, 3)]
# beyond the registers; beyond four threads to a row, with one, two and four samples to a block
LARGE = [(1, 3, 200, 2), (1, 2, 256, 2)]
LARGEST = [(1, 1, 300, 2), (1, 3, 300, 2), (1, 5, 300, 2), (1, 3, 600, 2), (1, 5, 600, 2)]
if REAL:
    SHAPES += [(1, 256, 74, 200), (10, 100, 74, 50), (2, 33, 26, 200)]
    HELD = [(2, 40, 138, 60)]
    LARGE = [(1, 37, 200, 40), (2, 33, 256, 40)]
    LARGEST += [(2, 67, 300, 30), (1, 301, 512, 20), (1, 97, 1000, 10), (1, 601, 1024, 5)]

QUICK = [SHAPES[1], *HELD, LARGE[0], LARGEST[1]]
SMALL = (2, 3, 7, 6)
EACH_TERM = [(term,) for term in facts.TERMS]


def slow_unless(quick: list[facts.Shape], shapes: list[facts.Shape]) -> list[Any]:
    """`shapes` as parameters; the emulator compiles and runs those outside `quick` too slowly."""
    return [
        shape if REAL or shape in quick else pytest.param(shape, marks=pytest.mark.slow)
        for shape in shapes
    ]


@pytest.fixture(autouse=True, scope="module")
def _device(tmp_path_factory):
    with emulation(tmp_path_factory.mktemp("emulated")):
        yield


@pytest.mark.parametrize("symmetric", [True, False], ids=["symmetric", "any"])
@pytest.mark.parametrize("shape", slow_unless(QUICK, SHAPES + HELD + LARGE), ids=str)
def test_rollout_and_every_gradient_equal_the_reference(
    shape: facts.Shape, symmetric: bool
) -> None:
    facts.check_terms(gpu, DEVICE, shape, symmetric=symmetric)


@pytest.mark.parametrize("terms", [*EACH_TERM, facts.TERMS, ()], ids="+".join)
@pytest.mark.parametrize("shared", [False, True], ids=["of samples", "shared"])
def test_every_term_has_its_effect_and_gradient(terms: tuple[str, ...], shared: bool) -> None:
    facts.check_terms(gpu, DEVICE, SMALL, terms, shared=shared)


@pytest.mark.parametrize("terms", [*EACH_TERM, facts.TERMS, ()], ids="+".join)
def test_noisy_recorded_paths_have_every_gradient(terms: tuple[str, ...]) -> None:
    facts.check_terms(gpu, DEVICE, SMALL, terms, shared=True, noisy=True, record=True)


@pytest.mark.parametrize("shared", [False, True], ids=["of samples", "shared"])
@pytest.mark.parametrize(("noisy", "record"), [(True, False), (False, True), (True, True)])
def test_all_terms_together(noisy: bool, record: bool, shared: bool) -> None:
    facts.check_terms(gpu, DEVICE, SMALL, facts.TERMS, shared=shared, noisy=noisy, record=record)


@pytest.mark.parametrize(
    "terms",
    [
        ("lag", "injection"),
        ("frequencies", "start"),
        ("lag", "harmonic"),
        ("injection", "harmonic"),
    ],
    ids="+".join,
)
def test_pairs_of_terms(terms: tuple[str, ...]) -> None:
    facts.check_terms(gpu, DEVICE, (1, 2, 5, 6), terms)


@pytest.mark.parametrize(
    "shape", slow_unless([SHAPES[4], *LARGE], [*SHAPES[2:5], *HELD, *LARGE[:1]]), ids=str
)
def test_all_terms_in_every_layout(shape: facts.Shape) -> None:
    facts.check_terms(gpu, DEVICE, shape, facts.TERMS)


@pytest.mark.parametrize("symmetric", [True, False], ids=["symmetric", "any"])
@pytest.mark.parametrize(
    "shape", slow_unless(HELD, [SHAPES[2], *HELD, *LARGE[:1], LARGEST[4]]), ids=str
)
def test_a_second_harmonic_alone_in_every_layout(shape: facts.Shape, symmetric: bool) -> None:
    facts.check_terms(gpu, DEVICE, shape, ["harmonic"], symmetric=symmetric)


@pytest.mark.parametrize("shape", slow_unless(QUICK, LARGEST), ids=str)
def test_large_networks(shape: facts.Shape) -> None:
    facts.check_terms(gpu, DEVICE, shape)


@pytest.mark.parametrize("shape", slow_unless(LARGEST[2:3], LARGEST[2:4]), ids=str)
def test_large_networks_with_all_terms(shape: facts.Shape) -> None:
    facts.check_terms(gpu, DEVICE, shape, facts.TERMS, record=True)


def test_large_noisy_networks() -> None:
    facts.check_terms(gpu, DEVICE, (1, 2, 300, 2), noisy=True)


@pytest.mark.parametrize("shape", slow_unless(QUICK, SHAPES[:3]), ids=str)
def test_recorded_rollouts_equal_the_reference(shape: facts.Shape) -> None:
    facts.check_recorded(gpu, DEVICE, shape)


@pytest.mark.parametrize("record", [False, True])
@pytest.mark.parametrize("shape", slow_unless(QUICK, SHAPES[:3]), ids=str)
def test_noisy_rollouts_receive_the_same_increments(shape: facts.Shape, record: bool) -> None:
    facts.check_increments(gpu, DEVICE, shape, record)


@pytest.mark.parametrize("nodes", [None, 4])
@pytest.mark.parametrize("shape", slow_unless(QUICK, SHAPES + HELD), ids=str)
def test_path_loss_and_every_gradient_equal_the_reference(
    shape: facts.Shape, nodes: int | None
) -> None:
    facts.check_path_loss(gpu, DEVICE, shape, nodes)


def test_path_loss_does_not_depend_on_the_start() -> None:
    facts.check_path_loss(gpu, DEVICE, SMALL, None, ["start"])


@pytest.mark.parametrize("term", ["frequencies", "injection", "lag", "harmonic"])
def test_reference_computes_path_loss_of_other_models(term: str) -> None:
    assert not gpu.has_path_loss(facts.example(SMALL, [term]))
    assert not gpu.has_path_loss(facts.example((1, 1, 161, 1)))


@pytest.mark.parametrize("shape", [SMALL, (1, 2, 200, 1)], ids=str)
def test_tensors_need_not_be_contiguous(shape: facts.Shape) -> None:
    facts.check_layout_of_tensors(gpu, DEVICE, shape)


def test_a_run_that_is_not_finite_does_not_change_other_runs() -> None:
    facts.check_runs_are_apart(gpu, DEVICE)


@pytest.mark.parametrize("samples", [1, 2, 4])
@pytest.mark.parametrize("oscillators", [1, 2, 74, 160, 161, 256, 257, 341, 342, 512, 513, 1024])
def test_every_layout_fits_a_block(oscillators: int, samples: int) -> None:
    layout = gpu.Layout(oscillators, samples)
    if oscillators <= 256 and samples == 4:
        return  # two at most, there
    assert oscillators * layout.chunks <= layout.threads <= 1024
    rows = 8 * samples * layout.definitions["SLOTS"] * (2 if layout.holds else 1)
    partial = 8 * layout.chunks * samples * oscillators if layout.chunks > 1 else 0
    assert rows + partial <= 48 * 1024


def test_tape_has_three_values_and_two_more_without_held_couplings() -> None:
    def size(oscillators: int, *terms: str) -> int:
        return gpu.tape_bytes(facts.example((1, 1, oscillators, 1), terms), 200)

    assert size(74) == size(74, "harmonic") == 4 * (3 * 74 * 200 + 74**2)
    assert size(300) == 4 * 5 * 300 * 200
    assert size(300, "harmonic") == 4 * 8 * 300 * 200


@on_a_device
@pytest.mark.parametrize("shape", [(1, 64, 74, 50), (1, 200, 300, 20)], ids=str)
def test_tape_bytes_is_the_size_of_the_tape(shape: facts.Shape) -> None:
    facts.check_memory(gpu, DEVICE, shape)
    facts.check_memory(gpu, DEVICE, shape, ["harmonic"])


@on_a_device
@pytest.mark.parametrize("shape", [(1, 64, 74, 50), (1, 40, 200, 20)], ids=str)
def test_a_rollout_and_its_pullback_can_be_captured(shape: facts.Shape) -> None:
    facts.check_capture(gpu, DEVICE, shape)


@on_a_device
def test_any_thread_can_launch() -> None:
    facts.check_fresh_thread(gpu, DEVICE)
