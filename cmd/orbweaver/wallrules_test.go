package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orbweaver/internal/cli/command"
)

// gated is a site whose page /two is a wall that no rule of the table knows, and whose page /three is one that a rule
// of the table knows.
func gated(t *testing.T) *httptest.Server {
	t.Helper()
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/robots.txt":
			w.WriteHeader(http.StatusNotFound)
		case "/":
			_, _ = w.Write([]byte("<title>root</title><a href=/two>x</a><a href=/three>x</a>"))
		case "/two":
			w.Header().Set("X-Gate", "Closed for robots")
			_, _ = w.Write([]byte("<title>Prove it</title>"))
		default:
			w.Header().Set("Cf-Mitigated", "challenge")
			_, _ = w.Write([]byte("<title>Just a moment...</title>"))
		}
	}))
	t.Cleanup(site.Close)
	return site
}

// outcomesOf are those of the report of a crawl.
func outcomesOf(t *testing.T, dir string) map[string]int64 {
	t.Helper()
	var r struct {
		Outcomes map[string]int64 `json:"outcomes"`
	}
	b, err := os.ReadFile(filepath.Join(dir, "report.json"))
	if err == nil {
		err = json.Unmarshal(b, &r)
	}
	if err != nil {
		t.Fatal(err)
	}
	return r.Outcomes
}

// A file of the user adds a wall to those of the table, and "off" takes all answers for pages. The crawl keeps the file
// in its crawl.toml. A fault names the file, the line and what to write.
func TestWalls_rulesOfTheUser(t *testing.T) {
	base, site := t.TempDir(), gated(t)
	rules := filepath.Join(base, "walls.txt")
	writeFile(t, rules, "# ours\ngate header=\"X-Gate: closed\"\n")
	for name, c := range map[string]struct {
		args  []string
		ok    int64 // pages
		exit  int
		walls []string // services of the report
	}{
		"plain": {nil, 2, command.ExitStalled, []string{"cloudflare"}},
		"file":  {[]string{"--walls", rules}, 1, command.ExitStalled, []string{"cloudflare", "gate"}},
		"off":   {[]string{"--walls", "off"}, 3, command.ExitDone, nil},
	} {
		dir := filepath.Join(base, name)
		args := append(c.args, "--stall-wait", "1s", site.URL+"/")
		call(nearby(dir, args...)...).want(t, c.exit)
		if o := outcomesOf(t, dir); o["ok"] != c.ok {
			t.Errorf("%s: %v", name, o)
		}
		r := call("report", dir, "walls").want(t, command.ExitDone)
		var services []string
		for _, row := range strings.Split(strings.TrimSpace(r.out), "\n")[1:] {
			service, _, _ := strings.Cut(row, "\t")
			services = append(services, service)
		}
		if !slices.Equal(services, c.walls) {
			t.Errorf("%s: %s", name, r.out)
		}
		kept, err := os.ReadFile(filepath.Join(dir, "crawl.toml"))
		if err != nil || name != "plain" && !strings.Contains(string(kept), "walls = ['"+c.args[1]+"']") {
			t.Errorf("%s: %v: %s", name, err, kept)
		}
	}
	writeFile(t, rules, "gate header=\"X-Gate: closed\"\nother status=403\n")
	call(nearby(filepath.Join(base, "bad"), "--walls", rules, site.URL+"/")...).want(
		t, command.ExitUsage, "--walls: "+rules+":2", "a status alone is no wall")
	call(nearby(filepath.Join(base, "both"), "--walls", "off", "--walls", rules, site.URL+"/")...).want(
		t, command.ExitUsage, "--walls: off stands alone")
	call(nearby(filepath.Join(base, "none"), "--walls", rules+"x", site.URL+"/")...).want(
		t, command.ExitUsage, "--walls", "no such file")
}

// Rules can be tried on an archive: each response is listed with the service and the rule, or as a page. That the crawl
// took it for a page, or for a wall, changes nothing.
func TestWalls_rulesAreTriedOnAnArchive(t *testing.T) {
	base, site := t.TempDir(), gated(t)
	rules, dir := filepath.Join(base, "walls.txt"), filepath.Join(base, "crawl")
	writeFile(t, rules, "# ours\ngate header=\"X-Gate: closed\"\n")
	call(nearby(dir, "--stall-wait", "1s", site.URL+"/")...).want(t, command.ExitStalled)
	judged := func(args ...string) (rows []string) {
		r := call(append([]string{"warc", "walls"}, args...)...).want(t, command.ExitDone)
		for row := range strings.Lines(strings.ReplaceAll(r.out, site.URL, "")) {
			rows = append(rows, strings.TrimSpace(row))
		}
		slices.Sort(rows)
		return slices.Compact(rows) // the crawl asks for a wall again
	}
	archive := filepath.Join(dir, "warc")
	page := func(path, status string) string { return "-\t-\t" + status + "\t" + path }
	known := "cloudflare\tbuilt-in\t200\t/three"
	for _, c := range []struct{ args, want []string }{
		{nil, []string{page("/", "200"), page("/two", "200"), page("/robots.txt", "404"), known}},
		{[]string{"--walls", rules}, []string{page("/", "200"), page("/robots.txt", "404"), known,
			"gate\t" + rules + ":2\t200\t/two"}},
		{[]string{"--walls", "off"}, []string{page("/", "200"), page("/three", "200"), page("/two", "200"),
			page("/robots.txt", "404")}},
	} {
		if got := judged(append(c.args, archive)...); !slices.Equal(got, c.want) {
			t.Errorf("%v: %q, want %q", c.args, got, c.want)
		}
	}
	r := call("warc", "--json", "walls", "--walls", rules, archive).want(t, command.ExitDone)
	if !strings.Contains(r.out, `"service":"gate","rule":"`+rules+`:2","status":200,"uri":"`+site.URL+`/two"`) {
		t.Error(r.out)
	}
	call("warc", "walls", "--walls", rules+"x", archive).want(t, command.ExitUsage, "--walls", "no such file")
}
