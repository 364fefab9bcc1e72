"""The pages of the report: one for each experiment of the paper, and reports of our own ones."""

from __future__ import annotations

from dataclasses import dataclass

from entrain_paper.experiments import EXPERIMENTS

FOLDER = "reproduction"
"""Folder of the pages, beside REPRODUCTION.md."""

# Where the paper has an experiment, in its order.
PLACES = {
    "preprocessing": "Appendix A.1, Table 1",
    "teachers": "Appendix A.2, Table 2",
    "configuration": "Appendix A.4, Table 3",
    "multiseed": "Appendix B.1, Table 4 and Figure 1",
    "validation-curves": "Appendix B.1, Figure 5",
    "stage2-components": "Appendix B.1, Figure 6",
    "paired-effects": "Appendix B.2, Table 5",
    "trajectory": "Appendix C.1, Table 6",
    "time-resolved": "Appendix C.2, Figure 7",
    "output-dynamics": "Appendix C.3, Figures 8 to 11",
    "architectures": "Appendix D, Tables 7 and 8, Figures 2 and 12",
    "ablation": "Appendix E.1, Table 9 and Figure 3",
    "matched-continuations": "Appendix E.1, Figure 13",
    "endpoint-weight": "Appendix E.2, Table 10",
    "widths": "Appendix F, Tables 11 and 12, Figure 4 a and d",
    "temperature": "Appendix G.2, Table 13, Figure 4 b and e",
    "stochastic-dynamics": "Appendix G.3, Figure 14",
    "refinement": "Appendix H, Table 14, Figure 4 c and f",
    "energy-descent": "Methodology, the energy",
    "resources": "Appendix I.2, Table 15",
    "oscillator-scale": "Appendix I.2, Figure 15",
    "training-protocols": "Appendix I.3, Table 16",
    "broader-context": "Appendix I.4, Table 17",
}


@dataclass(frozen=True)
class Page:
    """A page of the report: its file, its title and its experiments."""

    name: str
    title: str
    experiments: tuple[str, ...]
    about: str = ""

    @property
    def path(self) -> str:
        """Path from the folder of the report."""
        return f"{FOLDER}/{self.name}.md"


PAPER_PAGES = tuple(Page(name, EXPERIMENTS[name].title, (name,), PLACES[name]) for name in PLACES)
OWN_PAGES = (
    Page(
        "controls",
        "Controls: other teachers, training orders and starts",
        (
            *("teacher-sweep", "checkpoint-rules"),
            *("teachers-of-widths", "teachers-of-architectures", "teachers-of-branches"),
            *("single-runs", "architecture-orders", "from-zero", "from-zero-symmetry"),
            *("likelihood", "test-norm"),
        ),
        "What another teacher, training order, start or norm changes. These draws are the scales "
        "of the verdicts.",
    ),
    Page(
        "records",
        "Networks trained on labels",
        ("records", "fine-records", "recurrence", "teacher-needed", "anytime"),
        "The same networks without a teacher, and with parts removed.",
    ),
    Page(
        "chips",
        "Networks on imperfect chips",
        (
            *("trained-for-chips", "fragility", "typical-yield", "published-chips"),
            *("chip-resources", "even-coupling"),
        ),
        "Accuracy on simulated chips with mismatch, few levels, missing couplers and noise.",
    ),
    Page(
        "rules",
        "Training rules without a model",
        ("rule-gradients", "rules-on-chips"),
        "Equilibrium propagation and other rules that need no model of the network.",
    ),
    Page(
        "bake-off",
        "Bake-off of the compared systems",
        ("bake-off",),
        "Every system that the paper compares with, measured on one protocol.",
    ),
)
PAGES = (*PAPER_PAGES, *OWN_PAGES)
PAGE_OF = {name: page for page in PAGES for name in page.experiments}
