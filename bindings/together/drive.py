"""Runs workers in all languages on one table and one queue, and kills some of them.

Each worker first stores values and puts a job of its own into the shared queue. Then it counts up a
shared counter, and notes each call that has returned in its journal. It takes jobs from the queue,
notes them as done in the table, and acknowledges them. In the end the counter must be what the
journals say, plus at most one for each worker that was killed. All jobs must be done, and each
language must have done some of them.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time

import tavola

KILLS = 24
JOBS_BEFORE_KILL = 25
#: Seconds after which the test has failed.
PATIENCE = 120
LANGUAGES = ["python", "php", "ruby", "perl", "c"]

workers, work = json.loads(sys.argv[1]), sys.argv[2]
table = tavola.open("together", max_size=64 << 20)
queue = tavola.Queue("together jobs", maxsize=1000, item_size=100)
stop = os.path.join(work, "stop")
random.seed(1)
failures, passed = [], 0


def check(is_so, what):
    global passed
    if is_so:
        passed += 1
    else:
        failures.append(what)
        print("failed:", what)


def start(language, number):
    journal = os.path.join(work, f"{language}-{number}")
    command = workers[language] + [table.path, queue.path, journal, stop]
    return subprocess.Popen(command)


def journals():
    lines = 0
    for name in os.listdir(work):
        if "-" in name:
            with open(os.path.join(work, name), "rb") as file:
                lines += file.read().count(b"\n")
    return lines


wanted = {f"done grüße of {language}" for language in LANGUAGES}
running = {language: start(language, 0) for language in LANGUAGES}
deadline = time.monotonic() + PATIENCE
# Each worker has counted before the first one is killed.
while not all(os.path.exists(os.path.join(work, f"{one}-0")) for one in LANGUAGES):
    if time.monotonic() > deadline:
        check(False, "all workers begin")
        break
    time.sleep(0.01)
for kill in range(1, KILLS + 1):
    language = LANGUAGES[kill % len(LANGUAGES)]
    # All workers run, so that each of them gets some of these jobs.
    for number in range(JOBS_BEFORE_KILL):
        wanted.add(f"done job {kill}.{number}")
        queue.put(f"job {kill}.{number}")
    before = journals()
    # The others go on while this one works, wherever it is killed.
    while journals() < before + 50 and time.monotonic() < deadline:
        time.sleep(random.random() / 100)
    victim = running[language]
    check(victim.poll() is None, f"{language} still runs before it is killed")
    victim.send_signal(signal.SIGKILL)
    victim.wait()
    running[language] = start(language, kill)
done, by = {}, []
while time.monotonic() < deadline:
    done = dict(table.items("done "))
    by = [one.decode() if isinstance(one, bytes) else one for one in done.values()]
    if len(done) == len(wanted):
        if set(LANGUAGES) <= set(by):
            break
        wanted.add(f"done more {len(wanted)}")
        queue.put(f"more {len(wanted) - 1}")
    time.sleep(0.01)
missing = sorted(wanted - set(done))
check(set(done) == wanted, f"{len(missing)} of {len(wanted)} jobs are not done: {missing[:5]}")
open(stop, "w").close()
for language, worker in running.items():
    try:
        code = worker.wait(timeout=30)
    except subprocess.TimeoutExpired:
        worker.kill()
        code = "none: it hangs"
    check(code == 0, f"{language} ends with the code {code}")
counted, noted = int(table.get("count")), journals()
check(noted <= counted <= noted + KILLS, f"the counter is {counted}, the journals say {noted}")
for language in LANGUAGES:
    check(by.count(language) > 0, f"{language} has done {by.count(language)} jobs")
    text, values = table.get(f"text of {language}"), table.get(f"list of {language}")
    check(text in ("grüße", "grüße".encode()), f"the text of {language} is {text!r}")
    check(values == [1, "zwei", None], f"the list of {language} is {values!r}")
check(not table.check()["problems"], "the table is clean")
shares = ", ".join(f"{by.count(one)} by {one}" for one in LANGUAGES)
print(f"{counted} counted, {KILLS} killed, {len(done)} jobs done: {shares}")
print(f"{passed} passed, {len(failures)} failed, 0 skipped")
sys.exit(bool(failures))
