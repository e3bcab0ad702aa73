"""Transactions: all changes or none, conflicts, savepoints, and reads at one moment."""

import pytest

import tavola


@pytest.fixture
def other(table):
    """Another handle of the table."""
    with tavola.open(table.path) as other:
        yield other


def test_all_changes_happen_at_the_end(table, other):
    table.update(a=1, b=2, c=3)

    def body(t):
        t["a"], t["new"] = 10, [1, 2]
        del t["b"]
        assert t["a"] == 10 and "b" not in t and t.get("b", "none") == "none"
        assert t.changes == 3
        assert other["a"] == 1 and "b" in other and "new" not in other
        return "result"

    assert table.transact(body) == "result"
    assert dict(other.items()) == {"a": 10, "c": 3, "new": [1, 2]}


def test_every_call_of_a_transaction(table):
    table.set_many({"text": "a", "n": 5, "old": b"x"})
    with table.transaction() as t:
        t.set("s", {"k": [None, True]}, ttl=60, tags=["news"])
        assert t.add("s", 1) is False and t.add("added", 1.5, ttl=60, tags="news") is True
        assert t.replace("nobody", 1) is False and t.replace("text", "b") is True
        assert t.append("text", "c") is True and t["text"] == "bc"
        assert t.append("nobody", "c") is False
        assert t.exists("n") and not t.exists("nobody")
        assert t.delete("old") is True and t.delete("old") is False
        assert t.take("n") == 5 and t.take("n") is None and t.take("n", "gone") == "gone"
        assert t.incr("count") == 1 and t.incr("count", 2**62) == 2**62 + 1
        assert t.decr("low", 3) == -3 and t.decr("low", -1) == -2
        assert t.incr("from", 1, initial=10, ttl=60) == 11
        assert t.incr("zero", 0, remove_zero=True) == 0 and "zero" not in t
        assert t.incr("low", 2, remove_zero=True) == 0 and "low" not in t
        for key in ("nobody", "old"):
            with pytest.raises(KeyError, match=key):
                t[key]
            with pytest.raises(KeyError):
                del t[key]
        assert not t.closed
    assert t.closed
    assert table["s"] == {"k": [None, True]} and table.tags_of("s") == ["news"]
    assert table["added"] == 1.5 and 59 < table.ttl("added") <= 60 and 59 < table.ttl("s") <= 60
    assert table["text"] == "bc" and table["count"] == 2**62 + 1 and table["from"] == 11
    assert 59 < table.ttl("from") <= 60 and table.ttl("count") is None
    assert sorted(table) == ["added", "count", "from", "s", "text"]
    assert table.invalidate("news") and "s" not in table and "added" not in table


def test_wrong_arguments_are_refused_as_by_a_table(table):
    table["text"] = "x"
    with table.transaction() as t:
        with pytest.raises(TypeError, match="a key is str or bytes"):
            t.get(5)
        with pytest.raises(tavola.EncodeError):
            t["a"] = (1, 2)
        with pytest.raises(tavola.NotACounterError):
            t.incr("text")
        t["n"] = 2**63 - 1
        with pytest.raises(tavola.OptionError, match="does not fit"):
            t.incr("n")
        with pytest.raises(tavola.OptionError, match="does not fit"):
            t.incr("m", 2**63 - 1, initial=1)
        with pytest.raises(tavola.OptionError):
            t.decr("n", -(2**63))
        with pytest.raises(tavola.OptionError):
            t.set("a", 1, ttl=0)
    assert sorted(table) == ["n", "text"]


def test_values_of_a_serializer(table_name):
    with tavola.open(table_name, serializer="pickle") as table:
        table["a"] = (1, {2})
        with table.transaction() as t:
            assert t["a"] == (1, {2})
            t["b"] = t.take("a")
            assert t["b"] == (1, {2})
        assert table["b"] == (1, {2}) and "a" not in table


def test_a_table_of_fixed_lengths(table_name):
    with tavola.open(table_name, fixed=(4, 4)) as table, tavola.open(table.path) as unaware:
        for number, handle in enumerate((table, unaware)):
            with handle.transaction() as t:
                t[b"%04d" % number] = "text"
        assert table["0000"] == table["0001"] == b"text"


def test_a_conflict_runs_the_function_again(table, other):
    table["n"] = 1
    runs = []

    def body(t):
        runs.append(t["n"])
        if len(runs) == 1:
            other["n"] = 5
        t["sum"] = t["n"] + 1
        return len(runs)

    assert table.transact(body) == 2
    assert runs == [1, 5] and table["sum"] == 6


def test_after_eight_conflicts_a_transaction_has_the_turn(table, other):
    table["n"] = 0
    turns = []

    def body(t):
        try:
            # This thread cannot get the turn again if it has it already.
            table.transact(lambda inner: None, once=True)
            turns.append(False)
        except tavola.ReentrantError:
            turns.append(True)
        number = t["n"]
        if len(turns) < 10:
            other.incr("n")
        t["seen"] = number
        return number

    assert table.transact(body) == 9
    assert turns == [False] * 8 + [True] * 2 and table["seen"] == 9


@pytest.mark.parametrize("once", [False, True])
def test_a_block_raises_the_conflict(table, other, once):
    table["n"] = 1
    with pytest.raises(tavola.ConflictError, match="another process has changed a key") as caught:
        with table.transaction(once=once) as t:
            t["copy"] = t["n"]
            other["n"] = 2
    assert caught.value.status == "CONFLICT" and t.closed and "copy" not in table


def test_a_function_that_runs_once_raises_the_conflict(table, other):
    table["n"] = 1
    runs = []

    def body(t):
        runs.append(1)
        t["copy"] = t["n"]
        other["n"] = 2

    with pytest.raises(tavola.ConflictError):
        table.transact(body, once=True)
    assert runs == [1] and "copy" not in table
    assert table.transact(lambda t: t["n"], once=True) == 2


@pytest.mark.parametrize("once", [False, True])
@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt, SystemExit])
def test_an_exception_changes_nothing_and_is_raised(table, error, once):
    table["a"] = 1
    kept = []

    def body(t):
        kept.append(t)
        t["a"] = t["a"] + 1
        raise error("mine")

    with pytest.raises(error, match="mine"):
        table.transact(body, once=once)
    with pytest.raises(error, match="mine"), table.transaction(once=once) as t:
        body(t)
    assert table["a"] == 1 and len(kept) == 2 and all(t.closed for t in kept)
    table.transact(lambda t: t.incr("a"), once=True)
    assert table["a"] == 2


def test_an_exception_of_a_run_that_saw_two_moments_does_not_count(table, other):
    table.update(a=1, b=1)
    runs = []

    def body(t):
        runs.append(1)
        first = t["a"]
        if len(runs) == 1:
            other.update(a=2, b=2)
        t["c"] = 1
        if t["b"] != first:
            raise AssertionError("the keys differ")
        return first

    assert table.transact(body) == 2 and len(runs) == 2 and table["c"] == 1


@pytest.mark.parametrize("once", [False, True])
def test_abort(table, once):
    def body(t):
        t["a"] = 1
        t.abort()

    def by_class(t):
        t["a"] = 1
        raise tavola.Abort

    reached = []
    for function in (body, by_class):
        assert table.transact(function, once=once) is None
        with table.transaction(once=once) as t:
            function(t)
            reached.append(1)
        assert t.closed
    assert len(table) == 0 and reached == []
    assert table.read_together(lambda t: t.abort()) is None
    assert not issubclass(tavola.Abort, tavola.Error)


def test_abort_ends_the_transaction_that_it_names(table):
    reached = []

    def outer(t):
        t["outer"] = 1
        table.transact(lambda inner: t.abort())
        reached.append(1)

    assert table.transact(outer) is None and reached == [] and len(table) == 0
    with table.transaction() as t:
        with table.transaction():
            t.abort()
        reached.append(1)
    assert reached == []


def test_savepoints(table):
    with table.transaction() as t:
        t["a"] = 1
        first = t.savepoint()
        t["a"], t["b"] = 2, 2
        second = t.savepoint()
        t["c"] = 3
        del t["a"]
        t.roll_back_to(second)
        assert t["a"] == 2 and "c" not in t
        t.roll_back_to(first)
        with pytest.raises(tavola.OptionError, match="savepoint"):
            t.roll_back_to(second)
        t.roll_back_to(first)
    assert dict(table.items()) == {"a": 1}


def test_read_together_sees_one_moment(table, other):
    table.update(a=1, b=1)
    runs = []

    def body(t):
        runs.append(1)
        first = t["a"]
        if len(runs) == 1:
            other.update(a=2, b=2)
        if t["b"] != first:
            raise AssertionError("the keys differ")
        return first

    assert table.read_together(body) == 2 and len(runs) == 2
    for write in (lambda t: t.set("a", 1), lambda t: t.incr("a"), lambda t: t.delete("a")):
        with pytest.raises(tavola.ReadOnlyError):
            table.read_together(write)


def test_a_table_that_is_open_read_only(table):
    table["a"] = 1
    with tavola.open(table.path, read_only=True) as reader:
        assert reader.read_together(lambda t: t["a"]) == 1
        with pytest.raises(tavola.ReadOnlyError):
            reader.transact(lambda t: t.set("a", 2))
        with pytest.raises(ZeroDivisionError):
            reader.read_together(lambda t: (t["a"], t.get("b"), 1 // 0))
    assert table["a"] == 1


def test_a_cache_refuses(cache):
    for call in (cache.transact, cache.read_together):
        with pytest.raises(tavola.OptionError, match="a cache may evict a key at any moment"):
            call(lambda t: None)
    with pytest.raises(tavola.OptionError), cache.transaction():
        pass


def test_after_its_end_a_transaction_is_closed(table):
    with table.transaction() as t:
        t["a"] = 1
    kept = table.transact(lambda t: t)
    for ended in (t, kept):
        for call in (lambda: ended["a"], lambda: ended.set("a", 2), ended.savepoint,
                     lambda: ended.incr("n"), lambda: "a" in ended, lambda: ended.changes):
            with pytest.raises(tavola.ClosedError, match="the transaction has ended"):
                call()
    assert table["a"] == 1


def test_a_closed_table_has_no_transactions(table):
    with table.transaction() as t:
        t["a"] = 1
        path = table.path
        table.close()
    with tavola.open(path) as again:
        assert again["a"] == 1
    for call in (table.transact, table.read_together):
        with pytest.raises(tavola.ClosedError):
            call(lambda t: None)


def test_too_many_changes(table):
    def body(t):
        for number in range(65_537):
            t[b"%d" % number] = b""

    with pytest.raises(tavola.TooManyChangesError, match="65536 keys") as caught:
        table.transact(body)
    assert caught.value.status == "TOO_MANY_CHANGES" and len(table) == 0
