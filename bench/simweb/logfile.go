package simweb

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// line is an Arrival as one line of JSON in a log file.
type line struct {
	Time       int64  `json:"time_ns"` // Unix time
	End        int64  `json:"end_ns"`
	URL        string `json:"url"`
	Status     int    `json:"status"`
	Conn       uint64 `json:"conn"`
	Agent      string `json:"agent,omitempty"`
	Whole      bool   `json:"whole,omitempty"`
	Cut        bool   `json:"cut,omitempty"`
	RetryAfter bool   `json:"retry_after,omitempty"`
	Lost       bool   `json:"lost,omitempty"`
}

// Write writes the arrivals from number from on, one line of JSON each, and returns the number that comes next: called
// again and again it streams a log to a file. Nothing is locked while it writes.
func (l *Log) Write(out io.Writer, from int) (next int, err error) {
	records, agents := l.snapshot(from)
	b := bufio.NewWriterSize(out, 64<<10)
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	next = from
	for i := range records {
		a := l.arrival(&records[i], agents)
		if err = e.Encode(line{Time: a.Time.UnixNano(), End: a.End.UnixNano(), URL: a.URL, Status: a.Status, Conn: a.Conn,
			Agent: a.Agent, Whole: a.Whole, Cut: a.Cut, RetryAfter: a.RetryAfter, Lost: records[i].flags&flagLost != 0}); err != nil {
			return next, fmt.Errorf("simweb: log: %w", err)
		}
		next++
	}
	if err = b.Flush(); err != nil {
		return next, fmt.Errorf("simweb: log: %w", err)
	}
	return next, nil
}

// ReadLog reads what Write wrote, of a server of the same world.
func (w *World) ReadLog(in io.Reader) (*Log, error) {
	l := w.NewLog()
	d := json.NewDecoder(bufio.NewReaderSize(in, 64<<10))
	for {
		var a line
		if err := d.Decode(&a); err == io.EOF {
			return l, nil
		} else if err != nil {
			return nil, fmt.Errorf("simweb: log: arrival %d: %w", l.count, err)
		}
		if l.base.IsZero() {
			l.base = time.Unix(0, a.Time)
		}
		n := arrival{start: time.Unix(0, a.Time), end: time.Unix(0, a.End), conn: uint32(a.Conn), url: a.URL,
			status: a.Status, agent: []byte(a.Agent)}
		n.t = w.targetOf(a.URL)
		for _, f := range []struct {
			is   bool
			flag uint8
		}{{a.Whole, flagWhole}, {a.Cut, flagCut}, {a.RetryAfter, flagRetryAfter}, {a.Lost, flagLost}} {
			if f.is {
				n.flags |= f.flag
			}
		}
		l.conns = max(l.conns, n.conn)
		l.add(&n)
	}
}

// targetOf is find for whatever a client may ask for.
func (w *World) targetOf(url string) target {
	if t, ok := w.find(url); ok && t.kind != kindNoHost {
		return t
	}
	t := target{host: -1, kind: kindUnknown}
	if _, authority, _, ok := split(url); ok {
		if w.guests.Has(authority) {
			t.kind = kindGuest
		}
		name, _, _ := splitPort(authority)
		if i, ok := w.findHost(name); ok {
			t.host = int32(i)
		}
	}
	return t
}
