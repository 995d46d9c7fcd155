"""What of a log is shown when a server or an installer fails."""

from pathlib import Path

from triathlon_runner.serving._errors import last_lines


def test_causes_come_before_the_tail(tmp_path: Path) -> None:
    """An error named early is shown before the last lines; warnings, blank lines and underlines are not."""
    log = tmp_path / "log"
    noise = [f"frame {number}\n    ^^^^^\n\n" for number in range(40)]
    log.write_text(
        "WARNING OSError: [Errno 24]\nValueError: the cause\n" + "".join(noise) + "RuntimeError: see above\n"
    )
    shown = last_lines(log).splitlines()
    assert shown[0].strip() == "ValueError: the cause"
    assert shown[-1].strip() == "RuntimeError: see above"
    assert len(shown) == 16
    assert not any("^^" in line or "Errno" in line for line in shown)


def test_only_what_this_start_wrote(tmp_path: Path) -> None:
    """Lines of an earlier start are left out."""
    log = tmp_path / "log"
    log.write_text("Error: of yesterday\n")
    size = log.stat().st_size
    with log.open("a") as stream:
        stream.write("today\n")
    assert last_lines(log, size).strip() == "today"


def test_no_log(tmp_path: Path) -> None:
    """A missing or empty log says so."""
    assert last_lines(tmp_path / "none") == "(no log was written)"
    (tmp_path / "log").touch()
    assert last_lines(tmp_path / "log") == "(the log is empty)"
