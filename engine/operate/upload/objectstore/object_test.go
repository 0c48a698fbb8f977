package objectstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"orbweaver/engine/store/receipts"
	"orbweaver/internal/vfs"
	"orbweaver/internal/vfs/vfstest"
)

// A part of a removed file comes with one request of exactly its length, and reading it in pieces makes no more. A read
// at another place makes another request.
func TestOpen_readsAPartWithOneRequest(t *testing.T) {
	for _, length := range []int{1000, 150 << 10} {
		r := newRemoved(t, length)
		f, err := vfs.OpenRange(r.disk(), r.path, 100, 300)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(io.NewSectionReader(f, 100, 1<<40))
		if err != nil || !bytes.Equal(got, r.want[100:400]) {
			t.Errorf("%d bytes, %v", len(got), err)
		}
		if size, err := f.Size(); err != nil || size != int64(length) {
			t.Errorf("a file of %d bytes, %v", size, err)
		}
		r.wantRequests("bytes=100-399")
		if _, err := f.ReadAt(got[:50], 350); err != nil || !bytes.Equal(got[:50], r.want[350:400]) {
			t.Error("a read at another place", err)
		}
		r.wantRequests("bytes=100-399", "bytes=350-399")
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A whole file comes once and in order, and has the digest of its receipt. Without permission it does not come at all.
func TestOpen_readsAWholeFileOnce(t *testing.T) {
	r := newRemoved(t, 150<<10)
	f, err := r.disk().Open(r.path)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(f)
	if err != nil || !bytes.Equal(got, r.want) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	r.wantRequests(fmt.Sprintf("bytes=0-%d", len(r.want)-1))
	if _, err := f.ReadAt(got[:10], 5); err == nil {
		t.Error("a whole file was read out of order")
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	records := receipts.Over(r.bucket.disk).ReadRecords(r)
	if _, err := records.Open(r.path); !isElsewhere(err) {
		t.Errorf("a whole file although only records may be read: %v", err)
	}
	if _, err := vfs.OpenRange(receipts.Over(r.bucket.disk), r.path, 0, 10); !isElsewhere(err) {
		t.Errorf("a part although nothing may be read: %v", err)
	}
}

// A connection breaks in the middle: the rest is requested. A store that sends nothing more is given up.
func TestOpen_asksForTheRest(t *testing.T) {
	r := newRemoved(t, 150<<10)
	r.bucket.fail(r.cutting(40<<10, 2))
	f, err := r.disk().Open(r.path)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(f)
	if err = errors.Join(err, f.Close()); err != nil || !bytes.Equal(got, r.want) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	r.wantRequests("bytes=0-153599", "bytes=40960-153599", "bytes=81920-153599")

	r.mu.Lock()
	r.requests = nil
	r.mu.Unlock()
	r.bucket.fail(r.cutting(0, 1000))
	f, err = r.disk().Open(r.path)
	if err == nil {
		_, err = io.ReadAll(f)
		_ = f.Close()
	}
	if err == nil || !strings.Contains(err.Error(), "the answer of the store ended at byte 0 of 153600") {
		t.Errorf("a store that sends nothing: %v", err)
	}
	r.wantRequests("bytes=0-153599")
}

// Whatever is wrong with the store, the error names the object, the cause and the remedy, and the file is not complete.
func TestOpen_saysWhatIsWrong(t *testing.T) {
	for name, c := range readFaults() {
		t.Run(name, func(t *testing.T) {
			r := newRemoved(t, 1000)
			c.fault(r)
			f, err := r.disk().Open(r.path)
			r.wantFault(f, err, 0, c.whole)
			f, err = vfs.OpenRange(r.disk(), r.path, 400, 600)
			r.wantFault(f, err, 400, c.record)
		})
	}
}

// readFault is a fault of a store, and what the errors say; "" for none.
type readFault struct {
	fault         func(r *removed)
	whole, record string
}

func readFaults() map[string]readFault {
	status := func(code int, word string) func(r *removed) {
		return func(r *removed) {
			r.bucket.fail(func(w http.ResponseWriter, _ *http.Request) bool {
				w.WriteHeader(code)
				_, _ = io.WriteString(w, "<Error><Code>"+word+"</Code><Message>no</Message></Error>")
				return true
			})
		}
	}
	same := func(fault func(r *removed), want string) readFault { return readFault{fault, want, want} }
	return map[string]readFault{
		"store down":          same(func(r *removed) { r.bucket.server.Close() }, "connection refused"),
		"object missing":      same(status(http.StatusNotFound, "NoSuchKey"), "the object is missing: NoSuchKey"),
		"credentials refused": same(status(http.StatusForbidden, "InvalidAccessKeyId"), "InvalidAccessKeyId, status 403"),
		"store in trouble":    same(status(http.StatusServiceUnavailable, "SlowDown"), "SlowDown, status 503"),
		"object shorter": same(func(r *removed) { r.bucket.putObject(r.key, r.want[:500]) },
			"the object differs from the file: it has 500 bytes, not 1000"),
		"object longer": same(func(r *removed) { r.bucket.putObject(r.key, append(r.want, 0)) },
			"the object differs from the file: it has 1001 bytes, not 1000"),
		"object much shorter": {
			func(r *removed) { r.bucket.putObject(r.key, r.want[:100]) },
			"it has 100 bytes, not 1000", "the object differs from the file: it is shorter",
		},
		"other content": same(func(r *removed) { r.bucket.putObject(r.key, make([]byte, 1000)) }, "it was replaced"),
		"silent store": same(func(r *removed) {
			r.bucket.patience = 50 * time.Millisecond
			r.bucket.fail(func(_ http.ResponseWriter, q *http.Request) bool {
				<-q.Context().Done()
				return true
			})
		}, "no progress for 50ms"),
		"silent after some bytes": same(func(r *removed) {
			r.bucket.patience = 50 * time.Millisecond
			r.bucket.fail(func(w http.ResponseWriter, q *http.Request) bool {
				from := r.begin(w, q)
				_, _ = w.Write(r.want[from : from+10])
				w.(http.Flusher).Flush()
				<-q.Context().Done()
				return true
			})
		}, "no progress for 50ms"),
		"a store without ranges": {func(r *removed) {
			r.bucket.fail(func(_ http.ResponseWriter, q *http.Request) bool {
				q.Header.Del("Range")
				return false
			})
		}, "", "the store sent no range from byte 400"},
	}
}

// wantFault reads a file, or says why it was not opened. The error must have some words.
func (r *removed) wantFault(f vfs.File, err error, offset int64, want string) {
	r.t.Helper()
	if err == nil {
		_, err = io.ReadAll(io.NewSectionReader(f, offset, 1000))
		_ = f.Close()
	}
	if want == "" {
		if err != nil {
			r.t.Error(err)
		}
		return
	}
	if !errors.Is(err, vfs.ErrElsewhere) {
		r.t.Fatal(err)
	}
	for _, text := range []string{"s3://bucket/crawls/one/" + warcName, want, "'orbweaver upload --fetch-back crawl'"} {
		if !strings.Contains(err.Error(), text) {
			r.t.Errorf("%v\nlacks %q", err, text)
		}
	}
}

// An object with other bytes, whose ETag the store does not tell: the digest at the end finds it.
func TestOpen_comparesTheDigestOfAWholeFile(t *testing.T) {
	r := newRemoved(t, 1000)
	other := bytes.Clone(r.want)
	other[999]++
	r.bucket.putObject(r.key, other)
	r.receipt.ETag = ""
	f, err := r.disk().Open(r.path)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(f)
	if !errors.Is(err, receipts.ErrNotAsSent) || bytes.Contains(got, other[990:]) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	_ = f.Close()
}

// A store that sends a few bytes now and then is given up.
func TestOpen_givesUpASlowStore(t *testing.T) {
	r := newRemoved(t, 1000)
	r.bucket.patience = 40 * time.Millisecond
	r.bucket.fail(func(w http.ResponseWriter, q *http.Request) bool {
		_ = r.begin(w, q)
		for i := range r.want {
			_, _ = w.Write(r.want[i : i+1])
			w.(http.Flusher).Flush()
			select {
			case <-q.Context().Done():
				return true
			case <-time.After(20 * time.Millisecond):
			}
		}
		return true
	})
	f, err := r.disk().Open(r.path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = io.ReadAll(f); err == nil || !strings.Contains(err.Error(), "the store is too slow") {
		t.Error(err)
	}
	_ = f.Close()
}

// The end of the command ends what is read.
func TestOpen_endsWithItsContext(t *testing.T) {
	r := newRemoved(t, 1000)
	ctx, cancel := context.WithCancel(t.Context())
	r.ctx = ctx
	r.bucket.fail(func(_ http.ResponseWriter, q *http.Request) bool {
		cancel()
		<-q.Context().Done()
		return true
	})
	if _, err := r.disk().Open(r.path); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// removed is a WARC file that is in the bucket alone.
type removed struct {
	t         *testing.T
	ctx       context.Context //nolint:containedctx // of the test
	bucket    *bucket
	receipt   receipts.Receipt
	path, key string
	want      []byte

	mu       sync.Mutex
	requests []string // the ranges; guarded by mu
}

func (r *removed) note(q *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests = append(r.requests, q.Header.Get("Range"))
}

func newRemoved(t *testing.T, length int) *removed {
	t.Helper()
	b := newBucket(t)
	f := b.file(length)
	r := &removed{
		t: t, ctx: t.Context(), bucket: b, path: f.Path(), key: "crawls/one/" + warcName,
		want: vfstest.ReadAll(t, b.disk, f.Path()),
	}
	s := b.store()
	var err error
	if r.receipt, err = s.Send(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	r.receipt.File, r.receipt.Target = f.Name, s.Target()
	list := receipts.List{FS: b.disk, Dir: "crawl/" + receipts.Dir(receipts.Store)}
	if err := errors.Join(list.Write(&r.receipt), b.disk.Remove(f.Path())); err != nil {
		t.Fatal(err)
	}
	b.fail(func(_ http.ResponseWriter, q *http.Request) bool {
		r.note(q)
		return false
	})
	return r
}

// disk is the disk with all removed files in reach.
func (r *removed) disk() *receipts.Disk {
	return receipts.Over(r.bucket.disk).ReadRecords(r).ReadFiles(r)
}

// OpenObject opens the store as a command does: by the receipt alone.
func (r *removed) OpenObject(away *receipts.ElsewhereError, offset, length int64) (io.ReadCloser, error) {
	endpoint, bucket, err := SplitTarget(away.Target)
	if err != nil {
		return nil, err
	}
	s, err := New(Options{Target: bucket, Endpoint: endpoint, Patience: r.bucket.patience})
	if err != nil {
		return nil, err
	}
	s.resumeWait = time.Millisecond
	r.t.Cleanup(s.Close)
	return Open(r.ctx, s, &r.receipt, offset, length)
}

func (r *removed) wantRequests(want ...string) {
	r.t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if strings.Join(r.requests, ",") != strings.Join(want, ",") {
		r.t.Errorf("requests for %v, want %v", r.requests, want)
	}
}

// cutting cuts the first answers after some bytes.
func (r *removed) cutting(after, times int) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, q *http.Request) bool {
		r.note(q)
		if times--; times < 0 {
			return false
		}
		from := r.begin(w, q)
		_, _ = w.Write(r.want[from : from+after])
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
}

// begin begins the answer to a request for a range, and returns its first byte.
func (r *removed) begin(w http.ResponseWriter, q *http.Request) (from int) {
	var to int
	if _, err := fmt.Sscanf(q.Header.Get("Range"), "bytes=%d-%d", &from, &to); err != nil {
		r.t.Error(err)
	}
	w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, to, len(r.want)))
	w.Header().Set("Content-Length", fmt.Sprint(to-from+1))
	w.Header().Set("Last-Modified", "Mon, 02 Jan 2006 15:04:05 GMT")
	w.Header().Set("ETag", `"`+r.receipt.ETag+`"`)
	w.WriteHeader(http.StatusPartialContent)
	return from
}

func isElsewhere(err error) bool {
	own := new(receipts.ElsewhereError)
	return errors.As(err, &own)
}

// Whatever a store says in Content-Range, it is read or refused.
func FuzzContentRange(f *testing.F) {
	for _, field := range []string{
		"bytes 0-9/10", "bytes 5-9/*", "bytes */10", "", "bytes 0-0/18446744073709551616", "bytes -1-2/3",
	} {
		f.Add(field)
	}
	f.Fuzz(func(t *testing.T, field string) {
		from, total, ok := parseContentRange(field)
		if ok && (from < 0 || !strings.HasPrefix(field, "bytes ")) {
			t.Errorf("%q: %d of %d", field, from, total)
		}
	})
}
