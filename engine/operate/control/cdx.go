package control

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"orbweaver/warc/cdxserver"
	"orbweaver/warc/lookup"
)

// queriesAtOnce is how many queries of the index are answered at once.
const queriesAtOnce = 2

// captures answers queries of the CDX server API about the archive.
type captures struct {
	lines lookup.Lines
	log   *slog.Logger
	turn  chan struct{}
}

// withCaptures answers GET /cdx, and has the rest answered by next. Answers are streamed, and none is kept.
func withCaptures(o Options, next http.Handler) http.Handler {
	c := &captures{lines: o.Captures, log: o.Log, turn: make(chan struct{}, queriesAtOnce)}
	mux := http.NewServeMux()
	mux.Handle("/", next)
	mux.HandleFunc("GET /cdx", c.answer)
	return mux
}

var errQueries = fmt.Errorf("control: %d queries of the index are under way: try again", queriesAtOnce)

func (c *captures) answer(w http.ResponseWriter, r *http.Request) {
	q, err := cdxserver.Parse(r.URL.Query())
	if err != nil {
		refuse(w, err)
		return
	}
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	default:
		w.Header().Set("Retry-After", "1")
		refuse(w, errQueries)
		return
	}
	w.Header().Set("Content-Type", q.ContentType())
	err = answerLong(w, func(out io.Writer) error { return q.Write(r.Context(), c.lines, out) })
	if err != nil {
		c.log.Warn("a query of the index was not answered to its end", "error", err)
		panic(http.ErrAbortHandler) // so that the client does not take it for the end
	}
}

// answerLong sends what write writes, piece by piece. An error before the first piece is the answer; one behind it is
// returned.
func answerLong(w http.ResponseWriter, write func(out io.Writer) error) error {
	sent := &patient{to: w, conn: http.NewResponseController(w)}
	out := bufio.NewWriterSize(sent, 32<<10)
	err := write(out)
	switch {
	case err == nil:
		_ = out.Flush() // the client may be gone
	case sent.isBegun:
		return err
	default:
		answerWith(w, http.StatusInternalServerError, Reply{Error: shortened(err)})
	}
	return nil
}

// patient is an answer whose client may take answerMax for each piece.
type patient struct {
	to      io.Writer
	conn    *http.ResponseController
	isBegun bool
}

// Write writes a piece.
func (p *patient) Write(b []byte) (int, error) {
	p.isBegun = true
	_ = p.conn.SetWriteDeadline(time.Now().Add(answerMax)) // without a connection no client is slow
	return p.to.Write(b)
}

// noCaptures is the index of a crawl that has none.
type noCaptures struct{}

func (noCaptures) Scan(context.Context, lookup.Range, func([]byte) error) error { return nil }

// Captures are the index lines of a running crawl, asked over its control port.
func (c *Client) Captures() lookup.Lines { return remoteCaptures{c} }

type remoteCaptures struct{ client *Client }

// errCut says that the answer of a crawl ended too early.
var errCut = errors.New("control: the crawl ended while it was asked for its index")

// Scan asks for the lines of a range.
func (c remoteCaptures) Scan(ctx context.Context, want lookup.Range, do func(line []byte) error) error {
	values := url.Values{"from-key": {string(want.From)}, "to-key": {string(want.To)}}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.client.base+"/cdx?"+values.Encode(), http.NoBody)
	if err != nil {
		return fmt.Errorf("control: %w", err)
	}
	resp, err := c.client.send(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, errorMax))
		return fmt.Errorf("control: /cdx answered %s: %.200s", resp.Status, text)
	}
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, lineMax*4)
	for lines.Scan() {
		if err := do(lines.Bytes()); err != nil {
			return err
		}
	}
	if errors.Is(lines.Err(), io.ErrUnexpectedEOF) {
		return errCut
	}
	return lines.Err()
}
