# shellcheck shell=bash
# The suites, each a client with a protocol, and what they need: read by try.sh.
: "${results:?}" "${build:?}" "${clients:?}"

# python_with MODULE: the first Python that has it.
python_with() {
  local python
  for python in python3 /usr/bin/python3; do
    if "$python" -c "import $1" >/dev/null 2>&1; then
      echo "$python"
      return
    fi
  done
  return 1
}

# skip REASON: ends a suite that this machine cannot run.
skip() {
  echo "skipped: $1" >>"$results"
  exit 0
}

want() { command -v "$1" >/dev/null 2>&1 || skip "no $1"; }

# choose SUITE: sets `suite`, its command, in which PLACE stands for where the server is, `knows`,
# what the client knows: unix, login, and `speaks` for a client of Redis. What is built or fetched goes to `$build`.
choose() {
  local protocol=${1##*-}
  case $1 in
    pymemcache | pylibmc-* | python-memcached) choose_python "$1" "$protocol" ;;
    meta-memcache) choose_meta_memcache ;;
    capable-*)
      want memccapable
      suite=("$clients/libmemcached/capable.sh" PLACE "$protocol")
      knows=
      ;;
    tools-*)
      want memccat
      suite=("$clients/libmemcached/tools.sh" PLACE "$protocol")
      knows="unix login"
      ;;
    php-*)
      want php
      php -r 'exit(extension_loaded("memcached") ? 0 : 1);' || skip "no memcached in this PHP"
      suite=(php "$clients/php/memcached.php" PLACE "$protocol")
      knows="unix login"
      ;;
    dalli)
      want ruby
      ruby -e "require 'dalli'" 2>/dev/null || skip "no Dalli"
      suite=(ruby "$clients/ruby/dalli.rb" PLACE binary)
      knows="unix login"
      ;;
    cache-memcached) choose_perl Cache::Memcached cache_memcached ;;
    cache-memcached-fast) choose_perl Cache::Memcached::Fast cache_memcached_fast ;;
    memjs) choose_memjs ;;
    gomemcache) choose_gomemcache ;;
    spymemcached-*) choose_spymemcached "$protocol" ;;
    redis-*) choose_redis "${1#redis-}" ;;
    *)
      echo "no such suite: $1" >&2
      exit 2
      ;;
  esac
  # Without SASL there is no other way to say who it is.
  [ "$protocol" != text ] || knows=${knows/login/}
}

choose_redis() {
  local python
  # shellcheck disable=SC2034
  speaks=redis
  knows="unix login"
  case $1 in
    py)
      python=$(python_with redis) || skip "no redis-py"
      suite=("$python" -B "$clients/python/redis_suite.py" PLACE)
      ;;
    php)
      want php
      php -r 'exit(extension_loaded("redis") ? 0 : 1);' || skip "no redis in this PHP"
      suite=(php "$clients/php/redis.php" PLACE)
      ;;
    rb)
      want ruby
      ruby -e "require 'redis'" 2>/dev/null || skip "no redis-rb"
      suite=(ruby "$clients/ruby/redis.rb" PLACE)
      ;;
    cli-*)
      want redis-cli
      suite=("$clients/redis/cli.sh" PLACE "${1#cli-}")
      ;;
    differential)
      want redis-server
      want python3
      suite=(python3 -B "$clients/redis/differential.py" PLACE)
      knows=unix
      ;;
  esac
}

choose_python() {
  local module=$1 python
  case $1 in
    pylibmc-*) module=pylibmc ;;
    python-memcached) module=memcache ;;
  esac
  python=$(python_with "$module") || skip "no ${1%-"$2"}"
  suite=("$python" -B "$clients/python/${module}_suite.py" PLACE)
  knows=unix
  [ "$module" != pylibmc ] || { suite+=("$2") && knows="unix login"; }
}

choose_meta_memcache() {
  want python3
  python3 -m pip install --quiet --no-cache-dir --disable-pip-version-check --only-binary :all: \
    --target "$build/site" --requirement "$clients/python/requirements.txt" >&2 \
    || skip "pip could not fetch meta-memcache"
  suite=(env "PYTHONPATH=$build/site" python3 -B "$clients/python/meta_memcache_suite.py" PLACE)
  knows=
}

choose_perl() {
  perl -M"$1" -e 1 2>/dev/null || skip "no $1"
  suite=(perl "$clients/perl/$2.pl" PLACE)
  knows=unix
}

choose_memjs() {
  want node
  want npm
  cp "$clients"/javascript/package*.json "$build"
  npm --prefix "$build" ci --no-audit --no-fund >&2 || skip "npm could not fetch memjs"
  suite=(env "NODE_PATH=$build/node_modules" node "$clients/javascript/memjs.js" PLACE)
  knows=login
}

choose_gomemcache() {
  want go
  (cd "$clients/go" && go mod download >&2) || skip "go could not fetch gomemcache"
  (cd "$clients/go" && go build -o "$build/suite" . >&2)
  suite=("$build/suite" PLACE)
  knows=unix
}

choose_spymemcached() {
  local jar=/usr/share/java/spymemcached.jar
  want javac
  [ -e "$jar" ] || skip "no spymemcached"
  javac -cp "$jar" -d "$build" "$clients/java/Spymemcached.java" >&2
  suite=(java -cp "$jar:$build" Spymemcached PLACE "$1")
  knows=login
}
