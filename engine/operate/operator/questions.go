package operator

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"orbweaver/engine/frontier/order"
	"orbweaver/engine/frontier/sites"
	"orbweaver/engine/operate/changes"
	"orbweaver/engine/operate/explain"
	"orbweaver/engine/operate/hosts"
	"orbweaver/engine/operate/logreport"
	"orbweaver/engine/page/filter"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/store/receipts"
	"orbweaver/internal/urlx"
)

// ErrQuestion says that a question or its parameters are wrong.
var ErrQuestion = errors.New("no such question")

// A question answers with something that has a form in JSON.
type question struct {
	params []string // that it takes
	answer func(o *Operator, ctx context.Context, p params) (any, error)
}

// questions are what an operator may ask, by name. engine/operate/control has an endpoint for each.
func questions() map[string]question {
	return map[string]question{
		"hosts":  {[]string{"sort", "suffix", "state", "limit"}, (*Operator).hostList},
		"queue":  {[]string{"host", "limit"}, (*Operator).hostQueues},
		"seeds":  {[]string{"sort", "state", "outcome", "suffix", "limit"}, (*Operator).seedList},
		"active": {[]string{"limit"}, (*Operator).active},

		"failures": {[]string{"limit"}, (*Operator).failures},
		"domains":  {[]string{"limit"}, (*Operator).domains},
		"doctor":   {nil, (*Operator).diagnose},
		"match":    {[]string{"rule"}, (*Operator).matchRule},
		"explain":  {[]string{"url", "whole-log"}, (*Operator).explainURL},
	}
}

// AnswerQuestion answers a question. The error wraps ErrQuestion if there is none of this name or if it does not take a
// parameter, and hosts.ErrUnknown if the crawl does not know a host.
func (o *Operator) AnswerQuestion(ctx context.Context, name string, values map[string][]string) (any, error) {
	q, ok := questions()[name]
	if !ok {
		return nil, fmt.Errorf("%w: %.100q", ErrQuestion, name)
	}
	for key, all := range values {
		if !slices.Contains(q.params, key) || len(all) != 1 {
			return nil, fmt.Errorf("%w: %s takes %v, each once, and not %.100q", ErrQuestion, name, q.params, key)
		}
	}
	return q.answer(o, ctx, params{values})
}

// params are the parameters of a question.
type params struct{ values map[string][]string }

// text returns a parameter; "" if it is not given.
func (p params) text(key string) string {
	if all := p.values[key]; len(all) > 0 {
		return all[0]
	}
	return ""
}

// number returns a parameter; def if it is not given.
func (p params) number(key string, def int) (int, error) {
	text := p.text(key)
	if text == "" {
		return def, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("%w: %s: %.100q is not a number", ErrQuestion, key, text)
	}
	return n, nil
}

// hostList answers with hosts.List.
func (o *Operator) hostList(ctx context.Context, p params) (any, error) {
	limit, err := p.number("limit", 0)
	if err != nil {
		return nil, err
	}
	return o.hosts.List(ctx, hosts.Query{
		Sort: hosts.Order(p.text("sort")), Suffix: p.text("suffix"), State: p.text("state"), Limit: limit,
	})
}

// hostQueues answers with hosts.Queues.
func (o *Operator) hostQueues(ctx context.Context, p params) (any, error) {
	limit, err := p.number("limit", 20)
	if err != nil {
		return nil, err
	}
	return o.hosts.Queues(ctx, p.text("host"), limit)
}

// matchRule answers with hosts.Match.
func (o *Operator) matchRule(ctx context.Context, p params) (any, error) {
	return o.hosts.Match(ctx, p.text("rule"))
}

// failures answers with logreport.FailureList.
func (o *Operator) failures(ctx context.Context, p params) (any, error) {
	limit, err := p.number("limit", 20)
	if err != nil {
		return nil, err
	}
	o.parts.Disk.Log.Flush()
	return logreport.ListFailures(ctx, o.parts.FS, o.parts.Dir, limit)
}

// Domains is the answer to the question domains.
type Domains struct {
	Domains []order.Place `json:"domains"` // with queued URLs, those with the largest weights first
}

// domains answers with Domains. The order knows domains by their hashes, so their names come from the queued URLs.
func (o *Operator) domains(_ context.Context, p params) (any, error) {
	limit, err := p.number("limit", 20)
	if err != nil {
		return nil, err
	}
	queues, answer := sites.NewDiskQueues(o.parts.Disk.SiteQueues), Domains{Domains: []order.Place{}}
	for _, place := range o.parts.Distributor.Order().Largest(min(max(limit, 1), domainsMost)) {
		_, err := queues.PeekOrdered(place.Queue, 0, 1, func(item []byte) {
			it := queued.MustDecode(item)
			place.Domain = string(filter.Domain(urlx.Host(it.Rest)))
		})
		if err != nil {
			return nil, err
		}
		if place.Domain != "" { // else its last URL was taken just now
			answer.Domains = append(answer.Domains, place)
		}
	}
	return answer, nil
}

// domainsMost is how many domains are in one answer.
const domainsMost = 300

// Active is the answer to the question active.
type Active struct {
	Exchanges []Exchange `json:"exchanges"` // the oldest first
	Busy      int64      `json:"busy"`      // workers in an exchange
	Fetchers  int        `json:"fetchers"`  // all workers
}

// Exchange is one exchange under way.
type Exchange struct {
	URL       string  `json:"url"`
	Truncated bool    `json:"url_truncated,omitempty"`
	Kind      string  `json:"kind"` // "page", "robots.txt" or "proof"
	Address   string  `json:"address,omitempty"`
	Age       float64 `json:"age_seconds"`
	Tries     int     `json:"tries"` // earlier ones
	Worker    int     `json:"worker"`
	Received  int64   `json:"received_bytes"`         // of the response so far, head included
	Length    int64   `json:"length_bytes,omitempty"` // of the response, if the server has declared it
}

const activeMost = 10_000

func (o *Operator) active(_ context.Context, p params) (any, error) {
	limit, err := p.number("limit", 100)
	if err != nil {
		return nil, err
	}
	if limit < 1 || limit > activeMost {
		return nil, fmt.Errorf("%w: limit: %d is not between 1 and %d", ErrQuestion, limit, activeMost)
	}
	now := time.Now()
	a := Active{Exchanges: []Exchange{}, Busy: o.parts.Exchanges.Busy(), Fetchers: o.parts.Outages.Network.Workers()}
	for _, e := range o.parts.Exchanges.List(limit) {
		x := Exchange{
			URL: string(e.URL), Truncated: e.Truncated, Kind: e.Kind.String(), Age: max(now.Sub(e.Began), 0).Seconds(),
			Tries: e.Tries, Worker: e.Worker, Received: e.Received, Length: e.Length,
		}
		if e.Addr.IsValid() {
			x.Address = e.Addr.String()
		}
		a.Exchanges = append(a.Exchanges, x)
	}
	return a, nil
}

// source returns the parts of the crawl that know about single URLs.
func (o *Operator) source() explain.Source {
	return explain.Source{
		FS: receipts.Over(o.parts.FS), Dir: o.parts.Dir, HashSeed: o.parts.Frontier.HashSeed, Running: true, Hosts: o.hosts,
		Sieve: o.parts.Disk.Sieve, Ready: o.countReady, Exchanges: o.parts.Exchanges, Views: o.parts.Frontier.Views,
		FlushLog: o.parts.Disk.Log.Flush, Captures: o.Captures, Traps: o.parts.Reports.Traps, AskOwner: explain.AskNoOwner,
		Order: o.parts.Distributor.Order().Policy,
	}
}

// countReady returns the number of ready URLs, with and without a class.
func (o *Operator) countReady() uint64 {
	return o.parts.Disk.Ready.Len() + o.parts.Distributor.Ordered()
}

// explainURL answers with explain.Evidence. The agent that owns the host is asked, too.
func (o *Operator) explainURL(ctx context.Context, p params) (any, error) {
	source := o.source()
	source.AskOwner = o.askOwner
	limits := explain.Limits{}
	if p.text("whole-log") == "true" {
		limits.LogBytes = -1
	}
	return source.Collect(ctx, p.text("url"), limits)
}

// askOwner asks another agent what it knows about a URL.
func (o *Operator) askOwner(ctx context.Context, agent string, url []byte) (*explain.Evidence, error) {
	answer, err := o.parts.Cluster.AskAboutURL(ctx, agent, url)
	if err != nil {
		return nil, err
	}
	e := new(explain.Evidence)
	if err := json.Unmarshal(answer, e); err != nil {
		return nil, fmt.Errorf("operator: the answer of agent %s: %w", agent, err)
	}
	if e.URL != string(url) {
		return nil, fmt.Errorf("operator: agent %s answered about another URL: %.200q", agent, e.URL)
	}
	return e, nil
}

// answerAgent answers another agent, which asks for its operator. It asks no third agent.
func (o *Operator) answerAgent(ctx context.Context, url []byte) ([]byte, error) {
	source := o.source()
	e, err := source.Collect(ctx, string(url), explain.Limits{})
	if err != nil {
		return nil, err
	}
	return json.Marshal(e)
}

// seedList answers with logreport.SeedList: what became of each seed, and for what the queued ones wait.
func (o *Operator) seedList(ctx context.Context, p params) (any, error) {
	limit, err := p.number("limit", 0)
	if err != nil {
		return nil, err
	}
	o.seedsTurn.Lock() // the whole log is read: many calls do not take many cores
	defer o.seedsTurn.Unlock()
	o.parts.Disk.Log.Flush()
	list, err := logreport.ListSeeds(ctx, o.parts.FS, o.parts.Dir, logreport.SeedQuery{
		Sort: logreport.SeedOrder(p.text("sort")), State: logreport.SeedState(p.text("state")),
		Outcome: p.text("outcome"), Suffix: p.text("suffix"), Limit: limit, Owner: o.parts.Frontier.Views.OtherOwner,
	})
	if err != nil {
		return nil, err
	}
	for i := range list.Seeds {
		if s := &list.Seeds[i]; s.State == logreport.SeedQueued {
			if s.WaitsFor, err = o.waitOf(ctx, s.URL); err != nil {
				return nil, err
			}
		}
	}
	return list, nil
}

// waitOf says for what a queued URL waits.
func (o *Operator) waitOf(ctx context.Context, url string) (string, error) {
	found, err := o.hosts.Find(ctx, []byte(url), 1)
	switch {
	case errors.Is(err, hosts.ErrUnknown):
		return "its turn to be queued", nil
	case err != nil:
		return "", err
	default:
		return cmp.Or(hosts.Why(o.hosts.Paused(), &found.Host, &found.Robots), "nothing: its site is due"), nil
	}
}

// Settings are the settings that can be changed while the crawl runs.
func (o *Operator) Settings() *changes.Settings { return o.settings }

// ListSettings lists the settings that can be changed, and the last changes.
func (o *Operator) ListSettings() changes.List { return o.settings.List() }

// ChangeSettings changes settings: all or, after an error, none.
func (o *Operator) ChangeSettings(ctx context.Context, r changes.Request) (changes.Result, error) {
	return o.settings.Change(ctx, r)
}

// UndoSettings takes the last change of settings back that is not taken back yet.
func (o *Operator) UndoSettings(ctx context.Context, r changes.Request) (changes.Result, error) {
	return o.settings.Undo(ctx, r)
}

// queue is what changes.Settings asks about queued URLs.
type queue struct{ o *Operator }

// EachQueued implements changes.Queue.
func (q queue) EachQueued(ctx context.Context, f func(url []byte, it *queued.URL)) (complete bool, err error) {
	return q.o.hosts.EachQueued(ctx, f)
}

// QueuedURLs implements changes.Queue.
func (q queue) QueuedURLs() int64 {
	n := &q.o.parts.Disk.Journal.Count
	return max(n.URLsAdmitted.Load()-n.Finished.Load(), 0)
}
