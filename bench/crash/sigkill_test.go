//go:build scenario

package crash

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"orbweaver/internal/simweb"
	"orbweaver/internal/simweb/arrivals"
	"orbweaver/internal/simweb/judge"
	"orbweaver/internal/simweb/origin"
	"orbweaver/internal/trial/captures"
	"orbweaver/internal/trial/load"
	"orbweaver/internal/vfs"
)

var killCount = flag.Int("kills", 3, "how often the real program is killed")

const (
	killFetchers = 12
	killInFlight = killFetchers + 5*2     // two parsers
	killAfterMax = 700 * time.Millisecond // a kill comes at a random moment up to here
	crawlMax     = 2 * time.Minute        // no run of the program may take longer
	killPoliteIP = 5 * time.Millisecond   // --ip-delay
	killPolite   = 4 * killPoliteIP       // --host-delay
)

// killWorld is a web with all that can be had in seconds of real time.
func killWorld(seed uint64) simweb.Config {
	c := simweb.Plain()
	c.Seed, c.Hosts, c.IPs, c.PagesPerHostMean, c.PagesPerHostMax, c.PageBytesMean = seed, 24, 12, 25, 80, 3000
	c.CopyShare = 0.05
	c.Faults = simweb.Harmless(0.03)
	c.Faults.NotFound, c.Faults.Redirect, c.Faults.RedirectLoop = 0.03, 0.03, 0.01
	c.Faults.OnceUnavail, c.Faults.Slow = 0.01, 0.02
	c.Robots = simweb.Robots{AllowAll: 0.4, Rules: 0.3, CrawlDelay: 0.1, DenyAll: 0.05, Redirect: 0.05, Forbidden: 0.05}
	c.Timing.Slow, c.Timing.CrawlDelay, c.Timing.RetryAfter = 100*time.Millisecond, 100*time.Millisecond, time.Second
	return c
}

// served is a web on loopback, and the program that crawls it.
type served struct {
	t       *testing.T
	world   *origin.Web
	log     *arrivals.Log
	program string
	dir     string
	args    []string
}

// build makes the program once.
func build(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "orbweaver")
	build := exec.CommandContext(t.Context(), "go", "build", "-C", "../..", "-o", program, "./cmd/orbweaver")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

func serve(t *testing.T, program string, seed uint64) *served {
	t.Helper()
	w, err := origin.New(killWorld(seed))
	if err != nil {
		t.Fatal(err)
	}
	s := &served{t: t, world: w, log: w.NewLog(), program: program, dir: filepath.Join(t.TempDir(), "crawl")}
	web, err := load.Start(t.Context(), w, load.Options{Proxy: "127.0.0.1:0", Log: s.log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := web.Close(); err != nil {
			t.Error(err)
		}
	})
	s.args = append([]string{
		"crawl", "--dir", s.dir, "--scope", "all", "--proxy", "http://" + web.ProxyAddr().String(),
		"--resolver", fmt.Sprintf("hashed:%d", w.Config().IPs),
		"--host-delay", killPolite.String(), "--ip-delay", killPoliteIP.String(),
		"--stall-wait", "30s", "--checkpoint", "1s",
		"--fetchers", fmt.Sprint(killFetchers),
		"--workbench-memory", "1Mi", "--cache-memory", "64Ki", "--sieve-memory", "64Ki",
		"--warc-size", "256Ki", "--progress", "none",
	}, w.Seeds(3)...)
	return s
}

// run starts the program, and kills it after a while if that is not zero. It says whether the program came to its end.
func (s *served) run(after time.Duration) (ended bool) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), crawlMax)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.program, s.args...)
	cmd.Env = append(cmd.Environ(), "GOMAXPROCS=2")
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	var death <-chan time.Time
	if after > 0 {
		death = time.After(after)
	}
	select {
	case err := <-done:
		if err != nil {
			s.t.Fatalf("seed %d: the program failed: %v\n%s", s.world.Config().Seed, err, said.String())
		}
		return true
	case <-death:
	}
	if err := cmd.Process.Kill(); err != nil {
		<-done // it ended at this very moment
		return true
	}
	err := <-done
	var status *exec.ExitError
	if err != nil && (!errors.As(err, &status) || status.Exited()) {
		s.t.Fatalf("seed %d: the program failed: %v\n%s", s.world.Config().Seed, err, said.String())
	}
	s.log.Lose(killInFlight)
	return err == nil
}

// tool runs another command of the program, which must succeed.
func (s *served) tool(args ...string) {
	s.t.Helper()
	if out, err := exec.CommandContext(s.t.Context(), s.program, args...).CombinedOutput(); err != nil {
		s.t.Errorf("seed %d: %v: %v\n%s", s.world.Config().Seed, args, err, out)
	}
}

// judge examines what a finished crawl has left, and gives its pages and how many were fetched again.
func (s *served) judge(kills int) (pages map[string]bool, again int) {
	s.t.Helper()
	s.tool("fsck", s.dir)
	files, err := filepath.Glob(filepath.Join(s.dir, "warc", "*.warc.gz"))
	if err != nil || len(files) == 0 {
		s.t.Fatal("no archive", err)
	}
	s.tool(append([]string{"warc", "verify"}, files...)...)
	warcs := filepath.Join(s.dir, "warc")
	crawled, err := captures.All(vfs.Disk(), warcs)
	if err != nil {
		s.t.Fatal(err)
	}
	pages = map[string]bool{}
	for c := range crawled {
		if c.Status == 200 {
			pages[c.URL] = true
		}
	}
	v := s.world.Judge(s.log, judge.Promise{
		HostDelay: killPolite, IPDelay: killPoliteIP, Slack: 250 * time.Millisecond,
		Expect: judge.ExpectOptions{Seeds: s.world.Seeds(3)},
	}, crawled)
	again = v.Repeated
	if again > kills*killInFlight {
		s.t.Errorf("seed %d: %d pages fetched again after %d kills", s.world.Config().Seed, again, kills)
	}
	v.Repeated, v.Overlap = 0, 0
	if !v.Sound() {
		var b bytes.Buffer
		v.Print(&b)
		s.t.Errorf("seed %d, after %d kills: %s", s.world.Config().Seed, kills, b.String())
	}
	return pages, again
}

// TestKillTheProgram kills the real program at random moments, again and again, until it has finished all the same.
func TestKillTheProgram(t *testing.T) {
	program := build(t)
	begin := time.Now()
	seed := *firstSeed
	unkilled := serve(t, program, seed)
	unkilled.run(0)
	want, _ := unkilled.judge(0)
	rng := rand.New(rand.NewPCG(seed, 9))
	kills, crawls, again := 0, 0, 0
	for kills < *killCount {
		s := serve(t, program, seed)
		crawls++
		here, ended := 0, false
		for !ended {
			after := time.Duration(0)
			if kills < *killCount {
				after = 1 + time.Duration(rng.Int64N(int64(killAfterMax)))
			}
			if ended = s.run(after); !ended {
				kills++
				here++
			}
		}
		got, n := s.judge(here)
		again += n
		if !maps.Equal(got, want) {
			t.Errorf("crawl %d: %d pages after %d kills, %d without", crawls, len(got), here, len(want))
		}
		if t.Failed() {
			t.FailNow()
		}
	}
	fmt.Fprintf(os.Stdout, "SIGKILL: %d kills in %d crawls of %d pages: all survived, %d pages fetched again, %v\n",
		kills, crawls, len(want), again, time.Since(begin).Round(time.Second))
}
