package testbed

import (
	"context"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/engine"
	"orbweaver/engine/operate/changes"
	"orbweaver/engine/operate/report"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/engine/workers/archive"
	"orbweaver/engine/workers/parsers"
	"orbweaver/internal/options"
	"orbweaver/internal/simweb"
	"orbweaver/internal/simweb/judge"
	"orbweaver/internal/vfs"
)

// Promise is what the judge holds a crawl with this configuration to.
func Promise(cfg engine.Config) judge.Promise {
	return judge.Promise{HostDelay: cfg.Politeness.HostDelay, IPDelay: cfg.Politeness.IPDelay,
		Contact: "https://example.org/bot"}
}

// CrawlAndJudge runs one whole crawl, and fails the test if the judge finds a fault.
func CrawlAndJudge(t *testing.T, world simweb.Config, proxy bool, change func(*engine.Config)) (report report.Report) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		rig, err := NewRig(world, proxy)
		if err != nil {
			t.Fatal(err)
		}
		cfg := rig.Config()
		change(&cfg)
		start := time.Now()
		report, err = rig.Crawl(t.Context(), cfg, rig.FS)
		if cerr := rig.Net.Close(); cerr != nil {
			t.Error(cerr)
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("virtual time %v, %d pages, %s: %s", time.Since(start), report.PagesStored, report.State, report.Reason)
		v, err := rig.Judge(Promise(cfg), rig.FS)
		if err != nil {
			t.Fatal(err)
		}
		CheckConservation(t, report)
		if !v.Sound() {
			v.Print(t.Output())
			t.Errorf("the judge found faults; outcomes %v", report.Outcomes)
		}
	})
	return report
}

// CheckConservation checks E1 after the end of a crawl.
func CheckConservation(t *testing.T, r report.Report) {
	t.Helper()
	var outcomes int64
	for _, n := range r.Outcomes {
		outcomes += n
	}
	if r.URLsAdmitted != outcomes+r.URLsQueued+r.URLsInFlight || r.URLsInFlight != 0 {
		t.Errorf("E1: admitted %d, outcomes %d, queued %d, in flight %d", r.URLsAdmitted, outcomes, r.URLsQueued,
			r.URLsInFlight)
	}
	if r.ParseFaults > 0 {
		t.Errorf("%d pages panicked the parser", r.ParseFaults)
	}
}

// NoChange leaves a configuration as it is.
func NoChange(*engine.Config) {}

// FsckConfig is the configuration of a crawl with small files.
func FsckConfig(rig *Rig) engine.Config {
	c := rig.Config()
	c.Archive.SizeMax = 1 << 18
	c.Sieve.BucketBytes = 1 << 16
	return c
}

// StopHalfWay crawls for a time and stops in order.
func StopHalfWay(t *testing.T, world simweb.Config, after time.Duration, change func(*engine.Config)) *vfs.Mem {
	t.Helper()
	rig, err := NewRig(world, true)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), after)
	defer cancel()
	cfg := FsckConfig(rig)
	change(&cfg)
	r, err := rig.Crawl(ctx, cfg, rig.FS)
	if err != nil {
		t.Fatal(err)
	}
	if err := rig.Net.Close(); err != nil {
		t.Error(err)
	}
	if r.State != lifecycle.Stopped || r.PagesStored == 0 || r.URLsQueued == 0 {
		t.Fatalf("not half way: %s, %d pages, %d queued", r.State, r.PagesStored, r.URLsQueued)
	}
	return rig.FS
}

// AllMetadata turns on all optional records.
func AllMetadata(c *engine.Config) {
	c.Archive.Metadata, c.Archive.Via = parsers.MetadataAll, true
	c.Archive.Outlinks, c.Archive.DNS = true, archive.DNSAll
}

// CrawlDuring crawls a faulty web, directly or through the proxy, and calls happen while the crawl runs.
func CrawlDuring(
	t *testing.T, proxy bool, change func(*engine.Config), happen func(rig *Rig, e *engine.Engine),
) (*Rig, engine.Config, report.Report) {
	t.Helper()
	return CrawlWebDuring(t, SmallWorld(*FirstSeed+400, simweb.Faulty()), proxy, change, happen)
}

// CrawlWebDuring is CrawlDuring with a given web.
func CrawlWebDuring(
	t *testing.T, world simweb.Config, proxy bool, change func(*engine.Config), happen func(rig *Rig, e *engine.Engine),
) (*Rig, engine.Config, report.Report) {
	t.Helper()
	rig, err := NewRig(world, proxy)
	if err != nil {
		t.Fatal(err)
	}
	cfg := rig.Config()
	change(&cfg)
	e, err := engine.Open(cfg, rig.Seams(rig.FS))
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- e.Run(t.Context()) }()
	happen(rig, e)
	return rig, cfg, WaitEnd(t, rig, e, done)
}

// WaitEnd waits for the end of a crawl, closes the crawl and its network, and checks conservation.
func WaitEnd(t *testing.T, rig *Rig, e *engine.Engine, done <-chan error) report.Report {
	t.Helper()
	if err := <-done; err != nil {
		t.Fatalf("Run: %v", err)
	}
	r := e.Report()
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	if err := rig.Net.Close(); err != nil {
		t.Error(err)
	}
	CheckConservation(t, r)
	return r
}

// NoSiteBlamed checks that all outcomes are responses of the sites.
func NoSiteBlamed(t *testing.T, r report.Report) {
	t.Helper()
	for name, n := range r.Outcomes {
		if name != "ok" && name != "redirect" && name != "client-error" && name != "name-not-found" &&
			name != "robots-denied" {
			t.Errorf("%d times %s: a site was blamed", n, name)
		}
	}
}

// JudgeSound fails the test if the judge finds a fault.
func JudgeSound(t *testing.T, rig *Rig, cfg engine.Config, p judge.Promise) judge.Verdict {
	t.Helper()
	v, err := rig.Judge(p, rig.FS)
	if err != nil {
		t.Fatal(err)
	}
	if !v.Sound() {
		v.Print(t.Output())
		t.Errorf("the oracle complains about a crawl with %d fetchers", cfg.Workers.Fetchers)
	}
	return v
}

// Wait waits in virtual time.
func Wait(d time.Duration) { <-time.After(d) }

// Assign sets what NAME=VALUE says, as SetField does; without a value it is true.
func Assign(target any, text string) error {
	name, value, has := strings.Cut(text, "=")
	if !has {
		value = "true"
	}
	return SetField(target, name, value)
}

// SetField sets a setting by the name of its flag, or a field by its path.
func SetField(target any, name, text string) error {
	if setting, found := options.Find(target, name); found {
		return setting.Set(text)
	}
	v, tag := reflect.ValueOf(target).Elem(), reflect.StructTag("")
	for part := range strings.SplitSeq(name, ".") {
		f, ok := v.Type().FieldByName(part)
		if !ok {
			return fmt.Errorf("there is no setting %s", name)
		}
		v, tag = v.FieldByIndex(f.Index), f.Tag
	}
	if n, err := strconv.ParseFloat(text, 64); err == nil && v.CanFloat() {
		v.SetFloat(n)
		return nil
	} else if err == nil && v.CanUint() && v.Kind() == reflect.Uint64 {
		v.SetUint(uint64(n))
		return nil
	} else if err == nil && v.Type() == reflect.TypeFor[time.Duration]() {
		v.SetInt(int64(n * float64(time.Second)))
		return nil
	}
	return options.Parse(v, tag, text)
}

// Set changes a setting of a running crawl, also if it drops queued URLs.
func Set(t *testing.T, e *engine.Engine, name, value string) error {
	t.Helper()
	_, err := e.Operator().ChangeSettings(t.Context(), changes.Request{
		By: "test", Settings: []string{name + "=" + value}, Yes: true,
	})
	return err
}
