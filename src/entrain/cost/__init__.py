"""Time, energy, power and area of an inference, or of a solution, on a chip.

- ranges.py: quantities with bounds
- technology.py: costs of parts, from TOML files with a source for every number (presets/)
- workload.py: counts of parts and bits of a trained network
- parts.py: parts and designs, which are sums of parts
- chip.py: the oscillator chip
- digital.py: an MLP and the exported core for comparison
- estimate.py: the cost of one model
- solution.py: the cost of the runs of an Ising machine
"""

from entrain.cost.estimate import NOT_MODELLED, Cost, cost_of, cost_of_workload
from entrain.cost.parts import MEASURES, Part, System
from entrain.cost.ranges import Range, text
from entrain.cost.solution import MachineSize, SolutionCost, cost_of_solution
from entrain.cost.technology import Quantity, Technology, find_technology, technologies
from entrain.cost.workload import Workload, workload_of

__all__ = ["MEASURES", "NOT_MODELLED", "Cost", "Part", "Quantity", "Range", "System"]
__all__ += ["MachineSize", "SolutionCost", "cost_of_solution"]
__all__ += ["Technology", "Workload", "cost_of", "cost_of_workload", "find_technology"]
__all__ += ["technologies", "text", "workload_of"]
