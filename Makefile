# Orbweaver. `make help` lists the targets.

GO       ?= go
SEED     ?= 1
FUZZTIME ?= 10s
PLATFORMS ?= linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64
VERSION  ?= 0.1.0
LDFLAGS   = -s -w -X main.version=$(VERSION) $(if $(COMMIT),-X main.commit=$(COMMIT))

# All targets but the race detector compile in one way, so that Go's build cache holds each package once: without the
# C compiler, and without the path of this checkout. make race needs cgo.
export CGO_ENABLED ?= 0
export GOFLAGS     := $(strip $(filter-out -trimpath,$(GOFLAGS)) -trimpath)

.DEFAULT_GOAL := build
.PHONY: replay upload dns outage polite build gen help fmt tidy lint test scenario nightly race fuzz sim crash judge outputs conformance hostile demo bench micro throughput soak million plots pressure realsite view dashboard others cross cross-check release install deb package-test newcomer container bench-table cover ci clean

build: ## build bin/orbweaver, a static binary (COMMIT=hash: for "orbweaver version", outside of a git checkout), and bin/orbweaver-bench
	$(GO) build -ldflags '$(LDFLAGS)' -o bin/orbweaver ./cmd/orbweaver
	$(GO) -C bench build -ldflags '-s -w' -o ../bin/orbweaver-bench ./cmd/orbweaver-bench

gen: ## generate the code of the .proto files again; no protoc is needed
	$(GO) -C tools/protogen run . ../.. engine/peering/transport/transportpb/transport.proto

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' Makefile | sed -E 's/:[^#]*## /\t/' | expand -t 14

fmt: ## format all code
	gofmt -w $$(git ls-files '*.go')

tidy: ## tidy go.mod of both modules
	$(GO) mod tidy
	$(GO) -C bench mod tidy

lint: ## golangci-lint, with all checks of go vet, and the house rules
	$(GO) tool -modfile=tools/devtools/go.mod golangci-lint run ./... # the linter is built once, into Go's build cache
	cd bench && $(GO) tool -modfile=../tools/devtools/go.mod golangci-lint run ./...
	$(GO) test -tags invariants ./tools/lint

# make lint does what go vet does.
test: ## all tests but the long stories, which are scenarios
	$(GO) test -vet=off -tags invariants ./...
	$(GO) -C bench test -vet=off -tags invariants ./...

scenario: ## the long stories: crawls in virtual time, processes, partitions, from SEED (SUBJECT=storage: one of tools/scenario.sh --list)
	SEED=$(SEED) tools/scenario.sh $(SUBJECT)

nightly: build ## all that takes long, one after another, with a table at the end; it goes on after failures (ONLY="race fuzz", NIGHT=seed)
	SEED=$(NIGHT) tools/nightly.sh $(ONLY)

race: ## the packages of tools/race.txt under the race detector (RACE=all: every package)
	tools/race.sh $(RACE)

fuzz: ## every fuzz target for FUZZTIME (SINCE=commit: those of packages that have changed since, FUZZMOST=n of them at most)
	tools/fuzz.sh $(FUZZTIME) "$(SINCE)" $(FUZZMOST)

sim: ## the whole engine in virtual time, from SEED
	$(GO) -C bench test -tags 'invariants scenario' -count=1 -run 'TestCrawl|TestResume|TestKill|TestHostile_S0[67]|TestStories/^(Crawl|Resume|Kill|Hostile_S0[67])' ./scenario/crawl ./scenario/storage -seed $(SEED)

# How much of it: worlds, calls of each class, images of each class at least (0 is all), kills of the program.
CRASH ?= -seeds 4 -per-class 6 -floor 3 -kills 200

crash: ## kill crawls at every point at which they change the disk, and the program itself 200 times
	cd bench/crash && $(GO) test -vet=off -tags 'invariants scenario' -count=1 -timeout 4h -seed $(SEED) $(CRASH)

vuln: ## look for known vulnerabilities with govulncheck; says so where its database cannot be reached
	GO=$(GO) tools/vuln.sh

judge: build ## crawl a small web and let foreign tools read the archive
	rm -rf build/judge && mkdir -p build
	bin/orbweaver demo --small --dir build/judge --progress none
	tools/warccheck/run.sh build/judge/warc

outputs: build ## make tables and graphs of a small crawl and let foreign tools read them (needs Node.js, npm; QUERIES=dir of SQL)
	rm -rf build/outputs && mkdir -p build/outputs
	bin/orbweaver demo --small --dir build/outputs/demo --progress none
	tools/outputcheck/run.sh build/outputs/demo build/outputs/out "$(QUERIES)"

languages: build ## fastText judges the languages of derive: models of each kind, and the rows of a small crawl (needs fasttext, zstd, Node.js, npm)
	rm -rf build/languages && mkdir -p build/languages
	bin/orbweaver demo --small --dir build/languages/demo --progress none
	GO=$(GO) tools/languagecheck/run.sh build/languages/demo build/languages/out

upload: build ## send a crawl to s3rver on loopback, killed and with a store that is down, and let s3cmd read it (needs Node.js, npm, s3cmd)
	rm -rf build/upload && mkdir -p build && tools/uploadcheck/run.sh build/upload

replay: build ## open WACZ files in ReplayWeb.page, in Debian's Chromium; a minute (needs Node.js, npm, chromium)
	rm -rf build/replay && mkdir -p build && tools/replaycheck/run.sh build/replay

conformance: ## score the published suites that lie in DATA, with a page in build
	@test -d "$(DATA)" || { echo "make conformance DATA=dir: a directory with the suites, as tools/conformance/doc.go lays it out"; exit 2; }
	mkdir -p build && $(GO) run ./tools/conformance "$(DATA)" build/conformance.md

hostile: ## every hostile input, scored by family, with a page in build
	mkdir -p build && cd bench && $(GO) run ./cmd/hostilescore ../build/hostile.md

polite: ## 10^6 requests in a web of faults, across ten restarts, held against the outside log (some five minutes of a core)
	$(GO) -C bench test -tags scenario ./scenario/crawl -count=1 -v -timeout 2h -run TestPolite_ -requests 1000000 -seed $(SEED)

demo: build ## the main job: a simulated web, a real crawl, a verified archive
	bin/orbweaver demo

throughput: build ## the speed of one crawl beside a bare loop
	bin/orbweaver-bench throughput

soak: build ## half an hour at full speed: does anything grow or slow down?
	bin/orbweaver-bench soak

million: build ## one million pages over 50,000 hosts and 10,000 addresses, with full politeness
	bin/orbweaver-bench throughput --hosts 50000 --ips 10000 --per-host 40 --mean 21 --host-delay 4s --ip-delay 500ms

plots: ## draw the results of the benchmarks into docs/plots
	$(GO) -C tools/plot test . && $(GO) -C tools/plot run . ../../bench/results ../../docs/plots

bench: build ## the short tables of BENCHMARKS.md, in under ten minutes
	tools/bench.sh

bench-table: ## write BENCHMARKS.md from bench/results
	$(GO) run ./tools/benchtable

micro: ## microbenchmarks of all packages
	for d in . bench; do $(GO) -C $$d test -run xxx -bench . -benchmem ./...; done | tee build/micro.txt

pressure: build ## a crawl in cgroups with as much memory as it asks for, and with a tenth (Linux, root)
	tools/pressure.sh

realsite: build ## crawl Debian's documentation and web applications on loopback; compare with disk, wget and databases (Linux, root)
	tools/realsite/run.sh $(REALSITE)

dns: build ## crawl names that unbound, dnsmasq and Knot DNS resolve, also through middleboxes that drop questions; half a minute (Linux)
	GO=$(GO) tools/dnscheck/run.sh

outage: build ## crawl a site whose nginx is stopped, answers 503, or stays away, and sites behind squid and tinyproxy that fail, on loopback
	tools/outage.sh
	tools/proxies.sh

view: ## pages of an archive in Debian's Chromium and Firefox, as orbweaver view shows them; 15 minutes, root
	GO=$(GO) tools/viewcheck/run.sh

dashboard: ## what people do with the dashboard, in Debian's Chromium (Node.js, npm; says so when one is missing)
	GO=$(GO) tools/dashboardcheck/run.sh

others: build ## other people's crawlers and ours on one simulated web, in a network namespace (Linux)
	tools/others/install.sh && tools/others/run.sh

cross-check: ## check the types of the program on platforms that make cross builds for, in seconds (PLATFORMS="darwin/arm64")
	$(GO) -C tools/devtools run ./crosscheck ../.. $(PLATFORMS)

cross: ## build for every platform without a C compiler
	@for p in $(PLATFORMS); do echo "$$p"; \
	  GOOS=$${p%/*} GOARCH=$${p#*/} $(GO) build -ldflags '$(LDFLAGS)' \
	    -o "build/cross/orbweaver-$${p%/*}-$${p#*/}$$(test $${p%/*} = windows && echo .exe)" ./cmd/orbweaver || exit 1; done

PREFIX ?= /usr/local
DEB     = build/orbweaver_$(VERSION)-1_$(shell $(GO) env GOARCH).deb

install: build ## install program, man pages, completions and systemd unit below PREFIX (/usr/local; DESTDIR=dir for packagers)
	tools/package/tree.sh bin/orbweaver bin/orbweaver "$(DESTDIR)" "$(PREFIX)"

deb: COMMIT := $(or $(COMMIT),$(shell git describe --always --dirty --abbrev=40 --exclude '*' 2>/dev/null))
deb: build ## the Debian package of this machine's processor, in build/ (needs dpkg-deb; not root)
	SOURCE_DATE_EPOCH=$${SOURCE_DATE_EPOCH:-$$(git log -1 --format=%ct)} \
	  tools/package/deb.sh bin/orbweaver bin/orbweaver $(VERSION)-1 $$($(GO) env GOARCH) $(DEB)

package-test: deb ## install the package in a fresh Debian, boot it, run the service, purge (root, mmdebstrap, a mirror; not in CI)
	tools/package/test.sh $(DEB)

newcomer: deb ## a newcomer's way on a fresh Debian, by the guide alone: writes build/newcomer.md and the pictures of the guide (root, mmdebstrap, a mirror; not in CI)
	tools/newcomer/run.sh $(DEB)

container: ## build the container image with podman, buildah or docker (TOOL=name)
	$(or $(TOOL),podman) build --build-arg COMMIT=$(or $(COMMIT),$$(git rev-parse HEAD)) -t orbweaver:$(VERSION) -f Containerfile .

release: ## archives, Debian packages, SBOMs and SHA256SUMS of the newest commit in build/release (CHECK=1: builds twice and compares)
	GO=$(GO) VERSION=$(VERSION) tools/release.sh $(if $(CHECK),--check,build/release) $(if $(CHECK),linux/amd64 windows/amd64,$(PLATFORMS))

cover: ## test coverage by package
	for d in . bench; do $(GO) -C $$d test -tags invariants -cover ./...; done | grep -v 'no test files'

ci: ## what the server runs
	.ci/run

clean: ## remove what was built
	rm -rf bin build demo-crawl
