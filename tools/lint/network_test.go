package lint

import (
	"fmt"
	"go/ast"
	"path"
	"strings"
)

// doors are the calls and types that reach the network, or hand a raw system call or a new process what could. There is
// one dial function that nothing can go around: the Dialer of engine/net/fetch, which knows the forbidden addresses and
// meets each of them before a connection is made. Beside these, every name of a foreign package that begins with Dial
// or Listen is a door.
const doors = `
	net.Resolver net.DefaultResolver net.FileConn net.FileListener net.FilePacketConn
	net.LookupHost net.LookupIP net.LookupAddr net.LookupCNAME net.LookupTXT net.LookupMX net.LookupNS net.LookupSRV
	net.LookupPort
	net.ResolveTCPAddr net.ResolveUDPAddr net.ResolveIPAddr net.ResolveUnixAddr
	net/http.Get net/http.Head net/http.Post net/http.PostForm net/http.Client net/http.DefaultClient net/http.Transport
	net/http.DefaultTransport net/http.Server net/http.DefaultServeMux net/http.Serve net/http.ServeTLS
	github.com/valyala/fasthttp.Client github.com/valyala/fasthttp.HostClient github.com/valyala/fasthttp.PipelineClient
	github.com/valyala/fasthttp.LBClient github.com/valyala/fasthttp.TCPDialer github.com/valyala/fasthttp.Server
	github.com/valyala/fasthttp.Get github.com/valyala/fasthttp.GetTimeout github.com/valyala/fasthttp.GetDeadline
	github.com/valyala/fasthttp.Post github.com/valyala/fasthttp.Do github.com/valyala/fasthttp.DoTimeout
	github.com/valyala/fasthttp.DoDeadline github.com/valyala/fasthttp.DoRedirects
	github.com/valyala/fasthttp.Serve github.com/valyala/fasthttp.ServeTLS github.com/valyala/fasthttp.ServeConn
	github.com/miekg/dns.Client github.com/miekg/dns.Exchange github.com/miekg/dns.ExchangeContext
	github.com/miekg/dns.ExchangeConn
	github.com/hashicorp/memberlist.NewNetTransport
	github.com/miekg/dns.Transfer github.com/miekg/dns.Server github.com/miekg/dns.ActivateAndServe
	github.com/minio/minio-go/v7.New github.com/minio/minio-go/v7.NewCore
	google.golang.org/grpc.NewClient google.golang.org/grpc.NewServer
	syscall.Socket syscall.Connect syscall.Bind syscall.Sendto syscall.SendmsgN syscall.Sendmsg syscall.ConnectEx
	syscall.WSASendto
	syscall.Syscall syscall.Syscall6 syscall.Syscall9 syscall.RawSyscall syscall.RawSyscall6 syscall.AllThreadsSyscall
	syscall.SyscallN
	syscall.NewLazyDLL syscall.LoadDLL syscall.MustLoadDLL syscall.LoadLibrary
	syscall.Exec syscall.ForkExec syscall.StartProcess os.StartProcess
	golang.org/x/sys/unix.Socket golang.org/x/sys/unix.Connect golang.org/x/sys/unix.Bind golang.org/x/sys/unix.Sendto
	golang.org/x/sys/unix.Sendmsg golang.org/x/sys/unix.SendmsgN golang.org/x/sys/unix.SendmsgBuffers
	golang.org/x/sys/unix.Send
	golang.org/x/sys/unix.Syscall golang.org/x/sys/unix.Syscall6 golang.org/x/sys/unix.RawSyscall
	golang.org/x/sys/unix.RawSyscall6
	golang.org/x/sys/unix.Exec
	golang.org/x/sys/windows.Socket golang.org/x/sys/windows.WSASocket golang.org/x/sys/windows.Connect
	golang.org/x/sys/windows.ConnectEx
	golang.org/x/sys/windows.Bind golang.org/x/sys/windows.Sendto golang.org/x/sys/windows.WSASendto
	golang.org/x/sys/windows.WSASendMsg
	golang.org/x/sys/windows.NewLazyDLL golang.org/x/sys/windows.NewLazySystemDLL golang.org/x/sys/windows.LoadDLL
	golang.org/x/sys/windows.MustLoadDLL golang.org/x/sys/windows.LoadLibrary golang.org/x/sys/windows.LoadLibraryEx
	golang.org/x/sys/windows.CreateProcess`

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
	if hasWord(doors, name) {
		return true
	}
	pkg, last := path.Split(name)
	if i := strings.LastIndexByte(last, '.'); i >= 0 {
		pkg, last = pkg+last[:i], last[i+1:]
	}
	ours, control := strings.HasPrefix(pkg, module+"/"), pkg == module+"/engine/operate/control"
	return (!ours || control) && (strings.HasPrefix(last, "Dial") || strings.HasPrefix(last, "Listen"))
}

func checkNetwork(h *tree) (faults []string) {
	used := make(map[string]bool)
	for _, f := range h.files {
		if f.test {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			name := f.selected(n)
			if name == "" || !isDoor(name) {
				return true
			}
			if entry := doorkeepers.find(f.path); entry != "" {
				used[entry] = true
				return true
			}
			faults = append(
				faults,
				fmt.Sprintf(
					"%s: %s goes around the one dial function: take a fetch.Dialer or a dial function as an argument, from the "+
						"engine's Seams",
					h.at(n), name,
				),
			)
			return true
		})
		faults = append(faults, checkDisguises(h, f)...)
	}
	faults = append(faults, checkInner(h)...)
	return append(faults, h.unused(doorkeepers, used, "doorkeepers")...)
}

// checkDisguises finds what would let a door be used without its name.
func checkDisguises(h *tree, f *goFile) (faults []string) {
	for _, spec := range f.ast.Imports {
		if spec.Name != nil && spec.Name.Name == "." {
			faults = append(
				faults,
				h.at(spec)+
					": a dot import hides whose names these are, doors to the network among them: import the package by its name",
			)
		}
		if strings.Trim(spec.Path.Value, `"`) == "C" {
			faults = append(faults, h.at(spec)+": C can dial: everything builds without a C compiler")
		}
	}
	for _, group := range f.ast.Comments {
		for _, c := range group.List {
			if strings.HasPrefix(c.Text, "//go:linkname ") {
				faults = append(
					faults,
					h.at(c)+": go:linkname reaches into other packages, past the one dial function too: use what they export",
				)
			}
		}
	}
	return faults
}

// checkInner sees to it that the functions which connect without asking the guard are named by the dialer alone.
func checkInner(h *tree) (faults []string) {
	for _, f := range h.files {
		if f.test || f.dir != "engine/net/fetch" || f.path == "engine/net/fetch/dialer.go" ||
			strings.HasPrefix(f.path, "engine/net/fetch/socket_") {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && hasWord("connectSocket connectNet openSocket newNetDialer netDialer", id.Name) {
				faults = append(
					faults, fmt.Sprintf("%s: %s asks no Guard: call the Dialer that the Fetcher was given", h.at(n), id.Name),
				)
			}
			return true
		})
	}
	return faults
}
