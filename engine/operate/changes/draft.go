package changes

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"orbweaver/engine/frontier/admission"
	"orbweaver/engine/net/politeness"
	"orbweaver/engine/page/filter"
	"orbweaver/engine/state/limits"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/state/settings"
	"orbweaver/engine/workers/parsers"
)

// draft is what a change puts into force: what is in force now, with new values.
type draft struct {
	values  values
	names   []string // of the settings that have a new value
	seeds   *filter.Seeds
	hasVia  bool
	canDrop bool // a rule of admission or the fetch filter is among them

	policy           politeness.Policy
	bounds           settings.Bounds
	rules            admission.Rules
	pages            parsers.Rules
	fetch            *filter.Fetch
	quotas           limits.QuotaOptions
	exchanges        settings.ExchangeLimits
	exchangesChanged bool
	bodyMaxAtStart   int64 // bytes
	bodyInMemory     int64 // bytes of a body that stay in memory

	inForce *Settings           // to read only
	reads   map[string]int      // rules of the files that were read again, by setting
	later   []func(s *Settings) // after the rest
}

// draft parses and checks texts of the form NAME=VALUE.
func (s *Settings) draft(texts []string) (*draft, error) {
	d := &draft{
		values: s.now.copied(), seeds: s.Seeds, hasVia: s.HasVia, policy: *s.Live.Policy(),
		bounds: *s.Live.Bounds(), rules: *s.Frontier.RulesInForce(), pages: *s.Pages.Load(), fetch: s.Live.Fetch.Load(),
		quotas: s.Quotas.InForce(), exchanges: s.exchanges, bodyMaxAtStart: s.Fetch.BodyMax,
		bodyInMemory: s.Fetch.Long.MemoryMax, inForce: s, reads: map[string]int{},
	}
	var faults []error
	for _, text := range texts {
		name, value, found := strings.Cut(text, "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if !found {
			faults = append(faults, fmt.Errorf("%.80q: write it as NAME=VALUE, such as host-delay=10s", text))
		} else if err := s.set(d, name, value); err != nil {
			faults = append(faults, fmt.Errorf("%.80s: %w", name, err))
		}
	}
	if len(texts) == 0 {
		faults = append(faults, errors.New("no setting is given: write it as NAME=VALUE, such as host-delay=10s"))
	}
	if len(faults) == 0 {
		faults = append(faults, d.values.config.Validate())
	}
	return d, errors.Join(faults...)
}

// set gives a setting of a draft a new value.
func (s *Settings) set(d *draft, name, value string) error {
	at := slices.IndexFunc(s.rows, func(r row) bool { return r.name == name })
	switch {
	case at >= 0:
	case s.now.isFlag(name) || fixed()[name] != "":
		return fixedFault(name, fixed()[name])
	default:
		return errors.New("there is no such setting; 'ctl set' lists those that can be changed")
	}
	if slices.Contains(d.names, name) {
		return errors.New("it is given twice")
	}
	d.names = append(d.names, name)
	v := d.values.get(name)
	parse := v.Set
	if s.rows[at].isFile {
		parse = func(value string) error { return checkFiles(v, value) }
	}
	if err := parse(value); err != nil {
		return err
	}
	d.canDrop = d.canDrop || s.rows[at].decidesAdmission || s.rows[at].decidesFetch
	return s.rows[at].set(d, v)
}

// isFlag reports whether a name is that of a flag.
func (v *values) isFlag(name string) bool {
	s, ok := v.find(name)
	return ok && s.Tag.Get("help") != ""
}

// changeLists changes the lists of hosts, prefixes and extensions.
func (d *draft) changeLists(change func(l *filter.Lists)) {
	var lists filter.Lists
	if d.rules.Lists != nil {
		lists = *d.rules.Lists
	}
	change(&lists)
	if d.rules.Lists = &lists; lists.IsEmpty() {
		d.rules.Lists = nil
	}
}

// keeps reports whether a queued URL is fetched if the draft is in force. It borrows its arguments.
func (d *draft) keeps(url []byte, it *queued.URL) bool {
	return d.rules.KeepsQueued(url, it) && (d.fetch == nil ||
		d.fetch.Allows(url, filter.Way{Depth: it.Depth, Embeds: it.Embeds, Hops: it.Redirects}, it.Tries, it.Via))
}

// apply puts the draft into force.
func (d *draft) apply(s *Settings) {
	s.Live.ChangePolicy(func(p *politeness.Policy) { *p = d.policy })
	s.Live.ChangeBounds(func(b *settings.Bounds) { *b = d.bounds })
	s.Frontier.SetRules(d.rules)
	s.Live.Lists.Store(d.rules.Lists)
	s.Live.Fetch.Store(d.fetch)
	if d.canDrop {
		s.checkAgain()
	}
	if err := s.Quotas.Change(d.quotas, s.Recount); err != nil {
		s.Say.Warn("the sites of domains and addresses could not be counted: their limits may be exceeded", "error", err)
	}
	if d.pages != *s.Pages.Load() {
		s.Pages.Store(&d.pages)
	}
	if d.exchangesChanged {
		s.exchanges = d.exchanges
		s.Live.Exchanges.Store(&d.exchanges)
	}
	for _, f := range d.later {
		f(s)
	}
	s.Wake()
}
