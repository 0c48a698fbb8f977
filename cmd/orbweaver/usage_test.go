package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orbweaver/internal/cli/command"
)

func TestUsageErrors(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		args  string
		words []string
	}{
		{"", []string{`expected one of "crawl"`, "Try 'orbweaver --help'"}},
		{"crwal", []string{`did you mean "crawl"`}},
		{"crawl --hots-delay 3s", []string{"unknown flag --hots-delay", "--host-delay", "Try 'orbweaver crawl --help'"}},
		{"crawl --tls", []string{"--tls"}},
		{"ctl", []string{`expected one of "status"`, "Try 'orbweaver ctl --help'"}},
		{"ctl add", []string{"url", "Try 'orbweaver ctl add --help'"}},
		{"ctl status more", []string{"unexpected argument more"}},
		{"robots test", []string{"missing flags: --robots"}},
		{"links page.html", []string{"missing flags: --base"}},
		{"links --base nothing page.html", []string{`--base: "nothing"`}},
		{"warc cat --type letter FILE", []string{`--type: "letter"`}},
		{"warc cat --offset x FILE", []string{"--offset"}},
		{"sim --hosts -1", []string{"--hosts: -1 is too small; at least 1"}},
		{"demo --progress loud", []string{`--progress: "loud" is none of auto, plain, none`}},
		{"ca gossip-key take --dir " + dir, []string{`"take" is none of add, use, remove`}},
		{"fsck " + dir, []string{"crawl"}},
	} {
		r := call(strings.Fields(c.args)...).want(t, command.ExitUsage, c.words...)
		if r.out != "" {
			t.Errorf("%s: writes to stdout: %s", c.args, r.out)
		}
	}
}

func TestCrawlRefuses(t *testing.T) {
	dir := t.TempDir()
	nothing := filepath.Join(dir, "nothing.txt")
	writeFile(t, nothing, "# no seed\nnot a url\n")
	base := []string{"crawl", "--dir", filepath.Join(dir, "c")}
	proxied := append(base, "--proxy", "http://127.0.0.1:9", "--resolver", "hashed")
	for _, c := range []struct {
		base  []string
		args  string
		words []string
	}{
		{proxied, "", []string{"no usable seed", "--seeds"}},
		{proxied, "--seeds " + nothing, []string{"no usable seed", "nothing.txt:2"}},
		{proxied, "--seeds missing.txt", []string{"--seeds: open missing.txt: no such file"}},
		{proxied, "mailto:a@example.org", []string{`seed "mailto:a@example.org"`}},
		{proxied, "ftp://example.org/", []string{`seed "ftp://example.org/"`}},
		{proxied, "--allow-net 10/8 http://a.test/", []string{"--allow-net", "10/8"}},
		{proxied, "--allow-port 99999 http://a.test/", []string{"--allow-port", "99999"}},
		{proxied, "--scope planet( http://a.test/", []string{"--scope"}},
		{proxied, "--scope domian http://a.test/", []string{
			"unknown name domian", "an expression here knows url, site,", "a scope is domain, host, prefix, all, or an",
		}},
		{proxied, "--store mime=='x' http://a.test/", []string{"unknown name mime", "status, content_type,"}},
		{proxied, "--store size> --stat a=url http://a.test/", []string{"--store", "--stat: a: ", "a number"}},
		{
			proxied, "--fetch status --parse via --follow size http://a.test/",
			[]string{"--fetch: ", "(1:1)", "--parse: ", "--follow: "},
		},
		{
			proxied, "--fetch via!='' --store via=='' http://a.test/",
			[]string{"--fetch: via is known there only", "--store: via is known", "--warc-via"},
		},
		{
			proxied, "--surts missing.txt --include-hosts none.txt http://a.test/",
			[]string{"--surts: open missing.txt", "--include-hosts: open none.txt"},
		},
		{
			proxied, "--exclude-extensions tar.gz,a/b http://a.test/",
			[]string{`--exclude-extensions: bad extension: "tar.gz"`, `"a/b"`},
		},
		{proxied, "--depth -1 http://a.test/", []string{"--depth: -1 is too small"}},
		{
			proxied, "--warc-compression lzma http://a.test/",
			[]string{`--warc-compression: "lzma" is none of gzip, zstd, none`},
		},
		{proxied, "--warc-metadata some http://a.test/", []string{`--warc-metadata: "some" is none of auto, all, none`}},
		{proxied, "--warc-metadata none --warc-via http://a.test/", []string{"--warc-metadata: none leaves no place"}},
		{
			proxied, "--warc-compression zstd --warc-dictionary " + nothing + " http://a.test/",
			[]string{"--warc-dictionary", "no zstd dictionary"},
		},
		{proxied, "--warc-level 10 http://a.test/", []string{"--warc-level: 10 is not between 1 and 9"}},
		{proxied, "--checkpoint 10ms http://a.test/", []string{"--checkpoint: 10ms is too small; at least 1s"}},
		{proxied, "--exclude-hosts missing.txt http://a.test/", []string{"--exclude-hosts: open missing.txt"}},
		{base, "--proxy ftp://x/ http://a.test/", []string{`--proxy: "ftp://x/" is no proxy`}},
		{base, "--proxy http://proxy.example:80/ http://a.test/", []string{"give the proxy's address, not its name"}},
		{
			base, "--contact a@b.example --resolver hashed http://a.test/",
			[]string{"--resolver: hashed", "needs an HTTP --proxy"},
		},
		{base, "--contact a@b.example --resolver nonsense http://a.test/", []string{`--resolver: "nonsense" is none of`}},
		{proxied, "--header Host:x --header nonsense --header Cookie:a=b http://a.test/", []string{
			"--header: Host is set by the crawler itself", `--header: "nonsense" is not a line`, "--load-cookies",
		}},
		{proxied, "--warc-prefix a/b --warc-info software:x --warc-info x http://a.test/", []string{
			"--warc-prefix: ", "--warc-info: the crawler writes software itself", `--warc-info: "x" is not a line`,
		}},
		{proxied, "--connect-timeout 0s --tries 101 http://a.test/", []string{
			"--connect-timeout: 0s is too small", "--tries: 101 is not between 0 and 100",
		}},
		{base, "--proxy socks5://name.example http://a.test/", []string{"give the proxy's address, not its name"}},
		{base, "http://a.example/", []string{"--contact: a public crawl must say", "give a URL or an e-mail address"}},
		{base, "--allow-net 127.0.0.0/8 http://127.0.0.1/ http://192.0.2.1/", []string{"--contact"}},
	} {
		call(append(c.base[:len(c.base):len(c.base)], strings.Fields(c.args)...)...).want(t, command.ExitUsage, c.words...)
	}
	if _, err := os.Stat(filepath.Join(dir, "c", "warc", "crawl.toml")); err == nil {
		t.Error("a refused crawl left a configuration")
	}
}

func TestAllMistakesAtOnce(t *testing.T) {
	dir := t.TempDir()
	config := filepath.Join(dir, "my.toml")
	writeFile(
		t, config,
		"hsot-delay = '4s'\nfetchrs = 3\nmax-pages = [1, 2]\nhost-delay = 'soon'\nhelp = true\n[limits]\npages = 1\n",
	)
	t.Setenv("ORBWEAVER_IP_DELAY", "often")
	r := call(
		"crawl", "--dir", dir, "--config", config, "--bogus", "3", "--zork=1", "--progress", "loud", "--max-disk", "3Q",
		"--fetchers", "0", "--max-depth", "-7", "--scope", "planet(", "--seeds", "missing.txt", "https://a.example/",
		"nonsense",
	)
	r.want(t, command.ExitUsage,
		"unknown flag --bogus", "unknown flag --zork", "unknown key: hsot-delay", "unknown key: fetchrs", "unknown key: help",
		"unknown table: limits", "max-pages: takes one value, not a list", `--host-delay: "soon"`, `--ip-delay: "often"`,
		`--progress: "loud"`, `--max-disk: "3Q"`, "--fetchers: 0 is not between", "--max-depth: -7 is too small", "--scope",
		"missing.txt", `seed "nonsense"`, "--contact")
	if strings.Contains(r.err, `"3"`) {
		t.Errorf("an unknown flag's value is taken for a seed:\n%s", r.err)
	}
}

func TestUnreadableConfiguration(t *testing.T) {
	dir := t.TempDir()
	call("crawl", "--config", filepath.Join(dir, "none.toml"), "--fetchers", "x").want(
		t, command.ExitUsage, "none.toml", "--fetchers",
	)
	bad := filepath.Join(dir, "bad.toml")
	writeFile(t, bad, "fetchers = 1\nhost-delay 4s\n")
	call("crawl", "--config", bad).want(t, command.ExitUsage, "bad.toml:2:")
	writeFile(t, filepath.Join(dir, settingsName), "fetchers = 1\nnonsense = 2\n")
	call("crawl", "--dir", dir).want(t, command.ExitUsage, "crawl.toml: unknown key: nonsense")
}

// Each mistake of a flag that is repeated, or has a list, is named with the flag. No check hides those behind it.
func TestAllMistakesOfLists(t *testing.T) {
	dir := t.TempDir()
	hosts, budgets := filepath.Join(dir, "hosts.txt"), filepath.Join(dir, "budgets.tsv")
	writeFile(t, hosts, "a b\n"+strings.Repeat("x", 70_000)+"\nc d\n")
	writeFile(t, budgets, "example.org\n")
	call("crawl", "--dir", filepath.Join(dir, "c"), "--stat", `x="a"`, "--stat", "y=foo", "--stat", "z", "--stat", "ok=1",
		"--stat", "ok=2", "--upload", "s3:/x", "--upload-endpoint", "y", "--walls", budgets,
		"--hook", "page=/none", "--hook", "link=/none2", "--hook", "nothing", "--on-warc-close", "/none3",
		"--mine", "quark,charm", "--header", "foo", "--header", "Host: x", "--strip-params", "a/b,c/d", "--resolver", "a",
		"--resolver", "b", "--dns-ttl-min", "5m", "--dns-ttl-max", "1m", "--allow-port", "x", "--allow-port", "0",
		"--score", "nope", "--budgets", budgets, "--exclude-hosts", "/none4", "--exclude-hosts", hosts,
		"--listen", "nowhere", "--token", "/none5", "--dedup-from", "/none6", "--dedup-from", "/none7",
		"--fetchers", "0", "http://127.0.0.1:1/").want(t, command.ExitUsage,
		`--stat: x: `, `--stat: y: `, `--stat: bad expression: "z" is not NAME=EXPR`, "--stat: bad expression: ok is given",
		`--hook page: exec: "/none"`, `--hook link: exec: "/none2"`, `--hook: "nothing" begins`,
		`--on-warc-close: exec: "/none3"`, `--mine: "quark"`, `--mine: "charm"`, `--header: "foo"`, "--header: Host is set",
		`--strip-params: no name of a parameter: "a/b"`, `--strip-params: no name of a parameter: "c/d"`,
		`--upload: "s3:/x"`, `--upload-endpoint: endpoint "y"`, "--walls: "+budgets+":1: bad rule",
		`--resolver: "a"`, `--resolver: "b"`, "--dns-ttl-max 1m0s is less", `--allow-port: "x"`, `--allow-port: "0"`,
		"--score: is for --visit focused", "--score: bad expression", "--budgets: is for --visit ranked",
		"--budgets: "+budgets+":1: ", "--exclude-hosts: open /none4", "--exclude-hosts: "+hosts+":1: ",
		"--exclude-hosts: "+hosts+":2: the line is longer", "--exclude-hosts: "+hosts+":3: ", `--listen: "nowhere"`,
		"--token: open /none5", "--dedup-from: /none6", "--dedup-from: /none7", "--fetchers: 0 ", "--contact")
	call("crawl", "--dir", filepath.Join(dir, "c"), "--token", "x", "--listen-name", "y", "--deny-net", "z").want(
		t, command.ExitUsage, "--token: a Unix socket", "--listen-name: a Unix socket", `--deny-net: "z"`, "--contact",
	)
	call("botpage", "--host-rules", "/none").want(
		t, command.ExitUsage, "--operator", "--contact", "--host-rules: open /none",
	)
}

// A flag that says more about another one is refused without it. A file of settings may have it all the same.
func TestFlagsWithoutTheirPartner(t *testing.T) {
	dir := t.TempDir()
	config := filepath.Join(dir, "all.toml")
	of := map[string]string{
		"mine-most=3": "--mine", "hook-parallel=3": "--hook", "hook-full=skip": "--hook", "hook-memory=1GiB": "--hook",
		"hook-timeout=1s": "--hook", "near-duplicates-max=9": "--near-duplicates", "dedup-max-age=1d": "--dedup-from",
		"upload-parallel=3": "--upload", "upload-part=5MiB": "--upload", "on-warc-close-parallel=3": "--on-warc-close",
		"on-warc-close-timeout=1m": "--on-warc-close", "upload-wait=1m": "--upload or --on-warc-close",
		"depth=3": "--dry-run", "gossip=127.0.0.1:1": "--agent", "agent-return-wait=1m": "--agent", "peer-quota=1": "--agent",
		"recover=1": "--agent",
	}
	args, settings, words := []string{"crawl", "--dir", filepath.Join(dir, "c")}, "", []string(nil)
	for flag, partner := range of {
		name, value, _ := strings.Cut(flag, "=")
		args = append(args, "--"+flag)
		if settings += name + " = '" + value + "'\n"; name == "depth" {
			settings = strings.TrimSuffix(settings, "depth = '3'\n")
		}
		words = append(words, "--"+name+": is for "+partner+": add that")
	}
	call(append(args, "http://127.0.0.1:1/")...).want(t, command.ExitUsage, words...)
	writeFile(t, config, settings)
	call("crawl", "--dry-run", "--depth=3", "--config", config, "--dir", filepath.Join(dir, "c"), "http://a.test/").want(
		t, command.ExitDone, "--contact",
	)
}
