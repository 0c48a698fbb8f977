package engine

import "context"

// wing is what ends the exchange of a fetch worker before the crawl ends: its agent may not fetch any more, or not from
// this site, or the lease of the address has ended. It serves one exchange after the other, since a Fetcher would
// rather have one context than many.
type wing struct {
	ctx    context.Context //nolint:containedctx // of the exchanges of one worker, until one is ended
	cancel context.CancelFunc
	site   []byte // of the exchange under way
}

// open makes it ready for another exchange, which whoever calls what is returned ends.
func (w *wing) open(ctx context.Context) context.CancelFunc {
	if w.ctx == nil || w.ctx.Err() != nil {
		w.ctx, w.cancel = context.WithCancel(ctx)
	}
	return w.cancel
}

// fly begins an exchange with a site, under a context that ends when this agent may not go on with it: that of a wing
// that is open. Land ends it, whatever became of it.
func (p *peers) fly(ctx context.Context, w *wing, site []byte) context.Context {
	if p == nil {
		return ctx
	}
	if p.quorum == nil {
		return w.ctx
	}
	w.site = site
	q := p.quorum
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.holds() || !p.circle.Load().Owns(site) || !p.notBefore(site).IsZero() {
		w.cancel()
		return w.ctx
	}
	q.wings[w] = struct{}{}
	return w.ctx
}

// land ends what fly began.
func (p *peers) land(w *wing) {
	if p == nil || p.quorum == nil {
		return
	}
	p.quorum.mu.Lock()
	defer p.quorum.mu.Unlock()
	delete(p.quorum.wings, w)
}

// close lets go of the context.
func (w *wing) close() {
	if w.cancel != nil {
		w.cancel()
	}
}
