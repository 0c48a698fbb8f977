package main

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orbweaver/internal/cli/command"
)

// A crawl whose only seed does not resolve has failed, says what to look at, and tries again when the same command is
// given.
func TestCrawl_failsIfNoSeedCouldBeFetched(t *testing.T) {
	site := httptest.NewServer(
		http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("a page")) }),
	)
	defer site.Close()
	_, port, err := net.SplitHostPort(site.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	names, _ := serveNames(t, map[string][][]string{"late.test": {{}, {"127.0.0.1"}}}) // no address at first
	dir := t.TempDir()
	args := nearby(dir, "--json", "--resolver", names, "http://late.test:"+port+"/")
	r := call(
		args...).want(t, command.ExitFailed, "no seed could be fetched: 1 of 1 name-not-found", "--resolver",
		"the same command tries again")
	if m := r.object(t); m["state"] != "failed" || number(t, m, "urls_queued") != 0 {
		t.Errorf("%v", m)
	}
	call("fsck", "--quiet", dir).want(t, command.ExitDone)
	r = call(args...).want(t, command.ExitDone, "the last run could fetch none of them")
	if m := r.object(t); m["state"] != "finished" || m["reason"] != "complete" || number(t, m, "pages_stored") != 1 {
		t.Errorf("%v", m)
	}
	call("fsck", "--quiet", dir).want(t, command.ExitDone)
	call(args...).want(t, command.ExitDone)
}

// An address that may not be connected to is named with the option that allows it, and seeds that the crawl's own rules
// refuse are told from it.
func TestCrawl_saysWhyNoSeedCouldBeFetched(t *testing.T) {
	dir := t.TempDir()
	hosts := filepath.Join(dir, "hosts.txt")
	if err := os.WriteFile(hosts, []byte("127.0.0.1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	call(nearby(filepath.Join(dir, "a"), "--contact", "me@site.test", "http://127.0.0.1:1/", "http://[::1]/")...).
		want(t, command.ExitFailed, "1 of 2 blocked-address", "1 of 2 blocked-port", "--allow-")
	call(
		nearby(filepath.Join(dir, "b"), "--exclude-hosts", hosts, "http://127.0.0.1/")...).want(t, command.ExitFailed,
		"no seed entered the frontier: 1 refused by --scope")
}

// A crawl whose robots.txt forbids everything has no page: it has failed, and says why.
func TestCrawl_failsIfRobotsForbidsTheSeed(t *testing.T) {
	site := httptest.NewServer(
		http.HandlerFunc(
			func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("User-agent: *\nDisallow: /\n")) },
		),
	)
	defer site.Close()
	call(nearby(t.TempDir(), site.URL+"/")...).want(t, command.ExitFailed, "1 of 1 robots-denied",
		"robots.txt of the sites forbids")
}

// A crawl from an address stays at that address, also when it is stopped and goes on without naming the scope again.
func TestCrawl_ofAnAddressAdmitsNoForeignName(t *testing.T) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		for i := range 500 {
			_, _ = fmt.Fprintf(
				w, "<a href=http://h%d.example/><a href=http://%d.127.0.0.1.nip.io/><a href=//127.0.0.1.h%d.test/>", i, i, i,
			)
		}
		_, _ = fmt.Fprint(w, "<a href=/next>")
	}))
	defer site.Close()
	dir := t.TempDir()
	call(nearby(dir, "--scope", "domain", "--max-pages", "1", site.URL+"/")...).want(t, command.ExitDone)
	m := call(nearby(dir, "--max-pages", "0", "--json")...).want(t, command.ExitDone).object(t)
	dropped, _ := m["dropped"].(map[string]any)
	if number(t, m, "urls_admitted") != 2 || number(t, m, "hosts_known") != 1 || dropped["scope"] != 3000.0 {
		t.Errorf("%v", m)
	}
}

// The first seed that is refused for its address is named at once, with the remedy, and not only at the end.
func TestCrawl_warnsAtOnceOfASeedWithARefusedAddress(t *testing.T) {
	dir := t.TempDir()
	r := call(nearby(dir, "--contact", "me@site.test", "--progress", "none", "http://[::1]/a", "http://[::1]/b")...).
		want(t, command.ExitFailed, "a seed is not fetched", "seed=http://[::1]/", "--allow-net")
	if n := strings.Count(r.err, "a seed is not fetched"); n != 1 {
		t.Errorf("%d warnings", n)
	}
	report := call("report", dir, "seeds").want(t, command.ExitDone)
	for _, seed := range []string{"http://[::1]/a", "http://[::1]/b"} {
		if !strings.Contains(report.out, seed+"\tblocked-address") {
			t.Errorf("the report of the seeds lacks %s: %s", seed, report.out)
		}
	}
}

// A crawl at its limit says how many URLs are queued and how it goes on: at its end, in its status, and to fsck.
func TestCrawl_atALimitSaysHowItGoesOn(t *testing.T) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprint(w, "<a href=/a><a href=/b><a href=/c>")
	}))
	defer site.Close()
	dir := t.TempDir()
	more := "3 URLs are left: the same command with a larger --max-pages resumes"
	call(nearby(dir, "--max-pages", "1", site.URL+"/")...).want(t, command.ExitDone, "max-pages reached", more)
	for _, args := range [][]string{{"ctl", "--dir", dir, "status"}, {"fsck", "--quiet", dir}} {
		if r := call(args...).want(t, command.ExitDone); !strings.Contains(r.out, more) {
			t.Errorf("%v: %s", args, r.out)
		}
	}
}
