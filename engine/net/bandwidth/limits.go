package bandwidth

import (
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"orbweaver/internal/notify"
)

// Limits are the limits of a crawl. They are safe for concurrent use.
type Limits struct {
	total   bucket
	perHost atomic.Int64 // bytes per second from a host without a rule; 0 for no limit

	waiting      atomic.Int64  // workers that wait for the total
	hostsWaiting atomic.Int64  // workers that wait for the limit of a host
	givenBack    atomic.Int64  // bytes that were set aside and given back
	returned     chan struct{} // signalled when bytes are given back

	mu      sync.Mutex // guards the fields below; held for a few instructions
	changed chan struct{}
	visits  visits
	pauses  pauses
	hosts   hostTable
}

// pauses are the waits between Visits: for how long in this second and in the one before.
type pauses struct {
	second    int64 // Unix time
	now, last time.Duration
	began     time.Time // of the wait at hand; zero if there is none
}

// add adds a wait that has ended.
func (p *pauses) add(now time.Time, took time.Duration) {
	switch second := now.Unix(); second - p.second {
	case 0:
		p.now += took
	case 1:
		p.second, p.last, p.now = second, p.now, took
	default:
		p.second, p.last, p.now = second, 0, took
	}
}

// areLong reports whether Visits have waited for half of the last second or longer.
func (p pauses) areLong(now time.Time) bool {
	took := time.Duration(0)
	if !p.began.IsZero() {
		took = now.Sub(p.began)
	}
	p.add(now, took)
	return max(p.now, p.last) >= time.Second/2
}

// visits are the Visits without a response yet.
type visits struct {
	count int64
	mean  int64 // bytes of a Visit; so many are set aside for each
}

// The mean number of bytes of a Visit, at first and at the limits.
const (
	firstMean = 16 << 10
	meanMin   = 1 << 10
	meanMax   = 256 << 10
	meanParts = 16 // weight of the mean against that of a new number
)

// New returns limits.
func New(o Options) *Limits {
	l := &Limits{
		changed: make(chan struct{}), returned: make(chan struct{}, 1),
		visits: visits{mean: firstMean}, hosts: newHostTable(),
	}
	l.perHost.Store(o.PerHost)
	l.total.set(o.Total, time.Now())
	return l
}

// Unlimited returns limits that limit nothing, until they are set.
func Unlimited() *Limits { return New(Options{}) }

// The names of the limits, which are those of their flags.
const (
	Total   = "bandwidth"
	PerHost = "host-bandwidth"
)

// Set changes a limit, in bytes per second; 0 for none. All that wait go on.
func (l *Limits) Set(name string, rate int64) error {
	if rate != 0 && rate < RateMin {
		return fmt.Errorf("%s: %d bytes per second is too little; at least 1KiB/s, or 0 for no limit", name, rate)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch name {
	case Total:
		if rate == 0 { // Visits that begin now do not know that bytes were set aside for them
			l.visits.count = 0
		}
		l.total.set(rate, time.Now())
		l.total.take(l.visits.count * l.visits.mean)
	case PerHost:
		l.perHost.Store(rate)
		l.hosts.setRates(rate, time.Now())
	default:
		return fmt.Errorf("%.80s is no limit of bandwidth", name)
	}
	close(l.changed)
	l.changed = make(chan struct{})
	return nil
}

// State is what a report says of the limits.
type State struct {
	Total, PerHost int64 // bytes per second; 0 for no limit
	IsThrottling   bool  // exchanges wait for the total, or could not begin for half of the last second
	HostsWaiting   int   // exchanges that wait for the limit of their host
}

// State returns the limits, and what waits for them.
func (l *Limits) State() State {
	l.mu.Lock()
	pauses := l.pauses
	l.mu.Unlock()
	s := State{Total: l.total.rate.Load(), PerHost: l.perHost.Load(), HostsWaiting: int(l.hostsWaiting.Load())}
	s.IsThrottling = s.Total > 0 && (l.waiting.Load() > 0 || pauses.areLong(time.Now()))
	return s
}

// VisitsMax returns how many Visits may start together: at least one.
func (l *Limits) VisitsMax() int {
	if l.total.rate.Load() == 0 {
		return math.MaxInt
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return int(max(l.total.credit.Load()/l.visits.mean, 1))
}

// StartVisits sets bytes aside for Visits that start now, and waits until the next ones may. It returns early if a
// limit changes, and false if done is closed.
func (l *Limits) StartVisits(n int, done <-chan struct{}) bool {
	rate := l.total.rate.Load()
	if rate == 0 || n == 0 {
		return true
	}
	given := l.givenBack.Load()
	l.mu.Lock()
	l.visits.count += int64(n)
	bytes := int64(n) * l.visits.mean
	l.mu.Unlock()
	due := l.total.take(bytes)
	for due.After(time.Now()) {
		goesOn := l.pause(due, done)
		if !goesOn || l.total.rate.Load() != rate {
			return goesOn
		}
		// The bytes of these Visits, or of earlier ones, need not be waited for any more.
		now := l.givenBack.Load()
		due = due.Add(-time.Duration(float64(now-given) / float64(rate) * float64(time.Second)))
		given = now
	}
	return true
}

// pause waits between Visits until due, until bytes are given back, or until a limit changes.
func (l *Limits) pause(due time.Time, done <-chan struct{}) bool {
	began := time.Now()
	l.mu.Lock()
	l.pauses.began = began
	l.mu.Unlock()
	goesOn := l.wait(due, done, l.returned)
	now := time.Now()
	l.mu.Lock()
	l.pauses.began = time.Time{}
	l.pauses.add(now, now.Sub(began))
	l.mu.Unlock()
	return goesOn
}

// wait waits until due, until other is signalled, or until a limit changes. It returns false if done is closed.
func (l *Limits) wait(due time.Time, done, other <-chan struct{}) bool {
	l.mu.Lock()
	changed := l.changed
	l.mu.Unlock()
	timer := time.NewTimer(time.Until(due))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-changed:
	case <-other:
	case <-done:
		return false
	}
	return true
}

// GiveBack gives back the bytes that were set aside for one Visit.
func (l *Limits) GiveBack() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.visits.count > 0 {
		l.visits.count--
		l.total.take(-l.visits.mean)
		l.givenBack.Add(l.visits.mean)
		notify.Send(l.returned)
	}
}

// note notes how many bytes a Visit had. The bytes that are set aside for others change with the mean.
func (l *Limits) note(bytes int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	v := &l.visits
	bytes = min(bytes, meanMax)
	mean := max(v.mean+(bytes-v.mean)/meanParts, meanMin)
	l.total.take(v.count * (mean - v.mean))
	v.mean = mean
}

// Options are the limits at the start of a crawl, in bytes per second.
type Options struct {
	Total   int64 `name:"bandwidth" type:"rate" help:"Bytes per second that all requests together receive, such as 10MiB/s; 0 for no limit. Each agent has its own." default:"0" least:"1KiB" zero:"0" placeholder:"RATE" basic:""`
	PerHost int64 `name:"host-bandwidth" type:"rate" help:"Bytes per second from each host, for hosts without a rule of their own (host-bandwidth in --host-rules); 0 for no limit." default:"0" least:"1KiB" zero:"0" placeholder:"RATE"`
}

// RateMin is the lowest limit, in bytes per second.
const RateMin = 1 << 10
