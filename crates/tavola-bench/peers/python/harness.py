"""What the programs in Python share: a store says how it is used, the harness does the rest.

A program takes one job, a JSON object, as its last argument and prints a JSON line a phase. The
loops, the clock, keys, values and the comparison of every answer are the harness's, as in
c/harness.c. Arguments before the job are folders of modules.

A store has: put(key, value), get(key), close(), version(). Keys are text, values are bytes.
"""

import json
import platform
import re
import sys
import time

sys.path[:0] = sys.argv[1:-1]

#: Operations between two looks at the clock.
STRIDE = 16
#: A put may take so many times as long as other phases, so that all keys are there.
PUT_TIMES = 8
PYTHON = f"Python {platform.python_version()}"


def say(line):
    print(json.dumps(line), flush=True)


def run(open_store):
    """Does the job of the program's argument on the store that ``open_store`` opens."""
    try:
        job = json.loads(sys.argv[-1])
        Harness(job["case"], open_store(job)).work()
    except Exception as error:
        say({"error": (str(error) or repr(error)).splitlines()[0]})
        sys.exit(1)


class Harness:
    def __init__(self, case, store):
        self.case, self.store = case, store
        self.keys = [f"k{index:07d}" for index in range(case["keys"])]
        self.values = [None] * case["keys"]
        self.next = []
        self.there = self.passes = 0
        self.wrong = False

    def work(self):
        for phase in self.case["phases"]:
            if phase in ("put", "write"):
                self.time(phase, len(self.keys), self.put_some)
            elif phase in ("get", "read"):
                self.time(phase, self.there, self.get_some)
            else:
                raise ValueError(f"it knows no phase {phase}")
        version = self.store.version()
        self.store.close()
        with open("/proc/self/status") as status:
            peak = re.search(r"VmHWM:\s+(\d+)", status.read())
        say({"end": True, "version": version, "bytes": 0, "keys": self.there,
             "peak_rss_bytes": int(peak[1]) * 1024 if peak else 0})

    def value(self, index):
        """Digits of the key and of how often all were put; the last digit comes first."""
        word = f"{(index * 2654435761 + self.passes) & 0xFFFFFFFF:08x}"[::-1].encode()
        length = self.case["value_bytes"]
        return (word * (length // 8 + 1))[:length]

    def put_some(self, start, end):
        put, keys, values = self.store.put, self.keys, self.next
        for index in range(start, end):
            put(keys[index], values[index])
        self.values[start:end] = values[start:end]
        self.there = max(self.there, end)

    def get_some(self, start, end):
        get, keys, values = self.store.get, self.keys, self.values
        for index in range(start, end):
            if get(keys[index]) != values[index]:
                self.wrong = True

    def time(self, phase, keys, some):
        """Goes over the keys again and again. Making the values before a pass does not count."""
        self.wrong = False
        puts = some == self.put_some
        loops = self.case["loops"]
        limit = self.case.get("limit_ms", 1_000_000) * 1_000_000 * (PUT_TIMES if puts else 1)
        done = spent = 0
        cpu = 0.0
        while done < loops and spent <= limit and keys > 0:
            if puts:
                self.passes += 1
                self.next = [self.value(index) for index in range(keys)]
            count, at = min(keys, loops - done), 0
            cpu -= time.process_time()
            began = time.monotonic_ns()
            while at < count and spent + time.monotonic_ns() - began <= limit:
                some(at, min(at + STRIDE, count))
                at = min(at + STRIDE, count)
            spent += time.monotonic_ns() - began
            cpu += time.process_time()
            done += at
        line = {"phase": phase, "ops": done, "seconds": spent / 1e9, "cpu_seconds": cpu,
                "verified": not self.wrong}
        if done < loops:
            line["note"] = f"only {done} of {loops} within its time"
        say(line)
