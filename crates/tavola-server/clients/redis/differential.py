"""Random commands for the server at HOST:PORT or the path of a Unix socket, and for Redis itself.

    differential.py PLACE [NAME PASSWORD]

Both get the same bytes; their replies have to be the same except for what is named here:

- a key expires after 1002 years at the latest
- INCRBYFLOAT adds exactly here, so it gets numbers that Redis adds exactly, too
- a time that is left may differ by what passes between two commands
- keys may be listed in another order, and commands with other facts
- a key that has expired by a condition may still be counted by DBSIZE
- a table that is a cache has no MSET and MSETNX

Starts a redis-server of its own, and ends it. Prints lines of TAP; the number of a sequence is the
seed of its commands.
"""

import os
import random
import socket
import subprocess
import sys
import tempfile
import time

SEQUENCES = 36
COMMANDS = 250
# How long a reply may take: a machine may be busy.
PATIENCE_S = 120

KEYS = [b"a", b"b", b"counter", b"key:1", b"key:2", b"", b"\x00\xff\r\n", b"k" * 300]
VALUES = [
    b"", b"x", b"hello", b"0", b"10", b"-7", b"007", b"+5", b" 5", b"1.5", b"3e2",
    b"9223372036854775807", b"-9223372036854775808", b"9223372036854775808",
    bytes(range(256)), b"long" * 5000,
]
NUMBERS = [b"0", b"1", b"-1", b"5", b"-3", b"2", b"100", b"-100", b"x", b"", b"1.5", b"01",
           b"9223372036854775807", b"-9223372036854775808", b"9223372036854775808"]
# Keys of numbers with a fraction alone, and such numbers, of few binary digits.
FLOAT_KEYS = [b"f1", b"f2"]
FLOATS = [b"0.25", b"-0.5", b"1", b"2.25", b"1e3", b"-5", b".5", b"5.", b"3e2", b"0.0625", b"-0",
          b"x", b"", b"inf", b"-inf", b"nan", b"1e", b" 1", b"1 "]
PATTERNS = [b"*", b"key:*", b"key:?", b"[ab]", b"[^a]", b"*e*", b"k[a-z]y:1", b"\\a", b"", b"[a",
            b"**", b"c*r", b"*\xff*"]
NAMED_TIMES = [b"0", b"-1", b"x", b"", b"9223372036854775807", b"-9223372036854775808",
               b"9223372036854776"]
# The seconds of 1000 years, about the longest that a table keeps a key.
LONGEST_S = 31_000_000_000
# Replies of these are times.
TIMES = {b"ttl", b"pttl", b"expiretime", b"pexpiretime"}
LISTS = {b"keys"}
# Replies of these differ between any two servers.
UNLIKE = {b"client", b"scan", b"command"}


class Reply:
    """A reply: what kind it is, and what is in it."""

    def __init__(self, kind, value):
        self.kind, self.value = kind, value

    def __eq__(self, other):
        return (self.kind, self.value) == (other.kind, other.value)

    def __repr__(self):
        return f"{self.kind.decode()}{self.value!r}"[:300]

    def sort(self):
        self.value.sort(key=repr)


class Connection:
    def __init__(self, place):
        is_path = place.startswith("/")
        self.socket = socket.socket(socket.AF_UNIX if is_path else socket.AF_INET)
        self.socket.settimeout(PATIENCE_S)
        host, _, port = place.rpartition(":")
        self.socket.connect(place if is_path else (host, int(port)))
        self.file = self.socket.makefile("rb")

    def ask(self, commands):
        """Sends commands at once, and returns their replies."""
        # No more than sockets take before the other side has to read.
        self.socket.sendall(b"".join(encoded(command) for command in commands))
        return [self.reply() for _ in commands]

    def reply(self):
        line = self.file.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError(f"closed after {line!r}")
        kind, rest = line[:1], line[1:-2]
        if kind in b"+-:_#,(":
            return Reply(kind, rest)
        if kind in b"$=":
            if rest == b"-1":
                return Reply(b"_", b"")
            return Reply(kind, self.file.read(int(rest) + 2)[:-2])
        if kind in b"*~%>":
            if rest == b"-1":
                return Reply(b"_", b"")
            count = int(rest) * (2 if kind == b"%" else 1)
            return Reply(kind, [self.reply() for _ in range(count)])
        raise ConnectionError(f"no reply: {line!r}")

    def raw(self, sent):
        """Sends bytes and the end of all bytes, and returns all that comes back."""
        self.socket.sendall(sent)
        self.socket.shutdown(socket.SHUT_WR)
        return self.file.read()


def encoded(words):
    parts = [b"*%d\r\n" % len(words)]
    parts += [b"$%d\r\n%s\r\n" % (len(word), word) for word in words]
    return b"".join(parts)


class Commands:
    """Makes random commands."""

    def __init__(self, seed, has_transactions):
        self.random = random.Random(seed)
        self.has_transactions = has_transactions
        # Times are far apart, so that which one is later does not depend on when they arrive.
        self.times_s = self.random.sample(range(1_000, 1_000_000, 500), 1_000)
        self.has_expired = False

    def any(self, things):
        return self.random.choice(things)

    def chance(self, of):
        return self.random.randrange(of) == 0

    def key(self):
        return self.any(KEYS)

    def keys(self, most=5):
        return [self.key() for _ in range(self.random.randint(1, most))]

    def value(self):
        return self.any(VALUES)

    def time(self, in_ms, is_date):
        if self.chance(8):
            self.has_expired = True
            return self.any(NAMED_TIMES)
        time_s = self.times_s.pop() + (int(time.time()) if is_date else 0)
        return b"%d" % (time_s * 1000 if in_ms else time_s)

    def time_option(self):
        name = self.any([b"EX", b"PX", b"EXAT", b"PXAT"])
        return [name, self.time(name.startswith(b"P"), name.endswith(b"AT"))]

    def set(self):
        words = [b"SET", self.key(), self.value()]
        for option in self.random.sample(range(5), self.random.choice([0, 0, 1, 1, 2])):
            words += [[b"nx"], [b"XX"], [b"GET"], [b"KEEPTTL"], self.time_option()][option]
        return words

    def getex(self):
        words = [b"GETEX", self.key()]
        words += self.any([[], [], [b"PERSIST"], self.time_option(), self.time_option(), [b"X"],
                           [b"EX"], [b"PERSIST", b"EX", b"5"]])
        return words

    def expire(self):
        name = self.any([b"EXPIRE", b"PEXPIRE", b"EXPIREAT", b"PEXPIREAT"])
        words = [name, self.key(), self.time(name[:1] == b"P", name.endswith(b"AT"))]
        for _ in range(self.random.choice([0, 0, 1, 1, 1, 2])):
            words.append(self.any([b"NX", b"XX", b"gt", b"LT", b"LT", b"xy"]))
        return words

    def pairs(self):
        words = []
        for _ in range(self.random.randint(1, 4)):
            words += [self.key(), self.value()]
        return words

    def scan(self):
        # The keys of one step differ between servers; those of all steps are compared below.
        if self.chance(2):
            return [b"SCAN", self.any([b"x", b" 1", b"1 ", b"9" * 30, b"-"])]
        return [b"SCAN", b"0", *self.any([[b"COUNT", b"0"], [b"COUNT", b"x"], [b"MATCH"], [b"X"],
                                          [b"X", b"1"], [b"COUNT", b"5", b"TYPE"]])]

    def many(self):
        names = [b"DEL", b"UNLINK", b"EXISTS", b"TOUCH", b"MGET"]
        return [self.any(names), *self.keys()]

    def set_many(self):
        if not self.has_transactions:
            return self.many()
        words = [self.any([b"MSET", b"MSETNX"]), *self.pairs()]
        return words[:-1] if self.chance(10) else words

    def next(self):
        """Returns a command, mostly a valid one."""
        words = self.any([
            self.set, self.set, self.set, self.getex, self.expire, self.expire, self.many,
            self.set_many, self.scan,
            lambda: [b"GET", self.key()],
            lambda: [self.any([b"TTL", b"PTTL", b"EXPIRETIME", b"PEXPIRETIME"]), self.key()],
            lambda: [self.any([b"INCR", b"DECR"]), self.key()],
            lambda: [self.any([b"INCRBY", b"DECRBY"]), self.key(), self.any(NUMBERS)],
            lambda: [b"INCRBYFLOAT", self.any(FLOAT_KEYS), self.any(FLOATS)],
            lambda: [self.any([b"SETNX", b"GETSET"]), self.any(FLOAT_KEYS), self.any(FLOATS)],
            lambda: [self.any([b"GET", b"STRLEN", b"GETDEL"]), self.any(FLOAT_KEYS)],
            lambda: [b"APPEND", self.key(), self.any([b"", b"1", b"tail"])],
            lambda: [self.any([b"STRLEN", b"TYPE", b"PERSIST", b"GETDEL", b"GET"]), self.key()],
            lambda: [b"GETRANGE", self.key(), self.any(NUMBERS), self.any(NUMBERS)],
            lambda: [b"SETRANGE", self.key(), self.any([b"0", b"3", b"-1", b"x", b"300"]),
                     self.any([b"", b"xyz"])],
            lambda: [self.any([b"SETNX", b"GETSET"]), self.key(), self.value()],
            lambda: [b"SETEX", self.key(), self.time(False, False), self.value()],
            lambda: [b"PSETEX", self.key(), self.time(True, False), self.value()],
            lambda: [b"KEYS", self.any(PATTERNS)],
            lambda: [b"ECHO", self.value()],
            lambda: self.any([[b"PING"], [b"PING", b"x"], [b"PING", b"x", b"y"], [b"DBSIZE"],
                              [b"SELECT", b"0"], [b"SELECT", b"99"], [b"SELECT", b"x"],
                              [b"CLIENT", b"GETNAME"], [b"CLIENT", b"SETNAME", b"me"],
                              [b"CLIENT", b"SETNAME", b"a b"], [b"CLIENT", b"SETNAME", b""],
                              [b"CLIENT", b"NONE"], [b"CONFIG", b"NONE"], [b"CONFIG", b"GET"],
                              [b"COMMAND", b"NONE"], [b"HELLO", b"9"], [b"HELLO", b"x"],
                              [b"HELLO", b"2", b"NONE"], [b"HELLO", b"3", b"SETNAME", b"a\n"],
                              [b"CLIENT", b"ID", b"x"], [b"FLUSHALL", b"NONE"], [b"AUTH", b"x"],
                              [b"NONE"], [b"NONE", b"a" * 200, b"b"], [b"NO\0NE", b"a\r\nb"],
                              [b"n" * 200, b"x\0y", b""], [b"FLUSHDB"]]),
        ])()
        if self.chance(40):
            # Too many words, or too few.
            words = words + [b"more"] if self.chance(2) else words[:-1]
        if self.chance(4):
            words = [words[0].lower(), *words[1:]] if words else words
        return words or [b"PING"]


def is_same(words, ours, theirs, commands):
    if ours == theirs:
        return True
    name = words[0].lower()
    if ours.kind != theirs.kind:
        return False
    if name in LISTS and ours.kind == b"*":
        return sorted(ours.value, key=repr) == sorted(theirs.value, key=repr)
    if name == b"dbsize":
        return commands.has_expired
    # Numbers of clients, the keys of a single step and all that is known of commands: these are asked
    # for by commands that lost their end.
    if ours.kind == (b":" if name == b"client" else b"*") and name in UNLIKE:
        return True
    if name == b"hello" and ours.kind in b"*%":
        # All but the number of the client, which is the eighth.
        return [*ours.value[:7], *ours.value[8:]] == [*theirs.value[:7], *theirs.value[8:]]
    if name in TIMES and ours.kind == b":":
        ours, theirs = int(ours.value), int(theirs.value)
        if ours <= 0 or theirs <= 0:
            return False
        unit = 1000 if name.startswith(b"p") else 1
        return (min(ours, theirs) > LONGEST_S * unit
                or abs(ours - theirs) <= PATIENCE_S * unit)
    return False


def scanned(connection, words):
    """Returns the keys of a whole SCAN."""
    cursor, keys = b"0", set()
    for _ in range(100_000):
        reply = connection.ask([[b"SCAN", cursor, *words]])[0]
        cursor = reply.value[0].value
        keys.update(key.value for key in reply.value[1].value)
        if cursor == b"0":
            return keys
    raise ConnectionError("a scan without an end")


def compare(seed, ours, theirs, has_transactions):
    """Compares one sequence. Returns what differs, or None."""
    commands = Commands(seed, has_transactions)
    hello = [b"HELLO", b"3" if seed % 2 else b"2"]
    for connection in (ours, theirs):
        connection.ask([[b"FLUSHALL"], hello])
    left = COMMANDS
    while left > 0:
        count = min(left, commands.any([1, 3, 10, 50]))
        left -= count
        batch = [commands.next() for _ in range(count)]
        replies = zip(batch, ours.ask(batch), theirs.ask(batch))
        for words, our, their in replies:
            if not is_same(words, our, their, commands):
                return f"{words!r:.300}: {our!r}, Redis {their!r}"
    for words in ([], [b"MATCH", b"*e*"], [b"COUNT", b"1000"], [b"TYPE", b"string"],
                  [b"TYPE", b"list"]):
        found = [scanned(connection, words) for connection in (ours, theirs)]
        if found[0] != found[1]:
            return f"SCAN {words}: {found[0]}, Redis {found[1]}"
    return None


BROKEN = [
    b"*x\r\n", b"*\r\n", b"*1\r\n:1\r\n", b"*1\r\nPING\r\n", b"*1\r\n$-1\r\n", b"*1\r\n$x\r\n",
    b"*01\r\n", b"*1\r\n$01\r\n", b"\"a\r\n", b"'a'b\r\n", b"*1\r\n$4\r\nPING\r\n*x\r\n",
    b"*1\r\n\r\n", b"a" * 70_000, b"*" + b"1" * 70_000, b"*1\r\n$" + b"1" * 70_000,
    b"POST / HTTP/1.1\r\nHost: x\r\n\r\n", b"*2\r\n$5\r\nhost:\r\n$1\r\nx\r\n",
    b"*3000000000\r\n", b"*1\r\n$9999999999\r\n",
]
WHOLE = [
    b"PING\r\n", b"  ping  \n", b"\r\n\r\nPING\r\n", b"*0\r\n*-1\r\nPING\r\n",
    b"set 'a b' \"c\\x00\\n\"\r\nget 'a b'\r\n", b"*1\r\n$4\r\nPINGxx*1\r\n$4\r\nPING\r\n",
    b"QUIT\r\nPING\r\n", b"RESET\r\nPING\r\n", b"*1\r\n$4\r\nquit\r\nPING\r\n", b"ec", b"*2\r\n",
    b"PING\r\nFLUSHALL ASYNC\r\nDBSIZE\r\n",
]


def main():
    place = sys.argv[1]
    folder = tempfile.TemporaryDirectory()
    path = os.path.join(folder.name, "redis.sock")
    redis = subprocess.Popen(
        ["redis-server", "--port", "0", "--unixsocket", path, "--save", "", "--dir", folder.name],
        stdout=subprocess.DEVNULL,
    )
    try:
        end = time.monotonic() + PATIENCE_S
        while not os.path.exists(path) and time.monotonic() < end and redis.poll() is None:
            time.sleep(0.05)
        count = failed = 0
        ours, theirs = Connection(place), Connection(path)
        version = subprocess.run(["redis-server", "--version"], capture_output=True, text=True)
        print("# " + " ".join(version.stdout.split()[:3]))
        has_transactions = ours.ask([[b"COMMAND", b"INFO", b"mset"]])[0].value[0].kind != b"_"
        checks = [
            (f"sequence {seed}", lambda seed=seed: compare(seed, ours, theirs, has_transactions))
            for seed in range(SEQUENCES)
        ]
        for sent in BROKEN + WHOLE:
            def both(sent=sent):
                found = [Connection(at).raw(sent) for at in (place, path)]
                return None if found[0] == found[1] else f"{found[0]!r}, Redis {found[1]!r}"
            checks.append((f"bytes {sent[:40]!r}", both))
        for what, check in checks:
            count += 1
            try:
                differs = check()
            except (OSError, ValueError, IndexError) as error:
                differs = repr(error)
            failed += differs is not None
            print(f"ok {count} - {what}" if differs is None else
                  f"not ok {count} - {what}: {differs}")
            if differs is not None:
                ours, theirs = Connection(place), Connection(path)
        print(f"1..{count}")
    finally:
        redis.terminate()
        redis.wait()
    sys.exit(1 if failed else 0)


main()
