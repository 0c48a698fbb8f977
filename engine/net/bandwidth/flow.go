package bandwidth

import (
	"math"
	"net"
	"time"
)

// Flow is the part of one fetch worker in the limits. Only its worker uses it.
type Flow struct {
	limits   *Limits
	isStart  bool  // bytes are set aside for the Visit
	received int64 // bytes of the Visit

	host     *hostBucket // of the exchange; nil if its host has no limit
	hostRate int64       // bytes per second; 0 if the host has no limit
	hostDue  time.Time   // when the bytes of the host are covered; zero if they are
	totalDue time.Time   // when those of the total are
}

// NewFlow returns the part of a worker.
func (l *Limits) NewFlow() *Flow { return &Flow{limits: l} }

// BeginVisit begins a Visit for which StartVisits has set bytes aside.
func (f *Flow) BeginVisit() {
	f.isStart, f.received = f.limits.total.rate.Load() > 0, 0
	f.hostDue = time.Time{}
}

// EndVisit ends the Visit.
func (f *Flow) EndVisit() {
	f.settle()
	if f.received > 0 {
		f.limits.note(f.received)
	}
}

// settle gives back what was set aside for the Visit.
func (f *Flow) settle() {
	if f.isStart {
		f.isStart = false
		f.limits.GiveBack()
	}
}

// HostLimit is the limit of one host.
type HostLimit struct {
	Host []byte // name or address, without port
	Rate int64  // bytes per second; 0 for the limit of all hosts
}

// Begin begins an exchange with a host. It borrows the name.
func (f *Flow) Begin(h HostLimit) {
	f.totalDue, f.hostDue = time.Time{}, time.Time{}
	if f.hostRate = h.Rate; h.Rate == 0 {
		f.hostRate = f.limits.perHost.Load()
	}
	if f.hostRate > 0 {
		f.host = f.limits.openHost(h.Host, f.hostRate, h.Rate > 0)
	}
}

// End ends the exchange.
func (f *Flow) End() {
	if f.hostRate > 0 {
		f.limits.closeHost(f.host)
		f.host, f.hostRate = nil, 0
	}
}

// HostDue returns when the host may be asked again because of its limit; zero if it does not matter.
func (f *Flow) HostDue() time.Time { return f.hostDue }

// Received counts bytes of the exchange.
func (f *Flow) Received(n int) {
	if f.limits.total.rate.Load() > 0 {
		f.settle()
		f.received += int64(n)
		f.totalDue = f.limits.total.take(int64(n))
	}
	if f.hostRate > 0 {
		f.hostDue = f.host.take(int64(n))
	}
}

// piecesPerSecond is how many pieces of a body the lower limit allows in a second.
const piecesPerSecond = 64

// PieceMax returns how many bytes the worker may receive at once.
func (f *Flow) PieceMax() int {
	rate := f.limits.total.rate.Load()
	if rate == 0 || f.hostRate > 0 && f.hostRate < rate {
		rate = f.hostRate
	}
	if rate == 0 {
		return math.MaxInt
	}
	return int(max(rate/piecesPerSecond, 1<<10))
}

// Wait waits until what was received is covered, and returns how long that took. It returns early if done is closed or
// a limit changes.
func (f *Flow) Wait(done <-chan struct{}) (waited time.Duration) {
	if f.totalDue.IsZero() && f.hostDue.IsZero() {
		return 0
	}
	began := time.Now()
	if f.hostDue.After(f.totalDue) {
		f.limits.hostsWaiting.Add(1)
		f.limits.wait(f.hostDue, done, nil)
		f.limits.hostsWaiting.Add(-1)
	} else {
		f.limits.waiting.Add(1)
		f.limits.wait(f.totalDue, done, nil)
		f.limits.waiting.Add(-1)
	}
	f.totalDue, f.hostDue = time.Time{}, time.Time{}
	return time.Since(began)
}

// Patience returns for how much longer than usual the worker may wait for memory that others hold: their exchanges take
// longer if bandwidth is limited.
func (f *Flow) Patience() time.Duration {
	if f.limits.total.rate.Load() == 0 && f.hostRate == 0 {
		return 0
	}
	return patience
}

// patience is longer than a long body takes.
const patience = 7 * 24 * time.Hour

// Meter is a connection whose bytes a Flow counts as they come, below TLS.
type Meter struct {
	net.Conn

	Flow *Flow
}

// Read implements net.Conn.
func (m *Meter) Read(b []byte) (int, error) {
	n, err := m.Conn.Read(b)
	if n > 0 {
		m.Flow.Received(n)
	}
	return n, err //nolint:wrapcheck // TLS looks at it
}
