package origin

import (
	"bytes"
	"compress/gzip"
	"crypto/sha1"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"orbweaver/internal/simweb"
	"orbweaver/internal/simweb/arrivals"
	"orbweaver/internal/simweb/judge"
)

// packedWorld has two hosts of three that pack their HTML, pages of today's size, and some of everything else.
func packedWorld(t *testing.T) *Web {
	c := simweb.Plain()
	c.Hosts, c.GzipShare, c.PageBytesMean, c.LinksMean, c.OtherShare, c.CopyShare = 40, 0.66, 240_000, 100, 0.1, 0.1
	return testWorld(t, c)
}

// unpack is what a payload holds, read by other people's library.
func unpack(t *testing.T, b []byte) []byte {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A page that is packed out of segments unpacks to the page that is sent bare, is the same in an equal world, and is as
// small as what a server makes of such HTML.
func TestPackedPagesHoldTheBareOnes(t *testing.T) {
	w, same := packedWorld(t), packedWorld(t)
	var packedPages, barePages, raw, packed int
	truth := maps.Collect(w.Expected(judge.ExpectOptions{Seeds: w.Seeds(1)}).All())
	for _, u := range slices.Sorted(maps.Keys(truth)) {
		if truth[u] != judge.ClassPage || packedPages > 60 {
			continue
		}
		bare, _ := w.Payload(u, false)
		sent, ok := w.Payload(u, true)
		if again, _ := same.Payload(u, true); !ok || !bytes.Equal(again, sent) {
			t.Fatalf("%s is not the same in an equal world", u)
		}
		if bytes.Equal(sent, bare) {
			barePages++
			continue
		}
		packedPages++
		raw += len(bare)
		packed += len(sent)
		if !bytes.Equal(unpack(t, sent), bare) {
			t.Errorf("%s: %d bytes unpack to something else than its %d", u, len(sent), len(bare))
		}
	}
	mean, times := float64(raw)/float64(packedPages), float64(raw)/float64(packed)
	t.Logf("%d pages packed, %d bare, mean %.0f bytes, packed %.2f times", packedPages, barePages, mean, times)
	if barePages == 0 || packedPages < 50 || mean < 0.7*240_000 || mean > 1.3*240_000 || times < 4 || times > 6 {
		t.Error("no bare pages, or sizes unlike those of the web")
	}
}

// Only a client that says so gets a packed page, in chunks or not, and the head tells that it is one.
func TestOnlyWhoAcceptsGzipGetsIt(t *testing.T) {
	for field, want := range map[string]bool{
		"Accept-Encoding: gzip": true, "accept-encoding: br;q=1.0, GZIP;q=0.8": true, "Accept-Encoding: gzip;q=0": false,
		"Accept-Encoding: br, identity": false, "X-Other: gzip": false,
	} {
		c := simweb.Plain()
		c.Hosts, c.GzipShare, c.Faults = 20, 1, simweb.Faults{Variants: simweb.Variants{Chunked: 0.5}}
		w := testWorld(t, c)
		for u, class := range w.Expected(judge.ExpectOptions{Seeds: w.Seeds(1)}).All() {
			if class != judge.ClassPage || strings.Contains(u, "/img/") || strings.Contains(u, "/css/") ||
				strings.Contains(u, "/doc/") {
				continue
			}
			resp, body, err := getWith(t, w, ServeOptions{Plain: true}, u, field)
			if err != nil {
				t.Fatal(err)
			}
			if packed := resp.Header.Get("Content-Encoding") == "gzip"; packed != want {
				t.Fatalf("%s with %q: packed is %v", u, field, packed)
			}
			if expected, _ := w.Payload(u, want); !bytes.Equal(body, expected) {
				t.Fatalf("%s with %q: the payload is another", u, field)
			}
		}
	}
}

// What counts is what the server sent: an archive with the other form of a page is wrong.
func TestG3_JudgeTellsPackedFromBare(t *testing.T) {
	c := simweb.Plain()
	c.Hosts, c.IPs, c.GzipShare, c.PagesPerHostMean, c.PagesPerHostMax, c.OtherShare, c.CopyShare = 1, 1, 1, 5, 5, 0, 0
	c.Robots = simweb.Robots{}
	w := testWorld(t, c)
	var pages []string
	for u := range w.Expected(judge.ExpectOptions{Seeds: w.Seeds(1)}).All() {
		pages = append(pages, u)
	}
	slices.Sort(pages)
	archive := func(gzip bool) (all []judge.Capture) {
		for _, u := range pages {
			p, _ := w.Payload(u, gzip)
			all = append(all, judge.Capture{URL: u, Status: 200, Digest: sha1.Sum(p), HasDigest: true})
		}
		return all
	}
	for _, sent := range []bool{false, true} {
		for _, stored := range []bool{false, true} {
			s := newStory(t, w)
			s.ask(w.Root(0)+"robots.txt", 1e9, 404, arrivals.FlagWhole)
			for _, u := range pages {
				flags := uint8(arrivals.FlagWhole)
				if sent {
					flags |= arrivals.FlagPacked
				}
				s.ask(u, 1e9, 200, flags)
			}
			wrong := 0
			if sent != stored {
				wrong = len(pages)
			}
			got := w.Judge(s.log, judgePromise(w), slices.Values(archive(stored)))
			checkVerdict(t, got, len(pages), func(v *judge.Verdict) { v.DigestMismatches = wrong })
		}
	}
}
