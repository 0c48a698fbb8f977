package operator

import (
	"context"
	"encoding/json"
	"fmt"

	"orbweaver/engine/operate/evidence"
	"orbweaver/engine/store/receipts"
)

// explainer answers questions about single URLs.
type explainer struct{ *Operator }

// source returns the parts of the crawl that know about single URLs.
func (o explainer) source() evidence.Source {
	return evidence.Source{
		FS: receipts.Over(o.FS), Dir: o.Dir, HashSeed: o.Frontier.HashSeed, Running: true, Hosts: o.hosts,
		Sieve: o.Disk.Sieve, Ready: o.Disk.Ready.Len, Exchanges: o.Exchanges, Views: o.Frontier.Views,
		FlushLog:  o.Disk.Log.Flush,
		OpenFiles: o.Disk.Journal.Writer.FindOpen, Traps: o.Reports.Traps,
		AskOwner: evidence.AskNoOwner,
	}
}

func explainURL(o *Operator, ctx context.Context, p params) (any, error) {
	return explainer{o}.explainURL(ctx, p)
}

// explainURL answers with evidence.Evidence. The agent that owns the host is asked, too.
func (o explainer) explainURL(ctx context.Context, p params) (any, error) {
	source := o.source()
	source.AskOwner = o.askOwner
	limits := evidence.Limits{}
	if p.text("whole-log") == "true" {
		limits.LogBytes = -1
	}
	return source.Collect(ctx, p.text("url"), limits)
}

// askOwner asks another agent what it knows about a URL.
func (o explainer) askOwner(ctx context.Context, agent string, url []byte) (*evidence.Evidence, error) {
	answer, err := o.Cluster.AskAboutURL(ctx, agent, url)
	if err != nil {
		return nil, err
	}
	e := new(evidence.Evidence)
	if err := json.Unmarshal(answer, e); err != nil {
		return nil, fmt.Errorf("operator: the answer of agent %s: %w", agent, err)
	}
	if e.URL != string(url) {
		return nil, fmt.Errorf("operator: agent %s answered about another URL: %.200q", agent, e.URL)
	}
	return e, nil
}

// answerAgent answers another agent, which asks for its operator. It asks no third agent.
func (o explainer) answerAgent(ctx context.Context, url []byte) ([]byte, error) {
	source := o.source()
	e, err := source.Collect(ctx, string(url), evidence.Limits{})
	if err != nil {
		return nil, err
	}
	return json.Marshal(e)
}
