package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// box is a kind of middlebox, and what a crawl may take behind it.
type box struct {
	name    string
	refuses func(question []byte) verdict
	most    time.Duration
}

// boxes returns the middleboxes. A question without a reply costs five seconds, once for each extra that is dropped; a
// dropped AAAA costs a second.
func boxes() []box {
	dropIf := func(yes func([]byte) bool) func([]byte) verdict {
		return func(q []byte) verdict {
			if yes(q) {
				return drop
			}
			return pass
		}
	}
	const usual = 12 * time.Second
	return []box{
		{"none", dropIf(func([]byte) bool { return false }), usual},
		{"drops EDNS", dropIf(hasEDNS), usual + 7*time.Second},
		{"drops random case", dropIf(isMixed), usual + 12*time.Second},
		{"drops AAAA", dropIf(isAAAA), usual + 7*time.Second},
		{"drops all three", dropIf(hasAny), usual + 14*time.Second},
		{"FORMERR for EDNS", func(q []byte) verdict {
			if hasEDNS(q) {
				return formErr
			}
			return pass
		}, usual},
	}
}

func main() {
	if err := check(); err != nil {
		fmt.Fprintln(os.Stderr, "dnscheck:", err)
		os.Exit(1)
	}
}

func check() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	work, err := filepath.Abs("build/dns")
	if err != nil {
		return err
	}
	if err := errors.Join(os.RemoveAll(work), os.MkdirAll(work, 0o755), serveSites()); err != nil {
		return err
	}
	var running []*exec.Cmd
	defer func() {
		cancel()
		for _, cmd := range running {
			_ = cmd.Wait()
		}
	}()
	for _, s := range servers() {
		cmd, err := s.start(ctx, filepath.Join(work, s.name))
		if cmd != nil {
			running = append(running, cmd)
		}
		if err != nil {
			return fmt.Errorf("%s: %w; its log is %s", s.name, err, filepath.Join(work, s.name, "log"))
		}
	}
	return crawlAll(ctx, work)
}

// serveSites answers each request with a page of its own, at the addresses of the zone except that of two.dns.test at
// which nothing listens.
func serveSites() error {
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, "<title>%[1]s</title><p>the page of %[1]s", r.Host)
	})
	addrs := []string{"127.0.2.1"}
	for i := range many {
		addrs = append(addrs, fmt.Sprintf("127.0.1.%d", i+1))
	}
	for _, addr := range addrs {
		l, err := net.Listen("tcp", addr+":80")
		if err != nil {
			return err
		}
		go func() { _ = http.Serve(l, handler) }()
	}
	return nil
}

// crawlAll crawls the zone for each pair of a server and a middlebox, some at a time, and prints a table.
func crawlAll(ctx context.Context, work string) error {
	fmt.Printf("%-9s %-18s %6s %6s %6s  %s\n", "server", "middlebox", "pages", "gone", "took", "result")
	var (
		all   sync.WaitGroup
		mu    sync.Mutex
		lines []string
		fault error
	)
	places := make(chan struct{}, len(servers())*len(boxes())/2)
	for i, s := range servers() {
		for k, b := range boxes() {
			addr := fmt.Sprintf("127.0.%d.%d:53", 10+i, 1+k)
			m := &middlebox{server: "127.0.0.1:" + s.port, refuses: b.refuses}
			if err := m.serve(addr); err != nil {
				return err
			}
			all.Go(func() {
				places <- struct{}{}
				defer func() { <-places }()
				r, err := crawl(ctx, filepath.Join(work, fmt.Sprintf("crawl-%s-%d", s.name, k)), addr)
				if err == nil {
					err = r.judge(b.most)
				}
				mu.Lock()
				defer mu.Unlock()
				result := "ok"
				if err != nil {
					result, fault = err.Error(), errors.New("not all names resolve as they should")
				}
				lines = append(lines, fmt.Sprintf("%-9s %-18s %6d %6d %5.1fs  %s", s.name, b.name, r.Pages,
					r.Outcomes["name-not-found"], r.Seconds, result))
			})
		}
	}
	all.Wait()
	slices.Sort(lines)
	fmt.Println(strings.Join(lines, "\n"))
	return fault
}

// report is what the report of a crawl says.
type report struct {
	Pages    int            `json:"pages_stored"`
	Outcomes map[string]int `json:"outcomes"`
	Seconds  float64        `json:"wall_seconds"`
}

// judge returns what is wrong.
func (r *report) judge(most time.Duration) error {
	switch want := plain + twoAddrs + 1; {
	case r.Pages != want:
		return fmt.Errorf("%d pages, not %d: %v", r.Pages, want, r.Outcomes)
	case r.Outcomes["name-not-found"] != 1:
		return fmt.Errorf("the name that does not exist: %v", r.Outcomes)
	case r.Seconds > most.Seconds():
		return fmt.Errorf("it took longer than %v", most)
	}
	return nil
}

// crawlMost is the longest time of a crawl. Two of them, one after the other, fit into a minute.
const crawlMost = 25 * time.Second

// crawl crawls all names with one name server.
func crawl(ctx context.Context, dir, resolver string) (r report, err error) {
	args := []string{
		"crawl", "--dir", dir, "--resolver", resolver, "--allow-net", "127.0.0.0/8", "--contact", "https://example.org/",
		"--host-delay", "10ms", "--ip-delay", "10ms", "--tries", "1", "--scope", "host", "--fetchers", "16",
		"--progress", "none",
		"--workbench-memory", "4Mi", "--cache-memory", "1Mi", "--sieve-memory", "1Mi",
	}
	for _, r := range records() {
		args = append(args, "http://"+r.name+"/")
	}
	args = append(args, "http://alias."+zone+"/", "http://gone."+zone+"/")
	ctx, cancel := context.WithTimeout(ctx, crawlMost)
	defer cancel()
	log, err := os.Create(dir + ".log")
	if err != nil {
		return r, err
	}
	defer func() { _ = log.Close() }()
	cmd := exec.CommandContext(ctx, "bin/orbweaver", args...)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Run(); err != nil {
		return r, fmt.Errorf("crawl: %w; its log is %s", err, log.Name())
	}
	b, err := os.ReadFile(filepath.Join(dir, "report.json"))
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(b, &r)
}
