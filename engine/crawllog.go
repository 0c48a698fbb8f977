package engine

import (
	"bufio"
	"encoding/base32"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"

	"compress/gzip"

	"orbweaver/engine/fetch"
	"orbweaver/engine/outcome"
	"orbweaver/internal/vfs"
)

// crawlLog writes one line for each attempt, in the columns that Heritrix users know:
//
//	time, status, size, URL, hops, via, type, worker, fetch time+milliseconds, digest, source, annotations
//
// Status is the HTTP status, or a negative number where there is none (see statusColumn). Hops is L for each link from
// a seed and R for each redirect; via and source are not kept and are "-". A line is written when its attempt is
// settled; lines of the last moments before a kill may be missing, or stand twice after it.
type crawlLog struct {
	fs  vfs.FS
	dir string
	max int64 // bytes before the file is rotated and compressed

	mu   sync.Mutex
	file vfs.File
	w    *bufio.Writer
	size int64
	next int
	buf  []byte
	err  error // the log's own trouble is told once and never stops the crawl
	say  func(msg string, args ...any)
}

const (
	crawlLogName = "crawl.log"
	crawlLogMax  = 256 << 20
)

func openCrawlLog(fsys vfs.FS, dir string, say func(string, ...any)) (*crawlLog, error) {
	if err := fsys.MkdirAll(dir); err != nil {
		return nil, fmt.Errorf("engine: crawl log: %w", err)
	}
	l := &crawlLog{fs: fsys, dir: dir, max: crawlLogMax, say: say}
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

func (l *crawlLog) open() error {
	f, err := l.fs.OpenRW(l.dir + "/" + crawlLogName)
	if err != nil {
		return fmt.Errorf("engine: crawl log: %w", err)
	}
	size, err := f.Size()
	if err != nil {
		return fmt.Errorf("engine: crawl log: %w", err)
	}
	l.file, l.size = f, size
	l.w = bufio.NewWriterSize(&appender{f, size}, 64<<10)
	return nil
}

// appender writes at the end of a file.
type appender struct {
	f  vfs.File
	at int64
}

// Write appends b.
func (a *appender) Write(b []byte) (int, error) {
	n, err := a.f.WriteAt(b, a.at)
	a.at += int64(n)
	return n, err
}

// attempt logs one exchange.
func (l *crawlLog) attempt(p *fetch.Page, f *flight, note string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.buf[:0]
	status := p.Status
	if p.HeadLen == 0 {
		status = statusColumn(f.outcome)
	}
	b = appendLogHead(b, p.Ended, status, p.PayloadLen, f.url, f.depth, f.hops)
	mime := p.ContentType()
	if p.HeadLen == 0 || len(mime) == 0 {
		mime = []byte("unknown")
	}
	for _, c := range mime {
		if c == ';' {
			break
		}
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
	if f.retry {
		b = append(b, ",retry"...)
	}
	if note != "" {
		b = append(append(b, ','), note...)
	}
	l.write(append(b, '\n'))
}

// refusal logs a URL that got its outcome without a request.
func (l *crawlLog) refusal(url []byte, it *Item, o outcome.Outcome, worker int) {
	l.mu.Lock()
	defer l.mu.Unlock()
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

// write takes a line that was made in l.buf; the caller holds the lock.
func (l *crawlLog) write(line []byte) {
	l.buf = line
	if l.err != nil {
		return
	}
	if _, err := l.w.Write(line); err != nil {
		l.fail(err)
		return
	}
	if l.size += int64(len(line)); l.size >= l.max {
		if err := l.rotate(); err != nil {
			l.fail(err)
		}
	}
}

func (l *crawlLog) fail(err error) {
	l.err = err
	l.say("the crawl log cannot be written and stays silent from here on; the crawl goes on", "error", err)
}

// rotate compresses the full log beside it and begins a new one.
func (l *crawlLog) rotate() error {
	if err := l.w.Flush(); err != nil {
		return err
	}
	src, err := l.fs.Open(l.dir + "/" + crawlLogName)
	if err != nil {
		return err
	}
	defer src.Close()
	err = vfs.WriteAtomic(l.fs, fmt.Sprintf("%s/%s.%05d.gz", l.dir, crawlLogName, l.next), func(w io.Writer) error {
		z, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
		if err != nil {
			return err
		}
		if _, err := io.Copy(z, src); err != nil {
			return err
		}
		return z.Close()
	})
	if err != nil {
		return err
	}
	l.next++
	if err := l.file.Truncate(0); err != nil {
		return err
	}
	if err := l.file.Close(); err != nil {
		return err
	}
	return l.open()
}

func (l *crawlLog) flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		if err := l.w.Flush(); err != nil {
			l.fail(err)
		}
	}
}

func (l *crawlLog) close() error {
	l.flush()
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.file.Close()
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
	case outcome.QuotaHost:
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
