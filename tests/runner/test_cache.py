"""Which folder the cache is."""

from pathlib import Path

import platformdirs
import pytest

from triathlon_runner import cache
from triathlon_runner.cache import cache_folder
from triathlon_site.build import cache_folder as site_cache_folder

ROOT = Path(__file__).parents[2]
USERS = platformdirs.user_cache_path("triathlon")


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The package lies where a wheel would be unpacked."""
    monkeypatch.delenv("TRIATHLON_CACHE", raising=False)
    monkeypatch.setattr(cache, "__file__", str(tmp_path / "site-packages/triathlon_runner/cache.py"))


def test_a_checkout_uses_its_own_cache_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`make`, and `triathlon` from whatever folder, share it; `TRIATHLON_CACHE` names another place."""
    monkeypatch.chdir(tmp_path)
    for named, folder in (("", ROOT / ".cache"), (str(tmp_path), tmp_path)):
        monkeypatch.setenv("TRIATHLON_CACHE", named)
        assert (cache_folder(), site_cache_folder()) == (folder, folder / "site")
    assert "TRIATHLON_CACHE" not in (ROOT / "Makefile").read_text()


@pytest.mark.usefixtures("installed")
def test_an_installed_wheel_leaves_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In one that is no checkout it puts no gigabytes."""
    monkeypatch.chdir(tmp_path)
    assert cache_folder() == USERS and list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("has_cache", "read_only", "uses_checkout"),
    [
        (False, "", True),
        (False, ".", False),
        (True, ".cache", False),
        (True, ".", True),  # as where a container mounts a writable cache in a checkout that is not
    ],
)
@pytest.mark.usefixtures("installed")
def test_nothing_is_written_into_what_is_read_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_cache: bool, read_only: str, uses_checkout: bool
) -> None:
    """A wheel uses the checkout that it is run below, but one, or a cache in it, that is kept read-only."""
    checkout = tmp_path / "checkout"
    for folder in ("runner/triathlon_runner", *([".cache"] if has_cache else [])):
        (checkout / folder).mkdir(parents=True)
    (checkout / "Makefile").touch()
    monkeypatch.chdir(checkout / "runner")
    if read_only:
        (checkout / read_only).chmod(0o555)
    try:
        assert cache_folder() == (checkout / ".cache" if uses_checkout else USERS)
    finally:
        (checkout / read_only).chmod(0o755)
