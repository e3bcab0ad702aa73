#!/usr/bin/env bash
# redis-cli against the server at HOST:PORT or the path of a Unix socket.
#
#     cli.sh PLACE 2|3 [NAME PASSWORD]
set -uo pipefail

case $1 in
  /*) cli=(redis-cli -s "$1") ;;
  *) cli=(redis-cli -h "${1%:*}" -p "${1##*:}") ;;
esac
cli+=("-$2")
[ $# -lt 4 ] || cli+=(--user "$3" --pass "$4" --no-auth-warning)

count=0
failed=0

# check WHAT EXPECTED WORDS...: whether redis-cli prints this for a command.
check() {
  local what=$1 expected=$2 found
  shift 2
  found=$("${cli[@]}" --no-raw "$@" 2>&1)
  count=$((count + 1))
  if [ "$found" = "$expected" ]; then
    echo "ok $count - $what"
  else
    failed=1
    echo "not ok $count - $what: ${found:0:200}"
  fi
}

# same WHAT EXPECTED FOUND
same() {
  count=$((count + 1))
  if [ "$2" = "$3" ]; then
    echo "ok $count - $1"
  else
    failed=1
    echo "not ok $count - $1: ${3:0:200}"
  fi
}

redis-cli --version | sed 's/^/# /'
check "ping" PONG ping
check "set" OK set a one
check "get" '"one"' get a
check "get of a missing key" "(nil)" get none
check "set if missing" "(nil)" set a x nx
check "set with a time" OK set a two ex 1000
left=$("${cli[@]}" ttl a)
same "ttl" yes "$([ "$left" -gt 900 ] && [ "$left" -le 1000 ] && echo yes || echo "$left")"
check "append" "(integer) 4" append a '!'
check "getrange" '"two"' getrange a 0 2
check "incr" "(integer) 1" incr n
check "incrbyfloat" '"1.5"' incrbyfloat n 0.5
check "incr of a fraction" "(error) ERR value is not an integer or out of range" incr n
check "mget" $'1) "two!"\n2) (nil)' mget a none
check "exists" "(integer) 2" exists a n none
check "expireat" "(integer) 1" expireat a 4000000000
check "expiretime" "(integer) 4000000000" expiretime a
check "persist" "(integer) 1" persist a
check "unknown" "(error) ERR unknown command 'none', with args beginning with: 'a' " none a
check "another database" "(error) ERR DB index is out of range" select 99
check "keys" $'1) "a"' keys a
same "a value from standard input" OK "$(printf 'line\n\0' | "${cli[@]}" -x set bytes)"
same "its length" 6 "$("${cli[@]}" strlen bytes)"
for ((number = 0; number < 300; number++)); do
  echo "SET many$number $number"
done | "${cli[@]}" --pipe >/dev/null 2>&1
found=$("${cli[@]}" --scan --pattern 'many*' | sort -u | wc -l)
same "as many as were sent by --pipe" 300 "$found"
check "flushall" OK flushall
check "dbsize" "(integer) 0" dbsize
echo "1..$count"
exit "$failed"
