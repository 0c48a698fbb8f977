package upload

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/engine/state/layout"
	"orbweaver/engine/store/receipts"
	"orbweaver/internal/vfs"
	"orbweaver/internal/vfs/faultfs"
	"orbweaver/internal/vfs/vfstest"
	"orbweaver/warc"
	"orbweaver/warc/fixity"
)

// A sent file is removed, and its index stays. The last file stays, since a resume may continue behind it. Through a
// receipts.Disk the removed files are still listed, and opening one says where it is.
func TestRemoval_UL5_removesWhatTheStoreHas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrawl(t)
		c.closeListed(0, 1, 2)
		c.checkpoint(2, fileBytes)
		store := newFakeStore()
		u := c.startDeleting(store)
		if left := u.Finish(t.Context()); left != 0 {
			t.Errorf("%d files are left", left)
		}
		c.wantHere(2)
		if n := u.Stats().RemovedFiles[Store]; n != 2 || u.Removed() != 2*fileBytes || u.Freeing() != 0 {
			t.Errorf("%d files removed, %d bytes, %d still to free", n, u.Removed(), u.Freeing())
		}
		over := receipts.Over(c.disk)
		files, err := warc.Files(over, "crawl/warc")
		if err != nil || len(files) != 3 {
			t.Fatalf("%v, %v", files, err)
		}
		if size, err := over.Size("crawl/warc/" + warcName(0)); err != nil || size != fileBytes {
			t.Errorf("%d bytes, %v", size, err)
		}
		_, err = over.Open("crawl/warc/" + warcName(0))
		if !errors.Is(err, vfs.ErrElsewhere) || !strings.Contains(err.Error(), "s3://bucket/"+warcName(0)) ||
			!strings.Contains(err.Error(), "orbweaver upload --fetch-back crawl") {
			t.Errorf("opening a removed file: %v", err)
		}
		if _, err := over.Size("crawl/warc/" + indexName(0)); err != nil {
			t.Errorf("the index: %v", err)
		}
	})
}

// Nothing is removed that a resume may need: the checkpoint still ends in the second of three files.
func TestRemoval_UL5_keepsWhatAResumeNeeds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrawl(t)
		c.closeListed(0, 1, 2)
		c.checkpoint(1, fileBytes)
		store := newFakeStore()
		store.mu.Lock() // it takes nothing yet
		u := c.startDeleting(store)
		if u.Freeing() != 2*fileBytes {
			t.Errorf("%d bytes to free before anything was sent", u.Freeing())
		}
		store.mu.Unlock()
		time.Sleep(time.Minute)
		c.wantHere(1, 2)
		if u.Freeing() != fileBytes {
			t.Errorf("%d bytes to free", u.Freeing())
		}
		c.checkpoint(2, fileBytes)
		time.Sleep(2 * scanEvery)
		c.wantHere(2)
		u.Finish(t.Context())
	})
}

// A file stays until the command has it, too.
func TestRemoval_UL5_waitsForAllReceivers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrawl(t)
		c.closeListed(0, 1)
		c.checkpoint(1, fileBytes)
		command := &fakeReceiver{name: Command, err: errors.New("no tape")}
		u := c.startDeleting(newFakeStore(), command)
		time.Sleep(time.Hour)
		c.wantHere(0, 1)
		command.set(nil)
		u.Finish(t.Context())
		c.wantHere(1)
	})
}

// A file that the disk has damaged since it was closed is neither sent nor removed, and the others are.
func TestRemoval_UL6_leavesDamagedFilesAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrawl(t)
		c.closeListed(0, 1, 2)
		c.checkpoint(2, fileBytes)
		vfstest.WriteAll(t, c.disk, "crawl/warc/"+warcName(0), make([]byte, fileBytes))
		store := newFakeStore()
		u := c.startDeleting(store)
		u.Finish(t.Context())
		c.wantHere(0, 2)
		if got := store.names(); !slices.Equal(got, []string{warcName(1), warcName(2)}) {
			t.Errorf("sent %v", got)
		}
		if got := u.Stats().Trouble(); got != "1 WARC file not sent: damaged on the disk, see the log and fsck" {
			t.Errorf("trouble: %q", got)
		}
		if !strings.Contains(c.log.String(), "was damaged on the disk since it was closed") {
			t.Error("the log does not say so")
		}
	})
}

// A file that was damaged before an earlier run has sent it is not removed: its object has the damage. The same is true
// of a file without a line in the manifest, and of one without an index.
func TestRemoval_UL6_comparesReceiptsWithTheManifest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrawl(t)
		c.closeListed(0, 1, 2, 3)
		c.checkpoint(3, fileBytes)
		store := newFakeStore()
		c.start(store).Finish(t.Context()) // and keeps all
		m := c.manifest()
		if err := errors.Join(m.FileClosed(fixity.File{Name: warcName(0), Bytes: fileBytes}),
			m.FileReopened(warcName(1)), c.disk.Remove("crawl/warc/"+indexName(2))); err != nil {
			t.Fatal(err)
		}
		c.startDeleting(store).Finish(t.Context())
		c.wantHere(0, 1, 2, 3)
		for _, why := range []string{"not what its line in the manifest says", "no line in the manifest", "no index"} {
			if n := strings.Count(c.log.String(), why); n != 1 {
				t.Errorf("the log says %q %d times", why, n)
			}
		}
	})
}

// The bucket has lost an object since it was sent. The file is still here, so it is sent again before it is removed.
func TestRemoval_UL5_sendsALostObjectAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrawl(t)
		c.closeListed(0, 1)
		c.checkpoint(1, fileBytes)
		store := newFakeStore()
		c.start(store).Finish(t.Context())
		store.put(warcName(0), []byte("another"))
		c.startDeleting(store).Finish(t.Context())
		c.wantHere(1)
		store.wantObject(t, 0)
	})
}

// The disk is full when the store is back. The receipt takes the reserved room, and the file that is
// removed then makes room for the next.
func TestRemoval_makesRoomOnAFullDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrawl(t)
		c.closeListed(0, 1, 2)
		c.checkpoint(2, fileBytes)
		store := newFakeStore()
		store.fail(errors.New("connection refused"))
		script := faultfs.NewScript()
		c.disk = faultfs.New(c.disk, script)
		u := c.startDeleting(store)
		time.Sleep(time.Hour)
		script.Add(faultfs.Rule{Op: faultfs.Remove, Name: "reserve", Count: 1, Then: func(string) { script.Clear() }})
		script.Add(faultfs.Rule{Op: faultfs.Space, Err: syscall.ENOSPC})
		store.fail(nil)
		u.Finish(t.Context())
		c.wantHere(2)
		if _, err := c.disk.Size("crawl/uploads/store/reserve"); err != nil {
			t.Errorf("the reserve is not made again: %v", err)
		}
	})
}

// The process is killed, or the power fails, at each call of the disk in turn. Afterwards each file is whole, here or
// in the store with a receipt; and the next run brings all to its end.
func TestRemoval_UL5_survivesAKillAtEachCall(t *testing.T) {
	calls := 0
	for n := 0; n <= calls; n++ {
		for _, power := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				c := newCrawl(t)
				c.closeListed(0, 1, 2)
				c.checkpoint(2, fileBytes)
				for _, dir := range []string{".", "crawl", "crawl/warc", "crawl/frontier"} {
					if err := c.disk.SyncDir(dir); err != nil {
						t.Fatal(err)
					}
				}
				mem := c.disk.(*vfs.Mem)
				script := faultfs.NewScript()
				if n > 0 { // the first run counts the calls
					script.Add(faultfs.Rule{From: n, Err: errKilled})
				}
				store := newFakeStore()
				c.disk = faultfs.New(mem, script)
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				if u, err := c.tryStart(Delete, store); err == nil {
					u.Finish(ctx)
				}
				if n == 0 {
					calls = script.Calls(faultfs.Any)
				}
				c.disk = mem.KillClone()
				if power {
					c.disk = mem.CrashClone(rand.New(rand.NewPCG(uint64(n), 1)))
				}
				c.wantAllSomewhere(store, n, power)
				c.startDeleting(store).Finish(t.Context())
				c.wantHere(2)
				c.wantAllSomewhere(store, n, power)
			})
			if t.Failed() {
				return
			}
		}
	}
	if calls < 60 {
		t.Errorf("only %d calls were tried", calls)
	}
}

// Many files that can be removed at once cost one read of the manifest.
func TestRemoval_readsTheManifestOnceARound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrawl(t)
		for serial := range uint32(20) {
			c.closeListed(serial)
		}
		c.checkpoint(19, fileBytes)
		store := newFakeStore()
		c.start(store).Finish(t.Context()) // and keeps all
		opens := &manifestOpens{FS: c.disk}
		c.disk = opens
		c.startDeleting(store).Finish(t.Context())
		c.wantHere(19)
		if n := opens.count.Load(); n != 1 {
			t.Errorf("the manifest was read %d times for 19 files", n)
		}
	})
}

// manifestOpens counts how often the manifest of the archive is opened.
type manifestOpens struct {
	vfs.FS

	count atomic.Int64
}

func (m *manifestOpens) Open(name string) (vfs.File, error) {
	if strings.HasSuffix(name, fixity.ManifestName) {
		m.count.Add(1)
	}
	return m.FS.Open(name)
}

var errKilled = errors.New("killed")

const fileBytes = 1000

func indexName(serial uint32) string { return warc.IndexName(warcName(serial)) }

func content(serial uint32) []byte {
	return slices.Repeat([]byte{byte(serial + 1)}, fileBytes)
}

// closeListed makes files with their indexes and their lines in the manifest, all durable.
func (c *testCrawl) closeListed(serials ...uint32) {
	c.t.Helper()
	m := c.manifest()
	for _, serial := range serials {
		for name, text := range map[string][]byte{warcName(serial): content(serial), indexName(serial): []byte("index")} {
			err := vfs.WriteAtomic(c.disk, "crawl/warc/"+name, func(w io.Writer) error { _, err := w.Write(text); return err })
			if err != nil {
				c.t.Fatal(err)
			}
		}
		err := m.FileClosed(fixity.File{Name: warcName(serial), Bytes: fileBytes, SHA256: sha256.Sum256(content(serial))})
		if err != nil {
			c.t.Fatal(err)
		}
	}
}

func (c *testCrawl) manifest() *fixity.Manifest {
	c.t.Helper()
	m, err := fixity.Open(c.disk, "crawl/"+layout.ArchiveDir, 0)
	if err != nil {
		c.t.Fatal(err)
	}
	return m
}

// wantHere checks which WARC files are on the disk.
func (c *testCrawl) wantHere(serials ...uint32) {
	c.t.Helper()
	files, err := warc.Files(c.disk, "crawl/warc")
	if err != nil {
		c.t.Fatal(err)
	}
	var got []uint32
	for _, f := range files {
		got = append(got, f.Serial)
	}
	if !slices.Equal(got, serials) {
		c.t.Errorf("the files %v are here, want %v", got, serials)
	}
}

// wantAllSomewhere checks that each file is whole here, or has a receipt and its object.
func (c *testCrawl) wantAllSomewhere(store *fakeStore, n int, power bool) {
	c.t.Helper()
	removed, err := receipts.Removed(c.disk, "crawl")
	if err != nil {
		c.t.Fatal(err)
	}
	for serial := range uint32(3) {
		text, err := vfs.ReadFile(c.disk, "crawl/warc/"+warcName(serial))
		isHere := err == nil && slices.Equal(text, content(serial))
		isAway := slices.ContainsFunc(removed, func(r receipts.Receipt) bool {
			sum := sha256.Sum256(store.object(warcName(serial)))
			return r.File == warcName(serial) && r.SHA256 == hex.EncodeToString(sum[:])
		}) && slices.Equal(store.object(warcName(serial)), content(serial))
		if !isHere && !isAway {
			c.t.Errorf("call %d, power %v: file %d is lost: %d bytes, %v", n, power, serial, len(text), err)
		}
		if _, err := c.disk.Size("crawl/warc/" + indexName(serial)); err != nil {
			c.t.Errorf("call %d, power %v: index %d: %v", n, power, serial, err)
		}
	}
}

func (c *testCrawl) startDeleting(to ...Receiver) *Uploads {
	c.t.Helper()
	u, err := c.tryStart(Delete, to...)
	if err != nil {
		c.t.Fatal(err)
	}
	return u
}

// fakeStore is a bucket in memory.
type fakeStore struct {
	fakeReceiver

	objects map[string][]byte
}

func newFakeStore() *fakeStore { return &fakeStore{objects: map[string][]byte{}} }

func (s *fakeStore) Send(_ context.Context, f *File) (r receipts.Receipt, err error) {
	text, err := vfs.ReadFile(f.FS, f.Path())
	if err != nil {
		return r, err
	}
	sum := sha256.Sum256(text)
	r.SHA256, r.Object, r.Verified = hex.EncodeToString(sum[:]), "s3://bucket/"+f.Name, "md5"
	if f.SHA256 != "" && f.SHA256 != r.SHA256 {
		return r, ErrDamaged
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return r, s.err
	}
	s.objects[f.Name] = text
	return r, nil
}

func (s *fakeStore) Confirm(_ context.Context, f *File, r *receipts.Receipt) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if sum := sha256.Sum256(s.objects[f.Name]); hex.EncodeToString(sum[:]) != r.SHA256 {
		return fmt.Errorf("%s: %w", f.Name, ErrLost)
	}
	return s.err
}

func (s *fakeStore) fail(err error) { s.set(err) }

func (s *fakeStore) put(name string, text []byte) { s.objects[name] = text }

func (s *fakeStore) object(name string) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.objects[name]
}

func (s *fakeStore) names() (all []string) {
	for name := range s.objects {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

func (s *fakeStore) wantObject(t *testing.T, serial uint32) {
	t.Helper()
	if !slices.Equal(s.object(warcName(serial)), content(serial)) {
		t.Errorf("the object of file %d differs", serial)
	}
}
