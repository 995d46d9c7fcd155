"""What counts as a step: statements, their lines and what comes after them."""

from support.traced import lines, texts, traced, traced_test


def test_every_statement_is_a_step_and_a_loop_header_one_each_time_it_is_looked_at() -> None:
    """Steps are statements begun; a loop's header is begun before each round and at the end."""
    found = traced(
        """
        def f(n):
            total = 0
            for i in range(n):
                total += i
            return total
        """,
        "(2,)",
    )
    assert lines(found) == [2, 3, 4, 3, 4, 3, 5]
    assert found.outcome == "returned"
    assert found.result is not None
    assert (found.result.text, found.result.type) == ("1", "int")


def test_values_before_and_after_are_copies_of_that_moment() -> None:
    """A list that changes later is recorded as it was."""
    found = traced(
        """
        def f():
            xs = []
            xs.append(1)
            xs.append(2)
            return xs
        """
    )
    assert [step.before.get("xs") and step.before["xs"].text for step in found.steps] == [
        None,
        "[]",
        "[1]",
        "[1, 2]",
    ]
    assert [step.after["xs"].text for step in found.steps if step.after] == ["[]", "[1]", "[1, 2]", "[1, 2]"]


def test_successors_go_over_frames_in_the_order_of_execution() -> None:
    """A line that calls is followed by the callee's first line, a return by the caller's next line."""
    found = traced(
        """
        def f(n):
            a = g(n)
            b = g(a)
            return b
        def g(n):
            return n + 1
        """,
        "(1,)",
    )
    assert lines(found) == [2, 6, 3, 6, 4]
    assert found.successors(2) == {6}
    assert found.successors(6) == {3, 4}
    assert found.successors(4) == {-1}
    assert found.successors(5) == {-1}
    assert not found.executed(5)


def test_the_state_after_a_call_is_the_callers_own() -> None:
    """A line's state is that of its frame when the line is done, not that of the callee where it goes on."""
    found = traced(
        """
        def f():
            x = g(1)
            return x
        def g(x):
            return x + 10
        """,
        watches={2: ["x"]},
    )
    assert texts(found, 2, "x") == ["11; int"]


def test_recursion_keeps_frames_apart() -> None:
    """Every activation of a function has its own open statement."""
    found = traced(
        """
        def f(n):
            if n == 0:
                return 0
            rest = f(n - 1)
            return rest + n
        """,
        "(2,)",
        {4: ["rest"]},
    )
    assert lines(found) == [2, 4, 2, 4, 2, 3, 5, 5]
    assert texts(found, 4, "rest") == ["1; int", "0; int"]


def test_a_statement_on_several_lines_is_one_step() -> None:
    """Lines of one statement are named by its first, also where a call stands between them."""
    found = traced(
        """
        def f(n):
            x = [
                a
                for a in range(n)
                if a
            ]
            y = g(1,
                  g(2))
            while (n
                   > 1):
                n -= 1
            return (x,
                    y)
        def g(a, b=0):
            return a
        """,
        "(3,)",
    )
    assert lines(found) == [2, 7, 15, 15, 9, 11, 9, 11, 9, 12]


def test_a_loop_on_one_line_is_one_step() -> None:
    """The line is left once, however often it goes round."""
    found = traced("def f(n):\n    for i in range(n): n += i\n    return n", "(3,)", {2: ["n"]})
    assert lines(found) == [2, 3]
    assert texts(found, 2, "n") == ["6; int"]


def test_a_line_that_starts_anew_is_a_new_step() -> None:
    """A statement that is executed again right after itself is executed twice."""
    found = traced(
        """
        def f(n):
            while n:
                n = n - 1 if n else n
            return n
        """,
        "(2,)",
    )
    assert lines(found) == [2, 3, 2, 3, 2, 4]


def test_comprehensions_belong_to_the_statement_that_holds_them() -> None:
    """Lists, sets, dicts and nested ones are one step, and their own variables are none of the function's."""
    found = traced(
        """
        def f(rows):
            a = [x * y for x in rows for y in rows if y]
            b = {
                x: {y for y in rows if y > x}
                for x in rows
            }
            total = sum(x for x in a)
            return total, b
        """,
        "([1, 2],)",
        watches={2: ["a"], 3: ["b"], 7: ["total"]},
    )
    assert lines(found) == [2, 3, 7, 8]
    assert texts(found, 2, "a") == ["[1, 2, 2, 4]; list"]
    assert texts(found, 3, "b") == ["{1: {2}, 2: set()}; dict"]
    assert texts(found, 7, "total") == ["9; int"]
    assert all(set(step.after or {}) <= {"rows", "a", "b", "total"} for step in found.steps)


def test_a_class_inside_a_function() -> None:
    """The body of the class is executed where the class statement stands."""
    found = traced(
        """
        def f():
            class A:
                x = 1
                def m(self):
                    return self.x
            return A().m()
        """
    )
    assert lines(found) == [2, 3, 4, 6, 5]


def test_set_up_is_not_part_of_the_trace() -> None:
    """What setUpClass and setUp execute happened before."""
    found = traced_test(
        """
        class C:
            def __init__(self):
                self.n = 0
        """,
        """
        import unittest
        class T(unittest.TestCase):
            @classmethod
            def setUpClass(cls):
                cls.shared = C()
            def setUp(self):
                self.c = C()
            def test(self):
                pass
        """,
        "assertEqual(self.c.n + self.shared.n, 0)",
    )
    assert found.outcome == "returned"
    assert lines(found) == []


def test_a_constant_that_the_compiler_folded_into_the_def_line_is_no_step() -> None:
    """Python 3.11 gives some instructions of `'%s' % x` the line of the `def`."""
    found = traced("def f(key):\n    return 'Chord: %s, Tune: %s' % (key, key)", "('a',)")
    assert lines(found) == [2]
