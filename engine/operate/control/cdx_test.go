package control

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"orbweaver/warc/lookup"
)

// someCaptures are n lines of the index of a crawl. Behind them is an error, if any.
type someCaptures struct {
	n     int
	fault error
}

func (c someCaptures) Scan(_ context.Context, want lookup.Range, do func(line []byte) error) error {
	for i := range c.n {
		line := fmt.Sprintf(`test,a)/%05d 20260101000000 {"url":"http://a.test/%05d","offset":"%d","filename":"x"}`, i, i, i)
		if line < string(want.From) || line >= string(want.To) {
			continue
		}
		if err := do([]byte(line)); err != nil {
			return err
		}
	}
	return c.fault
}

func serveCaptures(t *testing.T, c lookup.Lines) *Client {
	t.Helper()
	address := "unix:" + filepath.Join(t.TempDir(), "s")
	s, err := Listen(t.Context(), Options{Address: address, Captures: c}, new(fake))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return Dial(address, "")
}

// query returns the answer to a question.
func query(t *testing.T, c *Client, path string) (status int, kind, body string, err error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.base+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.send(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return resp.StatusCode, resp.Header.Get("Content-Type"), string(text), err
}

// The index of a running crawl is answered as a CDX server does, and a client finds the lines of a range in it.
func TestCDX_answersQueries(t *testing.T) {
	c := serveCaptures(t, someCaptures{n: 30_000})
	status, kind, body, err := query(t, c, "/cdx?url=a.test/*&output=json&fl=url")
	if err != nil || status != http.StatusOK || kind != "application/x-ndjson" || strings.Count(body, "\n") != 30_000 ||
		!strings.HasPrefix(body, `{"url":"http://a.test/00000"}`) {
		t.Errorf("%d %s, %d lines, %v", status, kind, strings.Count(body, "\n"), err)
	}
	if status, _, body, _ := query(t, c, "/cdx?url=a.test&collapse=digest"); status != http.StatusBadRequest ||
		!strings.Contains(body, "collapse") {
		t.Errorf("%d %s", status, body)
	}
	key, _, err := lookup.KeyOf([]byte("http://a.test/00007"))
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	if err := c.Captures().Scan(t.Context(), lookup.Exact(key), func(line []byte) error {
		found = append(found, string(line))
		return nil
	}); err != nil || len(found) != 1 || !strings.Contains(found[0], `"offset":"7"`) {
		t.Errorf("%q, %v", found, err)
	}
}

// An error before the first line has its status. Behind it the connection breaks, so that no client takes the lines for
// all.
func TestCDX_brokenAnswers(t *testing.T) {
	broken := errors.New("the disk is gone")
	c := serveCaptures(t, someCaptures{fault: broken})
	if status, _, body, _ := query(t, c, "/cdx?url=a.test/*"); status != http.StatusInternalServerError ||
		!strings.Contains(body, broken.Error()) {
		t.Errorf("%d %s", status, body)
	}
	c = serveCaptures(t, someCaptures{n: 30_000, fault: broken})
	if status, _, _, err := query(t, c, "/cdx?url=a.test/*"); status != http.StatusOK || err == nil {
		t.Errorf("%d, %v", status, err)
	}
	if err := c.Captures().Scan(t.Context(), lookup.Prefix([]byte("test,a)/")), func([]byte) error {
		return nil
	}); !errors.Is(err, errCut) {
		t.Error(err)
	}
}

// slowCaptures wait until they are let go.
type slowCaptures struct{ asked, release chan struct{} }

func (c slowCaptures) Scan(context.Context, lookup.Range, func(line []byte) error) error {
	c.asked <- struct{}{}
	<-c.release
	return nil
}

// Only a few queries are answered at once.
func TestCDX_isBusy(t *testing.T) {
	slow := slowCaptures{make(chan struct{}), make(chan struct{})}
	c := serveCaptures(t, slow)
	done := make(chan int)
	for range queriesAtOnce {
		go func() {
			status, _, _, _ := query(t, c, "/cdx?url=a.test")
			done <- status
		}()
		<-slow.asked
	}
	if status, _, _, _ := query(t, c, "/cdx?url=a.test"); status != http.StatusTooManyRequests {
		t.Errorf("status %d", status)
	}
	close(slow.release)
	for range queriesAtOnce {
		if status := <-done; status != http.StatusOK {
			t.Errorf("status %d", status)
		}
	}
}
