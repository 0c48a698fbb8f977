package invitro

import (
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/simnet"
	"orbweaver/bench/simweb"
	"orbweaver/engine"
)

// networkDown takes the whole network of a rig away, and brings it back.
type networkDown struct {
	name string
	down func(rig *Rig)
	up   func(rig *Rig)
}

// each puts all addresses into a state, and the name servers with them.
func each(rig *Rig, s simnet.State) {
	for i := range rig.World.Config().IPs {
		rig.Net.Set(rig.World.Addr(i), s)
	}
	rig.Net.SetDNS(s == simnet.Up)
}

func networkFaults() []networkDown {
	up := func(rig *Rig) { each(rig, simnet.Up) }
	return []networkDown{
		{"the cable is out", func(rig *Rig) { rig.Net.SetLocal(func() error { return syscall.ENETUNREACH }) }, func(rig *Rig) { rig.Net.SetLocal(nil) }},
		{"packets vanish", func(rig *Rig) { each(rig, simnet.BlackHole) }, up},
		{"a gateway refuses", func(rig *Rig) { each(rig, simnet.Refused) }, up},
	}
}

// The network is away for a quarter of an hour, longer than an idle crawl waits for sites that failed. Nobody is given up or asked twice, and
// half a minute after it is back pages come in.
func TestHostile_N20_aNetworkThatIsDownBlamesNobodyAndTheCrawlGoesOnWithinHalfAMinute(t *testing.T) {
	for _, fault := range networkFaults() {
		t.Run(fault.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rig, err := NewRig(smallWorld(*firstSeed+980, simweb.Plain()), false)
				if err != nil {
					t.Fatal(err)
				}
				cfg := rig.Config()
				e, err := engine.Open(cfg, rig.Seams(rig.FS))
				if err != nil {
					t.Fatal(err)
				}
				done := make(chan error, 1)
				go func() { done <- e.Run(t.Context()) }()
				after(12 * time.Second)
				fault.down(rig)
				after(15 * time.Minute)
				if r := e.Report(); r.State != engine.StateRunning || !strings.HasPrefix(r.Waiting, "the network: nobody can be reached since") {
					t.Errorf("%s, waiting for %s", r.State, r.Waiting)
				}
				before, dials := rig.Log.Len(), rig.Net.Stats().Dials
				after(time.Minute)
				if n := rig.Net.Stats().Dials - dials; n > 24*7 {
					t.Errorf("%d attempts in a minute", n)
				}
				fault.up(rig)
				after(30 * time.Second)
				if rig.Log.Len() == before {
					t.Error("half a minute after it is back nobody has been asked")
				}
				if err := <-done; err != nil {
					t.Fatal(err)
				}
				r := e.Report()
				if err := e.Close(); err != nil {
					t.Error(err)
				}
				if err := rig.Net.Close(); err != nil {
					t.Error(err)
				}
				checkBalance(t, r)
				sound(t, rig, cfg, promise(cfg))
				for name, n := range r.Outcomes {
					if name != "ok" && name != "redirect" && name != "client-error" && name != "name-not-found" && name != "robots-denied" {
						t.Errorf("%d times %s: somebody was blamed", n, name)
					}
				}
				if s := rig.Said.String(); strings.Count(s, "nobody can be reached who answered before") != 1 || strings.Count(s, "servers can be reached again") != 1 {
					t.Errorf("it says:\n%s", s)
				}
			})
		})
	}
}
