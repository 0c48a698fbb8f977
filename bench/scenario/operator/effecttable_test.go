package operator

import (
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/engine/operate/changes"
	"orbweaver/internal/simweb"
)

// extensions is a setting of the program.
type extensions struct {
	ExcludeExtensions []string `help:"Endings of paths."`
}

// effect is a setting that is changed while a crawl runs. Each page of the web links to the next one and to a URL of
// the case, whose path begins with /x.
type effect struct {
	setting string // NAME=VALUE
	markup  string // that links to /x%[1]d, with the number of the page
	begins  bool   // requests for these URLs begin with the change; else they end
}

// pageOf is the page with a number.
func (f *effect) pageOf(path string) string {
	n := 0
	if _, err := fmt.Sscanf(path, "/%d", &n); err != nil && path != "/" {
		return "<p>" + path
	}
	markup := f.markup
	if strings.Contains(markup, "%") {
		markup = fmt.Sprintf(markup, n)
	}
	return fmt.Sprintf("<p>%d <a href=/%d>next</a> %s", n, n+1, markup)
}

// asked crawls, changes the setting after a while, and returns the requests for URLs of the case and for all others,
// before the change and some time after it.
func (f *effect) asked(t *testing.T) (special, others [2]int) {
	t.Helper()
	rig := testbed.MustRig(t, testbed.SmallWorld(1, simweb.Plain()), false)
	hosts := &testbed.ScriptedHosts{Counts: map[string]int{}, Hosts: map[string]testbed.Responder{
		testbed.FirstHost: func(path string, _ int, c net.Conn) {
			if path == "/robots.txt" {
				testbed.Respond(c, 404, "", "")
				return
			}
			testbed.Respond(c, 200, "", f.pageOf(path))
		},
	}}
	rig.Seeds = []string{"http://" + testbed.FirstHost + "/"}
	cfg := rig.Config()
	cfg.Politeness.HostDelay, cfg.Politeness.IPDelay, cfg.Limits.StallWait = time.Second, time.Second, time.Hour
	seams := rig.Seams(rig.FS)
	seams.Dialer, seams.Resolver = hosts, hosts
	seams.OwnSettings = []changes.Own{{Target: new(extensions)}}
	seams.Allowed = func(netip.AddrPort) error { return nil }
	e, err := engine.Open(cfg, seams)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- e.Run(t.Context()) }()
	count := func(phase, from int) (end int) {
		all := hosts.Pages(testbed.FirstHost)
		for _, a := range all[from:] {
			if strings.HasPrefix(a.Path, "/x") {
				special[phase]++
			} else {
				others[phase]++
			}
		}
		return len(all)
	}
	testbed.Wait(40 * time.Second)
	count(0, 0)
	name, value, _ := strings.Cut(f.setting, "=")
	if err := testbed.Set(t, e, name, value); err != nil {
		t.Errorf("%s: %v", f.setting, err)
	}
	testbed.Wait(15 * time.Second) // what was queued has ended
	from := len(hosts.Pages(testbed.FirstHost))
	testbed.Wait(40 * time.Second)
	count(1, from)
	e.Operator().Stop()
	testbed.WaitEnd(t, rig, e, done)
	hosts.Done.Wait()
	return special, others
}

// Each setting acts in the crawl that runs: requests of one kind begin or end with it, and the others go on.
func TestSettings_effects(t *testing.T) {
	const link = "<a href=/x%[1]d>x</a>"
	for _, f := range []effect{
		{`scope=not (path startsWith "/x")`, link, false},
		{`fetch=not (path startsWith "/x")`, link, false},
		{`follow=not (url contains "/x")`, link, false},
		{"exclude-extensions=zip", "<a href=/x%[1]d.zip>x</a>", false},
		{"nofollow=true", "<a rel=nofollow href=/x%[1]d>x</a>", false},
		{"max-url=512", "<a href=/x%[1]d" + strings.Repeat("y", 600) + ">x</a>", false},
		{"max-path-repeats=2", "<a href=/x/a/a/a/a/a/%[1]d>x</a>", false},
		{"forms=true", "<form action=/x%[1]d></form>", true},
		{"speculative=on", `<script>var page = "/x%[1]d/view.html"</script>`, true},
	} {
		t.Run(f.setting, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				special, others := f.asked(t)
				before, after := special[0], special[1]
				if f.begins {
					before, after = after, before
				}
				if before < 5 || after > 0 || others[0] < 10 || others[1] < 10 {
					t.Errorf("requests before and after: %v of the case, %v others", special, others)
				}
			})
		})
	}
	for _, setting := range []string{"parse=false", "max-depth=3", "max-per-host=5", "host-delay=1h", "ip-delay=1h",
		"max-per-domain=5"} {
		t.Run(setting, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := effect{setting: setting, markup: link}
				special, others := f.asked(t)
				if special[0]+others[0] < 20 || special[1]+others[1] > 1 {
					t.Errorf("requests before and after: %v and %v", special, others)
				}
			})
		})
	}
}
