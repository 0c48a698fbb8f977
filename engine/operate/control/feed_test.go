package control

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orbweaver/engine/operate/feed"
)

// scriptedFeed has n changes, and an error behind them, if any.
type scriptedFeed struct {
	n     int
	fault error
	asked chan feed.Query
}

func (scriptedFeed) Since(_ context.Context, at time.Time) (feed.Cursor, error) {
	return feed.ParseCursor(fmt.Sprintf("2-%d-0-0-0", at.Year()))
}

func (f scriptedFeed) Read(_ context.Context, q feed.Query, do func(*feed.Change) error) (feed.Cursor, error) {
	f.asked <- q
	for i := range f.n {
		change := feed.Change{Kind: feed.Fresh, URL: fmt.Sprintf("http://a.test/%d?a&b", i), Cursor: "2-0-1-0-0"}
		if err := do(&change); err != nil {
			return q.Begin, err
		}
	}
	return q.Begin, f.fault
}

func serveFeed(t *testing.T, f scriptedFeed) *Client {
	t.Helper()
	address := "unix:" + filepath.Join(t.TempDir(), "s")
	s, err := Listen(t.Context(), Options{Address: address, Feed: f}, new(fake))
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

// The feed is answered as lines of JSON, and the last line says where to go on. Wrong parameters are named.
func TestFeed_answersLines(t *testing.T) {
	asked := make(chan feed.Query, 10)
	c := serveFeed(t, scriptedFeed{n: 20_000, asked: asked})
	status, kind, body, err := query(t, c, "/feed?since=2-3-44-5-6&all=true&limit=7&wait=20s")
	lines := strings.Split(strings.TrimSuffix(body, "\n"), "\n")
	if err != nil || status != http.StatusOK || kind != "application/x-ndjson" || len(lines) != 20_001 ||
		lines[0] != `{"kind":"new","url":"http://a.test/0?a&b","cursor":"2-0-1-0-0"}` ||
		lines[20_000] != `{"kind":"end","cursor":"2-3-44-5-6"}` {
		t.Errorf("%d %s, %d lines, %v", status, kind, len(lines), err)
	}
	if q := last(asked); q.Begin.String() != "2-3-44-5-6" || !q.Unchanged || q.Most != 7 || q.Wait != 20*time.Second {
		t.Errorf("%+v", q)
	}
	if _, _, _, err := query(t, c, "/feed?since=2026-01-31"); err != nil {
		t.Error(err)
	}
	if q := last(asked); q.Begin.String() != "2-2026-0-0-0" {
		t.Errorf("%+v", q)
	}
	for _, wrong := range []string{"since=2-2", "since=soon", "all=perhaps", "limit=-1", "wait=30", "from=2026"} {
		name, _, _ := strings.Cut(wrong, "=")
		if status, _, body, _ := query(t, c, "/feed?"+wrong); status != http.StatusBadRequest ||
			!strings.Contains(body, name) && !strings.Contains(body, "cursor") {
			t.Errorf("%s: %d %s", wrong, status, body)
		}
	}
}

// last returns the last query, and the zero value if there was none.
func last(asked chan feed.Query) (q feed.Query) {
	select {
	case q = <-asked:
	default:
	}
	return q
}

// An answer that fails half-way has no last line, and the client is told.
func TestFeed_thatFailsIsNotTakenForTheEnd(t *testing.T) {
	c := serveFeed(t, scriptedFeed{n: 20_000, fault: errors.New("the disk"), asked: make(chan feed.Query, 1)})
	n := 0
	err := c.CopyFeed(t.Context(), "", func(line []byte) error {
		if n++; strings.Contains(string(line), "end") {
			t.Error("a last line")
		}
		return nil
	})
	if n == 0 || !errors.Is(err, ErrFeedCut) {
		t.Errorf("%d lines, %v", n, err)
	}
	c = serveFeed(t, scriptedFeed{fault: errors.New("the disk"), asked: make(chan feed.Query, 1)})
	if err := c.CopyFeed(t.Context(), "", nil); err == nil || !strings.Contains(err.Error(), "the disk") {
		t.Error(err)
	}
}
