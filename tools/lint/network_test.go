package lint

import (
	"go/ast"
	"strings"
)

// doors are the calls and types that reach the network, or hand a raw system call or a new process what could. There is
// one dial function that nothing can go around: the Dialer of engine/net/fetch, which knows the forbidden addresses and
// meets each of them before a connection is made. Beside these, every name of a foreign package that begins with Dial
// or Listen is a door.
var doors = map[string]string{
	"net": "Resolver DefaultResolver FileConn FileListener FilePacketConn LookupHost LookupIP LookupAddr " +
		"LookupCNAME LookupTXT LookupMX LookupNS LookupSRV LookupPort ResolveTCPAddr ResolveUDPAddr ResolveIPAddr " +
		"ResolveUnixAddr",
	"net/http": "Get Head Post PostForm Client DefaultClient Transport DefaultTransport Server DefaultServeMux " +
		"Serve ServeTLS",
	"github.com/valyala/fasthttp": "Client HostClient PipelineClient LBClient TCPDialer Server Get GetTimeout " +
		"GetDeadline Post Do DoTimeout DoDeadline DoRedirects Serve ServeTLS ServeConn",
	"github.com/miekg/dns":            "Client Exchange ExchangeContext ExchangeConn Transfer Server ActivateAndServe",
	"github.com/hashicorp/memberlist": "NewNetTransport",
	"github.com/minio/minio-go/v7":    "New NewCore",
	"google.golang.org/grpc":          "NewClient NewServer",
	"syscall": "Socket Connect Bind Sendto SendmsgN Sendmsg ConnectEx WSASendto Syscall Syscall6 Syscall9 " +
		"RawSyscall RawSyscall6 AllThreadsSyscall SyscallN NewLazyDLL LoadDLL MustLoadDLL LoadLibrary Exec ForkExec " +
		"StartProcess",
	"os": "StartProcess",
	"golang.org/x/sys/unix": "Socket Connect Bind Sendto Sendmsg SendmsgN SendmsgBuffers Send Syscall Syscall6 " +
		"RawSyscall RawSyscall6 Exec",
	"golang.org/x/sys/windows": "Socket WSASocket Connect ConnectEx Bind Sendto WSASendto WSASendMsg NewLazyDLL " +
		"NewLazySystemDLL LoadDLL MustLoadDLL LoadLibrary LoadLibraryEx CreateProcess",
}

// doorkeepers may use the doors. Tests may as well.
var doorkeepers = places{
	"engine/net/fetch/socket_linux.go":       "the same with fewer system calls, for the dialer alone: see checkInner",
	"engine/net/fetch/dialer.go":             "the one dial function, for pages and for questions to name servers alike",
	"engine/peering/membership/sockets.go":   "membership: the operator gives the port and the addresses, never a page",
	"engine/operate/upload/objectstore/":     "the object store that the operator names, never a page",
	"engine/operate/control/client.go":       "asks a running crawl over its local port",
	"engine/operate/control/server.go":       "answers on the local port",
	"engine/operate/control/socket.go":       "the local port, both ends of it",
	"engine/operate/control/conns.go":        "counts the connections that the local port takes",
	"engine/operate/control/access.go":       "looks at where the local port listens",
	"engine/peering/transport/network.go":    "messages between agents: literal addresses; without certificates loopback",
	"cmd/orbweaver/internal/crawl/target.go": "control.Dial: asks a running crawl over its local port",
	"cmd/orbweaver/internal/crawl/listen.go": "control.Listen: the local port",
	"cmd/orbweaver/internal/ctl/ui.go":       "control.ListenPages: its pages, on loopback",
	"cmd/orbweaver/internal/archive/view.go": "an archive for a browser, on loopback",
	"internal/cli/process/":                  "the socket of the service manager, on this machine",
	"tools/dnscheck/main.go":                 "sites, in a namespace that has loopback alone",
	"tools/dnscheck/middlebox.go":            "relays DNS, in a namespace that has loopback alone",
	"tools/dnscheck/servers.go":              "asks whether the servers that it has started answer, on loopback",
	"tools/realsite/replay.go":               "asks orbweaver view, on loopback",
	"tools/realsite/servers.go":              "asks whether the servers that it has started answer, on loopback",
	"internal/trial/load/":                   "a web server on real sockets",
	"bench/agents/ports.go":                  "looks which ports of loopback are free, for the agents that it starts",
	"bench/throughput/fabricatedsockets.go":  "a small one, on loopback, in the process of the crawler",
}

// isDoor says whether a name, with the path of its package, reaches the network.
func isDoor(name string) bool {
	dot := strings.LastIndexByte(name, '.')
	pkg, last := name[:max(dot, 0)], name[dot+1:]
	ours, control := strings.HasPrefix(pkg, module+"/"), pkg == module+"/engine/operate/control"
	return hasWord(doors[pkg], last) ||
		(!ours || control) && (strings.HasPrefix(last, "Dial") || strings.HasPrefix(last, "Listen"))
}

func checkNetwork(h *tree) (faults []string) {
	faults = h.onlyAt(doorkeepers, func(f *goFile, n ast.Node) string {
		if name := f.selected(n); name != "" && isDoor(name) {
			return name + " goes around the one dial function"
		}
		return ""
	})
	h.each(func(f *goFile, n ast.Node) {
		if text := disguise(f, n); text != "" {
			faults = append(faults, h.at(n)+": "+text)
		}
	})
	for _, f := range h.files {
		for _, group := range f.ast.Comments {
			for _, c := range group.List {
				if strings.HasPrefix(c.Text, "//go:linkname ") && !f.test {
					faults = append(faults, h.at(c)+": go:linkname reaches into other packages, past the one dial function too")
				}
			}
		}
	}
	return faults
}

// disguise says what would let a door be used without its name, and where a function that connects without asking the
// guard is used outside of the dialer.
func disguise(f *goFile, n ast.Node) string {
	switch n := n.(type) {
	case *ast.ImportSpec:
		if n.Path.Value == `"C"` {
			return "C can dial: everything builds without a C compiler"
		}
		if n.Name != nil && n.Name.Name == "." {
			return "a dot import hides whose names these are, doors to the network among them"
		}
	case *ast.Ident:
		if f.dir == "engine/net/fetch" && f.path != "engine/net/fetch/dialer.go" &&
			!strings.HasPrefix(f.path, "engine/net/fetch/socket_") &&
			hasWord("connectSocket connectNet openSocket newNetDialer netDialer", n.Name) {
			return n.Name + " asks no Guard: call the Dialer that the Fetcher was given"
		}
	}
	return ""
}
