package crash

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"orbweaver/engine/state/layout"
	"orbweaver/internal/simweb"
)

// withBodies is added to the seed of a world whose pages include bodies that go through body files.
const withBodies = 1 << 32

func hasBodies(seed uint64) bool { return seed >= withBodies }

// bodyMax is the limit of a body in such a world. A body goes to a file if it is longer than the largest buffer of a
// page, which has room for any robots.txt.
const bodyMax = 1300 << 10

// longBodies is a guest with bodies that are too long for memory: one that does not compress, so that its record goes
// through a file too; one in chunks, which is served at two URLs, so that the second becomes a revisit; and one beyond
// the limit of a body, at a host of its own.
type longBodies struct{}

const (
	bodiesHost  = "bodies.example"
	endlessHost = "endless.test"
)

// bodySeeds are the seeds of the guest.
func bodySeeds() []string {
	return []string{"http://" + bodiesHost + "/", "http://" + endlessHost + "/endless"}
}

// Host implements simweb.Guest.
func (longBodies) Host(name string) (address netip.Addr, ok bool) {
	switch name {
	case bodiesHost:
		return netip.AddrFrom4([4]byte{203, 0, 113, 1}), true
	case endlessHost:
		return netip.AddrFrom4([4]byte{203, 0, 113, 2}), true
	default:
		return netip.Addr{}, false
	}
}

// noise are bytes that do not compress.
var noise = sync.OnceValue(func() []byte { //nolint:gochecknoglobals // made once, since it is large
	b := make([]byte, bodyMax-1000)
	rng := rand.NewChaCha8([32]byte{1})
	_, _ = rng.Read(b) // never fails
	return b
})

// Serve implements simweb.Guest.
func (longBodies) Serve(conn net.Conn, r simweb.GuestRequest) simweb.GuestResult {
	reply := simweb.GuestReply{Status: 200, Type: "application/octet-stream"}
	switch r.Path {
	case "/":
		reply.Type = "text/html"
		reply.Body = []byte("<a href=/noise>n</a><a href=/chunks>c</a><a href=/chunks-again>c</a>")
	case "/noise":
		reply.Body = noise()
	case "/chunks", "/chunks-again":
		return inChunks(conn, strings.Repeat("a chunk of a long body ", 4000))
	case "/endless":
		return untilClose(conn, strings.Repeat("and so on ", bodyMax/8))
	default:
		reply.Status = 404
	}
	return reply.Send(conn)
}

const answerHead = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: application/octet-stream\r\n"

// inChunks sends a body that is ten times the chunk.
func inChunks(conn net.Conn, chunk string) simweb.GuestResult {
	_, err := fmt.Fprintf(conn, "%sTransfer-Encoding: chunked\r\n\r\n", answerHead)
	for n := 0; n < 10 && err == nil; n++ {
		_, err = fmt.Fprintf(conn, "%x\r\n%s\r\n", len(chunk), chunk)
	}
	if err == nil {
		_, err = conn.Write([]byte("0\r\n\r\n"))
	}
	return simweb.GuestResult{Status: 200, Cut: err != nil}
}

// untilClose sends a body whose end is that of the connection.
func untilClose(conn net.Conn, body string) simweb.GuestResult {
	_, err := fmt.Fprintf(conn, "%s\r\n%s", answerHead, body)
	return simweb.GuestResult{Status: 200, Cut: err != nil}
}

// Crashes at calls that change the files of long bodies, on their way from the server and through the compression, and
// at calls that copy them to the archive.
func TestCrashOfLongBodies(t *testing.T) {
	eachSeed(t, func(t *testing.T, seed uint64) {
		tr := begin(t, seed+withBodies)
		ofBodies := 0
		maps.DeleteFunc(tr.base.counts, func(class string, _ int) bool {
			if strings.Contains(class, layout.BodiesDir+"/") {
				ofBodies++
				return false
			}
			return !strings.Contains(class, " "+layout.ArchiveDir+"/")
		})
		if ofBodies < 3 {
			t.Fatalf("seed %d: body files are changed in %d ways: %v", seed, ofBodies, tr.base.counts)
		}
		images := tr.record(t)
		if len(images) == 0 {
			t.Fatal("no such point in this run of the crawl; take the saved image")
		}
		tr.survive(t, images)
		tr.tell("crash of long bodies", images)
	})
}
