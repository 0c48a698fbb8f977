package vitro

import (
	"context"
	"crypto/sha1"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/klauspost/compress/gzip"

	"orbweaver/bench/simweb"
	"orbweaver/engine/fetch"
	"orbweaver/engine/parse"
	"orbweaver/engine/urlx"
)

// Part is what one bare part costs for a page, in microseconds of CPU.
type Part struct {
	Name       string  `json:"name"`
	CPUPerPage float64 `json:"cpu_us_per_page"`
	Pages      int     `json:"pages"`
}

const (
	partFetches = 20000 // pages fetched and discarded
	partWorkers = 256   // connections at a time
	partSamples = 200   // different pages for the parts without a network
	partPages   = 8000  // pages worked through by each of these
)

// measureParts measures what the crawl is made of, each alone, on pages of the same world. The fetches, which know no
// politeness, go to a web of their own, whose log nobody judges.
func measureParts(ctx context.Context, o *Options) ([]Part, error) {
	world, err := simweb.New(o.World)
	if err != nil {
		return nil, err
	}
	var urls []string
	for i := range min(world.Hosts(), partSamples*4) {
		urls = append(urls, world.Root(i))
	}
	w, err := startWeb(ctx, o.Program, o.World)
	if err != nil {
		return nil, err
	}
	fetched, err := measureFetch(ctx, o, strings.TrimPrefix(w.where.Proxy, "http://"), urls)
	if _, serr := w.stop(); err != nil || serr != nil {
		return nil, errors.Join(err, serr)
	}
	var bodies [][]byte
	var bases []string
	for _, u := range urls {
		if body, ok := world.Payload(u); ok && len(bodies) < partSamples {
			bodies, bases = append(bodies, body), append(bases, u)
		}
	}
	if len(bodies) == 0 {
		return nil, errors.New("vitro: no page to measure the parts with")
	}
	parts := []Part{fetched}
	parts = append(parts, measure(o, "SHA-1 of the payload", func(i int) {
		sha1.Sum(bodies[i%len(bodies)])
	}))
	parts = append(parts, measureGzip(o, bodies), measureLinks(o, bodies, bases))
	return parts, nil
}

// measure runs f for many pages and divides the CPU time.
func measure(o *Options, name string, f func(i int)) Part {
	before, _ := o.Usage()
	for i := range partPages {
		f(i)
	}
	after, _ := o.Usage()
	return Part{Name: name, CPUPerPage: float64((after - before).Microseconds()) / partPages, Pages: partPages}
}

func measureGzip(o *Options, bodies [][]byte) Part {
	z, err := gzip.NewWriterLevel(io.Discard, max(o.Level, 1))
	if err != nil {
		panic("BUG: vitro: " + err.Error())
	}
	return measure(o, fmt.Sprintf("gzip level %d, one member", max(o.Level, 1)), func(i int) {
		z.Reset(io.Discard)
		_, _ = z.Write(bodies[i%len(bodies)]) // into nothing
		_ = z.Close()
	})
}

func measureLinks(o *Options, bodies [][]byte, bases []string) Part {
	scanner := parse.NewScanner(parse.Options{})
	var url []byte
	return measure(o, "link scan, resolve, fingerprint", func(i int) {
		res, err := scanner.Scan(bodies[i%len(bodies)], []byte("text/html"))
		if err != nil {
			return
		}
		base := []byte(bases[i%len(bases)])
		for k := range res.Links {
			if u, err := urlx.Resolve(url[:0], base, res.Links[k].Ref); err == nil {
				url = u
				urlx.Fingerprint(1, url)
			}
		}
	})
}

// measureFetch fetches pages over one connection each and throws the bytes away.
func measureFetch(ctx context.Context, o *Options, proxy string, urls []string) (Part, error) {
	if _, err := netip.ParseAddrPort(proxy); err != nil {
		return Part{}, fmt.Errorf("vitro: %w", err)
	}
	dialer := fetch.LoopbackOnly()
	var next, failed atomic.Int64
	before, _ := o.Usage()
	var wg sync.WaitGroup
	for range partWorkers {
		wg.Go(func() {
			buf := make([]byte, 32<<10)
			for {
				i := int(next.Add(1)) - 1
				if i >= partFetches || ctx.Err() != nil {
					return
				}
				if discard(ctx, dialer, proxy, urls[i%len(urls)], buf) != nil {
					failed.Add(1)
				}
			}
		})
	}
	wg.Wait()
	after, _ := o.Usage()
	if n := failed.Load(); n > partFetches/100 {
		return Part{}, fmt.Errorf("vitro: %d of %d bare fetches failed", n, partFetches)
	}
	return Part{
		Name: "connect, request, read, discard", Pages: partFetches,
		CPUPerPage: float64((after - before).Microseconds()) / partFetches,
	}, ctx.Err()
}

func discard(ctx context.Context, d fetch.Dialer, proxy, url string, buf []byte) error {
	conn, err := d.DialContext(ctx, "tcp", proxy)
	if err != nil {
		return err
	}
	host, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(url, "http://"), "https://"), "/")
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second)) // a connection that takes none fails when it is used
	request := "GET " + url + " HTTP/1.1\r\nHost: " + host + "\r\nUser-Agent: orbweaver-bare\r\nConnection: close\r\n\r\n"
	if _, err := conn.Write([]byte(request)); err != nil {
		return errors.Join(err, conn.Close())
	}
	for {
		if _, err := conn.Read(buf); err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return errors.Join(err, conn.Close())
		}
	}
}
