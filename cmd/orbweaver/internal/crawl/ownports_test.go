package crawl

import (
	"errors"
	"io"
	"log/slog"
	"net/netip"
	"strings"
	"testing"

	"orbweaver/engine/net/fetch/addrguard"
	"orbweaver/engine/operate/control"
	"orbweaver/engine/operate/report"
	"orbweaver/internal/vfs"
)

// reporter is a crawl with an empty report.
type reporter struct{ control.Crawl }

func (reporter) Report() report.Report { return report.Report{} }

// With --listen 127.0.0.1:0 and --allow-net 127.0.0.0/8, a page could send the crawl to its own control port.
func TestTheControlPortThatTheSystemPickedIsNotConnectedTo(t *testing.T) {
	var c Command
	c.Listen, c.AllowNet = "127.0.0.1:0", []string{"127.0.0.0/8"}
	c.Config.Dir = t.TempDir()
	guard, _, err := c.guard(c.Listen, nil)
	if err != nil {
		t.Fatal(err)
	}
	c.policy = guard
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	server, err := c.listen(t.Context(), c.Config.Dir, vfs.Disk(), reporter{}, control.Options{Log: log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.close() })
	addr := netip.MustParseAddrPort(server.Addr())
	if err := guard.Check(addr); err != nil {
		t.Fatalf("%v is refused without being known: %v", addr, err)
	}
	refuseOwn(c.policy, server.Addr(), "unix:control.sock", "192.0.2.1:0")
	if err := guard.Check(addr); !errors.Is(err, addrguard.ErrBlockedAddress) {
		t.Errorf("%v: %v", addr, err)
	}
}

func TestAProxyIsSaidToMakeAddressRulesAdvisory(t *testing.T) {
	for proxy, want := range map[string]bool{"": false, "http://127.0.0.1:3128": true} {
		var said strings.Builder
		c := &networkOptions{Proxy: proxy}
		c.warnOfProxy(slog.New(slog.NewTextHandler(&said, nil)))
		if got := strings.Contains(said.String(), "advisory"); got != want {
			t.Errorf("--proxy %q: said %q", proxy, said.String())
		}
	}
}
