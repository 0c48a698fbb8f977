package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/engine/frontier/admission"
)

// reading is a crawl that takes URLs as they come, and has room when it is told so.
type reading struct {
	fake
	room  chan struct{} // nil: always
	taken atomic.Int64
}

func (c *reading) AddURLs(ctx context.Context, urls iter.Seq[string]) (added admission.Added, err error) {
	for range urls {
		if c.room != nil {
			select {
			case <-c.room:
			case <-ctx.Done():
				return added, ctx.Err()
			}
		}
		added.New++
		c.taken.Add(1)
	}
	return added, nil
}

// What is too much is refused by its declared length before a byte of it is read; without one, when the limit is
// reached.
func TestHostile_A03_aBodyBeyondItsLimitIs413(t *testing.T) {
	for _, path := range []string{"/add", "/block", "/rule", "/set"} {
		for name, body := range map[string]io.Reader{
			"a gigabyte of JSON": io.LimitReader(&endless{line: []byte(`{"a":[1,2,3],`)}, 1<<30), // one line
			"deep JSON":          strings.NewReader(strings.Repeat("[", 1<<20)),
			"more lines than there is": io.LimitReader(
				&endless{line: []byte("http://a.test/" + strings.Repeat("x", 1<<13) + "\n")}, addMax+1,
			),
		} {
			f := new(reading)
			met := &counted{r: body}
			w := httptest.NewRecorder()
			serving(f).ServeHTTP(w, httptest.NewRequest(http.MethodPost, path, met))
			var r Reply
			if err := json.Unmarshal(w.Body.Bytes(), &r); err != nil || w.Code != http.StatusRequestEntityTooLarge ||
				r.Error == "" {
				t.Errorf("%s, %s: %d %.200s", path, name, w.Code, w.Body)
			}
			limit := int64(addMax)
			if path != "/add" {
				limit = rulesMax
			}
			if met.n > limit+2 || f.taken.Load() > addMax>>13 || len(f.did) > 0 {
				t.Errorf("%s, %s: %d bytes read, %d URLs, %q", path, name, met.n, f.taken.Load(), f.did)
			}
		}
		declared := httptest.NewRequest(http.MethodPost, path, &counted{r: &endless{line: []byte("a\n")}})
		declared.ContentLength = 1 << 30
		w := httptest.NewRecorder()
		serving(new(reading)).ServeHTTP(w, declared)
		if n := declared.Body.(*counted).n; w.Code != http.StatusRequestEntityTooLarge || n > 0 {
			t.Errorf("%s, declared: %d after %d bytes", path, w.Code, n)
		}
	}
	lines := strings.NewReader(strings.Repeat("a\n", linesMax+1))
	if w := ask(new(fake), http.MethodPost, "/rule", lines); w.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("too many rules: %d", w.Code)
	}
}

// counted counts what is read of a body.
type counted struct {
	r io.Reader
	n int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

func (*counted) Close() error { return nil }

// Of a hundred million seeds the crawl takes no more than it has room for; the sender waits, and no buffer holds what
// waits. Each bad one would have its line in the answer, which has an end.
func TestHostile_A03_seedsAreTakenNoFasterThanThereIsRoom(t *testing.T) {
	f := &reading{room: make(chan struct{})}
	s := on(t, f)
	body := &counted{r: &endless{line: []byte("http://a.test/" + strings.Repeat("x", 100) + "\n")}}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan struct{})
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+s.Addr()+"/add", body)
	if err != nil {
		t.Fatal(err)
	}
	bearing(secret)(req)
	go func() {
		defer close(done)
		if resp, err := new(http.Transport).RoundTrip(req); err == nil {
			_ = resp.Body.Close()
		}
	}()
	const rooms = 10
	for range rooms {
		f.room <- struct{}{} // and it comes to take the next
	}
	cancel()
	<-done
	// The sockets' buffers and one buffer of each side may be full.
	if body.n > 32<<20 {
		t.Errorf("%d bytes were sent for %d URLs that there was room for", body.n, rooms)
	}
	if n := f.taken.Load(); n != rooms && n != rooms-1 {
		t.Errorf("%d URLs taken, with room for %d", n, rooms)
	}
	bad := &complaining{}
	w := httptest.NewRecorder()
	serving(bad).ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/add", strings.NewReader("x\n")))
	if w.Code != http.StatusInternalServerError || w.Body.Len() > 2*errorMax {
		t.Errorf("%d, and %d bytes of complaints", w.Code, w.Body.Len())
	}
}

// complaining has much to say about what it is given.
type complaining struct{ fake }

func (*complaining) AddURLs(context.Context, iter.Seq[string]) (admission.Added, error) {
	return admission.Added{}, errors.New(strings.Repeat("it is bad; ", 1<<20))
}

// A fifth body while four are being read is asked to come again; pausing needs no turn.
func TestHostile_A03_oneBodyTooManyIs429(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &reading{room: make(chan struct{})}
		h := serving(f)
		var wait sync.WaitGroup
		for range bodiesAtOnce {
			wait.Go(func() {
				w := httptest.NewRecorder()
				h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/add", strings.NewReader("http://a.test/\n")))
				if w.Code != http.StatusOK {
					t.Errorf("%d", w.Code)
				}
			})
		}
		synctest.Wait()
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/add", strings.NewReader("http://b.test/\n")))
		if w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") != "1" {
			t.Errorf("one too many: %d, %v", w.Code, w.Header())
		}
		w = httptest.NewRecorder()
		if h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/pause", nil)); w.Code != http.StatusOK {
			t.Errorf("pause meanwhile: %d", w.Code)
		}
		close(f.room)
		wait.Wait()
	})
}

// slowBody gives a byte each second, and minds a deadline as a connection does.
type slowBody struct {
	httptest.ResponseRecorder
	until time.Time
}

func (s *slowBody) SetReadDeadline(t time.Time) error { s.until = t; return nil }

func (s *slowBody) Read(p []byte) (int, error) {
	if time.Until(s.until) < time.Second {
		<-time.After(time.Until(s.until))
		return 0, fmt.Errorf("read: %w", os.ErrDeadlineExceeded)
	}
	<-time.After(time.Second)
	p[0] = '\n'
	return 1, nil
}

// A body that comes a byte a second is cut after a minute. What its sender had to wait for us does not count: a large
// body of seeds may take as long as the crawl needs.
func TestHostile_A03_aBodyThatDripsIs408(t *testing.T) {
	for _, path := range []string{"/add", "/rule", "/set"} {
		synctest.Test(t, func(t *testing.T) {
			slow := &slowBody{ResponseRecorder: *httptest.NewRecorder()}
			began := time.Now()
			h := serving(new(reading))
			h.ServeHTTP(slow, httptest.NewRequest(http.MethodPost, path, io.NopCloser(slow)))
			if took := time.Since(began); slow.Code != http.StatusRequestTimeout || took > bodyPatience+2*time.Second {
				t.Errorf("%s: %d after %v: %s", path, slow.Code, took, slow.Body)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		f := &reading{room: make(chan struct{})}
		go func() {
			for range 100 {
				<-time.After(time.Minute)
				f.room <- struct{}{}
			}
		}()
		w := httptest.NewRecorder()
		body := strings.NewReader(strings.Repeat("http://a.test/\n", 100))
		serving(f).ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/add", body))
		if w.Code != http.StatusOK || f.taken.Load() != 100 {
			t.Errorf("a crawl that takes its time: %d, %d taken: %s", w.Code, f.taken.Load(), w.Body)
		}
	})
}

// A client that connects and sends little or nothing is disconnected after ten seconds. The end of the crawl waits for
// no client.
func TestHostile_A03_closeEndsWhateverIsUnderWay(t *testing.T) {
	f := &reading{room: make(chan struct{})}
	s, err := Listen(t.Context(), Options{Address: "127.0.0.1:0", Token: secret}, f)
	if err != nil {
		t.Fatal(err)
	}
	var conns []net.Conn
	for _, text := range []string{
		"", "POST /add HT",
		"POST /add HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + secret +
			"\r\nContent-Length: 1000\r\n\r\nhttp://a.test/\n",
	} {
		c, err := net.Dial("tcp", s.Addr())
		if err != nil {
			t.Fatal(err)
		}
		conns = append(conns, c)
		if _, err := io.WriteString(c, text); err != nil {
			t.Fatal(err)
		}
	}
	f.room <- struct{}{} // the last is being read
	if h := s.ports[0].http; h.ReadHeaderTimeout != 10*time.Second || h.IdleTimeout == 0 || h.MaxHeaderBytes > 64<<10 {
		t.Errorf("deadlines: %+v", h)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	for _, c := range conns {
		if _, err := io.ReadAll(c); err != nil && !errors.Is(err, io.EOF) {
			t.Log(err) // reset or ended: it is over
		}
		_ = c.Close()
	}
}

// FuzzBody posts whatever is given: the answer is JSON with a status that says what it was, and what is done with it
// has an end.
func FuzzBody(f *testing.F) {
	for _, body := range []string{
		"", "http://a.test/\n# no\n\n http://b.test/ ", ".a.test host-delay=4s\nb c", "host-delay = 4s\nip-delay=1s",
		"fetch=path == \"/\"", `{"urls":["http://a.test/"]}`,
		"\x00\xff\n\r\n=\n", "http://a.test/<script>\x1b[2J",
	} {
		f.Add(body, false)
		f.Add(body, true)
	}
	f.Fuzz(func(t *testing.T, body string, declared bool) {
		for _, path := range []string{"/add", "/block", "/rule", "/set", "/pause"} {
			req := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
			if !declared {
				req.ContentLength = -1
			}
			w := httptest.NewRecorder()
			serving(new(fake)).ServeHTTP(w, req)
			var r Reply
			if err := json.Unmarshal(w.Body.Bytes(), &r); err != nil {
				t.Fatalf("%s: %v: %q", path, err, w.Body)
			}
			switch w.Code {
			case http.StatusOK, http.StatusBadRequest, http.StatusRequestEntityTooLarge:
			default:
				t.Errorf("%s: %d", path, w.Code)
			}
			if (w.Code == http.StatusOK) != (r.Error == "") {
				t.Errorf("%s: %d %+v", path, w.Code, r)
			}
			if strings.ContainsAny(w.Body.String(), "<\x1b\x00") {
				t.Errorf("%s: it is said as it came: %q", path, w.Body)
			}
		}
	})
}
