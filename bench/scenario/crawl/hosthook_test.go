package crawl

import (
	"encoding/json"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/engine/page/hook"
	"orbweaver/internal/simweb"
)

// farms is a guest: four sites of 40 pages, which link to the next ones.
type farms struct {
	mu     sync.Mutex
	latest map[string]time.Time // request
	pauses map[string]time.Duration
}

const farmPages = 40

// Host implements simweb.Guest.
func (*farms) Host(name string) (address netip.Addr, ok bool) {
	n := strings.Index("spam less late good", strings.TrimSuffix(name, ".test"))
	return netip.AddrFrom4([4]byte{198, 51, 100, byte(10 + n)}), n >= 0 && strings.HasSuffix(name, ".test")
}

// Serve implements simweb.Guest.
func (f *farms) Serve(conn net.Conn, r simweb.GuestRequest) simweb.GuestResult {
	f.mu.Lock()
	now := time.Now()
	host, _, _ := strings.Cut(r.Authority, ".test")
	if last := f.latest[host]; !last.IsZero() {
		f.pauses[host] = max(f.pauses[host], now.Sub(last))
	}
	f.latest[host] = now
	f.mu.Unlock()
	reply := simweb.GuestReply{Status: 404, Type: "Text/HTML; charset=utf-8", Body: []byte("<p>there is nothing here")}
	var n int
	if _, err := fmt.Sscanf(r.Path, "/p%d", &n); err == nil && n < farmPages {
		reply.Status, reply.Body = 200, fmt.Appendf(nil, "<title>page %d</title>%s<a href=p%d>n<a href=p%d>n", n,
			words(host+r.Path), n+1, n+2)
	}
	return reply.Send(conn)
}

// verdicts is a program of --hook host=CMD, within this process. It implements hook.Starter.
type verdicts struct {
	mu    sync.Mutex
	asked map[string]int // by host and pages
}

// Start implements hook.Starter.
func (x *verdicts) Start(string) (hook.Program, error) { return startPipes(x.answer), nil }

func (x *verdicts) answer(head, _ []byte) string {
	var q hook.HostQuestion
	if err := json.Unmarshal(head, &q); err != nil || len(q.Terms) == 0 || len(q.Sample) == 0 || q.Links < q.Seen {
		return "it is no question about a host: " + string(head)
	}
	x.mu.Lock()
	x.asked[fmt.Sprint(q.Host, " ", q.Pages)]++
	x.mu.Unlock()
	verdict := map[string]string{"spam.test": `"block":true`, "less.test": `"budget":15`, "late.test": `"postpone":600`}
	said := fmt.Sprintf(`{"v":1,"id":%d`, q.ID)
	if q.Pages == 10 && verdict[q.Host] != "" {
		said += "," + verdict[q.Host]
	}
	return said + "}"
}

// A host is blocked, one has a budget, and one is postponed, all at the tenth page, also over kills. No answer is asked
// for again. The count of a site's pages may lose those that were in flight at a kill.
func TestHook_hostsAreJudgedOnce(t *testing.T) {
	for name, kills := range map[string]int{"none": 0, "kills": 8} {
		synctest.Test(t, func(t *testing.T) {
			rig, program := oneWorld(t), &verdicts{asked: map[string]int{}}
			web := &farms{latest: map[string]time.Time{}, pauses: map[string]time.Duration{}}
			rig.World.Invite(web)
			rig.Hook = program
			cfg := engine.Simulation()
			cfg.Seeds = testbed.Seeds{
				"http://spam.test/p0", "http://less.test/p0", "http://late.test/p0", "http://good.test/p0",
			}
			cfg.Filters.Scope, cfg.Hook.Hooks, cfg.Intervals.Checkpoint = "domain", []string{"host:10:15=judge"}, 20*time.Second
			disk := rig.FS
			for range kills {
				var ended bool
				if disk, ended = testbed.Kill(t, rig, cfg, disk, 13*time.Second, testbed.Sigkill); ended {
					t.Errorf("%s: the crawl ended too soon", name)
				}
			}
			r, err := rig.Crawl(t.Context(), cfg, disk)
			if err != nil {
				t.Fatal(err)
			}
			if err := rig.Net.Close(); err != nil {
				t.Error(err)
			}
			found := map[string]int{}
			for url, n := range testbed.CountCaptures(t, disk) {
				if host, _, ok := strings.Cut(strings.TrimPrefix(url, "http://"), ".test/p"); ok && n.Pages > 0 {
					found[host]++
				}
			}
			more := kills / 4
			if found["spam"] < 10 || found["spam"] > 11+more || found["less"] < 15 || found["less"] > 15+more ||
				found["late"] != farmPages || found["good"] != farmPages || r.Outcomes["blocked"] == 0 ||
				r.Outcomes["quota-host"] == 0 {
				t.Errorf("%s: pages %v, outcomes %v", name, found, r.Outcomes)
			}
			if pause := web.pauses["late"]; pause < 590*time.Second {
				t.Errorf("%s: late.test was asked after %v", name, pause)
			}
			for what, n := range program.asked {
				if n > 1 {
					t.Errorf("%s: asked %d times about %s", name, n, what)
				}
			}
			for _, what := range []string{"spam.test 10", "less.test 10", "late.test 10", "good.test 10", "good.test 25"} {
				if program.asked[what] == 0 {
					t.Errorf("%s: not asked about %s: %v", name, what, program.asked)
				}
			}
			if kills == 0 && (r.HostHook.Verdicts["blocked"] != 1 || r.HostHook.Questions["answered"] < 6) {
				t.Errorf("%+v", r.HostHook)
			}
			sound := testbed.Fsck(t, disk)
			testbed.WantSound(t, &sound)
		})
	}
}
