"""The table of terms, from their registry.

python tools/docs_site/terms.py     # prints it
"""

from __future__ import annotations

from entrain.physics.parameters import PER_OSCILLATOR
from entrain.physics.terms import TERMS, PairTerm


def markdown() -> str:
    """One row for each term of `entrain.physics.terms`."""
    rows = ["| argument | values | adds | energy |", "|---|---|---|---|"]
    for name, term in TERMS.items():
        shape = "(N,)" if name in PER_OSCILLATOR else "one number"
        if isinstance(term, PairTerm) and term.shape == "couplings":
            shape = "(N, N)"
        elif isinstance(term, PairTerm) and term.size:
            shape = f"({', '.join(map(str, term.size))},)"
        energy = f"`{term.energy_formula}`" if term.energy_formula else "none"
        rows.append(f"| `{name}` | {term.symbol}, {shape} | `{term.formula}` | {energy} |")
    return "\n".join(rows)


if __name__ == "__main__":
    print(markdown())  # noqa: T201
