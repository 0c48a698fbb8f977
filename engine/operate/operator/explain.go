package operator

import (
	"context"
	"encoding/json"
	"fmt"

	"orbweaver/engine/frontier/sites"
	"orbweaver/engine/operate/explain"
	"orbweaver/engine/store/receipts"
)

// source returns the parts of the crawl that know about single URLs.
func (o *Operator) source() explain.Source {
	return explain.Source{
		FS: receipts.Over(o.parts.FS), Dir: o.parts.Dir, HashSeed: o.parts.Frontier.HashSeed, Running: true, Hosts: o.hosts,
		Sieve: o.parts.Disk.Sieve, Ready: o.countReady, Exchanges: o.parts.Exchanges, Views: o.parts.Frontier.Views,
		FlushLog: o.parts.Disk.Log.Flush, Captures: o.Captures, Traps: o.parts.Reports.Traps, AskOwner: explain.AskNoOwner,
		PlaceInOrder: o.parts.Distributor.Order().Explain,
	}
}

// countReady returns the number of ready URLs, with and without a class.
func (o *Operator) countReady() uint64 {
	return o.parts.Disk.Ready.Len() + sites.NewDiskQueues(o.parts.Disk.SiteQueues).AllOrdered()
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
