package objectstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"go.uber.org/goleak"

	"orbweaver/engine/operate/upload"
	"orbweaver/internal/vfs"
	"orbweaver/internal/vfs/vfstest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	warcName  = "test-20260101000000000-00000-host.warc.gz"
	indexName = "test-20260101000000000-00000-host.cdxj"
	testPart  = 64 << 10 // stores of the real world want 5 MiB
)

// A short file is sent in one request and a long one in parts, each behind its index. Each object has the bytes and the
// SHA-256 of its file. A second Send finds them and sends nothing.
func TestSend_storesAndVerifies(t *testing.T) {
	for _, c := range []struct {
		length   int
		requests int // with bodies
		verified string
	}{
		{1000, 1, VerifiedETag},
		{0, 1, VerifiedETag},
		{testPart, 1, VerifiedETag},
		{150 << 10, 3, VerifiedRead}, // gofakes3 forgets the ETag of an upload in parts
	} {
		t.Run(fmt.Sprint(c.length), func(t *testing.T) {
			b := newBucket(t)
			f := b.file(c.length)
			got, err := b.store().Send(t.Context(), f)
			if err != nil {
				t.Fatal(err)
			}
			if got.Verified != c.verified || got.Length != int64(c.length) || len(got.SHA256) != 64 || got.ETag == "" {
				t.Errorf("the receipt is %+v", got)
			}
			if b.bodies() != c.requests+1 {
				t.Errorf("%d requests with bodies, want %d and one for the index", b.bodies(), c.requests)
			}
			b.wantObject("crawls/one/"+warcName, vfstest.ReadAll(t, b.disk, f.Dir+"/"+f.Name))
			b.wantObject("crawls/one/"+indexName, []byte("an index"))
			if sha := b.metadata("crawls/one/" + warcName)["X-Amz-Meta-Sha256"]; sha != got.SHA256 {
				t.Errorf("metadata: %q", sha)
			}
			before := b.bodies()
			again, err := b.store().Send(t.Context(), f)
			if err != nil || again != got || b.bodies() != before {
				t.Errorf("again: %+v, %v, %d more requests", again, err, b.bodies()-before)
			}
		})
	}
}

// A connection is cut in the middle of the second of three parts. Another process continues: it sends the second and
// the third part, and not the first.
func TestSend_continuesAnInterruptedUpload(t *testing.T) {
	b := newBucket(t)
	f := b.file(150 << 10)
	b.fail(func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Query().Get("partNumber") != "2" {
			return false
		}
		_, _ = io.CopyN(io.Discard, r.Body, 1<<10)
		panic(http.ErrAbortHandler)
	})
	if _, err := b.store().Send(t.Context(), f); err == nil {
		t.Fatal("a cut connection is no error")
	}
	b.fail(nil)
	before := b.bodies()
	if _, err := b.store().Send(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	if n := b.bodies() - before; n != 2 {
		t.Errorf("%d parts were sent, want 2", n)
	}
	b.wantObject("crawls/one/"+warcName, vfstest.ReadAll(t, b.disk, f.Dir+"/"+f.Name))
	if _, err := b.disk.Size("crawl/uploads/store/" + warcName + ".part"); err == nil {
		t.Error("the draft is left")
	}
}

// A part that the store has changed is sent again. An upload that the store has forgotten begins again. If the answer
// to the last request is lost, the object is found.
func TestSend_doesNotTrustTheRestOfAnUpload(t *testing.T) {
	cut := func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Query().Get("partNumber") == "3" {
			panic(http.ErrAbortHandler)
		}
		return false
	}
	for name, c := range map[string]struct {
		first, then func(b *bucket) func(http.ResponseWriter, *http.Request) bool
		bodies      int // of the second Send
	}{
		"wrong ETag in the list of parts": {
			then: func(b *bucket) func(http.ResponseWriter, *http.Request) bool {
				return b.answer(http.MethodGet, "uploadId", func(body []byte) []byte {
					return bytes.Replace(body, []byte("<ETag>&#34;"), []byte("<ETag>&#34;00"), 1)
				})
			}, bodies: 2,
		},
		"forgotten": {
			then: func(b *bucket) func(http.ResponseWriter, *http.Request) bool {
				return func(w http.ResponseWriter, r *http.Request) bool {
					if r.Method != http.MethodGet || r.URL.Query().Get("uploadId") == "" {
						return false
					}
					w.WriteHeader(http.StatusNotFound)
					_, _ = io.WriteString(w, "<Error><Code>NoSuchUpload</Code></Error>")
					return true
				}
			}, bodies: 3,
		},
		"a store that lists no parts": {
			then: func(*bucket) func(http.ResponseWriter, *http.Request) bool {
				return func(w http.ResponseWriter, r *http.Request) bool {
					isList := r.Method == http.MethodGet && r.URL.Query().Get("uploadId") != ""
					if isList {
						w.WriteHeader(http.StatusMethodNotAllowed)
					}
					return isList
				}
			}, bodies: 3,
		},
		"lost answer": {
			first: func(b *bucket) func(http.ResponseWriter, *http.Request) bool {
				return func(w http.ResponseWriter, r *http.Request) bool {
					if r.Method != http.MethodPost || r.URL.Query().Get("uploadId") == "" {
						return false
					}
					b.handler.ServeHTTP(httptest.NewRecorder(), r)
					panic(http.ErrAbortHandler)
				}
			}, bodies: 0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBucket(t)
			f := b.file(150 << 10)
			first := cut
			if c.first != nil {
				first = c.first(b)
			}
			b.fail(first)
			if _, err := b.store().Send(t.Context(), f); err == nil {
				t.Fatal("an interrupted upload is no error")
			}
			b.fail(nil)
			if c.then != nil {
				b.fail(c.then(b))
			}
			before := b.bodies()
			if _, err := b.store().Send(t.Context(), f); err != nil {
				t.Fatal(err)
			}
			if n := b.bodies() - before; n != c.bodies {
				t.Errorf("%d parts were sent, want %d", n, c.bodies)
			}
			b.wantObject("crawls/one/"+warcName, vfstest.ReadAll(t, b.disk, f.Dir+"/"+f.Name))
		})
	}
}

// faultCase is a fault of a store, and what the error says.
type faultCase struct {
	fault func(b *bucket) func(http.ResponseWriter, *http.Request) bool
	want  string
}

// Whatever the store answers, there is no receipt without an object that has the bytes of its file.
func TestSend_UL3_givesNoReceiptWithoutAnObject(t *testing.T) {
	for name, c := range storeFaults() {
		t.Run(name, func(t *testing.T) {
			b := newBucket(t)
			if name == "silent" {
				b.patience = 100 * time.Millisecond
			}
			f := b.file(1000)
			b.fail(c.fault(b))
			got, err := b.store().Send(t.Context(), f)
			if err == nil {
				t.Fatalf("a receipt: %+v", got)
			}
			if !strings.Contains(err.Error(), c.want) || len(err.Error()) > 1000 {
				t.Errorf("got %.500s, want %s", err, c.want)
			}
			b.fail(nil)
			if _, err := b.store().Send(t.Context(), f); err != nil {
				t.Errorf("when the fault has ended: %v", err)
			}
		})
	}
}

// storeFaults are faults of a store while it takes a WARC file, by name.
func storeFaults() map[string]faultCase {
	isPut := func(r *http.Request) bool { return r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, ".gz") }
	isHead := func(r *http.Request) bool { return r.Method == http.MethodHead && strings.HasSuffix(r.URL.Path, ".gz") }
	status := func(code int, text string) func(b *bucket) func(http.ResponseWriter, *http.Request) bool {
		return func(*bucket) func(http.ResponseWriter, *http.Request) bool {
			return func(w http.ResponseWriter, r *http.Request) bool {
				if !isPut(r) {
					return false
				}
				_, _ = io.Copy(io.Discard, r.Body)
				w.WriteHeader(code)
				_, _ = io.WriteString(w, text)
				return true
			}
		}
	}
	return map[string]faultCase{
		"500": {status(500, ""), "status 500"},
		"slow down": {
			status(503, "<Error><Code>SlowDown</Code><Message>reduce your rate</Message></Error>"),
			`SlowDown, status 503: "reduce your rate"`,
		},
		"forbidden": {status(403, "<Error><Code>AccessDenied</Code></Error>"), "AccessDenied, status 403"},
		"clock":     {status(403, "<Error><Code>RequestTimeTooSkewed</Code></Error>"), "set the clock of this machine"},
		"giant message": {
			status(400, "<Error><Code>X</Code><Message>"+strings.Repeat("x", 1<<20)+"</Message></Error>"), "status 400",
		},
		"accepted and not stored": {status(200, ""), ErrMissing.Error()},
		"cut": {func(*bucket) func(http.ResponseWriter, *http.Request) bool {
			return func(_ http.ResponseWriter, r *http.Request) bool {
				if isPut(r) {
					panic(http.ErrAbortHandler)
				}
				return false
			}
		}, "s3://bucket/crawls/one/" + warcName},
		"truncated": {func(b *bucket) func(http.ResponseWriter, *http.Request) bool {
			return b.storing(isPut, func(body []byte) []byte { return body[:len(body)-1] })
		}, "it has 999 bytes, not 1000"},
		"one wrong bit": {func(b *bucket) func(http.ResponseWriter, *http.Request) bool {
			return b.storing(isPut, func(body []byte) []byte {
				body[500] ^= 1
				return body
			})
		}, "its SHA-256 is"},
		"silent": {func(*bucket) func(http.ResponseWriter, *http.Request) bool {
			return func(_ http.ResponseWriter, r *http.Request) bool {
				if isPut(r) {
					_, _ = io.Copy(io.Discard, r.Body)
					<-r.Context().Done()
				}
				return isPut(r)
			}
		}, "the store has made no progress for"},
		"down": {func(*bucket) func(http.ResponseWriter, *http.Request) bool {
			return func(w http.ResponseWriter, r *http.Request) bool {
				if isHead(r) {
					w.WriteHeader(http.StatusBadGateway)
				}
				return isHead(r)
			}
		}, "status 502"},
	}
}

// A store that is down is asked once, and the file is not read.
func TestSend_readsNoFileForAStoreThatIsDown(t *testing.T) {
	b := newBucket(t)
	f := b.file(1000)
	b.server.Close()
	f.FS = &countedReads{FS: f.FS}
	if _, err := b.store().Send(t.Context(), f); err == nil || f.FS.(*countedReads).reads != 0 {
		t.Errorf("%v, %d reads", err, f.FS.(*countedReads).reads)
	}
}

// A wrong ETag alone is no fault: stores that encrypt have others. The object is read back.
func TestSend_readsBackAnObjectWithAnotherETag(t *testing.T) {
	b := newBucket(t)
	f := b.file(1000)
	b.fail(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodHead {
			return false
		}
		rec := httptest.NewRecorder()
		b.handler.ServeHTTP(rec, r)
		for name, values := range rec.Header() {
			w.Header()[name] = values
		}
		w.Header().Set("ETag", `"0123456789abcdef0123456789abcdef"`)
		w.Header().Set("X-Amz-Checksum-Sha256", "an echo")
		w.WriteHeader(rec.Code)
		return true
	})
	got, err := b.store().Send(t.Context(), f)
	if err != nil || got.Verified != VerifiedRead {
		t.Errorf("%+v, %v", got, err)
	}
}

// A stop ends a Send at once.
func TestSend_endsWithItsContext(t *testing.T) {
	b := newBucket(t)
	f := b.file(1000)
	ctx, cancel := context.WithCancel(t.Context())
	b.fail(func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPut {
			cancel()
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
		}
		return r.Method == http.MethodPut
	})
	if _, err := b.store().Send(ctx, f); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// bucket is an object store in this process, with faults.
type bucket struct {
	t        *testing.T
	backend  gofakes3.Backend
	handler  http.Handler
	server   *httptest.Server
	disk     vfs.FS
	patience time.Duration

	mu    sync.Mutex
	fault func(http.ResponseWriter, *http.Request) bool
	sent  int
}

func newBucket(t *testing.T) *bucket {
	t.Helper()
	t.Setenv("AWS_ACCESS_KEY_ID", "key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	b := &bucket{t: t, backend: s3mem.New(), disk: vfstest.WithDir(t, "crawl/warc")}
	if err := b.disk.MkdirAll("crawl/uploads/store"); err != nil {
		t.Fatal(err)
	}
	if err := b.backend.CreateBucket("bucket"); err != nil {
		t.Fatal(err)
	}
	b.handler = gofakes3.New(b.backend, gofakes3.WithIntegrityCheck(false)).Server()
	b.server = httptest.NewServer(b)
	t.Cleanup(b.server.Close)
	return b
}

func (b *bucket) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	fault := b.fault
	if r.Method == http.MethodPut {
		b.sent++
	}
	b.mu.Unlock()
	if fault == nil || !fault(w, r) {
		b.handler.ServeHTTP(w, r)
	}
}

// fail makes f answer requests; if it returns false, the store does.
func (b *bucket) fail(f func(http.ResponseWriter, *http.Request) bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fault = f
}

// bodies is how many requests brought a file or a part.
func (b *bucket) bodies() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.sent
}

// storing changes the bytes that arrive.
func (b *bucket) storing(
	is func(*http.Request) bool, change func([]byte) []byte,
) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		if !is(r) {
			return false
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			b.t.Error(err)
		}
		body = change(body)
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		r.Header.Set("Content-Length", fmt.Sprint(len(body)))
		b.handler.ServeHTTP(w, r)
		return true
	}
}

// answer changes the body of an answer to a request with a parameter.
func (b *bucket) answer(
	method, parameter string, change func([]byte) []byte,
) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != method || r.URL.Query().Get(parameter) == "" {
			return false
		}
		rec := httptest.NewRecorder()
		b.handler.ServeHTTP(rec, r)
		body := change(rec.Body.Bytes())
		w.WriteHeader(rec.Code)
		_, _ = w.Write(body)
		return true
	}
}

// store opens the store as a new process does.
func (b *bucket) store() *Store {
	b.t.Helper()
	s, err := New(Options{
		Target: "s3://bucket/crawls/one/", Endpoint: b.server.URL, PartBytes: testPart, Patience: b.patience,
	})
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(s.Close)
	return s
}

// file makes a WARC file with an index.
func (b *bucket) file(length int) *upload.File {
	b.t.Helper()
	content := make([]byte, length)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(content)
	vfstest.WriteAll(b.t, b.disk, "crawl/warc/"+warcName, content)
	vfstest.WriteAll(b.t, b.disk, "crawl/warc/"+indexName, []byte("an index"))
	return &upload.File{
		FS: b.disk, Dir: "crawl/warc", Name: warcName, Index: indexName, Length: int64(length),
		Draft: &upload.DraftFile{FS: b.disk, Name: "crawl/uploads/store/" + warcName + ".part"},
	}
}

func (b *bucket) wantObject(key string, want []byte) {
	b.t.Helper()
	o, err := b.backend.GetObject("bucket", key, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	got, err := io.ReadAll(o.Contents)
	if err != nil || !bytes.Equal(got, want) {
		b.t.Errorf("%s has %d bytes, want the %d of the file: %v", key, len(got), len(want), err)
	}
}

func (b *bucket) metadata(key string) map[string]string {
	b.t.Helper()
	o, err := b.backend.HeadObject("bucket", key)
	if err != nil {
		b.t.Fatal(err)
	}
	return o.Metadata
}

// countedReads counts the reads of all files.
type countedReads struct {
	vfs.FS

	reads int
}

func (c *countedReads) Open(name string) (vfs.File, error) {
	f, err := c.FS.Open(name)
	return &countedFile{f, c}, err
}

type countedFile struct {
	vfs.File

	of *countedReads
}

func (f *countedFile) ReadAt(b []byte, at int64) (int, error) {
	f.of.reads++
	return f.File.ReadAt(b, at)
}
