package bandwidth

import "time"

// hostTable has the hosts with a limit whose exchanges are under way, or whose bytes are not covered.
type hostTable struct {
	buckets map[string]*hostBucket
	sweepAt int // number of hosts at which those that are covered are removed
}

// hostBucket is the bucket of a host. Its exchanges share it.
type hostBucket struct {
	bucket
	name      string
	hasRule   bool // its limit is not that of all hosts
	exchanges int  // under way
}

// sweepMin is the least number of hosts at which those that are covered are removed.
const sweepMin = 64

func newHostTable() hostTable {
	return hostTable{buckets: make(map[string]*hostBucket), sweepAt: sweepMin}
}

// openHost begins an exchange with a host whose limit is rate. hasRule says that a rule of the host sets it.
func (l *Limits) openHost(name []byte, rate int64, hasRule bool) *hostBucket {
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	t := &l.hosts
	h := t.buckets[string(name)]
	if h == nil {
		t.sweep(now)
		h = &hostBucket{name: string(name)}
		t.buckets[h.name] = h
	}
	if h.rate.Load() != rate {
		h.set(rate, now)
	}
	h.hasRule = hasRule
	h.exchanges++
	return h
}

// closeHost ends an exchange.
func (l *Limits) closeHost(h *hostBucket) {
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if h.exchanges--; h.exchanges == 0 && h.isCovered(now) {
		delete(l.hosts.buckets, h.name)
	}
}

// sweep removes the hosts whose bytes are covered, if there are many. The hosts that stay decide when it is done again,
// so that it costs little for each.
func (t *hostTable) sweep(now time.Time) {
	if len(t.buckets) < t.sweepAt {
		return
	}
	for name, h := range t.buckets {
		if h.exchanges == 0 && h.isCovered(now) {
			delete(t.buckets, name)
		}
	}
	t.sweepAt = max(2*len(t.buckets), sweepMin)
}

// setRates sets the limit of the hosts without a rule.
func (t *hostTable) setRates(rate int64, now time.Time) {
	for _, h := range t.buckets {
		if !h.hasRule {
			h.set(rate, now)
		}
	}
}
