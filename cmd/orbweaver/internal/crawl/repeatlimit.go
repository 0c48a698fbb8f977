package crawl

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

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
