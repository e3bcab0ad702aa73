"""The tour's table from Python: see `scripts/tour`."""

import platform
import sys

import tavola

table = tavola.open(sys.argv[1])
name = table["U+1F40D"].decode().split(";")[0]
before = bytes(table.swap("tour/last", b"Python")).decode()
visits = table.incr("tour/languages")
language = f"Python {platform.python_version()}"
print(f"  {language:14} U+1F40D is {name}; before it came {before}; tour/languages is {visits}")
