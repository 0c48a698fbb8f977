package schedule

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"orbweaver/engine/state/cluster"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/traps"
	"orbweaver/engine/traps/novelty"
	"orbweaver/internal/outcome"
	"orbweaver/internal/urlx"
	"orbweaver/internal/vfs"
	"orbweaver/workbench"
)

func url(format string, args ...any) []byte {
	return queued.Append(nil, &queued.URL{Rest: fmt.Appendf(nil, format, args...)})
}

// A site has its share of URLs in memory and the rest on disk, in the order in which they came.
func TestPlacer_keepsTheOrder(t *testing.T) {
	r, now := newRig(t, vfs.NewMem(1), "crawl", 1<<20, -1), time.Now()
	r.Options.SiteItems = 2
	d := r.distributor()
	for i := range 6 {
		if err := r.Ready.Append(url("http://a.test/%d", i)); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := d.placer.placeFrom(source{next: r.Ready.Others.Read, batch: distributeBatch}, now); n != 6 || err != nil {
		t.Fatal(n, err)
	}
	vs := r.Workbench.Get([]byte("http://a.test"))
	if r.Unresolved.Len() != 1 || r.Workbench.Site(vs).Queued() != 2 || lenOnDisk(r.OnDisk, vs) != 4 {
		t.Errorf("%d sites wait for an address, %d URLs in memory, %d on disk", r.Unresolved.Len(),
			r.Workbench.Site(vs).Queued(), lenOnDisk(r.OnDisk, vs))
	}
	r.Workbench.Place(vs, netip.AddrFrom4([4]byte{240, 0, 0, 1}), now)
	first := r.Workbench.Acquire(now, nil, 1)
	r.Workbench.Release(&first[0], workbench.Release{Unused: first[0].Items[1:]}, now)
	if _, err := d.placer.place(url("http://a.test/6"), false); err != nil { // there is room in memory now
		t.Fatal(err)
	}
	if got := paths(t, d, vs, now); fmt.Sprint(got) != "[/1 /2 /3 /4 /5 /6]" {
		t.Errorf("visited %v", got)
	}
}

// A URL that a full disk does not take is held, before all others, until there is room. A checkpoint finds it by Held.
func TestPlacer_holdsAURLOnAFullDisk(t *testing.T) {
	disk := vfs.NewMem(1)
	r := newRig(t, disk, "crawl", 1<<20, -1)
	r.Options.SiteItems, r.Front = 0, NewFront(r.Workbench, 100, noneWaiting) // all URLs go to disk
	d := r.distributor()
	var want []string
	for i := range 9 {
		want = append(want, fmt.Sprintf("/%d", i))
		if err := r.Ready.Append(url("http://a.test/%d%s", i, long)); err != nil {
			t.Fatal(err)
		}
	}
	disk.SetLimit(disk.Used())
	held := ""
	for range 2 {
		if _, err := d.step(time.Now()); !vfs.IsFull(err) {
			t.Fatalf("the error is %v", err)
		}
		vs := r.Workbench.Get([]byte("http://a.test"))
		if n := lenOnDisk(r.OnDisk, vs) + r.Ready.Len(); d.Held() == nil || n != 8 || held != "" && held != string(d.Held()) {
			t.Fatalf("%.20q is held, and %d other URLs are queued", d.Held(), n)
		}
		held = string(d.Held())
	}
	disk.SetLimit(1 << 40)
	for moved := true; moved; {
		var err error
		if moved, err = d.step(time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	vs := r.Workbench.Get([]byte("http://a.test"))
	r.Workbench.Place(vs, netip.AddrFrom4([4]byte{240, 0, 0, 1}), time.Now())
	if got := paths(t, d, vs, time.Now()); d.Held() != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("visited %v, %.20q is held", got, d.Held())
	}
}

// suspectDomain makes the domain many.test look like a trap: the first pages of all its sites are the same.
func suspectDomain(r *rig) {
	var words novelty.Words
	for i := range 300 {
		r.Traps.NotePage(fmt.Appendf(nil, "http://s%d.many.test/", i), true, novelty.Page{IsDuplicate: true}, &words)
	}
}

// A turn of the delayed sites admits one new site. The URLs of sites that are admitted already need no turn.
func TestDelayedSites_aTurnIsForANewSite(t *testing.T) {
	r, now := newRig(t, vfs.NewMem(1), "crawl", 1<<20, 100), time.Now()
	r.Front = NewFront(r.Workbench, 100, noneWaiting)
	suspectDomain(r)
	d := r.distributor()
	for _, u := range []string{"a.many.test/", "b.many.test/", "a.many.test/1", "c.many.test/"} {
		if _, err := d.placer.place(url("http://%s", u), false); err != nil {
			t.Fatal(err)
		}
	}
	for turn, want := range []uint64{3, 2, 0} {
		if moved, err := d.step(now); err != nil || !moved {
			t.Fatalf("turn %d: %v, %v", turn, moved, err)
		}
		if got := r.OnDisk.DelayedSites(); got != want {
			t.Errorf("%d URLs wait behind turn %d, want %d", got, turn, want)
		}
		if moved, err := d.step(now); err != nil || moved {
			t.Errorf("a second turn at the same time: %v, %v", moved, err)
		}
		now = d.placer.nextTurn
	}
}

// The turn of a delayed site has come, and the disk is full. The site keeps its turn: it is not delayed again.
func TestPlacer_aDelayedSiteKeepsItsTurnOnAFullDisk(t *testing.T) {
	disk := vfs.NewMem(1)
	r := newRig(t, disk, "crawl", 1<<20, 100)
	r.Options.SiteItems, r.Front = 0, NewFront(r.Workbench, 100, noneWaiting) // all URLs go to disk
	d := r.distributor()
	suspectDomain(r)
	if _, err := d.placer.place(url("http://new.many.test/"), false); err != nil || r.OnDisk.DelayedSites() != 1 {
		t.Fatalf("%d sites are delayed: the test shows nothing (%v)", r.OnDisk.DelayedSites(), err)
	}
	other, _ := r.Workbench.GetOrAdd([]byte("http://other.test"))
	disk.SetLimit(disk.Used())
	for _, filler := range []string{long, ""} { // until no buffer has room
		for r.OnDisk.Append(other, path("/%s", filler)) == nil {
		}
	}
	turn := source{next: d.placer.oldestOfDelayedSites, isTurn: true, batch: distributeBatch}
	_, err := d.placer.placeFrom(turn, time.Now())
	if !vfs.IsFull(err) || d.Held() == nil {
		t.Fatalf("the error is %v, %.20q is held", err, d.Held())
	}
	disk.SetLimit(1 << 40)
	if err := d.placer.placeHeld(); err != nil {
		t.Fatal(err)
	}
	vs := r.Workbench.Get([]byte("http://new.many.test"))
	if vs == nil || lenOnDisk(r.OnDisk, vs) != 1 || r.OnDisk.DelayedSites() != 0 {
		t.Errorf("%d sites are delayed after there is room", r.OnDisk.DelayedSites())
	}
}

// otherOwner is a cluster whose other agent owns the site b.test.
type otherOwner struct {
	cluster.Alone
	routed []string
}

func (o *otherOwner) Owns(key []byte) bool { return string(key) != "http://b.test" }

func (o *otherOwner) Route(scratch []byte, it *queued.URL) []byte {
	o.routed = append(o.routed, string(it.Rest))
	return scratch
}

// A ready URL goes to its site or to another agent, or gets an outcome. A URL that an earlier run finished keeps its
// outcome.
func TestPlacer_givesEachURLOnePlace(t *testing.T) {
	r, others := newRig(t, vfs.NewMem(1), "crawl", 1<<20, -1), new(otherOwner)
	r.Cluster = others
	r.Traps.Change(&traps.Options{Novelty: traps.NoveltyOff, MaxPathRepeats: 3})
	d := r.distributor()
	if _, err := r.Live.Hosts.Add([]string{"c.test exclude"}); err != nil {
		t.Fatal(err)
	}
	done := []byte("http://b.test/done")
	r.finished.Add(urlx.Fingerprint(0, done), outcome.OK)
	urls := []string{"http://a.test/", "http://b.test/", "http://c.test/", string(done), "http://a.test/x/x/x/x/x/"}
	for _, u := range urls {
		if _, err := d.placer.place(url("%s", u), false); err != nil {
			t.Fatal(err)
		}
	}
	if fmt.Sprint(others.routed) != "[http://b.test/]" || !r.finished.IsEmpty() {
		t.Errorf("routed %v", others.routed)
	}
	if vs := r.Workbench.Get([]byte("http://a.test")); r.Workbench.Site(vs).Queued() != 1 {
		t.Errorf("%d URLs at a.test", r.Workbench.Site(vs).Queued())
	}
	for _, o := range []outcome.Outcome{outcome.HandedOver, outcome.Blocked, outcome.OK, outcome.Novelty} {
		if n := r.Progress.Counters.Outcomes[o].Load(); n != 1 {
			t.Errorf("%d URLs have the outcome %v, want 1", n, o)
		}
	}
}

// Urgent URLs are placed also while the front is large enough, which the others wait for.
func TestDistributor_placesUrgentURLsWithoutDemand(t *testing.T) {
	r := newRig(t, vfs.NewMem(1), "crawl", 1<<20, -1) // no fetch workers: the front is never small
	d := r.distributor()
	image := queued.Append(nil, &queued.URL{Embeds: 1, Rest: []byte("http://a.test/image")})
	for _, item := range [][]byte{url("http://a.test/page"), image} {
		if err := r.Ready.Append(item); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if _, err := d.step(time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	vs := r.Workbench.Get([]byte("http://a.test"))
	if r.Ready.Len() != 1 || vs == nil || r.Workbench.Site(vs).Queued() != 1 {
		t.Errorf("%d URLs are left in the ready queue", r.Ready.Len())
	}
}

// Sites that are looked up ahead get their URLs in order, also those that are added after the look-up.
func TestLookAhead_keepsTheOrder(t *testing.T) {
	r, now := newRig(t, vfs.NewMem(1), "crawl", 1<<20, -1), time.Now()
	r.Options.SiteItems = 2
	d := r.distributor()
	ready := source{next: r.Ready.Others.Read, peek: r.Ready.Others.Peek, batch: distributeBatch}
	var want [3][]string
	for i := range 90 {
		site := i % 3
		if i < 40 {
			site = i % 2 // the last site is new in the second batch
		}
		want[site] = append(want[site], fmt.Sprintf("/%d", i))
		if err := r.Ready.Append(url("http://s%d.test/%d", site, i)); err != nil {
			t.Fatal(err)
		}
		if i != 39 && i != 89 {
			continue
		}
		if n, err := d.placer.placeFrom(ready, now); n < 40 || err != nil || r.Ready.Len() != 0 {
			t.Fatalf("%d URLs placed, %d left, %v", n, r.Ready.Len(), err)
		}
	}
	for i := range want {
		vs := r.Workbench.Get(fmt.Appendf(nil, "http://s%d.test", i))
		if queued := r.Workbench.Site(vs).Queued(); queued != 2 {
			t.Errorf("site %d has %d URLs in memory", i, queued)
		}
		r.Workbench.Place(vs, netip.AddrFrom4([4]byte{240, 0, 0, byte(i)}), now)
		if got := paths(t, d, vs, now); fmt.Sprint(got) != fmt.Sprint(want[i]) {
			t.Errorf("site %d: visited %v, want %v", i, got, want[i])
		}
	}
}
