package crawllog

import (
	"bytes"
	"encoding/base32"
	"fmt"
	"maps"
	"strconv"
	"sync"
	"time"

	"orbweaver/engine/attempt"
	"orbweaver/engine/fetch"
	"orbweaver/engine/fetch/coding"
	"orbweaver/engine/queued"
	"orbweaver/internal/outcome"
	"orbweaver/internal/vfs"
	"orbweaver/warc/cdxj"
)

// Log writes crawl.log: one line for each attempt, with the columns of Heritrix:
//
//	time, status, size, URL, hops, via, type, worker, fetch time+milliseconds, digest, source, annotations
//
// The columns are:
//
//   - time: end of the attempt, UTC, with milliseconds.
//   - status: HTTP status; a negative number, or 0, if there is no response (see statusColumn).
//   - size: bytes of the payload; "-" without a request.
//   - hops: L for each link from a seed (at most 50), then R for each redirect; "-" for a seed.
//   - via, source: not kept, always "-".
//   - type: media type of Content-Type, at most cdxj.MediaTypeMax bytes; "unknown" if there is none.
//   - worker: # and the number of the fetch worker.
//   - digest: SHA-1 of the payload in base 32; "-" if the payload is empty or incomplete.
//
// The annotations are separated by commas. The first one is the outcome. Others are: retry, proof (a probe), notStored,
// duplicate:digest, duplicate:server-not-modified, a fault of the content encoding (encoding:lie, ...), why the
// certificate does not verify (certificate:expired, ...), long-type if the type was truncated, and irregularities of
// the response (lenient-head, both-lengths, surplus, no-head, bad-length).
//
// A line is written when the attempt has its outcome. After a crash, the last lines may be missing or may occur twice.
//
// A Log is safe for concurrent use. Close must come last.
type Log struct {
	logFile

	lines  sync.Mutex // guards buf and counts
	buf    []byte
	counts Counts
}

// Counts counts annotations since the log was opened.
type Counts struct {
	Certificates map[string]int64 // certificates that do not verify, by fault
	LongTypes    int64            // media types that were truncated
}

// Counts returns a copy of the counts.
func (l *Log) Counts() Counts {
	l.lines.Lock()
	defer l.lines.Unlock()
	return Counts{maps.Clone(l.counts.Certificates), l.counts.LongTypes}
}

// The file and its size limit in bytes.
const (
	FileName   = "crawl.log"
	rotateSize = 256 << 20
)

// Open opens or creates the log in dir and creates dir if necessary. warn logs warnings with key-value fields. The
// errors are those of the file system.
func Open(fsys vfs.FS, dir string, warn func(string, ...any)) (*Log, error) {
	if err := fsys.MkdirAll(dir); err != nil {
		return nil, fmt.Errorf("crawllog: open: %w", err)
	}
	l := &Log{logFile: logFile{
		fs: fsys, name: dir + "/" + FileName, rotateSize: rotateSize, rotateAt: rotateSize, warn: warn,
		WriteDue: make(chan struct{}, 1),
	}}
	names, err := fsys.List(dir)
	if err != nil {
		return nil, fmt.Errorf("crawllog: open: %w", err)
	}
	for _, name := range names {
		var n int
		if _, err := fmt.Sscanf(name, FileName+".%d.gz", &n); err == nil && n >= l.nextNumber {
			l.nextNumber = n + 1
		}
	}
	if err := l.open(); err != nil {
		return nil, err
	}
	return l, nil
}

// Attempt adds the line of one exchange. encoding is the result of decoding the body, note a further annotation or "".
// It borrows p and f.
func (l *Log) Attempt(p *fetch.Page, f *attempt.Attempt, encoding coding.Fault, note string) {
	l.lines.Lock()
	defer l.lines.Unlock()
	b := l.buf[:0]
	status := p.Status
	if p.HeadLen == 0 {
		status = statusColumn(f.Outcome)
	}
	b = appendLogHead(b, p.Times.Ended, status, p.PayloadLen, f.URL, f.Depth, f.Redirects)
	mime, _, _ := bytes.Cut(p.Head().ContentType(), []byte{';'})
	if mime = bytes.TrimSpace(mime); p.HeadLen == 0 || len(mime) == 0 {
		mime = []byte("unknown")
	}
	longType := len(mime) > cdxj.MediaTypeMax
	if longType {
		mime = mime[:cdxj.MediaTypeMax]
		l.counts.LongTypes++
	}
	for _, c := range mime {
		if c <= ' ' || c >= 0x7f {
			c = '_'
		}
		b = append(b, c)
	}
	b = fmt.Appendf(b, " #%04d ", f.Worker)
	b = p.Times.Started.UTC().AppendFormat(b, "20060102150405.000")
	b = append(b, '+')
	b = strconv.AppendInt(b, p.Times.Ended.Sub(p.Times.Started).Milliseconds(), 10)
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
		b = append(b, ",proof"...)
	case f.WillRetry:
		b = append(b, ",retry"...)
	}
	if note != "" {
		b = append(append(b, ','), note...)
	}
	if encoding != coding.OK {
		b = append(append(b, ",encoding:"...), encoding.String()...)
	}
	if p.Connection.TLS.Fault != "" {
		b = append(append(b, ",certificate:"...), p.Connection.TLS.Fault...)
		if l.counts.Certificates == nil {
			l.counts.Certificates = make(map[string]int64)
		}
		l.counts.Certificates[p.Connection.TLS.Fault]++ // the set of faults in package fetch is small
	}
	if longType {
		b = append(b, ",long-type"...)
	}
	if p.Flags != 0 {
		b = appendIrregularities(b, p.Flags)
	}
	l.write(append(b, '\n'))
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
	l.lines.Lock()
	defer l.lines.Unlock()
	b := appendLogHead(l.buf[:0], time.Now(), statusColumn(o), -1, url, it.Depth, it.Redirects)
	b = fmt.Appendf(b, "unknown #%04d - - - %s\n", worker, o)
	l.write(b)
}

// appendLogHead appends the first seven columns except the media type: time, status, size, URL, hops, via.
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

// write adds a line that was built in l.buf. The caller holds l.lines.
func (l *Log) write(line []byte) {
	l.buf = line
	l.add(line)
}

// statusColumn maps an outcome without a response to the status that Heritrix uses for it, or to the most similar one.
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
