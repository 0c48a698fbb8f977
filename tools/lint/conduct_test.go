package lint

import (
	"fmt"
	"go/ast"
	"strings"
)

// doors are the calls and types that reach the network. There is one dial function that nothing can go around: the
// Dialer of engine/fetch, which knows the forbidden addresses and meets each of them before a connection is made.
const doors = `
	net.Dial net.DialTimeout net.DialTCP net.DialUDP net.DialUnix net.DialIP net.Dialer
	net.Listen net.ListenTCP net.ListenUDP net.ListenUnix net.ListenIP net.ListenPacket net.ListenConfig net.ListenMulticastUDP
	net.FileConn net.Resolver net.DefaultResolver net.LookupHost net.LookupIP net.LookupAddr net.LookupCNAME net.LookupTXT
	net.ResolveTCPAddr net.ResolveUDPAddr net.ResolveIPAddr
	crypto/tls.Dial crypto/tls.DialWithDialer crypto/tls.Dialer crypto/tls.Listen
	net/http.Get net/http.Head net/http.Post net/http.PostForm net/http.Client net/http.DefaultClient net/http.Transport
	net/http.DefaultTransport net/http.ListenAndServe net/http.ListenAndServeTLS net/http.Server net/http.DefaultServeMux
	github.com/valyala/fasthttp.Client github.com/valyala/fasthttp.HostClient github.com/valyala/fasthttp.PipelineClient
	github.com/valyala/fasthttp.Get github.com/valyala/fasthttp.Post github.com/valyala/fasthttp.Do
	github.com/valyala/fasthttp.Dial github.com/valyala/fasthttp.DialTimeout github.com/valyala/fasthttp.TCPDialer
	github.com/valyala/fasthttp.Server github.com/valyala/fasthttp.ListenAndServe
	github.com/miekg/dns.Client github.com/miekg/dns.Exchange github.com/miekg/dns.Dial github.com/miekg/dns.DialTimeout
	github.com/miekg/dns.Server github.com/miekg/dns.ListenAndServe
	syscall.Socket syscall.Connect golang.org/x/sys/unix.Socket golang.org/x/sys/unix.Connect`

// doorkeepers may use the doors. Tests may as well.
var doorkeepers = places{
	"engine/fetch/socket_linux.go": "the same with fewer system calls, used by the one dial function alone: see checkInner",
	"engine/fetch/dialer.go":       "the one dial function, for pages and for questions to name servers alike",
	"engine/control/client.go":     "asks a running crawl over its local port",
	"engine/control/server.go":     "answers on the local port",
	"engine/control/socket.go":     "the local port, both ends of it",
	"bench/load/":                  "a web server on real sockets",
	"bench/frontier/line.go":       "a small one, on loopback, in the process of the crawler",
}

func checkNetwork(h *tree) (faults []string) {
	used := make(map[string]bool)
	for _, f := range h.files {
		ast.Inspect(f.ast, func(n ast.Node) bool {
			name := f.selected(n)
			if name == "" || f.test || !hasWord(doors, name) {
				return true
			}
			if entry := doorkeepers.find(f.path); entry != "" {
				used[entry] = true
				return true
			}
			faults = append(faults, fmt.Sprintf("%s: %s goes around the one dial function: take a fetch.Dialer or a dial function as an argument, from the engine's Seams", h.at(n), name))
			return true
		})
	}
	faults = append(faults, checkInner(h)...)
	return append(faults, h.unused(doorkeepers, used, "doorkeepers")...)
}

// checkInner sees to it that the functions which connect without asking the guard are named by the dialer alone.
func checkInner(h *tree) (faults []string) {
	for _, f := range h.files {
		if f.test || f.dir != "engine/fetch" || f.path == "engine/fetch/dialer.go" || strings.HasPrefix(f.path, "engine/fetch/socket_") {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && hasWord("connectSocket connectNet openSocket", id.Name) {
				faults = append(faults, fmt.Sprintf("%s: %s asks no Guard: call the Dialer that the Fetcher was given", h.at(n), id.Name))
			}
			return true
		})
	}
	return faults
}

// starters are the files that may start a goroutine, each with who waits for it. Tests may as well; testing/synctest and
// goleak watch them.
var starters = places{
	"engine/fetch/socket_linux.go":   "context.AfterFunc, stopped when the connection is there",
	"engine/fsck/archive.go":         "the examination of one file waits for its three readers",
	"engine/run.go":                  "Run waits for its groups",
	"engine/recall.go":               "the replay of the journals waits for its readers",
	"engine/fetch/keep.go":           "time.AfterFunc; Close waits for it",
	"engine/fetch/watch.go":          "context.AfterFunc, stopped when the exchange ends",
	"engine/control/server.go":       "Close waits for the server",
	"dnsres/query.go":                "the caller waits for both questions",
	"dnsres/exchange.go":             "context.AfterFunc, stopped when the exchange ends",
	"internal/vfs/vfstest/suite.go":  "the test waits for its group",
	"cmd/orbweaver/crawl.go":         "the signal watcher; the function that signals returns waits for it",
	"cmd/orbweaver/memory.go":        "follows the number of hosts; the function it returns waits",
	"cmd/orbweaver/progress.go":      "the progress line; its Close waits",
	"cmd/orbweaver/words.go":         "what the crawl says; its Close waits",
	"cmd/orbweaver/sim.go":           "nobody waits: a read of standard input cannot be interrupted, so it ends with the process",
	"bench/frontier/run.go":          "the watch; Run waits for it",
	"bench/frontier/line.go":         "close waits for the listener and its connections",
	"bench/vitro/sweep.go":           "the sampler; what OnStart returns waits for it",
	"bench/vitro/soak.go":            "the watch; what OnStart returns waits for it",
	"bench/simnet/net.go":            "Close resets what is open and waits for all that is served",
	"bench/load/dns.go":              "Close of the server waits",
	"bench/load/post.go":             "Close of the server waits",
	"bench/load/server.go":           "Close waits for those who stand at the doors",
	"bench/rooms/virtualize.go":      "the stretch waits for Collect",
	"bench/rooms/virtualizecut.go":   "the stretch waits for the image",
	"bench/rooms/cache.go":           "the measurement waits for its workers",
	"bench/rooms/sieve.go":           "the measurement waits for its flusher",
	"bench/vitro/loop.go":            "the measurement waits for its workers",
	"bench/vitro/child.go":           "time.AfterFunc, stopped when the child has said where it listens",
	"bench/rooms/workbenchcuts.go":   "the Visits beside a cut; the function that stops them waits",
	"bench/rooms/workbenchvisits.go": "the measurement waits for its workers and its returner",
}

func checkGoroutines(h *tree) (faults []string) {
	used := make(map[string]bool)
	for _, f := range h.files {
		if f.test {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			what := startsGoroutine(f, n)
			if what == "" {
				return true
			}
			if entry := starters.find(f.path); entry != "" {
				used[entry] = true
				return true
			}
			faults = append(faults, fmt.Sprintf("%s: %s starts a goroutine here: hand the work to a loop of engine/run.go, or start and join it in Open and Close and add the file to starters with who waits", h.at(n), what))
			return true
		})
	}
	return append(faults, h.unused(starters, used, "starters")...)
}

// startsGoroutine names the way in which a node starts a goroutine: the statement, or one of its disguises.
func startsGoroutine(f *goFile, n ast.Node) string {
	switch n := n.(type) {
	case *ast.GoStmt:
		return "go"
	case *ast.CallExpr:
		switch name := f.selected(n.Fun); name {
		case "time.AfterFunc", "context.AfterFunc":
			return name
		}
		sel, ok := n.Fun.(*ast.SelectorExpr)
		if ok && len(n.Args) == 1 && (sel.Sel.Name == "Go" || sel.Sel.Name == "TryGo") {
			return "." + sel.Sel.Name
		}
	}
	return ""
}

// A ban forbids names in the product: in all code but cmd, bench, tools and tests.
type ban struct {
	names   string
	instead string
	lint    string // the linter whose suppression, with a reason, excuses it; "" for no excuse
	except  places // files that may, each with the reason
}

func bans() []ban {
	return []ban{
		{names: "time.Sleep", instead: "blocked means blocked on a channel or a condition; wait in a select with ctx.Done()"},
		{names: "time.Tick", instead: "use time.NewTicker, and stop it where you started it"},
		{names: "os.Exit log.Fatal log.Fatalf log.Fatalln runtime.Goexit", instead: "return the error; only cmd ends the process"},
		{names: "context.Background context.TO" + "DO", instead: "take a ctx; cmd and tests make roots", lint: "forbidigo"},
		{names: "os.Getenv os.LookupEnv os.Environ os.ExpandEnv os.Setenv syscall.Getenv", instead: "make it a field of Options; only cmd reads the environment"},
		{names: diskCalls, instead: "take a vfs.FS; it is the one door to the disk, and the tests crash it", except: diskDoors},
		{names: "fmt.Print fmt.Printf fmt.Println os.Stdout os.Stderr os.Stdin os.Args", instead: "return it, or take an io.Writer; only cmd speaks to the terminal"},
		{names: "runtime.SetFinalizer runtime.AddCleanup", instead: "close what you open"},
		{names: "runtime.GC runtime/debug.SetGCPercent runtime/debug.SetMemoryLimit runtime/debug.FreeOSMemory", instead: "only cmd tunes the process"},
	}
}

// diskCalls touch the disk without asking a vfs.FS; diskDoors may make them.
const diskCalls = `
	os.Open os.OpenFile os.Create os.ReadFile os.WriteFile os.ReadDir os.Stat os.Lstat os.Truncate os.Remove os.RemoveAll
	os.Rename os.Link os.Symlink os.Mkdir os.MkdirAll os.CreateTemp os.MkdirTemp os.DirFS os.OpenRoot os.NewFile os.Chmod os.Chtimes`

var diskDoors = places{
	"engine/fetch/socket_linux.go": "os.NewFile gives a socket to the poller",
	"internal/vfs/":                "the one door",
	"dnsres/system.go":             "reads the system's list of name servers, which is in no crawl directory",
	"engine/control/socket.go":     "removes a stale socket and guards its own, which is no file of the crawl",
}

func checkCalls(h *tree) (faults []string) {
	used := make(map[string]bool)
	for _, f := range h.files {
		if f.test || outside(f.path) {
			continue
		}
		excuses := h.excuses(f)
		ast.Inspect(f.ast, func(n ast.Node) bool {
			name := f.selected(n)
			if name == "" {
				return true
			}
			for _, b := range bans() {
				if !hasWord(b.names, name) {
					continue
				}
				if entry := b.except.find(f.path); entry != "" {
					used[entry] = true
					continue
				}
				if b.lint != "" && excuses[h.fset.Position(n.Pos()).Line] == b.lint {
					continue
				}
				faults = append(faults, fmt.Sprintf("%s: %s: %s", h.at(n), name, b.instead))
			}
			return true
		})
	}
	return append(faults, h.unused(diskDoors, used, "diskDoors")...)
}

// outside reports whether the file belongs to a program, a benchmark or a tool, and not to the product's libraries.
func outside(name string) bool {
	return strings.HasPrefix(name, "cmd/") || strings.HasPrefix(name, "bench/") || strings.HasPrefix(name, "tools/")
}

// excuses returns the linter that each line asks to be quiet, for those suppressions that give a reason.
func (h *tree) excuses(f *goFile) map[int]string {
	lines := make(map[int]string)
	for _, group := range f.ast.Comments {
		for _, c := range group.List {
			rest, ok := strings.CutPrefix(c.Text, "//nolint:")
			if !ok {
				continue
			}
			linter, reason, _ := strings.Cut(rest, "//")
			if strings.TrimSpace(reason) != "" {
				lines[h.fset.Position(c.Pos()).Line] = strings.TrimSpace(linter)
			}
		}
	}
	return lines
}
