package arrivals

import (
	"iter"
	"net/netip"
	"slices"
	"sync"
	"time"

	"orbweaver/internal/simweb"
)

// Arrival is one request as the server saw it.
type Arrival struct {
	Time   time.Time  // the request's first byte
	End    time.Time  // just before the last write of the answer, so that no client can beat it
	URL    string     // normal form, or what was asked for if that is no URL
	Site   string     // scheme://host[:port]
	Host   string     // the host's name, lower case, without port
	Addr   netip.Addr // what AddrOf says of the host; zero for hosts that are not in the world
	Path   string     // path and query
	Status int        // 0 if no status was sent
	Conn   uint64     // which connection, from 1
	Agent  string     // User-Agent
	Whole  bool       // a final answer was sent whole; trying again is not called for
	Cut    bool       // the client closed before the server had finished

	RetryAfter bool // the answer asked for a pause of Timing.RetryAfter
}

// Record is an Arrival in 40 bytes without pointers.
type Record struct {
	Time   int64 // nanoseconds from the log's start
	End    int64
	conn   uint32
	Target simweb.Target
	Status uint16
	Agent  uint8
	Flags  uint8
}

// The flags of a record.
const (
	FlagWhole = 1 << iota
	FlagCut
	FlagRetryAfter
	FlagLost   // the client may have forgotten the answer
	FlagPacked // the payload was sent in its gzip form since the client accepts that
)

// logChunk is how many records are kept together.
const logChunk = 4096

// Names says what names mean beyond the model: guests have hosts too.
type Names interface {
	// AddrOf returns the address of a host, zero for none.
	AddrOf(name string) netip.Addr
	// HasGuest reports whether an authority names a host of a guest.
	HasGuest(authority string) bool
}

// Log is what the server side saw, in order of the answers' ends. It is safe for concurrent use.
type Log struct {
	Names

	model   *simweb.Model
	discard bool // nothing is kept

	mu         sync.Mutex
	base       time.Time // when the first connection came; zero before
	chunks     [][]Record
	count      int
	conns      uint32
	unknown    []string // URLs that are not in the world
	unknownIDs map[string]uint32
	agents     []string
}

// NewLog makes an empty log of a model.
func NewLog(m *simweb.Model, names Names) *Log {
	return &Log{model: m, Names: names, unknownIDs: make(map[string]uint32), agents: []string{""}}
}

// NewDiscardLog makes a log that keeps nothing.
func NewDiscardLog(m *simweb.Model, names Names) *Log {
	l := NewLog(m, names)
	l.discard = true
	return l
}

// Len is the number of arrivals.
func (l *Log) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.count
}

// Connect numbers a new connection.
func (l *Log) Connect(now time.Time) uint32 {
	if l.discard {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.base.IsZero() {
		l.base = now
	}
	l.conns++
	return l.conns
}

// Entry is what a server notes of a request.
type Entry struct {
	Start, End time.Time
	Conn       uint32
	Target     simweb.Target
	URL        string // if Target is KindUnknown or KindGuest
	Status     int
	Agent      []byte
	Flags      uint8
}

// Add notes an arrival and returns its number.
func (l *Log) Add(a *Entry) int {
	if l.discard {
		return -1
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	t := a.Target
	if t.Kind == simweb.KindUnknown || t.Kind == simweb.KindGuest {
		t.Page = l.intern(a.URL)
	}
	if l.count%logChunk == 0 {
		l.chunks = append(l.chunks, make([]Record, 0, logChunk))
	}
	last := len(l.chunks) - 1
	l.chunks[last] = append(l.chunks[last], Record{Time: a.Start.Sub(l.base).Nanoseconds(),
		End: a.End.Sub(l.base).Nanoseconds(), conn: a.Conn, Target: t, Status: uint16(a.Status), Agent: l.agent(a.Agent),
		Flags: a.Flags})
	l.count++
	return l.count - 1
}

// MarkCut marks an arrival whose answer could not be sent whole.
func (l *Log) MarkCut(n int) {
	if n < 0 {
		return
	}
	l.mu.Lock()
	r := &l.chunks[n/logChunk][n%logChunk]
	r.Flags = r.Flags&^FlagWhole | FlagCut
	l.mu.Unlock()
}

// unknownMax bounds the memory for URLs that are not in the world; what comes later is logged under one name.
const unknownMax = 1 << 20

func (l *Log) intern(url string) uint32 {
	if id, ok := l.unknownIDs[url]; ok {
		return id
	}
	if len(l.unknown) >= unknownMax {
		url = "(one of too many unknown URLs)"
		if id, ok := l.unknownIDs[url]; ok {
			return id
		}
	}
	id := uint32(len(l.unknown))
	l.unknown = append(l.unknown, url)
	l.unknownIDs[url] = id
	return id
}

func (l *Log) agent(b []byte) uint8 {
	for i, a := range l.agents {
		if a == string(b) {
			return uint8(i)
		}
	}
	if len(l.agents) == 255 {
		return 0
	}
	l.agents = append(l.agents, string(b))
	return uint8(len(l.agents) - 1)
}

// All yields the arrivals in order of their ends, as they are when it is called.
func (l *Log) All() iter.Seq[Arrival] {
	return func(yield func(Arrival) bool) {
		records, agents := l.Snapshot(0)
		for i := range records {
			if !yield(l.arrival(&records[i], agents)) {
				return
			}
		}
	}
}

// Snapshot copies the records from number from on and the User-Agents they number.
func (l *Log) Snapshot(from int) ([]Record, []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	from = min(max(from, 0), l.count)
	all := make([]Record, 0, l.count-from)
	for at := from; at < l.count; at += logChunk - at%logChunk {
		all = append(all, l.chunks[at/logChunk][at%logChunk:]...)
	}
	return all, slices.Clone(l.agents)
}

func (l *Log) arrival(r *Record, agents []string) Arrival {
	l.mu.Lock()
	base := l.base
	l.mu.Unlock()
	a := Arrival{Time: base.Add(time.Duration(r.Time)), End: base.Add(time.Duration(r.End)), URL: l.URL(r.Target),
		Status: int(r.Status), Conn: uint64(r.conn), Agent: agents[r.Agent], Whole: r.Flags&FlagWhole != 0,
		Cut: r.Flags&FlagCut != 0, RetryAfter: r.Flags&FlagRetryAfter != 0}
	https, authority, path, ok := simweb.SplitURL(a.URL)
	if !ok {
		return a
	}
	a.Path = path
	a.Host, _, _ = simweb.SplitPort(authority)
	a.Site = "http://" + authority
	if https {
		a.Site = "https://" + authority
	}
	a.Addr = l.AddrOf(a.Host)
	return a
}

// URL names a record's target.
func (l *Log) URL(t simweb.Target) string {
	if t.Kind == simweb.KindUnknown || t.Kind == simweb.KindGuest {
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.unknown[t.Page]
	}
	return string(l.model.AppendURL(nil, t))
}
