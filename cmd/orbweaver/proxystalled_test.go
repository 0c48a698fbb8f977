//go:build scenario

package main

import (
	"net"
	"testing"

	"orbweaver/internal/cli/command"
)

// Sites that cannot be reached keep their queues: the crawl stalls, and says so by its status. (It waits for 14
// seconds.)
func TestProxyThatRefuses(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	m := call(
		append(
			small(t.TempDir(), "http://"+address, 0), "--stall-wait", "1s", "--json", "http://a.test/", "http://b.test/",
		)...).want(t, command.ExitStalled).object(t)
	balanced(t, m)
	if number(t, m, "urls_queued") != 2 || number(t, m, "pages_stored") != 0 || m["state"] != "stalled" {
		t.Errorf("%v", m)
	}
}
