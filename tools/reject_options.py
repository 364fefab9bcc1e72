"""Fit the reject options of the shipped models on validation images.

    ENTRAIN_DATA=FOLDER python tools/reject_options.py

Nothing else in the files changes. Run it after a change of the format of model files.
"""

from __future__ import annotations

from pathlib import Path

from entrain.data import load_dataset
from entrain.models.model import read_model

MODELS = Path(__file__).parents[1] / "src" / "entrain" / "models"


def main() -> None:
    for path in sorted(MODELS.glob("*.safetensors")):
        model = read_model(path)
        data = load_dataset(model.dataset)
        model = model.with_reject_option(data.train.features, data.validation)
        model.save(path)
        assert model.reject is not None
        print(path.stem, model.reject.measured, f"{path.stat().st_size:,} bytes")  # noqa: T201


if __name__ == "__main__":
    main()
