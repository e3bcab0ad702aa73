"""Runs the cases that every language must answer alike, ``bindings/cases.json``."""

import json
import math
import pathlib
import queue

import pytest

import tavola

FILE = pathlib.Path(__file__).resolve().parents[2] / "cases.json"
CASES = json.loads(FILE.read_text(encoding="utf-8"))["cases"]


class Run:
    """One case: its table and queue, and what its steps saved."""

    def __init__(self, case, name):
        options = dict(case.get("options", {}))
        if "fixed" in options:
            options["fixed"] = tuple(options["fixed"])
        self.table = tavola.open(name, **options)
        #: What a step calls if it does not say ``"of": "table"``.
        self.current = self.table
        #: What this step calls.
        self.whose = self.table
        self.saved = {}
        self.jobs = None
        if "queue" in case:
            self.jobs = tavola.Queue(f"{name} jobs", maxsize=case["queue"], acknowledge=True)

    def value(self, form):
        """Return the object that a value of the file stands for."""
        if not isinstance(form, dict):
            return form
        if "hex" in form:
            return bytes.fromhex(form["hex"])
        if "float" in form:
            return float(form["float"])
        if "repeat" in form:
            whole = self.value(form["repeat"]) * form["times"]
            return whole + self.value(form["then"]) if "then" in form else whole
        if "saved" in form:
            return self.saved[form["saved"]]
        return form

    def call(self, step):
        call = step["call"]
        given = {
            word: self.value(form) for word, form in step.items()
            if word not in ("call", "of", "result", "error", "message", "save", "keys", "tags")
        }
        if "keys" in step:
            given["keys"] = [self.value(key) for key in step["keys"]]
        if "tags" in step:
            given["tags"] = [self.value(tag) for tag in step["tags"]]
        method = getattr(self, f"call_{call}", None)
        self.whose = self.table if step.get("of") == "table" else self.current
        return method(**given) if method else getattr(self.whose, call)(**given)

    def run(self, steps):
        """Make the calls of these steps, and compare the answers."""
        for step in steps:
            if "error" in step:
                with pytest.raises(tavola.Error) as raised:
                    self.call(step)
                assert raised.value.status == step["error"], step
                assert str(raised.value) == step["message"], step
                continue
            result = self.call(step)
            if "save" in step:
                assert result is not None, step
                self.saved[step["save"]] = result
            if "result" in step:
                wanted = self.value(step["result"])
                assert same(result, wanted), f"{step}: {result!r}"

    def call_flags(self, key):
        raw = self.table.get_raw(key)
        return raw and raw[1]

    def call_bytes(self, key):
        raw = self.table.get_raw(key)
        return raw and raw[0]

    def call_store(self, key, value, flags):
        self.table.set_raw(key, value, flags)
        return True

    def call_set(self, key, value, **more):
        self.whose.set(key, value, **more)
        return True

    def call_set_many(self, values, **more):
        self.table.set_many(values, **more)
        return True

    def call_gets(self, key):
        return self.table.gets(key)[1]

    def call_ttl(self, key):
        left = self.table.ttl(key)
        return left and math.ceil(left)

    def call_keys(self):
        return sorted(self.table.keys(), key=str.encode)

    def call_prefix_keys(self, prefix):
        return sorted(self.table.keys(prefix), key=str.encode)

    def call_size(self):
        return len(self.table)

    def call_clear(self):
        self.table.clear()
        return True

    def call_invalidate(self, tag):
        self.table.invalidate(tag)
        return True

    def call_is_durable(self):
        return self.table.is_durable

    def call_durability(self):
        return self.table.durability

    def call_sync(self):
        self.table.sync()
        return True

    def call_compute(self, key, value, ttl):
        return self.table.get_or_compute(key, lambda: value, ttl=ttl)

    def call_lock(self, name, wait=0, shared=False, steps=()):
        lock = self.table.lock(name, wait, shared)
        if not lock.acquire():
            return False
        self.run(steps)
        lock.release()
        return True

    def call_push(self, value):
        try:
            self.jobs.put_nowait(value)
        except queue.Full:
            return False
        return True

    def call_pop(self, steps=(), give_back=False):
        try:
            job = self.jobs.get_nowait()
        except queue.Empty:
            return None
        self.run(steps)
        if give_back:
            self.jobs.give_back()
        else:
            self.jobs.task_done()
        return job

    def call_waiting(self):
        return self.jobs.qsize()

    def call_transaction(self, steps, abort=False, once=False):
        with self.table.transaction(once=once) as transaction:
            self.current = transaction
            try:
                self.run(steps)
            finally:
                self.current = self.table
            if abort:
                transaction.abort()
        return not abort


def same(result, wanted):
    """Return whether two objects are equal and of the same types."""
    if type(result) is not type(wanted):
        return False
    if isinstance(wanted, list):
        return len(result) == len(wanted) and all(map(same, result, wanted))
    if isinstance(wanted, dict):
        return result.keys() == wanted.keys() and all(same(result[k], wanted[k]) for k in wanted)
    if isinstance(wanted, float) and math.isnan(wanted):
        return math.isnan(result)
    return result == wanted


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_case(case, table_name):
    run = Run(case, table_name)
    run.run(case["steps"])
    assert run.table.check()["is_clean"]


WRONG = [
    {"call": "get", "key": "k", "result": 1},
    {"call": "incr", "key": "k", "error": "NOT_A_COUNTER", "message": "a decimal number"},
    {"call": "lock", "name": "l", "steps": [{"call": "lock", "name": "l", "result": True}]},
    {"call": "pop", "result": "other"},
    {"call": "transaction", "steps": [{"call": "get", "key": "k", "result": 1}]},
]


@pytest.mark.parametrize("step", WRONG, ids=[step["call"] for step in WRONG])
def test_the_runner_sees_a_difference(step, table_name):
    run = Run({"queue": 1}, table_name)
    run.run([
        {"call": "set", "key": "k", "value": "v", "result": True},
        {"call": "push", "value": "job", "result": True},
    ])
    with pytest.raises(AssertionError):
        run.run([step])
