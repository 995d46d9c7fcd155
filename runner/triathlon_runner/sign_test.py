"""Is a difference between paired outcomes more than chance?"""


def sign_test(one: int, other: int) -> float:
    """Two-sided p-value of the exact sign test, of the pairs that differ in one and in the other direction.

    It is McNemar's where outcomes are yes or no; 1 for no difference.
    """
    from scipy.special import bdtr  # noqa: PLC0415  it takes a part of a second

    # Both tails of the binomial distribution with p = 1/2 are alike.
    return min(1.0, 2 * float(bdtr(min(one, other), one + other, 0.5)))
