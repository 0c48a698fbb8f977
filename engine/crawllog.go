package engine

import (
	"bytes"
	"encoding/base32"
	"fmt"
	"maps"
	"strconv"
	"sync"
	"time"

	"orbweaver/engine/fetch"
	"orbweaver/engine/outcome"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// crawlLog writes one line for each attempt, in the columns that Heritrix users know:
//
//	time, status, size, URL, hops, via, type, worker, fetch time+milliseconds, digest, source, annotations
//
// Status is the HTTP status, or a negative number where there is none (see statusColumn). Hops is L for each link from
// a seed and R for each redirect; via and source are not kept and are "-". A line is written when its attempt is
// settled. Annotations are the outcome, and after commas: retry, notStored, duplicate:digest or duplicate:server-not-modified, what is wrong
// with the content encoding (encoding:lie, ...), why the server's certificate does not verify (certificate:expired, ...), long-type if the type was
// cut, and what is odd about the response. Lines of the last moments before a kill may be missing, or stand twice after it.
type crawlLog struct {
	logFile

	lines sync.Mutex // guards buf and odd
	buf   []byte
	odd   oddities
}

// oddities count, for this run, what lines say of exchanges beside their outcome.
type oddities struct {
	certificates map[string]int64 // certificates that do not verify, by fault
	longTypes    int64            // media types that were cut
}

// counted gives a copy of the counts.
func (l *crawlLog) counted() oddities {
	l.lines.Lock()
	defer l.lines.Unlock()
	return oddities{maps.Clone(l.odd.certificates), l.odd.longTypes}
}

const (
	crawlLogName = "crawl.log"
	crawlLogMax  = 256 << 20
)

func openCrawlLog(fsys vfs.FS, dir string, say func(string, ...any)) (*crawlLog, error) {
	if err := fsys.MkdirAll(dir); err != nil {
		return nil, fmt.Errorf("engine: crawl log: %w", err)
	}
	l := &crawlLog{logFile: logFile{
		fs: fsys, name: dir + "/" + crawlLogName, max: crawlLogMax, rotate: crawlLogMax, say: say, wake: make(chan struct{}, 1),
	}}
	names, err := fsys.List(dir)
	if err != nil {
		return nil, fmt.Errorf("engine: crawl log: %w", err)
	}
	for _, name := range names {
		var n int
		if _, err := fmt.Sscanf(name, crawlLogName+".%d.gz", &n); err == nil && n >= l.next {
			l.next = n + 1
		}
	}
	if err := l.open(); err != nil {
		return nil, err
	}
	return l, nil
}

// attempt logs one exchange.
func (l *crawlLog) attempt(p *fetch.Page, f *flight, encoding fetch.DecodeFault, note string) {
	l.lines.Lock()
	defer l.lines.Unlock()
	b := l.buf[:0]
	status := p.Status
	if p.HeadLen == 0 {
		status = statusColumn(f.outcome)
	}
	b = appendLogHead(b, p.Ended, status, p.PayloadLen, f.url, f.depth, f.hops)
	mime, _, _ := bytes.Cut(p.ContentType(), []byte{';'})
	if mime = bytes.TrimSpace(mime); p.HeadLen == 0 || len(mime) == 0 {
		mime = []byte("unknown")
	}
	longType := len(mime) > warc.MediaTypeMax
	if longType {
		mime = mime[:warc.MediaTypeMax]
		l.odd.longTypes++
	}
	for _, c := range mime {
		if c <= ' ' || c >= 0x7f {
			c = '_'
		}
		b = append(b, c)
	}
	b = fmt.Appendf(b, " #%04d ", f.worker)
	b = p.Started.UTC().AppendFormat(b, "20060102150405.000")
	b = append(b, '+')
	b = strconv.AppendInt(b, p.Ended.Sub(p.Started).Milliseconds(), 10)
	b = append(b, ' ')
	if p.Complete && p.PayloadLen > 0 {
		b = append(b, "sha1:"...)
		b = base32.StdEncoding.AppendEncode(b, p.Digest[:])
	} else {
		b = append(b, '-')
	}
	b = append(b, " - "...)
	b = append(b, f.outcome.String()...)
	switch {
	case f.proof:
		b = append(b, ",proof"...)
	case f.retry:
		b = append(b, ",retry"...)
	}
	if note != "" {
		b = append(append(b, ','), note...)
	}
	if encoding != fetch.DecodeOK {
		b = append(append(b, ",encoding:"...), encoding.String()...)
	}
	if p.TLS != nil && p.TLS.Fault != "" {
		b = append(append(b, ",certificate:"...), p.TLS.Fault...)
		if l.odd.certificates == nil {
			l.odd.certificates = make(map[string]int64)
		}
		l.odd.certificates[p.TLS.Fault]++ // one of the few words of package fetch
	}
	if longType {
		b = append(b, ",long-type"...)
	}
	if p.Flags != 0 {
		b = appendOddities(b, p.Flags)
	}
	l.write(append(b, '\n'))
}

// appendOddities tells what is odd about a response.
func appendOddities(b []byte, flags fetch.Flags) []byte {
	for _, odd := range [...]struct {
		flag fetch.Flags
		name string
	}{
		{fetch.FlagLenient, ",lenient-head"}, {fetch.FlagBothLengths, ",both-lengths"}, {fetch.FlagSurplus, ",surplus"},
		{fetch.FlagNotHTTP, ",no-head"}, {fetch.FlagBadLength, ",bad-length"},
	} {
		if flags&odd.flag != 0 {
			b = append(b, odd.name...)
		}
	}
	return b
}

// refusal logs a URL that got its outcome without a request.
func (l *crawlLog) refusal(url []byte, it *Item, o outcome.Outcome, worker int) {
	l.lines.Lock()
	defer l.lines.Unlock()
	b := appendLogHead(l.buf[:0], time.Now(), statusColumn(o), -1, url, it.Depth, it.Hops)
	b = fmt.Appendf(b, "unknown #%04d - - - %s\n", worker, o)
	l.write(b)
}

func appendLogHead(b []byte, at time.Time, status int, size int64, url []byte, depth, hops int) []byte {
	b = at.UTC().AppendFormat(b, "2006-01-02T15:04:05.000Z")
	b = append(b, ' ')
	for n := len(strconv.Itoa(status)); n < 5; n++ {
		b = append(b, ' ')
	}
	b = strconv.AppendInt(b, int64(status), 10)
	b = append(b, ' ')
	if size < 0 {
		b = append(b, '-')
	} else {
		b = strconv.AppendInt(b, size, 10)
	}
	b = append(append(append(b, ' '), url...), ' ')
	if depth == 0 && hops == 0 {
		b = append(b, '-')
	}
	for range min(depth, 50) {
		b = append(b, 'L')
	}
	for range hops {
		b = append(b, 'R')
	}
	return append(b, " - "...)
}

// write takes a line that was made in l.buf; the caller holds its lock.
func (l *crawlLog) write(line []byte) {
	l.buf = line
	l.line(line)
}

// statusColumn gives outcomes without a response the number that Heritrix gives them, or its nearest relative.
func statusColumn(o outcome.Outcome) int {
	switch o {
	case outcome.NameNotFound, outcome.NameFault:
		return -1
	case outcome.ConnectTimeout, outcome.Refused, outcome.Unreachable, outcome.ProxyFault, outcome.TLSFault:
		return -2
	case outcome.Reset, outcome.Protocol, outcome.HeaderTooLarge:
		return -3
	case outcome.HeaderTimeout:
		return -4
	case outcome.RobotsUnreachable:
		return -61
	case outcome.RobotsDenied:
		return -9998
	case outcome.QuotaHost, outcome.QuotaDomain, outcome.QuotaAddress, outcome.Novelty:
		return -5003
	case outcome.Blocked, outcome.BlockedAddress, outcome.BlockedPort, outcome.Filtered:
		return -5001
	case outcome.TooManyRedirects:
		return -4000
	case outcome.SiteGone, outcome.GivenUp:
		return -50
	default:
		return 0
	}
}
