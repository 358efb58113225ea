"""From intent to numbers: the effective profile of every port, the tuner's answers, and why.

Work is proportional to the number of distinct combinations of (ASIC, speed, cable, network, effective profile), not
to the number of ports: ports of one combination share one :class:`~rocetune.model.plan.Setting`.
"""

from rocetune.planner.build import Habits, plan

__all__ = ["Habits", "plan"]
