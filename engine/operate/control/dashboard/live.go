package dashboard

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"orbweaver/engine/operate/history"
)

// Live answers with the numbers of the crawl, once or as they change.
type Live struct {
	recorder *history.Recorder
	streams  chan struct{} // one for each open stream

	mu     sync.Mutex
	event  []byte // the last event
	number int64
	made   time.Time
}

const (
	streamsMost = 16
	eventEach   = time.Second
	// how long a browser may take to read an event
	eventPatience = 10 * time.Second
	// points of one series that a page may ask for
	pointsMost = 2000
	pointsEach = 600
	spanMost   = 7 * 24 * time.Hour
)

// NewLive returns a Live that tells what a recorder records.
func NewLive(recorder *history.Recorder) *Live {
	return &Live{recorder: recorder, streams: make(chan struct{}, streamsMost)}
}

// Now answers with the crawl as it is.
func (l *Live) Now(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(l.recorder.Now()) // the client may be gone
}

// Estimate is when the queue would be empty; nil if nothing is known of that.
func (l *Live) Estimate() *history.Estimate {
	now := l.recorder.Now()
	return now.End.Known()
}

// History answers with the samples of the time that the query names: span=1h or span=all, points=600, and perhaps
// names of series.
func (l *Live) History(w http.ResponseWriter, r *http.Request) {
	span, points := time.Hour, pointsEach
	query := r.URL.Query()
	isAll := query.Get("span") == "all"
	if s := query.Get("span"); s != "" && !isAll {
		d, err := time.ParseDuration(s)
		if err != nil || d < time.Second || d > spanMost {
			http.Error(w, "span is a time from 1s to 168h, or all", http.StatusBadRequest)
			return
		}
		span = d
	}
	if s := query.Get("points"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 || n > pointsMost {
			http.Error(w, "points is a number from 1 to 2000", http.StatusBadRequest)
			return
		}
		points = n
	}
	var series history.Series
	if isAll {
		series = l.recorder.QueryAll(points)
	} else {
		series = l.recorder.Query(span, points)
	}
	if names := query.Get("names"); names != "" {
		wanted := strings.Split(names, ",")
		maps.DeleteFunc(series.Series, func(name string, _ history.Points) bool { return !slices.Contains(wanted, name) })
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(series) // the client may be gone
}

// Events sends the crawl each second as server-sent events, until the client goes or the server ends. A client that is
// slow gets the newest event next.
func (l *Live) Events(w http.ResponseWriter, r *http.Request) {
	select {
	case l.streams <- struct{}{}:
		defer func() { <-l.streams }()
	default:
		w.Header().Set("Retry-After", "10")
		http.Error(w, "too many pages are open", http.StatusServiceUnavailable)
		return
	}
	conn := http.NewResponseController(w)
	_ = conn.SetReadDeadline(time.Time{}) // the deadline of the request's body would end the stream
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no")
	tick := time.NewTicker(eventEach)
	defer tick.Stop()
	for {
		_ = conn.SetWriteDeadline(time.Now().Add(eventPatience)) // without a connection no client is slow
		if _, err := w.Write(l.current()); err != nil {
			return
		}
		if err := conn.Flush(); err != nil {
			return
		}
		select {
		case <-tick.C:
		case <-r.Context().Done():
			return
		}
	}
}

// current is the event of this second, which is made once for all streams.
func (l *Live) current() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	if time.Since(l.made) < eventEach/2 {
		return l.event
	}
	text, err := json.Marshal(l.recorder.Now())
	if err != nil {
		text = []byte(`{}`) // numbers and names always have a form in JSON
	}
	l.number++
	b := []byte("id: ")
	b = strconv.AppendInt(b, l.number, 10)
	b = append(b, "\nretry: 3000\ndata: "...)
	b = append(b, text...)
	l.event, l.made = append(b, "\n\n"...), time.Now()
	return l.event
}
