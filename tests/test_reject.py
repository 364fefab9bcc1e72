"""The reject option: what it promises on validation examples, and what it refuses."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

import entrain
from entrain.data import Preprocessing, Split
from entrain.evaluation import RejectOption
from entrain.evaluation.reject import ERRORS_KEPT, FAINT, SMALL_MARGIN, UNLIKE
from entrain.models.network import KuramotoNetwork
from entrain.models.pretrained import shipped
from entrain.utils.errors import InputError


def made(seed: int = 0, examples: int = 4000) -> tuple[RejectOption, torch.Tensor, torch.Tensor]:
    """Rows of 6 features in a plane and a little noise; scores that are right where they lead."""
    g = torch.Generator().manual_seed(seed)
    rows = torch.randn(2 * examples, 2, generator=g) @ torch.randn(2, 6, generator=g)
    rows = rows + 0.05 * torch.randn(rows.shape, generator=g)
    lead = torch.rand(examples, generator=g)
    wrong = torch.rand(examples, generator=g) < 0.5 * (1 - lead) ** 3
    scores = torch.stack([lead, torch.zeros(examples)], 1)
    labels = wrong.long()
    return RejectOption.fit(rows[:examples], rows[examples:], scores, labels), rows, scores


def test_errors_among_the_sure_are_a_third_on_validation_examples() -> None:
    option, _, _ = made()
    error, kept = 100 - option.measured["top1"], 100 - option.measured["top1_sure"]
    assert error > 5
    assert kept <= ERRORS_KEPT * error + 1e-9
    assert 50 <= option.measured["coverage"] < 95


def test_one_in_a_hundred_is_unlike_the_others_and_what_leaves_their_plane_is() -> None:
    option, rows, _ = made()
    clear = torch.tensor([[1.0, -1.0]])
    reasons = option.reasons(rows[4000:], clear.expand(4000, 2))
    assert reasons.count(UNLIKE) == pytest.approx(40, abs=2)
    assert option.reasons(rows[:1], torch.tensor([[0.5, 0.5]])) == [SMALL_MARGIN]
    away = torch.randn(50, 6, generator=torch.Generator().manual_seed(2))
    assert option.reasons(3 * away, clear.expand(50, 2)).count(UNLIKE) > 45


def test_the_distance_is_mahalanobis_where_all_directions_are_kept() -> None:
    option, rows, _ = made()
    x = rows[:4000].double().numpy()
    away = x - x.mean(0)
    inverse = np.linalg.inv(away.T @ away / len(x))
    expected = np.sqrt(np.einsum("ni,ij,nj->n", away, inverse, away))
    np.testing.assert_allclose(option.distances(rows[:4000]), expected, rtol=1e-3)


def test_not_a_number_is_never_sure() -> None:
    option, rows, _ = made()
    bad = rows[:1].clone()
    bad[0, 0] = float("nan")
    assert option.reasons(bad, torch.tensor([[1.0, 0.0]])) == [UNLIKE]
    assert option.reasons(rows[:1], torch.tensor([[float("nan"), 0.0]])) == [SMALL_MARGIN]


def test_a_perfect_model_is_sure_of_all_that_looks_right() -> None:
    _, rows, scores = made()
    option = RejectOption.fit(rows[:4000], rows[4000:], scores, torch.zeros(4000, dtype=torch.long))
    assert option.measured["coverage"] == pytest.approx(99, abs=0.1)


def test_of_few_different_margins_half_of_the_examples_at_least_stay_sure() -> None:
    """As a coarse readout has them: 15 % lead clearly, 45 % a little, 40 % not at all."""
    rows = torch.randn(100, 3, generator=torch.Generator().manual_seed(0))
    lead = torch.tensor([1.0] * 15 + [0.5] * 45 + [0.0] * 40)
    labels = torch.arange(100) % 2  # half of the answers are wrong, whatever the margin
    scores = torch.stack([lead, torch.zeros(100)], 1)
    option = RejectOption.fit(rows, rows, scores, labels)
    assert option.margin == 0.5
    assert option.measured["coverage"] == pytest.approx(60, abs=2)


@pytest.mark.parametrize("name", sorted(shipped()))
def test_shipped_models_keep_their_reject_option(name: str, tmp_path: Path) -> None:
    model = entrain.load(name)
    assert model.reject is not None
    test = entrain.load_test_split(model.dataset)
    pixels, labels = test.features[::5], test.labels[::5]
    sure, right = ~model.rejected(pixels), model.predict_indices(pixels) == labels
    assert abs(100 * sure.mean() - model.reject.measured["coverage"]) < 5
    assert (~right[sure]).mean() < 0.7 * (~right).mean()  # a third, but of few errors
    noise = np.random.default_rng(0).integers(0, 256, (20, 784))
    assert model.rejected(noise).all()
    model.save(tmp_path / "m.safetensors")
    again = entrain.load(tmp_path / "m.safetensors")
    np.testing.assert_array_equal(again.rejected(pixels[:100]), model.rejected(pixels[:100]))
    assert again.reject is not None
    assert again.reject.measured == model.reject.measured


def test_faint_images_are_unsure(tmp_path: Path) -> None:
    """Without it, images divided by 40 are all read as a 5, with margins of 1.5 to 1.9."""
    model, test = entrain.load("mnist-74"), entrain.load_test_split("mnist")
    pixels = test.features[:200].astype(float) / 255
    assert model.rejected(pixels / 4).mean() > 0.95
    reasons = model.reject_reasons(pixels / 40)
    assert reasons.count(FAINT) > 150
    assert None not in reasons
    model.save(tmp_path / "m.safetensors")
    assert entrain.load(tmp_path / "m.safetensors").reject_reasons(pixels / 40) == reasons
    old = replace(model.reject, contrast=0.0)
    assert None in replace(model, reject=old).reject_reasons(pixels / 40)


def test_images_of_low_contrast_are_sure_for_a_model_of_such_images() -> None:
    """The least contrast is that of the training images, whatever it is."""
    data = entrain.load_dataset("digits")
    fade = [np.rint(100 + split.features / 16) for split in (data.train, data.validation)]
    model = entrain.load("mnist-74")
    scaling = Preprocessing.fit(fade[0], (8, 8), 255.0)
    network = KuramotoNetwork(64, 8, 10)
    model = replace(model, network=network, preprocessing=scaling, reject=None, teacher=None)
    model = model.with_reject_option(fade[0], Split(fade[1], data.validation.labels))
    assert model.reject.contrast < 0.01
    assert model.reject_reasons(fade[0]).count(FAINT) < 0.01 * len(fade[0])


def test_a_model_without_one_is_never_unsure(tmp_path: Path) -> None:
    model = replace(entrain.load("mnist-74"), reject=None)
    model.save(tmp_path / "m.safetensors")
    again = entrain.load(tmp_path / "m.safetensors")
    assert again.reject is None
    assert not again.rejected(np.eye(28)[None] * 255).any()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"margin": -1.0}, "margin must be"),
        ({"distance": float("nan")}, "distance must be"),
        ({"rest": 0.0}, "variances must be above 0"),
        ({"variances": torch.zeros(6)}, "variances must be above 0"),
        ({"directions": torch.zeros(6, 5)}, "need directions of"),
    ],
)
def test_options_that_cannot_be(change: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        replace(made()[0], **change)
