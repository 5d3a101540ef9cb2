"""What a compiled policy is written with: a record, a few kernels, and the class that plays them.

A policy is a parameter record (a NamedTuple) and module-level functions on plain lists, which
Python runs and numba compiles (``Kernels``, or ``IndexKernels`` where each arm is scored by
itself). ``register`` makes them known to every driver; a class derived from ``KernelPolicy`` or
``IndexPolicy`` is then a policy like any other, and ``surefoot.warmup`` compiles it. ``noise`` and
``uniform`` are the randomness that kernels may use. docs/howto/add-policy.md shows one.
"""

from surefoot._jit import jittable
from surefoot.kernels.beta import beta_quantile, normal_quantile
from surefoot.kernels.noise import noise, uniform
from surefoot.kernels.policy import IndexPolicy, KernelPolicy
from surefoot.kernels.registry import (
    NANO,
    CurveKernels,
    IndexKernels,
    Kernels,
    LineKernels,
    add_units,
    argmax,
    count_and_sum,
    count_open,
    no_pledge,
    plays_and_mean,
    register,
    subtract,
    unit_of,
)

__all__ = [
    "CurveKernels", "IndexKernels", "IndexPolicy", "KernelPolicy", "Kernels", "LineKernels", "NANO",
    "add_units", "argmax", "beta_quantile", "count_and_sum", "count_open", "jittable", "no_pledge",
    "noise", "normal_quantile", "plays_and_mean", "register", "subtract", "uniform", "unit_of",
]  # fmt: skip
