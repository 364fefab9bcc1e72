"""Ising problems: energies, files, and the oscillator machines that solve them."""

from entrain.ising.annealing import Annealing
from entrain.ising.graph import WeightedGraph
from entrain.ising.problem_yield import ProblemYield, chip_yield
from entrain.ising.problems import Colouring, Ising, MaxCut, Problem, Qubo
from entrain.ising.qubo_file import read_qubo, write_qubo
from entrain.ising.readers import read_problem
from entrain.ising.rudy import read_rudy, write_rudy
from entrain.ising.solution import Solution
from entrain.ising.solver import Status, solve
from entrain.ising.statistics import TimeToSolution

__all__ = ["Annealing", "Colouring", "Ising", "MaxCut", "Problem", "ProblemYield", "Qubo"]
__all__ += ["Solution", "Status", "chip_yield"]
__all__ += ["TimeToSolution", "WeightedGraph", "read_problem", "read_qubo", "read_rudy", "solve"]
__all__ += ["write_qubo", "write_rudy"]
