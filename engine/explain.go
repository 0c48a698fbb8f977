package engine

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"orbweaver/engine/admission"
	"orbweaver/engine/filter"
	"orbweaver/engine/layout"
	"orbweaver/engine/settings"
	"orbweaver/engine/urlx"
)

// Explainer tells what would become of URLs, and which rule says so, without a packet and without touching the crawl
// directory. It asks the same filters in the same order as the door and the fetch workers do.
type Explainer struct {
	cfg     Config
	filters *filters
	allowed func(netip.AddrPort) error
	from    ListSources
	seeds   int

	live     *filter.HostRules // that the operator gave, if the directory holds a crawl
	liveFrom filter.Rules
}

// ListSources are the rules that Config.Lists were compiled from, so that the one that decides can be named.
type ListSources struct{ ExcludeHosts, IncludeHosts, SURTs, HostRules filter.Rules }

// Answer is what one check says of a URL.
type Answer string

// The answers.
const (
	Passed    Answer = "passed"
	Refused   Answer = "refused"
	Undecided Answer = "undecided" // it depends on what only the crawl itself can know
	Admitted  Answer = "admitted"  // the verdict if all that can be known beforehand passes
)

// Check is one thing that a URL is held against.
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

// NewExplainer compiles the filters of a crawl. The seeds are those of cfg and, if the directory holds a crawl, its
// own. Of the seams it uses FS, to read, and Allowed.
func NewExplainer(seams Seams, cfg Config, from ListSources) (*Explainer, error) {
	x := &Explainer{cfg: cfg.WithDefaults(), allowed: seams.Allowed, from: from}
	seeds := new(filter.Seeds)
	if err := admission.LoadScope(seams.FS, x.cfg.Dir+"/"+layout.FrontierDir, seeds); err != nil {
		return nil, err
	}
	if cfg.Seeds != nil {
		var batch [][]byte
		err := cfg.Seeds.Each(func(_ string, raw []byte) error {
			if url, err := urlx.Normalize(nil, raw); err == nil { // what is none is told when a crawl begins
				batch = append(batch, url)
			}
			return nil
		})
		if err = errors.Join(err, seeds.AddAll(batch)); err != nil {
			return nil, fmt.Errorf("engine: seeds: %w", err)
		}
	}
	x.seeds = seeds.Hosts()
	var err error
	if x.liveFrom, x.live, err = settings.ReadHostRules(seams.FS, x.cfg.Dir+"/"+layout.FrontierDir); err != nil {
		return nil, err
	}
	x.filters, err = compileFilters(&x.cfg, seeds)
	return x, err
}

// Explain tells what would become of a URL that is so many links away from a seed.
func (x *Explainer) Explain(raw string, depth int) Explanation {
	e := Explanation{URL: raw, Depth: depth, Verdict: Admitted}
	url, err := urlx.Normalize(nil, []byte(raw))
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
		x.door(&e, url)
		x.network(&e, url)
	}
	for _, wanted := range []Answer{Refused, Undecided} {
		for _, c := range e.Checks {
			if e.By == "" && c.Answer == wanted && (wanted == Refused || strings.HasPrefix(c.Name, "--") && c.Name != "--parse" && c.Name != "--store") {
				e.Verdict, e.By = wanted, c.Name
			}
		}
	}
	return e
}

func (e *Explanation) say(name string, a Answer, format string, args ...any) {
	e.Checks = append(e.Checks, Check{name, a, fmt.Sprintf(format, args...)})
}

// verdict is say for who has a bool.
func (e *Explanation) verdict(name string, passed bool, format string, args ...any) {
	a := Refused
	if passed {
		a = Passed
	}
	e.say(name, a, format, args...)
}

// door is what Frontier.check does, one by one, behind what the follow filter does to links.
func (x *Explainer) door(e *Explanation, url []byte) {
	way := filter.Way{Depth: e.Depth}
	switch follow := x.filters.follow; {
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
	if most := x.cfg.Admission.MaxDepth; most >= 0 {
		e.verdict("--max-depth", e.Depth <= most, "%d, at most %d", e.Depth, most)
	} else {
		e.say("--max-depth", Passed, "no limit")
	}
	e.verdict("--max-url", len(url) <= x.cfg.Admission.MaxURL, "%d bytes, at most %d", len(url), x.cfg.Admission.MaxURL)
	x.hostRules(e, urlx.Host(url))
	x.lists(e, url)
	scope, failed := x.filters.scope, x.filters.scope.Errors()
	switch yes := scope.Admits(url, way); {
	case x.seeds == 0 && scope.AboutSeeds():
		e.say("--scope", Undecided, "%s: no seeds are known; give them with --seeds", scope)
	case scope.Errors() > failed:
		e.say("--scope", Refused, "%s: it cannot be evaluated for this URL", scope)
	default:
		e.verdict("--scope", yes, "%s", scope)
	}
	x.repeats(e, url)
}

// strip is what linkFinder.strip does to links.
func (x *Explainer) strip(e *Explanation, url []byte) []byte {
	p := x.cfg.params()
	if p.IsEmpty() {
		return url
	}
	if e.Depth == 0 {
		e.say("--strip-params", Passed, "seeds stay as they are")
		return url
	}
	if url = p.Strip(url); string(url) == e.Normal {
		e.say("--strip-params", Passed, "it has none of them")
	} else {
		e.Normal = string(url)
		e.say("--strip-params", Passed, "it becomes %s", e.Normal)
	}
	return url
}

// repeats is what traps.RepeatsFolders does.
func (x *Explainer) repeats(e *Explanation, url []byte) {
	switch most := x.cfg.Traps.MaxPathRepeats; {
	case most == 0:
	case e.Depth == 0:
		e.say("--max-path-repeats", Passed, "it does not hold for seeds")
	default:
		e.verdict("--max-path-repeats", !urlx.Repeats(url, most), "the same folders in a row, at most %d times", most)
	}
}

// hostRules is what hostRules.terms says.
func (x *Explainer) hostRules(e *Explanation, host []byte) {
	if x.cfg.Filters.HostRules.Len()+x.live.Len() == 0 {
		return
	}
	var t filter.HostSettings
	x.cfg.Filters.HostRules.Find(host, &t)
	x.live.Find(host, &t)
	var says []string
	for _, say := range []string{x.live.Explain(host, x.liveFrom), x.cfg.Filters.HostRules.Explain(host,
		x.from.HostRules)} {
		if say != "" {
			says = append(says, say)
		}
	}
	if len(says) == 0 {
		says = append(says, fmt.Sprintf("none of %d rules fits", x.cfg.Filters.HostRules.Len()+x.live.Len()))
	}
	e.verdict("--host-rules", !t.Exclude, "%s", strings.Join(says, "; "))
}

// lists is what filter.Lists.Refuses does, one by one.
func (x *Explainer) lists(e *Explanation, url []byte) {
	all := &x.cfg.Filters.Lists
	site, _ := urlx.Split(url)
	host := urlx.Host(site)
	if set := all.ExcludeHosts; set != nil {
		e.verdict("--exclude-hosts", !set.Has(host), "%s", ruleNamed(x.from.ExcludeHosts, x.from.ExcludeHosts.FindHost(host), set.Len()))
	}
	if set := all.IncludeHosts; set != nil {
		e.verdict("--include-hosts", set.Has(host), "%s", ruleNamed(x.from.IncludeHosts, x.from.IncludeHosts.FindHost(host), set.Len()))
	}
	if set := all.SURTs; set != nil {
		alone := filter.Lists{SURTs: set}
		e.verdict("--surts", alone.Refuses(url) == filter.NoList, "%s", ruleNamed(x.from.SURTs, x.from.SURTs.FindSURT(url), set.Len()))
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
		return fmt.Sprintf("none of %d rules fits", n)
	}
	return fmt.Sprintf("%s (%s)", from.Texts[i], from.Where(i))
}

// network is what the fetch workers decide just before the request, and what nobody can know before it.
func (x *Explainer) network(e *Explanation, url []byte) {
	if f := x.filters.fetch; f == nil {
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
	e.say("robots.txt", Undecided, "nobody is asked")
	if x.cfg.Traps.Novelty == NoveltyOn {
		e.say("novelty", Undecided, "it depends on what the site's pages have brought")
	}
	if f := x.filters.parse; f != nil {
		e.say("--parse", Undecided, "it depends on the response: %s", f)
	}
	if yes, constant := x.filters.store.Constant(); !constant || !yes {
		e.say("--store", Undecided, "it depends on the response: %s", x.filters.store)
	}
}

// address says of a host that is written as an address whether it may be connected to.
func (x *Explainer) address(e *Explanation, url []byte) {
	addr, err := netip.ParseAddr(string(urlx.Host(url)))
	switch {
	case x.allowed == nil:
		e.say("address", Undecided, "the proxy makes the connections")
	case err != nil:
		e.say("address", Undecided, "no name is resolved")
	default:
		if err := x.allowed(netip.AddrPortFrom(addr, uint16(urlx.Port(url)))); err != nil {
			e.say("address", Refused, "%v", err)
		} else {
			e.say("address", Passed, "%v, port %d", addr, urlx.Port(url))
		}
	}
}
