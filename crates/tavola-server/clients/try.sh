#!/usr/bin/env bash
# Runs one suite against every kind of server: try.sh SUITE TAVOLA FOLDER
#
#   memcached   which shows that what the suite expects is so; redis for clients of Redis
#   cache       a table with a capacity, over TCP
#   table       one without, over a Unix socket where the client can
#   login       one that asks for a password, where the client knows SASL
#   small       one that takes neither large values nor flush_all and FLUSHALL: the suite has to
#               fail
#
# How each went goes to the file `results` in FOLDER as lines that begin with passed, failed or
# skipped; the client's version to `version`.
set -euo pipefail

tavola=$2
build=$3
results=$build/results
clients=$(cd "$(dirname "$0")" && pwd)
suite=()
knows=
# The protocol of the suite, and the server that it is of: memcached or redis.
speaks=memcached
server=
place=
trap '[ -z "$server" ] || kill "$server"' EXIT
# shellcheck source-path=SCRIPTDIR source=suites.sh
. "$clients/suites.sh"

# first_line FILE: waits for it.
first_line() {
  local tries
  for ((tries = 0; tries < 1200; tries++)); do
    if [ -s "$1" ]; then
      head -n 1 "$1"
      return
    fi
    kill -0 "$server" 2>/dev/null || break
    sleep 0.05
  done
  echo "the server does not serve" >&2
  return 1
}

# start KIND: a server, at the `place`.
start() {
  local told=$build/$1.told options=()
  case $1 in
    memcached)
      MEMCACHED_PORT_FILENAME=$told memcached -u "$(id -un)" -l 127.0.0.1 -p -1 -m 64 &
      server=$!
      # TCP INET: PORT
      place=127.0.0.1:$(first_line "$told" | sed 's/.* //')
      return
      ;;
    redis)
      redis-server --port 0 --unixsocket "$build/redis.socket" --save "" --dir "$build" \
        --pidfile "$told" --daemonize no >"$build/redis.out" &
      server=$!
      first_line "$told" >/dev/null
      place=$build/redis.socket
      return
      ;;
    cache) options=(--capacity 64M) ;;
    table) ;;
    login)
      (umask 077 && echo "teacher:green-blackboard" >"$build/users")
      options=(--users "$build/users")
      ;;
    small) options=(--largest-value 64K --no-flush) ;;
  esac
  local listen=--listen
  [ "$speaks" = memcached ] || listen=--resp
  TAVOLA_DIR=$build "$tavola" serve "$1" "$listen" 127.0.0.1:0 "$listen" "unix:$build/$1.socket" \
    "${options[@]}" >"$told" &
  server=$!
  # serving TABLE on ADDRESS, unix:PATH
  place=$(first_line "$told" | sed 's/.* on //; s/,.*//; s/ (RESP)//')
  if [ "$1" = table ] && [[ $knows == *unix* ]]; then
    place=$build/$1.socket
  fi
}

stop() {
  kill "$server"
  wait "$server" || true
  server=
}

# Whether the lines are whole, and each is of a check that holds.
is_good() {
  awk '
    /^ok / { good++ }
    /^not ok / { bad++ }
    /^1\.\./ { plan = substr($0, 4) }
    END { exit !(good >= 20 && !bad && plan == good) }
  ' "$1"
}

# try KIND: runs the suite and notes how it went.
try() {
  local log=$build/$1.log status=0 command=("${suite[@]/#PLACE/$place}")
  [ "$1" != login ] || command+=(teacher green-blackboard)
  timeout --kill-after=5 300 "${command[@]}" >"$log" 2>&1 || status=$?
  # With 124 it ran into its end, with more into a signal.
  if [ "$1" = small ] && [[ $status =~ ^[1-9][0-9]?$ ]] && grep -q '^not ok ' "$log"; then
    echo "passed: small: fails, as it has to" >>"$results"
  elif [ "$1" != small ] && [ "$status" = 0 ] && is_good "$log"; then
    echo "passed: $1: $(grep -c '^ok ' "$log") checks" >>"$results"
  else
    echo "failed: $1: ended with $status" >>"$results"
    grep -v '^ok ' "$log" | tail -n 30 | cut -c 1-200 >>"$results"
  fi
}

choose "$1"
for kind in "$speaks" cache table login small; do
  if [ "$kind" = login ] && [[ $knows != *login* ]]; then
    continue
  fi
  if [ "$kind" = memcached ] && ! command -v memcached >/dev/null; then
    echo "skipped: memcached: it is not here" >>"$results"
    continue
  fi
  if [ "$kind" = redis ] && ! command -v redis-server >/dev/null; then
    echo "skipped: redis: it is not here" >>"$results"
    continue
  fi
  start "$kind"
  try "$kind"
  stop
done
grep -h -m 1 '^# ' "$build"/cache.log | sed 's/^# //' >"$build/version"
