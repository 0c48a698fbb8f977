package engine

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"time"

	"orbweaver/engine/outcome"
	"orbweaver/engine/robots"
)

// Site is what the engine keeps about one scheme+authority. The workbench holds it without looking inside; whoever
// holds the Visit may change it.
type Site struct {
	Rules      *robots.Rules   // nil until robots.txt has been asked for
	RulesUntil time.Time       // when they are to be asked for again (RFC 9309: 24 h at most)
	Addrs      []netip.Addr    // addresses of the name, the one in use first
	AddrUntil  time.Time       // when the name is to be resolved again; zero for never
	Stored     int32           // pages stored, for --max-per-host
	Failures   int16           // consecutive failures of exchanges
	NameFails  int16           // consecutive failures of the name system
	RobotsTry  int8            // attempts at robots.txt since the last success
	Denied     bool            // Rules say no because robots.txt cannot be had
	Blocked    bool            // by the operator
	Fate       outcome.Outcome // why it was given up
}

// answers says that the last that was heard of the site was no failure and no request to slow down.
func (s *Site) answers() bool { return s.Failures == 0 && s.NameFails == 0 && !s.Denied }

const siteVersion = 1

// appendSite appends the snapshot form of a Site.
func appendSite(dst []byte, s *Site) []byte {
	dst = append(dst, siteVersion)
	var flags byte
	if s.Rules != nil {
		flags |= 1
	}
	if s.Denied {
		flags |= 2
	}
	if s.Blocked {
		flags |= 4
	}
	dst = append(dst, flags, byte(s.Fate), byte(s.RobotsTry))
	dst = binary.AppendVarint(dst, int64(s.Stored))
	dst = binary.AppendVarint(dst, int64(s.Failures))
	dst = binary.AppendVarint(dst, int64(s.NameFails))
	dst = binary.AppendVarint(dst, unixNano(s.RulesUntil))
	dst = binary.AppendVarint(dst, unixNano(s.AddrUntil))
	dst = binary.AppendUvarint(dst, uint64(len(s.Addrs)))
	for _, a := range s.Addrs {
		b := a.AsSlice()
		dst = append(dst, byte(len(b)))
		dst = append(dst, b...)
	}
	if s.Rules != nil {
		dst = s.Rules.Append(dst)
	}
	return dst
}

var errSite = errors.New("engine: a site of the snapshot cannot be read")

// decodeSite reads what appendSite wrote; pool holds equal rules once.
func decodeSite(b []byte, pool *rulesPool) (Site, error) {
	var s Site
	if len(b) < 4 || b[0] != siteVersion {
		return s, errSite
	}
	flags := b[1]
	s.Denied, s.Blocked = flags&2 != 0, flags&4 != 0
	s.Fate, s.RobotsTry = outcome.Outcome(b[2]), int8(b[3])
	b = b[4:]
	var fields [5]int64
	for i := range fields {
		v, n := binary.Varint(b)
		if n <= 0 {
			return s, errSite
		}
		fields[i], b = v, b[n:]
	}
	s.Stored, s.Failures, s.NameFails = int32(fields[0]), int16(fields[1]), int16(fields[2])
	s.RulesUntil, s.AddrUntil = fromUnixNano(fields[3]), fromUnixNano(fields[4])
	count, n := binary.Uvarint(b)
	if n <= 0 || count > 1024 {
		return s, errSite
	}
	b = b[n:]
	for range count {
		if len(b) < 1 || len(b) < 1+int(b[0]) {
			return s, errSite
		}
		a, ok := netip.AddrFromSlice(b[1 : 1+int(b[0])])
		if !ok {
			return s, errSite
		}
		s.Addrs, b = append(s.Addrs, a), b[1+int(b[0]):]
	}
	if flags&1 != 0 {
		r, err := robots.Decode(b)
		if err != nil {
			return s, errors.Join(errSite, err)
		}
		s.Rules = pool.share(r)
	}
	return s, nil
}

// unixNano and fromUnixNano keep the zero time zero.
func unixNano(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

func fromUnixNano(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n)
}
