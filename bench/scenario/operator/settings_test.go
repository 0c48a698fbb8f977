package operator

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/engine/frontier/admission"
	"orbweaver/engine/operate/changes"
	"orbweaver/engine/operate/hosts"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/internal/options"
	"orbweaver/internal/simweb"
	"orbweaver/internal/urlx"
)

// keptSettings keeps settings in a configuration, as crawl.toml does.
type keptSettings struct{ cfg *engine.Config }

func (k keptSettings) KeepValues(values map[string]any) error {
	for name, value := range values {
		s, ok := options.Find(k.cfg, name)
		if !ok {
			return fmt.Errorf("there is no setting %s", name)
		}
		text, _ := value.(string)
		if list, isList := value.([]string); isList {
			text = strings.Join(list, ",")
		}
		if err := options.Parse(s.Value, s.Tag, text); err != nil {
			return err
		}
	}
	return nil
}

// otherValues are values that differ from those of the crawl, and do not end it.
func otherValues() map[string]string {
	return map[string]string{
		"fetchers": "9", "host-delay": "3s",
		"ip-delay": "400ms", "crawl-delay-max": "2m", "tries": "7", "max-per-host": "5000",
		"give-up": "3d", "stall-wait": "2h", "max-pages": "1000000", "max-time": "9d", "max-disk": "1TiB",
		"workbench-memory": "2MiB", "bandwidth": "90MiB/s", "host-bandwidth": "80MiB/s",
		"scope": "domain", "max-depth": "90", "max-url": "4KiB", "fetch": `path != "/none"`,
		"parse":  "depth < 99",
		"follow": `kind != "form"`, "store": "status == 200", "nofollow": "true", "forms": "true", "sitemaps": "true",
		"checkpoint": "7s", "novelty": "off", "trap-floor": "99", "max-path-repeats": "5",
		"max-per-domain": "70000", "max-hosts-per-domain": "8000", "max-hosts-per-ip": "9000", "connect-timeout": "9s",
		"response-timeout": "40s", "exchange-timeout": "7h", "slow-body-timeout": "6m", "max-body": "5MiB",
		"exclude-extensions": "zip,iso",
		"visit":              "per-host:3",
		"requisites":         "same-scope", "speculative": "on", "pdf-links": "off", "strip-params": "session,utm_*",
	}
}

// begin opens the crawl of a configuration, which keeps changed settings, and runs it.
func begin(t *testing.T, rig *testbed.Rig, cfg *engine.Config) (*engine.Engine, <-chan error) {
	t.Helper()
	rig.Connect()
	seams := rig.Seams(rig.FS)
	seams.Settings = keptSettings{cfg}
	e, err := engine.Open(*cfg, seams)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- e.Run(t.Context()) }()
	return e, done
}

// runFor begins a crawl, lets something happen after some seconds, and stops it.
func runFor(t *testing.T, rig *testbed.Rig, cfg *engine.Config, happen func(e *engine.Engine)) {
	t.Helper()
	e, done := begin(t, rig, cfg)
	testbed.Wait(3 * time.Second)
	happen(e)
	e.Operator().Stop()
	testbed.WaitEnd(t, rig, e, done)
}

func valuesOf(e *engine.Engine) map[string]string {
	values := map[string]string{}
	for _, s := range e.Operator().ListSettings().Settings {
		values[s.Name] = s.Value
	}
	return values
}

// Each setting is changed in the running crawl, has its value after a resume, and has the former one after an undo in
// another run.
func TestSettings_eachIsChangedKeptAndUndone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig := testbed.MustRig(t, pointsWorld(), true)
		cfg := rig.Config()
		cfg.Politeness.HostDelay = time.Minute // slow, so that the crawl does not end
		other := otherValues()
		var before map[string]string
		runFor(t, rig, &cfg, func(e *engine.Engine) {
			before = valuesOf(e)
			if len(before) < 20 {
				t.Errorf("%d settings can be changed", len(before))
			}
			for name, was := range before {
				if other[name] == "" || other[name] == was {
					t.Errorf("%s: give it another value than %q in otherValues", name, was)
				}
				if err := testbed.Set(t, e, name, other[name]); err != nil {
					t.Errorf("%s=%s: %v", name, other[name], err)
				}
				if now := valuesOf(e)[name]; now != other[name] {
					t.Errorf("%s is %s, want %s", name, now, other[name])
				}
			}
		})
		runFor(t, rig, &cfg, func(e *engine.Engine) {
			for name, now := range valuesOf(e) {
				if now != other[name] {
					t.Errorf("after a resume %s is %s, want %s", name, now, other[name])
				}
			}
			for range before {
				if _, err := e.Operator().UndoSettings(t.Context(), changes.Request{By: "test", Yes: true}); err != nil {
					t.Error(err)
				}
			}
			_, err := e.Operator().UndoSettings(t.Context(), changes.Request{By: "test", Yes: true})
			if !errors.Is(err, changes.ErrNothingToUndo) {
				t.Errorf("one more: %v", err)
			}
		})
		runFor(t, rig, &cfg, func(e *engine.Engine) {
			for name, now := range valuesOf(e) {
				if now != before[name] {
					t.Errorf("after all are undone and a resume %s is %s, want %s", name, now, before[name])
				}
			}
		})
	})
}

// All faults of a change are reported at once, and nothing is changed.
func TestSettings_allFaultsAtOnceAndNothingChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig := testbed.MustRig(t, pointsWorld(), true)
		cfg := rig.Config()
		runFor(t, rig, &cfg, func(e *engine.Engine) {
			before := valuesOf(e)
			_, err := e.Operator().ChangeSettings(t.Context(), changes.Request{By: "test", Yes: true, Settings: []string{
				"host-delay=9s", "ip-delay=soon", "scope=hots == 1", "max-pages=-1", "colour=red", "warc-level=3", "tries",
				"fetch=via == ''", "max-depth=3", "max-depth=4", "speculative=maybe",
			}})
			for _, want := range []string{
				`ip-delay: "soon" is no duration`, "scope: filter: ", "unknown name hots", "max-pages: -1 is too small",
				"colour: there is no such setting", "warc-level: it cannot be changed while the crawl runs",
				`"tries": write it as NAME=VALUE`, "fetch: via is known there only to a crawl that keeps it",
				"max-depth: it is given twice", `speculative: "maybe" is none of on, off`,
			} {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%q is not reported: %v", want, err)
				}
			}
			for name, now := range valuesOf(e) {
				if now != before[name] {
					t.Errorf("%s is %s, and was %s", name, now, before[name])
				}
			}
			if n := len(e.Operator().ListSettings().Changes); n != 0 {
				t.Errorf("%d lines in the log of changes", n)
			}
		})
	})
}

// The scope is narrowed in flight. The crawl says what it would drop, and drops it when that is confirmed: no request
// goes to the host any more, also after a resume. The limit of pages is changed in flight, and is exact.
func TestSettings_scopeAndMaxPagesInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig := testbed.MustRig(t, testbed.SmallWorld(*testbed.FirstSeed+910, simweb.Plain()), true)
		cfg := rig.Config()
		cfg.Admission.Requisites = admission.RequisitesOff // they come from all hosts
		var scope, away string
		var after int
		stored := int64(0)
		runFor(t, rig, &cfg, func(e *engine.Engine) {
			testbed.Wait(20 * time.Second)
			op := e.Operator()
			away = busiest(t, e)
			scope = fmt.Sprintf("scope=host != %q", away)
			result, err := op.ChangeSettings(t.Context(), changes.Request{By: "test", Settings: []string{scope}})
			if !errors.Is(err, changes.ErrUnconfirmed) || result.Drops.Dropped == 0 || !result.Drops.Complete ||
				result.Drops.Dropped > result.Drops.Looked || result.Drops.Looked > result.Drops.Queued {
				t.Errorf("unconfirmed: %+v, %v", result.Drops, err)
			}
			if valuesOf(e)["scope"] != "all" {
				t.Error("it was changed without confirmation")
			}
			result, err = op.ChangeSettings(t.Context(), changes.Request{By: "test", Settings: []string{scope}, Yes: true})
			if err != nil || result.Change != 1 {
				t.Fatalf("confirmed: %+v, %v", result, err)
			}
			testbed.Wait(5 * time.Second) // what was under way has ended
			after = rig.Log.Len()
			checkFetchers(t, e)
			r := e.Report()
			stored = r.PagesStored + r.RevisitsStored
			if r.Outcomes["filtered"] == 0 {
				t.Errorf("no URL was dropped: %v", r.Outcomes)
			}
		})
		limit := fmt.Sprintf("max-pages=%d", stored+5)
		runLimited(t, rig, &cfg, limit, stored+5)
		rig.Connect()
		cfg.Limits.MaxPages = 0
		report := rig.MustCrawl(t, cfg, rig.FS)
		testbed.CheckConservation(t, report)
		if report.State != lifecycle.Finished || report.URLsQueued != 0 {
			t.Errorf("%s: %s, %d queued", report.State, report.Reason, report.URLsQueued)
		}
		n := 0
		for a := range rig.Log.All() {
			if n++; n > after && a.Host == away {
				t.Errorf("a request to %s after the change", a.Host)
				break
			}
		}
	})
}

// checkFetchers lowers the number of fetch workers in flight: no more exchanges are under way at a time, and the crawl
// goes on. More than there are is refused.
func checkFetchers(t *testing.T, e *engine.Engine) {
	t.Helper()
	if err := testbed.Set(t, e, "fetchers", "33"); err == nil || !strings.Contains(err.Error(), "at most 32") {
		t.Errorf("more workers than there are: %v", err)
	}
	if err := testbed.Set(t, e, "fetchers", "1"); err != nil {
		t.Error(err)
	}
	testbed.Wait(5 * time.Second) // what was under way has ended
	before := e.Report()
	for range 2000 {
		testbed.Wait(5 * time.Millisecond)
		if n := e.Report().ActiveFetches; n > 1 {
			t.Errorf("%d exchanges at a time with one worker", n)
			return
		}
	}
	if after := e.Report(); after.Attempts == before.Attempts {
		t.Error("no exchange with one worker")
	}
}

// busiest returns the host with the most queued URLs.
func busiest(t *testing.T, e *engine.Engine) string {
	t.Helper()
	answer, err := e.Operator().AnswerQuestion(t.Context(), "hosts", map[string][]string{"limit": {"1"}})
	list, ok := answer.(hosts.List)
	if err != nil || !ok || len(list.Hosts) == 0 {
		t.Fatalf("%+v, %v", answer, err)
	}
	return string(urlx.Host([]byte(list.Hosts[0].Site + "/")))
}

// runLimited runs the crawl with a limit of pages that is given in flight, to its end.
func runLimited(t *testing.T, rig *testbed.Rig, cfg *engine.Config, limit string, want int64) {
	t.Helper()
	e, done := begin(t, rig, cfg)
	testbed.Wait(time.Second)
	_, err := e.Operator().ChangeSettings(t.Context(), changes.Request{By: "test", Settings: []string{limit}})
	if err != nil {
		t.Error(err)
	}
	r := testbed.WaitEnd(t, rig, e, done)
	if n := r.PagesStored + r.RevisitsStored; n != want || r.Reason != lifecycle.ReasonMaxPages {
		t.Errorf("%d pages stored, want %d; %s", n, want, r.Reason)
	}
	if cfg.Limits.MaxPages != want {
		t.Errorf("the limit is not kept: %d", cfg.Limits.MaxPages)
	}
}
