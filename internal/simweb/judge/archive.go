package judge

import (
	"crypto/sha1"

	"orbweaver/internal/simweb"
)

// holding is one page in one of several archives.
type holding struct {
	t       simweb.Target
	archive int
}

// archive judges what is stored.
func (j *judge) archive(crawled Crawled) {
	v := &j.v
	n := 0
	if j.model.Config().Tools != (simweb.Tools{}) {
		v.Drawn = &Drawn{}
	}
	for c := range crawled {
		if _, authority, _, ok := simweb.SplitURL(c.URL); c.Status != 200 || ok && j.log.HasGuest(authority) {
			continue
		}
		t, ok := j.model.Find(c.URL)
		if ok && t.Kind == simweb.KindRobots || t.Kind == simweb.KindRobotsOf {
			continue
		}
		class := ClassNone
		if ok {
			class = j.truth.classOf(t)
		}
		if t.Kind == simweb.KindTrap && class == ClassOptional {
			continue
		}
		if class != ClassPage && class != ClassCut && class != ClassUnlinked {
			if class == ClassAttempt && c.Truncated {
				continue // what came of an answer that never comes whole
			}
			v.StoredUnknown++
			j.example("stored unknown", "%s (%v)", c.URL, class)
			continue
		}
		was := j.seen[t]
		if c.Truncated && class == ClassPage {
			if j.mayBeCut(t) {
				continue
			}
			v.DigestMismatches++
			j.example("digest", "%s is cut without need", c.URL)
		}
		if was&seenStored != 0 && !j.elsewhere(t, c.Archive) {
			v.Duplicates++
			j.example("duplicate", "%s", c.URL)
			continue
		}
		j.hold(t, c.Archive)
		if was&seenStored == 0 {
			v.Stored++
			j.seen[t] = was | seenStored
			if v.Drawn != nil {
				j.drawn(t, c)
			}
			j.quota(t)
		}
		n++
		if c.Truncated || n%j.p.DigestEvery != 0 {
			continue
		}
		if !c.HasDigest || !j.sent(t, was, c.Digest) {
			v.DigestMismatches++
			j.example("digest", "%s", c.URL)
		}
	}
	if d := v.Drawn; d != nil {
		d.Recall, d.Precision = part(d.Named, d.Missed), part(d.Named, d.Wrong)
	}
}

// part is the part that n is of n and rest; 1 if there is nothing.
func part(n, rest int) float64 {
	if n+rest == 0 {
		return 1
	}
	return float64(n) / float64(n+rest)
}

// drawn counts the pages that a browser must draw, and those that the archive names.
func (j *judge) drawn(t simweb.Target, c Capture) {
	d, isDrawn := j.v.Drawn, j.model.NeedsBrowser(t)
	switch {
	case isDrawn && c.IsDrawn:
		d.Named++
	case isDrawn:
		d.Missed++
		j.example("drawn, not named", "%s", c.URL)
	case c.IsDrawn:
		d.Wrong++
		j.example("named, not drawn", "%s", c.URL)
	}
}

// elsewhere says that a page which is stored is stored in other archives only.
func (j *judge) elsewhere(t simweb.Target, archive int) bool {
	_, here := j.holds[holding{t, archive}]
	return j.holds != nil && !here
}

// hold notes in which of several archives a page is.
func (j *judge) hold(t simweb.Target, archive int) {
	j.v.Held++
	if j.holds == nil {
		return
	}
	j.holds[holding{t, archive}] = struct{}{}
	j.v.Shares[archive].Pages++
	// The host's robots.txt stands for the host.
	host := holding{simweb.Target{Host: t.Host, Kind: simweb.KindRobots}, archive}
	if _, known := j.holds[host]; !known {
		j.holds[host] = struct{}{}
		j.v.Shares[archive].Hosts++
	}
}

// sent says that a digest is that of a payload as the server sent it, or, if that was before the log began, may have.
func (j *judge) sent(t simweb.Target, was uint8, digest [20]byte) bool {
	forms := was & (seenBare | seenPacked)
	for _, form := range [...]uint8{seenBare, seenPacked} {
		if forms != 0 && forms&form == 0 {
			continue
		}
		j.scratch, _ = j.writer.AppendPayload(j.scratch[:0], &j.doc, t, form == seenPacked)
		if sha1.Sum(j.scratch) == digest {
			return true
		}
	}
	return false
}

// mayBeCut says that the first answer for a page is cut, so that a record of that is no wrong.
func (j *judge) mayBeCut(t simweb.Target) bool {
	h := j.model.HostAt(int(t.Host))
	return t.Kind == simweb.KindPage && h.PageAt(int(t.Page)).Shape == simweb.ShapeOnceCut
}

func (j *judge) quota(t simweb.Target) {
	s := j.site(t.Host)
	s.stored++
	if j.p.MaxPerHost > 0 && s.stored == j.p.MaxPerHost+1 {
		j.v.QuotaViolations++
		j.example("quota", "%s", j.model.Host(int(t.Host)))
	}
}
