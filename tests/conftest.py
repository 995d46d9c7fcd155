"""What holds for all tests: their order, how long an example of hypothesis may take, official data."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest

# A busy machine is no fault: timings never decide a test.
hypothesis.settings.register_profile("untimed", deadline=None)
hypothesis.settings.load_profile("untimed")

# Commands that tests call find the official data where the tests themselves do (support.official_data).
_official = Path(__file__).resolve().parents[2] / "shared" / "datasets"
if _official.is_dir():
    os.environ.setdefault("TRIATHLON_DATA", str(_official))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that drive a browser come last in their file: Playwright keeps an event loop running."""
    items.sort(key=lambda item: item.get_closest_marker("browser") is not None)


@pytest.fixture(autouse=True)
def _ctrl_c_ends_the_tests() -> Iterator[None]:
    """`triathlon run` ignores Ctrl-C from its summary to the end of its process: here, that of the tests."""
    handler = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, handler)
