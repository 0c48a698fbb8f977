package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// exchange is a request and the status of its response, as the archive or a server's log has it.
type exchange struct{ status, url string }

// crawls runs the crawler and reads its archives.
type crawls struct {
	*packages
	*findings
	crawler string   // its file
	more    []string // flags of each crawl
}

// crawl is a finished run of the crawler.
type crawl struct {
	State, Reason string
	Fetched       int            `json:"urls_fetched"`
	Outcomes      map[string]int `json:"outcomes"`
	Wall          float64        `json:"wall_seconds"`
	archive       []exchange     // in the order of the index
	name          string
	skipped       map[string]bool
	speculative   map[string]bool // URLs that were found as text in scripts
	floor         int             // its --trap-floor, if that was not the default
}

// crawl crawls sites with the default settings, apart from delays, the network and the name server, and reads the
// archive back. The name is that of the crawl directory.
func (r *crawls) crawl(ctx context.Context, name string, of []*site, flags ...string) (*crawl, error) {
	dir := r.path(name)
	args := []string{
		"crawl",
		"--dir",
		dir,
		"--allow-net",
		"127.0.0.0/8",
		"--resolver",
		"127.0.0.1:53",
		"--scope",
		"host",
		"--host-delay",
		"0s",
		"--ip-delay",
		"0s",
		"--user-agent",
		"orbweaver/" + name + " (+https://example.org/bot)",
		"--progress",
		"none",
		"--json",
	}
	for _, s := range of {
		flags = append(flags, s.seed())
	}
	var out, said bytes.Buffer
	c := exec.CommandContext(ctx, r.crawler, slices.Concat(args, r.more, flags)...)
	c.Cancel, c.WaitDelay = func() error { return c.Process.Signal(os.Interrupt) }, 20*time.Second
	c.Stdout, c.Stderr = &out, &said
	if err := c.Run(); err != nil {
		return nil, fmt.Errorf("the crawl %q: %w: %s%s", name, err, tail(out.Bytes()), tail(said.Bytes()))
	}
	result := &crawl{name: name}
	if err := json.Unmarshal(out.Bytes(), result); err != nil {
		return nil, fmt.Errorf("the report of the crawl %q: %w", name, err)
	}
	r.say("crawl %q: %s, %s: %d URLs in %.1f s, %.0f a second; outcomes %v", name, result.State, result.Reason,
		result.Fetched, result.Wall, float64(result.Fetched)/result.Wall, result.Outcomes)
	for _, check := range [][]string{{"warc", "verify"}, {"fsck", dir}} {
		if check[0] == "warc" {
			check = append(check, r.warcs(name)...)
		}
		if said, err := exec.CommandContext(ctx, r.crawler, check...).CombinedOutput(); err != nil {
			r.fail("%s of the crawl %q: %s", strings.Join(check[:2], " "), name, tail(said))
		}
	}
	var err error
	if result.skipped, err = r.skipped(ctx, dir); err != nil {
		return nil, err
	}
	if result.speculative, err = speculative(dir); err != nil {
		return nil, err
	}
	result.archive, err = r.index(ctx, name)
	return result, err
}

// speculative reads which URLs a crawl reached by a hop X: the text in a script that they were
// found in may mean no link.
func speculative(dir string) (map[string]bool, error) {
	text, err := os.ReadFile(filepath.Join(dir, "logs", "crawl.log"))
	if err != nil {
		return nil, err
	}
	of := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		// time, status, size, URL, hop path, as in Heritrix
		if fields := strings.Fields(line); len(fields) > 4 && strings.Contains(fields[4], "X") {
			of[fields[3]] = true
		}
	}
	return of, nil
}

// skipped reads which URLs a crawl has left out.
func (r *crawls) skipped(ctx context.Context, dir string) (map[string]bool, error) {
	out, err := exec.CommandContext(ctx, r.crawler, "skipped", "--json", dir).Output()
	if err != nil {
		return nil, fmt.Errorf("the list of URLs left out: %w", err)
	}
	of := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		var entry struct{ URL string }
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			return nil, fmt.Errorf("the list of URLs left out has the line %q: %w", line, err)
		}
		of[entry.URL] = true
	}
	return of, nil
}

func (r *crawls) warcs(name string) []string {
	entries, _ := os.ReadDir(r.path(name, "warc"))
	var of []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".warc.gz") {
			of = append(of, r.path(name, "warc", e.Name()))
		}
	}
	return of
}

// index reads which exchanges an archive has.
func (r *crawls) index(ctx context.Context, name string) ([]exchange, error) {
	out, err := exec.CommandContext(ctx, r.crawler, append([]string{"warc", "index"}, r.warcs(name)...)...).Output()
	if err != nil {
		return nil, fmt.Errorf("the index of the crawl %q: %w", name, err)
	}
	var of []exchange
	for line := range strings.Lines(string(out)) {
		var entry struct{ URL, Status string }
		_, text, found := strings.Cut(line, " {")
		if !found {
			return nil, fmt.Errorf("the index has the line %q", line)
		}
		if err := json.Unmarshal([]byte("{"+text), &entry); err != nil {
			return nil, fmt.Errorf("the index has the line %q: %w", line, err)
		}
		if strings.HasPrefix(entry.URL, "http") {
			of = append(of, exchange{entry.Status, entry.URL})
		}
	}
	return of, nil
}

// logged is a line of a web server's log.
type logged struct {
	exchange
	referrer, kind string // the kind is the Content-Type
}

// logs reads what the web servers were asked for by one client.
func (r *crawls) logs(agent string) ([]logged, error) {
	var of []logged
	for _, server := range []string{"nginx", "apache"} {
		text, err := os.ReadFile(r.path("access." + server))
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(text)) {
			fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
			if len(fields) != 6 || !strings.HasPrefix(fields[3], agent) {
				continue
			}
			target, _, _ := strings.Cut(strings.TrimPrefix(fields[2], "GET "), " HTTP/")
			if server == "apache" { // it escapes two characters
				target = strings.NewReplacer(`\\`, `\`, `\"`, `"`).Replace(target)
			}
			of = append(of, logged{exchange{fields[0], "http://" + fields[1] + target}, fields[4], fields[5]})
		}
	}
	return of, nil
}

// honest compares an archive with the logs of the servers: the same exchanges, each once. Servers log an exchange after
// they sent it, so a difference of the last few is read again.
func (r *crawls) honest(name string, c *crawl) error {
	archive := slices.Clone(c.archive)
	compare := func(a, b exchange) int { return strings.Compare(a.url+" "+a.status, b.url+" "+b.status) }
	slices.SortFunc(archive, compare)
	log, err := r.logs("orbweaver/" + name + " ")
	if err != nil {
		return err
	}
	server := make([]exchange, 0, len(log))
	for _, l := range log {
		server = append(server, l.exchange)
	}
	slices.SortFunc(server, compare)
	if len(server) == 0 {
		return fmt.Errorf("the servers know of no request of the crawl %q", name)
	}
	onlyServer, onlyArchive := less(server, archive), less(archive, server)
	for _, e := range first(onlyServer) {
		r.fail("crawl %q: the server sent %s %s, and the archive has it not (%d such)", name, e.status, e.url,
			len(onlyServer))
	}
	for _, e := range first(onlyArchive) {
		r.fail("crawl %q: the archive has %s %s, and the server did not log it (%d such)", name, e.status, e.url,
			len(onlyArchive))
	}
	if twice := len(archive) - len(slices.Compact(archive)); twice > 0 {
		r.fail("crawl %q: %d URLs were fetched twice", name, twice)
	}
	r.say("crawl %q: the archive has the %d exchanges that the servers logged", name, len(server))
	return nil
}

// less is what a has more of than b.
func less(a, b []exchange) (more []exchange) {
	count := map[exchange]int{}
	for _, e := range b {
		count[e]++
	}
	for _, e := range a {
		if count[e]--; count[e] < 0 {
			more = append(more, e)
		}
	}
	return more
}

// first is the first few, to be shown.
func first[E any](of []E) []E { return of[:min(len(of), 10)] }
