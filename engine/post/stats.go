package post

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"
)

// Stats is what an Office has done.
type Stats struct {
	Peers   []PeerStats        // by their names
	Refused [refusalsEnd]int64 // by Refusal: connections, hellos and frames that were not taken
}

// PeerStats is what was exchanged with one agent.
type PeerStats struct {
	ID      string
	Addr    netip.AddrPort // where letters to it go; not valid if none ever did
	Version int            // of the protocol, of letters to it; 0 while there is no connection
	Since   time.Time      // when that connection began; zero while there is none
	Heard   time.Time      // when its connection to us began; zero while there is none
	Out     Flow           // from here to it
	In      Flow           // from it to here

	LastError   string // of letters and questions to it, or about what it sent
	LastErrorAt time.Time
}

// Flow is one direction. Letters = UnderWay + Acknowledged + Quota + Refused + Failed + Unknown.
type Flow struct {
	Letters      int64 // sent, or received whole
	Bytes        int64 // of their batches
	Packed       int64 // bytes of the same on the wire
	UnderWay     int64
	Acknowledged int64
	Quota        int64 // the receiver said to wait
	Refused      int64 // the receiver never wants them
	Failed       int64 // the receiver could not take them
	Unknown      int64 // the connection broke first, or the receiver's answer could not be sent
	Questions    int64
}

// Refusal is why somebody was not spoken with.
type Refusal int

// The reasons.
const (
	RefusedHandshake Refusal = iota // no TLS 1.3, no certificate, or no end of it in time
	RefusedIdentity                 // another authority, another crawl, a name that is not its own or is ours
	RefusedExpired                  // its certificate has ended, or not begun
	RefusedReplaced                 // an agent's certificate that is older than one it has shown
	RefusedVersion                  // no version in common
	RefusedMalformed                // frames that are none, numbers out of order, what does not unpack
	RefusedTooLong                  // a frame above the limit
	RefusedBanned                   // came back before its ban was over
	RefusedCrowd                    // too many connections, or too many names
	RefusedSilent                   // a connection that ended without a hello that was taken
	refusalsEnd
)

// String names it for metrics.
func (r Refusal) String() string {
	return [...]string{"handshake", "identity", "expired", "replaced", "version", "malformed", "too_long", "banned", "crowd", "silent"}[r]
}

// tally is what is counted of one agent.
type tally struct {
	mu    sync.Mutex
	stats PeerStats
}

// do changes what is counted.
func (t *tally) do(f func(s *PeerStats)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f(&t.stats)
}

func (t *tally) failed(err error) {
	t.do(func(s *PeerStats) { s.LastError, s.LastErrorAt = err.Error(), time.Now() })
}

// end counts what has become of a letter that was under way; nil for one nobody knows of.
func (f *Flow) end(r *result) {
	f.UnderWay--
	switch {
	case r == nil:
		f.Unknown++
	case r.Kind == resultKept:
		f.Acknowledged++
	case r.Kind == resultQuota:
		f.Quota++
	case r.Kind == resultRefused:
		f.Refused++
	default:
		f.Failed++
	}
}

// counters are those of an Office.
type counters struct {
	mu      sync.Mutex
	peers   map[string]*tally
	refused [refusalsEnd]int64
	said    [refusalsEnd]time.Time // when a refusal was last told to the log
	unsaid  [refusalsEnd]int64     // refusals since
}

// tally finds an agent's, or makes it; nil if there are too many already.
func (c *counters) tally(id string, most int) *tally {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.peers[id]
	if t == nil && len(c.peers) < most {
		t = &tally{stats: PeerStats{ID: id}}
		c.peers[id] = t
	}
	return t
}

func (c *counters) forget(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.peers, id)
}

// refused counts, and says it if that kind was not said lately.
func (o *Office) refused(why Refusal, id string, from net.Addr, err error) {
	c := &o.counters
	c.mu.Lock()
	c.refused[why]++
	now := time.Now()
	quiet := now.Sub(c.said[why]) < sayEvery
	more := c.unsaid[why]
	if quiet {
		c.unsaid[why]++
	} else {
		c.said[why], c.unsaid[why] = now, 0
	}
	c.mu.Unlock()
	if !quiet {
		o.opt.Log.Warn("letters: somebody was refused", "why", why.String(), "agent", id, "from", fmt.Sprint(from), "error", short(err), "more_before", more)
	}
}

// Stats is a copy, at any time.
func (o *Office) Stats() (s Stats) {
	c := &o.counters
	c.mu.Lock()
	s.Refused = c.refused
	all := make([]*tally, 0, len(c.peers))
	for _, t := range c.peers {
		all = append(all, t)
	}
	c.mu.Unlock()
	for _, t := range all {
		t.do(func(p *PeerStats) { s.Peers = append(s.Peers, *p) })
	}
	slices.SortFunc(s.Peers, func(a, b PeerStats) int { return strings.Compare(a.ID, b.ID) })
	return s
}
