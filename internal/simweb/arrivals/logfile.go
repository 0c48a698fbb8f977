package arrivals

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"orbweaver/internal/simweb"
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
	records, agents := l.Snapshot(from)
	b := bufio.NewWriterSize(out, 64<<10)
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	next = from
	for i := range records {
		a := l.arrival(&records[i], agents)
		err = e.Encode(line{
			Time: a.Time.UnixNano(), End: a.End.UnixNano(), URL: a.URL, Status: a.Status, Conn: a.Conn, Agent: a.Agent,
			Whole: a.Whole, Cut: a.Cut, RetryAfter: a.RetryAfter, Lost: records[i].Flags&FlagLost != 0,
		})
		if err != nil {
			return next, fmt.Errorf("simweb: log: %w", err)
		}
		next++
	}
	if err = b.Flush(); err != nil {
		return next, fmt.Errorf("simweb: log: %w", err)
	}
	return next, nil
}

// Read adds what Write wrote, of a server of the same world.
func (l *Log) Read(in io.Reader) error {
	d := json.NewDecoder(bufio.NewReaderSize(in, 64<<10))
	for {
		var a line
		if err := d.Decode(&a); err == io.EOF {
			return nil
		} else if err != nil {
			return fmt.Errorf("simweb: log: arrival %d: %w", l.count, err)
		}
		if l.base.IsZero() {
			l.base = time.Unix(0, a.Time)
		}
		n := Entry{Start: time.Unix(0, a.Time), End: time.Unix(0, a.End), Conn: uint32(a.Conn), URL: a.URL,
			Status: a.Status, Agent: []byte(a.Agent)}
		n.Target = l.TargetOf(a.URL)
		for _, f := range []struct {
			is   bool
			flag uint8
		}{{a.Whole, FlagWhole}, {a.Cut, FlagCut}, {a.RetryAfter, FlagRetryAfter}, {a.Lost, FlagLost}} {
			if f.is {
				n.Flags |= f.flag
			}
		}
		l.conns = max(l.conns, n.Conn)
		l.Add(&n)
	}
}

// TargetOf returns what any URL names that a client may ask for.
func (l *Log) TargetOf(url string) simweb.Target {
	if t, ok := l.model.Find(url); ok && t.Kind != simweb.KindNoHost {
		return t
	}
	t := simweb.Target{Host: -1, Kind: simweb.KindUnknown}
	if _, authority, _, ok := simweb.SplitURL(url); ok {
		if l.HasGuest(authority) {
			t.Kind = simweb.KindGuest
		}
		name, _, _ := simweb.SplitPort(authority)
		if i, ok := l.model.FindHost(name); ok {
			t.Host = int32(i)
		}
	}
	return t
}
