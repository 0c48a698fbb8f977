package control

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"orbweaver/engine/operate/feed"
)

// feedsAtOnce is how many clients may read the feed, or wait for it, at once.
const feedsAtOnce = 8

var errFeeds = fmt.Errorf("control: %d clients read the feed: try again", feedsAtOnce)

// feeds answers GET /feed.
type feeds struct {
	Options

	turn chan struct{}
}

// withFeed answers GET /feed, and has the rest answered by next.
func withFeed(o Options, next http.Handler) http.Handler {
	f := &feeds{Options: o, turn: make(chan struct{}, feedsAtOnce)}
	mux := http.NewServeMux()
	mux.Handle("/", next)
	mux.HandleFunc("GET /feed", f.answer)
	return mux
}

func (f *feeds) answer(w http.ResponseWriter, r *http.Request) {
	select {
	case f.turn <- struct{}{}:
		defer func() { <-f.turn }()
	default:
		w.Header().Set("Retry-After", "1")
		answerWith(w, http.StatusTooManyRequests, Reply{Error: errFeeds.Error()})
		return
	}
	q, err := feed.ParseQuery(r.Context(), f.Feed, r.URL.Query())
	if err != nil {
		refuse(w, err)
		return
	}
	// The deadline of the request's body would end a wait.
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	w.Header().Set("Content-Type", "application/x-ndjson")
	err = answerLong(w, func(out io.Writer) error { return feed.Write(r.Context(), f.Feed, q, out) })
	if err != nil {
		f.Log.Warn("the change feed was not answered to its end", "error", err)
		panic(http.ErrAbortHandler) // so that the client does not take it for the end
	}
}

// noFeed is the feed of a crawl that has none.
type noFeed struct{}

func (noFeed) Since(context.Context, time.Time) (feed.Cursor, error) { return feed.Cursor{}, nil }

func (noFeed) Read(_ context.Context, q feed.Query, _ func(*feed.Change) error) (feed.Cursor, error) {
	return q.Begin, nil
}

// ErrFeedCut says that the answer of a crawl ended before its last line.
var ErrFeedCut = errors.New("control: the crawl ended while its feed was read")

// CopyFeed asks a running crawl for its feed with the parameters of query, and calls do with each line. do borrows the
// line. The error wraps ErrFeedCut if the answer is not whole.
func (c *Client) CopyFeed(ctx context.Context, query string, do func(line []byte) error) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+"/feed?"+query, http.NoBody)
	if err != nil {
		return fmt.Errorf("control: %w", err)
	}
	resp, err := c.send(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		var refusal Reply
		text, _ := io.ReadAll(io.LimitReader(resp.Body, errorMax))
		if err := json.Unmarshal(text, &refusal); err == nil && refusal.Error != "" {
			return errors.New(refusal.Error)
		}
		return fmt.Errorf("control: /feed answered %s: %.200s", resp.Status, text)
	}
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, lineMax*4)
	for lines.Scan() {
		if err := do(lines.Bytes()); err != nil {
			return err
		}
	}
	if lines.Err() != nil {
		return fmt.Errorf("%w: %w", ErrFeedCut, lines.Err())
	}
	return nil
}
