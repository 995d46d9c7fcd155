"""What holds for all tests: their order, and how long one example of hypothesis may take."""

import hypothesis
import pytest

# A busy machine is no fault: timings never decide a test.
hypothesis.settings.register_profile("untimed", deadline=None)
hypothesis.settings.load_profile("untimed")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that drive a browser come last: Playwright keeps an event loop running."""
    items.sort(key=lambda item: item.get_closest_marker("browser") is not None)
