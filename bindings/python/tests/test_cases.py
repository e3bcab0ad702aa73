"""Runs the cases that every language must answer alike, ``bindings/cases.json``."""

import json
import math
import pathlib

import pytest

import tavola

FILE = pathlib.Path(__file__).resolve().parents[2] / "cases.json"
CASES = json.loads(FILE.read_text(encoding="utf-8"))["cases"]


class Run:
    """One case: its table, and what its steps saved."""

    def __init__(self, case, name):
        options = dict(case.get("options", {}))
        if "fixed" in options:
            options["fixed"] = tuple(options["fixed"])
        self.table = tavola.open(name, **options)
        self.saved = {}

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
            if word not in ("call", "result", "error", "message", "save", "keys", "tags")
        }
        if "keys" in step:
            given["keys"] = [self.value(key) for key in step["keys"]]
        if "tags" in step:
            given["tags"] = [self.value(tag) for tag in step["tags"]]
        method = getattr(self, f"call_{call}", None)
        return method(**given) if method else getattr(self.table, call)(**given)

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
        self.table.set(key, value, **more)
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
    for step in case["steps"]:
        if "error" in step:
            with pytest.raises(tavola.Error) as raised:
                run.call(step)
            assert raised.value.status == step["error"], step
            assert step.get("message", "") in str(raised.value), step
            continue
        result = run.call(step)
        if "save" in step:
            assert result is not None, step
            run.saved[step["save"]] = result
        if "result" in step:
            wanted = run.value(step["result"])
            assert same(result, wanted), f"{step}: {result!r}"
    assert run.table.check()["is_clean"]
