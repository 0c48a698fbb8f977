package hostile

import (
	"bufio"
	"bytes"
	"context"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"orbweaver/engine/net/fetch"
	"orbweaver/internal/simweb"
)

// direct is a network of one web, without names and addresses.
type direct struct {
	web  *Web
	host string
	path string
	all  *sync.WaitGroup // of connections
}

// DialContext implements fetch.Dialer.
func (d *direct) DialContext(context.Context, string, string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	d.all.Go(func() {
		defer theirs.Close() //nolint:errcheck // the client may be gone
		r := bufio.NewReader(theirs)
		var head []byte
		for !bytes.HasSuffix(head, []byte("\r\n\r\n")) {
			line, err := r.ReadBytes('\n')
			if err != nil {
				return
			}
			head = append(head, line...)
		}
		d.web.Serve(theirs, simweb.GuestRequest{Authority: d.host, Path: d.path, Head: head})
	})
	return ours, nil
}

// heap is how much memory is in use.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// memoryOver fetches a page of a case so many times at once, and says how much memory each of them holds at the end
// beyond the limit of its body, in bytes: what it has, and what was needed on the way and waits for the next.
func memoryOver(t *testing.T, web *Web, host, path string, times int) int64 {
	t.Helper()
	var conns, fetches sync.WaitGroup
	d := &direct{web: web, host: host, path: path, all: &conns}
	o := fetch.Options{UserAgent: "test", BodyMax: bodyMax}.WithDefaults()
	before := heap()
	pool := fetch.NewPool(
		fetch.PoolOptions{Pages: times, Inlines: times, Mids: times, Slabs: times, SlabBytes: o.BufferMax()},
	)
	pages := make(chan *fetch.Page, times)
	for range times {
		fetches.Go(func() {
			f := fetch.NewFetcher(o, d, pool)
			defer f.Close()
			p := pool.TryGet()
			pages <- p
			f.Fetch(t.Context(), &fetch.Target{URL: []byte("http://" + d.host + path), Host: []byte(d.host)}, p)
		})
	}
	fetches.Wait()
	conns.Wait()
	over := (heap()-before)/int64(times) - o.BodyMax
	for range times {
		pool.Put(<-pages)
	}
	pool.Close()
	return over
}

// A fetch takes 2 MiB more than its body at most, whatever the server does. (What a body unpacks to belongs to the
// parse worker that reads it: two buffers of 16 MiB at most for each.)
func TestMemory_aFetchTakesLittleMoreThanItsBody(t *testing.T) {
	var most int64 = -1 << 62
	where := ""
	for id, c := range Cases() {
		if id[0] != 'H' && id[0] != 'Z' {
			continue
		}
		web, err := New(id)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range c.seeds() {
			if path[0] != '/' {
				continue
			}
			synctest.Test(t, func(t *testing.T) {
				if over := memoryOver(t, web, strings.ToLower(id)+domain, path, 3); over > most {
					most, where = over, id+" "+path
				}
			})
		}
	}
	t.Logf("most: %.2f MiB beyond the body, %s", float64(most)/(1<<20), where)
	if most > 2<<20 {
		t.Errorf("%s: %d bytes beyond the body", where, most)
	}
}
