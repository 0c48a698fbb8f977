//go:build linux

package main

import (
	"bytes"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// A network interface beside loopback, even one that is down, could lead somewhere.
func TestRunsOnlyWhereLoopbackIsAlone(t *testing.T) {
	lo := net.Interface{Name: "lo", Flags: net.FlagLoopback | net.FlagUp}
	if err := secluded([]net.Interface{lo}); err != nil {
		t.Error(err)
	}
	for _, others := range [][]net.Interface{{}, {{Name: "lo", Flags: net.FlagLoopback}}, {lo, {Name: "eth0"}}} {
		if secluded(others) == nil {
			t.Errorf("%v is taken for loopback alone", others)
		}
	}
}

// fakeSim is a program that serves nothing, and says what a served crawl was like when its input ends.
const fakeSim = `#!/bin/sh
if [ "$1 $2" = "warc verify" ]; then
	echo "records 1"
	echo "faults 0"
	exit
fi
echo http://h0.test/ >"$SEEDS"
echo '{"proxy":"http://127.0.0.1:9","pages":4}'
cat >/dev/null
cat <<END
{"stats":{"conns":2,"requests":5},
"verdict":{"expected":4,"fetched":3,"coverage":0.75,"repeated":1,"min_host_gap_ns":7000}}
END
`

func rig(t *testing.T) options {
	if _, err := os.Stat("/usr/bin/time"); err != nil {
		t.Skip("there is no /usr/bin/time: see install.sh")
	}
	dir := t.TempDir()
	o := options{bin: filepath.Join(dir, "sim"), dir: dir, world: filepath.Join(dir, "world"), limit: time.Minute}
	script := strings.ReplaceAll(fakeSim, "$SEEDS", filepath.Join(dir, "seeds"))
	if err := os.WriteFile(o.bin, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(o.world, []byte(`{"Hosts": 3, "PlainLinks": true}`), 0o644); err != nil {
		t.Fatal(err)
	}
	return o
}

// fake is a tool that is a line of shell.
func fake(line string) tool {
	return tool{
		name:    "fake",
		warc:    "none",
		version: []string{"echo", "fake 1.0\nand more"},
		command: func(p place, _ setting) []string { return []string{"sh", "-c", "cd " + p.dir + " && " + line} },
	}
}

func TestCrawlIsMeasured(t *testing.T) {
	o := rig(t)
	r, err := crawl(t.Context(), fake(`echo $http_proxy && echo 12345 >a.warc.gz`), setting{Name: "fast", Odd: true}, o)
	if err != nil {
		t.Fatal(err)
	}
	if r.Version != "fake 1.0" || r.Cut || r.End != "" || r.Wall <= 0 || r.CPU <= 0 || r.RSSPeak <= 0 ||
		r.Archive != 6 || r.Verified != "records 1; faults 0" {
		t.Errorf("%+v", r)
	}
	if v := r.Served.Verdict; v.Fetched != 3 || v.Repeated != 1 || v.HostGapSmallest != 7*time.Microsecond ||
		r.Served.Stats.Conns != 2 {
		t.Errorf("%+v", r.Served)
	}
	log, err := os.ReadFile(filepath.Join(o.dir, "fake-fast", "log"))
	if err != nil || string(log) != "http://127.0.0.1:9\n" {
		t.Errorf("the tool said %q: %v", log, err)
	}
	world, err := os.ReadFile(filepath.Join(o.dir, "fake-fast", "world.json"))
	if err != nil || string(world) != `{"Hosts":3}` {
		t.Errorf("the odd world is %s: %v", world, err)
	}
}

// Peak memory is the tool's, not that of the program that starts it.
func TestPeakMemoryIsTheToolsOwn(t *testing.T) {
	o := rig(t)
	ballast := bytes.Repeat([]byte{1}, 64<<20)
	r, err := crawl(t.Context(), fake("true"), setting{Name: "fast"}, o)
	if err != nil {
		t.Fatal(err)
	}
	if r.RSSPeak > 32<<20 || len(ballast) == 0 {
		t.Errorf("a shell that does nothing takes %d MiB", r.RSSPeak>>20)
	}
}

func TestCrawlEndsWhenItsTimeIsOver(t *testing.T) {
	o := rig(t)
	o.limit = 2 * time.Second // the tool has begun by then, on a busy machine, too
	r, err := crawl(t.Context(), fake("exec sleep 1000"), setting{Name: "fast"}, o)
	if err != nil {
		t.Fatal(err)
	}
	if !r.Cut || r.Wall > 100 || r.RSSPeak <= 0 || r.Served.Verdict.Expected != 4 || ending(&r) != "cut" {
		t.Errorf("%+v", r)
	}
}

func TestMissingToolIsLeftOut(t *testing.T) {
	o := rig(t)
	none := tool{name: "none", version: []string{filepath.Join(o.dir, "is-not-there")}}
	r, err := crawl(t.Context(), none, setting{Name: "fast"}, o)
	if err != nil || r.Missing == "" || r.Command != nil {
		t.Errorf("%+v, %v", r, err)
	}
}

// Every command has the seeds and the delay. wget and scrapy read the proxy from the environment, and zeno has none.
func TestCommandsSayWhatWasAsked(t *testing.T) {
	p := place{bin: "orbweaver", build: "build", dir: "dir", seeds: "the-seeds", proxy: "http://127.0.0.1:99"}
	for _, tool := range tools(p.bin, p.build) {
		said := strings.Join(tool.command(p, setting{Delay: 250 * time.Millisecond, AtOnce: 37}), " ")
		delay := regexp.MustCompile(`0\.25|250ms|-%c4|rate=4|-limit 4`) // or four requests a second
		if !strings.Contains(said, "the-seeds") || !delay.MatchString(said) {
			t.Errorf("%s: %s", tool.name, said)
		}
		if tool.name != "wget" && !strings.Contains(said, "37") {
			t.Errorf("%s is not told how many requests at once: %s", tool.name, said)
		}
		if !strings.Contains("wget scrapy zeno", tool.name) && !strings.Contains(said, "127.0.0.1:99") {
			t.Errorf("%s is not told of the proxy: %s", tool.name, said)
		}
	}
}

func TestTable(t *testing.T) {
	fast, polite := setting{Name: "fast", AtOnce: 16}, setting{Name: "polite", Delay: time.Second, AtOnce: 100}
	one := result{
		Tool:    "spinner",
		Version: "spinner 3",
		Command: []string{"spin", "-x"},
		Setting: fast,
		WARC:    "gzip 9",
		Wall:    2,
		CPU:     0.05,
		RSSPeak: 3 << 20,
		Archive: 1_500_000,
	}
	one.Served.Stats.Conns, one.Served.Stats.Bytes = 17, 5_000_000
	one.Served.Verdict = verdict{Expected: 200, Fetched: 100, Coverage: 0.5, Repeated: 4,
		Examples: []string{"host gap: a", "repeated: http://h0.test/", "repeated: http://h1.test/"}}
	later := one
	later.Setting, later.Cut = polite, true
	var out strings.Builder
	if err := print(&out, []result{one, {Tool: "weaver", Setting: fast, Missing: "no such file"}, later}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"spinner 3\n  spin -x\n",
		"spinner  gzip 9  1.5    100  200    0.5000      2.0       50   2.5          500         3  itself",
		"spinner: repeated: http://h0.test/\n", "weaver is not installed: no such file", "delay 1s, 100 requests at once",
		"cut",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("there is no %q in\n%s", want, out.String())
		}
	}
	if strings.Count(out.String(), "spin -x") != 1 || strings.Contains(out.String(), "h1.test") {
		t.Errorf("said twice:\n%s", out.String())
	}
}

func TestPeakIsOnTheLastLine(t *testing.T) {
	if n, err := peakBytes("Command exited with non-zero status 8\n7168\n"); n != 7<<20 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if _, err := peakBytes("Command terminated by signal 9\n"); err == nil {
		t.Error("no peak, and no error")
	}
}
