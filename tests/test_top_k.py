"""One selection for oracles and compiled policies: compiled, it is the same."""

import numba
import numpy as np
from numba.extending import register_jitable

from surefoot import _top_k as top_k
from surefoot.oracles import TopK


def test_the_kernel_compiles_to_the_same():
    kernel = compiled()
    rng = np.random.default_rng(0)
    for n, k in [(1, 1), (6, 3), (40, 7), (40, 40)]:
        for w in [rng.normal(size=n), rng.integers(0, 3, n).astype(float)]:
            out = np.zeros(k, dtype=np.int64)
            kernel(w, k, out)
            assert tuple(out.tolist()) == TopK(k)(w)


def compiled():
    for helper in (top_k._sift, top_k._worse):
        register_jitable(helper)
    return numba.njit(top_k.top_k)
