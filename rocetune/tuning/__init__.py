"""From ``auto`` to a number: headroom, buffers, ECN thresholds, DCQCN parameters.

Pure functions. Each returns a frozen dataclass with the value and a :class:`rocetune.model.plan.Why` that holds
enough to redo the arithmetic by hand. Units are in the names: bytes, Mbit/s, metres, microseconds. Arguments that
cannot be (negative, zero, not finite) raise ValueError with a sentence that says what would be right.

Formulas and their sources: IEEE 802.3 31B.3.7 (reaction time), SONiC's headroom calculation and published lookup
tables, the DCQCN paper (SIGCOMM 2015), HPCC's simulation set-up, the mlx5 driver.
"""
