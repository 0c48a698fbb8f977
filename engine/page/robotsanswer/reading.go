package robotsanswer

import (
	"bytes"

	"orbweaver/engine/net/fetch"
	"orbweaver/engine/net/fetch/coding"
	"orbweaver/engine/net/robots"
	"orbweaver/engine/page/parse"
	"orbweaver/internal/outcome"
)

// Verdict is what follows from an answer.
type Verdict uint8

// The verdicts.
const (
	Again    Verdict = iota // the file is not known: everything is disallowed, and it is asked for again
	Rules                   // the rules in the body hold
	AllowAll                // there is no file: everything is allowed
)

// String returns the verdict as docs/robots.md has it.
func (v Verdict) String() string { return [...]string{"ask again", "rules", "allow all"}[v] }

// Facts are what an exchange showed.
type Facts struct {
	Outcome   outcome.Outcome
	Status    int // 0 if no head came
	Flags     fetch.Flags
	Redirects int          // that were followed before
	Coding    coding.Fault // of a body with status 2xx
	Body      []byte       // of status 2xx, without codings
}

// Ruling is a verdict with its reason.
type Ruling struct {
	Verdict Verdict
	Fault   robots.Fault // why the file is not known; NoFault if the outcome says it
	Body    []byte       // what Parse reads, if the verdict is Rules. It is valid as long as what it was made of
	Coding  coding.Fault // of the body
}

// Of returns the ruling for an exchange that ended with outcome o after some redirects. It borrows p and d, which own
// the body. A Redirect that was not followed leads to no URL that can be fetched, or is one too many.
func Of(p *fetch.Page, o outcome.Outcome, redirects int, d *coding.Decoder) Ruling {
	f := Facts{Outcome: o, Status: p.Status, Flags: p.Flags, Redirects: redirects}
	if p.HasHead() && outcome.IsPageStatus(p.Status) {
		f.Body, f.Coding = decode(p, d)
		if end := bytes.LastIndexAny(f.Body, "\r\n"); isCut(&f) && end >= 0 {
			f.Body = f.Body[:end+1] // half a line says something else
		}
	}
	v, fault := Decide(&f)
	return Ruling{Verdict: v, Fault: fault, Body: f.Body, Coding: f.Coding}
}

// Parse returns the rules for an agent; nil if they are not known.
func (r *Ruling) Parse(agent string) *robots.Rules {
	switch r.Verdict {
	case Rules:
		return robots.Parse(r.Body, agent)
	case AllowAll:
		return robots.AllowAll()
	default:
		return nil
	}
}

// layersMax is how many codings are removed that Content-Encoding does not name.
const layersMax = 2

// decode removes codings: those that the head names, and those that the body shows.
func decode(p *fetch.Page, d *coding.Decoder) ([]byte, coding.Fault) {
	body, fault := p.Decoded(d)
	for range layersMax {
		if !coding.IsPacked(body) || fault == coding.Truncated || fault == coding.Corrupt {
			break
		}
		d.Reset()
		if fault = d.Add([]byte("gzip")); fault == coding.OK {
			body, fault = d.Decode(body)
		}
	}
	return body, fault
}

// isCut reports whether the file is longer than what is read of it.
func isCut(f *Facts) bool {
	switch f.Coding {
	case coding.TooLarge, coding.Bomb, coding.Work:
		return len(f.Body) >= fetch.RobotsBodyMax
	case coding.OK, coding.Lie, coding.Trailing, coding.Truncated:
		return f.Outcome == outcome.TruncatedLength
	default:
		return false
	}
}

// Decide returns the verdict for an exchange. The fault says what was seen if the verdict is Again. It is NoFault if
// the outcome says it: the server could not be reached, or failed.
func Decide(f *Facts) (Verdict, robots.Fault) {
	switch o := f.Outcome; {
	case o == outcome.Redirect && f.Redirects >= robots.RedirectsMax:
		return AllowAll, robots.NoFault
	case o == outcome.Redirect:
		return Again, robots.FaultRedirect
	case f.Status >= 400 && f.Status < 500 && !isPassing(f.Status):
		return AllowAll, robots.NoFault // whatever its body is
	case o == outcome.Protocol:
		return Again, framingFault(f)
	case o == outcome.TruncatedDisconnect:
		return Again, robots.FaultCut
	case o == outcome.TruncatedTime:
		return Again, robots.FaultSlow
	case o == outcome.NoMemory:
		return Again, robots.FaultMemory
	case o == outcome.Transient, o == outcome.Unasked:
		return Again, robots.FaultStatus
	case o.Class() != outcome.ClassAnswer:
		return Again, robots.NoFault
	case !outcome.IsPageStatus(f.Status) || f.Status == statusPartial:
		return Again, robots.FaultStatus
	case f.Flags&fetch.FlagSurplus != 0 && f.Flags&fetch.FlagBlankSurplus == 0:
		return Again, robots.FaultSurplus
	}
	return judgeBody(f)
}

// statusPartial answers a request for a range, and this crawler asks for none.
const statusPartial = 206

// isPassing reports whether a status 4xx is about this request, and says nothing about the file: 408 Request Timeout,
// 425 Too Early, 429 Too Many Requests.
func isPassing(status int) bool { return status == 408 || status == 425 || status == 429 }

// framingFault tells the faults of a protocol apart.
func framingFault(f *Facts) robots.Fault {
	switch {
	case f.Status == 0:
		return robots.FaultHead
	case f.Flags&fetch.FlagBadLength != 0:
		return robots.FaultLength
	default:
		return robots.FaultChunks
	}
}

// judgeBody judges the body of an answer with status 2xx that is whole.
func judgeBody(f *Facts) (Verdict, robots.Fault) {
	isInDoubt := false
	switch f.Coding {
	case coding.OK, coding.Trailing:
	case coding.Lie, coding.Unknown, coding.Layers:
		isInDoubt = true // many servers name a coding that the body does not have
	default:
		if !isCut(f) {
			return Again, robots.FaultCoding
		}
	}
	switch {
	case robots.IsText(f.Body, isInDoubt):
		return Rules, robots.NoFault
	case isInDoubt:
		return Again, robots.FaultCoding
	case isKnownFile(f.Body):
		return AllowAll, robots.NoFault
	default:
		return Again, robots.FaultNotText
	}
}

// isKnownFile reports whether the first bytes of a body that is not text show what it is, such as an image. Some
// servers answer each request with the same picture. Packed bytes may be a packed robots.txt.
func isKnownFile(body []byte) bool {
	media := parse.AppendMediaType(nil, body, nil)
	return !coding.IsPacked(body) && !bytes.HasPrefix(media, []byte("text/")) &&
		!bytes.Equal(media, []byte("application/octet-stream"))
}
