package main

import (
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
)

// Every number of fetchers meets every delay, on a web that is large enough for it unless the flags say how large; a
// site is never asked more often than its address.
func TestSettingsOfASweep(t *testing.T) {
	var c fetchersCommand
	parser, err := kong.New(&c)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parser.Parse(strings.Fields("--fetchers 64,1000 --ip-delays 0s,500ms --host-delay 100ms")); err != nil {
		t.Fatal(err)
	}
	all := c.settings()
	if len(all) != 4 {
		t.Fatalf("%+v", all)
	}
	if s := all[0]; s.Fetchers != 64 || s.Hosts != 192 || s.IPs != 192 || s.IPDelay != 0 ||
		s.HostDelay != 100*time.Millisecond {
		t.Errorf("%+v", s)
	}
	if s := all[3]; s.Fetchers != 1000 || s.Hosts != 3000 || s.IPDelay != 500*time.Millisecond ||
		s.HostDelay != 500*time.Millisecond {
		t.Errorf("%+v", s)
	}
	c.Hosts, c.IPs = 4000, 1000
	if s := c.settings()[0]; s.Hosts != 4000 || s.IPs != 1000 {
		t.Errorf("%+v", s)
	}
}
