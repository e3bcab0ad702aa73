"""Runs the tests, and prints how many passed, failed and were skipped."""

import pathlib
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent


class Count:
    """Counts outcomes."""

    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def pytest_runtest_logreport(self, report):
        if report.failed:
            self.failed += 1
        elif report.skipped:
            self.skipped += 1
        elif report.when == "call":
            self.passed += 1

    def pytest_collectreport(self, report):
        if report.failed:
            self.failed += 1


def main(tier):
    marks = {
        "quick": "not slow and not peers",
        "rest": "slow or peers",
        "peers": "peers",
        "all": "",
    }[tier]
    count = Count()
    root = ["--rootdir", str(HERE.parent)]
    options = ["-q", *root, "-p", "no:cacheprovider", "-rfEs", "-m", marks, str(HERE)]
    outcome = pytest.main(options, plugins=[count])
    if outcome not in (0, 1) and not count.failed:
        count.failed = 1
    print(f"{count.passed} passed, {count.failed} failed, {count.skipped} skipped")
    return 1 if count.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
