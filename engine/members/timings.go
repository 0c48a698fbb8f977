package members

import (
	"math"
	"time"
)

// Timings are how fast the agents talk. All agents of a crawl should have the same.
type Timings struct {
	Probe    time.Duration // each agent probes one other so often; default 500 ms
	Answer   time.Duration // wait for a direct answer, then others are asked to try; under Probe; default 300 ms
	Patience time.Duration // a suspected agent has so long to say that it lives; default 6 s
	Gossip   time.Duration // news go to three others so often; default 200 ms
	Sync     time.Duration // full exchange of state with one other so often, rarer in groups of more than 32; default 5 s
	Stream   time.Duration // limit of one exchange over TCP; default 3 s
	Seek     time.Duration // agents that are missing are looked for so often; default 5 s
}

// WithDefaults returns a copy in which zero fields have their defaults.
func (t Timings) WithDefaults() Timings {
	duration := func(d *time.Duration, v time.Duration) {
		if *d == 0 {
			*d = v
		}
	}
	duration(&t.Probe, 500*time.Millisecond)
	duration(&t.Answer, 300*time.Millisecond)
	duration(&t.Patience, 6*time.Second)
	duration(&t.Gossip, 200*time.Millisecond)
	duration(&t.Sync, 5*time.Second)
	duration(&t.Stream, 3*time.Second)
	duration(&t.Seek, 5*time.Second)
	return t
}

// Scaled returns the defaults times a factor: below one everything goes faster.
func (t Timings) Scaled(factor float64) Timings {
	t = t.WithDefaults()
	for _, d := range []*time.Duration{&t.Probe, &t.Answer, &t.Patience, &t.Gossip, &t.Sync, &t.Stream, &t.Seek} {
		*d = time.Duration(math.Round(float64(*d) * factor))
	}
	return t
}

// remembered is how long memberlist keeps the dead, and gossips to them so that they can refute.
func (t *Timings) remembered() time.Duration { return 2 * t.Patience }

// suspicionMult is the factor that makes memberlist wait for Patience in a group of n: it multiplies by the logarithm of the group's size,
// since news take so many rounds, which Patience has room for: ten rounds of gossip reach thousands.
func (t *Timings) suspicionMult(n int) int {
	scale := max(1, math.Log10(max(1, float64(n))))
	return max(1, int(math.Round(float64(t.Patience)/(scale*float64(t.Probe)))))
}
