package operator

import (
	"net/netip"
	"testing"
	"time"

	"orbweaver/engine/frontier/sites"
	"orbweaver/engine/net/politeness"
	"orbweaver/engine/operate/hosts"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/state/settings"
	"orbweaver/engine/state/site"
	"orbweaver/internal/vfs"
	"orbweaver/virtualize"
	"orbweaver/workbench"
	"orbweaver/workbench/cold"
)

// newLister makes a Lister of one site with an address and a queued URL.
func newLister(t *testing.T) *hosts.Lister {
	t.Helper()
	disk := vfs.NewMem(1)
	store, err := cold.Open(disk, cold.Options{Dir: "cold"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	virt, err := virtualize.Open(disk, virtualize.Options{Dir: "queues"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = virt.Close(), store.Close() })
	w := workbench.New[site.State](workbench.Options{})
	vs, _ := w.GetOrAdd([]byte("http://a.test"))
	w.Push(vs, queued.Append(nil, &queued.URL{Rest: []byte("/")}))
	w.Place(vs, netip.AddrFrom4([4]byte{240, 0, 0, 1}), time.Now())
	live := settings.NewLive(politeness.Default(), new(settings.HostRules))
	return &hosts.Lister{
		Workbench: w, OnDisk: sites.NewDiskQueues(virt), Live: live, Paused: func() string { return "" },
		Sites: &sites.Table{Workbench: w, Cold: store, Rules: site.NewRulesPool(0), Live: live},
	}
}

// A queued seed waits for what explain says: also for the end of a pause.
func TestWaitOf(t *testing.T) {
	l := newLister(t)
	o := &Operator{hosts: l}
	for _, c := range []struct{ url, paused, want string }{
		{"http://a.test/", "", "nothing: its site is due"},
		{"http://a.test/", pauseReason, "no exchange begins: paused by the operator"},
		{"http://unknown.test/", "", "its turn to be queued"},
	} {
		l.Paused = func() string { return c.paused }
		if got, err := o.waitOf(t.Context(), c.url); got != c.want || err != nil {
			t.Errorf("%s, paused %q: %q, %v", c.url, c.paused, got, err)
		}
	}
}
