package main

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"orbweaver/cmd/orbweaver/internal/crawl"
	"orbweaver/internal/cli/command"
	"orbweaver/internal/options"
)

// crawlFlags returns the flags of crawl by name.
func crawlFlags(t *testing.T) map[string]*kong.Flag {
	t.Helper()
	flags := map[string]*kong.Flag{}
	eachFlag(t, func(n *kong.Node, f *kong.Flag) {
		if n.Name == "crawl" {
			flags[f.Name] = f
		}
	})
	return flags
}

// settingOf returns the setting of a flag with a value.
func settingOf(t *testing.T, f *kong.Flag, value string) options.Setting {
	t.Helper()
	s := options.Setting{Name: f.Name, Value: reflect.New(f.Target.Type()).Elem(), Tag: f.Tag}
	if err := s.Set(value); err != nil && value != "" {
		t.Errorf("--%s %s: %v", f.Name, value, err)
	}
	return s
}

// A preset has a handful of valid values. None makes requests come faster than the defaults do.
func TestPresets_areValidAndPolite(t *testing.T) {
	flags := crawlFlags(t)
	var names []string
	for _, p := range crawl.Presets() {
		names = append(names, p.Name)
		if n := len(p.Values); n < 4 || n > 8 {
			t.Errorf("%s has %d values", p.Name, n)
		}
		for _, v := range p.Values {
			f := flags[v.Flag]
			if f == nil {
				t.Fatalf("%s: crawl has no flag --%s", p.Name, v.Flag)
			}
			is, otherwise := settingOf(t, f, v.Value), settingOf(t, f, f.Default)
			switch v.Flag {
			case "host-delay", "ip-delay", "crawl-delay-max":
				if is.Value.Int() < otherwise.Value.Int() {
					t.Errorf("%s: %s is less polite than the default, %s", p.Name, v.Text(), f.Default)
				}
			case "fetchers":
				if is.Value.Int() > otherwise.Value.Int() {
					t.Errorf("%s: %s is more than the default, %s", p.Name, v.Text(), f.Default)
				}
			case "keep-alive", "ipv6-prefix", "host-rules", "slow-body-timeout":
				t.Errorf("%s: no rule here says whether %s is polite", p.Name, v.Text())
			}
		}
	}
	if words := flags["preset"].Tag.Get("words"); words != strings.Join(names, ",") {
		t.Errorf("the shell completes %s, and the presets are %v", words, names)
	}
}

// presetSection is what docs/guide/presets.md says about a preset, with the defaults of its flags.
func presetSection(flags map[string]*kong.Flag, p crawl.Preset) string {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n\nFor %s:\n\n", p.Name, p.For)
	for _, v := range p.Values {
		otherwise := ""
		if text := flags[v.Flag].Default; text != "" && text != "0" && text != v.Value {
			otherwise = " [" + text + "]"
		}
		fmt.Fprintf(&b, "- `%s`%s: %s\n", v.Text(), otherwise, v.Why)
	}
	return b.String()
}

// The page of the guide has the presets as they are, wherever its lines are broken.
func TestPresets_areInTheGuide(t *testing.T) {
	page, err := os.ReadFile("../../docs/guide/presets.md")
	if err != nil {
		t.Fatal(err)
	}
	_, sections, _ := strings.Cut(string(page), "\n## ")
	want := ""
	for _, p := range crawl.Presets() {
		want += "\n" + presetSection(crawlFlags(t), p)
	}
	if got := "\n## " + sections; !slices.Equal(strings.Fields(got), strings.Fields(want)) {
		t.Errorf("docs/guide/presets.md has:%s\nwant:%s", got, want)
	}
}

// Flags, variables and files win over a preset. The crawl says what the preset has set. crawl.toml has the values.
func TestPreset_isWeakerThanAllThatIsGiven(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "my.toml")
	writeFile(t, file, "preset = 'polite'\nfetchers = 7\n")
	t.Setenv("ORBWEAVER_IP_DELAY", "9s")
	args := []string{"crawl", "--config", file, "--host-delay", "1m", "--dir", filepath.Join(dir, "crawl"), "--contact",
		"me@site.test", "http://site.invalid/"}
	const line = "preset polite: --crawl-delay-max 1h, --bandwidth 2MiB/s, --host-bandwidth 256KiB/s, " +
		"--speculative off, --nofollow; given: --host-delay 1m, --ip-delay 9s, --fetchers 7\n"
	r := call(append(args, "--dry-run")...).want(t, command.ExitDone, line)
	if n := strings.Count(r.err, "preset polite"); n != 1 {
		t.Errorf("said %d times:\n%s", n, r.err)
	}
	writeFile(t, filepath.Join(dir, "crawl.toml"), "preset = 'site'\nfetchers = 5\n") // by hand, before the crawl
	call("crawl", "--dir", dir, "--dry-run", "http://site.invalid/").want(
		t, command.ExitDone, "preset site: --scope host, --requisites all,", "; given: --fetchers 5\n",
	)
}

func TestPreset_ofAWrongName(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "crawl")
	call("crawl", "--dir", dir, "--preset", "sites", "--contact", "me@site.test", "http://site.invalid/").want(
		t, command.ExitUsage, `--preset: "sites" is none of polite, archive, broad, site; did you mean site?`,
	)
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the crawl directory was touched: %v", err)
	}
}

// crawl.toml of a crawl has the values of its preset. A resume goes by these, also if a later version gives the preset
// other values, or has no preset of the name. It refuses another preset.
func TestPreset_isForANewCrawl(t *testing.T) {
	w, dir := serve(t), t.TempDir()
	settings := filepath.Join(dir, settingsName)
	args := func(preset string) []string {
		list := small(dir, w.proxy, 0)
		return append(list, "--seeds", w.seeds, "--preset", preset, "--max-pages", "3")
	}
	call(args("site")...).want(t, command.ExitDone, "preset site: --sitemaps, --max-per-host 50000, --trap-floor 1000, "+
		"--fetchers 16; given: --scope all, --requisites off, --stall-wait 1m\n")
	text, err := os.ReadFile(settings)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"preset = 'site'", "trap-floor = 1000", "sitemaps = true", "scope = 'all'"} {
		if !strings.Contains(string(text), "\n"+line+"\n") {
			t.Errorf("crawl.toml lacks %s:\n%s", line, text)
		}
	}
	call(args("broad")...).want(t, command.ExitUsage, "was begun without preset broad and keeps its settings")
	earlier := strings.NewReplacer("trap-floor = 1000\n", "trap-floor = 777\n", "max-per-host = 50000\n", "")
	writeFile(t, settings, earlier.Replace(string(text)))
	if r := call(args("site")...).want(t, command.ExitDone); strings.Contains(r.err, "preset") {
		t.Errorf("the resumed crawl speaks of its preset:\n%s", r.err)
	}
	text, err = os.ReadFile(settings)
	if err != nil || !strings.Contains(string(text), "\ntrap-floor = 777\n") ||
		!strings.Contains(string(text), "\nmax-per-host = 0\n") {
		t.Errorf("%v: after the resume:\n%s", err, text)
	}
	writeFile(t, settings, strings.Replace(string(text), "'site'", "'of-a-later-version'", 1))
	call(append(small(dir, w.proxy, 0), "--max-pages", "3")...).want(t, command.ExitDone)
}

// --help of a command with many flags shows those that most people need, and how to see the others.
func TestHelp_ofManyFlagsIsShort(t *testing.T) {
	shown := func(args ...string) []string {
		t.Helper()
		out := call(args...).want(t, command.ExitDone).out
		return regexp.MustCompile(`(?m)^ +(?:-h, )?--[a-z0-9-]+(?:=\S+.*|  +.*)$`).FindAllString(out, -1)
	}
	all, short := shown("crawl", "--help=all"), shown("crawl", "--help")
	if n := len(crawlFlags(t)) + 3; len(all) != n { // and help, config, version
		t.Errorf("--help=all shows %d flags, crawl has %d", len(all), n)
	}
	if n := len(short); n < 20 || n > 28 {
		t.Errorf("crawl --help shows %d flags: %q", n, short)
	}
	out := call("crawl", "--help").want(t, command.ExitDone).out
	if line := fmt.Sprintf("\n--help=all shows all %d flags,", len(all)); !strings.Contains(out, line) {
		t.Errorf("crawl --help lacks %q", line)
	}
	for _, p := range crawl.Presets() {
		for _, v := range p.Values {
			words := strings.Join(strings.Fields(v.Text()), " ")
			if !strings.Contains(strings.Join(strings.Fields(out), " "), words) {
				t.Errorf("crawl --help lacks %s of preset %s", words, p.Name)
			}
		}
	}
	if n := strings.Count(out, "\n    orbweaver crawl "); n < 2 || n > 3 {
		t.Errorf("%d examples", n)
	}
	if n := strings.Count(out, "\n"); n > 110 {
		t.Errorf("crawl --help has %d lines", n)
	}
	if got := shown("crawl", "--help=BANDWIDTH"); len(got) != 2 && !strings.Contains(got[0], "--bandwidth") {
		t.Errorf("flags with bandwidth: %q", got)
	}
	call("crawl", "--help=xyzzy").want(t, command.ExitUsage, `--help: no flag of 'orbweaver crawl' has "xyzzy"`)
	call("ctl", "--help=all").want(t, command.ExitDone)
}

// A command beyond the number of flags that --help shows as a whole has flags with the tag basic.
func TestHelp_eachCommandWithManyFlagsHasBasicOnes(t *testing.T) {
	count, basic := map[string]int{}, map[string]int{}
	eachFlag(t, func(n *kong.Node, f *kong.Flag) {
		count[n.FullPath()]++
		if command.IsBasic(f) {
			basic[n.FullPath()]++
		}
	})
	for name, n := range count {
		if n > 40 && (basic[name] < 19 || basic[name] > 27) {
			t.Errorf("%s has %d flags, and %d of them are basic", name, n, basic[name])
		}
	}
}
