package origin_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"orbweaver/internal/simweb"
	"orbweaver/internal/simweb/judge"
	"orbweaver/internal/simweb/origin"
)

// A world is the same, byte for byte, for the same configuration: results of earlier versions stay comparable. The sums
// cover heads and bodies of every URL that can be reached, of each robots.txt, and of what a client gets that tries
// again or asks on a condition.
func TestWorldIsByteIdentical(t *testing.T) {
	small := func(c simweb.Config, seed uint64) simweb.Config {
		c.Seed, c.Hosts, c.IPs, c.PagesPerHostMean, c.PagesPerHostMax = seed, 24, 6, 8, 30
		return c
	}
	today := small(simweb.Today(), 3)
	today.Hosts, today.PageBytesMean = 6, 60_000
	dated := small(simweb.Plain(), 4)
	dated.Validators, dated.Edition, dated.Changing, dated.GzipShare, dated.PageBytesMean = 0.8, 5, 0.3, 0.5, 4000
	simple := small(simweb.Plain(), 5)
	simple.PlainLinks, simple.HTTPSShare, simple.AltPortShare = true, 0.3, 0.2
	faulty := small(simweb.Faulty(), 2)
	faulty.Faults, faulty.Timing.HugeBytes = simweb.AllFaults(0.03), 200_000
	for name, c := range map[string]struct {
		config simweb.Config
		sum    string
	}{
		"plain":  {small(simweb.Plain(), 1), "5d573af8ea2d9c7a003a0658fdf6dfd1"},
		"faulty": {faulty, "d5bf3085672b069971e01fcd646677aa"},
		"today":  {today, "dd70b08e42a5403cb9dbd0b5f26fa85c"},
		"dated":  {dated, "07cd3a671dfbe5b5013adb6fefad647a"},
		"simple": {simple, "b688614ddf6a2258998f342e310baae7"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if got := sumOfWorld(t, c.config); got != c.sum {
					t.Errorf("sum %s, want %s", got, c.sum)
				}
			})
		})
	}
}

// sumOfWorld is a digest of all answers of a world.
func sumOfWorld(t *testing.T, c simweb.Config) string {
	t.Helper()
	w, err := origin.New(c)
	if err != nil {
		t.Fatal(err)
	}
	var urls []string
	for url, class := range w.Expected(judge.ExpectOptions{Seeds: w.Seeds(3)}).All() {
		urls = append(urls, fmt.Sprint(url, " ", class))
	}
	for i := range w.Hosts() {
		urls = append(urls, w.Root(i)+"robots.txt robots")
	}
	slices.Sort(urls)
	conditions := []string{
		"", "", "Accept-Encoding: gzip\r\n", "If-Modified-Since: Mon, 01 Jan 1996 00:00:00 GMT\r\n",
	}
	sum := sha256.New()
	for _, line := range urls {
		url, _, _ := strings.Cut(line, " ")
		_, _ = fmt.Fprintln(sum, line, w.AddrOf(strings.Split(url, "/")[2]))
		for _, fields := range conditions {
			client, server := net.Pipe()
			go w.Serve(server, origin.ServeOptions{})
			_, err := fmt.Fprintf(client, "GET %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n%s\r\n", url, fields)
			if err != nil {
				t.Fatal(err)
			}
			n, err := io.Copy(sum, client)
			_, _ = fmt.Fprintln(sum, n, err)
		}
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}
