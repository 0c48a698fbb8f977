package lint

import (
	"maps"
	"strings"
	"testing"
)

// sound is a small tree without a fault, on which faults are planted.
func sound() map[string]string {
	return map[string]string{
		"go.mod":         "module orbweaver\n",
		"tools/race.txt": "# what is raced\ndnsres\n- cmd/orbweaver: nothing is shared\n",
		"Makefile":       "test: ## all tests\n\tgo test ./...\n",
		"ARCHITECTURE.md": "The map: `workbench`, `dnsres`, `cmd/orbweaver`. " +
			"Run `make test`; begin at `workbench/doc.go` and `workbench.Open`.\n",
		"workbench/doc.go": "// Package workbench keeps sites.\n//\n// W1: one. W2: two. W3: three. W4: four. W5: five.\n" +
			"package workbench\n",
		"workbench/open.go": "package workbench\n\n// Open opens.\nfunc Open() {\n\t// W1 W2 W3 W4 W5 hold.\n}\n",
		"workbench/open_test.go": "package workbench\n\nfunc TestW1_A() {}\nfunc TestW2_A() {}\nfunc TestW3_A() {}\n" +
			"func TestW4_A() {}\nfunc TestW5_A() {}\n",
		"dnsres/doc.go": "// Package dnsres resolves.\n//\n// D1: once.\npackage dnsres\n",
		"dnsres/cache.go": "package dnsres\n\nimport \"errors\"\n\n// D1 is kept here.\n" +
			"var ErrName = errors.New(\"dnsres: bad name\")\n",
		"dnsres/cache_test.go": "package dnsres\n\nfunc TestD1_A() {}\n",
		"cmd/orbweaver/main.go": "// Command orbweaver crawls.\npackage main\n\nimport \"os\"\n\n" +
			"func main() { os.Exit(0) }\n",
		"tools/devtools/go.mod":     "module devtools\n",
		"tools/devtools/tools.go":   "package tools\n\nfunc init() {}\n",
		"workbench/testdata/bad.go": "package bad\n\nvar X = 1\n",
	}
}

func TestSoundTreeHasNoFaults(t *testing.T) {
	h := plant(t, sound())
	for _, r := range rules() {
		for _, fault := range r.check(h) {
			t.Errorf("%s: %s", r.name, fault)
		}
	}
}

// A faultCheck changes one file of the sound tree and wants a rule to report that, with certain words.
type faultCheck func(rule func(*tree) []string, file, text, want string)

func plantedFaults(t *testing.T) faultCheck {
	return func(rule func(*tree) []string, file, text, want string) {
		t.Helper()
		texts := sound()
		maps.Copy(texts, map[string]string{file: text})
		faults := rule(plant(t, texts))
		for _, fault := range faults {
			if strings.Contains(fault, want) {
				return
			}
		}
		t.Errorf("%s: want a fault with %q, got %q", file, want, faults)
	}
}

// code is the text of a Go file with these imports.
func code(imports, body string) string {
	text := "package p\n\n"
	for name := range strings.FieldsSeq(imports) {
		text += "import \"" + name + "\"\n"
	}
	return text + body + "\n"
}

func TestPlantedImports(t *testing.T) {
	check := plantedFaults(t)
	check(checkImports, "nowhere/a.go", code("", ""), "no layer")
	check(checkImports, "dnsres/a.go", code("orbweaver/workbench", ""), "components do not know each other")
	check(checkImports, "warc/a.go", code("orbweaver/engine", ""), "in a higher layer")
	check(checkImports, "engine/a.go", code("orbweaver/engine/operate/control", ""), "only cmd opens the control port")
	check(checkImports, "engine/a.go", code("orbweaver/internal/simweb", ""), "in a higher layer")
	check(checkImports, "engine/a_test.go", code("orbweaver/internal/simweb", ""), "in a higher layer")
	check(checkImports, "engine/a.go", code("orbweaver/tools/lint", ""), "leaves")
	check(checkImports, "internal/simweb/a.go", code("orbweaver/internal/urlx", ""), "defendant's arithmetic")
	check(checkImports, "tools/dump/a.go", code("orbweaver/engine", ""), "never the engine")
	check(checkImports, "sieve/a.go", code("orbweaver/internal/vfs/faultfs", ""), "for tests alone")
	check(checkNetwork, "dnsres/a.go", code("net", "var d net.Dialer"), "goes around the one dial function")
	check(
		checkNetwork, "engine/net/fetch/a.go", "package p\n\nimport web \"net/http\"\n\nvar d = web.Get\n",
		"net/http.Get goes around",
	)
	check(checkNetwork, "engine/net/fetch/a.go", code("", "func f() { connectSocket() }"), "asks no Guard")
	check(checkNetwork, "engine/net/fetch/a.go", code("", "var d = netDialer{}"), "asks no Guard")
	check(
		checkNetwork, "engine/net/fetch/a.go", "package fetch\n\nimport . \"net\"\n\nvar d Dialer\n", "a dot import hides",
	)
	check(checkNetwork, "engine/a.go", "package engine\n\nimport \"C\"\n", "C can dial")
	check(
		checkNetwork, "engine/a.go", "package engine\n\nimport _ \"unsafe\"\n\n//go:linkname dial net.dial\nfunc dial()\n",
		"go:linkname reaches",
	)
	check(
		checkNetwork, "cmd/orbweaver/a.go", code("orbweaver/engine/operate/control", "var f = control.Listen"),
		"goes around the one dial function",
	)
}

func TestPlantedCode(t *testing.T) {
	check := plantedFaults(t)
	check(checkGoroutines, "sieve/a.go", code("", "func f() { go f() }"), "go starts a goroutine")
	check(
		checkGoroutines, "sieve/a.go", code("sync", "func f(w *sync.WaitGroup) { w.Go(func() {}) }"),
		".Go starts a goroutine",
	)
	check(
		checkGoroutines, "sieve/a.go", code("time", "func f() { time.AfterFunc(1, f) }"),
		"time.AfterFunc starts a goroutine",
	)
	check(checkGlobals, "dnsres/a.go", code("", "func f() { ErrName = nil }"), "writes to the package variable ErrName")
	check(
		checkGlobals, "dnsres/a_test.go", code("", "func f() { p := &ErrName; _ = p }"),
		"writes to the package variable ErrName",
	)
}

func TestPlantedDocuments(t *testing.T) {
	check := plantedFaults(t)
	check(checkPromises, "dnsres/cache.go", code("", "// Cache keeps.\ntype Cache int"), "D1 is cited nowhere")
	check(
		checkPromises, "workbench/doc.go", "// Package workbench keeps sites.\npackage workbench\n", "W1 is not explained",
	)
	check(checkPromises, "dnsres/cache_test.go", code("", ""), "D1 has no test")
	check(checkPromises, "dnsres/a_test.go", code("", "func TestQ7_A() {}"), "promise Q7, which no doc.go explains")
	check(checkDecisions, "docs/adr/0002-b.md", "# 3. B\n", "does not begin with \"# 2. \"")
	check(checkDecisions, "docs/adr/b.md", "# 3. B\n", "NNNN-words")
	check(checkPackages, "dnsres/doc.go", "package dnsres\n", "no package comment")
	check(checkPackages, "dnsres/doc.go", "// It resolves.\npackage dnsres\n", "should begin with")
	check(checkPackages, "dnsres/a.go", "// Package dnsres resolves.\npackage dnsres\n", "2 package comments")
	check(
		checkPackages, "ARCHITECTURE.md", "`workbench/heap`, `cmd/orbweaver` and `old/dnsres`\n",
		"does not name",
	)
	check(
		checkPackages, "engine/net/doc.go", "// Package net is a chapter.\n//\n//\tgone  it was\npackage net\n",
		"names package gone",
	)
	check(checkEngine, "engine/frontier.go", code("", "type f struct{ e *Engine }"), "holds an *Engine")
	check(checkEngine, "warc/a.go", code("orbweaver/engine", "func f(e *engine.Engine) {}"), "holds an *Engine")
	check(checkWords, "sieve/a.go", code("", "// TO"+"DO: later"), "do it, or write the reason")
	check(checkWords, "README.md", "see /wo"+"rk/main\n", "of a machine")
	check(checkDocs, "README.md", "`workbench/gone.go`\n", "no such file or directory")
	check(checkDocs, "README.md", "`gone.go`\n", "no such file or directory")
	check(checkDocs, "README.md", "[page](docs/gone.md)\n", "does not exist")
	check(checkDocs, "README.md", "`make haste`\n", "no target haste")
	check(checkDocs, "README.md", "```\n$ make haste # now\n```\n", "no target haste")
	check(checkDocs, "README.md", "`workbench.Gone`\n", "exports no Gone")
	check(
		checkMessages, "engine/store/journal/a.go", code("", "const a = \"engine: it is torn\""), "its own package, journal",
	)
}

// What shares memory between goroutines has a line in the list of what runs under the race detector.
func TestRaceListIsWhole(t *testing.T) {
	for text, want := range map[string]string{
		"package sieve\n\nfunc f() { go f() }\n":                                    "goroutines share memory in sieve",
		"package sieve\n\nimport \"sync/atomic\"\n\nvar n atomic.Int64\n":           "goroutines share memory in sieve",
		"package sieve\n\nfunc f(c chan int) int { return <-c }\n":                  "goroutines share memory in sieve",
		"package sieve\n\nfunc f(c chan int) { select { case c <- 1: } }\n":         "goroutines share memory in sieve",
		"package sieve\n\nimport \"strings\"\n\nvar b strings.Builder\n":            "",
		"package sieve\n\n// go f() in a comment\nfunc f(s string) { f(\"<-\") }\n": "",
	} {
		texts := sound()
		texts["sieve/a.go"] = text
		if faults := strings.Join(checkRace(plant(t, texts)), "\n"); (faults == "") != (want == "") ||
			!strings.Contains(faults, want) {
			t.Errorf("%s: want a fault with %q, got %q", text, want, faults)
		}
	}
	texts := sound()
	texts[raceFile] = "- dnsres\n"
	if faults := checkRace(plant(t, texts)); len(faults) == 0 || !strings.Contains(faults[0], "without a reason") {
		t.Errorf("a package is left out without a reason: %q", faults)
	}
}

// Each door by itself, in a file of the product, of the programs and of the bench; and in the places that may.
func TestHostile_N10_noCodeGoesAroundTheOneDialFunction(t *testing.T) {
	all := strings.Fields(doors)
	for name := range strings.FieldsSeq("Dial DialTimeout DialTCP DialUDP DialUnix DialIP Dialer " +
		"Listen ListenTCP ListenUDP ListenUnix ListenUnixgram " +
		"ListenIP ListenPacket ListenConfig ListenMulticastUDP") {
		all = append(all, "net."+name)
	}
	all = append(all, "crypto/tls.Dial", "crypto/tls.DialWithDialer", "crypto/tls.Dialer", "crypto/tls.Listen",
		"net/http.ListenAndServe",
		"net/http.ListenAndServeTLS", "github.com/valyala/fasthttp.Dial", "github.com/valyala/fasthttp.DialDualStackTimeout",
		"github.com/valyala/fasthttp.ListenAndServeUNIX", "github.com/miekg/dns.DialTimeout",
		"github.com/miekg/dns.ListenAndServeTLS",
		"syscall.Listen", "golang.org/x/sys/unix.Listen", "example.org/some/thing.DialContext")
	for _, door := range all {
		dot := strings.LastIndexByte(door, '.')
		text := "package p\n\nimport x \"" + door[:dot] + "\"\n\nvar door = x." + door[dot+1:] + "\n"
		for file, may := range map[string]bool{
			"dnsres/a.go": false, "engine/a.go": false, "engine/net/fetch/a.go": false, "cmd/orbweaver/a.go": false,
			"bench/scenario/testbed/a.go": false,
			"dnsres/a_test.go":            true, "engine/net/fetch/dialer.go": true, "internal/trial/load/a.go": true,
		} {
			texts := sound()
			texts[file] = text
			if faults := checkNetwork(plant(t, texts)); (len(faults) == 0) != may {
				t.Errorf("%s in %s: %q", door, file, faults)
			}
		}
	}
}

// TestHonest holds the rules against code that looks like a fault and is none.
func TestHonest(t *testing.T) {
	check := func(r func(*tree) []string, file, text string) {
		t.Helper()
		texts := sound()
		texts[file] = text
		for _, fault := range r(plant(t, texts)) {
			t.Errorf("%s: %s", file, fault)
		}
	}
	check(
		checkImports, "sieve/a_test.go",
		"package sieve\n\nimport \"orbweaver/internal/vfs/faultfs\"\n\nvar _ = faultfs.New\n",
	)
	check(checkImports, "sieve/a.go", "package sieve\n\nimport \"orbweaver/sieve/fpcache\"\n\nvar _ = fpcache.New\n")
	check(checkNetwork, "dnsres/a.go", "package dnsres\n\nfunc f(net struct{ Dial int }) int { return net.Dial }\n")
	check(checkNetwork, "dnsres/a_test.go", "package dnsres\n\nimport \"net\"\n\nvar d net.Dialer\n")
	check(checkRace, "dnsres/a.go", "package dnsres\n\nimport \"sync\"\n\nvar _ sync.Mutex\n")
	check(checkRace, "sieve/a_test.go", "package sieve\n\nimport \"sync\"\n\nvar _ sync.Mutex\n")
	check(checkGlobals, "dnsres/a.go", "package dnsres\n\nfunc f() { var ErrName error; ErrName = nil; _ = ErrName }\n")
	check(checkGlobals, "dnsres/a_test.go", "package dnsres\n\nvar sink int\n\nfunc f() { sink++ }\n")
	check(checkEngine, "engine/run.go", "package engine\n\nfunc (e *Engine) Run() {}\n")
	check(checkPromises, "dnsres/a_test.go", "package dnsres\n\nfunc TestH20_Interim() {}\n")
	check(checkWords, "warc/a.go", "package warc\n\nconst page = \"http://example.org/wo\"+\"rk/\"\n")
	check(
		checkDocs, "README.md",
		"`text/html`, `crawl/warc/`, `bin/orbweaver`, `make test FUZZTIME=1s`, `time.Sleep`, `./workbench/`, `doc.go`\n",
	)
	check(checkDocs, "CHANGELOG.md", "`workbench/gone.go` has gone\n")
}
