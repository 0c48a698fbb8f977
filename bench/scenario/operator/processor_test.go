package operator

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/engine/operate/doctor"
	"orbweaver/internal/simweb"
)

// heavyPage is a page of text that compresses badly, with links to other pages of its host.
func heavyPage() string {
	var b strings.Builder
	b.WriteString(testbed.LinksPage(100))
	rng := rand.New(rand.NewPCG(1, 2))
	for b.Len() < 1<<20 {
		fmt.Fprintf(&b, "<p>%x</p>\n", rng.Uint64())
	}
	return b.String()
}

// One parse worker and large pages: the processor limits the crawl, and the doctor says so. This runs in real time,
// since work takes no virtual time. The doctor is asked at each page that is served, until it names the processor: on a
// busy machine the fetch workers fall behind for a moment, and the queue of the parse worker is not full then.
func TestDoctorNamesTheProcessor(t *testing.T) {
	const hosts, enough = 64, 2000
	page, served := heavyPage(), make(chan struct{}, enough)
	web := &testbed.ScriptedHosts{Hosts: map[string]testbed.Responder{}, Counts: map[string]int{}}
	rig := testbed.MustRig(t, testbed.SmallWorld(1, simweb.Plain()), false)
	rig.Seeds = nil
	for i := range hosts {
		host := fmt.Sprintf("h%d.test", i)
		web.Hosts[host] = func(path string, _ int, c net.Conn) {
			if path == "/robots.txt" {
				testbed.Respond(c, 404, "", "")
				return
			}
			select {
			case served <- struct{}{}:
			default:
			}
			testbed.Respond(c, 200, "", page+path)
		}
		rig.Seeds = append(rig.Seeds, "http://"+host+"/")
	}
	cfg := rig.Config()
	cfg.Politeness.HostDelay, cfg.Politeness.IPDelay = time.Millisecond, 0
	cfg.Workers.Fetchers, cfg.Workers.Parsers, cfg.Archive.Level = 32, 1, 9
	seams := rig.Seams(rig.FS)
	seams.Dialer, seams.Resolver = web, web
	seams.Allowed = func(netip.AddrPort) error { return nil }
	e, err := engine.Open(cfg, seams)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- e.Run(t.Context()) }()
	var all []doctor.Diagnosis
	isNamed := false
	for asked := 0; asked < enough && !isNamed; asked++ {
		<-served
		all = diagnoses(t, e)
		isNamed = all[0].Cause == doctor.Processor && strings.Contains(all[0].Text, "parse workers are behind: ") ||
			all[0].Cause == doctor.SlowDisk
	}
	e.Abort()
	testbed.WaitEnd(t, rig, e, done)
	web.Done.Wait()
	if all[0].Cause == doctor.SlowDisk {
		t.Skip("this machine is so busy that a write to memory takes long")
	}
	if !isNamed {
		t.Errorf("%+v", all)
	}
}
