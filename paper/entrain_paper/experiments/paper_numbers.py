"""The numbers that the paper prints and cites, from published.json."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

# The works cited, by the paper's keys.
CITATIONS = {
    "rageau2025training": "Rageau and Grollier, Neuromorph. Comput. Eng. 5, 034008 (2025)",
    "gower2025train": "Gower, Int. Conf. on Neuromorphic Systems (ICONS), 229-234 (2025)",
    "wang2024training": "Wang, Wanjura and Marquardt, Neuromorph. Comput. Eng. 4, 034014 (2024)",
    "laydevant2024training": "Laydevant, Markovic and Grollier, Nat. Commun. 15, 3671 (2024)",
    "fan2025equilibrium": "Fan, Lu and Wang, PIERS-Fall, 1-6 (2025)",
    "whitelam2026training": "Whitelam, PNAS 123 (14), e2528413123 (2026)",
    "scellier2016equilibrium": "Scellier and Bengio, arXiv:1602.05179 (2016)",
    "sittoni2024subhomogeneous": "Sittoni and Tudisco, ICML (2024)",
    "kalinin2025analog": "Kalinin et al., Nature 645, 354-361 (2025)",
    "yi2023nmode": "Yi, Artif. Intell. Rev. 56, 14403-14438 (2023)",
    "lopezortiz2024exploring": "Lopez-Ortiz et al., Neural Comput. Appl. 36, 11901-11918 (2024)",
    "bacho2023exploring": "Bacho and Chu, Neural Comput. 35, 1627-1656 (2023)",
    "moayed2026design": "Moayed and Csaba, Electronics 15, 2897 (2026)",
    "abernot2023training": (
        "Abernot and Todri-Sanial, Neural Comput. Appl. 35, 18505-18518 (2023)"
    ),
    "gemo2026leveraging": "Gemo, Bonnin and Corinto, Neuromorph. Comput. Eng. 6, 024016 (2026)",
    "cai2025oscnet": "Cai et al., ICCV Workshops, 4792-4800 (2025)",
}


@functools.cache
def paper_numbers() -> dict[str, Any]:
    """The rows and text numbers of each table. Do not modify the result."""
    numbers: dict[str, Any] = json.loads(Path(__file__).with_name("published.json").read_text())
    return numbers
