"""Programs in other languages keep the same contract."""

import math

import pytest

from triathlon_runner.languages import LANGUAGES
from triathlon_runner.sandbox import Call, Ended, Job, Language, Limits, Raised, Returned, Sandbox

INTERPRETED = [language for language, spec in LANGUAGES.items() if spec.command]
PHP, RUBY, JAVASCRIPT, PERL = INTERPRETED
pytestmark = pytest.mark.asyncio(loop_scope="module")
F = (Call("f", ()),)

PROGRAMS = {
    PHP: "<?php\nfunction f($x) {\n  echo 'hi';\n"
    "  if ($x === 0) throw new Exception('no');\n  return [$x + 1, 'a', null, 1.5, true]; }\n",
    RUBY: "def f(x)\n  print 'hi'\n\n  raise 'no' if x == 0\n  [x + 1, 'a', nil, 1.5, true]\nend\n",
    JAVASCRIPT: "function f(x) {\n  process.stdout.write('hi');\n\n"
    "  if (x === 0) throw new Error('no');\n  return [x + 1, 'a', null, 1.5, true]; }\n",
    PERL: "sub f {\n  my ($x) = @_;\n  print 'hi';\n"
    "  die 'no' if $x == 0;\n  return [$x + 1, 'a', undef, 1.5, 1]; }\n",
}
LOOPS = {
    PHP: "<?php function f() { while (true) {} }",
    RUBY: "def f\n  loop {}\nend\n",
    JAVASCRIPT: "const f = () => { for (;;) {} };",
    PERL: "sub f { while (1) {} }",
}
MAPS = {
    PHP: "<?php function f($x) { return ['k' => [$x['m'][0]], 'n' => NAN]; }",
    RUBY: "def f(x)\n  { 'k' => [x['m'][0]], 'n' => Float::NAN }\nend\n",
    JAVASCRIPT: "function f(x) { return { k: [x.m[0]], n: NaN }; }",
}
UNBOUNDED = {
    PHP: "<?php function f($x) { return [$x, INF, -INF, NAN, 'inf']; }",
    RUBY: "def f(x)\n  [x, Float::INFINITY, -Float::INFINITY, Float::NAN, 'inf']\nend\n",
    JAVASCRIPT: "const f = (x) => [x, Infinity, -Infinity, NaN, 'inf'];",
    PERL: "sub f { my $i = 9 ** 9 ** 9; return [$_[0], $i, -$i, $i - $i, 'inf']; }",
}
TESTS = {
    PHP: "$x = f(1);\nif ($x[0] != 2) { throw new Exception('wrong'); }",
    RUBY: "raise StandardError, 'wrong' if f(1)[0] != 2\n",
    JAVASCRIPT: "const _ = require('lodash'); if (!_.isEqual(f(1)[0], 2)) { throw 'wrong' }",
    PERL: "use Data::Compare;\nmy $x = f(1);\nunless (Compare($x->[0], 2)) { die 'wrong'; }",
}
WRONG = {
    PHP: "<?php function f($x) { return [7]; }",
    RUBY: "def f(x)\n  [7]\nend\n",
    JAVASCRIPT: "function f(x) { return [{ valueOf() { return 2; } }]; }",
    PERL: "sub f { return [7]; }",
}
REACHES = {
    PHP: "<?php function f() { return [@file_get_contents('/etc/passwd'),"
    " @fsockopen('127.0.0.1', 22), getenv('HOME'), @shell_exec('true')]; }",
    RUBY: "def t\n  yield\nrescue SystemCallError, LoadError\n  nil\nend\n"
    "def f\n  [t { File.read('/etc/passwd') }, t { require 'socket'; TCPSocket.new('127.0.0.1', 22).to_s },"
    " ENV['HOME'], t { fork }]\nend\n",
    JAVASCRIPT: "function t(g) { try { return g() ?? null } catch { return null } }\n"
    "function f() { return [t(() => require('fs').readFileSync('/etc/passwd', 'utf8')), null,"
    " t(() => process.env.HOME), t(() => require('child_process').execSync('true').length)]; }",
    PERL: "use Socket;\nsub f { my $r = open(my $h, '<', '/etc/passwd') ? 1 : undef;"
    " my $s = socket(my $k, PF_INET, SOCK_STREAM, 0) ? 1 : undef;"
    " my $p = fork(); return [$r, $s, $ENV{HOME}, $p]; }",
}


@pytest.mark.parametrize("language", INTERPRETED)
async def test_the_contract(sandbox: Sandbox, language: Language) -> None:
    """Values, exceptions with their line, output; a program that does not parse; a loop; nothing in reach."""
    calls = (Call("f", (1,)), Call("f", (0,)), Call("missing", ()))
    execution = await sandbox.run(Job(PROGRAMS[language], calls, language))
    value, fault, missing = execution.results
    assert value == Returned([2, "a", None, 1.5, 1 if language is PERL else True])
    assert isinstance(fault, Raised) and "no" in fault.message and fault.line == 4
    assert isinstance(missing, Raised)
    assert (execution.ended, execution.stdout) == (Ended.FINISHED, "hihi")
    unparsed = await sandbox.run(Job(f"{LOOPS[language]} (((", F, language))
    endless = await sandbox.run(Job(LOOPS[language], F, language, Limits(cpu_seconds=0.5)))
    assert (unparsed.ended, endless.ended) == (Ended.NOT_LOADED, Ended.TIMED_OUT)
    (found,) = (await sandbox.run(Job(REACHES[language], F, language))).results
    assert isinstance(found, Returned) and all(item in (None, False) for item in found.value)


async def shown(sandbox: Sandbox, program: str, language: Language, argument: object) -> list[str]:
    execution = await sandbox.run(Job(program, (Call("f", (argument,)),), language))
    return [repr(result.value) for result in execution.results if isinstance(result, Returned)]


@pytest.mark.parametrize("language", INTERPRETED)
async def test_maps_and_special_numbers_cross(sandbox: Sandbox, language: Language) -> None:
    """Maps, and numbers that JSON has no form for, go in and out as what they are; text stays text."""
    if language in MAPS:
        assert await shown(sandbox, MAPS[language], language, {"m": [5]}) == ["{'k': [5], 'n': nan}"]
    for number in (-math.inf, math.nan):
        expected = f"[{number}, inf, -inf, nan, 'inf']"
        assert await shown(sandbox, UNBOUNDED[language], language, number) == [expected]


@pytest.mark.parametrize(
    ("language", "program"),
    [
        (PHP, "<?php\ndeclare(strict_types=1);\nfunction f(int $x): int { return $x + 1; }\n?>\n"),
        (PHP, "<?PHP function f($x) { return $x + 1; } ?>\ntext <?php echo f(2); ?>\n"),
        (PHP, "declare(strict_types=1);\nfunction f(int $x): int { return $x + 1; }\n"),
        (RUBY, "# frozen_string_literal: true\ndef f(x) = x + 1\n__END__\n(notes\n"),
        (
            JAVASCRIPT,
            "#!/usr/bin/env node\n'use strict';\nconst f = (x) => x + 1;\nmodule.exports = { f };\n",
        ),
        (PERL, "#!/usr/bin/perl\nuse strict;\nsub f { return $_[0] + 1; }\n1;\n__END__\n(notes\n"),
    ],
)
async def test_what_programs_begin_and_end_with(sandbox: Sandbox, language: Language, program: str) -> None:
    """Declarations that have to stand first, what is behind a closing tag or an end mark, exports."""
    assert await shown(sandbox, program, language, 1) == ["2"]


@pytest.mark.parametrize("language", INTERPRETED)
async def test_scripts_judge_from_outside(sandbox: Sandbox, language: Language) -> None:
    examiner = Job(TESTS[language], (), language, relayed=("f",))
    for program, ended in ((PROGRAMS, Ended.FINISHED), (WRONG, Ended.NOT_LOADED)):
        run = await sandbox.examine(examiner, Job(program[language], (), language))
        assert run.examiner.ended is ended, run


@pytest.mark.parametrize(
    ("language", "program", "tests"),
    [
        (
            RUBY,  # lists, symbols, truth values and nothing as keys
            "def f(x)\n  x.transform_values { |value| value }\nend\n",
            "y = {[1, 2] => 1, a: 2, 'a' => 3, true => 4, nil => 5, 1 => 6, 1.0 => 7,"
            " {b: [3]} => {[4] => 8}}\n"
            "raise 'wrong' unless f(y) == y\n",
        ),
        (
            PHP,  # integers as keys, in their order
            "<?php function f($x) { return [7 => $x, 'b' => [1 => -0.0], 3 => 1.0]; }",
            "if (f(2) !== [7 => 2, 'b' => [1 => -0.0], 3 => 1.0]) { throw new Exception('wrong'); }",
        ),
        (
            JAVASCRIPT,  # -0, large numbers and large integers
            "const f = (x, y) => [x * 2, y * 2n, -0, 1e300, undefined];",
            "const { deepStrictEqual } = require('assert');\n"
            "deepStrictEqual(f(2 ** 59, 2n ** 59n), [2 ** 60, 2n ** 60n, -0, 1e300, undefined]);",
        ),
    ],
)
async def test_relayed_values_stay(sandbox: Sandbox, language: Language, program: str, tests: str) -> None:
    together = Job(f"{program}\n{tests}", (), language)
    assert (await sandbox.run(together)).ended is Ended.FINISHED
    run = await sandbox.examine(Job(tests, (), language, relayed=("f",)), Job(program, (), language))
    assert run.examiner.ended is Ended.FINISHED, run


@pytest.mark.parametrize(
    "program",
    [
        "def f(_)\n  {'[1, 2]' => 1}\nend\n",
        "def f(_)\n  {'[1,2]' => 1}\nend\n",
        "class Any\n  def ==(_) = true\n  def eql?(_) = true\n  def hash = [1, 2].hash\nend\n"
        "def f(_)\n  {Any.new => 1}\nend\n",
        "def f(_)\n  {[1, 2] => 1, '[1, 2]' => 1}\nend\n",
    ],
    ids=["text like the list", "text like the wire's list", "equal to every other", "twice"],
)
async def test_a_map_equals_only_one_with_its_keys(sandbox: Sandbox, program: str) -> None:
    """No text and no object of the program's own passes for a key that is a list."""
    examiner = Job("raise 'wrong' unless f(1) == {[1, 2] => 1}\n", (), RUBY, relayed=("f",))
    run = await sandbox.examine(examiner, Job(program, (), RUBY))
    assert run.examiner.ended is Ended.NOT_LOADED
