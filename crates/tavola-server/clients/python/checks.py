"""What a suite finds, as lines of TAP: `ok N - what` or `not ok N - what: ...`, last `1..N`."""

import sys
import time

# Whatever a byte can be, line ends among them.
EVERY_BYTE = bytes(range(256)) * 4 + b"\r\nEND\r\n"
LARGE = b"0123456789" * 90_000


class Checks:
    def __init__(self):
        self.count = 0
        self.failed = 0

    def check(self, what, ask, expected):
        """Whether `ask` returns this; where `expected` is a function, whether that holds."""
        self.count += 1
        try:
            found = ask()
            good = expected(found) if callable(expected) else found == expected
            told = repr(found)[:200]
        except Exception as error:
            good, told = False, repr(error)[:200]
        self.failed += not good
        print(f"ok {self.count} - {what}" if good else f"not ok {self.count} - {what}: {told}")

    def ends(self, what, ask):
        """Whether `ask` returns None within some seconds."""
        end = time.monotonic() + 10
        while ask() is not None and time.monotonic() < end:
            time.sleep(0.05)
        self.check(what, ask, None)

    def close(self):
        print(f"1..{self.count}")
        sys.exit(1 if self.failed else 0)
