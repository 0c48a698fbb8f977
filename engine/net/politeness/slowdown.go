package politeness

import (
	"math/bits"
	"time"
)

// Slowdown is how much the delay of a site or IP address is lengthened, in quarters of a doubling: 4 is twice the
// delay, 8 four times. 0 is the plain delay. It grows with each sign of overload and falls with each good answer.
// Range: 0 to slowdownMax.
type Slowdown uint8

// What a sign of overload adds, and what a good answer subtracts. A site that refuses one request in five is asked at a
// constant rate.
const (
	slowdownStep           = 4 // doubles the delay
	slowdownStepRetryAfter = 2 // less, because the site itself named the wait
	slowdownStepBack       = 1
	slowdownMax            = 160 // more than any delay and limit can need
)

// quarters returns what the s%4 quarters of a doubling add to a delay, in 256ths.
func (s Slowdown) quarters() int64 { return [...]int64{0, 48, 106, 175}[s%4] }

// lengthen returns delay times 2^(s/4), at most most and never less than delay.
func (s Slowdown) lengthen(delay, most time.Duration) time.Duration {
	most = max(most, delay)
	wait := delay
	for n := s / 4; n > 0 && wait < most; n-- {
		wait *= 2
	}
	if wait < most {
		wait += time.Duration(int64(wait) * s.quarters() / 256)
	}
	return min(wait, most)
}

// increase adds by, unless the lengthened delay has reached most already: a larger value would only take longer to
// fall.
func (s Slowdown) increase(by Slowdown, delay, most time.Duration) Slowdown {
	if s.lengthen(delay, most) >= most {
		return s
	}
	return min(s+by, slowdownMax)
}

// decrease subtracts slowdownStepBack for one good answer.
func (s Slowdown) decrease() Slowdown { return s - min(s, slowdownStepBack) }

// SlowedDelay returns the host delay of a site, lengthened by its slowdown.
func (p *Policy) SlowedDelay(delay time.Duration, s Slowdown) time.Duration {
	return s.lengthen(delay, p.SlowedDelayMax)
}

// SlowedIPDelay returns the delay of an IP address or of a group of hosts, lengthened by its slowdown. delay is that of
// the group; 0 for none.
func (p *Policy) SlowedIPDelay(delay time.Duration, s Slowdown) time.Duration {
	return s.lengthen(max(p.IPDelay, delay), p.SlowedIPDelayMax)
}

// IPSlowdown is the slowdown of an IP address, and which of its sites failed last. Failures of one site concern that
// site. A failure of a second site, without a good answer in between, is taken as overload of the machine.
type IPSlowdown struct {
	Level    Slowdown
	SiteHash uint16 // Attempt.SiteHash of the site that failed last; 0 if the last answer was good and Level is 0
}

// Pack returns s in 24 bits.
func (s IPSlowdown) Pack() uint32 { return uint32(s.SiteHash)<<8 | uint32(s.Level) }

// UnpackIPSlowdown is the inverse of Pack.
func UnpackIPSlowdown(b uint32) IPSlowdown { return IPSlowdown{Slowdown(b), uint16(b >> 8)} }

// after returns the slowdown of an IP address after one more outcome of one of its sites.
func (s IPSlowdown) after(rule *Rule, site uint16, delay, most time.Duration) IPSlowdown {
	switch {
	case rule.SlowsIP && s.SiteHash != 0 && s.SiteHash != site:
		return IPSlowdown{s.Level.increase(slowdownStep, delay, most), site}
	case rule.SlowsIP:
		return IPSlowdown{s.Level, site}
	case rule.isFinalAnswer() && s.Level == 0:
		return IPSlowdown{}
	case rule.isFinalAnswer():
		return IPSlowdown{s.Level.decrease(), s.SiteHash}
	default:
		return s
	}
}

// addJitter returns wait plus a random part of up to a quarter of it, so that many sites do not become due at the same
// time.
func addJitter(wait time.Duration, bits64 uint64) time.Duration {
	more, _ := bits.Mul64(bits64, uint64(wait/4))
	return wait + time.Duration(more)
}
