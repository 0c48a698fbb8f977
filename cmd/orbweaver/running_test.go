package main

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"orbweaver/engine/operate/control"
	"orbweaver/internal/cli/command"
)

// running starts a crawl that is slow enough to be talked to, and ends it by ctl stop with the test.
func running(t *testing.T, w *web, dir string) {
	t.Helper()
	done := make(chan result, 1)
	go func() { done <- call(w.crawl(dir, time.Second)...) }()
	t.Cleanup(func() {
		call("ctl", "stop", "--dir", dir)
		if r := <-done; r.code != command.ExitStopped || !strings.Contains(r.err, "resume with: orbweaver crawl --dir "+dir) {
			t.Errorf("a stopped crawl: %+v", r)
		}
	})
	soon(t, "pages in the running crawl", func() bool {
		r := call("ctl", "status", "--dir", dir, "--json")
		return r.code == command.ExitDone && number(t, r.object(t), "pages_stored") >= 5
	})
}

func TestControl(t *testing.T) {
	w, dir := serve(t), t.TempDir()
	running(t, w, dir)
	call(w.crawl(dir, 0)...).want(t, command.ExitFailed, "in use by another process", dir)
	ctl := func(args ...string) result { return call(append([]string{"ctl", "--dir", dir}, args...)...) }

	status := ctl("status").want(t, command.ExitDone)
	if !strings.HasPrefix(status.out, "running") || !strings.Contains(status.out, "waiting") {
		t.Errorf("status: %s", status.out)
	}
	ctl("pause").want(t, command.ExitDone, "paused")
	ctl("pause").want(t, command.ExitDone, "the crawl is paused already")
	m := ctl("status", "--json").want(t, command.ExitDone).object(t)
	if m["state"] != "paused" {
		t.Errorf("state is %v", m["state"])
	}
	balanced(t, m)
	ctl("resume").want(t, command.ExitDone, "resumed")
	ctl("block", ".blocked.test").want(t, command.ExitDone,
		"1 of 1 host rule saved, for 0 known sites with 0 queued URLs")
	ctl("block", "not a host").want(t, command.ExitFailed, "host")
	ctl("rule", "slow.test", "host-delay=20s", "max-per-host=7").want(t, command.ExitDone, "1 of 1 host rule saved")
	ctl("rule", "slow.test", "colour=red").want(t, command.ExitFailed, `"colour=red" is none of`)
	rules := ".blocked.test exclude  # ctl\nslow.test host-delay=20s max-per-host=7  # ctl\n"
	if list := ctl("rules").want(t, command.ExitDone); list.out != rules {
		t.Errorf("rules: %q", list.out)
	}
	before := number(t, ctl("status", "--json").object(t), "urls_found")
	added := ctl("add", "--json", "http://new.blocked.test/", "http://other.test/").want(t, command.ExitFailed)
	if reply := added.object(t); reply["message"] != "2 URLs: 1 new, 0 known, 1 refused" {
		t.Errorf("add: %v", reply)
	}
	list := filepath.Join(t.TempDir(), "more.txt")
	writeFile(t, list, "# more\nhttp://other.test/\nhttp://third.test/\n")
	more := ctl("add", "--seeds", list, "fourth.test", "ftp://x/").want(
		t, command.ExitFailed, "4 URLs: 2 new, 1 known, 1 refused", "1 of 4 URLs was refused",
	)
	want := "new\thttp://fourth.test/\nrefused\tftp://x/\tscheme is not http or https\nknown\thttp://other.test/\n" +
		"new\thttp://third.test/\n"
	if more.out != want {
		t.Errorf("results:\n%s", more.out)
	}
	if now := number(t, ctl("status", "--json").object(t), "urls_found"); now < before+2 {
		t.Errorf("urls_found: %d, then %d", before, now)
	}
	ctl("add", "nonsense").want(t, command.ExitFailed, `"nonsense"`)
}

// Settings are changed in a running crawl and kept in crawl.toml; each change has a line in the log, and can be undone.
func TestControl_settings(t *testing.T) {
	w, dir := serve(t), t.TempDir()
	running(t, w, dir)
	ctl := func(args ...string) result { return call(append([]string{"ctl", "--dir", dir}, args...)...) }
	ctl("set", "host-delay=900ms", "ip-delay=1ms").want(
		t, command.ExitDone, "host-delay is now 900ms, was 1s\nip-delay is now 1ms, was ",
	)
	ctl("set", "host-delay", "800ms", "--why", "no hurry").want(t, command.ExitDone, "host-delay is now 800ms, was 900ms")
	ctl("set", "host-delay", "800ms", "ip-delay").want(t, command.ExitUsage, "host-delay: write it as KEY=VALUE")
	ctl("set", "warc-level=3").want(t, command.ExitFailed, "warc-level: it cannot be changed while the crawl runs, "+
		"since the open WARC files are written by it: stop the crawl, and give --warc-level")
	ctl("set", "--reload").want(t, command.ExitFailed, "the crawl was given no file of rules")
	ctl("set", "host-delay=soon", "colour=4s").want(
		t, command.ExitFailed, `host-delay: "soon" is no duration`, "colour: there is no such setting",
	)
	ctl("set", `fetch=host not in ["a.test", "b.test"] and path != "/x=y"`, "ip-delay=2ms").want(
		t, command.ExitDone, "ip-delay is now 2ms",
	)
	soon(t, "queued URLs", func() bool { // links of the first pages may still wait in the sieve
		r := ctl("set", "--dry-run", "fetch=none")
		r.want(t, command.ExitDone, "fetch would be none", "queued URLs are dropped")
		return !strings.Contains(r.err, "\n0 of ")
	})
	ctl("set", "fetch=none").want(t, command.ExitFailed, "fetch would be none", "confirm it (ctl set --yes")
	ctl("set", "exclude-extensions=zip,iso", "log-level=warn").want(
		t, command.ExitDone, "exclude-extensions is now zip,iso, was empty", "log-level is now warn, was ",
	)
	ctl("set", "visit=per-host:8").want(t, command.ExitDone, "visit is now per-host:8, was breadth-first")
	ctl("set", "visit=focused").want(t, command.ExitFailed, "visit: focused needs a score")
	ctl("set", "visit=best").want(t, command.ExitFailed, `visit: "best" is no order`)
	ctl("undo").want(t, command.ExitDone, "visit is now breadth-first, was per-host:8")
	ctl("undo").want(t, command.ExitDone, "exclude-extensions is now empty, was zip,iso")
	table := ctl("set").want(t, command.ExitDone).out
	for _, want := range []string{
		"SETTING ", "host-delay ", " 800ms ", "Time between two requests to a site\n", "log-level ",
	} {
		if !strings.Contains(table, want) {
			t.Errorf("%q is not in the list of settings:\n%s", want, table)
		}
	}
	log := ctl("changes").want(t, command.ExitDone).out
	if !strings.Contains(log, "no hurry") || !strings.Contains(log, "undoes 4") || strings.Count(log, "\n") != 12 {
		t.Errorf("changes:\n%s", log)
	}
	kept, err := os.ReadFile(filepath.Join(dir, "crawl.toml"))
	if err != nil || !strings.Contains(string(kept), "host-delay = '800ms'") {
		t.Errorf("crawl.toml: %s, %v", kept, err)
	}
	ctl("set", "fetch=hots == 1").want(t, command.ExitFailed, "unknown name hots (1:1)")
}

// answerOf asks the control socket of a running crawl.
func answerOf(t *testing.T, dir, path string) string {
	t.Helper()
	socket := strings.TrimPrefix(control.SocketOf(dir), "unix:")
	transport := &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", socket)
		},
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://crawl"+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatal(resp.Status, err)
	}
	return string(body)
}

func metricsOf(t *testing.T, dir string) string {
	t.Helper()
	return answerOf(t, dir, "/metrics")
}

func TestMetrics(t *testing.T) {
	w, dir := serve(t), t.TempDir()
	running(t, w, dir)
	socket := strings.TrimPrefix(control.SocketOf(dir), "unix:")
	metrics := metricsOf(t, dir)
	for _, name := range []string{
		"# TYPE orbweaver_pages_stored_total counter", "\norbweaver_pages_stored_total ", "\norbweaver_urls_queued ",
		`orbweaver_outcomes_total{outcome="ok"} `, `orbweaver_responses_total{code="200"} `,
		`orbweaver_state{state="running"} 1`,
		"\ngo_goroutines ",
	} {
		if !strings.Contains(metrics, name) {
			t.Errorf("/metrics lacks %q:\n%s", name, metrics)
		}
	}
	if answerOf(t, dir, "/healthz") != "ok\n" {
		t.Error("/healthz")
	}
	if info, err := os.Stat(socket); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("socket: %v %v", info.Mode(), err)
	}
}

func TestControlWithoutACrawl(t *testing.T) {
	w, dir := serve(t), t.TempDir()
	none := filepath.Join(dir, "none")
	call("ctl", "--dir", dir, "status").want(
		t, command.ExitFailed, "no crawl is running there", "orbweaver crawl --dir "+dir,
	)
	call("ctl", "--dir", dir, "pause").want(t, command.ExitFailed, "no crawl is running there")
	call("ctl", "--dir", none, "pause").want(t, command.ExitUsage, "no such directory: "+none)
	call("ctl", "--address", "127.0.0.1:1", "status").want(t, command.ExitFailed, "no crawl is running there")
	call(w.crawl(dir, 0)...).want(t, command.ExitDone)
	if r := call("ctl", "--dir", dir, "status").want(t, command.ExitDone); !strings.HasPrefix(r.out, "finished") {
		t.Errorf("the last report: %s", r.out)
	}
}

func TestListenElsewhere(t *testing.T) {
	w, dir := serve(t), t.TempDir()
	precious := filepath.Join(dir, "precious")
	writeFile(t, precious, "text")
	call(
		w.crawl(filepath.Join(dir, "a"), 0, "--listen", "unix:"+precious)...).want(t, command.ExitFailed, "--listen",
		"no socket")
	if b, err := os.ReadFile(precious); err != nil || string(b) != "text" {
		t.Errorf("%q %v", b, err)
	}
	call(w.crawl(filepath.Join(dir, "b"), 0, "--listen", "unix:"+filepath.Join(dir, "sock"))...).want(t, command.ExitDone)
	call(w.crawl(filepath.Join(dir, "c"), 0, "--listen", "127.0.0.1:0")...).want(t, command.ExitDone)
	call(w.crawl(filepath.Join(dir, strings.Repeat("long", 30)), 0)...).want(t, command.ExitDone)
}

// A crawl that was told nothing listens on a socket of its owner's alone and on no port. On a port of loopback ctl
// brings the token that lies in the crawl directory, and without it is told where that is; after the crawl the token is
// gone. Beyond loopback the crawl does not begin without a token that the operator chose.
func TestHostile_A01_aPortWantsATokenAndASocketItsOwner(t *testing.T) {
	w, dir := serve(t), t.TempDir()
	call(
		w.crawl(filepath.Join(dir, "remote"), 0, "--listen", "0.0.0.0:0")...).want(t, command.ExitFailed, "--listen",
		"that others can reach needs a token: give --token FILE")
	call(
		w.crawl(filepath.Join(dir, "socket"), 0, "--token", w.seeds)...).want(t, command.ExitUsage, "--token",
		"a Unix socket needs none")
	bad := filepath.Join(dir, "bad")
	writeFile(t, bad, "short\n")
	call(
		w.crawl(filepath.Join(dir, "bad token"), 0, "--listen", "127.0.0.1:0", "--token", bad)...).want(t,
		command.ExitUsage, "--token", "is no token")

	port := freePort(t)
	at := func(more ...string) result { return call(append([]string{"ctl", "--address", port}, more...)...) }
	ours, token := filepath.Join(dir, "ours"), filepath.Join(dir, "ours", "control.token")
	done := make(chan result, 1)
	go func() { done <- call(w.crawl(ours, time.Second, "--listen", port)...) }()
	soon(t, "an answer of the crawl", func() bool { return at("--dir", ours, "status").code == command.ExitDone })
	if info, err := os.Stat(token); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the token: %v %v", info, err)
	}
	for _, action := range []string{"status", "pause", "stop", "rules"} {
		at("--dir", dir, action).want(t, command.ExitFailed, "wants its token", "--token")
		at("--token", w.seeds, action).want(t, command.ExitFailed, "is no token")
	}
	at("--token", token, "pause").want(t, command.ExitDone, "paused")
	at("--dir", ours, "stop").want(t, command.ExitDone, "stopping")
	if r := <-done; r.code != command.ExitStopped {
		t.Errorf("the crawl: %+v", r)
	}
	if _, err := os.Stat(token); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the token is still there: %v", err)
	}
}

// freePort is a free address of loopback.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// The program is stopped by a signal, goes on when it is run again, and is run once more when it has finished.
func TestHostile_S14_anInterruptStopsInOrderAndTheCrawlGoesOn(t *testing.T) {
	w, dir := serve(t), t.TempDir()
	cmd, errs := child(t, w.crawl(dir, 300*time.Millisecond)...)
	soon(t, "pages in the child's crawl", func() bool {
		r := call("ctl", "status", "--dir", dir, "--json")
		return r.code == command.ExitDone && number(t, r.object(t), "pages_stored") >= 5
	})
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // the status is looked at below
	if code := cmd.ProcessState.ExitCode(); code != command.ExitStopped {
		t.Fatalf("exit status %d:\n%s", code, errs)
	}
	if s := errs.String(); !strings.Contains(s, "a second signal stops at once") || !strings.Contains(s, "stopped: ") {
		t.Errorf("stderr:\n%s", s)
	}
	m := readReport(t, dir)
	balanced(t, m)
	if m["state"] != "stopped" || number(t, m, "urls_queued") == 0 || number(t, m, "urls_in_flight") != 0 {
		t.Errorf("after the signal: %v", m)
	}
	stored := number(t, m, "bytes_stored")
	for run := range 2 {
		m = call("crawl", "--dir", dir, "--host-delay", "0", "--stall-wait", "5s", "--json").want(
			t, command.ExitDone,
		).object(t)
		if m["state"] != "finished" || number(t, m, "pages_stored") != w.pages {
			t.Errorf("run %d after the signal: %v; the web has %d pages", run, m, w.pages)
		}
		if number(t, m, "bytes_stored") <= stored {
			t.Errorf("bytes_stored was %d before the signal: %v", stored, m)
		}
	}
}

// A server takes connections and says nothing: the first signal waits for it, the second does not, and its URL stays
// queued. What is on disk is whole.
func TestHostile_S14_theSecondInterruptStopsAtOnceAndAllIsValid(t *testing.T) {
	silent, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err = errors.Join(err, silent.SetDeadline(time.Now().Add(2*time.Minute))); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = silent.Close() })
	dir := t.TempDir()
	cmd, errs := child(t, append(small(dir, "http://"+silent.Addr().String(), 0), "http://a.test/")...)
	conn, err := silent.Accept()
	if err != nil {
		t.Fatal(err, errs)
	}
	defer conn.Close()
	for _, answer := range []string{"a second signal stops at once", "stopping at once"} {
		if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		soon(t, answer, func() bool { return strings.Contains(errs.String(), answer) })
	}
	// the status is looked at below; a stop that waited for the fetch would have its outcome, and nothing queued
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != command.ExitStopped {
		t.Fatalf("exit status %d:\n%s", code, errs)
	}
	m := readReport(t, dir)
	balanced(t, m)
	if m["state"] != "stopped" || number(t, m, "urls_queued") != 1 || number(t, m, "urls_in_flight") != 0 {
		t.Errorf("after the second signal: %v", m)
	}
	call("fsck", dir).want(t, command.ExitDone)
}
