"""The quantile of a Beta distribution with whole parameters: kernel text, alike to the last bit.

``scipy.special.betaincinv`` allocates, cannot be called from compiled code, and another release of
it may round otherwise; a randomised policy needs one text that decides the same in either driver.

    beta_quantile(u, a, b) = x   with   P(X <= x) = u,   X ~ Beta(a, b),   a, b = 1, 2, ... 10**9

Few successes or few failures (the smaller parameter below ``FEW``): P(X > x) is a binomial sum
of that many terms, whose root Halley's steps find. Else, after Temme 1992: with r = a + b,
p = a/r and y the signed root of y^2/2 = p ln(p/x) + q ln(q/(1-x)), the density is that of a normal
z = y sqrt(r) times a series h(y), so that P(X <= x) = Phi(z) - phi(z) P(z), P a polynomial; z is
found near the normal quantile of u, then y, then x.
"""

from __future__ import annotations

import math

from surefoot._jit import jittable

FEW = 40.0
"""From here on the series, cut after its eighth term, is off by less than 1e-11."""


@jittable
def normal_quantile(u: float) -> float:
    """z with Phi(z) = u: Wichura 1988, AS 241, PPND16; relative error about 1e-16."""
    q = u - 0.5
    if abs(q) <= 0.425:
        r = 0.180625 - q * q
        top = ((2509.0809287301226727 * r + 33430.575583588128105) * r + 67265.770927008700853) * r
        top = ((top + 45921.953931549871457) * r + 13731.693765509461125) * r
        top = ((top + 1971.5909503065514427) * r + 133.14166789178437745) * r
        low = ((5226.495278852545925 * r + 28729.085735721942674) * r + 39307.89580009271061) * r
        low = ((low + 21213.794301586595867) * r + 5394.1960214247511077) * r
        low = ((low + 687.1870074920579083) * r + 42.313330701600911252) * r
        return q * (top + 3.387132872796366608) / (low + 1.0)
    r = math.sqrt(-math.log(min(u, 1.0 - u)))
    if r <= 5.0:
        r -= 1.6
        top = ((7.7454501427834140764e-4 * r + 0.0227238449892691845833) * r) * 1.0
        top = ((top + 0.24178072517745061177) * r + 1.27045825245236838258) * r
        top = ((top + 3.64784832476320460504) * r + 5.7694972214606914055) * r
        top = (top + 4.6303378461565452959) * r + 1.42343711074968357734
        low = ((1.05075007164441684324e-9 * r + 5.475938084995344946e-4) * r) * 1.0
        low = ((low + 0.0151986665636164571966) * r + 0.14810397642748007459) * r
        low = ((low + 0.68976733498510000455) * r + 1.6763848301838038494) * r
        low = (low + 2.05319162663775882187) * r + 1.0
    else:
        r -= 5.0
        top = (2.01033439929228813265e-7 * r + 2.71155556874348757815e-5) * r
        top = ((top + 0.0012426609473880784386) * r + 0.026532189526576123093) * r
        top = ((top + 0.29656057182850489123) * r + 1.7848265399172913358) * r
        top = (top + 5.4637849111641143699) * r + 6.6579046435011037772
        low = (2.04426310338993978564e-15 * r + 1.4215117583164458887e-7) * r
        low = ((low + 1.8463183175100546818e-5) * r + 7.868691311456132591e-4) * r
        low = ((low + 0.0148753612908506148525) * r + 0.13692988092273580531) * r
        low = (low + 0.59983220655588793769) * r + 1.0
    return top / low if q > 0.0 else -top / low


@jittable
def beta_quantile(u: float, a: float, b: float) -> float:
    """x with P(X <= x) = u for X ~ Beta(a, b); 0 < u < 1, a and b whole, from 1 to 10**9.

    |P(X <= x) - u| < 1e-10, but for what the nearest float is off: x near 1 has 53 bits.
    """
    # u is a multiple of 2**-53, so that its complement is exact.
    if a > b:
        return 1.0 - _quantile(1.0 - u, b, a)
    return _quantile(u, a, b)


@jittable
def _quantile(u: float, a: float, b: float) -> float:
    """The same for a <= b."""
    if a == 1.0:  # 1 - (1 - x)^b = u
        return -math.expm1(math.log1p(-u) / b)
    return _by_series(u, a, b) if a >= FEW else _by_sum(u, a, b)


@jittable
def _by_series(u: float, a: float, b: float) -> float:
    r = a + b
    each = 1.0 / r
    p = a * each
    q = b * each
    spread = math.sqrt(p * q)
    root = math.sqrt(r)
    s = (q - p) / spread
    # h(y) = y spread / (x - p) = 1 + h1 y + h2 y^2 + ..., each h times a power of 1/root. The
    # h follow from t dt/dy = y (1 + s t - t^2), t = (x - p)/spread.
    g = s / root
    g2 = g * g
    h1 = -g / 3.0
    h2 = g2 / 12.0 + each / 4.0
    h3 = -g * (g2 * 2.0 / 135.0 + each / 15.0)
    h4 = (g2 / 864.0 + each / 144.0) * g2 + each * each / 96.0
    h5 = g * ((g2 / 2835.0 + each / 378.0) * g2 + each * each / 210.0)
    h6 = (g2 * -139.0 / 777600.0 - each * 139.0 / 86400.0) * g2
    h6 = (h6 - each * each * 41.0 / 9600.0) * g2 - each * each * each / 384.0
    h7 = (g2 / 25515.0 + each / 2430.0) * g2 + each * each * 4.0 / 2835.0
    h7 = g * (h7 * g2 + each * each * each / 630.0)
    h8 = (g2 * -571.0 / 261273600.0 - each * 571.0 / 21772800.0) * g2
    h8 = (h8 - each * each * 77.0 / 691200.0) * g2 - each * each * each * 17.0 / 89600.0
    h8 = h8 * g2 - each * each * each * each / 10240.0
    # The integral of z^k phi(z) by parts leaves a polynomial P with these coefficients.
    p7 = h8
    p6 = h7
    p5 = h6 + 7.0 * p7
    p4 = h5 + 6.0 * p6
    p3 = h4 + 5.0 * p5
    p2 = h3 + 4.0 * p4
    p1 = h2 + 3.0 * p3
    p0 = h1 + 2.0 * p2
    whole = 1.0 + p1
    start = normal_quantile(u)
    # Phi(z) - phi(z) P(z) = Phi(start): with z = start + step, divided by phi(start).
    step = 0.0
    for _ in range(3):
        z = start + step
        P = ((((((p7 * z + p6) * z + p5) * z + p4) * z + p3) * z + p2) * z + p1) * z + p0
        H = ((((((h8 * z + h7) * z + h6) * z + h5) * z + h4) * z + h3) * z + h2) * z + h1
        H = (H * z + 1.0) / whole
        ratio = math.exp(-step * (start + 0.5 * step))  # phi(z)/phi(start)
        gone = _normal_ratio(start, step) - ratio * P / whole
        step -= gone / (ratio * H)
        if abs(gone) < 1e-7:
            break
    return _behind((start + step) / root, p, q, s, spread)


@jittable
def _behind(y: float, p: float, q: float, s: float, spread: float) -> float:
    """x of a y: t = (x - p)/spread by its series in y, then Newton's steps on y^2/2."""
    d = y * (1.0 + y * (s / 3.0 + y * ((s * s - 9.0) / 36.0))) * spread
    # Far out, where p is small, the series leaves the side of y, or (0, 1).
    d = max(min(d, -1e-9 * p), -0.9 * p) if y < 0.0 else min(max(d, 1e-9 * p), 0.9 * q)
    for _ in range(20):
        gap = -p * math.log1p(d / p) - q * math.log1p(-d / q) - 0.5 * y * y
        change = gap * (p + d) * (q - d) / d
        d = min(max(d - change, 0.5 * (d - p)), 0.5 * (d + q))
        if abs(change) < 1e-8 * abs(d):
            break
    return p + d


@jittable
def _normal_ratio(z: float, step: float) -> float:
    """(Phi(z + step) - Phi(z))/phi(z), by Taylor's series of e^(-z t - t^2/2), |step| small."""
    # The n-th derivative over n!: c_n = -(z c_{n-1} + c_{n-2})/n.
    before = 0.0
    term = 1.0
    power = step
    total = step
    for n in range(1, 12):
        before, term = term, -(z * term + before) / n
        power *= step
        total += term * power / (n + 1.0)
    return total


@jittable
def _by_sum(u: float, a: float, b: float) -> float:
    """Halley's steps on the binomial sum P(X > x) = P(Bin(a + b - 1, x) < a)."""
    n = a + b - 1.0
    p, q = a / (a + b), b / (a + b)
    spread = math.sqrt(p * q)
    s = (q - p) / spread
    root = math.sqrt(a + b)
    x = _behind((normal_quantile(u) - s / (3.0 * root)) / root, p, q, s, spread)
    low = 0.0
    high = 1.0
    for _ in range(60):
        odds = x / (1.0 - x)
        term = math.exp(n * math.log1p(-x))
        total = term
        for j in range(int(a) - 1):
            term *= (n - j) / (j + 1.0) * odds
            total += term
        gone = (1.0 - total) - u
        if abs(gone) < 4e-15:  # as much as the sum is rounded by
            break
        if gone > 0.0:
            high = x
        else:
            low = x
        density = term * b / (1.0 - x)
        if not density > 0.0:
            x = 0.5 * (low + high)
            continue
        newton = gone / density
        change = newton / max(0.5, 1.0 - 0.5 * newton * ((a - 1.0) / x - (b - 1.0) / (1.0 - x)))
        after = x - change
        if not low < after < high:
            after = 0.5 * (low + high)
            if after in (low, high):
                break
        x = after
        if abs(change) * density < 1e-12:
            break
    return x
