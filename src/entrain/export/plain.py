r"""A network as JSON and NumPy arrays, for other simulators, boards and papers.

`network.json` has graph, units, parameters and test vectors, `network.npz` the same arrays for
NumPy. The schema, N oscillators, M images, the last O oscillators read:

    format, version          "entrain network", 1
    equation                 the drift in words
    dynamics                 mobility, observation_time, steps (explicit Euler)
    oscillators, outputs     N, O
    couplers                 [i, j, J_ij, J_ji] of every pair that is coupled
    frequencies, injection, start   N numbers each, if the network has them (start: always)
    lag, harmonic            one number, and two, if the network has them
    class_names              O words
    test_vectors             of each image: label, fields (N), phases (N) and scores (O) at the end
"""

from __future__ import annotations

import io
import zipfile
from typing import Any

import numpy as np

from entrain.export.design import DYNAMICS, Design
from entrain.utils.errors import InputError
from entrain.utils.files import strict_json

_BATCH = 2**22  # differences of phases
JSON, NUMPY = "network.json", "network.npz"
_EQUATION = (
    "d theta_i/dt = w_i - mu [ b_i sin(theta_i) + sum_j J_ij g(theta_i - theta_j) "
    "+ 2 s_i sin(2 theta_i) ], g(x) = sin(x + lag) + c sin(2 x) + d cos(2 x); scores: cos(theta) "
    "of the last outputs; phases in radians, time in the unit that mu sets"
)


def plain_files(design: Design) -> dict[str, bytes]:
    """Both files by name."""
    matrix, phases = design.couplings, design.phases()
    scores = design.scores(phases)
    arrays = {
        name: tensor[0, 0].numpy() if name in ("frequencies", "injection") else tensor[0].numpy()
        for name, tensor in design.phase_model.tensors().items()
        if name != "start"
    }
    first, second = np.nonzero(np.triu((matrix != 0) | (matrix.T != 0), 1))
    values: dict[str, Any] = {
        "format": "entrain network",
        "version": 1,
        "model": design.model,
        "equation": _EQUATION,
        "dynamics": {name: getattr(design.dynamics, name) for name in DYNAMICS},
        "oscillators": design.oscillators,
        "outputs": design.outputs,
        "class_names": list(design.class_names),
        "start": design.start.tolist(),
    }
    terms = ("frequencies", "injection", "lag", "harmonic")
    values |= {name: arrays[name].tolist() for name in terms if name in arrays}
    values["couplers"] = [
        [int(i), int(j), float(matrix[i, j]), float(matrix[j, i])]
        for i, j in zip(first, second, strict=True)
    ]
    values["test_vectors"] = [
        {"label": label, "fields": b.tolist(), "phases": end.tolist(), "scores": cos.tolist()}
        for label, b, end, cos in zip(design.labels, design.fields, phases, scores, strict=True)
    ]
    arrays |= {
        "start": design.start,
        "phases": phases,
        "scores": scores,
        "labels": np.array(design.labels),
        "dynamics": np.array([design.dynamics.mobility, design.dynamics.observation_time]),
        "steps": np.array(design.dynamics.steps),
    }
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:  # as np.savez, without the time of day
        for name, array in arrays.items():
            with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w") as entry:
                np.lib.format.write_array(entry, np.asarray(array), allow_pickle=False)
    return {JSON: (strict_json(values, 1) + "\n").encode(), NUMPY: content.getvalue()}


def recompute(values: dict[str, Any], design: Design) -> np.ndarray:
    """The phases at the end (M, N) from a description, by plain NumPy; a description of another
    size than `design` is an error."""
    n, dynamics = int(values["oscillators"]), values["dynamics"]
    mu, steps = dynamics["mobility"], int(dynamics["steps"])
    sizes = n, steps, len(values["test_vectors"])
    if sizes != (design.oscillators, design.dynamics.steps, design.images):
        raise InputError(f"{n} oscillators, {steps} steps: not those of the design in this folder")
    matrix = np.zeros((n, n))
    for i, j, ij, ji in values["couplers"]:
        matrix[int(i), int(j)], matrix[int(j), int(i)] = ij, ji
    fields = np.array([vector["fields"] for vector in values["test_vectors"]], dtype=np.float64)
    w, s = (np.array(values.get(name, [0.0] * n)) for name in ("frequencies", "injection"))
    lag, (c, d) = values.get("lag", 0.0), values.get("harmonic", (0.0, 0.0))
    start = np.array(values["start"], dtype=np.float64)
    ends = []
    batch = max(1, _BATCH // n**2)
    for k in range(0, len(fields), batch):
        b = fields[k : k + batch]
        theta = np.tile(start, (len(b), 1))
        for _ in range(steps):
            x = theta[:, :, None] - theta[:, None, :]
            g = np.sin(x + lag) + c * np.sin(2 * x) + d * np.cos(2 * x)
            pull = b * np.sin(theta) + (matrix * g).sum(-1) + 2 * s * np.sin(2 * theta)
            theta = theta + dynamics["observation_time"] / steps * (w - mu * pull)
        ends.append(theta)
    return np.concatenate(ends)
