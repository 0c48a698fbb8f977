package operator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"orbweaver/engine/frontier/order"
	"orbweaver/engine/frontier/sites"
	"orbweaver/engine/operate/hosts"
	"orbweaver/engine/operate/logreport"
	"orbweaver/engine/page/filter"
	"orbweaver/engine/state/queued"
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
		err := queues.PeekOrdered(place.Queue, func(item []byte) {
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
