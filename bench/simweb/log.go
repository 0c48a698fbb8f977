package simweb

import (
	"iter"
	"net/netip"
	"slices"
	"sync"
	"time"
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

// record is an Arrival in 40 bytes without pointers.
type record struct {
	time   int64 // nanoseconds from the log's start
	end    int64
	conn   uint32
	t      target
	status uint16
	agent  uint8
	flags  uint8
}

const (
	flagWhole = 1 << iota
	flagCut
	flagRetryAfter
	flagLost   // the client may have forgotten what it was told
	flagPacked // the payload was sent in its gzip form since the client accepts that
)

// logChunk is how many records are kept together.
const logChunk = 4096

// Log is what the server side saw, in order of the answers' ends. It is safe for concurrent use.
type Log struct {
	w *World

	mu      sync.Mutex
	base    time.Time // when the first connection came; zero before
	chunks  [][]record
	count   int
	conns   uint32
	names   []string // URLs that are not in the world
	nameIDs map[string]uint32
	agents  []string
}

// NewLog makes an empty log of this world.
func (w *World) NewLog() *Log {
	return &Log{w: w, nameIDs: make(map[string]uint32), agents: []string{""}}
}

// Len is the number of arrivals.
func (l *Log) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.count
}

// connect numbers a new connection.
func (l *Log) connect(now time.Time) uint32 {
	if l == nil {
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

// arrival is what Serve notes.
type arrival struct {
	start, end time.Time
	conn       uint32
	t          target
	url        string // if t is kindUnknown or kindGuest
	status     int
	agent      []byte
	flags      uint8
}

// add notes an arrival and returns its number.
func (l *Log) add(a *arrival) int {
	if l == nil {
		return -1
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	t := a.t
	if t.kind == kindUnknown || t.kind == kindGuest {
		t.page = l.intern(a.url)
	}
	if l.count%logChunk == 0 {
		l.chunks = append(l.chunks, make([]record, 0, logChunk))
	}
	last := len(l.chunks) - 1
	l.chunks[last] = append(l.chunks[last], record{time: a.start.Sub(l.base).Nanoseconds(),
		end: a.end.Sub(l.base).Nanoseconds(), conn: a.conn, t: t, status: uint16(a.status), agent: l.agent(a.agent),
		flags: a.flags})
	l.count++
	return l.count - 1
}

// spoil marks an arrival whose answer could not be sent whole.
func (l *Log) spoil(n int) {
	if n < 0 {
		return
	}
	l.mu.Lock()
	r := &l.chunks[n/logChunk][n%logChunk]
	r.flags = r.flags&^flagWhole | flagCut
	l.mu.Unlock()
}

// namesMax bounds what strangers' URLs cost; what comes later is logged under one name.
const namesMax = 1 << 20

func (l *Log) intern(url string) uint32 {
	if id, ok := l.nameIDs[url]; ok {
		return id
	}
	if len(l.names) >= namesMax {
		url = "(one of too many unknown URLs)"
		if id, ok := l.nameIDs[url]; ok {
			return id
		}
	}
	id := uint32(len(l.names))
	l.names = append(l.names, url)
	l.nameIDs[url] = id
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
		records, agents := l.snapshot(0)
		for i := range records {
			if !yield(l.arrival(&records[i], agents)) {
				return
			}
		}
	}
}

// snapshot copies the records from number from on and the User-Agents they number.
func (l *Log) snapshot(from int) ([]record, []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	from = min(max(from, 0), l.count)
	all := make([]record, 0, l.count-from)
	for at := from; at < l.count; at += logChunk - at%logChunk {
		all = append(all, l.chunks[at/logChunk][at%logChunk:]...)
	}
	return all, slices.Clone(l.agents)
}

func (l *Log) arrival(r *record, agents []string) Arrival {
	l.mu.Lock()
	base := l.base
	l.mu.Unlock()
	a := Arrival{Time: base.Add(time.Duration(r.time)), End: base.Add(time.Duration(r.end)), URL: l.url(r.t),
		Status: int(r.status), Conn: uint64(r.conn), Agent: agents[r.agent], Whole: r.flags&flagWhole != 0,
		Cut: r.flags&flagCut != 0, RetryAfter: r.flags&flagRetryAfter != 0}
	https, authority, path, ok := split(a.URL)
	if !ok {
		return a
	}
	a.Path = path
	a.Host, _, _ = splitPort(authority)
	a.Site = "http://" + authority
	if https {
		a.Site = "https://" + authority
	}
	a.Addr = l.w.AddrOf(a.Host)
	return a
}

// url names a record's target.
func (l *Log) url(t target) string {
	if t.kind == kindUnknown || t.kind == kindGuest {
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.names[t.page]
	}
	return string(l.w.appendURL(nil, t))
}
