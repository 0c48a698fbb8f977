package feed

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"orbweaver/engine/store/crawllog"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// scriptedLog has lines in memory; those behind stays may be cut.
type scriptedLog struct {
	lines []string
	stays int
}

// Near is the beginning of the log.
func (l *scriptedLog) Near(time.Time) (warc.Checkpoint, error) { return warc.Checkpoint{}, nil }

// End and Each are those of Log: a place is the number of lines.
func (l *scriptedLog) End() (end warc.Checkpoint, ok bool, err error) {
	return warc.Checkpoint{Length: int64(l.stays)}, true, nil
}

func (l *scriptedLog) Each(_ context.Context, from, to warc.Checkpoint, do func(*crawllog.Line) error) error {
	for i := from.Length; i < to.Length; i++ {
		line, ok := crawllog.Parse([]byte(l.lines[i]))
		if !ok {
			return fmt.Errorf("line %q", l.lines[i])
		}
		line.End = crawllog.Position{Offset: i + 1}
		if err := do(&line); err != nil {
			return err
		}
	}
	return nil
}

// client keeps the cursor and what it was told of each URL.
type client struct {
	t       *testing.T
	cursor  Cursor
	present map[string]bool
	gone    int
	again   int // of them, what it knew already
}

// read reads some of the feed, and is killed after most lines.
func (c *client) read(f *Feed, q Query, most int) {
	errKilled := errors.New("killed")
	q.Begin, q.Unchanged = c.cursor, true
	n := 0
	next, err := f.Read(c.t.Context(), q, func(change *Change) error {
		if n++; n > most {
			return errKilled
		}
		was := c.present[change.URL]
		switch {
		case change.Kind == Gone:
			if c.gone++; !was {
				c.again++
			}
		case change.Kind != Fresh && !was:
			c.t.Errorf("%s, and the client does not know it: %+v", change.Kind, change)
		}
		c.present[change.URL] = change.Kind != Gone
		cursor, err := ParseCursor(change.Cursor)
		c.cursor = cursor
		return err
	})
	switch {
	case errors.Is(err, errKilled):
	case err != nil && !errors.Is(err, context.Canceled):
		c.t.Fatal(err)
	default:
		c.cursor = next
	}
}

// lossRig is a world whose servers also fail, with the truth about it.
type lossRig struct {
	*world

	log     *scriptedLog
	present map[string]bool
	clients []*client
}

func newLossRig(t *testing.T, seed uint64) *lossRig {
	t.Helper()
	r := &lossRig{world: newWorld(t, seed), log: new(scriptedLog), present: map[string]bool{}}
	r.feed.o.Log = r.log
	for range 3 {
		r.clients = append(r.clients, &client{t: t, present: map[string]bool{}})
	}
	return r
}

func (r *lossRig) step() {
	r.clock = r.clock.Add(time.Second)
	switch n := r.rng.IntN(100); {
	case n < 40:
		r.capture()
		if c := r.all[len(r.all)-1]; c.status != 503 {
			r.present[c.url] = c.status == 200
		}
		r.sync()
	case n < 60:
		url := fmt.Sprintf("http://a.test/%d", r.rng.IntN(40))
		name := []string{"given-up", "site-gone", "connect-timeout", "robots-denied", "given-up,retry"}[r.rng.IntN(5)]
		r.log.lines = append(r.log.lines, fmt.Sprintf(
			"%s    -8          - %s - - unknown #000 - - - %s", r.clock.Format(logTime), url, name))
		if name != "robots-denied" && !strings.HasSuffix(name, "retry") {
			r.present[url] = false
		}
	case n < 70:
		r.log.stays = len(r.log.lines)
	case n < 90:
		r.clients[r.rng.IntN(2)].read(r.feed, Query{Most: int64(r.rng.IntN(9))}, r.rng.IntN(20))
	case n < 92: // the files of the feed are lost
		must(r.t, r.feed.Close())
		must(r.t, vfs.RemoveIfExists(r.disk, "feed/state.json"))
		must(r.t, vfs.RemoveIfExists(r.disk, "feed/lost/state.json"))
	}
}

// Servers fail between captures. Whenever a client reads, and whenever it is killed, in the end it knows which URLs are
// there. A client that comes at the end knows the same.
func TestFeed_tellsWhatIsLost(t *testing.T) {
	gone, again := 0, 0
	for seed := range uint64(10) {
		r := newLossRig(t, seed)
		for range 500 {
			r.step()
		}
		r.log.stays = len(r.log.lines)
		r.rng = rand.New(rand.NewPCG(seed, 3))
		for i, c := range r.clients {
			for before := (Cursor{log: warc.Checkpoint{Length: -1}}); before != c.cursor; {
				before = c.cursor
				c.read(r.feed, Query{}, 30)
			}
			for url, there := range r.present {
				if c.present[url] != there {
					t.Errorf("seed %d, client %d: %s is there: %v, want %v", seed, i, url, c.present[url], there)
				}
			}
			gone, again = gone+c.gone, again+c.again
		}
	}
	if gone < 100 || again > gone/50 { // no answer, and then a 404 before the next checkpoint
		t.Errorf("%d were gone, %d of them again", gone, again)
	}
}
