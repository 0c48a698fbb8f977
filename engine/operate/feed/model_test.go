package feed

import (
	"context"
	"crypto/sha1" //nolint:gosec // the digest of WARC
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"orbweaver/internal/vfs"
	"orbweaver/warc"
	"orbweaver/warc/lookup"
)

// world is a crawl that stores captures and is killed, with a reader of its feed that is killed, too.
type world struct {
	t      *testing.T
	rng    *rand.Rand
	disk   *vfs.Mem
	writer *warc.Writer
	encode *warc.Encoder
	feed   *Feed
	clock  time.Time

	stored warc.Checkpoint
	all    []captureDone // in the order of the archive; those behind stored may be lost
	told   []string      // by the feed
	cursor Cursor
}

// captureDone is a capture that was stored.
type captureDone struct {
	url, body string
	status    int
	end       warc.Checkpoint
}

// StoredEnd and AwaitStored are those of Growth.
func (w *world) StoredEnd() warc.Checkpoint { return w.stored }

func (w *world) AwaitStored(ctx context.Context, _ warc.Checkpoint) error { return ctx.Err() }

// OpenLines is that of lookup.Writing.
func (w *world) OpenLines(ctx context.Context) ([]warc.OpenLines, error) {
	return w.writer.OpenLines(ctx)
}

func newWorld(t *testing.T, seed uint64) *world {
	t.Helper()
	e, err := warc.NewEncoder(warc.EncoderOptions{})
	must(t, err)
	w := &world{
		t: t, rng: rand.New(rand.NewPCG(seed, 9)), disk: vfs.NewMem(seed), encode: e,
		clock: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
	}
	w.open(nil)
	return w
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// open opens the archive and the feed, at the start or after a kill.
func (w *world) open(resume *warc.Checkpoint) {
	var err error
	w.writer, err = warc.OpenWriter(w.disk, warc.Options{Dir: "warc", SizeMax: 20_000, FinishLater: true}, resume)
	must(w.t, err)
	w.feed = New(Options{
		Archive: lookup.NewFiles(lookup.Options{FS: w.disk, Dirs: []string{"warc"}, Writing: w}),
		Growth:  w, Log: NoLog{}, FS: w.disk, Dir: "feed",
	})
	w.feed.recentMost = 16
}

// capture stores a page, an error, or that it is gone.
func (w *world) capture() {
	w.clock = w.clock.Add(time.Duration(w.rng.IntN(3)) * time.Second)
	done := captureDone{
		url: fmt.Sprintf("http://a.test/%d", w.rng.IntN(40)), body: fmt.Sprintf("body %d", w.rng.IntN(2)),
		status: []int{200, 200, 200, 200, 404, 410, 503}[w.rng.IntN(7)],
	}
	block := fmt.Sprintf("HTTP/1.1 %d Said\r\nContent-Length: %d\r\n\r\n%s", done.status, len(done.body), done.body)
	digest := sha1.Sum([]byte(done.body)) //nolint:gosec // the digest of WARC
	w.encode.Reset()
	must(w.t, w.encode.Append(&warc.Record{
		Type: warc.Response, Date: w.clock, TargetURI: []byte(done.url), Block: [][]byte{[]byte(block)},
		Index: &warc.IndexInfo{Status: done.status}, PayloadDigest: &digest,
	}))
	pos, err := w.writer.Append(w.encode.Group())
	must(w.t, err)
	done.end = pos.End()
	w.all = append(w.all, done)
}

// sync makes everything stay.
func (w *world) sync() {
	must(w.t, w.writer.Sync())
	w.stored = w.writer.Checkpoint()
}

// kill ends the crawl, and perhaps loses what was not synced. It goes on.
func (w *world) kill() {
	w.disk = w.disk.KillClone()
	must(w.t, w.feed.Close())
	must(w.t, w.writer.Abandon())
	end := w.stored
	w.all = slices.DeleteFunc(w.all, func(c captureDone) bool { return end.Before(c.end) })
	w.open(&end)
}

// read reads some of the feed, and believes it only up to a line, as a reader that is killed there.
func (w *world) read() {
	n, most := 0, w.rng.IntN(30)
	errKilled := errors.New("killed")
	q := Query{Begin: w.cursor, Unchanged: true}
	if w.rng.IntN(2) == 0 {
		q.Most = 1 + int64(w.rng.IntN(20))
	}
	next, err := w.feed.Read(w.t.Context(), q, func(c *Change) error {
		if n++; n > most {
			return errKilled
		}
		w.told = append(w.told, fmt.Sprintf("%s %s", c.Kind, c.URL))
		cursor, err := ParseCursor(c.Cursor)
		w.cursor = cursor
		return err
	})
	switch {
	case errors.Is(err, errKilled):
	case err != nil && !errors.Is(err, context.Canceled):
		w.t.Fatal(err)
	default:
		w.cursor = next
	}
}

// want is what a reader must be told, by a model that sees all captures.
func (w *world) want() (lines []string) {
	type state struct {
		status int
		body   string
	}
	last := map[string]state{}
	for _, c := range w.all {
		if c.status == 503 {
			continue
		}
		before, is := last[c.url]
		was := is && before.status == 200
		last[c.url] = state{c.status, c.body}
		kind := Changed
		switch {
		case c.status != 200 && !was:
			continue
		case c.status != 200:
			kind = Gone
		case !was:
			kind = Fresh
		case before.body == c.body:
			kind = Unchanged
		}
		lines = append(lines, fmt.Sprintf("%s %s", kind, c.url))
	}
	return lines
}

// A crawl stores and is killed at any time, and its reader is killed and comes again with its cursor: it is told each
// change exactly once, whatever was lost.
func TestFeed_eachChangeExactlyOnceOverKills(t *testing.T) {
	kills, merged := 0, false
	for seed := range uint64(8) {
		w := newWorld(t, seed)
		for range 600 {
			switch n := w.rng.IntN(100); {
			case n < 75:
				w.capture()
			case n < 85:
				w.sync()
			case n < 95:
				w.read()
			case n < 97:
				must(t, w.writer.Finish())
			case n < 99:
				w.kill()
				kills++
			default: // the files of the feed are lost: they are made again
				must(t, w.feed.Close())
				must(t, vfs.RemoveIfExists(w.disk, "feed/state.json"))
			}
			if w.feed.states != nil {
				merged = merged || slices.ContainsFunc(w.feed.states.runs, func(r *run) bool { return r.Level > 1 })
			}
		}
		w.sync()
		for before := -1; before != len(w.told); {
			before = len(w.told)
			w.rng = rand.New(rand.NewPCG(seed, 1+uint64(before)))
			for range 5 {
				w.read()
			}
		}
		if want := w.want(); !slices.Equal(w.told, want) {
			t.Fatalf("seed %d: %d lines, want %d\n got %v\nwant %v", seed, len(w.told), len(want), w.told, want)
		}
	}
	if kills < 20 || !merged {
		t.Errorf("%d kills, merged twice: %v", kills, merged)
	}
}

// A damaged file of the feed is made again, and the answers are the same.
func TestFeed_damagedFilesAreMadeAgain(t *testing.T) {
	w := newWorld(t, 7)
	for range 300 {
		w.capture()
	}
	w.sync()
	ask := func() (kinds []Kind) {
		_, err := w.feed.Read(t.Context(), Query{}, func(c *Change) error { kinds = append(kinds, c.Kind); return nil })
		must(t, err)
		return kinds
	}
	want := ask()
	names, err := w.disk.List("feed")
	must(t, err)
	damaged := 0
	for _, name := range names {
		for _, at := range []int64{3, 1000} {
			f, err := w.disk.OpenRW("feed/" + name)
			if err != nil {
				continue // it was merged meanwhile
			}
			_, err = f.WriteAt([]byte{0xa5, 0x5a}, at)
			must(t, errors.Join(err, f.Close()))
			damaged++
			if got := ask(); !slices.Equal(got, want) {
				t.Errorf("%s: %d changes, want %d", name, len(got), len(want))
			}
			must(t, w.feed.Close())
			if got := ask(); !slices.Equal(got, want) {
				t.Errorf("%s, opened again: %d changes, want %d", name, len(got), len(want))
			}
		}
	}
	if damaged < 4 {
		t.Errorf("only %d files", damaged)
	}
}

// A reader that begins at a time gets what was captured from then on.
func TestFeed_sinceATime(t *testing.T) {
	w := newWorld(t, 3)
	for range 400 {
		w.capture()
	}
	w.sync()
	must(t, w.writer.Finish())
	at := w.clock.Add(-time.Minute)
	cursor, err := w.feed.Since(t.Context(), at)
	must(t, err)
	var got, want []string
	collect := func(into *[]string, q Query) {
		q.Unchanged = true
		_, err := w.feed.Read(t.Context(), q, func(c *Change) error {
			if c.Time >= at.Format(time.RFC3339) {
				*into = append(*into, string(c.Kind)+c.URL)
			} else if q.Begin != (Cursor{}) {
				t.Errorf("too early: %+v", c)
			}
			return nil
		})
		must(t, err)
	}
	collect(&got, Query{Begin: cursor})
	collect(&want, Query{})
	if len(want) < 20 || !slices.Equal(got, want) {
		t.Errorf("%d lines, want %d", len(got), len(want))
	}
	if behind, err := w.feed.Since(t.Context(), w.clock.Add(time.Hour)); err != nil || !behind.archive.Before(w.stored) {
		t.Errorf("%v, %v", behind, err)
	}
}

// Only what the feed has given is a cursor.
func TestCursor_isRefusedIfItIsNone(t *testing.T) {
	c := Cursor{warc.Checkpoint{Serial: 12, Length: 3456}, warc.Checkpoint{Serial: 2, Length: 7}}
	if got, err := ParseCursor(c.String()); err != nil || got != c {
		t.Errorf("%v, %v", got, err)
	}
	for _, text := range []string{
		"", "2-", "2-2", "2--2-3-1-1", "2-2-3-1-1x", "2-2-3-4-5-6", "1-1-1",
		"2-02-3-1-1", "2-2--3-1-1", "2-9-1-99999999999-1",
	} {
		if c, err := ParseCursor(text); !errors.Is(err, ErrCursor) {
			t.Errorf("%q is %v", text, c)
		}
	}
}
