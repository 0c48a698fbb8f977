package crawl

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"
)

// words is standard error while a crawl runs: a terminal that somebody has stopped, a pipe that nobody reads, a file on
// a full disk. Whoever says something does not wait for it: it waits here, up to a bound, until one goroutine has
// written it. What finds no room is counted, and told when there is some. Before start and after Close it is written at
// once.
type words struct {
	out  io.Writer
	wake chan struct{} // capacity 1
	done chan struct{} // closed when the goroutine ends

	mu      sync.Mutex
	running bool
	waiting []byte
	lost    int
}

// wordsHold is how much waits at most, in bytes.
const wordsHold = 1 << 20

func newWords(out io.Writer) *words { return &words{out: out, wake: make(chan struct{}, 1)} }

// Write never fails: there is nobody who could be told.
func (w *words) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case !w.running:
		_, _ = w.out.Write(b) // as above
	case len(w.waiting)+len(b) > wordsHold:
		w.lost++
	default:
		w.waiting = append(w.waiting, b...)
		w.poke()
	}
	return len(b), nil
}

func (w *words) poke() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

func (w *words) start() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running, w.done = true, make(chan struct{})
	go w.run(w.done)
}

// run writes until Close, and what there is then.
func (w *words) run(done chan<- struct{}) {
	defer close(done)
	for range w.wake {
		for {
			text, more := w.take()
			if len(text) == 0 {
				if !more {
					return
				}
				break
			}
			_, _ = w.out.Write(text) // whatever is wrong with it, the crawl goes on
		}
	}
}

// take gives what waits, and says whether more may come.
func (w *words) take() (text []byte, more bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	text, w.waiting = w.waiting, nil
	if w.lost > 0 {
		text = fmt.Appendf(text, "orbweaver: %d lines were lost here: nobody read what was said before them\n", w.lost)
		w.lost = 0
	}
	return text, w.running
}

// Close waits until all is written. It comes when the crawl is saved, so that nothing is lost with who does not read.
// It may be called again.
func (w *words) Close() {
	w.mu.Lock()
	if !w.running {
		w.mu.Unlock()
		return
	}
	w.running = false
	done := w.done
	w.poke()
	w.mu.Unlock()
	<-done
}

// calm lets a message through so many times a minute, whatever is said with it: a stranger who can make the crawl say
// one thing cannot make it say nothing else.
type calm struct {
	slog.Handler
	told *told
}

// perMinute is how often one message is told in a minute.
const perMinute = 60

func newCalm(h slog.Handler) calm { return calm{h, &told{times: map[string]int{}}} }

// told counts messages since the minute began.
type told struct {
	mu    sync.Mutex
	began time.Time
	times map[string]int
}

func (t *told) count(now time.Time, message string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	if now.Sub(t.began) >= time.Minute || len(t.times) >= 1000 {
		t.began = now
		clear(t.times)
	}
	t.times[message]++
	return t.times[message]
}

// Handle tells a record, or drops it.
func (c calm) Handle(ctx context.Context, r slog.Record) error {
	switch n := c.told.count(r.Time, r.Message); {
	case n > perMinute:
		return nil
	case n == perMinute:
		r = r.Clone()
		r.AddAttrs(slog.String("and", "if there are more of these, not within this minute"))
	}
	return c.Handler.Handle(ctx, r)
}

// WithAttrs keeps count.
func (c calm) WithAttrs(attrs []slog.Attr) slog.Handler {
	return calm{c.Handler.WithAttrs(attrs), c.told}
}

// WithGroup keeps count.
func (c calm) WithGroup(name string) slog.Handler { return calm{c.Handler.WithGroup(name), c.told} }
