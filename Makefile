# `make` says what there is. Nothing but Go 1.26 and Node 20 is needed for `make run`; `make test` wants Chromium and Firefox too.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
MAKEFLAGS += --no-print-directory

STATICCHECK := bin/staticcheck-v0.8.2
SEEDS ?= 2000
FUZZTIME ?= 20s
MINUTES ?= 10
LISTEN ?= localhost:8080

sources = $(shell find $(1) \( -name node_modules -o -name dist -o -name testdata \) -prune -o -type f \( $(2) \) -print 2>/dev/null)
go_sources := $(call sources,cmd host identity node p2p runtime stubs web,-name '*.go') go.mod go.sum
module_sources := $(call sources,runtime wasm,-name '*.go') go.mod
web_sources := $(call sources,web,-name '*.ts' -o -name '*.mjs' -o -name '*.js' -o -name '*.css' -o -name '*.html' -o -name '*.json') index.html

.PHONY: help build run test check dist scenarios sim fuzz size bench e2e soak needs clean

help: ## say what there is
	@awk -F ':.*## ' '/^[a-z0-9]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

## What is built

build: bin/hyroute bin/hyroute.wasm web/dist/.built ## the command, the module and the web package

bin/hyroute: $(go_sources)
	go build -trimpath -o $@ ./cmd/hyroute

bin/hyroute.wasm: $(module_sources)
	go run ./wasm/build $@

# npm writes .package-lock.json last, so it is newer than the lock exactly when the installation is whole.
web/node_modules/.package-lock.json: web/package-lock.json
	cd web && npm ci --ignore-scripts --no-audit --no-fund
	@touch $@

web/dist/.built: web/node_modules/.package-lock.json $(web_sources) bin/hyroute.wasm
	cd web && npm run --silent build
	@touch $@

run: build ## serve the page, the module and a Message Node on http://localhost:8080
	bin/hyroute serve --listen $(LISTEN)

dist: bin/hyroute.wasm web/dist/.built ## one stripped binary with page and module inside, and the npm tarball
	@mkdir -p dist
	CGO_ENABLED=0 go build -tags release -trimpath -ldflags="-s -w" -o dist/hyroute ./cmd/hyroute
	cd web && npm pack --silent --pack-destination ../dist
	@ls -l dist

## What is checked

test: build needs ## all tests, in real browsers too
	go test -timeout 10m ./...
	go test -count=1 .
	cd bench && go test ./...
	cd web && npm test
	@$(MAKE) scenarios
	@$(MAKE) e2e SHORT=1

check: $(STATICCHECK) web/node_modules/.package-lock.json bin/hyroute.wasm web/dist/.built ## format, vet, staticcheck, tsc, tree rules, race detector on the short tests
	@unformatted=$$(gofmt -l $$(find . -name node_modules -prune -o -name '*.go' -print)); \
	  if [ -n "$$unformatted" ]; then echo "not formatted:" $$unformatted; exit 1; fi
	go vet ./...
	GOOS=wasip1 GOARCH=wasm go vet ./wasm/...
	$(STATICCHECK) ./...
	GOOS=wasip1 GOARCH=wasm $(STATICCHECK) ./wasm/...
	cd bench && go vet ./... && ../$(STATICCHECK) ./...
	cd web && npm run --silent check
	go test -count=1 .
	@.ci/needs compiler
	go test -race -short -timeout 10m ./...

$(STATICCHECK):
	GOBIN=$(CURDIR)/bin go install honnef.co/go/tools/cmd/staticcheck@$(STATICCHECK:bin/staticcheck-%=%)
	mv bin/staticcheck $@

# These three print what they found and nothing else: what make has to say goes to standard error.
scenarios: ## the corpus on every body: equal traces, one line a body
	@$(MAKE) build needs >&2
	@go run ./scenarios/run

sim: ## the seeded world, SEEDS=2000 times; a seed that fails is made small (`make test` plays it too)
	go test -count=1 -timeout 60m -run '^TestSeeds$$' ./scenarios/world -seeds $(SEEDS)

fuzz: ## each fuzz target for FUZZTIME=20s
	@go list -f '{{.Dir}} {{join .TestGoFiles " "}} {{join .XTestGoFiles " "}}' ./... | while read -r dir files; do \
	  for target in $$(cd "$$dir" && grep -hoE '^func Fuzz\w+' $$files /dev/null | cut -d' ' -f2); do \
	    (cd "$$dir" && go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) .); done; done

size: build ## what a visitor loads, in brotli: fails above the promised sizes
	@node wasm/size/size.mjs

bench: ## side by side with bare paths; BENCH=p2p: other libraries too; BENCH=door: the machine alone. SUBJECTS= PARTS= ROUNDS= pick
ifeq ($(BENCH),door)
	@$(MAKE) build >&2
	@node bench/door.mjs
	@go test -run '^$$' -bench Message -benchtime 50000x ./host/machine
else
	@$(MAKE) build needs $(if $(BENCH),bench/dist/.built) >&2
	@cd bench && go build -o ../bin/bench .
	@bin/bench $(if $(BENCH),-set $(BENCH)) $(if $(SUBJECTS),-subjects $(SUBJECTS)) $(if $(PARTS),-parts $(PARTS)) $(if $(ROUNDS),-rounds $(ROUNDS)) $(if $(TRIPS),-trips $(TRIPS)) $(if $(OUT),-out $(OUT))
endif

bench/node_modules/.package-lock.json: bench/package-lock.json
	cd bench && npm ci --ignore-scripts --no-audit --no-fund --loglevel error
	@touch $@

bench/dist/.built: bench/node_modules/.package-lock.json web/dist/.built $(call sources,bench,-name '*.js' -o -name '*.mjs')
	cd bench && npm run --silent build
	@touch $@

e2e: ## the main job in real browsers on a real network: CASE=name picks, SHORT=1 shortens
	@$(MAKE) build needs bin/e2e bin/peer >&2
	@bin/e2e $(if $(CASE),-case $(CASE)) $(if $(PAIR),-pair $(PAIR)) $(if $(SHORT),-short) $(if $(LOGS),-logs $(LOGS)) $(if $(TRACE),-trace) $(if $(V),-v)

bin/e2e bin/peer: $(call sources,e2e,-name '*') $(go_sources)
	go build -o $@ ./e2e$(if $(filter %peer,$@),/peer)

soak: ## twenty runtimes in one process for MINUTES=10, with random faults: nothing may be lost, and nothing may grow
	go test -count=1 -timeout 0 -run '^TestSoak$$' -v ./e2e/soak -minutes $(MINUTES)

needs: ## look for Chromium, Firefox and the tools of the network tests; on Debian as root, install them
	@.ci/needs browser

clean: ## remove what was built
	rm -rf bin dist web/dist bench/dist
