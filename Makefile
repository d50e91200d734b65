# The verbs of this repository. Each is a script in scripts/, so that CI and a laptop do the same.
.DEFAULT_GOAL := help
.PHONY: help demo build check test test-long fuzz bench bench-peers soak lint format reference web-library screenshot dist clean

PORT ?=
SECONDS ?= 60
HOURS ?= 1
PUSHES ?= 100000
program = Server/.build/release/clarion

help: ## List the verbs
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) | awk -F '|' '{ printf "%-18s %s\n", $$1, $$2 }'

demo: ## Build and run everything: server, local APNs and a simulated iPhone (PORT=9000 picks a port)
	@scripts/install-dependencies demo
	@scripts/build
	@exec $(program) demo $(if $(PORT),--port $(PORT)) $(ARGS)

build: ## Build both programs, clarion and clarion-lab
	@scripts/install-dependencies demo
	@scripts/build

check: lint ## Lint, build and run the unit tests, in minutes: no browser, no PostgreSQL, no S3 store
	@scripts/build --build-tests
	@scripts/test-unit -c release -Xswiftc -enable-testing --skip-build
	@swift test -c release -Xswiftc -enable-testing

test: ## Check and test everything, as CI does
	@scripts/test

test-long: ## The same with the long forms of the crash and load tests, the fuzzers and the sanitizers
	@scripts/test --long

fuzz: ## Run every reader of untrusted bytes on generated input (SECONDS=60 for each)
	@scripts/fuzz $(SECONDS)

bench: ## Measure start, memory and throughput, and the APNs client beside h2load
	@scripts/bench

bench-peers: ## Send the same pushes by Clarion and by other clients (PEERS="'NAME=COMMAND' …", PUSHES=100000)
	@scripts/bench peers $(PUSHES) $(PEERS)

soak: ## Keep a node under mixed load with faults (HOURS=1), and show what grows
	@scripts/bench soak $(HOURS)

lint: ## Check format, floors, sizes and texts
	@scripts/check-format
	@scripts/check-floors
	@scripts/check-size
	@scripts/check-text
	@scripts/page-commands --check
	@scripts/check-complaints --list-only

format: ## Format every Swift file
	@scripts/check-format --fix

reference: ## Write Documentation/Settings.md and Examples/clarion.yaml from the declarations
	@scripts/build
	@$(program) config reference > Documentation/Settings.md
	@$(program) config reference --yaml > Examples/clarion.yaml

web-library: ## Make what the server serves of the web library from its sources
	@scripts/install-dependencies test
	@scripts/make-web-library

screenshot: ## Take the README's picture of the simulated iPhone
	@scripts/install-dependencies test
	@scripts/build
	@scripts/make-screenshot

dist: ## Make a folder to install elsewhere, with the Swift runtime linked in
	@scripts/make-dist

clean: ## Remove what was built and the demo's state
	@rm -rf .build .build-dist .build-complaints .build-apple Verification/AppleStandIns/.build Server/.build Server/.build-dist Server/.build-thread Server/.build-address Checks/.build Fuzzing/.build Benchmarks/.build .demo .emulator dist
