package playlist

import (
	"bytes"
	"encoding/xml"
	"io"
	"strconv"
	"strings"

	"orbweaver/internal/urlx"
)

// dashMost is how many bytes of a DASH file are read. A longer one names no files.
const dashMost = 1 << 20

// The elements of a DASH file. A number that is none is zero.
type (
	presentation struct {
		XMLName  xml.Name `xml:"MPD"`
		Type     string   `xml:"type,attr"`
		Duration string   `xml:"mediaPresentationDuration,attr"`
		BaseURL  []string `xml:"BaseURL"`
		Periods  []period `xml:"Period"`
	}
	period struct {
		Duration string `xml:"duration,attr"`
		segments
		Sets []adaptationSet `xml:"AdaptationSet"`
	}
	adaptationSet struct {
		segments
		Representations []representation `xml:"Representation"`
	}
	representation struct {
		ID        string `xml:"id,attr"`
		Bandwidth string `xml:"bandwidth,attr"`
		segments
	}

	// segments say what the files of an element are.
	segments struct {
		BaseURL  []string         `xml:"BaseURL"`
		Template *segmentTemplate `xml:"SegmentTemplate"`
		List     *segmentList     `xml:"SegmentList"`
		Base     *segmentBase     `xml:"SegmentBase"`
	}
	segmentTemplate struct {
		Media          string    `xml:"media,attr"`
		Initialization string    `xml:"initialization,attr"`
		Start          *number   `xml:"startNumber,attr"`
		Duration       number    `xml:"duration,attr"`
		Timescale      number    `xml:"timescale,attr"`
		Timeline       *timeline `xml:"SegmentTimeline"`
	}
	timeline struct {
		Runs []run `xml:"S"`
	}
	// run is one segment, and Repeats more of the same duration.
	run struct {
		Time     *number `xml:"t,attr"`
		Duration number  `xml:"d,attr"`
		Repeats  number  `xml:"r,attr"`
	}
	segmentList struct {
		Initialization segmentURL   `xml:"Initialization"`
		URLs           []segmentURL `xml:"SegmentURL"`
	}
	segmentBase struct {
		Initialization segmentURL `xml:"Initialization"`
	}
	segmentURL struct {
		Media  string `xml:"media,attr"`
		Source string `xml:"sourceURL,attr"`
	}
)

// number is a number that may be missing or wrong.
type number int64

// UnmarshalXMLAttr reads a number.
func (n *number) UnmarshalXMLAttr(a xml.Attr) error {
	if v, err := strconv.ParseInt(strings.TrimSpace(a.Value), 10, 64); err == nil {
		*n = number(v)
	}
	return nil
}

// DASH calls found for the references of a DASH file, which it borrows. ok is false if the file is none, or too long.
// dropped is the number of references beyond the limit, as far as they are counted.
func DASH(b []byte, found func(ref []byte)) (dropped int, ok bool) {
	if len(b) > dashMost {
		return 0, false
	}
	var p presentation
	d := xml.NewDecoder(bytes.NewReader(b))
	d.Strict = false
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil } // it is UTF-8 already
	if d.Decode(&p) != nil {
		return 0, false
	}
	l := lister{found: found, isLive: strings.EqualFold(p.Type, "dynamic")}
	whole := seconds(p.Duration)
	for i := range p.Periods {
		of := &p.Periods[i]
		if l.seconds = seconds(of.Duration); l.seconds == 0 && len(p.Periods) == 1 {
			l.seconds = whole
		}
		base := below(firstOf(p.BaseURL), firstOf(of.BaseURL))
		for j := range of.Sets {
			set := &of.Sets[j]
			setBase := below(base, firstOf(set.BaseURL))
			for k := range set.Representations {
				r := &set.Representations[k]
				l.representation(r, setBase, &of.segments, &set.segments)
			}
		}
	}
	return l.dropped, true
}

// lister lists the files of the representations of one presentation.
type lister struct {
	found   func(ref []byte)
	steps   int // references that were made
	dropped int
	isLive  bool
	seconds float64 // of the period; 0 if it is not known
	last    string
}

// step reports whether another reference may be made.
func (l *lister) step() bool {
	if l.steps == filesMost {
		l.dropped++
		return false
	}
	l.steps++
	return true
}

// take takes a reference below a base. It reports false if no other one may be made.
func (l *lister) take(base, ref string) bool {
	if base == "" && ref == "" {
		return true
	}
	if !l.step() {
		return false
	}
	if ref = below(base, ref); ref != l.last && len(ref) <= refMost {
		l.last = ref
		l.found([]byte(ref))
	}
	return true
}

// refMost is the longest reference of a file, in bytes.
const refMost = 2 << 10

// representation lists the files of a representation. outer are the elements around it, from the outside.
func (l *lister) representation(r *representation, base string, outer ...*segments) {
	var t segmentTemplate
	var list *segmentList
	var start *segmentBase
	for _, s := range append(outer, &r.segments) {
		if s.Template != nil {
			t.inherit(s.Template)
		}
		if s.List != nil {
			list = s.List
		}
		if s.Base != nil {
			start = s.Base
		}
	}
	own := firstOf(r.BaseURL)
	base = below(base, own)
	switch {
	case t.Media != "" || t.Initialization != "":
		l.template(&t, r, base)
	case list != nil:
		if list.Initialization.Source != "" {
			l.take(base, list.Initialization.Source)
		}
		for i := range list.URLs {
			if !l.take(base, list.URLs[i].Media) {
				return
			}
		}
	case base != "" && !strings.HasSuffix(base, "/"): // a directory says nothing
		if start != nil && start.Initialization.Source != "" {
			l.take(base, start.Initialization.Source)
		}
		l.take("", base) // one file
	}
}

// inherit takes over what inner says.
func (t *segmentTemplate) inherit(inner *segmentTemplate) {
	if inner.Media != "" {
		t.Media = inner.Media
	}
	if inner.Initialization != "" {
		t.Initialization = inner.Initialization
	}
	if inner.Start != nil {
		t.Start = inner.Start
	}
	if inner.Duration > 0 {
		t.Duration = inner.Duration
	}
	if inner.Timescale > 0 {
		t.Timescale = inner.Timescale
	}
	if inner.Timeline != nil {
		t.Timeline = inner.Timeline
	}
}

// template lists the files of a template whose number is known.
func (l *lister) template(t *segmentTemplate, r *representation, base string) {
	if name, ok := fill(t.Initialization, r, 0, 0); ok && name != "" && !l.take(base, name) {
		return
	}
	n, scale := number(1), float64(max(t.Timescale, 1))
	if t.Start != nil {
		n = *t.Start
	}
	if t.Timeline == nil {
		if t.Duration <= 0 || l.isLive {
			return
		}
		count := l.seconds * scale / float64(t.Duration)
		for i := number(0); float64(i) < count; i++ {
			if !l.segment(t, r, base, n+i, i*t.Duration) {
				return
			}
		}
		return
	}
	time := number(0)
	for i, one := range t.Timeline.Runs {
		if one.Time != nil {
			time = *one.Time
		}
		repeats := one.Repeats
		if repeats < 0 { // until the next run, or the end of the period
			end := number(min(l.seconds*scale, 1<<52))
			if i+1 < len(t.Timeline.Runs) && t.Timeline.Runs[i+1].Time != nil {
				end = *t.Timeline.Runs[i+1].Time
			}
			repeats = max((end-time-1)/max(one.Duration, 1), 0)
		}
		for range min(repeats, filesMost) + 1 {
			if !l.segment(t, r, base, n, time) {
				return
			}
			n, time = n+1, time+one.Duration
		}
	}
}

// segment takes one segment. It reports false if no other one may be made.
func (l *lister) segment(t *segmentTemplate, r *representation, base string, n, time number) bool {
	name, ok := fill(t.Media, r, n, time)
	if !ok || name == "" {
		return l.step()
	}
	return l.take(base, name)
}

// fill replaces the identifiers of a template. ok is false for an identifier that is not known.
func fill(template string, r *representation, n, time number) (name string, ok bool) {
	if len(template) > refMost {
		return "", false
	}
	var b strings.Builder
	for {
		text, rest, found := strings.Cut(template, "$")
		b.WriteString(text)
		if !found {
			return b.String(), true
		}
		id, after, closed := strings.Cut(rest, "$")
		if !closed || b.Len() > refMost {
			return "", false
		}
		template = after
		id, width, _ := strings.Cut(id, "%0")
		var value string
		switch id {
		case "":
			value = "$"
		case "RepresentationID":
			value = r.ID
		case "Bandwidth":
			value = r.Bandwidth
		case "Number":
			value = strconv.FormatInt(int64(n), 10)
		case "Time":
			value = strconv.FormatInt(int64(time), 10)
		default:
			return "", false
		}
		if len(value) > refMost {
			return "", false
		}
		if digits, err := strconv.Atoi(strings.TrimSuffix(width, "d")); err == nil && digits < 32 {
			value = strings.Repeat("0", max(digits-len(value), 0)) + value
		}
		b.WriteString(value)
	}
}

func firstOf(list []string) string {
	if len(list) == 0 || len(list[0]) > refMost {
		return ""
	}
	return strings.TrimSpace(list[0])
}

// below returns a reference below a base; both may be empty.
func below(base, ref string) string {
	switch {
	case ref == "":
		return base
	case base == "":
		return ref
	}
	return string(urlx.AppendJoined(nil, []byte(base), []byte(ref)))
}

// seconds reads a duration such as PT1H2M3.5S or P1DT2H; 0 for another text.
func seconds(text string) (sum float64) {
	text, ok := strings.CutPrefix(strings.TrimSpace(text), "P")
	if !ok || len(text) > 64 {
		return 0
	}
	isTime := false
	for text != "" {
		if rest, ok := strings.CutPrefix(text, "T"); ok {
			isTime, text = true, rest
			continue
		}
		end := strings.IndexAny(text, "YMWDHS")
		if end < 0 {
			return 0
		}
		value, err := strconv.ParseFloat(text[:end], 64)
		if err != nil || value < 0 || value > 1e9 {
			return 0
		}
		switch unit := text[end]; {
		case unit == 'D' && !isTime:
			sum += value * 24 * 3600
		case unit == 'H' && isTime:
			sum += value * 3600
		case unit == 'M' && isTime:
			sum += value * 60
		case unit == 'S' && isTime:
			sum += value
		default:
			return 0 // years, months and weeks are no lengths of videos
		}
		text = text[end+1:]
	}
	return sum
}
