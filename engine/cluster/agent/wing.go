package agent

import (
	"context"

	"orbweaver/engine/cluster"
)

// BeginExchange begins an exchange with a site, under a context that ends when this agent may not go on with it: that of a wing
// that is open. Land ends it, whatever became of it.
func (p *agent) BeginExchange(_ context.Context, w *cluster.Exchange, site []byte) context.Context {
	if p.quorum == nil {
		return w.Context
	}
	w.Site = site
	q := p.quorum
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.holds() || !p.views.Load().Owns(site) || !p.views.NotBefore(site).IsZero() {
		w.Cancel()
		return w.Context
	}
	q.wings[w] = struct{}{}
	return w.Context
}

// EndExchange ends what fly began.
func (p *agent) EndExchange(w *cluster.Exchange) {
	if p.quorum == nil {
		return
	}
	p.quorum.mu.Lock()
	defer p.quorum.mu.Unlock()
	delete(p.quorum.wings, w)
}
