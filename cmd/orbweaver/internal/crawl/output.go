package crawl

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"
)

// output is standard error while a crawl runs. That may be a terminal that is stopped, a pipe without a reader, or a
// file on a full disk. Code that writes a message does not wait: the text waits here, up to a limit, until one
// goroutine has written it. Messages beyond the limit are counted, and the count is printed later. Before start and
// after Close it is written at once.
type output struct {
	out  io.Writer
	wake chan struct{} // capacity 1
	done chan struct{} // closed when the goroutine ends

	mu      sync.Mutex
	running bool
	waiting []byte
	lost    int
}

// outputMax is how much waits at most, in bytes.
const outputMax = 1 << 20

func newOutput(out io.Writer) *output { return &output{out: out, wake: make(chan struct{}, 1)} }

// Write never fails: there is no place to report it.
func (w *output) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case !w.running:
		_, _ = w.out.Write(b) // as above
	case len(w.waiting)+len(b) > outputMax:
		w.lost++
	default:
		w.waiting = append(w.waiting, b...)
		w.poke()
	}
	return len(b), nil
}

func (w *output) poke() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

func (w *output) start() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running, w.done = true, make(chan struct{})
	go w.run(w.done)
}

// run writes until Close, and what there is then.
func (w *output) run(done chan<- struct{}) {
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
func (w *output) take() (text []byte, more bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	text, w.waiting = w.waiting, nil
	if w.lost > 0 {
		text = fmt.Appendf(text, "orbweaver: %d lines were lost here: the lines before them were not read in time\n", w.lost)
		w.lost = 0
	}
	return text, w.running
}

// Close waits until all is written. The crawl is on disk then, so nothing but messages can be lost.
// It may be called again.
func (w *output) Close() {
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

// repeatLimit drops a message that repeats more than 60 times a minute, whatever its values: a site that can make the
// crawl print one message cannot hide the others.
type repeatLimit struct {
	slog.Handler
	counts *messageCounts
}

// perMinute is how often one message is printed in a minute.
const perMinute = 60

func newRepeatLimit(h slog.Handler) repeatLimit {
	return repeatLimit{h, &messageCounts{times: map[string]int{}}}
}

// messageCounts are how often each message was printed since the minute began.
type messageCounts struct {
	mu    sync.Mutex
	began time.Time
	times map[string]int
}

func (t *messageCounts) count(now time.Time, message string) int {
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
func (c repeatLimit) Handle(ctx context.Context, r slog.Record) error {
	switch n := c.counts.count(r.Time, r.Message); {
	case n > perMinute:
		return nil
	case n == perMinute:
		r = r.Clone()
		r.AddAttrs(slog.String("and", "if there are more of these, not within this minute"))
	}
	return c.Handler.Handle(ctx, r)
}

// WithAttrs keeps count.
func (c repeatLimit) WithAttrs(attrs []slog.Attr) slog.Handler {
	return repeatLimit{c.Handler.WithAttrs(attrs), c.counts}
}

// WithGroup keeps count.
func (c repeatLimit) WithGroup(name string) slog.Handler {
	return repeatLimit{c.Handler.WithGroup(name), c.counts}
}
