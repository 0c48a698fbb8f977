package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// The names of the zone. host-N.dns.test are the plain ones.
const (
	zone     = "dns.test"
	plain    = 12
	aliasOf  = "host-0." + zone
	twoAddrs = 2
	many     = 40 // addresses of many.dns.test: more than 512 bytes
)

// record is a name with its addresses.
type record struct {
	name  string
	addrs []string
}

// records returns the names with addresses. alias.dns.test is an alias of the first one.
func records() []record {
	all := make([]record, 0, plain+twoAddrs)
	for i := range plain {
		all = append(all, record{fmt.Sprintf("host-%d.%s", i, zone), []string{"127.0.2.1"}})
	}
	all = append(all, record{"two." + zone, []string{"127.0.0.99", "127.0.2.1"}})
	manyAddrs := make([]string, many)
	for i := range manyAddrs {
		manyAddrs[i] = fmt.Sprintf("127.0.1.%d", i+1)
	}
	return append(all, record{"many." + zone, manyAddrs})
}

// server is a name server of Debian.
type server struct {
	name, port string
	files      func(dir, port string) map[string]string
	command    func(dir, port string) []string
}

func servers() []server {
	return []server{
		{"unbound", "5301", unboundFiles, func(dir, _ string) []string {
			return []string{"unbound", "-d", "-c", dir + "/unbound.conf"}
		}},
		{"dnsmasq", "5302", dnsmasqFiles, func(dir, port string) []string {
			return []string{"dnsmasq", "--keep-in-foreground", "--conf-file=" + dir + "/dnsmasq.conf", "--port=" + port}
		}},
		{"knotd", "5303", knotFiles, func(dir, _ string) []string {
			return []string{"knotd", "-c", dir + "/knot.conf"}
		}},
	}
}

func unboundFiles(dir, port string) map[string]string {
	var b strings.Builder
	fmt.Fprintf(&b, "server:\n  interface: 127.0.0.1@%s\n  username: \"\"\n  chroot: \"\"\n  directory: %q\n", port, dir)
	fmt.Fprintf(&b, "  pidfile: \"\"\n  use-syslog: no\n  do-not-query-localhost: no\n  local-zone: %q static\n", zone)
	b.WriteString("  module-config: \"iterator\"\n  qname-minimisation: no\n")
	fmt.Fprintf(&b, "  local-data: %q\n", zone+". 60 IN SOA ns."+zone+". x. 1 60 60 60 60")
	for _, r := range records() {
		for _, addr := range r.addrs {
			fmt.Fprintf(&b, "  local-data: \"%s. 60 IN A %s\"\n", r.name, addr)
		}
	}
	fmt.Fprintf(&b, "  local-data: \"alias.%s. 60 IN CNAME %s.\"\n", zone, aliasOf)
	b.WriteString("remote-control:\n  control-enable: no\n")
	return map[string]string{"unbound.conf": b.String()}
}

func dnsmasqFiles(dir, _ string) map[string]string {
	var hosts strings.Builder
	for _, r := range records() {
		for _, addr := range r.addrs {
			fmt.Fprintf(&hosts, "%s %s\n", addr, r.name)
		}
	}
	return map[string]string{
		"hosts": hosts.String(),
		"dnsmasq.conf": "no-resolv\nno-hosts\nbind-interfaces\nlisten-address=127.0.0.1\npid-file=\nuser=root\n" +
			"local-ttl=60\naddn-hosts=" + dir + "/hosts\nlocal=/" + zone + "/\ncname=alias." + zone + "," + aliasOf + "\n",
	}
}

func knotFiles(dir, port string) map[string]string {
	var b strings.Builder
	fmt.Fprintf(&b, "$ORIGIN %s.\n$TTL 60\n@ SOA ns x 1 60 60 60 60\n@ NS ns\nns A 127.0.0.1\n", zone)
	fmt.Fprintf(&b, "alias CNAME %s.\n", aliasOf)
	for _, r := range records() {
		for _, addr := range r.addrs {
			fmt.Fprintf(&b, "%s. A %s\n", r.name, addr)
		}
	}
	return map[string]string{
		zone + ".zone": b.String(),
		"knot.conf": fmt.Sprintf("server:\n  rundir: %q\n  listen: 127.0.0.1@%s\n", dir, port) +
			fmt.Sprintf("database:\n  storage: %q\n", dir) + "log:\n  - target: stderr\n    any: warning\n" +
			fmt.Sprintf("zone:\n  - domain: %s\n    storage: %q\n    file: %s.zone\n", zone, dir, zone),
	}
}

// start writes the files of a server and starts it. It ends with ctx.
func (s *server) start(ctx context.Context, dir string) (*exec.Cmd, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	for name, text := range s.files(dir, s.port) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return nil, err
		}
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()
	words := s.command(dir, s.port)
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return cmd, awaitPort(ctx, "127.0.0.1:"+s.port)
}

// awaitPort waits until a server takes TCP connections.
func awaitPort(ctx context.Context, addr string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	for {
		if conn, err := net.Dial("tcp", addr); err == nil {
			return conn.Close()
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: no server", addr)
		case <-time.After(50 * time.Millisecond):
		}
	}
}
