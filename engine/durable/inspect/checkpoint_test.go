package inspect

import (
	"errors"
	"io/fs"
	"slices"
	"testing"

	"orbweaver/engine/peering/ownership"
	"orbweaver/engine/state/cluster"
	"orbweaver/engine/state/layout"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/store/manifest"
	"orbweaver/engine/traps"
	"orbweaver/engine/traps/novelty"
	"orbweaver/internal/vfs"
)

const front = "crawl/" + layout.FrontierDir

// newCrawl writes the manifest of a new crawl, after change.
func newCrawl(t *testing.T, change func(*manifest.Manifest)) *vfs.Mem {
	t.Helper()
	disk := vfs.NewMem(1)
	if err := disk.MkdirAll(front); err != nil {
		t.Fatal(err)
	}
	saveManifest(t, disk, change)
	return disk
}

func saveManifest(t *testing.T, disk *vfs.Mem, change func(*manifest.Manifest)) {
	t.Helper()
	m, err := manifest.New()
	if err != nil {
		t.Fatal(err)
	}
	change(m)
	if err := manifest.Write(disk, front, m); err != nil {
		t.Fatal(err)
	}
}

// Each reason why a checkpoint cannot be opened is an error of its own.
func TestOpen_saysWhyNot(t *testing.T) {
	disk := newCrawl(t, func(*manifest.Manifest) {})
	c, err := Open(disk, "crawl")
	if err != nil || c.CrawlID == "" || c.ArchiveEnd().Serial != 0 {
		t.Fatalf("a new crawl: %v, %v", c, err)
	}
	if _, err := Open(disk, "other"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no crawl: %v", err)
	}
	name := "crawl/" + layout.ManifestFile
	b, err := vfs.ReadFile(disk, name)
	if err != nil {
		t.Fatal(err)
	}
	for at, want := range map[int]error{len(b) - 2: manifest.ErrDamaged, len("orbweaver-manifest "): manifest.ErrVersion} {
		bad := slices.Clone(b)
		bad[at] ^= 0x40
		f, err := disk.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteAt(bad, 0); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(disk, "crawl"); !errors.Is(err, want) {
			t.Errorf("byte %d is wrong: %v, want %v", at, err, want)
		}
	}
}

// An agent is found by the number of its data: among the members, or among those that were. Data of no agent: damage.
func TestCheckpoint_Cluster_findsTheAgentOfTheData(t *testing.T) {
	a, b := ownership.Agent{ID: "a", Store: 1}, ownership.Agent{ID: "b", Store: 2}
	for _, c := range []struct {
		store uint64
		peers []ownership.Agent
		want  string
		err   error
	}{
		{1, []ownership.Agent{a, b}, "a", nil},
		{2, []ownership.Agent{a}, "b", nil}, // it has left
		{3, []ownership.Agent{a}, "", manifest.ErrDamaged},
	} {
		disk := newCrawl(t, func(m *manifest.Manifest) {
			m.Store = c.store
			m.Peers = &cluster.Checkpoint{Agents: c.peers, EverAll: []ownership.Agent{a, b}, Turns: 2}
		})
		checkpoint, err := Open(disk, "crawl")
		if err != nil {
			t.Fatal(err)
		}
		found, err := checkpoint.Cluster()
		if !errors.Is(err, c.err) || err == nil && (found.Self.ID != c.want || !found.Changed) {
			t.Errorf("data %d: %v, %v", c.store, found, err)
		}
	}
	alone, err := Open(newCrawl(t, func(*manifest.Manifest) {}), "crawl")
	if err != nil {
		t.Fatal(err)
	}
	if found, err := alone.Cluster(); found != nil || err != nil {
		t.Errorf("a crawl alone: %v, %v", found, err)
	}
}

// The skipped URLs of a crawl are listed in order, until the caller has enough.
func TestEachSkipped_listsInOrder(t *testing.T) {
	disk := newCrawl(t, func(*manifest.Manifest) {})
	if err := EachSkipped(disk, "crawl", func(traps.SkippedURL) error { return errors.New("a URL") }); err != nil {
		t.Errorf("a crawl without a list: %v", err)
	}
	list, err := traps.OpenSkipped(disk, front, nil, traps.SkipSettings{})
	if err != nil {
		t.Fatal(err)
	}
	save := func() {
		saved, err := list.Checkpoint(traps.SkipSettings{})
		if err != nil {
			t.Fatal(err)
		}
		saveManifest(t, disk, func(m *manifest.Manifest) { m.Skipped = saved })
	}
	for _, path := range []string{"/1", "/2", "/3"} {
		it := queued.URL{Rest: []byte("http://a.test" + path)}
		if err := list.Add(&it, traps.RulePathRepeats, novelty.Evidence{}); err != nil {
			t.Fatal(err)
		}
	}
	save()
	checkpoint, err := Open(disk, "crawl")
	if err != nil {
		t.Fatal(err)
	}
	if counts, err := checkpoint.CountSkipped(); err != nil || counts[traps.RulePathRepeats] != 3 {
		t.Errorf("%v, %v", counts, err)
	}
	var seen []string
	err = EachSkipped(disk, "crawl", func(s traps.SkippedURL) error {
		seen = append(seen, s.URL)
		return nil
	})
	if err != nil || !slices.Equal(seen, []string{"http://a.test/1", "http://a.test/2", "http://a.test/3"}) {
		t.Errorf("%q, %v", seen, err)
	}
	enough := errors.New("enough")
	if err := EachSkipped(disk, "crawl", func(traps.SkippedURL) error { return enough }); !errors.Is(err, enough) {
		t.Errorf("the caller ends it: %v", err)
	}
	if err := list.Queue.Close(); err != nil {
		t.Error(err)
	}
}

// An item is a URL of its site, a URL by itself, or a hop on the way to a robots.txt; other bytes are no item.
func TestQueuedURL(t *testing.T) {
	item := queued.Append(nil, &queued.URL{Rest: []byte("/x")})
	if url, isRobots, ok := QueuedURL([]byte("> "), []byte("http://a.test"), item); string(url) != "> http://a.test/x" ||
		isRobots || !ok {
		t.Errorf("%q, %v, %v", url, isRobots, ok)
	}
	hop := queued.Append(nil, &queued.URL{Rest: []byte("/r"), RobotsOf: []byte("http://b.test")})
	if _, isRobots, ok := QueuedURL(nil, []byte("http://a.test"), hop); !isRobots || !ok {
		t.Error("a hop to a robots.txt")
	}
	if _, _, ok := QueuedURL(nil, nil, []byte{0xff}); ok {
		t.Error("bytes that are no item")
	}
}
