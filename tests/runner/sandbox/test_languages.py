"""Programs in other languages keep the same contract."""

import math

import pytest

from triathlon_runner.languages import LANGUAGES
from triathlon_runner.sandbox import (
    Call,
    Ended,
    Job,
    Language,
    Limits,
    Raised,
    Returned,
    Sandbox,
)

INTERPRETED = [language for language, spec in LANGUAGES.items() if spec.command]
pytestmark = pytest.mark.asyncio(loop_scope="module")

PROGRAMS = {
    Language.PHP: "<?php\nfunction f($x) {\n  echo 'hi';\n"
    "  if ($x === 0) throw new Exception('no');\n  return [$x + 1, 'a', null, 1.5, true]; }\n",
    Language.RUBY: "def f(x)\n  print 'hi'\n\n  raise 'no' if x == 0\n  [x + 1, 'a', nil, 1.5, true]\nend\n",
    Language.JAVASCRIPT: "function f(x) {\n  process.stdout.write('hi');\n\n"
    "  if (x === 0) throw new Error('no');\n  return [x + 1, 'a', null, 1.5, true]; }\n",
    Language.PERL: "sub f {\n  my ($x) = @_;\n  print 'hi';\n"
    "  die 'no' if $x == 0;\n  return [$x + 1, 'a', undef, 1.5, 1]; }\n",
}
LOOPS = {
    Language.PHP: "<?php function f() { while (true) {} }",
    Language.RUBY: "def f\n  loop {}\nend\n",
    Language.JAVASCRIPT: "const f = () => { for (;;) {} };",
    Language.PERL: "sub f { while (1) {} }",
}
MAPS = {
    Language.PHP: "<?php function f($x) { return ['k' => [$x['m'][0]], 'n' => NAN]; }",
    Language.RUBY: "def f(x)\n  { 'k' => [x['m'][0]], 'n' => Float::NAN }\nend\n",
    Language.JAVASCRIPT: "function f(x) { return { k: [x.m[0]], n: NaN }; }",
}
TESTS = {
    Language.PHP: "$x = f(1);\nif ($x[0] != 2) { throw new Exception('wrong'); }",
    Language.RUBY: "raise StandardError, 'wrong' if f(1)[0] != 2\n",
    Language.JAVASCRIPT: "const _ = require('lodash'); if (!_.isEqual(f(1)[0], 2)) { throw 'wrong' }",
    Language.PERL: "use Data::Compare;\nmy $x = f(1);\nunless (Compare($x->[0], 2)) { die 'wrong'; }",
}
KEPT = {
    "Ruby: lists, symbols, truth values and nothing as keys": (
        Language.RUBY,
        "def f(x)\n  x.transform_values { |value| value }\nend\n",
        "y = {[1, 2] => 1, a: 2, 'a' => 3, true => 4, nil => 5, 1 => 6, 1.0 => 7, {b: [3]} => {[4] => 8}}\n"
        "raise 'wrong' unless f(y) == y\n",
    ),
    "PHP: integers as keys, in their order": (
        Language.PHP,
        "<?php function f($x) { return [7 => $x, 'b' => [1 => -0.0], 3 => 1.0]; }",
        "if (f(2) !== [7 => 2, 'b' => [1 => -0.0], 3 => 1.0]) { throw new Exception('wrong'); }",
    ),
    "JavaScript: -0, large numbers and large integers": (
        Language.JAVASCRIPT,
        "const f = (x, y) => [x * 2, y * 2n, -0, 1e300, undefined];",
        "const { deepStrictEqual } = require('assert');\n"
        "deepStrictEqual(f(2 ** 59, 2n ** 59n), [2 ** 60, 2n ** 60n, -0, 1e300, undefined]);",
    ),
}
LOOSE = {
    "text that looks like the list": "def f(_)\n  {'[1, 2]' => 1}\nend\n",
    "text that looks like the wire's list": "def f(_)\n  {'[1,2]' => 1}\nend\n",
    "a key that equals every other": "class Any\n  def ==(_) = true\n  def eql?(_) = true\n"
    "  def hash = [1, 2].hash\nend\ndef f(_)\n  {Any.new => 1}\nend\n",
    "the key twice, the second time as text": "def f(_)\n  {[1, 2] => 1, '[1, 2]' => 1}\nend\n",
}
UNBOUNDED = {
    Language.PHP: "<?php function f($x) { return [$x, INF, -INF, NAN, 'inf']; }",
    Language.RUBY: "def f(x)\n  [x, Float::INFINITY, -Float::INFINITY, Float::NAN, 'inf']\nend\n",
    Language.JAVASCRIPT: "const f = (x) => [x, Infinity, -Infinity, NaN, 'inf'];",
    Language.PERL: "sub f { my $i = 9 ** 9 ** 9; return [$_[0], $i, -$i, $i - $i, 'inf']; }",
}
WRONG = {
    Language.PHP: "<?php function f($x) { return [7]; }",
    Language.RUBY: "def f(x)\n  [7]\nend\n",
    Language.JAVASCRIPT: "function f(x) { return [{ valueOf() { return 2; } }]; }",
    Language.PERL: "sub f { return [7]; }",
}
REACHES = {
    Language.PHP: "<?php function f() { return [@file_get_contents('/etc/passwd'),"
    " @fsockopen('127.0.0.1', 22), getenv('HOME'), @shell_exec('true')]; }",
    Language.RUBY: "def t\n  yield\nrescue SystemCallError, LoadError\n  nil\nend\n"
    "def f\n  [t { File.read('/etc/passwd') }, t { require 'socket'; TCPSocket.new('127.0.0.1', 22).to_s },"
    " ENV['HOME'], t { fork }]\nend\n",
    Language.JAVASCRIPT: "function t(g) { try { return g() ?? null } catch { return null } }\n"
    "function f() { return [t(() => require('fs').readFileSync('/etc/passwd', 'utf8')), null,"
    " t(() => process.env.HOME), t(() => require('child_process').execSync('true').length)]; }",
    Language.PERL: "use Socket;\nsub f { my $r = open(my $h, '<', '/etc/passwd') ? 1 : undef;"
    " my $s = socket(my $k, PF_INET, SOCK_STREAM, 0) ? 1 : undef;"
    " my $p = fork(); return [$r, $s, $ENV{HOME}, $p]; }",
}


@pytest.mark.parametrize("language", INTERPRETED)
async def test_calls_exceptions_and_output(sandbox: Sandbox, language: Language) -> None:
    """Values, exceptions with their line, and output come back from every language."""
    calls = (Call("f", (1,)), Call("f", (0,)), Call("missing", ()))
    execution = await sandbox.run(Job(PROGRAMS[language], calls, language))
    value, fault, missing = execution.results
    true: object = 1 if language is Language.PERL else True
    assert value == Returned([2, "a", None, 1.5, true])
    assert isinstance(fault, Raised) and "no" in fault.message and fault.line == 4
    assert isinstance(missing, Raised)
    assert (execution.ended, execution.stdout) == (Ended.FINISHED, "hihi")


@pytest.mark.parametrize("language", INTERPRETED)
async def test_cpu_time_is_limited(sandbox: Sandbox, language: Language) -> None:
    """An endless loop ends at its CPU limit in every language."""
    job = Job(LOOPS[language], (Call("f", ()),), language, Limits(cpu_seconds=0.5))
    assert (await sandbox.run(job)).ended is Ended.TIMED_OUT


@pytest.mark.parametrize("language", INTERPRETED)
async def test_a_syntax_error_is_told(sandbox: Sandbox, language: Language) -> None:
    """A program that does not parse has not loaded."""
    execution = await sandbox.run(Job(f"{LOOPS[language]} (((", (Call("f", ()),), language))
    assert execution.ended is Ended.NOT_LOADED


@pytest.mark.parametrize("language", list(MAPS))
async def test_maps_and_special_numbers_cross(sandbox: Sandbox, language: Language) -> None:
    """Maps go in and out, and numbers that JSON has no form for."""
    execution = await sandbox.run(Job(MAPS[language], (Call("f", ({"m": [5]},)),), language))
    (result,) = execution.results
    assert isinstance(result, Returned) and repr(result.value) == "{'k': [5], 'n': nan}"


@pytest.mark.parametrize("language", INTERPRETED)
async def test_scripts_judge_from_outside(sandbox: Sandbox, language: Language) -> None:
    """A test script passes an honest program and not one that returns something else."""
    examiner = Job(TESTS[language], (), language, relayed=("f",))
    good = (await sandbox.examine(examiner, Job(PROGRAMS[language], (), language))).examiner
    assert good.ended is Ended.FINISHED, good
    bad = (await sandbox.examine(examiner, Job(WRONG[language], (), language))).examiner
    assert bad.ended is Ended.NOT_LOADED, bad


@pytest.mark.parametrize(("language", "program", "tests"), KEPT.values(), ids=KEPT)
async def test_a_relay_changes_no_plain_value(
    sandbox: Sandbox, language: Language, program: str, tests: str
) -> None:
    """A value that crosses into a program and back is what the test would see in the same process."""
    together = Job(f"{program}\n{tests}", (), language)
    assert (await sandbox.run(together)).ended is Ended.FINISHED
    run = await sandbox.examine(Job(tests, (), language, relayed=("f",)), Job(program, (), language))
    assert run.examiner.ended is Ended.FINISHED, run


@pytest.mark.parametrize("program", LOOSE.values(), ids=LOOSE)
async def test_a_map_equals_only_one_with_its_keys(sandbox: Sandbox, program: str) -> None:
    """No text and no object of the program's own passes for a key that is a list."""
    examiner = Job("raise 'wrong' unless f(1) == {[1, 2] => 1}\n", (), Language.RUBY, relayed=("f",))
    run = await sandbox.examine(examiner, Job(program, (), Language.RUBY))
    assert run.examiner.ended is Ended.NOT_LOADED


@pytest.mark.parametrize("language", INTERPRETED)
async def test_nothing_is_within_reach(sandbox: Sandbox, language: Language) -> None:
    """No file, connection, environment or process from any language."""
    execution = await sandbox.run(Job(REACHES[language], (Call("f", ()),), language))
    (result,) = execution.results
    assert isinstance(result, Returned), execution
    assert all(item in (None, False) for item in result.value)


@pytest.mark.parametrize("language", UNBOUNDED)
async def test_numbers_without_a_form_in_json_cross(sandbox: Sandbox, language: Language) -> None:
    """Infinities and nan come back as what they are, in either direction, and text stays text."""
    calls = (Call("f", (-math.inf,)), Call("f", (math.nan,)))
    execution = await sandbox.run(Job(UNBOUNDED[language], calls, language))
    shown = [repr(result.value) for result in execution.results if isinstance(result, Returned)]
    assert shown == ["[-inf, inf, -inf, nan, 'inf']", "[nan, inf, -inf, nan, 'inf']"], execution
