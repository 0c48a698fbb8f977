package main

import (
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orbweaver/engine/operate/dryrun"
	"orbweaver/internal/cli/command"
)

// explanations reads what --dry-run --json prints.
func explanations(t *testing.T, r result) (list []dryrun.Explanation) {
	t.Helper()
	for line := range strings.Lines(r.out) {
		var e dryrun.Explanation
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		list = append(list, e)
	}
	return list
}

// A dry run needs no contact, no name server and no directory, and leaves none.
func TestDryRunTellsWhatWouldBecomeOfURLs(t *testing.T) {
	dir := t.TempDir()
	hosts, surts, seeds := filepath.Join(dir, "hosts.txt"), filepath.Join(
		dir, "surts.txt",
	), filepath.Join(dir, "seeds.txt")
	writeFile(t, hosts, "# they asked us\n.private.example\n")
	writeFile(t, surts, "+http://(example,\n-http://(example,www,)/cgi-bin/\n")
	writeFile(t, seeds, "http://www.example/\n")
	crawl := filepath.Join(dir, "crawl")
	args := []string{
		"crawl", "--dir", crawl, "--dry-run", "--exclude-hosts", hosts, "--surts", surts, "--seeds", seeds, "--scope",
		"host", "--exclude-extensions", "jpg,.PNG", "--fetch", "query == ''", "--max-depth", "2", "--depth", "1",
	}
	urls := []string{
		"http://www.example/a", "http://a.private.example/", "https://www.example/cgi-bin/x", "http://www.example/x.Png",
		"http://www.example/?q", "http://other.example/", "mailto:a@b.example", "http://www.test/",
	}
	want := []string{
		"", "--exclude-hosts .private.example (" + hosts + ":2)",
		"--surts -http://(example,www,)/cgi-bin/ (" + surts + ":2)", "--exclude-extensions png", "--fetch query == ''",
		"--scope host", "scheme scheme is not http or https", "--surts none of 2 rules fits",
	}
	text := call(append(args, urls...)...).want(t, command.ExitDone)
	list := explanations(t, call(append(append(args, "--json"), urls...)...).want(t, command.ExitDone))
	if len(list) != len(urls) {
		t.Fatalf("%d explanations of %d URLs", len(list), len(urls))
	}
	for i, e := range list {
		says := ""
		for _, c := range e.Checks {
			if c.Name == e.By {
				says = c.Name + " " + c.Says
			}
		}
		if says != want[i] || e.URL != urls[i] || (e.Verdict == dryrun.Admitted) != (i == 0) || e.Depth != 1 {
			t.Errorf("%s: %+v", urls[i], e)
		}
		if !strings.Contains(text.out, string(e.Verdict)+" "+e.URL) ||
			!strings.Contains(text.out, e.Checks[len(e.Checks)-1].Says) {
			t.Errorf("not told as text: %+v\n%s", e, text.out)
		}
	}
	if _, err := os.Stat(crawl); !os.IsNotExist(err) {
		t.Errorf("the crawl directory was touched: %v", err)
	}
	for url, verdict := range map[string]dryrun.Answer{
		"http://10.1.2.3/": dryrun.Refused, "http://127.0.0.1:99/": dryrun.Admitted,
		"http://127.0.0.1:1/": dryrun.Refused, "http://[::1]/": dryrun.Refused,
	} {
		e := explanations(t,
			call("crawl", "--dir", crawl, "--dry-run", "--json", "--allow-net", "127.0.0.0/8", url).want(t, command.ExitDone))[0]
		if e.Verdict != verdict || verdict == dryrun.Refused && e.By != "address" {
			t.Errorf("%+v", e)
		}
	}
	call("crawl", "--dry-run").want(t, command.ExitUsage, "--dry-run: give the URLs")
}

// What a crawl refuses before its first request, a dry run refuses with the same words.
func TestDryRunRefusesWhatCrawlRefuses(t *testing.T) {
	dir := t.TempDir()
	budgets := filepath.Join(dir, "budgets.tsv")
	writeFile(t, budgets, "example.org\t12.5\nwww.example.net\t1\n")
	empty, lost, token := filepath.Join(dir, "empty.txt"), filepath.Join(dir, "lost"), filepath.Join(dir, "token")
	writeFile(t, empty, "# none yet\n")
	writeFile(t, token, "short\n")
	if err := os.MkdirAll(filepath.Join(lost, "warc"), 0o700); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(lost, "warc", "a-20260101000000000-00000-h.warc.gz"), "x")
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	for _, c := range []struct {
		lines string // of the file of settings
		says  string
	}{
		{"warc-info = ['conformsTo: x']", "conformsTo"},
		{"warc-metadata = 'none'\nwarc-via = true", "--warc-metadata: none leaves no place"},
		{"warc-prefix = 'a/b'", "a/b"},
		{"warc-dictionary = 'none.dict'", "--warc-dictionary: open none.dict"},
		{"upload-then = 'delete'", "--upload-then delete is for --upload"},
		{"upload = 's3://bucket/x'", "AWS_ACCESS_KEY_ID"},
		{"upload = 's3://b/x'", "--upload"},
		{"budgets = 'none.tsv'", "--budgets: is for --visit ranked"},
		{"visit = 'ranked'\nbudgets = 'none.tsv'", "--budgets: open none.tsv"},
		{"visit = 'ranked'\nbudgets = '" + dir + "'", "is a directory"},
		{"visit = 'ranked'\nbudgets = '" + budgets + "'", "budgets.tsv:2: bad budget"},
		{"netrc = 'none.netrc'", "--netrc: open none.netrc"},
		{"load-cookies = 'none.txt'", "--load-cookies: give --cookies site"},
		{"contact = 'nowhere'", "--contact: \"nowhere\""},
		{"proxy = 'http://proxy.test:1'", "--proxy"},
		{"resolver = '127.0.0.1:x'", "--resolver"},
		{"allow-port = ['http']", "--allow-port"},
		{"join = ['127.0.0.1:1']", "--join: is for one of several agents"},
		{"token = 'none'", "--token: a Unix socket needs none"},
		{"listen = '127.0.0.1:0'\ntoken = '" + token + "'", "is no token"},
		{"listen = '" + taken.Addr().String() + "'", "address already in use"},
		{"listen = '0.0.0.0:0'", "--token FILE"},
		{"max-delay = '1ms'", "max-delay"},
		{"dedup-from = ['" + dir + "/nowhere']", "--dedup-from"},
		{"seeds = ['" + empty + "']", "no usable seed"},
		{"seeds = ['none.txt']", "--seeds: open none.txt"},
		{"dir = '" + filepath.Dir(dir) + "'", "holds"},
		{"dir = '" + empty + "'", "not a directory"},
		{"dir = '" + lost + "'", "fsck --rebuild"},
	} {
		config, fresh := filepath.Join(t.TempDir(), "crawl.toml"), filepath.Join(dir, "new")
		for key, value := range map[string]string{"contact": "https://a.example/", "dir": fresh} {
			if !strings.HasPrefix(c.lines, key) {
				c.lines += "\n" + key + " = '" + value + "'"
			}
		}
		writeFile(t, config, c.lines+"\n")
		r := call("crawl", "--config", config, "--dry-run", "http://127.0.0.1:1/")
		if r.code == command.ExitDone || !strings.Contains(r.err, c.says) {
			t.Errorf("%s: a dry run: %d, %s%s", c.lines, r.code, r.out, r.err)
		}
		if _, err := os.Stat(fresh); !os.IsNotExist(err) {
			t.Fatalf("%s: a dry run made the crawl directory: %v", c.lines, err)
		}
		args := []string{"crawl", "--config", config}
		if !strings.HasPrefix(c.lines, "seeds") {
			args = append(args, "--allow-net", "127.0.0.0/8", "http://127.0.0.1:1/")
		}
		r = call(args...)
		if r.code == command.ExitDone || !strings.Contains(r.err, c.says) {
			t.Errorf("%s: a crawl: %d, %s", c.lines, r.code, r.err)
		}
		if err := os.RemoveAll(fresh); err != nil {
			t.Fatal(err)
		}
	}
}

// Without a contact a dry run answers, and says that a crawl would be refused.
func TestDryRunSaysWhatACrawlLacks(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "c")
	r := call("crawl", "--dry-run", "--dir", dir, "http://a.example/").want(t, command.ExitDone,
		"note: a crawl would be refused: --contact")
	explanations(t, call("crawl", "--dry-run", "--json", "--dir", dir, "http://a.example/"))
	if strings.Contains(r.out, "--contact") {
		t.Error(r.out)
	}
}

// Which rule of a host is kept to is told with its place, whether it refuses or not.
func TestDryRunTellsWhichHostRuleApplies(t *testing.T) {
	dir := t.TempDir()
	rules := filepath.Join(dir, "rules.txt")
	writeFile(
		t, rules,
		"# they asked us\n.slow.example host-delay=20s\n*.slow.example max-per-host=10\nout.slow.example exclude\n",
	)
	args := []string{"crawl", "--dir", filepath.Join(dir, "crawl"), "--dry-run", "--json", "--host-rules", rules}
	list := explanations(
		t,
		call(
			append(args, "http://www.slow.example/", "http://out.slow.example/", "http://other.example/")...).want(t,
			command.ExitDone),
	)
	delay, most := "host-delay=20s (.slow.example, "+rules+":2)", "max-per-host=10 (*.slow.example, "+rules+":3)"
	for i, want := range []string{
		delay + "; " + most, delay + "; " + most + "; exclude (out.slow.example, " + rules + ":4)", "none of 3 rules fits",
	} {
		says := ""
		for _, c := range list[i].Checks {
			if c.Name == "--host-rules" {
				says = c.Says
			}
		}
		if refused := list[i].By == "--host-rules"; says != want || refused != (i == 1) {
			t.Errorf("%+v, want %q", list[i], want)
		}
	}
	writeFile(t, rules, "a.test host-delay=soon\n")
	call(append(args, "http://a.test/")...).want(t, command.ExitUsage, "--host-rules: "+rules+":1", "host-delay=soon")
}

// The settings and the seeds are those of the crawl directory, which does not change.
func TestDryRunKnowsTheCrawlDirectory(t *testing.T) {
	w, dir := serve(t), t.TempDir()
	list := filepath.Join(dir, "away.txt")
	writeFile(t, list, "*.away.test\n")
	rules := filepath.Join(dir, "rules.txt")
	crawl := filepath.Join(dir, "c")
	writeFile(t, rules, "*.ruled.test exclude\n")
	call(
		append(
			w.crawl(crawl, 0), "--scope", "host", "--host-rules", rules, "--max-depth", "1", "--exclude-hosts", list,
			"--follow", "not nofollow", "--exclude-extensions", "jpg", "--exclude-extensions", "gif",
		)...).want(t, command.ExitDone)
	before := contents(t, crawl)
	out := explanations(
		t,
		call(
			"crawl", "--dir", crawl, "--dry-run", "--json", w.roots[0], "http://x.away.test/", w.roots[0]+"x.gif",
			"http://elsewhere.test/",
		).want(t, command.ExitDone),
	)
	for i, by := range []string{"", "--exclude-hosts", "--exclude-extensions", "--scope"} {
		if out[i].By != by {
			t.Errorf("%+v", out[i])
		}
	}
	if after := contents(t, crawl); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
	kept, err := os.ReadFile(filepath.Join(crawl, settingsName))
	if err != nil || strings.Contains(string(kept), "dry-run") || strings.Contains(string(kept), "\ndepth = ") ||
		!strings.Contains(
			string(kept), "exclude-extensions = ['jpg', 'gif']",
		) || !strings.Contains(string(kept), "follow = 'not nofollow'") {
		t.Errorf("%s: %v", kept, err)
	}
}

// contents lists names, sizes and times of all files.
func contents(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil {
			b.WriteString(path + " " + info.ModTime().String() + " " + info.Mode().String() + "\n")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
