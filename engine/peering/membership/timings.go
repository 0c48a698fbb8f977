package membership

import (
	"math"
	"time"
)

// Timings are the intervals and limits of the protocol. All agents of a crawl should have the same.
type Timings struct {
	ProbeInterval    time.Duration // between two probes of this agent; default 500 ms
	ProbeTimeout     time.Duration // for an answer to a UDP ping, less than ProbeInterval; default 300 ms
	SuspicionTimeout time.Duration // from suspect to dead; default 6 s
	GossipInterval   time.Duration // between gossip messages to three other agents; default 200 ms
	PushPullInterval time.Duration // between full exchanges of state, longer with more than 32 agents; default 5 s
	StreamTimeout    time.Duration // for one exchange over TCP; default 3 s
	RejoinInterval   time.Duration // between attempts to reach missing agents; default 5 s
}

// WithDefaults returns a copy in which zero fields have their defaults.
func (t Timings) WithDefaults() Timings {
	duration := func(d *time.Duration, v time.Duration) {
		if *d == 0 {
			*d = v
		}
	}
	duration(&t.ProbeInterval, 500*time.Millisecond)
	duration(&t.ProbeTimeout, 300*time.Millisecond)
	duration(&t.SuspicionTimeout, 6*time.Second)
	duration(&t.GossipInterval, 200*time.Millisecond)
	duration(&t.PushPullInterval, 5*time.Second)
	duration(&t.StreamTimeout, 3*time.Second)
	duration(&t.RejoinInterval, 5*time.Second)
	return t
}

// Scaled returns t with defaults, multiplied by a factor. A factor below 1 makes the protocol faster.
func (t Timings) Scaled(factor float64) Timings {
	t = t.WithDefaults()
	for _, d := range []*time.Duration{
		&t.ProbeInterval, &t.ProbeTimeout, &t.SuspicionTimeout, &t.GossipInterval,
		&t.PushPullInterval, &t.StreamTimeout, &t.RejoinInterval,
	} {
		*d = time.Duration(math.Round(float64(*d) * factor))
	}
	return t
}

// deadRetention is how long memberlist remembers a dead member, and gossips to it so that it can refute.
func (t *Timings) deadRetention() time.Duration { return 2 * t.SuspicionTimeout }

// suspicionMult is memberlist's SuspicionMult for n processes. Memberlist multiplies it by ProbeInterval and by the
// logarithm of n. The division here removes the logarithm, so that the result is SuspicionTimeout for any n. This keeps
// M2. The timeout is long enough for thousands of agents, which ten rounds of gossip reach.
func (t *Timings) suspicionMult(n int) int {
	scale := max(1, math.Log10(max(1, float64(n))))
	return max(1, int(math.Round(float64(t.SuspicionTimeout)/(scale*float64(t.ProbeInterval)))))
}
