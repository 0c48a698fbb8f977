package crawl

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/internal/simweb"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// rude is a network of servers whose answers have no whole head. Each has no robots.txt.
type rude struct {
	says  map[string]string // by address
	hangs map[string]bool   // and then waits for ever
}

// DialContext implements fetch.Dialer.
func (r rude) DialContext(_ context.Context, _, addr string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	ours, theirs := net.Pipe()
	go r.serve(host, theirs)
	return ours, nil
}

func (r rude) serve(host string, conn net.Conn) {
	defer conn.Close() //nolint:errcheck // the client may be gone
	req, err := http.ReadRequest(bufio.NewReader(conn))
	if err != nil {
		return
	}
	text := r.says[host]
	if req.URL.Path == "/robots.txt" {
		text = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
	}
	if _, err := io.WriteString(conn, text); err != nil || req.URL.Path == "/robots.txt" || !r.hangs[host] {
		return
	}
	_, _ = conn.Read(make([]byte, 1)) // until the client has enough
}

// rudeCrawl makes a crawl of servers whose answers have no whole head.
func rudeCrawl(t *testing.T) (*testbed.Rig, engine.Config, rude) {
	t.Helper()
	net := rude{says: map[string]string{
		"192.0.2.1": "<html>no head at all</html>\n",
		"192.0.2.2": "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 1<<20),
		"192.0.2.3": "HTTP/1.1 200 OK\r\nServer: slow",
		"192.0.2.4": "HTTP/1.1 200 OK\r\nServer",
	}, hangs: map[string]bool{"192.0.2.3": true}}
	rig := testbed.MustRig(t, testbed.SmallWorld(*testbed.FirstSeed+45, simweb.Plain()), false)
	if err := rig.Net.Close(); err != nil {
		t.Error(err)
	}
	cfg := rig.Config()
	cfg.Limits.StallWait = 24 * time.Hour
	testbed.AllMetadata(&cfg)
	var seeds testbed.Seeds
	for host := range net.says {
		seeds = append(seeds, "http://"+host+"/")
	}
	cfg.Seeds = seeds
	return rig, cfg, net
}

// start opens a crawl of these servers.
func (r rude) start(t *testing.T, rig *testbed.Rig, cfg engine.Config, disk *vfs.Mem) *engine.Engine {
	t.Helper()
	seams := rig.Seams(disk)
	seams.Dialer = r
	e, err := engine.Open(cfg, seams)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// check says that what each server said is in a sound archive, once, and why it ends where it does.
func (r rude) check(t *testing.T, disk *vfs.Mem) {
	t.Helper()
	found := resources(t, disk)
	for host, truncated := range map[string]string{"192.0.2.1": "", "192.0.2.2": "length", "192.0.2.3": "time",
		"192.0.2.4": "disconnect"} {
		recs := found["http://"+host+"/"]
		if len(recs) != 1 {
			t.Errorf("of %s there are %d records", host, len(recs))
			continue
		}
		rec, whole := recs[0], truncated != "length"
		if rec.Get("WARC-Truncated") != truncated || !strings.HasPrefix(r.says[host], string(rec.Block)) ||
			whole && len(rec.Block) != len(r.says[host]) || len(rec.Block) == 0 {
			t.Errorf("of %s: truncated %q, want %q; %d bytes", host, rec.Get("WARC-Truncated"), truncated, len(rec.Block))
		}
	}
	report := testbed.Fsck(t, disk)
	testbed.WantSound(t, &report)
}

// What came in place of an answer is kept byte for byte, and says why it ends where it does; so it is after a rebuild.
func TestHostile_H04_H15_whatHasNoWholeHeadIsArchivedAsItCame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig, cfg, net := rudeCrawl(t)
		e := net.start(t, rig, cfg, rig.FS)
		if err := errors.Join(e.Run(t.Context()), e.Close()); err != nil {
			t.Fatal(err)
		}
		net.check(t, rig.FS)
		if r := testbed.Rebuild(t, rig, cfg, rig.FS); len(r.Damage) > 0 {
			t.Errorf("damage: %v", r.Damage)
		}
		net.check(t, rig.FS)
	})
}

// A kill in front of the first checkpoint leaves such records to the journal alone: they are not asked for again.
func TestKill_whatHasNoWholeHeadIsNotFetchedTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig, cfg, net := rudeCrawl(t)
		cfg.Intervals.Checkpoint = 24 * time.Hour
		e := net.start(t, rig, cfg, rig.FS)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- e.Run(ctx) }()
		<-time.After(10 * time.Second)
		disk := rig.FS.KillClone()
		stop()
		if err := errors.Join(<-done, e.Close()); err != nil {
			t.Fatal(err)
		}
		if n := len(resources(t, disk)); n == 0 || n == len(net.says) {
			t.Fatalf("%d records at the kill: it comes too early or too late", n)
		}
		report := testbed.Fsck(t, disk)
		testbed.WantSound(t, &report)
		e = net.start(t, rig, cfg, disk)
		if err := errors.Join(e.Run(t.Context()), e.Close()); err != nil {
			t.Fatal(err)
		}
		net.check(t, disk)
	})
}

// resources gives the resource records of each URL.
func resources(t *testing.T, fsys vfs.FS) map[string][]*warc.RecordRead {
	t.Helper()
	found := map[string][]*warc.RecordRead{}
	testbed.EachRecord(t, fsys, func(rec *warc.RecordRead) {
		if rec.Type == warc.Resource {
			found[string(rec.TargetURI)] = append(found[string(rec.TargetURI)], rec)
		}
	})
	return found
}
