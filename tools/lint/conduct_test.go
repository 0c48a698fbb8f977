package lint

import (
	"go/ast"
	"strings"
)

// starters are the files that may start a goroutine, each with what waits for it. Tests may as well; testing/synctest
// and goleak watch them.
var starters = places{
	"tools/dnscheck/main.go":                    "joins the crawls; the sites end with the process",
	"tools/dnscheck/middlebox.go":               "relays that end with the process, or with their deadline",
	"tools/realsite/docs.go":                    "wget waits for its workers",
	"engine/page/hook/started.go":               "join waits for both, once the program has ended",
	"engine/net/bodyfile/file.go":               "context.AfterFunc, stopped when the wait ends",
	"engine/net/fetch/socks/dialer.go":          "context.AfterFunc, stopped when the proxy has answered",
	"engine/net/fetch/socket_linux.go":          "context.AfterFunc, stopped when the connection is there",
	"engine/check/fsck/archive.go":              "the examination of one file waits for its three readers",
	"engine/run.go":                             "Run waits for its groups",
	"derive/run.go":                             "Run waits for its workers",
	"engine/state/lifecycle/run.go":             "Run waits for its groups",
	"engine/cluster/agent/delivery.go":          "the loop that follows membership waits for all senders",
	"engine/peering/consensus/":                 "Close waits for the loops; a call of all agents waits for all answers",
	"engine/durable/restore/archived.go":        "the replay of the journals waits for its readers",
	"engine/net/fetch/idleconns.go":             "time.AfterFunc; Close waits for it",
	"engine/net/fetch/watch.go":                 "context.AfterFunc, stopped when the exchange ends",
	"engine/operate/control/server.go":          "Close waits for the server",
	"cmd/orbweaver/internal/archive/view.go":    "Run waits for the server",
	"engine/peering/membership/service.go":      "Close waits for maintain and rejoin",
	"engine/peering/membership/transport.go":    "Shutdown waits for the pump",
	"engine/peering/membership/sockets.go":      "context.AfterFunc, stopped when the connection is closed",
	"engine/peering/membership/membershiptest/": "timers that deliver datagrams; after Shutdown they have no effect",
	"dnsres/query.go":                           "the caller waits for both questions",
	"dnsres/exchange.go":                        "context.AfterFunc, stopped when the exchange ends",
	"engine/peering/transport/transport.go":     "Close waits for the server",
	"engine/cluster/network/prover.go":          "Close waits for the loop that asks for proofs and for its requests",
	"internal/vfs/vfstest/suite.go":             "the test waits for its group",
	"cmd/orbweaver/internal/crawl/crawl.go":     "the signal watcher; the function that signals returns waits for it",
	"cmd/orbweaver/internal/crawl/inbox.go":     "reads the inbox; the function it returns waits",
	"engine/operate/inbox/inbox.go":             "the watch of the directory; Run waits for it",
	"engine/operate/upload/":                    "Finish and Stop wait for the senders, and run for its files",
	"cmd/orbweaver/internal/receivers/":         "a timer and context.AfterFunc, stopped when Finish returns",
	"cmd/orbweaver/internal/crawl/memory.go":    "follows the number of hosts; the function it returns waits",
	"internal/cli/summary/progress.go":          "the progress line; its Close waits",
	"cmd/orbweaver/internal/crawl/service.go":   "reports to the service manager; its Close waits",
	"internal/cli/console/output.go":            "messages on standard error; its Close waits",
	"internal/cli/trials/sim.go":                "a read of standard input cannot be interrupted; the process ends it",
	"bench/scenario/story/hosts.go":             "connections end with their clients; the end of a run waits for them",
	"bench/scenario/story/verbs.go":             "a verb that ends the run waits for the crawl",
	"bench/scenario/testbed/crawl.go":           "WaitEnd waits for the crawl",
	"bench/scenario/testbed/kill.go":            "Kill waits for the crawl",
	"bench/scenario/testbed/outageweb.go":       "connections end with their clients; the end of a crawl waits for them",
	"bench/scenario/testbed/scriptedhosts.go":   "the test waits for the connections; a timer that the crawl stops",
	"internal/trial/run.go":                     "the watcher; the crawl waits for it",
	"bench/throughput/fabricatedsockets.go":     "close waits for the listener and its connections",
	"bench/agents/agent.go":                     "the loop learns of the end of each process; its stop waits for all",
	"bench/throughput/cores.go":                 "Watch waits for that of the web",
	"bench/throughput/sweep.go":                 "the sampler; what OnStart returns waits for it",
	"bench/throughput/soak.go":                  "the watch; what OnStart returns waits for it",
	"internal/simnet/net.go":                    "Close resets what is open and waits for all that is served",
	"internal/trial/load/dns.go":                "Close of the server waits",
	"internal/trial/load/namespace_linux.go":    "the caller of what is done in another namespace waits for it",
	"internal/trial/load/acceptor.go":           "Close of the server waits",
	"internal/trial/load/server.go":             "Close waits for the goroutines that accept",
	"bench/components/virtualize.go":            "the stretch waits for Collect",
	"bench/components/virtualizecheckpoint.go":  "the measurement waits for the snapshot",
	"bench/components/cache.go":                 "the measurement waits for its workers",
	"bench/components/sieve.go":                 "the measurement waits for its flusher",
	"bench/throughput/bareloop.go":              "the measurement waits for its workers",
	"internal/trial/load/child.go":              "time.AfterFunc, stopped when the child has said where it listens",
	"bench/components/workbenchcheckpoint.go":   "the Visits beside a checkpoint; the function that stops them waits",
	"bench/components/workbenchvisits.go":       "the measurement waits for its workers and its returner",
}

func checkGoroutines(h *tree) []string { return h.onlyAt(starters, startsGoroutine) }

// startsGoroutine says in which way a node starts a goroutine: the statement, or one of its disguises.
func startsGoroutine(f *goFile, n ast.Node) string {
	switch n := n.(type) {
	case *ast.GoStmt:
		return "go starts a goroutine"
	case *ast.CallExpr:
		if name := f.selected(n.Fun); name == "time.AfterFunc" || name == "context.AfterFunc" {
			return name + " starts a goroutine"
		}
		if sel, ok := n.Fun.(*ast.SelectorExpr); ok && len(n.Args) == 1 && hasWord("Go TryGo", sel.Sel.Name) {
			return "." + sel.Sel.Name + " starts a goroutine"
		}
	}
	return ""
}

// outside reports whether the file belongs to a program, a benchmark or a tool, and not to the product's libraries.
func outside(name string) bool {
	return ofPrograms(name) || strings.HasPrefix(name, "bench/") || strings.HasPrefix(name, "tools/") ||
		strings.HasPrefix(name, "internal/simweb/") || strings.HasPrefix(name, "internal/trial/") ||
		strings.HasPrefix(name, "internal/golden/")
}

// ofPrograms reports whether the file belongs to a program, or to what the programs share.
func ofPrograms(name string) bool {
	return strings.HasPrefix(name, "cmd/") || strings.HasPrefix(name, "internal/cli/")
}
