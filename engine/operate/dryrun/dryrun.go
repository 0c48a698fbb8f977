package dryrun

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"orbweaver/engine/frontier/admission"
	"orbweaver/engine/frontier/mining"
	"orbweaver/engine/frontier/order"
	"orbweaver/engine/page/filter"
	"orbweaver/engine/page/hook"
	"orbweaver/engine/state/layout"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/state/settings"
	"orbweaver/engine/traps"
	"orbweaver/internal/plural"
	"orbweaver/internal/urlx"
	"orbweaver/internal/vfs"
)

// Explainer says what would become of URLs, and which rule decides. It sends no packet and does not change the crawl
// directory. It asks the same filters in the same order as admission and the fetch workers do.
type Explainer struct {
	o       Options
	filters *filter.Filters
	order   order.Policy
	seeds   int // hosts of seeds

	live     *filter.HostRules // that the operator gave, if the directory holds a crawl
	liveFrom filter.Rules
}

// Options are the configuration of the crawl.
type Options struct {
	FS        vfs.FS
	Dir       string               // crawl directory; it need not hold a crawl
	Seeds     admission.SeedSource // beside those of the directory; nil for none
	Filters   filter.Options
	Sources   Sources
	HasVia    bool // the crawl keeps which page linked to a URL
	Admission admission.Options
	Traps     traps.Options
	Order     order.Options
	Mining    mining.Options
	Hook      hook.Options
	// Allowed says whether an address and port may be connected to; nil if a proxy makes the connections.
	Allowed func(netip.AddrPort) error
}

// Sources are the rules that the lists of Options.Filters were compiled from, to name the rule that decides.
type Sources struct{ ExcludeHosts, IncludeHosts, SURTs, HostRules filter.Rules }

// Answer is what one check says of a URL.
type Answer string

// The answers.
const (
	Passed    Answer = "passed"
	Refused   Answer = "refused"
	Undecided Answer = "undecided" // it depends on what only the crawl itself can know
	Admitted  Answer = "admitted"  // the verdict if all that can be known beforehand passes
)

// Check is the result of one check of a URL.
type Check struct {
	Name   string `json:"check"` // the flag, where there is one
	Answer Answer `json:"answer"`
	Says   string `json:"says"` // which rule, and where it stands
}

// Explanation says what would become of a URL.
type Explanation struct {
	URL     string  `json:"url"` // as it was given
	Normal  string  `json:"normal_form,omitempty"`
	Depth   int     `json:"depth"`
	Verdict Answer  `json:"verdict"`
	By      string  `json:"by,omitempty"` // the first check that refuses or, if none does, that cannot be decided
	Checks  []Check `json:"checks"`
}

// New compiles the filters of a crawl, with the seeds of Options and of the crawl directory.
func New(o Options) (*Explainer, error) {
	x, seeds := &Explainer{o: o, order: order.New(o.Order, 0, nil)}, new(filter.Seeds)
	frontier := o.Dir + "/" + layout.FrontierDir
	if err := admission.LoadScope(o.FS, frontier, seeds); err != nil {
		return nil, err
	}
	if o.Seeds != nil {
		var batch [][]byte
		err := o.Seeds.Each(func(_ string, raw []byte) error {
			// The log of the crawl names those that are no URLs.
			if url, err := urlx.Normalize(nil, admission.CompleteSeed(raw)); err == nil {
				batch = append(batch, url)
			}
			return nil
		})
		if err = errors.Join(err, seeds.AddAll(batch)); err != nil {
			return nil, fmt.Errorf("dryrun: seeds: %w", err)
		}
	}
	x.seeds = seeds.Hosts()
	var err error
	if x.liveFrom, x.live, err = settings.ReadHostRules(o.FS, frontier); err != nil {
		return nil, err
	}
	if x.o.Filters.HostRules == nil {
		x.o.Filters.HostRules = new(filter.HostRules)
	}
	x.filters, err = filter.Compile(&o.Filters, seeds, o.HasVia)
	return x, err
}

// Explain says what would become of a URL that is depth links away from a seed.
func (x *Explainer) Explain(raw string, depth int) Explanation {
	e := Explanation{URL: raw, Depth: depth, Verdict: Admitted}
	url, err := urlx.Normalize(nil, admission.CompleteSeed([]byte(raw)))
	switch {
	case errors.Is(err, urlx.ErrScheme):
		e.say("syntax", Passed, "it begins with a scheme")
		e.say("scheme", Refused, "%s", urlx.Reason(err))
	case err != nil:
		e.say("syntax", Refused, "%s", urlx.Reason(err))
	default:
		e.Normal = string(url)
		e.say("syntax", Passed, "normal form %s", e.Normal)
		e.say("scheme", Passed, "http or https")
		url = x.strip(&e, url)
		x.admission(&e, url)
		x.network(&e, url)
		x.turn(&e, url)
		x.later(&e, url)
	}
	e.decide()
	return e
}

// decide derives the verdict from the checks.
func (e *Explanation) decide() {
	e.Verdict, e.By = Admitted, ""
	for _, wanted := range []Answer{Refused, Undecided} {
		for _, c := range e.Checks {
			if e.By == "" && c.Answer == wanted && (wanted == Refused || c.decidesAdmission()) {
				e.Verdict, e.By = wanted, c.Name
			}
		}
	}
}

// Settle replaces the answer of a check by what the crawl itself knows.
func (e *Explanation) Settle(check string, a Answer, says string) {
	for i := range e.Checks {
		if e.Checks[i].Name == check {
			e.Checks[i].Answer, e.Checks[i].Says = a, says
		}
	}
	e.decide()
}

// decidesAdmission says that a check is a flag, and not one about the response or the order.
func (c *Check) decidesAdmission() bool {
	others := []string{"--parse", "--store", "--visit", "--score", "--mine", "--stat", "--hook"}
	return strings.HasPrefix(c.Name, "--") && !slices.Contains(others, c.Name)
}

func (e *Explanation) say(name string, a Answer, format string, args ...any) {
	e.Checks = append(e.Checks, Check{name, a, fmt.Sprintf(format, args...)})
}

// verdict is say for a check that passes or refuses.
func (e *Explanation) verdict(name string, passed bool, format string, args ...any) {
	a := Refused
	if passed {
		a = Passed
	}
	e.say(name, a, format, args...)
}

// admission is what admission.Frontier checks, in its order, after the follow filter of links.
func (x *Explainer) admission(e *Explanation, url []byte) {
	way := filter.Way{Depth: e.Depth}
	switch follow := x.filters.Follow; {
	case e.Depth == 0:
		e.say("--follow", Passed, "seeds are no links of a page")
	case follow == nil:
		e.say("--follow", Passed, filter.All)
	default:
		if yes, constant := follow.Constant(); constant {
			e.verdict("--follow", yes, "%s", follow)
		} else {
			e.say("--follow", Undecided, "it depends on page and link: %s", follow)
		}
	}
	if most := x.o.Admission.MaxDepth; most >= 0 {
		e.verdict("--max-depth", e.Depth <= most, "%d, at most %d", e.Depth, most)
	} else {
		e.say("--max-depth", Passed, "no limit")
	}
	e.verdict("--max-url", len(url) <= x.o.Admission.MaxURL, "%d bytes, at most %d", len(url), x.o.Admission.MaxURL)
	x.lists(e, url)
	x.hostRules(e, urlx.Host(url))
	scope, failed := x.filters.Scope, x.filters.Scope.Errors()
	switch yes := scope.Admits(url, way); {
	case x.seeds == 0 && scope.AboutSeeds() && e.Depth == 0:
		e.say("--scope", Passed, "%s: no seeds are known, so the URL counts as one", scope)
	case x.seeds == 0 && scope.AboutSeeds():
		e.say("--scope", Undecided, "%s: no seeds are known; give them with --seeds", scope)
	case scope.Errors() > failed:
		e.say("--scope", Refused, "%s: it cannot be evaluated for this URL", scope)
	default:
		e.verdict("--scope", yes, "%s", scope)
	}
	x.repeats(e, url)
}

// strip is what links.Finder does to links.
func (x *Explainer) strip(e *Explanation, url []byte) []byte {
	p := x.o.Admission.Params()
	if p == nil {
		return url
	}
	name := "--strip-params"
	if x.o.Admission.NormalForm != urlx.WHATWG {
		name = "--normal-form"
	}
	if e.Depth == 0 {
		e.say(name, Passed, "seeds stay as they are")
		return url
	}
	if url = p.Strip(url); string(url) == e.Normal {
		e.say(name, Passed, "it stays as it is")
	} else {
		e.Normal = string(url)
		e.say(name, Passed, "it becomes %s", e.Normal)
	}
	return url
}

// repeats is what traps.RepeatsFolders does.
func (x *Explainer) repeats(e *Explanation, url []byte) {
	switch most := x.o.Traps.MaxPathRepeats; {
	case most == 0:
	case e.Depth == 0:
		e.say("--max-path-repeats", Passed, "it does not hold for seeds")
	default:
		e.verdict("--max-path-repeats", !urlx.Repeats(url, most), "the same folders in a row, at most %d times", most)
	}
}

// hostRules is what settings.HostRules.Terms says.
func (x *Explainer) hostRules(e *Explanation, host []byte) {
	if x.o.Filters.HostRules.Len()+x.live.Len() == 0 {
		return
	}
	var t filter.HostSettings
	x.o.Filters.HostRules.Find(host, &t)
	x.live.Find(host, &t)
	var says []string
	for _, say := range []string{x.live.Explain(host, x.liveFrom), x.o.Filters.HostRules.Explain(host,
		x.o.Sources.HostRules)} {
		if say != "" {
			says = append(says, say)
		}
	}
	if len(says) == 0 {
		says = append(says, noRuleOf(x.o.Filters.HostRules.Len()+x.live.Len()))
	}
	e.verdict("--host-rules", !t.Exclude, "%s", strings.Join(says, "; "))
}

// lists is what filter.Lists.Refuses does, list by list.
func (x *Explainer) lists(e *Explanation, url []byte) {
	all, from := &x.o.Filters.Lists, &x.o.Sources
	site, _ := urlx.Split(url)
	host := urlx.Host(site)
	if set := all.ExcludeHosts; set != nil {
		e.verdict(
			"--exclude-hosts", !set.Has(host), "%s", ruleNamed(from.ExcludeHosts, from.ExcludeHosts.FindHost(host), set.Len()),
		)
	}
	if set := all.IncludeHosts; set != nil {
		e.verdict(
			"--include-hosts", set.Has(host), "%s", ruleNamed(from.IncludeHosts, from.IncludeHosts.FindHost(host), set.Len()),
		)
	}
	if set := all.SURTs; set != nil {
		alone := filter.Lists{SURTs: set}
		rule := ruleNamed(from.SURTs, from.SURTs.FindSURT(url), set.Len())
		e.verdict("--surts", alone.Refuses(url) == filter.NoList, "%s", rule)
	}
	if set := all.ExcludeExtensions; set != nil {
		alone := filter.Lists{ExcludeExtensions: set}
		if name := filter.Extension(url); name == "" {
			e.say("--exclude-extensions", Passed, "the path has none")
		} else {
			e.verdict("--exclude-extensions", alone.Refuses(url) == filter.NoList, "%s", name)
		}
	}
}

// ruleNamed names a rule and its place.
func ruleNamed(from filter.Rules, i, n int) string {
	if i < 0 {
		return noRuleOf(n)
	}
	return fmt.Sprintf("%s (%s)", from.Texts[i], from.Where(i))
}

// network is what the fetch workers decide before the request, and what cannot be known before it.
func (x *Explainer) network(e *Explanation, url []byte) {
	if f := x.filters.Fetch; f == nil {
		e.say("--fetch", Passed, filter.All)
	} else if f.AsksVia() {
		e.say("--fetch", Undecided, "it depends on the page that leads there: %s", f)
	} else {
		failed := f.Errors()
		yes := f.Allows(url, filter.Way{Depth: e.Depth}, 0, nil)
		if f.Errors() > failed {
			e.say("--fetch", Refused, "%s: it cannot be evaluated for this URL", f)
		} else {
			e.verdict("--fetch", yes, "%s", f)
		}
	}
	e.say("seen before", Undecided, "the frontier is not asked")
	x.address(e, url)
	e.say("robots.txt", Undecided, "it is not requested")
	if x.o.Traps.Novelty == traps.NoveltyOn {
		e.say("novelty", Undecided, "it depends on what the site's pages have brought")
	}
	if f := x.filters.Parse; f != nil {
		e.say("--parse", Undecided, "it depends on the response: %s", f)
	}
	if yes, constant := x.filters.Store.Constant(); !constant || !yes {
		e.say("--store", Undecided, "it depends on the response: %s", x.filters.Store)
	}
}

// turn says what the order of visits does with a URL.
func (x *Explainer) turn(e *Explanation, url []byte) {
	isSeed := e.Depth == 0
	switch p := x.order.Explain(&queued.URL{Rest: url, Depth: e.Depth, Seed: isSeed}, isSeed); {
	case p.Class > 0:
		e.say("--visit", Passed, "%s: class %d of %d by %s", p.Visit, p.Class, p.Classes, p.By)
	case p.Classes > 0:
		e.say("--visit", Passed, "%s: %s decides about its class", p.Visit, p.By)
	case x.order.HasQueues():
		e.say("--visit", Passed, "%s: the weight of its domain decides", p.Visit)
	}
	switch score := x.o.Filters.Score; {
	case score == "":
	case isSeed:
		e.say("--score", Passed, "seeds have none, and come first")
	default:
		e.say("--score", Undecided, "it depends on page and link: %s", score)
	}
}

// shownMost is how many mined URLs are named.
const shownMost = 3

// later says what is done with the response.
func (x *Explainer) later(e *Explanation, url []byte) {
	if miner := mining.New(x.o.Mining); miner.IsOn() {
		var made []string
		all := func([]byte) bool { return true }
		miner.Mine(url, func(func([]byte)) {}, all, func(url []byte) { made = append(made, string(url)) })
		says := fmt.Sprintf("its page leads to %s more", plural.Count(len(made), "URL"))
		if shown := made[:min(len(made), shownMost)]; len(shown) > 0 {
			says += ", after all others of the site: " + strings.Join(shown, " ")
		}
		e.say("--mine", Passed, "%s", says)
	}
	if stats := x.o.Filters.Stats; len(stats) > 0 {
		e.say("--stat", Undecided, "it depends on the response: %s", strings.Join(stats, "; "))
	}
	if hooks := x.o.Hook.Hooks; len(hooks) > 0 {
		e.say("--hook", Undecided, "a program is asked: %s", strings.Join(hooks, "; "))
	}
}

// address says of a host that is written as an address whether it may be connected to.
func (x *Explainer) address(e *Explanation, url []byte) {
	addr, err := netip.ParseAddr(string(urlx.Host(url)))
	switch {
	case x.o.Allowed == nil:
		e.say("address", Undecided, "the proxy makes the connections")
	case err != nil:
		e.say("address", Undecided, "no name is resolved")
	default:
		if err := x.o.Allowed(netip.AddrPortFrom(addr, uint16(urlx.Port(url)))); err != nil {
			e.say("address", Refused, "%v", err)
		} else {
			e.say("address", Passed, "%v, port %d", addr, urlx.Port(url))
		}
	}
}

// noRuleOf says that no rule of a list of n is about a URL.
func noRuleOf(n int) string {
	if n == 1 {
		return "the only rule does not fit"
	}
	return fmt.Sprintf("none of %d rules fits", n)
}
