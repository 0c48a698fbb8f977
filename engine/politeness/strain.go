package politeness

import (
	"math/bits"
	"time"
)

// Strain is by how much the delay of a site or an IP is stretched since it was too much for it: in quarters of a doubling, so that 4 is
// twice the delay and 8 four times. 0 is no strain. It rises with each sign of trouble and falls with each answer that is none.
type Strain uint8

// What a sign of trouble adds, and what an answer takes away: a site that refuses one request in five is asked no faster, and no slower.
const (
	strainTrouble = 4 // twice the delay
	strainTold    = 2 // less, of a site that says itself how long it is to be left alone
	strainAnswer  = 1
	strainMost    = 160 // beyond what any delay and cap can need
)

// quarters is what the quarters of a doubling add to a delay, in 256ths.
func (s Strain) quarters() int64 { return [...]int64{0, 48, 106, 175}[s%4] }

// stretch is delay with a strain, up to most; never less than delay.
func (s Strain) stretch(delay, most time.Duration) time.Duration {
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

// rise adds trouble, as long as that makes the wait longer: what is beyond the cap would only have to be forgiven.
func (s Strain) rise(by Strain, delay, most time.Duration) Strain {
	if s.stretch(delay, most) >= most {
		return s
	}
	return min(s+by, strainMost)
}

// fall takes the trouble of one answer away.
func (s Strain) fall() Strain { return s - min(s, strainAnswer) }

// IPStrain is the strain of an IP, and which of its sites was in trouble last. One site in trouble is that site's affair; a second one
// without a good answer in between is the machine's.
type IPStrain struct {
	Level Strain
	Site  uint16 // see Attempt.Site; 0 when the last answer was good and nothing is left to forgive
}

// Pack puts it into 24 bits.
func (s IPStrain) Pack() uint32 { return uint32(s.Site)<<8 | uint32(s.Level) }

// UnpackIPStrain undoes Pack.
func UnpackIPStrain(b uint32) IPStrain { return IPStrain{Strain(b), uint16(b >> 8)} }

// after is the strain of an IP after one more outcome of one of its sites.
func (s IPStrain) after(rule *Rule, site uint16, delay, most time.Duration) IPStrain {
	switch {
	case rule.StrainsIP && s.Site != 0 && s.Site != site:
		return IPStrain{s.Level.rise(strainTrouble, delay, most), site}
	case rule.StrainsIP:
		return IPStrain{s.Level, site}
	case rule.good() && s.Level == 0:
		return IPStrain{}
	case rule.good():
		return IPStrain{s.Level.fall(), s.Site}
	default:
		return s
	}
}

// jittered is wait and a fraction of a quarter of it, by random bits, so that many sites do not come back at once.
func jittered(wait time.Duration, bits64 uint64) time.Duration {
	more, _ := bits.Mul64(bits64, uint64(wait/4))
	return wait + time.Duration(more)
}
