package membership

import (
	"errors"
	"math"
	"net/netip"
	"strings"
	"testing"
	"time"
)

func TestOptions_allFaultsAreReported(t *testing.T) {
	if err := (Options{Self: sampleAgent()}).WithDefaults().Validate(); err != nil {
		t.Errorf("only Self: %v", err)
	}
	bad := Options{
		Self: Agent{
			ID: "no spaces", Capacity: -1, GossipAddr: netip.MustParseAddrPort("0.0.0.0:7946"), Crawl: "\x00",
			MessageVersion: -1,
		},
		Seeds:   []string{"a.example:7946", "192.0.2.1:0"},
		Key:     make([]byte, 16),
		Timings: Timings{ProbeInterval: time.Microsecond, ProbeTimeout: time.Second, SuspicionTimeout: -1},
	}
	err := bad.WithDefaults().Validate()
	for _, want := range []string{
		"identifier", "capacity", `crawl "\x00"`, "version -1", "gossip address 0.0.0.0", `"a.example:7946"`,
		`"192.0.2.1:0"`, "16 bytes", "ProbeInterval", "ProbeTimeout", "SuspicionTimeout",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s is not reported: %v", want, err)
		}
	}
	if !errors.Is(err, ErrOptions) || !errors.Is(err, ErrAgent) {
		t.Errorf("%v", err)
	}
	if _, err := Join(t.Context(), Options{}); !errors.Is(err, ErrOptions) {
		t.Errorf("Join without options: %v", err)
	}
}

func sampleAgent() Agent {
	return Agent{ID: "a", GossipAddr: netip.MustParseAddrPort("192.0.2.1:7946"), Crawl: "c"}
}

func TestTimings_suspicionTimeoutDoesNotDependOnTheNumberOfAgents(t *testing.T) {
	timings := Timings{}.WithDefaults()
	for n := range 2000 {
		// Memberlist's formula.
		scale := max(1, math.Log10(max(1, float64(n))))
		timeout := time.Duration(float64(timings.suspicionMult(n)) * scale * float64(timings.ProbeInterval))
		if timeout < 5*time.Second || timeout > 7*time.Second {
			t.Fatalf("%d agents: %v", n, timeout)
		}
	}
}
