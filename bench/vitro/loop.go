package vitro

import (
	"bytes"
	"context"
	"crypto/sha1" //nolint:gosec // the digest of WARC records, not a signature
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"orbweaver/bench/simweb"
	"orbweaver/engine/fetch"
	"orbweaver/engine/parse"
	"orbweaver/engine/urlx"
	"orbweaver/warc/deflate"
)

const gzipHeader = "\x1f\x8b\x08\x00\x00\x00\x00\x00\x04\xff"

const (
	loopProbe = 512      // bytes of the first read, for which a worker waits with memory of its own
	loopPage  = 64 << 10 // bytes of a page buffer, to begin with
)

// bareLoop is what a crawl is compared with: as many workers as it has fetchers, each of which connects, asks, reads, digests,
// finds the links, packs the exchange into one gzip member of the fastest level and appends that to one file, again and again. It knows no
// politeness, no host, no URL that it has met before, no second record and no cut: nothing that a crawl needs.
type bareLoop struct {
	dialer fetch.Dialer
	proxy  string
	urls   []string
	want   int // pages
	next   atomic.Int64
	failed atomic.Int64
	pages  sync.Pool      // *[]byte, held from the first byte of an answer on
	bench  chan *bareTool // one for each core: what is not waiting for the network is done by so many at a time
	mu     sync.Mutex     // of out
	out    io.Writer
}

// bareTool is the memory of the work on one page.
type bareTool struct {
	scanner *parse.Scanner
	zip     *deflate.Encoder
	packed  []byte
	url     []byte
}

// measureLoop runs the bare loop over the roots of the hosts of the world, which is served once more for it since what it does is to
// be judged by nobody, and divides its CPU time by the pages.
func measureLoop(ctx context.Context, o *Options) (cpuPerPage float64, where *Profile, err error) {
	world, err := simweb.New(o.World)
	if err != nil {
		return 0, nil, fmt.Errorf("vitro: %w", err)
	}
	w, err := startWeb(ctx, o.Program, o.World, 1)
	if err != nil {
		return 0, nil, err
	}
	l := &bareLoop{
		dialer: fetch.LoopbackOnly(), want: o.BarePages, proxy: strings.TrimPrefix(w.where.Proxy, "http://"), bench: make(chan *bareTool, runtime.GOMAXPROCS(0)),
	}
	for i := range min(world.Hosts(), l.want) {
		l.urls = append(l.urls, world.Root(i))
	}
	cpuPerPage, where, err = l.measure(ctx, o)
	_, serr := w.stop()
	return cpuPerPage, where, errors.Join(err, serr)
}

func (l *bareLoop) measure(ctx context.Context, o *Options) (cpuPerPage float64, where *Profile, err error) {
	l.pages.New = func() any { return new(make([]byte, 0, loopPage)) }
	for range cap(l.bench) {
		l.bench <- &bareTool{scanner: parse.NewScanner(parse.Options{}), zip: deflate.NewEncoder()}
	}
	out, err := os.CreateTemp("", "orbweaver-bare-")
	if err != nil {
		return 0, nil, fmt.Errorf("vitro: %w", err)
	}
	l.out = out
	var cpu time.Duration
	where, err = profiled(o.Profile, "loop", func() error {
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
		err = fmt.Errorf("vitro: %d of %d fetches of the bare loop failed", n, l.want)
	}
	return float64(cpu.Microseconds()) / float64(l.want), where, err
}

func (l *bareLoop) work(ctx context.Context) {
	probe := make([]byte, loopProbe)
	for {
		i := int(l.next.Add(1)) - 1
		if i >= l.want || ctx.Err() != nil {
			return
		}
		if l.page(ctx, l.urls[i%len(l.urls)], probe) != nil {
			l.failed.Add(1)
		}
	}
}

// page fetches one page over a connection of its own, and keeps it.
func (l *bareLoop) page(ctx context.Context, url string, probe []byte) error {
	conn, err := ask(ctx, l.dialer, l.proxy, url)
	if err != nil {
		return err
	}
	n, err := conn.Read(probe)
	page := l.pages.Get().(*[]byte)
	defer l.pages.Put(page)
	b := append((*page)[:0], probe[:n]...)
	for err == nil {
		if len(b) == cap(b) {
			b = append(b, 0)[:len(b)]
		}
		n, err = conn.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
	}
	*page = b
	if errors.Is(err, io.EOF) {
		err = nil
	}
	if err = errors.Join(err, conn.Close()); err != nil {
		return err
	}
	return l.keep(url, b)
}

// keep does with a page what has nothing to do with the network.
func (l *bareLoop) keep(url string, page []byte) error {
	end := bytes.Index(page, []byte("\r\n\r\n"))
	if end < 0 {
		return errors.New("vitro: an answer without a head")
	}
	t := <-l.bench
	defer func() { l.bench <- t }()
	payload := page[end+4:]
	sha1.Sum(payload) //nolint:gosec // see above
	t.links(url, payload)
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
func (t *bareTool) links(base string, payload []byte) {
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

// ask connects to the proxy and asks for a URL.
func ask(ctx context.Context, d fetch.Dialer, proxy, url string) (conn io.ReadCloser, err error) {
	c, err := d.DialContext(ctx, "tcp", proxy)
	if err != nil {
		return nil, err
	}
	_, authority, _ := strings.Cut(url, "://")
	host, _, _ := strings.Cut(authority, "/")
	_ = c.SetDeadline(time.Now().Add(10 * time.Second)) // a connection that takes none fails when it is used
	request := "GET " + url + " HTTP/1.1\r\nHost: " + host + "\r\nUser-Agent: orbweaver-bare\r\nConnection: close\r\n\r\n"
	if _, err := c.Write([]byte(request)); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}
