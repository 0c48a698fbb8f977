package operator

import (
	"context"
	"net"
	"net/netip"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/dnsres"
	"orbweaver/engine"
	"orbweaver/engine/operate/doctor"
	"orbweaver/internal/vfs/faultfs"
)

// An illness is a crawl in a condition that limits it, and what the doctor must say first.
type illness struct {
	web    testbed.OutageWeb
	change func(cfg *engine.Config)
	faults []faultfs.Rule // of the disk, from the time on when it is asked less a while
	free   int64          // bytes that the disk says are free; 0 for enough
	seams  func(web *testbed.OutageWeb, s *engine.Seams)
	after  time.Duration // when the doctor is asked
	wait   func()        // waits until it is asked, instead; nil for after

	cause, says string
}

// crawl runs the crawl for a time, asks the doctor, and stops the crawl.
func (i *illness) crawl(t *testing.T) []doctor.Diagnosis {
	t.Helper()
	web := &i.web
	if web.Condition == nil {
		web.Condition = func(int, time.Duration) testbed.Condition { return testbed.Condition{} }
	}
	web.Begin()
	rig, cfg := web.Config(t)
	if i.change != nil {
		i.change(&cfg)
	}
	script := faultfs.NewScript()
	seams := rig.Seams(faultfs.New(rig.FS, script))
	seams.Dialer, seams.Resolver = web, web
	seams.Allowed = func(netip.AddrPort) error { return nil }
	if i.seams != nil {
		i.seams(web, &seams)
	}
	e, err := engine.Open(cfg, seams)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range i.faults {
		script.Add(r)
	}
	if i.free > 0 {
		script.SetFree(i.free)
	}
	done := make(chan error, 1)
	go func() { done <- e.Run(t.Context()) }()
	if i.wait != nil {
		i.wait()
	} else {
		testbed.Wait(i.after)
	}
	all := diagnoses(t, e)
	script.Clear()
	e.Abort()
	testbed.WaitEnd(t, rig, e, done)
	web.Open.Wait()
	return all
}

// Each condition is created in a whole crawl, and is what the doctor names first.
func TestDoctorNamesTheConditionOfACrawl(t *testing.T) {
	for name, i := range illnesses() {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				all := i.crawl(t)
				for n, d := range all {
					t.Logf("%d. %s: %s | %s | %s", n+1, d.Cause, d.Text, d.Remedy, d.IfLifted)
				}
				if first := all[0]; first.Cause != i.cause || !strings.Contains(first.Text, i.says) {
					t.Errorf("the first diagnosis is %s, want %s: %s", first.Cause, i.cause, i.says)
				}
			})
		})
	}
}

// fast makes the delays short, and group commits frequent.
func fast(cfg *engine.Config) {
	cfg.Politeness.HostDelay, cfg.Politeness.IPDelay, cfg.Intervals.Sync = 100*time.Millisecond, 0, 50*time.Millisecond
}

func illnesses() map[string]*illness {
	return map[string]*illness{
		"each lookup takes 20 s": {
			web: testbed.OutageWeb{Sites: 150, Pages: 2}, seams: slowNames(20 * time.Second),
			after: 10 * time.Second, cause: doctor.DNS, says: "hosts have no address yet",
		},
		"no name server answers": {
			web: testbed.OutageWeb{Sites: 20, Pages: 2}, seams: deadNameServer(t53),
			after: 30 * time.Second, cause: doctor.NameServers, says: "no answer from 192.0.2.53",
		},
		"most hosts take no connection": {
			web: testbed.OutageWeb{Sites: 80, Pages: 20, Condition: testbed.Lasting(testbed.Condition{BlackHole: true}, 0,
				firstSites(60)...)},
			after: 8 * time.Second, cause: doctor.BlackHoles, says: "servers do not answer: ",
		},
		"most hosts answer nothing": {
			web: testbed.OutageWeb{Sites: 80, Pages: 20, Condition: testbed.Lasting(testbed.Condition{Silent: true}, 0,
				firstSites(60)...)},
			after: 15 * time.Second, cause: doctor.BlackHoles, says: "servers do not answer: ",
		},
		"one huge host is left": {
			web: testbed.OutageWeb{Sites: 6, Pages: 400, Condition: testbed.Lasting(testbed.Condition{Status: 404}, 0,
				1, 2, 3, 4, 5)},
			after: time.Minute, cause: doctor.HugeHost, says: "http://" + testbed.OutageHost(0),
		},
		"the disk is full": {
			web: testbed.OutageWeb{Sites: 10, Pages: 200}, free: 1 << 20,
			faults: []faultfs.Rule{{Op: faultfs.Write, Name: "*.open", From: 20, Err: syscall.ENOSPC}},
			after:  30 * time.Second, cause: doctor.DiskFull, says: "64 MiB must be free",
		},
		"eight connections take all descriptors": {
			web: testbed.OutageWeb{Sites: 80, Pages: 50}, change: fast, seams: fewDescriptors(8, 2*time.Second),
			after: 20 * time.Second, cause: doctor.Descriptors, says: "this machine: no file descriptors",
		},
		"there are four fetch workers, and servers take 2 s": {
			web: testbed.OutageWeb{Sites: 80, Pages: 50}, seams: fewDescriptors(1000, 2*time.Second),
			change: func(cfg *engine.Config) { fast(cfg); cfg.Workers.Fetchers = 4 },
			after:  21 * time.Second, cause: doctor.Fetchers, says: "4 fetch workers",
		},
		"the network is down": {
			web: testbed.OutageWeb{Sites: 30, Pages: 50, Condition: testbed.Lasting(testbed.Condition{BlackHole: true},
				20*time.Second)},
			after: time.Minute, cause: doctor.Network, says: "no server can be reached",
		},
		"all sites ask to slow down": {
			web: testbed.OutageWeb{Sites: 10, Pages: 50, Condition: testbed.Lasting(
				testbed.Condition{Status: 503, RobotsUp: true}, 20*time.Second)},
			change: func(cfg *engine.Config) { cfg.Limits.StallWait = 3 * time.Hour },
			after:  2 * time.Minute, cause: doctor.FailingSite, says: "10 sites fail or ask to slow down",
		},
		"memory is short, and the delays are long": {
			web:    testbed.OutageWeb{Sites: 60, Pages: 200},
			change: func(cfg *engine.Config) { cfg.Workbench.MemoryMax = 16 << 10 },
			after:  61500 * time.Millisecond, cause: doctor.Politeness, says: "60 sites with ",
		},
	}
}

// firstSites are the numbers of sites.
func firstSites(n int) (all []int) {
	for i := range n {
		all = append(all, i)
	}
	return all
}

// resolver is a Resolver that is a function.
type resolver func(ctx context.Context, name string) dnsres.Answer

// Resolve implements engine.Resolver.
func (r resolver) Resolve(ctx context.Context, name string) dnsres.Answer { return r(ctx, name) }

// slowNames makes each lookup of a name take a time.
func slowNames(takes time.Duration) func(*testbed.OutageWeb, *engine.Seams) {
	return func(web *testbed.OutageWeb, s *engine.Seams) {
		s.Resolver = resolver(func(ctx context.Context, name string) dnsres.Answer {
			select {
			case <-time.After(takes):
			case <-ctx.Done():
			}
			return web.Resolve(ctx, name)
		})
	}
}

// t53 is a name server that does not exist.
const t53 = "192.0.2.53:53"

// deadNameServer makes the crawl ask a name server that does not answer.
func deadNameServer(address string) func(*testbed.OutageWeb, *engine.Seams) {
	return func(_ *testbed.OutageWeb, s *engine.Seams) {
		r, err := dnsres.New(dnsres.Options{Upstreams: []netip.AddrPort{netip.MustParseAddrPort(address)}},
			dnsres.NetExchanger{Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
				<-ctx.Done()
				return nil, &net.OpError{Op: "dial", Net: "udp", Err: os.ErrDeadlineExceeded}
			}})
		if err != nil {
			panic(err)
		}
		s.Resolver = r
	}
}

// dialer is a Dialer that is a function.
type dialer func(ctx context.Context, network, addr string) (net.Conn, error)

// DialContext implements fetch.Dialer.
func (d dialer) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	return d(ctx, network, addr)
}

// fewDescriptors makes connections take a time, and fail while too many are open.
func fewDescriptors(most int64, takes time.Duration) func(*testbed.OutageWeb, *engine.Seams) {
	return func(web *testbed.OutageWeb, s *engine.Seams) {
		var open atomic.Int64
		s.Dialer = dialer(func(ctx context.Context, network, addr string) (net.Conn, error) {
			if open.Add(1) > most {
				open.Add(-1)
				return nil, &net.OpError{Op: "dial", Net: network, Err: os.NewSyscallError("socket", syscall.EMFILE)}
			}
			select {
			case <-time.After(takes):
			case <-ctx.Done():
			}
			conn, err := web.DialContext(ctx, network, addr)
			if err != nil {
				open.Add(-1)
				return nil, err
			}
			return &counted{Conn: conn, open: &open}, nil
		})
	}
}

// counted is a connection that is counted while it is open.
type counted struct {
	net.Conn
	open   *atomic.Int64
	closed atomic.Bool
}

// Close implements net.Conn.
func (c *counted) Close() error {
	if c.closed.CompareAndSwap(false, true) {
		c.open.Add(-1)
	}
	return c.Conn.Close()
}
