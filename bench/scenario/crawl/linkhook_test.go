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

// forked is a guest: a site of pages with a link that a program drops, and one to a page whose payload all such pages
// have.
type forked struct{}

const forkedPages = 40

// Host implements simweb.Guest.
func (forked) Host(name string) (address netip.Addr, ok bool) {
	return netip.AddrFrom4([4]byte{198, 51, 100, 11}), name == "forked.test"
}

// Serve implements simweb.Guest.
func (forked) Serve(conn net.Conn, r simweb.GuestRequest) simweb.GuestResult {
	reply := simweb.GuestReply{Status: 200, Type: "text/html", Body: []byte("<title>bad</title>" + words(r.Path))}
	var n int
	if _, err := fmt.Sscanf(r.Path, "/p%d", &n); err == nil {
		reply.Body = fmt.Appendf(nil, "<title>page %d</title>%s<a href=bad%d>a <b>bad</b> one</a><a href=same?%d>same</a>",
			n, words(r.Path), n, n)
	}
	if strings.HasPrefix(r.Path, "/same") {
		reply.Body = []byte("<title>same</title><a href=bad>a bad one</a><a href=good>good</a>" + words("same"))
	}
	return reply.Send(conn)
}

// dropper is a program of --hook link=CMD, within this process. It implements hook.Starter.
type dropper struct {
	mu    sync.Mutex
	asked map[string]int // by page
}

// Start implements hook.Starter.
func (x *dropper) Start(string) (hook.Program, error) { return startPipes(x.answer), nil }

// answer drops links whose text has the word bad.
func (x *dropper) answer(head, _ []byte) string {
	var q hook.LinkQuestion
	if err := json.Unmarshal(head, &q); err != nil || len(q.Links) == 0 {
		return "it is no question about links: " + string(head)
	}
	x.mu.Lock()
	x.asked[q.URL]++
	x.mu.Unlock()
	drop := []int{}
	for i, link := range q.Links {
		if strings.Contains(link.Text, "bad") && link.Kind == "anchor" {
			drop = append(drop, i)
		}
	}
	places, _ := json.Marshal(drop)
	return fmt.Sprintf(`{"v":1,"id":%d,"drop":%s}`, q.ID, places)
}

// Links that a program drops are not fetched, also over kills, and after a rebuild from the archive alone, which does
// not ask the program. It is asked again only about a page that is fetched again.
func TestHook_droppedLinksStayDroppedAfterKillsAndARebuild(t *testing.T) {
	for name, kills := range map[string]int{"none": 0, "kills": 8} {
		synctest.Test(t, func(t *testing.T) {
			rig, program := oneWorld(t), &dropper{asked: map[string]int{}}
			rig.World.Invite(forked{})
			rig.Hook = program
			cfg, seeds := engine.Simulation(), testbed.Seeds{}
			for n := range forkedPages {
				seeds = append(seeds, fmt.Sprintf("http://forked.test/p%d", n))
			}
			cfg.Seeds, cfg.Filters.Scope = seeds, "domain"
			cfg.Hook.Hooks, cfg.Intervals.Checkpoint = []string{"link=drop"}, 20*time.Second
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
			if r.Dropped["hook"] != 2*forkedPages && kills == 0 || r.LinkHook.Questions["answered"] == 0 {
				t.Errorf("%s: %v, %+v", name, r.Dropped, r.LinkHook)
			}
			again := 0
			for _, n := range program.asked {
				again += n - 1
			}
			if len(program.asked) != 2*forkedPages || again > kills {
				t.Errorf("%s: asked about %d pages, and %d times again", name, len(program.asked), again)
			}
			cfg.Hook.Hooks, rig.Hook = nil, nil
			testbed.Rebuild(t, rig, cfg, disk)
			if _, err := rig.Crawl(t.Context(), cfg, disk); err != nil {
				t.Fatal(err)
			}
			if err := rig.Net.Close(); err != nil {
				t.Error(err)
			}
			captures := testbed.CountCaptures(t, disk)
			for url := range captures {
				if strings.Contains(url, "/bad") {
					t.Errorf("%s: %s was fetched", name, url)
				}
			}
			if captures["http://forked.test/good"].Pages != 1 || captures["http://forked.test/same?39"].Pages != 1 {
				t.Errorf("%s: %v", name, captures)
			}
			sound := testbed.Fsck(t, disk)
			testbed.WantSound(t, &sound)
		})
	}
}
