#!/usr/bin/env bash
# The commands of libmemcached against HOST:PORT or the path of a Unix socket.
#
#   tools.sh PLACE text|binary [NAME PASSWORD]
set -uo pipefail

place=$1
options=(--servers="$place")
[ "$2" = text ] || options+=(--binary)
[ $# -lt 4 ] || options+=(--username="$3" --password="$4")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
count=0
failed=0

# tool NAME ARGUMENT...: a command of libmemcached, which are called memcNAME or memNAME.
tool() {
  local name=$1
  shift
  "$(command -v "memc$name" || command -v "mem$name")" "${options[@]}" "$@" 2>&1
}

# check WHAT COMMAND...: whether the command succeeds.
check() {
  local what=$1 told
  shift
  count=$((count + 1))
  if told=$("$@" 2>&1 | tail -n 3 | cut -c 1-200; exit "${PIPESTATUS[0]}"); then
    echo "ok $count - $what"
  else
    failed=$((failed + 1))
    echo "not ok $count - $what: $told"
  fi
}

not() { ! "$@"; }

holds() { [ "$(tool cat "$1")" = "$2" ]; }

# Flags and value, a line each.
has_flags() { [ "$(tool cat --flags "$1" | tr '\n' ' ')" = "$2 x " ]; }

holds_file() { tool cat --file="$folder/fetched" "$1" && cmp "$folder/$1" "$folder/fetched"; }

told() { [[ $(tool "$1") =~ $2 ]]; }

is_gone() {
  local tries
  for ((tries = 0; tries < 200; tries++)); do
    tool exist "$1" >/dev/null || return 0
    sleep 0.05
  done
  return 1
}

version=$(tool cp --version | sed -n 's/.*(libmemcached v\(.*\))/\1/p')
echo "# libmemcached $version"

cd "$folder" || exit 1
printf one >a
printf two >b
head -c 900000 /dev/urandom >large
check "cp" tool cp a b
check "cat" holds a one
check "cat of another" holds b two
check "cp of a large value" tool cp large
check "cat of a large value" holds_file large
check "cat of a missing key" not tool cat none
check "exist" tool exist a
check "exist of a missing key" not tool exist none
check "cp --add of a key that is there" not tool cp --add a
printf three >a
check "cp --replace" tool cp --replace a
check "it is replaced" holds a three
printf x >c
check "cp --replace of a missing key" not tool cp --replace c
check "cp --add" tool cp --add --flags=4711 c
check "cat --flags" has_flags c 4711
check "rm" tool rm b
check "rm of a missing key" not tool rm b
check "touch" tool touch --expire=1 a
check "touch of a missing key" not tool touch --expire=1 none
check "it ends" is_gone a
check "stat" told stat 'curr_items: *[0-9]'
check "stat tells a version" told stat 'version: *[0-9]'
# These have no binary form; dump asks by stats cachedump.
if [ "$2" = text ]; then
  check "ping" tool ping
  check "dump" told dump large
fi
check "flush" tool flush
check "nothing is there" not tool exist large
echo "1..$count"
[ "$failed" = 0 ]
