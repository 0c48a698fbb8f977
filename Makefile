# Orbweaver. `make help` lists the targets.

GO       ?= go
SEED     ?= 1
FUZZTIME ?= 10s
PLATFORMS ?= linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64
VERSION  ?= 0.2.0
LDFLAGS   = -s -w -X main.version=$(VERSION) $(if $(COMMIT),-X main.commit=$(COMMIT))

# All targets but the race detector compile in one way, so that Go's build cache holds each package once: without the
# C compiler, and without the path of this checkout. make race needs cgo.
export CGO_ENABLED ?= 0
export GOFLAGS     := $(strip $(filter-out -trimpath,$(GOFLAGS)) -trimpath)

.DEFAULT_GOAL := build
.PHONY: accept bench build clean container deb demo fuzz gen help install lint nightly race release scenario test tidy

build: ## build bin/orbweaver, a static binary (COMMIT=hash: for "orbweaver version", outside of a git checkout), and bin/orbweaver-bench
	$(GO) build -ldflags '$(LDFLAGS)' -o bin/orbweaver ./cmd/orbweaver
	$(GO) -C bench build -ldflags '-s -w' -o ../bin/orbweaver-bench ./cmd/orbweaver-bench

gen: ## generate the code of the .proto files again; no protoc is needed
	$(GO) -C tools/protogen run . ../.. engine/peering/transport/transportpb/transport.proto

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' Makefile | sed -E 's/:[^#]*## /\t/' | expand -t 14

tidy: ## tidy go.mod of both modules
	$(GO) mod tidy
	$(GO) -C bench mod tidy

lint: ## golangci-lint, with all checks of go vet, and the house rules
	$(GO) tool -modfile=tools/devtools/go.mod golangci-lint run ./... # the linter is built once, into Go's build cache
	cd bench && $(GO) tool -modfile=../tools/devtools/go.mod golangci-lint run ./...
	$(GO) test -vet=off -tags invariants ./tools/lint

# make lint does what go vet does.
test: ## all tests but the long stories, which are scenarios
	$(GO) test -vet=off -tags invariants ./...
	$(GO) -C bench test -vet=off -tags invariants ./...

scenario: ## the long stories: crawls in virtual time, processes, partitions, from SEED (SUBJECT=storage: one of tools/scenario.sh --list; SKIP=tests)
	SEED=$(SEED) SKIP='$(SKIP)' tools/scenario.sh $(SUBJECT)

nightly: build ## all that takes long, one after another, with a table at the end; it goes on after failures (ONLY="race fuzz", NIGHT=seed)
	SEED=$(NIGHT) tools/nightly.sh $(ONLY)

race: ## the packages of tools/race.txt under the race detector (RACE=all: every package; SINCE=commit: those that have changed, RACEMOST=n of them at most)
	tools/race.sh $(or $(RACE),$(if $(SINCE),since $(SINCE) $(RACEMOST)))

fuzz: ## every fuzz target for FUZZTIME (SINCE=commit: those of packages that have changed since, FUZZMOST=n of them at most)
	tools/fuzz.sh $(FUZZTIME) "$(SINCE)" $(FUZZMOST)

accept: $(if $(NAME),build) ## the acceptance programs, judged from outside: lists them, or runs the one called NAME
	@GO=$(GO) SEED=$(SEED) tools/accept.sh $(NAME)

demo: build ## the main job: a simulated web, a real crawl, a verified archive
	bin/orbweaver demo

bench: build ## the short tables of BENCHMARKS.md, in under ten minutes (NAME=throughput: one of them)
	tools/bench.sh $(NAME)

PREFIX ?= /usr/local
DEB     = build/orbweaver_$(VERSION)-1_$(shell $(GO) env GOARCH).deb

install: build ## install program, man pages, completions and systemd unit below PREFIX (/usr/local; DESTDIR=dir for packagers)
	tools/package/tree.sh bin/orbweaver bin/orbweaver "$(DESTDIR)" "$(PREFIX)"

deb: COMMIT := $(or $(COMMIT),$(shell git describe --always --dirty --abbrev=40 --exclude '*' 2>/dev/null))
deb: build ## the Debian package of this machine's processor, in build/ (needs dpkg-deb; not root)
	SOURCE_DATE_EPOCH=$${SOURCE_DATE_EPOCH:-$$(git log -1 --format=%ct)} \
	  tools/package/deb.sh bin/orbweaver bin/orbweaver $(VERSION)-1 $$($(GO) env GOARCH) $(DEB)

container: ## build the container image with podman, buildah or docker (TOOL=name)
	$(or $(TOOL),podman) build --build-arg COMMIT=$(or $(COMMIT),$$(git rev-parse HEAD)) -t orbweaver:$(VERSION) -f Containerfile .

release: ## archives, Debian packages, SBOMs and SHA256SUMS of the newest commit in build/release (CHECK=1: builds twice and compares)
	GO=$(GO) VERSION=$(VERSION) tools/release.sh $(if $(CHECK),--check,build/release) $(if $(CHECK),linux/amd64 windows/amd64,$(PLATFORMS))

clean: ## remove what was built
	rm -rf bin build demo-crawl
