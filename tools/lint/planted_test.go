package lint

import (
	"slices"
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
		flagsFile:              ": --help\ncrawl: --most\n",
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

// A planted case is a file that a rule must find faults in: each fault has one of the texts, which "|" divides. Without
// texts it looks like a fault and is none.
type planted struct {
	rule string
	file string
	text string
	want string
}

// judge plants each case in the sound tree.
func judge(t *testing.T, cases []planted) {
	t.Helper()
	for _, c := range cases {
		texts := sound()
		texts[c.file] = c.text
		i := slices.IndexFunc(rules(), func(r rule) bool { return r.name == c.rule })
		faults := rules()[i].check(plant(t, texts))
		var wants []string
		if c.want != "" {
			wants = strings.Split(c.want, "|")
		}
		isFound := len(faults) >= len(wants) && (len(wants) > 0 || len(faults) == 0)
		for _, want := range wants {
			isFound = isFound && slices.ContainsFunc(faults, func(f string) bool { return strings.Contains(f, want) })
		}
		if !isFound {
			t.Errorf("%s: %s: want %q, got %q", c.rule, c.file, wants, faults)
		}
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
	judge(t, []planted{
		{"imports", "nowhere/a.go", code("", ""), "no layer"},
		{"imports", "dnsres/a.go", code("orbweaver/workbench", ""), "components do not know each other"},
		{"imports", "warc/a.go", code("orbweaver/engine", ""), "in a higher layer"},
		{"imports", "engine/a.go", code("orbweaver/engine/operate/control", ""), "only cmd opens the control port"},
		{"imports", "engine/a.go", code("orbweaver/internal/simweb", ""), "in a higher layer"},
		{"imports", "engine/a_test.go", code("orbweaver/internal/simweb", ""), "in a higher layer"},
		{"imports", "engine/a.go", code("orbweaver/tools/lint", ""), "leaves"},
		{"imports", "internal/simweb/a.go", code("orbweaver/internal/urlx", ""), "defendant's arithmetic"},
		{"imports", "tools/dump/a.go", code("orbweaver/engine", ""), "never the engine"},
		{"imports", "sieve/a.go", code("orbweaver/internal/vfs/faultfs", ""), "for tests alone"},
		{"imports", "sieve/a_test.go", code("orbweaver/internal/vfs/faultfs", ""), ""},
		{"imports", "sieve/a.go", code("orbweaver/sieve/fpcache", ""), ""},
		{"network", "dnsres/a.go", code("net", "var d net.Dialer"), "goes around the one dial function"},
		{"network", "engine/net/fetch/a.go", "package p\n\nimport web \"net/http\"\n\nvar d = web.Get\n",
			"net/http.Get goes around"},
		{"network", "engine/net/fetch/a.go", code("", "func f() { connectSocket() }"), "asks no Guard"},
		{"network", "engine/net/fetch/a.go", code("", "var d = netDialer{}"), "asks no Guard"},
		{"network", "engine/net/fetch/a.go", "package fetch\n\nimport . \"net\"\n\nvar d Dialer\n", "a dot import hides"},
		{"network", "engine/a.go", "package engine\n\nimport \"C\"\n", "C can dial"},
		{"network", "engine/a.go", "package engine\n\nimport _ \"unsafe\"\n\n//go:linkname dial net.dial\nfunc dial()\n",
			"go:linkname"},
		{"network", "cmd/orbweaver/a.go", code("orbweaver/engine/operate/control", "var f = control.Listen"),
			"goes around"},
		{"network", "dnsres/a.go", "package dnsres\n\nfunc f(net struct{ Dial int }) int { return net.Dial }\n", ""},
		{"network", "dnsres/a_test.go", "package dnsres\n\nimport \"net\"\n\nvar d net.Dialer\n", ""},
	})
}

func TestPlantedCode(t *testing.T) {
	queueRow := "\n| `workbench/open.go`: `make(chan int, 4)` | a | b | 4 | c | d |\n"
	judge(t, []planted{
		{"goroutines", "sieve/a.go", code("", "func f() { go f() }"), "go starts a goroutine"},
		{"goroutines", "sieve/a.go", code("sync", "func f(w *sync.WaitGroup) { w.Go(func() {}) }"),
			".Go starts a goroutine"},
		{"goroutines", "sieve/a.go", code("time", "func f() { time.AfterFunc(1, f) }"),
			"time.AfterFunc starts a goroutine"},
		{"race", "sieve/a.go", code("", "func f() { go f() }"), "goroutines share memory in sieve"},
		{"race", "sieve/a.go", code("sync/atomic", "var n atomic.Int64"), "goroutines share memory in sieve"},
		{"race", "sieve/a.go", code("", "func f(c chan int) int { return <-c }"), "goroutines share memory in sieve"},
		{"race", "sieve/a.go", code("", "func f(c chan int) { select { case c <- 1: } }"),
			"goroutines share memory in sieve"},
		{"race", "sieve/a.go", code("strings", "var b strings.Builder"), ""},
		{"race", "sieve/a.go", code("", "// go f() in a comment\nfunc f(s string) { f(\"<-\") }"), ""},
		{"race", "sieve/a_test.go", code("sync", "var _ sync.Mutex"), ""},
		{"race", raceFile, "- dnsres\n", "without a reason"},
		{"queues", "workbench/a.go", code("", "var c = make(chan int, 4)"), "makes a queue"},
		{"queues", "workbench/a.go", code("", "var c = make(chan []byte)"), "makes a queue"},
		{"queues", "workbench/a.go", code("", "var c = make(chan struct{ n int }, 1)"), "makes a queue"},
		{"queues", "workbench/a.go", code("orbweaver/internal/handoff", "var q = handoff.New[int](4)"), "makes a queue"},
		{"queues", "workbench/a.go", code("", "var c = make(chan struct{}, 1)"), ""},
		{"queues", queuesPage, queueRow, "take the row out"},
		{"queues", queuesPage, "\n| `workbench/open.go`: `func Open() {` | a |\n", "each row is"},
		{"queues", queuesPage, strings.Replace(queueRow, "make(chan int, 4)", "func Open() {", 1), ""},
		{"promises", "dnsres/cache.go", code("", "// Cache keeps.\ntype Cache int"),
			"D1 is not both explained and cited"},
		{"promises", "workbench/doc.go", "// Package workbench keeps sites.\npackage workbench\n",
			"W1 is not both explained and cited"},
		{"promises", "dnsres/cache_test.go", code("", ""), "D1 has no test"},
		{"promises", "dnsres/a_test.go", code("", "func TestQ7_A() {}"), "promise Q7, which no doc.go explains"},
		{"promises", "dnsres/a_test.go", "package dnsres\n\nfunc TestH20_Interim() {}\n", ""},
		{"promises", "sieve/doc.go", "// Package sieve is new.\n//\n//   - D1: once.\n//   - S1: D1 holds.\npackage p\n",
			"D1 is a promise of dnsres and sieve"},
		{"messages", "engine/store/journal/a.go", code("errors", "var a = errors.New(\"dnsres: it is torn\")"),
			"dnsres: in package engine/store/journal"},
		{"messages", "dnsres/a.go", "package dnsres\n\nimport \"fmt\"\n\nvar a = fmt.Errorf(\"dnsres: %w: sieve: x\")\n",
			""},
		{"package size", "sieve/a.go", "package p\n" + strings.Repeat("\n", 6000), "6001 lines, at most 6000"},
		{"package size", "engine/a.go", code("orbweaver/sieve/small", strings.Repeat("\n", 1598)), "lines, at most 1600"},
		{"package size", "dnsres/a.go", code("orbweaver/cmd/orbweaver", ""), "cmd/orbweaver: 6 lines for one importer"},
		{"structs", "sieve/a.go", code("", "type a struct{ "+strings.Repeat("a, ", 24)+"b int; e }\ntype e struct{ c int }"),
			"a has 26 fields, at most 25"},
		{"nil tests", "sieve/a.go", collaborators + "func (u *user) f() bool { return u.p != nil || u.i == nil }\n",
			"u.p != nil|u.i == nil"},
		{"nil tests", "sieve/a.go", collaborators + "func (p *part) f() bool { return p == nil }\n", "p == nil"},
		{"nil tests", "sieve/a.go", collaborators + "func (p *part) f() bool { return p.next != nil }\n" +
			"func (u *user) f() bool { u.now = nil; return u.conn != nil || u.now != nil }\n" +
			"func (u *user) g() bool { return u.Options == nil || u.number == nil }\n", ""},
		{"named flags", "engine/a.go", code("", "var a = \"give --gone, see --no-most, --help; a--b, --user\""),
			"--gone is no flag"},
		{"named flags", "engine/a.go", code("", "var a = \"see --no-most, --help; a--b, --user\""), ""},
	})
}

// collaborators are types for the tests of nil: user has a part and an interface that is set once.
const collaborators = `package p

import "net"

type i interface{ g() }
type part struct{ next *part }
func (p *part) g() {}
type user struct { p *part; i i; conn net.Conn; now *part; Options *part; number *int }
`

func TestPlantedWords(t *testing.T) {
	judge(t, []planted{
		{"decisions", "docs/adr/0002-b.md", "# 3. B\n", "does not begin with \"# 2. \""},
		{"decisions", "docs/adr/b.md", "# 3. B\n", "NNNN-words"},
		{"packages", "dnsres/doc.go", "package dnsres\n", "0 package comments"},
		{"packages", "dnsres/doc.go", "// It resolves.\npackage dnsres\n", "should begin with"},
		{"packages", "dnsres/a.go", "// Package dnsres resolves.\npackage dnsres\n", "2 package comments"},
		{"packages", mapFile, "`workbench/heap`, `cmd/orbweaver` and `old/dnsres`\n",
			"does not name workbench|does not name dnsres"},
		{"packages", "engine/net/doc.go", "// Package net is a chapter.\n//\n//\tgone  it was\npackage net\n",
			"names package gone"},
		{"unfinished", "sieve/a.go", code("", "// TO"+"DO: later"), "do it, or say"},
		{"unfinished", "README.md", "see /wo" + "rk/main\n", "of a machine"},
		{"unfinished", "warc/a.go", "package warc\n\nconst page = \"http://example.org/wo\"+\"rk/\"\n", ""},
		{"docs", "README.md", "`workbench/gone.go`, `gone.go`\n",
			"`workbench/gone.go`: there is no|`gone.go`: there is no"},
		{"docs", "README.md", "[page](docs/gone.md)\n", "does not exist"},
		{"docs", "README.md", "`make haste`\n", "no target haste"},
		{"docs", "README.md", "```\n$ make haste # now\n```\n", "no target haste"},
		{"docs", "README.md", "`workbench.Gone`\n", "has no Gone"},
		{"docs", "README.md",
			"`text/html`, `crawl/warc/`, `bin/orbweaver`, `make test FUZZTIME=1s`, `time.Sleep`, `./workbench/`, `doc.go`\n",
			""},
		{"docs", "CHANGELOG.md", "`workbench/gone.go` has gone\n", ""},
		{"chains", mapFile, "x\n## Named chains\n```\nworkbench.Gone\n```\n", "workbench.Gone"},
		{"chains", "dnsres/doc.go", "// Package dnsres resolves.\n//\n//\tworkbench.Open -> Table.Gone\npackage dnsres\n",
			"Table.Gone"},
		{"chains", mapFile, "x\n## Named chains\n```\nworkbench.Open -> context.AfterFunc, robots.txt\n```\n", ""},
		{"chains", mapFile, "x\n## Packages\n```\nworkbench.Gone\n```\n", ""},
		{"words", "sieve/a.go", "package p\n\n// f calls whoever waits, for\n// good.\nfunc f() {}\n",
			`3: "whoever"|3: "for good"`},
		{"words", "sieve/a_test.go", "package p\n\n// The agent that is to be asked.\n", `"is to be"`},
		{"words", "sieve/a.go", "package p\n\nvar err = \"p: nobody answers now\"\n", `"nobody"`},
		{"words", "sieve/a.go", "package p\n\ntype t struct {\n\tF int `help:\"Ask those who answer.\"`\n}\n", `"who"`},
		{"words", "docs/a.md", "The operator who starts it. An agent who leaves.\n`nobody`\n```\nnobody here\n```\n",
			`"who"`},
		{"words", "sieve/a.go", "package p\n\nvar a = \"who\" // the WHOIS server\n", ""},
		{"words", "sieve/a_test.go", "package p\n\nvar a = \"a test for nobody at all\"\n", ""},
		{"words", glossaryFile, "| agent | a process | one, who, nobody |\n", ""},
		{"metaphors", "docs/a.md", "The undertaker of all rooms.\n", `"undertaker"|"rooms"`},
		{"names", "sieve/calm.go", "package p\n", "calm"},
		{"names", "sieve/a.go", "package p\n\ntype Undertaker struct{ newErrand int }\n", "Undertaker|newErrand"},
		{"names", "sieve/a.go", "package p\n\ntype a interface{ LetterOf(letter int) }\n\nfunc borrowHTTP(loan int) {}\n",
			"LetterOf|borrowHTTP"},
		{"names", "sieve/a.go", "package p\n\ntype letterhead struct{ calmly int }\n", ""},
		{"bare names", "sieve/a.go", "package p\n\ntype a struct{ told, toldAgents int }\n", "field told"},
		{"bare names", "sieve/a.go", "package p\n\nfunc (a) settle() {}\n\nfunc (b) settle() {}\n",
			"func settle, as at sieve/a.go:3"},
		{"bare names", "sieve/a.go", "package p\n\nfunc settle() {}\n\nfunc settleAll(told int) {}\n", ""},
		{"line width", "sieve/a.go", "package p\n\n// " + strings.Repeat("ab ", 40) + "\n", "123 columns"},
		{"line width", "docs/a.md", strings.Repeat("ab ", 40) + "x\n", "121 columns"},
		{"line width", "docs/a.md", "| " + strings.Repeat("ab ", 60) + "|\n" + strings.Repeat("a", 130) + "\n", ""},
		{"sentences", "docs/a.md", strings.Repeat("a b. ", 20) + "It\n" + strings.Repeat("is so ", 13) + "end.\n",
			"28 words: It is so is so ..."},
		{"sentences", "docs/a.md",
			"# " + strings.Repeat("a ", 30) + "\n- " + strings.Repeat("a ", 20) + "\n- " + strings.Repeat("b ", 20) + "\n",
			""},
	})
	if long := longSubjects("1234567 area: short\n89abcde area: " + strings.Repeat("x", 67) + "\n"); len(long) != 1 ||
		!strings.HasPrefix(long[0], "89abcde") {
		t.Errorf("got %v, want the second commit", long)
	}
}

// Each door by itself, in a file of the product, of the programs and of the bench; and in the places that may.
func TestHostile_N10_noCodeGoesAroundTheOneDialFunction(t *testing.T) {
	var all []string
	for pkg, names := range doors {
		for name := range strings.FieldsSeq(names) {
			all = append(all, pkg+"."+name)
		}
	}
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
