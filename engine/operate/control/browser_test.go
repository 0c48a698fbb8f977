//go:build scenario

package control

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"orbweaver/engine/frontier/admission"
	"orbweaver/engine/frontier/order"
	"orbweaver/engine/operate/changes"
	"orbweaver/engine/operate/doctor"
	"orbweaver/engine/operate/hosts"
	"orbweaver/engine/operate/logreport"
	"orbweaver/engine/operate/operator"
	"orbweaver/engine/operate/report"
	"orbweaver/engine/state/cluster"
	"orbweaver/engine/state/counters"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/engine/state/limits"
	"orbweaver/internal/vfs"
)

// browserCheck is the directory of the program that drives the browser.
const browserCheck = "../../../tools/dashboardcheck"

// browsed is a crawl with ten thousand hosts and one whose name is markup.
type browsed struct {
	fake

	mu     sync.Mutex
	paused bool
	pages  int64
	rules  []string
	scope  string
	log    []changes.Entry // of settings

	distributions counters.Distributions
}

const markup = "<img src=x onerror=alert(1)>"

func (b *browsed) Report() report.Report {
	b.mu.Lock()
	defer b.mu.Unlock()
	state := lifecycle.Running
	if b.paused {
		state = lifecycle.Paused
	}
	return report.Report{
		State: state, Waiting: "politeness: " + markup, Dir: "/crawls/" + markup,
		Limits:     report.Limits{InForce: limits.InForce{MaxPages: 10_000}, MaxDepth: -1},
		Reported:   counters.Reported[int64]{PagesStored: b.pages, URLsFound: 1234567, URLsAdmitted: 89012, Attempts: 4321},
		URLsQueued: 76543, HostsKnown: 10_001, IPsKnown: 99, RobotsDenied: 7, Checkpoints: 3,
		Outcomes: map[string]int64{"ok": b.pages, markup: 5}, Statuses: map[string]int64{"200": 12},
		MediaTypes: map[string]int64{"text/html": 2100, "application/pdf": 34, markup: 6},
		Depths:     map[string]int64{"0": 9, "2": 4000, "10": 77, "16+": 5}, DNS: report.DNS{Lookups: 12345, Timeouts: 67},
		Cluster: &cluster.StatusReport{
			Self: "a1", LinksSent: 345678, MessagesFailed: 21, Agents: []cluster.AgentReport{
				{ID: "a1", State: cluster.AgentAlive, Share: 0.5, URLsReceived: 0},
				{ID: markup, State: cluster.AgentAlive, Share: 0.3, URLsWaiting: 4711, URLsReceived: 99},
				{ID: "a3", State: cluster.AgentSuspected, Share: 0.2, URLsReceived: 3},
			},
		},
		Distributions: &b.distributions,
	}
}

// change changes the state, and says whether it was another.
func (b *browsed) change(paused bool) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	changed := b.paused != paused
	b.paused = paused
	return changed
}

// storePage stores a page more, and returns their number.
func (b *browsed) storePage() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pages++
	return b.pages
}

func (b *browsed) Pause() bool  { return b.change(true) }
func (b *browsed) Resume() bool { return b.change(false) }

func (*browsed) AddURLs(_ context.Context, urls iter.Seq[string]) (admission.Added, error) {
	return admission.Added{New: len(slices.Collect(urls))}, nil
}

func (b *browsed) HostRule(rules []string) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rules = append(b.rules, rules...)
	return len(rules), nil
}

func (b *browsed) HostRules() (live, fixed []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.rules), nil
}

func (b *browsed) ListSettings() changes.List {
	b.mu.Lock()
	defer b.mu.Unlock()
	return changes.List{
		Settings: []changes.Setting{
			{Name: "host-delay", Value: "4s", Default: "4s", Help: "Time between two requests. " + markup},
			{Name: "scope", Value: b.scope, Default: "domain", Help: "URLs to admit.", Words: "host,domain,all"},
		},
		Changes: slices.Clone(b.log),
	}
}

// ChangeSettings changes the scope, which drops URLs.
func (b *browsed) ChangeSettings(_ context.Context, r changes.Request) (changes.Result, error) {
	name, to, _ := strings.Cut(r.Settings[0], "=")
	if name != "scope" {
		return changes.Result{}, errors.New("there is no setting " + markup)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	result := changes.Result{
		Changed: []changes.Changed{{Name: name, From: b.scope, To: to}},
		Drops:   &changes.Drops{Queued: 9, Looked: 9, Dropped: 2, Complete: true, Some: []string{"http://" + markup}},
	}
	if r.DryRun {
		return result, nil
	}
	if !r.Yes {
		return result, changes.ErrUnconfirmed
	}
	result.Change = len(b.log) + 1
	b.log = append(b.log, changes.Entry{
		Change: result.Change, By: markup, Why: r.Why, Setting: name, From: b.scope, To: to,
	})
	b.scope = to
	return result, nil
}

// UndoSettings takes the last change back.
func (b *browsed) UndoSettings(_ context.Context, r changes.Request) (changes.Result, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	last := b.log[len(b.log)-1]
	changed := []changes.Changed{{Name: "scope", From: b.scope, To: last.From}}
	result := changes.Result{Undoes: last.Change, Changed: changed}
	if !r.DryRun {
		result.Change = len(b.log) + 1
		b.log = append(b.log, changes.Entry{
			Change: result.Change, Undoes: last.Change, Setting: "scope", From: b.scope, To: last.From,
		})
		b.scope = last.From
	}
	return result, nil
}

func (*browsed) AnswerQuestion(_ context.Context, name string, values map[string][]string) (any, error) {
	evil := hosts.Host{Site: "http://" + markup, State: "waiting", Queued: 3, Waits: []hosts.Wait{{Text: markup}}}
	switch name {
	case "hosts":
		list := hosts.List{Matching: 1, Queued: 3, Hosts: []hosts.Host{evil}}
		if len(values["suffix"]) > 0 {
			return list, nil
		}
		limit, err := strconv.Atoi(values["limit"][0])
		list.Matching = 10_001
		for i := range limit - 1 {
			list.Hosts = append(list.Hosts, hosts.Host{
				Site: fmt.Sprintf("https://h%d.test", i), State: "waiting", Queued: uint64(i), Errors: int64(i % 7),
			})
		}
		return list, err
	case "queue":
		return hosts.Queues{Sites: []hosts.Queue{{
			Host: evil, URLs: []hosts.QueuedURL{{Position: 1, URL: "http://" + markup + "/", Place: "memory"}},
		}}}, nil
	case "doctor":
		return operator.Diagnoses{Diagnoses: []doctor.Diagnosis{
			{Cause: doctor.HugeHost, Text: "one host has 9 of 10 queued URLs: " + markup, Remedy: "see " + markup,
				IfLifted: "its queue takes 3h"},
			{Cause: doctor.Politeness, Text: "politeness: 3 sites wait", Remedy: "more hosts"},
		}}, nil
	case "match":
		rule, _, _ := strings.Cut(values["rule"][0], " ")
		m := hosts.Match{Rule: rule, Sites: 1, Queued: 3, Largest: []string{"http://" + markup}, OnDisk: 12}
		if strings.Contains(rule, "/") {
			m.Fault = "a rule for a range of addresses would not fit the names that resolve into it"
		}
		return m, nil
	case "seeds":
		failed := logreport.Seed{URL: "http://" + markup, State: logreport.SeedFailed, Outcome: "refused", WaitsFor: markup}
		return logreport.SeedList{
			Matching: 1, States: map[logreport.SeedState]int{failed.State: 1}, Seeds: []logreport.Seed{failed},
		}, nil
	case "domains":
		return operator.Domains{Domains: []order.Place{{Domain: markup, Weight: 8.55, Pages: 12, Queued: 3}}}, nil
	case "failures":
		return logreport.FailureList{Failures: []logreport.Failure{
			{Time: "2026-11-25T20:00:00.000Z", URL: "http://" + markup, Outcome: "reset", Page: "http://a.test/"},
		}}, nil
	case "explain":
		attempt := map[string]any{"time": "2026-11-25T20:00:00Z", "outcome": markup, "status": 200, "size": 12, "final": true}
		return map[string]any{"verdict": "fetched: " + markup, "via": markup, "attempts": []any{attempt}}, nil
	}
	return operator.Active{Exchanges: []operator.Exchange{{
		URL: "http://a.test/video.mp4", Kind: "page", Age: 10, Received: 10 << 20, Length: 40 << 20,
	}}}, nil
}

// endedPages serves the pages of a crawl that has ended, until the end of the test, and returns their address with a
// login.
func endedPages(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	last := report.Report{State: lifecycle.Finished, Reason: "complete", Written: "2026-01-01T00:00:00Z"}
	if err := report.Write(vfs.Disk(), dir, last); err != nil {
		t.Fatal(err)
	}
	writeLog(t, dir, "http://no.test/",
		"2026-01-01T00:00:00.000Z    -1  - http://no.test/ - - unknown #000 - - - name-not-found\n")
	var login string
	s, err := ListenPages(t.Context(), Pages{
		Options: Options{
			Address: "127.0.0.1:0", History: HistoryFile{FS: vfs.Disk(), Name: filepath.Join(dir, "history"), Crawl: dir},
		},
		Crawl:    Dial("unix:"+filepath.Join(dir, "no-socket"), ""),
		NewLogin: func(addr, code string) { login = cmp.Or(login, "http://"+addr+"/#login="+code) },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return login
}

// TestBrowser_stories does with the dashboard what people do, in Chromium. `make accept
// NAME=dashboard` installs what it needs.
func TestBrowser_stories(t *testing.T) {
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("no Node.js: apt-get install nodejs npm")
	}
	if _, err := os.Stat(filepath.Join(browserCheck, "node_modules")); err != nil {
		t.Skip("no playwright-core: make accept NAME=dashboard")
	}
	if _, err := exec.LookPath("chromium"); err != nil {
		t.Skip("no Chromium: apt-get install chromium")
	}
	crawl := &browsed{pages: 3456, scope: "domain"}
	for range 5 {
		crawl.distributions.Gap.Observe(0, 3*time.Second)
	}
	address := "127.0.0.1:0"
	start := func() *Server {
		s, err := Listen(t.Context(), Options{Address: address, Token: secret}, crawl)
		if err != nil {
			t.Fatal(err)
		}
		address = s.Addr()
		return s
	}
	s := start()
	proxy := httptest.NewServer(http.StripPrefix("/crawls/one", &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(&url.URL{Scheme: "http", Host: address})
			r.Out.Host = r.In.Host
		},
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelInfo), // a page that is closed ends its stream
	}))
	defer proxy.Close()
	check := exec.CommandContext(
		t.Context(), "node", "dashboard.mjs", "http://"+address, secret, proxy.URL+"/crawls/one", endedPages(t),
	)
	check.Dir = browserCheck
	check.Stderr = os.Stderr
	in, err := check.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := check.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := check.Start(); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		switch line := lines.Text(); {
		case line == "restart":
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		case line == "start", line == "more":
			pages := crawl.storePage()
			if line == "start" {
				s = start()
			}
			if _, err := fmt.Fprintln(in, pages); err != nil {
				t.Fatal(err)
			}
		case strings.HasPrefix(line, "FAIL "):
			t.Error(strings.TrimPrefix(line, "FAIL "))
		default:
			t.Log(line)
		}
	}
	if err := check.Wait(); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
