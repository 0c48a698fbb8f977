//go:build scenario

package storage

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/engine/operate/upload"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/engine/state/limits"
	"orbweaver/engine/store/receipts"
	"orbweaver/internal/vfs"
	"orbweaver/internal/vfs/vfstest"
	"orbweaver/warc"
)

// The object store is down for a week, and the archive has more bytes than may be on the disk. The crawl pauses and
// says why. When the store is back it goes on by itself to its end: files are sent and removed, and each page is stored
// once.
func TestUpload_aStoreThatIsDownForAWeekPausesTheCrawl(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		world := fewSites(*testbed.FirstSeed + 960)
		world.PageBytesMean = 60000
		rig := testbed.MustRig(t, world, false)
		cfg := rig.Config()
		cfg.Archive.SizeMax, cfg.Archive.Compression, cfg.Archive.JournalReserve = 256<<10, warc.None, 64<<10
		// A week has twelve million times 50 ms.
		cfg.Intervals.Sync, cfg.Intervals.Report, cfg.Intervals.Checkpoint = 10*time.Second, time.Minute, 10*time.Minute
		store := &memoryStore{objects: map[string][]byte{}, err: errors.New("connection refused")}
		sent := new(sentLater)
		seams := rig.Seams(rig.FS)
		seams.Uploads = sent
		e, err := engine.Open(cfg, seams)
		if err != nil {
			t.Fatal(err)
		}
		u, err := upload.Start(t.Context(), upload.Parts{
			FS: rig.FS, Dir: cfg.Dir, Log: slog.New(slog.DiscardHandler), To: []upload.Outlet{{Receiver: store}},
			Then: upload.Delete,
		})
		if err != nil {
			t.Fatal(err)
		}
		sent.Store(u)
		done := make(chan error, 1)
		go func() { done <- e.Run(t.Context()) }()
		testbed.Wait(time.Minute) // until the frontier has its files
		other, err := limits.DiskUse(rig.FS, cfg.Dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := testbed.Set(t, e, "max-disk", strconv.FormatInt(other+(12<<20), 10)); err != nil {
			t.Fatal(err)
		}
		testbed.Wait(7 * 24 * time.Hour)
		r := e.Report()
		if r.State != lifecycle.Paused || !strings.Contains(r.Waiting, "--max-disk is reached; the crawl goes on when") ||
			!strings.Contains(r.Waiting, "the upload target (--upload) has taken no WARC file for 16") {
			t.Errorf("after a week: %s, waiting for %s", r.State, r.Waiting)
		}
		inAWeek := r.PagesStored
		store.fail(nil)
		r = testbed.WaitEnd(t, rig, e, done)
		if left := u.Finish(t.Context()); left != 0 {
			t.Errorf("%d files are left", left)
		}
		if r.State != lifecycle.Finished || r.Reason != lifecycle.ReasonComplete || r.PagesStored <= inAWeek {
			t.Errorf("%s: %s; %d pages, %d of them in the week", r.State, r.Reason, r.PagesStored, inAWeek)
		}
		files, err := warc.Files(rig.FS, cfg.Dir+"/warc")
		if err != nil || len(files) != 1 {
			t.Errorf("%d WARC files are here, %v", len(files), err)
		}
		store.putBack(t, rig.FS, cfg.Dir)
		testbed.JudgeSound(t, rig, cfg, testbed.Promise(cfg))
	})
}

// sentLater are Uploads that start when the engine is open.
type sentLater struct{ atomic.Pointer[upload.Uploads] }

func (s *sentLater) Stats() *upload.Stats {
	if u := s.Load(); u != nil {
		return u.Stats()
	}
	return nil
}

func (s *sentLater) Removed() int64 {
	if u := s.Load(); u != nil {
		return u.Removed()
	}
	return 0
}

func (s *sentLater) Freeing() int64 {
	if u := s.Load(); u != nil {
		return u.Freeing()
	}
	return 0
}

func (*sentLater) Objects() receipts.Objects { return receipts.NoObjects{} }

func (*sentLater) Ending() string { return "" }

// memoryStore is a bucket that may be down.
type memoryStore struct {
	mu      sync.Mutex
	objects map[string][]byte
	err     error
}

func (*memoryStore) Name() string   { return upload.Store }
func (*memoryStore) Target() string { return "memory" }

func (s *memoryStore) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
}

func (s *memoryStore) Send(_ context.Context, f *upload.File) (r receipts.Receipt, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return r, s.err
	}
	text, err := vfs.ReadFile(f.FS, f.Path())
	sum := sha256.Sum256(text)
	s.objects[f.Name] = text
	return receipts.Receipt{SHA256: hex.EncodeToString(sum[:]), Verified: "md5", Object: "s3://memory/" + f.Name}, err
}

func (s *memoryStore) Confirm(context.Context, *upload.File, *receipts.Receipt) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// putBack brings the removed files back.
func (s *memoryStore) putBack(t *testing.T, fsys vfs.FS, dir string) {
	t.Helper()
	removed, err := receipts.Removed(fsys, dir)
	if err != nil || len(removed) == 0 {
		t.Fatalf("%d files were removed, %v", len(removed), err)
	}
	for i := range removed {
		vfstest.WriteAll(t, fsys, dir+"/warc/"+removed[i].File, s.objects[removed[i].File])
	}
}
