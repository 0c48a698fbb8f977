package simweb

import (
	"bytes"
	"fmt"
	"strconv"
	"time"
)

// validators are the header lines by which a page can be asked for again on the condition that it has changed. Hosts
// have them or not (Config.Validators), and of those that do a third has an entity tag, a third a date, and a third
// both. A page reads otherwise from the edition on that it changes in (Config.Changing), and says so.
type validators struct {
	tag      string // with its quotes; empty for none
	modified time.Time
}

// editionOf is the last edition that a page changed in, 0 for none. Only HTML with a payload of its own changes.
func (w *World) editionOf(h *host, t target, f *page) int {
	if w.c.Changing == 0 || f.content != contentHTML || f.copy > 0 && t.kind == kindPage {
		return 0
	}
	for e := w.c.Edition; e > 0; e-- {
		r := rng(w.hash(saltEdition+e<<8, h.index, int(t.page)) + uint64(t.kind))
		if r.float() < w.c.Changing {
			return e
		}
	}
	return 0
}

// validatorsOf draws what a page says of itself; packed is about the form that it is sent in.
func (w *World) validatorsOf(h *host, t target, f *page, packed bool) (v validators) {
	if w.c.Validators == 0 {
		return v
	}
	r := rng(w.hash(saltValidators, h.index, 0))
	if r.float() >= w.c.Validators {
		return v
	}
	which := r.below(3)
	edition := w.editionOf(h, t, f)
	hash := w.hash(saltValidators, h.index, int(t.page)) + uint64(t.kind)
	if which != 0 {
		v.tag = fmt.Sprintf(`"%x-%d"`, hash, edition)
		if packed {
			v.tag = fmt.Sprintf(`W/"%x-%d-gzip"`, hash, edition)
		}
	}
	if which != 1 {
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

// met says that the condition of a request is not that the page has changed since: where there is an entity tag, a date
// says nothing.
func (v *validators) met(q *request) bool {
	if len(q.match) > 0 {
		for one := range bytes.SplitSeq(q.match, []byte{','}) {
			if one = bytes.TrimSpace(one); v.tag != "" && weak(string(one)) == weak(v.tag) {
				return true
			}
		}
		return false
	}
	since, err := time.Parse(dateForm, string(q.since))
	return err == nil && !v.modified.IsZero() && !v.modified.After(since)
}

// weak takes off what makes an entity tag a weak one.
func weak(tag string) string {
	if len(tag) > 2 && tag[:2] == "W/" {
		return tag[2:]
	}
	return tag
}

// notModified answers that the page is as it was. The log notes the form that it was in.
func (s *session) notModified() {
	s.begin()
	s.writeHead(304, "Not Modified", "", -1, "")
	s.finish(s.withHead(), true)
}

// appendEdition appends to a page what it has beside its first text.
func appendEdition(dst []byte, edition int) []byte {
	if edition == 0 {
		return dst
	}
	dst = append(dst, "<!-- edition "...)
	return append(strconv.AppendInt(dst, int64(edition), 10), " -->\n"...)
}
