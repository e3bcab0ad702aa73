# The front door: `make` lists the targets. Each target installs its missing packages.

PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
DESTDIR ?=
# CI uses exactly the versions of Cargo.lock.
LOCKED := $(if $(CI),--locked)
# A Rust that rustup has just installed is found without a new login.
export PATH := $(or $(CARGO_HOME),$(HOME)/.cargo)/bin:$(PATH)
export PREFIX LIBDIR DESTDIR MAKE

.DEFAULT_GOAL := help
.PHONY: help run build test test-bindings test-long test-clients test-shims test-memcached-suite test-report gates check check-more \
	packages test-packages torture torture-short torture-durable shuttle miri tsan asan valgrind fuzz fuzz-short bench bench-quick bench-100m \
	bench-c docs install uninstall clean

help: ## this list
	@echo "make TARGET, where TARGET is one of"
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1|\2/p' $(MAKEFILE_LIST) \
		| while IFS='|' read -r name what; do printf '  %-20s %s\n' "$$name" "$$what"; done

run: ## the tour: several processes, real data, one of them killed; then all installed languages
	@scripts/setup build tour
	scripts/tour

build: ## the command and the library for C, optimised
	@scripts/setup build
	cargo build --release $(LOCKED) --package tavola-cli --package tavola-capi \
		--package tavola-client-capi
	cargo xtask man $(or $(CARGO_TARGET_DIR),target)/release/man3

test: ## all tests except the long ones
	@scripts/setup test bindings
	scripts/test --workspace
	scripts/test-bindings quick

test-bindings: ## Python, PHP, Ruby, Perl: all tests, or what `make test` leaves: LANGUAGES= PART=rest
	@scripts/setup test bindings
	scripts/test-bindings $(PART) $(LANGUAGES)

test-long: ## what `make test` does a part of: flipped bits, faults of disks, sanitizers: FLIPS=every
	@scripts/setup test
	TAVOLA_LONG=1 TAVOLA_FLIPS=$(or $(FLIPS),sample) scripts/test --workspace --lib \
		--test processes --test table --test programs --test compat --test program -- \
		--include-ignored damage durable::tests::faults durable::tests::each_call \
		table::saved::tests those_of_a_map values_of_all_lengths with_sanitizers torment_of_servers

test-clients: ## clients of memcached and Redis, in eight languages, against the server
	@scripts/setup clients
	scripts/test-clients

test-shims: ## pylibmc and Cache::Memcached::Fast, compiled with the client's C library
	@scripts/setup clients
	scripts/test-shims

test-memcached-suite: ## memcached's own test suite, against the server
	@scripts/setup suite
	scripts/test-memcached-suite

gates: ## count instructions of reads and writes, and fail if there are more than before
	@scripts/setup gates
	scripts/gates

check: ## format, lints, tidy, docs, layout tables, the header for C
	@scripts/setup check
	scripts/check

check-more: ## models, kill points, other C libraries and processors, and code that measures others
	@scripts/setup check
	scripts/check more

torture: ## kill processes at every store and at random, for hours: SECONDS=3600 KILLS=10000
	@scripts/setup build
	cargo run --profile torture $(LOCKED) --package tavola-torture --features torture -- \
		--seconds $(or $(SECONDS),3600) --kills $(or $(KILLS),10000)

torture-short: ## the same with a sample of the stores, bounded: SECONDS=60 KILLS=300
	@$(MAKE) --no-print-directory torture \
		SECONDS=$(or $(SECONDS),60) KILLS=$(or $(KILLS),300)

torture-durable: ## only durable tables, power and memory lost, for a day: SECONDS=86400 CUTS=10 KILLS=0
	@scripts/setup build
	scripts/torture-durable $(or $(SECONDS),86400) "$(CUTS)" "$(KILLS)"

packages: ## Debian packages, a static tarball, crates, bindings, into target/packages
	@scripts/setup packages bindings
	scripts/packages

test-packages: ## build the packages fast, install each into a clean root, and try it
	@scripts/setup packages
	PROFILE=quick scripts/packages test

shuttle: ## models of the core, the client's pool and near caches under many schedules of a model checker
	@scripts/setup build
	scripts/test --profile shuttle --lib --package tavola --package tavola-client \
		--features tavola/shuttle,tavola-client/shuttle models::
	scripts/test --profile shuttle --lib --package tavola-near --features shuttle models::

miri: ## the core's unit tests under Miri, if it is installed
	@scripts/setup build
	scripts/miri

tsan: ## the core's tests under ThreadSanitizer, if nightly Rust is installed
	@scripts/setup build
	scripts/sanitize thread

asan: ## the core's tests under AddressSanitizer, if nightly Rust is installed
	@scripts/setup build
	scripts/sanitize address

valgrind: ## the core's unit tests, and programs in C and C++, under valgrind
	@scripts/setup test valgrind
	scripts/sanitize valgrind

fuzz: ## new inputs for each fuzz target, if cargo-fuzz is installed: SECONDS=60
	@scripts/setup fuzz
	scripts/fuzz run $(or $(SECONDS),60)

fuzz-short: ## the stored fuzz inputs, once each
	@scripts/setup fuzz
	scripts/fuzz replay

test-report: ## the report of `tavola-bench compare` in a headless Chromium, if there is one
	@scripts/setup report
	scripts/test --workspace --test report

bench: ## the standard measurements, and Tavola beside other stores: COMPARE=--quick; over an hour
	@scripts/setup build compare
	scripts/bench

bench-quick: ## Tavola beside other stores, in three minutes
	@scripts/setup build compare
	scripts/bench quick

bench-100m: ## 100 million keys in one table, with headers and of fixed lengths: about 25 minutes
	@scripts/setup build
	scripts/bench-100m

bench-c: ## the cost of a call through the library for C, beside the same call in Rust
	@scripts/setup build
	cargo build --release $(LOCKED) --package tavola-capi
	cargo run --release $(LOCKED) --package tavola-capi --example overhead -- \
		$(or $(CARGO_TARGET_DIR),target)/release/libtavola.so

docs: ## these pages as a site, in target/book/index.html
	@scripts/setup docs
	$(or $(CARGO_TARGET_DIR),target)/tools/bin/mdbook build docs

install: ## the command, the library for C, man pages, completions: PREFIX=/usr/local LIBDIR= DESTDIR=
	scripts/install install

uninstall: ## remove the installed files
	scripts/install uninstall

clean: ## remove all build results
	cargo clean
	rm -rf fuzz/target
