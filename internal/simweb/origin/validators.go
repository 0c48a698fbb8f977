package origin

import (
	"bytes"
	"fmt"
	"time"

	"orbweaver/internal/simweb"
)

// validators are the header lines by which a page can be asked for again on the condition that it has changed. Hosts
// have them or not (Config.Validators), and of those that do a third has an entity tag, a third a date, and a third
// both. A page differs from the edition on that it changes in (Config.Changing), and so do they.
type validators struct {
	tag      string // with its quotes; empty for none
	modified time.Time
}

// validatorsOf draws what a page says of itself; packed is about the form that it is sent in.
func validatorsOf(h *simweb.Host, t simweb.Target, f *simweb.Page, packed bool) (v validators) {
	which, ok := h.Validators()
	if !ok {
		return v
	}
	edition := h.Edition(t, f)
	hash := h.Hash(simweb.SaltValidators, int(t.Page)) + uint64(t.Kind)
	if which != simweb.OnlyModified {
		v.tag = fmt.Sprintf(`"%x-%d"`, hash, edition)
		if packed {
			v.tag = fmt.Sprintf(`W/"%x-%d-gzip"`, hash, edition)
		}
	}
	if which != simweb.OnlyTag {
		// Before any crawl in virtual time, which begins with the year 2000.
		v.modified = time.Date(1990+edition%8, 1, 1, 0, 0, int(hash>>40), 0, time.UTC)
	}
	return v
}

const dateForm = "Mon, 02 Jan 2006 15:04:05 GMT"

// lines are the header lines.
func (v *validators) lines() string {
	text := ""
	if v.tag != "" {
		text = "ETag: " + v.tag + "\r\n"
	}
	if !v.modified.IsZero() {
		text += "Last-Modified: " + v.modified.Format(dateForm) + "\r\n"
	}
	return text
}

// met reports whether the page is as a conditional request has it, so that 304 is the answer. If the request names
// entity tags, its date has no effect.
func (v *validators) met(q *request) bool {
	if len(q.ifNoneMatch) > 0 {
		for one := range bytes.SplitSeq(q.ifNoneMatch, []byte{','}) {
			if one = bytes.TrimSpace(one); v.tag != "" && weak(string(one)) == weak(v.tag) {
				return true
			}
		}
		return false
	}
	since, err := time.Parse(dateForm, string(q.ifModifiedSince))
	return err == nil && !v.modified.IsZero() && !v.modified.After(since)
}

// weak takes off what makes an entity tag a weak one.
func weak(tag string) string {
	if len(tag) > 2 && tag[:2] == "W/" {
		return tag[2:]
	}
	return tag
}
