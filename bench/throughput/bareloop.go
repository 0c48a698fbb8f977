package throughput

import (
	"bytes"
	"context"
	"crypto/sha1" //nolint:gosec // the digest of WARC records, not a signature
	"crypto/x509"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"orbweaver/engine/net/fetch"
	"orbweaver/engine/page/parse"
	"orbweaver/internal/inflate"
	"orbweaver/internal/simweb/origin"
	"orbweaver/internal/trial"
	"orbweaver/internal/trial/load"
	"orbweaver/internal/urlx"
	"orbweaver/warc/deflate"
)

const gzipHeader = "\x1f\x8b\x08\x00\x00\x00\x00\x00\x04\xff"

const (
	loopProbe = 512      // bytes of the first read, for which a worker waits with memory of its own
	loopPage  = 64 << 10 // bytes of a page buffer, to begin with
)

// bareLoop is what a crawl is compared with. It has as many workers as the crawl has fetchers. Each connects (with TLS
// if the web has it), sends a request, reads, digests, decompresses, finds the links, compresses the exchange into one
// gzip member of the fastest level, and appends that to one file. The loop has no politeness, no frontier, one record a
// page, and no checkpoints. With keepAlive each worker connects once, unless the web has TLS: then a connection serves
// one site.
type bareLoop struct {
	dialer    fetch.Dialer
	keepAlive bool
	proxy     string
	roots     *x509.CertPool
	urls      []string
	want      int // pages
	next      atomic.Int64
	failed    atomic.Int64
	pages     sync.Pool         // *[]byte, held from the first byte of a response on
	buffers   chan *bareBuffers // one for each core: so many workers do not wait for the network at a time
	mu        sync.Mutex        // of out
	out       io.Writer
}

// bareBuffers is the memory for the work on one page.
type bareBuffers struct {
	scanner *parse.Scanner
	zip     *deflate.Encoder
	unzip   *inflate.Decoder
	text    []byte // of a page that came compressed
	packed  []byte
	url     []byte
}

// measureLoop runs the bare loop over the roots of the hosts of the world, and divides its CPU time by the pages. The
// loop has a web of its own, so that its requests do not reach the judge of the crawl.
func measureLoop(
	ctx context.Context, o *trial.Options, s *trial.Simulated, pages int, profiles string,
) (cpuPerPage float64, where *Profile, err error) {
	world, err := origin.New(s.World)
	if err != nil {
		return 0, nil, fmt.Errorf("throughput: %w", err)
	}
	w, err := load.StartChild(ctx, s.Program, s.World, 1)
	if err != nil {
		return 0, nil, err
	}
	l := &bareLoop{
		dialer: fetch.LoopbackOnly(), keepAlive: o.KeepAlive > 0 && s.World.HTTPSShare == 0, want: pages,
		proxy: strings.TrimPrefix(w.Where.Proxy, "http://"), buffers: make(chan *bareBuffers, runtime.NumCPU()),
	}
	for i := range min(world.Hosts(), l.want) {
		l.urls = append(l.urls, world.Root(i))
	}
	if l.roots, err = w.Roots(); err == nil {
		cpuPerPage, where, err = l.measure(ctx, o, profiles)
	}
	_, serr := w.Stop()
	return cpuPerPage, where, errors.Join(err, serr)
}

func (l *bareLoop) measure(
	ctx context.Context, o *trial.Options, profiles string,
) (cpuPerPage float64, where *Profile, err error) {
	l.pages.New = func() any { return new(make([]byte, 0, loopPage)) }
	for range cap(l.buffers) {
		l.buffers <- &bareBuffers{scanner: parse.NewScanner(parse.Options{}), zip: deflate.NewEncoder(),
			unzip: inflate.NewDecoder()}
	}
	out, err := os.CreateTemp("", "orbweaver-bare-")
	if err != nil {
		return 0, nil, fmt.Errorf("throughput: %w", err)
	}
	l.out = out
	var cpu time.Duration
	where, err = profiled(profiles, "loop", func() error {
		before, _ := o.Usage()
		var workers sync.WaitGroup
		for range o.Fetchers {
			workers.Go(func() { l.work(ctx) })
		}
		workers.Wait()
		after, _ := o.Usage()
		cpu = after - before
		return nil
	})
	err = errors.Join(err, out.Close(), os.Remove(out.Name()), ctx.Err())
	if n := l.failed.Load(); err == nil && n > int64(l.want/100) {
		err = fmt.Errorf("throughput: %d of %d fetches of the bare loop failed", n, l.want)
	}
	return float64(cpu.Microseconds()) / float64(l.want), where, err
}

func (l *bareLoop) work(ctx context.Context) {
	probe := make([]byte, loopProbe)
	var conn net.Conn // with keep
	for {
		i := int(l.next.Add(1)) - 1
		if i >= l.want || ctx.Err() != nil {
			break
		}
		var err error
		if conn, err = l.page(ctx, conn, l.urls[i%len(l.urls)], probe); err != nil {
			l.failed.Add(1)
		}
	}
	if conn != nil {
		_ = conn.Close() // nothing was left to write
	}
}

// page fetches one page over conn, or over a new connection if conn is nil, and stores the page. It returns the
// connection for the next page.
func (l *bareLoop) page(ctx context.Context, conn net.Conn, url string, probe []byte) (_ net.Conn, err error) {
	if conn == nil {
		if conn, err = l.connect(ctx, url); err != nil {
			return nil, err
		}
	}
	buf, err := l.exchange(conn, url, probe)
	if buf != nil {
		defer l.pages.Put(buf)
	}
	if !l.keepAlive || err != nil {
		err = errors.Join(err, conn.Close())
		conn = nil
	}
	if err != nil {
		return conn, err
	}
	return conn, l.store(url, *buf)
}

// exchange requests a page and reads the response: to the end of the connection, or to its Content-Length.
func (l *bareLoop) exchange(conn net.Conn, url string, probe []byte) (*[]byte, error) {
	if err := request(conn, url, l.keepAlive); err != nil {
		return nil, err
	}
	n, err := conn.Read(probe)
	page := l.pages.Get().(*[]byte)
	b, whole := append((*page)[:0], probe[:n]...), 0
	for err == nil {
		if whole == 0 && l.keepAlive {
			whole = lengthOf(b)
		}
		if whole > 0 && len(b) >= whole {
			break
		}
		if len(b) == cap(b) {
			b = append(b, 0)[:len(b)]
		}
		n, err = conn.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
	}
	*page = b
	// not every server closes TLS in order
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) && l.roots != nil {
		err = nil
	}
	return page, err
}

// lengthOf is the length of a response, 0 if its head is not complete.
func lengthOf(b []byte) int {
	head, _, found := bytes.Cut(b, []byte("\r\n\r\n"))
	if !found {
		return 0
	}
	_, rest, _ := bytes.Cut(head, []byte("\r\nContent-Length: "))
	digits, _, _ := bytes.Cut(rest, []byte{'\r'})
	n, err := strconv.Atoi(string(digits))
	if err != nil {
		return 0 // it ends with the connection
	}
	return len(head) + 4 + n
}

// store does the work on a page that needs no network.
func (l *bareLoop) store(url string, page []byte) error {
	end := bytes.Index(page, []byte("\r\n\r\n"))
	if end < 0 {
		return errors.New("throughput: a response without a head")
	}
	t := <-l.buffers
	defer func() { l.buffers <- t }()
	payload := page[end+4:]
	sha1.Sum(payload) //nolint:gosec // see above
	text := payload
	if bytes.HasPrefix(payload, []byte(gzipHeader[:3])) {
		if err := t.inflate(payload); err != nil {
			return err
		}
		text = t.text
	}
	t.links(url, text)
	t.packed = append(t.packed[:0], gzipHeader...)
	t.packed = t.zip.Finish(t.zip.Append(t.packed, page))
	t.packed = binary.LittleEndian.AppendUint32(t.packed, crc32.ChecksumIEEE(page))
	t.packed = binary.LittleEndian.AppendUint32(t.packed, uint32(len(page)))
	return l.append(t.packed)
}

func (l *bareLoop) append(b []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err := l.out.Write(b)
	return err
}

// links finds the links of a page, in normal form, and their fingerprints.
func (t *bareBuffers) links(base string, payload []byte) {
	res, err := t.scanner.Scan(payload, []byte("text/html"))
	if err != nil {
		return
	}
	at := []byte(base)
	for k := range res.Links {
		if u, err := urlx.Resolve(t.url[:0], at, res.Links[k].Ref); err == nil {
			t.url = u
			urlx.Fingerprint(1, u)
		}
	}
}

// inflate decompresses a payload into text.
func (t *bareBuffers) inflate(payload []byte) (err error) {
	t.text, err = t.unzip.Gzip(t.text[:0], payload, 1<<30)
	return err
}
