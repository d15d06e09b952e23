"""Kernels written by hand: each goes where a front end or an engine may take a wrong turn."""

from __future__ import annotations

import ast

EXAMPLES = """
def oscillator(x: Scalar, p: Param, terminated: Terminated, m: Mutable[Scalar], w: Mutable[Vector[2]]):
    w0, m0 = w[0], m
    m = m0 + p * w0
    w[0] = w0 - p * x * x * m0
    w[1] += p
    terminated = w[1] >= 2


def exchanged_in_a_loop(x: Scalar, y: Scalar, i: Int32):
    a, b, c = x, y, 1.0
    n = 0
    while n < i % 9:
        a, b, c = b, c + a, a
        n += 1
    return a - 2.0 * b + 4.0 * c


def collatz(i: Int32):
    n = abs(i) % 50 + 1
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n //= 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


def nested_early_returns(x: Scalar, y: Scalar, b: Bool, i: Int32):
    if b:
        if x < y:
            return x
        for n in range(3):
            if n == i:
                return y
            while x > n:
                if i == 2:
                    return -x
                x0 = x
                break
    if i > 0:
        return 1.5
    return y - x


def leaves_loops(x: Scalar, i: Int32, j: Index):
    total = 0.0
    for n in range(i % 7):
        if n == 2:
            continue
        for k in range(5, 0, -2):
            if k == j % 5:
                break
            total += k
            if total > 20.0:
                return -total
        if n + j > 3:
            break
        total += x * n
    return total


def loop_variable_is_its_own(i: Int32, j: Index):
    total = 0
    for n in range(4):
        total += n
        n = 10 * i + n
        total += n
    for n in range(j % 4, 9, 3):
        total = total * 10 + n
    return total


def range_by_a_step_of_the_sample(i: Int32, j: Index):
    total = 0
    step = j % 7 - 3
    for n in range(0, i % 9 - 4, step):
        total = total * 3 + n
    return total


def nothing_runs(x: Scalar, i: Int32):
    total = x
    for n in range(3, 3):
        total /= 0
    for n in range(i * 0):
        total *= 2
    while total != total and i != i:
        total = 1.0
    return total


def counts_become_floats(x: Scalar, i: Int32, b: Bool):
    value = 0
    for n in range(i % 4):
        value = value + x
    mixed = 1
    if b:
        mixed = x
    other = i if b else 2.5
    return -value, mixed, other


def counts_stay_whole(i: Int32, k: UInt32, b: Bool):
    number = 3
    if b:
        number = i
    wide = 7
    if b:
        wide = 3000000000
    both = i + k
    return number + 1, wide, both


def two_truths_are_a_number(b: Bool, f: Mutable[Bool], i: Int32):
    f ^= b
    return (b + b) * 2 - f, b & f, b == f, b < f, -b, i * b, max(b, f), abs(b)


def chains_and_short_circuits(x: Scalar, i: Int32, j: Index, t: Table[Scalar]):
    inside = 0 <= j < 6 and t[j] > x
    either = i == 0 or 12 // i > 2
    between = -1 < x <= 2.5 != i
    return inside, either, between, not (inside and either or between)


def faults_stay_in_their_branch(x: Scalar, i: Int32, j: Index, t: Table[Scalar]):
    one = 7 // i if i != 0 else 0
    two = t[j] if 0 <= j and j < 6 else -1.0
    three = int(x) if abs(x) < 1e9 else -1
    if i == 0:
        four = 0
    else:
        four = 100 % i
    return one, two, three, four


def faults_in_order(x: Scalar, i: Int32, j: Index, t: Table[Scalar]):
    return int(x) + 5 // i + Index(t[j])


def a_fault_nobody_looks_at(x: Scalar, i: Int32):
    unused = 5 // i
    also = Int32(x)
    return x


def powers(x: Scalar, i: Int32, k: UInt32):
    return x**2, x**-3, x**0, x**13, i**5, i**-1, k**2, 2**10, THREE**2 * x


def whole_division(i: Int32, k: UInt32, j: Index, x: Scalar):
    return i // 3, i % -4, k // 5, k % 7, j // -2, j % 3, x // 0.3, x % -0.3, i // 2.5, -7 // 2 * x


def shifts(i: Int32, k: UInt32, j: Index):
    return i << 3, i >> 1, k >> 31, j << 62, 1 << i, k << k, j >> 64, i << -1, -1 >> i


def extremes(x: Scalar, y: Scalar, i: Int32, v: Vector[3]):
    return min(x, y), max(x, -0.0), min(i, 3), max(x, i, 0), min(v), clamp(x, -1, 1), np.sign(x), max(v, x)[0]


def roundings(x: Scalar, i: Int32):
    return round(x), math.floor(x), np.ceil(x), math.trunc(x), round(i), np.rint(x), math.floor(i)


def conversions(x: Scalar, i: Int32, j: Index, b: Bool):
    inside = clamp(x, -100.0, 100.0)
    return int(inside), float(j), bool(x), Int32(j), UInt32(i), Index(inside * 1e7), np.int32(j), Scalar(b), bool(i)


def tests_of_floats(x: Scalar, y: Scalar):
    return math.isnan(x), np.isinf(y), math.isfinite(x / y), x == x, x != y, math.copysign(x, -0.0), np.fmod(x, y)


def vectors(v: Vector[3], M: Matrix[2, 3], q: Quat, x: Scalar):
    a = [v[2], x, -v[0]]
    c = cross(v, a) + v * x - a / 3
    r = M @ c
    s = M.T @ r
    return c, r, s @ v, norm(q), dot(v, a), sum(v), M[1], M[:, 1] @ r, len(q)


def elements_by_a_variable(v: Vector[3], w: Mutable[Vector[2]], i: Int32, x: Scalar):
    for n in range(2):
        w[n] = v[n + 1] * w[1 - n]
    w[i % 2] = x
    total = 0.0
    for n in range(len(v)):
        total += v[n] * v[2 - n]
    return total


def rows_of_tables(g: Table[Int32, 3, 4], t: Table[Scalar], i: Int32):
    row = g[i % 3]
    return row, row[0] + g[2, i % 4], t[i % 6] * t[0]


def in_place(m: Mutable[Scalar], w: Mutable[Vector[2]], c: Mutable[Int32], u: Mutable[UInt32], f: Mutable[Bool]):
    if f:
        m **= 2
        w *= m
        return
    w = 0
    c -= 3
    u = c
    f = c > 0


def swaps(m: Mutable[Scalar], w: Mutable[Vector[2]], c: Mutable[Int32]):
    w[0], w[1], m = w[1], m, w[0]
    first, (second, third) = c, (c + 1, c + 2)
    c = second * third - first


def helpers(x: Scalar, y: Scalar, j: Index):
    return grown(x, j % 9) + blend(x, b=y, weight=0.25) + hypotenuse(y, j) * OFFSETS[1]


def constants(x: Scalar):
    return x * TENTH + math.pi, x > math.inf, np.e - x, OFFSETS[0] * THREE, x + 0.1 + 0.2, 1e-320 * x, x * 16777217


def where_and_fma(x: Scalar, y: Scalar, b: Bool, i: Int32):
    return where(b, x, i), where(x > y, y, x), fma(x, y, -x * y), fma(i, x, 1)


def kernels_that_write_in_place(m: Mutable[Scalar], c: Mutable[Int32], x: Scalar):
    y = x + 1
    n = c
    r = bumped(y, n, m)
    s = bumped(m, c, r)
    return y, n, r, s


def loops_left_from_inside(x: Scalar, i: Int32):
    n = 0
    while True:
        n += 1
        if n > i % 7:
            break
        if x * n > 5:
            return -n
    while True:
        n += 1
        if n % 5 == 0:
            return n


def truths_as_variables(x: Scalar, b: Bool):
    done = False
    n = 0
    while not done:
        n += 1
        done = n > 3 or b
    return done, n, True, 1


def types_of_a_path_that_is_left(x: Scalar, i: Int32):
    n = i % 9
    while x > 1 and n > 0:
        k = 1
        if n == 2:
            k = 2.5
            break
        n = n - k // 1
    return n


def tuples_on_two_paths(x: Scalar, i: Int32, b: Bool):
    pair = (x, i)
    if b:
        pair = (i, 7)
    first, second = pair
    third = fourth = first
    return first, second, third + fourth, pair[1]


def matrices(M: Matrix[2, 3], q: Quat, v: Vector[3]):
    A = [[1, 2], [3, 4]]
    return A @ M, np.array([v, v * 2]) - M, A @ [1.5, 2], (M @ M.T)[1, 0], q * 2, M[0][1], A


def params(p: Param, s: Param[Int32], k: UInt32):
    return p * s, s // 3, k - 1, k // 3 - s, -k, abs(k), k < s, k == s, min(k, s), k % 7 - 8


def other_powers(x: Scalar, i: Int32, k: UInt32):
    low = x**65, x**-65, i**31, k**32, (-2) ** 3, 2**-1
    return low[0], low[1], low[2], low[3], low[4], low[5], i**2.0, pow(x, 3), math.pow(x, 3), np.power(i, 3), 2**x


def remainders(x: Scalar, y: Scalar):
    return x % y, x // y, x % 1e-300, -x % 0.0, x // 0.0, math.fmod(x, y), min(x, y, 0.0, -0.0), max(-0.0, 0, x)


@fused
def fused_products(x: Scalar, y: Scalar, v: Vector[3], i: Int32, m: Mutable[Scalar]):
    m += x * y
    m -= 2 * m
    return x * y + y * x, x - y * y, x * x - y, i * i + x, i * 2 + i, v * x + v, x + i * i, -x * y + 1


def of_a_masked_sample(x: Scalar, terminated: Terminated, c: Mutable[Int32], m: Mutable[Scalar]):
    if x > 2.0:
        terminated = True
        return m
    c += 12 // c
    m = m / 2 + x
    terminated = m < 0.1 or terminated
    return m
"""


def _sources() -> dict[str, str]:
    found = {}
    for node in ast.parse(EXAMPLES.replace("@fused\n", "")).body:
        assert isinstance(node, ast.FunctionDef)
        name, node.name = node.name, "kernel"
        decorator = "@hawk.kernel(fma=True)" if name.startswith("fused") else "@hawk.kernel"
        found[name] = f"{decorator}\n{ast.unparse(node)}\n"
    return found


SOURCES = _sources()
