package crawllog

import (
	"encoding/base32"
	"fmt"
	"strconv"
	"time"

	"orbweaver/engine/net/fetch"
	"orbweaver/engine/net/fetch/coding"
	"orbweaver/engine/net/robots"
	"orbweaver/engine/page/parse"
	"orbweaver/engine/state/attempt"
	"orbweaver/engine/state/queued"
	"orbweaver/internal/mediatype"
	"orbweaver/internal/outcome"
	"orbweaver/internal/urlx"
	"orbweaver/warc/cdxj"
)

// Annotations of lines that are not the final line of a URL.
const (
	noteRetry        = "retry"        // the URL is tried again
	noteProof        = "proof"        // the root page, as a proof that a failing site serves pages
	notePrerequisite = "prerequisite" // a robots.txt, or a hop of its redirects
	noteRequeued     = "requeued"     // the URL had this outcome, and is queued again
	noteRestored     = "restored"     // a final line, made again from the archive
	noteNoType       = "no-type"      // there is no Content-Type: the type was found by the bytes
	noteInvalidType  = "bad-type"     // Content-Type is no media type: the same
)

// outcomeNotAdmitted is in place of an outcome in the line of a seed that did not enter the frontier. It is followed by
// the reason, as in report.json.
const outcomeNotAdmitted = "not-admitted"

// Prefixes of annotations.
const (
	noteDuplicate   = "duplicate:"
	noteLocation    = "location:"
	noteCertificate = "certificate:"
	noteRobots      = "robots:" // why robots.txt is not known
	noteHTTP2       = "h2-probe:"
	noteWall        = "wall:"  // the protection service
	noteCause       = "cause:" // what broke the exchange
)

// Attempt adds the line of one exchange. encoding is the result of decoding the body, note a further annotation or "".
// It borrows p and f.
func (l *Log) Attempt(p *fetch.Page, f *attempt.Attempt, encoding coding.Fault, note string) {
	defer l.noteAttempt(p, f)
	l.lines.Lock()
	defer l.lines.Unlock()
	b := l.buf[:0]
	status := p.Status
	if p.HeadLen == 0 {
		status = statusColumn(f.Outcome)
	}
	b = appendLogHead(b, p.Times.Ended, status, p.PayloadLen, f.URL)
	b = appendHops(b, f.HopPath, f.Hops, f.IsRobots, f.Via)
	declared := f.Media.Type
	if declared == nil {
		declared = p.Head().ContentType()
	}
	mime, _ := mediatype.Split(declared)
	if len(mime) == 0 {
		mime = []byte("unknown")
	}
	longType := len(mime) > cdxj.MediaTypeMax
	if longType {
		mime = mime[:cdxj.MediaTypeMax]
		l.counts.LongTypes++
	}
	b = appendPrintable(b, mime)
	b = appendWorker(b, f.Worker)
	b = appendTime17(b, p.Times.Started)
	b = append(b, '+')
	b = strconv.AppendInt(b, max(p.Times.Ended.Sub(p.Times.Started).Milliseconds(), 0), 10)
	b = append(b, ' ')
	if p.Complete && p.PayloadLen > 0 {
		b = append(b, "sha1:"...)
		b = base32.StdEncoding.AppendEncode(b, p.Digest[:])
	} else {
		b = append(b, '-')
	}
	b = append(b, " - "...)
	b = append(b, f.Outcome.String()...)
	switch {
	case f.IsProbe:
		b = append(append(b, ','), noteProof...)
	case f.IsRobots:
		b = append(append(b, ','), notePrerequisite...)
	case f.WillRetry:
		b = append(append(b, ','), noteRetry...)
	}
	if f.RobotsFault != robots.NoFault {
		b = append(append(append(b, ','), noteRobots...), f.RobotsFault.String()...)
	}
	b = appendNote(b, noteWall, f.Wall)
	b = appendNote(b, "", note)
	switch {
	case f.Media.IsSniffed && len(f.Media.Invalid) > 0:
		b = append(append(b, ','), noteInvalidType...)
	case f.Media.IsSniffed:
		b = append(append(b, ','), noteNoType...)
	}
	if encoding != coding.OK {
		b = append(append(b, ",encoding:"...), encoding.String()...)
	}
	if p.Err != "" {
		b = appendCause(b, p.Err)
	}
	if fault := p.Connection.TLS.Fault; fault != "" {
		b = l.appendCertificate(b, fault)
	}
	if f.HTTP2 != "" {
		b = l.appendHTTP2(b, f.HTTP2)
	}
	if longType {
		b = append(b, ",long-type"...)
	}
	if p.Flags != 0 {
		b = appendIrregularities(b, p.Flags)
	}
	if f.Outcome == outcome.Redirect {
		b = l.appendLocation(b, f.URL, p.Head().Location())
	}
	l.write(append(b, '\n'))
}

// appendCertificate appends and counts the fault of a certificate. The set of faults in package fetch is small.
func (l *Log) appendCertificate(b []byte, fault string) []byte {
	if l.counts.Certificates == nil {
		l.counts.Certificates = make(map[string]int64)
	}
	l.counts.Certificates[fault]++
	return append(append(append(b, ','), noteCertificate...), fault...)
}

// appendHTTP2 appends and counts the result of a probe of HTTP/2. There are ten.
func (l *Log) appendHTTP2(b []byte, result string) []byte {
	if l.counts.HTTP2 == nil {
		l.counts.HTTP2 = make(map[string]int64)
	}
	l.counts.HTTP2[result]++
	return append(append(append(b, ','), noteHTTP2...), result...)
}

// appendLocation appends the annotation with the target of a redirect; nothing if the target is no URL.
func (l *Log) appendLocation(b, url, location []byte) []byte {
	target, err := urlx.Resolve(l.target[:0], url, location)
	if err != nil {
		return b
	}
	l.target = target
	b = append(append(b, ','), noteLocation...)
	for _, c := range target {
		if c == ',' {
			b = append(b, "%2C"...)
			continue
		}
		b = append(b, c)
	}
	return b
}

// appendIrregularities appends an annotation for each irregularity of the response.
func appendIrregularities(b []byte, flags fetch.Flags) []byte {
	for _, irregularity := range [...]struct {
		flag fetch.Flags
		name string
	}{
		{fetch.FlagLenient, ",lenient-head"}, {fetch.FlagBothLengths, ",both-lengths"}, {fetch.FlagSurplus, ",surplus"},
		{fetch.FlagNotHTTP, ",no-head"}, {fetch.FlagBadLength, ",bad-length"},
	} {
		if flags&irregularity.flag != 0 {
			b = append(b, irregularity.name...)
		}
	}
	return b
}

// Refusal adds the line of a URL that got its outcome without a request. It borrows url and it.
func (l *Log) Refusal(url []byte, it *queued.URL, o outcome.Outcome, worker int) {
	defer l.NoteRefusal(url, it, o)
	l.lines.Lock()
	defer l.lines.Unlock()
	l.write(AppendRefusal(l.buf[:0], url, it, o, worker))
}

// Requeue adds a line that takes the outcome of an earlier line back: the URL is queued again.
func (l *Log) Requeue(url []byte, it *queued.URL, o outcome.Outcome) {
	l.lines.Lock()
	defer l.lines.Unlock()
	b := AppendRefusal(l.buf[:0], url, it, o, 0)
	b = append(append(b[:len(b)-1], ','), noteRequeued...)
	l.write(append(b, '\n'))
}

// SeedRefused adds the line of a seed that did not enter the frontier, with the reason, as in report.json.
func (l *Log) SeedRefused(url []byte, reason string) {
	l.lines.Lock()
	defer l.lines.Unlock()
	b := appendLogHead(l.buf[:0], time.Now(), statusNotAdmitted, -1, url)
	b = appendHops(b, nil, queued.Hops{}, false, nil)
	b = appendWorker(append(b, "unknown"...), 0)
	b = append(append(b, "- - - "...), outcomeNotAdmitted...)
	b = append(append(b, ','), reason...)
	l.write(append(b, '\n'))
}

// statusNotAdmitted is Heritrix's status of a URL that is out of scope.
const statusNotAdmitted = -5000

// AppendRefusal appends the line of a URL that got its outcome without a request, for a later call of AddLines.
func AppendRefusal(dst, url []byte, it *queued.URL, o outcome.Outcome, worker int) []byte {
	dst = appendLogHead(dst, time.Now(), statusColumn(o), -1, url)
	dst = appendHops(dst, it.HopPath, queued.HopsOf(it), false, it.Via)
	dst = appendWorker(append(dst, "unknown"...), worker)
	dst = append(append(dst, "- - - "...), o.String()...)
	return append(dst, '\n')
}

// Restored is what the archive and the journal tell of an attempt whose line a kill has lost.
type Restored struct {
	URL     []byte
	Date    time.Time // of the record: the begin of the attempt
	Hops    queued.Hops
	Outcome outcome.Outcome
	IsWhole bool // the page has its payload, and not only its head
}

// AppendRestored appends the line of an attempt that was read back from the archive, for a later call of AddLines. Its
// duration is 0.
func AppendRestored(dst []byte, p *fetch.Page, r *Restored) []byte {
	size := int64(-1)
	if r.IsWhole {
		size = p.PayloadLen
	}
	dst = appendLogHead(dst, r.Date, p.Status, size, r.URL)
	dst = appendHops(dst, nil, r.Hops, false, nil)
	mime, _ := mediatype.Split(p.Head().ContentType())
	if len(mime) == 0 {
		mime = []byte("unknown")
	}
	dst = appendWorker(appendPrintable(dst, mime[:min(len(mime), cdxj.MediaTypeMax)]), 0)
	dst = append(appendTime17(dst, r.Date), "+0 "...)
	if r.IsWhole && p.Complete && p.PayloadLen > 0 {
		dst = append(dst, "sha1:"...)
		dst = base32.StdEncoding.AppendEncode(dst, p.Digest[:])
	} else {
		dst = append(dst, '-')
	}
	dst = append(append(dst, " - "...), r.Outcome.String()...)
	return append(append(append(dst, ','), noteRestored...), '\n')
}

// appendLogHead appends the first four columns: time, status, size, URL.
func appendLogHead(b []byte, at time.Time, status int, size int64, url []byte) []byte {
	b = at.UTC().AppendFormat(b, "2006-01-02T15:04:05.000Z")
	b = appendPadded(append(b, ' '), int64(status), 5)
	if size < 0 {
		b = append(b, "          - "...)
	} else {
		b = append(appendPadded(append(b, ' '), size, 10), ' ')
	}
	return append(append(b, url...), ' ')
}

// hopsLogged is the largest number of links in column 5 if the hop path is not kept.
const hopsLogged = 50

// appendHops appends columns 5 and 6: hops, via. path is the hop path, if the crawl keeps it.
func appendHops(b, path []byte, hops queued.Hops, isRobots bool, via []byte) []byte {
	from := len(b)
	if len(path) > 0 {
		b = append(b, path...)
	} else {
		b = hops.AppendTo(b, hopsLogged)
	}
	if isRobots {
		b = append(b, parse.Robots.Letter())
	}
	if len(b) == from {
		b = append(b, '-')
	}
	if b = append(b, ' '); len(via) == 0 {
		return append(b, "- "...)
	}
	return append(append(b, via...), ' ')
}

// appendPadded appends a number, with spaces before it up to a width.
func appendPadded(b []byte, n int64, width int) []byte {
	var digits [20]byte
	text := strconv.AppendInt(digits[:0], n, 10)
	for range width - len(text) {
		b = append(b, ' ')
	}
	return append(b, text...)
}

// appendPrintable appends a media type; bytes that would make it two columns become "_".
func appendPrintable(b, mime []byte) []byte {
	for _, c := range mime {
		if c <= ' ' || c >= 0x7f {
			c = '_'
		}
		b = append(b, c)
	}
	return b
}

// appendNote appends an annotation with a prefix, unless its value is "".
func appendNote(b []byte, prefix, value string) []byte {
	if value == "" {
		return b
	}
	return append(append(append(b, ','), prefix...), value...)
}

// appendCause appends the annotation with the cause of a fault, as one word.
func appendCause(b []byte, cause string) []byte {
	b = append(append(b, ','), noteCause...)
	for i := range len(cause) {
		c := cause[i]
		switch {
		case c == ' ':
			c = '-'
		case c < ' ' || c == ',' || c >= 0x7f:
			c = '_'
		}
		b = append(b, c)
	}
	return b
}

// appendWorker appends the column with the number of the fetch worker.
func appendWorker(b []byte, worker int) []byte { return fmt.Appendf(b, " #%03d ", worker) }

// appendTime17 appends a time as YYYYMMDDhhmmssSSS, in UTC.
func appendTime17(b []byte, at time.Time) []byte {
	b = at.UTC().AppendFormat(b, "20060102150405.000")
	dot := len(b) - 4
	return append(b[:dot], b[dot+1:]...)
}

// statusColumn maps an outcome without a response to the status that Heritrix uses for it, or to the most similar one.
func statusColumn(o outcome.Outcome) int {
	switch o {
	case outcome.NameNotFound, outcome.NameFault:
		return -1
	case outcome.ConnectTimeout, outcome.Refused, outcome.Unreachable, outcome.ProxyFault, outcome.TLSFault:
		return -2
	case outcome.Reset, outcome.Protocol, outcome.HeaderTooLarge, outcome.Stale:
		return -3
	case outcome.HeaderTimeout:
		return -4
	case outcome.SiteGone, outcome.GivenUp:
		return -8
	case outcome.RobotsUnreachable:
		return -61
	case outcome.Novelty:
		return -4000
	case outcome.TooManyRedirects:
		return -4002
	case outcome.Blocked, outcome.BlockedAddress, outcome.BlockedPort, outcome.Filtered:
		return -5001
	case outcome.QuotaHost, outcome.QuotaDomain, outcome.QuotaAddress, outcome.QuotaRequisites:
		return -5003
	case outcome.RobotsDenied:
		return -9998
	default:
		return 0
	}
}
