package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"orbweaver/internal/simweb"
	"orbweaver/internal/simweb/judge"
	"orbweaver/internal/simweb/origin"
	"orbweaver/internal/trial/load"
)

// settingsName is the file within a crawl directory that keeps its settings.
const settingsName = "crawl.toml"

// asProgram makes the test's own binary behave as orbweaver.
const asProgram = "RUN_AS_ORBWEAVER"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	config, err := os.MkdirTemp("", "orbweaver-config-") // so no key of settings is made at home
	if err != nil {
		panic(err)
	}
	if err := os.Setenv("XDG_CONFIG_HOME", config); err != nil {
		panic(err)
	}
	// memberlist's Shutdown does not wait for a probe that is under way; it ends with its interval, longer than goleak
	// waits.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/hashicorp/memberlist.(*Memberlist).probeNode"),
		goleak.Cleanup(func(exit int) {
			_ = os.RemoveAll(config)
			os.Exit(exit)
		}))
}

// buffer takes what several goroutines write.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

type result struct {
	code     int
	out, err string
}

// call runs a command in this process.
func call(args ...string) result { return callWith("", args...) }

func callWith(stdin string, args ...string) result {
	var out, errs buffer
	code := run(args, strings.NewReader(stdin), &out, &errs)
	return result{code, out.String(), errs.String()}
}

// want checks the exit status, and that stderr has each of the words.
func (r result) want(t *testing.T, code int, words ...string) result {
	t.Helper()
	if r.code != code {
		t.Fatalf("exit status %d, want %d; stdout:\n%s\nstderr:\n%s", r.code, code, r.out, r.err)
	}
	for _, w := range words {
		if !strings.Contains(r.err, w) {
			t.Errorf("stderr lacks %q:\n%s", w, r.err)
		}
	}
	return r
}

// object reads stdout as one JSON object.
func (r result) object(t *testing.T) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(r.out), &m); err != nil {
		t.Fatalf("stdout is no JSON: %v\n%s", err, r.out)
	}
	return m
}

// child starts this binary as orbweaver in a process of its own.
func child(t *testing.T, args ...string) (*exec.Cmd, *buffer) {
	t.Helper()
	return childOf(t, append([]string{program()}, args...)...)
}

// program is this test's own file, which is the program when a variable says so.
func program() string { return os.Args[0] }

// childOf runs a command line in which the program is somewhere.
func childOf(t *testing.T, line ...string) (*exec.Cmd, *buffer) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), line[0], line[1:]...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	errs := new(buffer)
	cmd.Stdout, cmd.Stderr = errs, errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, errs
}

// web is a simulated web on loopback.
type web struct {
	proxy string
	seeds string // file
	roots []string
	pages int64
}

// serve starts a web of 20 hosts without faults or pauses.
func serve(t *testing.T) *web {
	t.Helper()
	c := simweb.Plain()
	c.Hosts, c.PagesPerHostMean, c.PagesPerHostMax, c.PageBytesMean = 20, 5, 10, 2<<10
	c.CopyShare, c.Robots = 0, simweb.Robots{AllowAll: 1}
	world, err := origin.New(c)
	if err != nil {
		t.Fatal(err)
	}
	s, err := load.Start(t.Context(), world, load.Options{Proxy: "127.0.0.1:0", Plain: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	w := &web{
		proxy: "http://" + s.ProxyAddr().String(), seeds: filepath.Join(t.TempDir(), "seeds.txt"), roots: world.Seeds(20),
		pages: int64(world.Expected(judge.ExpectOptions{Seeds: world.Seeds(20)}).Pages()),
	}
	writeFile(t, w.seeds, "# seeds\n\n"+strings.Join(w.roots, "\n")+"\n")
	return w
}

// crawl gives the arguments of a small crawl of the web.
func (w *web) crawl(dir string, delay time.Duration, more ...string) []string {
	return append(small(dir, w.proxy, delay), append([]string{"--seeds", w.seeds}, more...)...)
}

func small(dir, proxy string, delay time.Duration) []string {
	return []string{
		"crawl", "--dir", dir, "--proxy", proxy, "--resolver", "hashed:8", "--host-delay", delay.String(), "--ip-delay", "0",
		"--scope", "all", "--stall-wait", "1m", "--fetchers", "16", "--workbench-memory", "4Mi", "--cache-memory", "1Mi",
		"--sieve-memory", "1Mi", "--requisites", "off", "--speculative", "off", // so that page counts are exact
	}
}

// nearby gives the arguments of a small crawl of servers on loopback.
func nearby(dir string, more ...string) []string {
	return append([]string{
		"crawl", "--dir", dir, "--allow-net", "127.0.0.0/8", "--host-delay", "1ms", "--ip-delay", "0", "--fetchers", "4",
		"--workbench-memory", "4Mi", "--cache-memory", "1Mi", "--sieve-memory", "1Mi",
	}, more...)
}

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// readReport reads report.json.
func readReport(t *testing.T, dir string) map[string]any {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "report.json"))
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func number(t *testing.T, m map[string]any, key string) int64 {
	t.Helper()
	f, ok := m[key].(float64)
	if !ok {
		t.Fatalf("%s is %v, no number", key, m[key])
	}
	return int64(f)
}

// balanced checks that every admitted URL is somewhere.
func balanced(t *testing.T, m map[string]any) {
	t.Helper()
	outcomes, ok := m["outcomes"].(map[string]any)
	if !ok {
		t.Fatalf("outcomes: %v", m["outcomes"])
	}
	sum := number(t, m, "urls_queued") + number(t, m, "urls_in_flight")
	for name := range outcomes {
		sum += number(t, outcomes, name)
	}
	if sum != number(t, m, "urls_admitted") {
		t.Errorf("urls_admitted is %s, the rest makes %d: %v", strconv.FormatInt(number(t, m, "urls_admitted"), 10), sum, m)
	}
}

// soon waits until ok, and fails the test when that takes too long.
func soon(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	end := time.After(2 * time.Minute) // on a busy machine; what hangs takes for ever
	for !ok() {
		select {
		case <-tick.C:
		case <-end:
			t.Fatalf("%s: not within two minutes", what)
		}
	}
}
