#!/usr/bin/env bash
# memccapable of libmemcached, its own test of a server, against HOST:PORT.
#
#   capable.sh HOST:PORT text|binary
#
# Its lines are printed as TAP.
set -euo pipefail

case $2 in text) which=-a ;; *) which=-b ;; esac
tool=$(command -v memccapable || command -v memcapable)
echo "# libmemcached $(memccp --version 2>/dev/null | sed -n 's/.*(libmemcached v\(.*\))/\1/p')"
stdbuf -oL "$tool" -h "${1%:*}" -p "${1#*:}" -t 20 "$which" 2>&1 | awk '
  /^All tests passed$/ { passed = 1; next }
  sub(/ *\[pass\]$/, "") { print "ok " ++count " - " $0; next }
  /\[FAIL\]/ { print "not ok " ++count " - " $0; failed++; next }
  { print "# " $0 }
  END { print "1.." count + 0; exit failed > 0 || !passed }
'
