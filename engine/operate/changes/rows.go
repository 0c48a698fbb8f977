package changes

import (
	"fmt"
	"slices"
	"time"

	"orbweaver/engine/frontier/admission"
	"orbweaver/engine/frontier/order"
	"orbweaver/engine/net/bandwidth"
	"orbweaver/engine/net/politeness"
	"orbweaver/engine/page/filter"
	"orbweaver/engine/state/limits"
	"orbweaver/engine/state/settings"
	"orbweaver/engine/traps"
	"orbweaver/internal/options"
	"orbweaver/internal/urlx"
)

// row is a setting that can be changed. Its name is that of the flag; parsing, range, default and help are those of the
// field of the flag.
type row struct {
	name string
	// set puts a value, which is in its range, into a draft. The error says what else is wrong with it.
	set func(d *draft, v options.Setting) error

	isFile           bool   // the value is the name of a file, which is read again
	noFile           string // a value that is none, if isFile
	decidesAdmission bool   // a queued URL may be refused under another value: see admission.Rules.KeepsQueued
	decidesFetch     bool   // the same, and each queued URL is asked for before its request in any case
}

// Names are the settings that a running crawl can change, except those of its program.
func Names() (names []string) {
	for _, r := range rows() {
		names = append(names, r.name)
	}
	slices.Sort(names)
	return names
}

// rows are all settings that can be changed.
func rows() []row {
	list := []row{
		{name: "host-delay", set: ofPolicy(func(p *politeness.Policy, v options.Setting) { p.HostDelay = duration(v) })},
		{name: "ip-delay", set: ofPolicy(func(p *politeness.Policy, v options.Setting) { p.IPDelay = duration(v) })},
		{name: "crawl-delay-max", set: ofPolicy(func(p *politeness.Policy, v options.Setting) {
			p.CrawlDelayMax = duration(v)
		})},
		{name: "tries", set: ofPolicy(func(p *politeness.Policy, v options.Setting) { p.Tries = int(v.Value.Int()) })},
		{name: "max-per-host", set: ofBounds(func(b *settings.Bounds, v options.Setting) {
			b.MaxPerHost = int(v.Value.Int())
		})},
		{name: "give-up", set: ofBounds(func(b *settings.Bounds, v options.Setting) { b.GiveUp = duration(v) })},
		{name: "stall-wait", set: ofBounds(func(b *settings.Bounds, v options.Setting) { b.StallWait = duration(v) })},
		{name: "fetchers", set: setFetchers},
		{name: "max-pages", set: later(setMaxPages)},
		{name: "max-time", set: setMaxTime},
		{name: "max-disk", set: later(func(s *Settings, v options.Setting) { s.Limits.SetMaxDisk(v.Value.Int()) })},
		{name: "max-per-domain", set: ofQuotas(func(q *limits.QuotaOptions, n int) { q.PagesPerDomain = n })},
		{name: "max-hosts-per-domain", set: ofQuotas(func(q *limits.QuotaOptions, n int) { q.HostsPerDomain = n })},
		{name: "max-hosts-per-ip", set: ofQuotas(func(q *limits.QuotaOptions, n int) { q.HostsPerAddr = n })},
		{name: "connect-timeout", set: ofExchanges(func(e *settings.ExchangeLimits, v options.Setting) {
			e.Connect = duration(v)
		})},
		{name: "response-timeout", set: ofExchanges(func(e *settings.ExchangeLimits, v options.Setting) {
			e.Response = duration(v)
		})},
		{name: "exchange-timeout", set: ofExchanges(func(e *settings.ExchangeLimits, v options.Setting) {
			e.Exchange = duration(v)
		})},
		{name: "slow-body-timeout", set: ofExchanges(func(e *settings.ExchangeLimits, v options.Setting) {
			e.Slow = duration(v)
		})},
		{name: "max-body", set: setMaxBody},
		{name: "visit", set: setVisit},
		{name: bandwidth.Total, set: later(setBandwidth)},
		{name: bandwidth.PerHost, set: later(setBandwidth)},
		{name: "checkpoint", set: later(func(s *Settings, v options.Setting) { s.Checkpoints.SetPeriod(duration(v)) })},
		{name: "novelty", set: later(setTraps)},
		{name: "trap-floor", set: later(setTraps)},
		{name: "max-path-repeats", set: later(setTraps)},
		{name: "workbench-memory", set: later(func(s *Settings, v options.Setting) {
			s.Workbench.Memory().SetMax(v.Value.Int())
		})},
	}
	return slices.Concat(list, filterRows(), fileRows())
}

// filterRows are the settings that decide about URLs, links and pages.
func filterRows() []row {
	return []row{
		{name: "scope", set: setScope, decidesAdmission: true},
		{name: "max-depth", set: func(d *draft, v options.Setting) error {
			d.rules.MaxDepth = int(v.Value.Int())
			return nil
		}, decidesAdmission: true},
		{name: "max-url", set: func(d *draft, v options.Setting) error {
			d.rules.MaxURL = int(v.Value.Int())
			d.pages.Links.Longest = d.rules.MaxURL
			return nil
		}, decidesAdmission: true},
		{name: "fetch", set: setFetch, decidesFetch: true},
		{name: "exclude-extensions", set: setExtensions, decidesAdmission: true},
		{name: "requisites", set: setRequisites},
		{name: "parse", set: setParse},
		{name: "follow", set: setFollow},
		{name: "store", set: setStore},
		{name: "nofollow", set: ofPages(func(d *draft, v options.Setting) { d.pages.Links.Nofollow = v.Value.Bool() })},
		{name: "forms", set: ofPages(func(d *draft, v options.Setting) { d.pages.Links.Forms = v.Value.Bool() })},
		{name: "sitemaps", set: ofPages(func(d *draft, v options.Setting) { d.pages.Links.Sitemaps = v.Value.Bool() })},
		{name: "speculative", set: ofPages(func(d *draft, v options.Setting) {
			d.pages.Links.Speculative = admission.SpeculativeMode(v.Value.Uint()) == admission.SpeculativeOn
		})},
		{name: "pdf-links", set: ofPages(func(d *draft, v options.Setting) {
			d.pages.Links.PDF = admission.PDFLinksMode(v.Value.Uint()) == admission.PDFLinksOn
		})},
		{name: "strip-params", set: setStripParams},
	}
}

func duration(v options.Setting) time.Duration { return time.Duration(v.Value.Int()) }

func ofPolicy(change func(p *politeness.Policy, v options.Setting)) func(*draft, options.Setting) error {
	return func(d *draft, v options.Setting) error {
		change(&d.policy, v)
		return nil
	}
}

func ofBounds(change func(b *settings.Bounds, v options.Setting)) func(*draft, options.Setting) error {
	return func(d *draft, v options.Setting) error {
		change(&d.bounds, v)
		return nil
	}
}

func ofExchanges(change func(e *settings.ExchangeLimits, v options.Setting)) func(*draft, options.Setting) error {
	return func(d *draft, v options.Setting) error {
		d.exchangesChanged = true
		change(&d.exchanges, v)
		return nil
	}
}

// setMaxBody changes the limit of bodies. The buffers of a run that began with a small limit are small.
func setMaxBody(d *draft, v options.Setting) error {
	most := v.Value.Int()
	if min(most, d.bodyInMemory) > d.bodyMaxAtStart {
		return fmt.Errorf("at most %d bytes in this run, whose buffers are for bodies of its start: "+
			"stop the crawl, and give --max-body when you resume it", d.bodyMaxAtStart)
	}
	d.exchangesChanged, d.exchanges.BodyMax = true, most
	return nil
}

// setVisit changes the order of what is queued from now on.
func setVisit(d *draft, v options.Setting) error {
	visit, ok := v.Value.Interface().(order.Visit)
	if !ok {
		panic("BUG: changes: visit is no order.Visit")
	}
	if err := d.inForce.Distributor.Order().AllowsChange(visit); err != nil {
		return err
	}
	d.later = append(d.later, func(s *Settings) { s.Distributor.Order().Change(visit) })
	return nil
}

func ofQuotas(change func(q *limits.QuotaOptions, n int)) func(*draft, options.Setting) error {
	return func(d *draft, v options.Setting) error {
		change(&d.quotas, int(v.Value.Int()))
		return nil
	}
}

func ofPages(change func(d *draft, v options.Setting)) func(*draft, options.Setting) error {
	return func(d *draft, v options.Setting) error {
		change(d, v)
		return nil
	}
}

// later is for a component that is changed by a call.
func later(change func(s *Settings, v options.Setting)) func(*draft, options.Setting) error {
	return func(d *draft, v options.Setting) error {
		d.later = append(d.later, func(s *Settings) { change(s, v) })
		return nil
	}
}

// setMaxPages changes the limit of pages. Sites that waited for requisites, since it was reached, take part again.
func setMaxPages(s *Settings, v options.Setting) {
	if s.Limits.SetMaxPages(v.Value.Int()) {
		s.Workbench.DueTimes().EndHolds()
	}
}

// setMaxTime changes the limit of time. A date that has passed is refused: it is most likely a mistake.
func setMaxTime(d *draft, v options.Setting) error {
	most, ok := v.Value.Interface().(limits.Term)
	if !ok {
		panic("BUG: changes: max-time is no limits.Term")
	}
	if most.IsPast() {
		return fmt.Errorf("%s has passed: 'ctl stop' ends the crawl now", most)
	}
	d.later = append(d.later, func(s *Settings) { s.Limits.SetMaxTime(most) })
	return nil
}

// setTraps changes what is taken for a trap, from all of its settings.
func setTraps(s *Settings, _ options.Setting) {
	s.Traps.Change(&traps.Options{
		Novelty:        traps.NoveltyMode(s.now.get("novelty").Value.Uint()),
		TrapFloor:      int(s.now.get("trap-floor").Value.Int()),
		MaxPathRepeats: int(s.now.get("max-path-repeats").Value.Int()),
	})
}

func setBandwidth(s *Settings, v options.Setting) {
	if err := s.Live.Bandwidth.Set(v.Name, v.Value.Int()); err != nil {
		panic("BUG: changes: " + err.Error()) // the range was checked
	}
}

// setFetchers changes the number of active fetch workers, up to the number of workers that there are.
func setFetchers(d *draft, v options.Setting) error {
	n := v.Value.Int()
	if n > d.inForce.fetchersMost {
		return fmt.Errorf("at most %d in this run, as at its start: stop the crawl, and give --fetchers when you resume it",
			d.inForce.fetchersMost)
	}
	d.later = append(d.later, func(s *Settings) { s.Network.SetWorkers(int(n)) })
	return nil
}

func setScope(d *draft, v options.Setting) (err error) {
	d.rules.Scope, err = filter.CompileScope(v.Value.String(), d.seeds)
	return err
}

// setExtensions changes the list of excluded extensions.
func setExtensions(d *draft, v options.Setting) (err error) {
	var extensions *filter.Extensions
	if list := v.Strings(); len(list) > 0 {
		extensions, err = filter.CompileExtensions(list)
	}
	d.changeLists(func(l *filter.Lists) { l.ExcludeExtensions = extensions })
	return err
}

// setRequisites says which page requisites are admitted from now on.
func setRequisites(d *draft, v options.Setting) error {
	d.rules.Requisites = admission.Requisites(v.Value.Uint())
	with := d.rules.Requisites != admission.RequisitesOff
	d.pages.Links.Requisites = with
	d.later = append(d.later, func(s *Settings) { s.Limits.SetWithRequisites(with) })
	return nil
}

func setFetch(d *draft, v options.Setting) error {
	f, err := filter.CompileFetch(v.Value.String(), d.seeds)
	if err == nil && f.AsksVia() && !d.hasVia {
		err = filter.ErrViaUnknown
	}
	if err != nil {
		return err
	}
	if d.fetch = f; isAll(f.Constant()) {
		d.fetch = nil
	}
	return nil
}

func setParse(d *draft, v options.Setting) error {
	f, err := filter.CompileParse(v.Value.String(), d.seeds)
	if err != nil {
		return err
	}
	if d.pages.Links.By.Parse = f; isAll(f.Constant()) {
		d.pages.Links.By.Parse = nil
	}
	return nil
}

func setFollow(d *draft, v options.Setting) error {
	f, err := filter.CompileFollow(v.Value.String(), d.seeds)
	if err != nil {
		return err
	}
	if d.pages.Links.By.Follow = f; isAll(f.Constant()) {
		d.pages.Links.By.Follow = nil
	}
	return nil
}

func setStore(d *draft, v options.Setting) error {
	f, err := filter.CompileStore(v.Value.String(), d.seeds)
	if err == nil && f.AsksVia() && !d.hasVia {
		err = filter.ErrViaUnknown
	}
	if err != nil {
		return err
	}
	d.pages.Store = f
	return nil
}

func isAll(answer, isConstant bool) bool { return isConstant && answer }

func setStripParams(d *draft, v options.Setting) error {
	form := urlx.WHATWG
	if p := d.pages.Links.Strip; p != nil {
		form = p.Form()
	}
	var list []string
	if v.Text() != "" {
		list = v.Strings()
	}
	params, err := urlx.NewParams(list)
	if err != nil {
		return err
	}
	d.pages.Links.Strip = nil
	if len(list) > 0 || form != urlx.WHATWG {
		d.pages.Links.Strip = params.As(form)
	}
	return nil
}
