"""The two levels of a score's noise: the choice of tasks, and sampling."""

import random
from statistics import mean, stdev

import pytest

from triathlon_site.tasks import NoiseBudget, noise_budget


def experiment(
    generator: random.Random, tasks: int, sizes: tuple[int, ...], draw_task: tuple[float, float]
) -> list[list[int]]:
    """Tasks whose chance of being solved is drawn from a Beta distribution, with Bernoulli samples."""
    chances = [generator.betavariate(*draw_task) for _ in range(tasks)]
    return [
        [int(generator.random() < chance) for _ in range(sizes[place % len(sizes)])]
        for place, chance in enumerate(chances)
    ]


@pytest.mark.parametrize("sizes", [(10,), (2,), (1, 3, 8)])
def test_both_parts_are_recovered(sizes: tuple[int, ...]) -> None:
    """On 300 made-up experiments the mean of each estimate is the true variance."""
    a, b = 1.0, 0.5
    between = a * b / ((a + b) ** 2 * (a + b + 1))
    within = a * b / ((a + b) * (a + b + 1))
    generator = random.Random(1)
    found = [noise_budget(experiment(generator, 60, sizes, (a, b))) for _ in range(300)]
    assert mean(one.between for one in found if one) == pytest.approx(between, rel=0.05)
    assert mean(one.within for one in found if one) == pytest.approx(within, rel=0.05)


def test_half_widths_are_those_of_new_experiments() -> None:
    """What a budget says of other numbers of tasks and samples is the spread of such scores."""
    generator = random.Random(2)
    budget = noise_budget(experiment(generator, 3000, (4,), (0.8, 0.8)))
    assert budget is not None
    for tasks, samples in ((50, 1), (50, 5), (120, 1)):
        scores = [
            mean(mean(own) for own in experiment(generator, tasks, (samples,), (0.8, 0.8)))
            for _ in range(1500)
        ]
        assert budget.half_width(tasks, samples) == pytest.approx(1.959964 * stdev(scores), rel=0.08)


def test_repeats_of_a_certain_model_say_nothing() -> None:
    """Where each task's samples end alike, sampling has no part; where tasks are alike, it has all."""
    certain = noise_budget([[1, 1, 1], [0, 0, 0], [1, 1, 1], [0, 0, 0]])
    assert certain is not None
    assert (certain.within, certain.sampling_share) == (0, 0)
    assert certain.half_width(4, 1) == certain.half_width(4, 9)
    alike = noise_budget([[1, 0]] * 50)
    assert alike is not None
    assert (alike.between, alike.sampling_share) == (0, 1)


def test_a_worked_example() -> None:
    """By hand: MSW 1/6, MSB 1/2, so W = 1/6 and B = 1/6; without repeats the two cannot be told apart."""
    budget = noise_budget([[1, 1], [1, 0], [0, 0]])
    assert budget is not None
    assert (budget.within, budget.between) == pytest.approx((1 / 6, 1 / 6))
    assert [noise_budget(samples) for samples in ([[1], [0], [1]], [[1, 0, 1]], [])] == [None] * 3
    budget = NoiseBudget(tasks=100, samples=3, between=0.15, within=0.10)
    assert budget.sentence() == "3 repeats narrow ±9.8 to ±8.4; 100 more tasks to ±6.9"
