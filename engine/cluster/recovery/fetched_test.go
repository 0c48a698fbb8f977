package recovery

import (
	"fmt"
	"testing"

	"orbweaver/engine/records/dedup"
	"orbweaver/engine/state/cluster"
	"orbweaver/internal/urlx"
	"orbweaver/internal/vfs"
)

const (
	self     = "a1/0000000000000001"
	ownSeed  = 7
	leftSeed = 9
)

var left = cluster.FetchedList{Seed: leftSeed, Instance: "a2/0000000000000002"}

func openFetched(t *testing.T, fsys vfs.FS, at *dedup.Checkpoint) *FetchedURLs {
	t.Helper()
	f, err := OpenFetched(fsys, "d", 1<<16, 1<<12, at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

func url(n int) []byte { return fmt.Appendf(nil, "http://a.test/%d", n) }

// digest is a fingerprint as messages and keys have it.
func digest(seed uint64, n int) []byte {
	key := Key(urlx.Fingerprint(seed, url(n)))
	return key[:16]
}

func wantHolder(t *testing.T, f *FetchedURLs, n int, want string) {
	t.Helper()
	if got, err := f.HolderOf(ownSeed, self, url(n)); err != nil || got != want {
		t.Errorf("the holder of URL %d is %q, %v; want %q", n, got, err, want)
	}
}

// Each URL has the holder that told of it: this agent, or one whose list it inherited, which hashed with another seed.
func TestFetchedURLs_knowTheHolder(t *testing.T) {
	f := openFetched(t, vfs.NewMem(1), nil)
	f.Add(urlx.Fingerprint(ownSeed, url(1)))
	f.Inherit(left, append(digest(leftSeed, 2), digest(leftSeed, 3)...))
	f.Inherit(left, digest(leftSeed, 4)) // the second part of the same list
	if lists := f.Lists(); len(lists) != 1 || lists[0] != left {
		t.Errorf("the lists are %v", lists)
	}
	for n, want := range map[int]string{1: self, 2: left.Instance, 3: left.Instance, 4: left.Instance, 5: ""} {
		wantHolder(t, f, n, want)
	}
	f.Disown(left.Instance) // it died before it had left
	wantHolder(t, f, 1, self)
	wantHolder(t, f, 2, "")
}

// A walk in small steps gives each key once, with its list. Keys of a disowned list are left out.
func TestFetchedURLs_walk(t *testing.T) {
	f := openFetched(t, vfs.NewMem(1), nil)
	own := cluster.FetchedList{Seed: ownSeed, Instance: self}
	for n := range 100 {
		f.Add(urlx.Fingerprint(ownSeed, url(n)))
	}
	f.Inherit(left, digest(leftSeed, 1))
	walk := func() map[cluster.FetchedList]int {
		counts, keys := make(map[cluster.FetchedList]int), make(map[dedup.Digest]bool)
		for from, over := int64(0), false; !over; {
			var err error
			if from, over, err = f.Walk(own, from, 8, func(of cluster.FetchedList, key dedup.Digest) {
				if keys[key] || IsOwnKey(key) != (of == own) {
					t.Errorf("key %x of %v: twice, or of the wrong list", key, of)
				}
				keys[key] = true
				counts[of]++
			}); err != nil {
				t.Fatal(err)
			}
		}
		return counts
	}
	if counts := walk(); counts[own] != 100 || counts[left] != 1 {
		t.Errorf("the walk gave %v", counts)
	}
	f.Disown(left.Instance)
	if counts := walk(); counts[own] != 100 || len(counts) != 1 {
		t.Errorf("without the list of the other agent the walk gave %v", counts)
	}
}

// What a checkpoint marks is there when it is opened again, with the lists.
func TestFetchedURLs_checkpoint(t *testing.T) {
	fsys := vfs.NewMem(1)
	f := openFetched(t, fsys, nil)
	f.Add(urlx.Fingerprint(ownSeed, url(1)))
	f.Inherit(left, digest(leftSeed, 2))
	at, err := f.Checkpoint()
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = f.Release(at)
	}
	if err != nil {
		t.Fatal(err)
	}
	again := openFetched(t, fsys, &at)
	wantHolder(t, again, 1, self)
	wantHolder(t, again, 2, "") // no list counts yet
	again.RestoreLists(f.Lists())
	wantHolder(t, again, 2, left.Instance)
}
