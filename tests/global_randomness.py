"""Uses of global random generators in Python sources, found in their syntax trees."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

SAMPLERS = {
    *("rand", "randn", "randint", "randperm", "normal", "bernoulli", "multinomial", "poisson"),
    *("rand_like", "randn_like", "randint_like", "binomial"),
}
IN_PLACE = {
    *("normal_", "uniform_", "bernoulli_", "random_", "exponential_", "geometric_", "cauchy_"),
    *("log_normal_", "multinomial", "bernoulli"),
}
GLOBAL_STATE = {"manual_seed", "seed", "initial_seed", "get_rng_state", "set_rng_state"}
SEEDED = {
    *("numpy.random.default_rng", "numpy.random.RandomState", "numpy.random.PCG64"),
    "random.Random",
}
UNSEEDED = {"numpy.random.Generator", "numpy.random.SeedSequence"}  # take a seed or a generator
PLAIN_NN = {"torch.nn.Module", "torch.nn.ModuleList", "torch.nn.Parameter"}


def uses(path: Path) -> list[str]:
    """`LINE: name` of each use of a global generator in a file."""
    tree = ast.parse(path.read_text(), str(path))
    names = dict(_imported(tree))
    return [
        f"{node.lineno}: {name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and (name := _global_sampler(node, names)) is not None
    ]


def _imported(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """The dotted name of each imported name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                root = alias.name.partition(".")[0]
                yield (alias.asname or root), (alias.name if alias.asname else root)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                yield alias.asname or alias.name, f"{node.module}.{alias.name}"


def _global_sampler(call: ast.Call, names: dict[str, str]) -> str | None:
    """The name of a called function that draws from a global generator or changes one."""
    name = _dotted(call.func, names)
    seeded = bool(call.args or call.keywords)
    keywords = {keyword.arg: keyword.value for keyword in call.keywords}
    generator = keywords.get("generator")
    has_generator = generator is not None and not _is_none(generator)
    if name is None:  # a method of a value
        attribute = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        return attribute if attribute in IN_PLACE and not has_generator else None
    package, _, function = name.rpartition(".")
    if name.startswith(("numpy.random.", "random.")):
        allowed = name in UNSEEDED or (name in SEEDED and seeded and not _is_none(call.args[0]))
        return None if allowed else name
    if name.startswith("torch"):
        stateful = package in ("torch", "torch.random", "torch.cuda") and function in GLOBAL_STATE
        sampling = function in SAMPLERS | IN_PLACE and not has_generator
        layer = package == "torch.nn" and name not in PLAIN_NN
        other = package == "torch.nn.init" or "dropout" in function or "manual_seed_all" in name
        return name if stateful or sampling or layer or other else None
    if name.startswith("sklearn"):
        state = keywords.get("random_state")
        draws = function == "train_test_split" and (state is None or _is_none(state))
        return name if draws or function == "check_random_state" else None
    return None


def _dotted(node: ast.expr, names: dict[str, str]) -> str | None:
    """`torch.nn.Linear` for `nn.Linear`; None for an attribute of a value."""
    if isinstance(node, ast.Name):
        return names.get(node.id, "")
    if isinstance(node, ast.Attribute):
        before = _dotted(node.value, names)
        return f"{before}.{node.attr}" if before else None
    return None


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
