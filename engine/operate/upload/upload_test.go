package upload

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/engine/state/layout"
	"orbweaver/engine/store/manifest"
	"orbweaver/engine/store/receipts"
	"orbweaver/internal/vfs"
	"orbweaver/internal/vfs/vfstest"
	"orbweaver/warc"
)

// Only files that the checkpoint names to their end are sent: a resume after a power cut may still change the others.
func TestUploads_UL1_sendFilesBehindTheCheckpoint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrawl(t)
		c.closeFile(0, 1000)
		c.closeFile(1, 500)
		c.closeFile(2, 700)
		vfstest.WriteAll(t, c.disk, "crawl/warc/"+warcName(3)+".open", make([]byte, 10))
		c.checkpoint(1, 500)
		store := &fakeReceiver{}
		u := c.start(store)
		synctest.Wait()
		if got := store.files(); !slices.Equal(got, []string{warcName(0), warcName(1)}) {
			t.Errorf("sent %v", got)
		}
		c.checkpoint(2, 700)
		time.Sleep(scanEvery)
		synctest.Wait()
		if got := store.files(); len(got) != 3 {
			t.Errorf("after the next checkpoint: sent %v", got)
		}
		if left := u.Finish(t.Context()); left != 0 {
			t.Errorf("%d files are left", left)
		}
	})
}

// A file that was sent without a receipt is sent again by the next run, and no other.
func TestUploads_UL2_sendAgainWhatHasNoReceipt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrawl(t)
		c.closeFile(0, 1000)
		c.closeFile(1, 1000)
		c.checkpoint(1, 1000)
		first := &fakeReceiver{hang: warcName(1)}
		u := c.start(first)
		synctest.Wait()
		u.Stop() // a kill: the second file is on its way

		second := &fakeReceiver{}
		u = c.start(second)
		if left := u.Finish(t.Context()); left != 0 {
			t.Errorf("%d files are left", left)
		}
		if got := second.files(); !slices.Equal(got, []string{warcName(1)}) {
			t.Errorf("the second run has sent %v", got)
		}
		third := &fakeReceiver{target: "elsewhere"}
		c.start(third).Finish(t.Context())
		if got := third.files(); len(got) != 2 {
			t.Errorf("a new target has got %v", got)
		}
	})
}

// A receiver that is down for a week is tried every two minutes. Then it gets everything, and the log has few lines.
func TestUploads_UL4_waitForAReceiverThatIsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrawl(t)
		for serial := range uint32(5) {
			c.closeFile(serial, 1000)
		}
		c.checkpoint(4, 1000)
		store := &fakeReceiver{err: errors.New("connection refused")}
		u := c.start(store)
		time.Sleep(7 * 24 * time.Hour)
		stats := u.Stats()
		if n := stats.Waiting["store"]; n != 5 {
			t.Errorf("%d files wait", n)
		}
		if n := stats.Failures["store"]; n < 5000 || n > 5100 {
			t.Errorf("%d tries in a week, want one in two minutes", n)
		}
		if got := stats.Trouble(); !strings.Contains(got, "upload target (--upload) has taken no WARC file for 168h") ||
			!strings.Contains(got, "5 files (0 MiB) wait") || stats.Errors["store"] != "connection refused" {
			t.Errorf("trouble: %q, errors %v", got, stats.Errors)
		}
		if n := strings.Count(c.log.String(), "could not be sent"); n < 500 || n > 1010 {
			t.Errorf("%d lines in the log", n)
		}
		store.set(nil)
		time.Sleep(retryMost + scanEvery)
		synctest.Wait()
		if stats := u.Stats(); stats.Waiting["store"] != 0 || stats.Files["store"] != 5 || stats.Trouble() != "" {
			t.Errorf("when it is back: %+v", stats)
		}
		if !strings.Contains(c.log.String(), "files are sent again") {
			t.Error("the log does not say that it is back")
		}
		u.Finish(t.Context())
	})
}

// A receiver that refuses everything is tried again while the crawl runs: the operator may act. The report says so at
// once. At the end of the crawl each file has one more try, and nothing waits.
func TestUploads_doNotWaitForWhatIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrawl(t)
		for serial := range uint32(100) {
			c.closeFile(serial, 1000)
		}
		c.checkpoint(99, 1000)
		refusal := &RefusedError{Reason: "NoSuchBucket", All: true, Err: errors.New("no such bucket")}
		store := &fakeReceiver{err: refusal}
		u := c.start(store)
		synctest.Wait()
		if got := u.Stats().Trouble(); !strings.Contains(got, "refuses WARC files (NoSuchBucket): 100 files (0 MiB) wait") {
			t.Errorf("trouble: %q", got)
		}
		time.Sleep(time.Hour)
		store.set(nil)
		time.Sleep(retryMost + scanEvery)
		if n := u.Stats().Files["store"]; n != 100 {
			t.Errorf("when the bucket is there: %d files are sent", n)
		}
		c.closeFile(100, 1000)
		c.closeFile(101, 1000)
		c.checkpoint(101, 1000)
		store.set(refusal)
		began := time.Now()
		if left := u.Finish(t.Context()); left != 2 || time.Since(began) > time.Minute {
			t.Errorf("%d files are left after %v", left, time.Since(began))
		}
	})
}

// A file that a receiver refuses does not hold up the others.
func TestUploads_sendOthersPastARefusedFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrawl(t)
		for serial := range uint32(4) {
			c.closeFile(serial, 1000)
		}
		c.checkpoint(3, 1000)
		command := &fakeReceiver{name: Command, refuse: warcName(0)}
		u := c.start(command)
		time.Sleep(3 * time.Second)
		if got := command.files(); len(got) != 3 {
			t.Errorf("after 3 s: sent %v", got)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if left := u.Finish(ctx); left != 1 {
			t.Errorf("%d files are left", left)
		}
	})
}

// A receipt that a disk fault has damaged does not count. A file that has another length than its receipt was rebuilt.
func TestUploads_doNotTrustABadReceipt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrawl(t)
		c.closeFile(0, 1000)
		c.closeFile(1, 1000)
		c.checkpoint(1, 1000)
		c.start(&fakeReceiver{}).Finish(t.Context())
		vfstest.WriteAll(t, c.disk, "crawl/uploads/store/"+warcName(0)+".json", []byte(`{"format":1,"fi`))
		c.closeFile(1, 900)
		again := &fakeReceiver{}
		c.start(again).Finish(t.Context())
		if got := again.files(); len(got) != 2 {
			t.Errorf("sent again: %v", got)
		}
	})
}

// testCrawl is a crawl directory in memory.
type testCrawl struct {
	t    *testing.T
	disk vfs.FS
	log  lockedBuffer
}

func newCrawl(t *testing.T) *testCrawl {
	t.Helper()
	c := &testCrawl{t: t, disk: vfs.NewMem(1)}
	for _, dir := range []string{layout.ArchiveDir, layout.FrontierDir} {
		if err := c.disk.MkdirAll("crawl/" + dir); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

func warcName(serial uint32) string {
	return fmt.Sprintf("test-20260101000000000-%05d-host.warc.gz", serial)
}

func (c *testCrawl) closeFile(serial uint32, length int) {
	vfstest.WriteAll(c.t, c.disk, "crawl/warc/"+warcName(serial), bytes.Repeat([]byte{byte(serial)}, length))
}

func (c *testCrawl) checkpoint(serial uint32, length int64) {
	c.t.Helper()
	m, err := manifest.New()
	if err != nil {
		c.t.Fatal(err)
	}
	m.Archive = &warc.Checkpoint{Serial: serial, Length: length}
	if err := manifest.Write(c.disk, "crawl/frontier", m); err != nil {
		c.t.Fatal(err)
	}
}

func (c *testCrawl) start(to Receiver) *Uploads {
	c.t.Helper()
	u, err := c.tryStart(Keep, to)
	if err != nil {
		c.t.Fatal(err)
	}
	return u
}

func (c *testCrawl) tryStart(then Then, to ...Receiver) (*Uploads, error) {
	p := Parts{FS: c.disk, Dir: "crawl", Log: slog.New(slog.NewTextHandler(&c.log, nil)), Then: then}
	for _, one := range to {
		p.To = append(p.To, Outlet{Receiver: one})
	}
	return Start(c.t.Context(), p)
}

// fakeReceiver takes files, or fails as it is told.
type fakeReceiver struct {
	name, target string
	hang         string // a file that is never finished
	refuse       string // a file that always fails

	mu  sync.Mutex
	err error
	got []string
}

func (r *fakeReceiver) Name() string {
	if r.name != "" {
		return r.name
	}
	return Store
}

func (r *fakeReceiver) Target() string { return r.target }

func (r *fakeReceiver) Send(ctx context.Context, f *File) (receipts.Receipt, error) {
	if f.Name == r.hang {
		<-ctx.Done()
		return receipts.Receipt{}, ctx.Err()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if f.Name == r.refuse {
		return receipts.Receipt{}, errors.New("refused")
	}
	if r.err == nil {
		r.got = append(r.got, f.Name)
	}
	return receipts.Receipt{}, r.err
}

func (r *fakeReceiver) set(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err = err
}

func (r *fakeReceiver) files() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.got)
}

// lockedBuffer is a log.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
