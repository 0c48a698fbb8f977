package simweb

// hopsMax is the longest redirect chain, loopSteps the length of the loops.
const (
	hopsMax   = 5
	loopSteps = 3
)

// hops is the number of redirects from a page to where it lands, 1 to hopsMax.
func (w *World) hops(host, page int) int { return 1 + int(w.hash(saltAnswer, host, page)%hopsMax) }

// redirect returns where a target redirects to, and the status it does it with; status 0 if it does not redirect.
func (w *World) redirect(h *host, t target, f *page) (to target, status int) {
	hash := w.hash(saltAnswer, int(t.host), int(t.page))
	status = [...]int{301, 302, 303, 307, 308}[(hash>>8+uint64(t.n))%5]
	to = t
	left := 0
	switch {
	case t.kind == kindPage && f.shape == shapeRedirect:
		left = w.hops(h.index, int(t.page)) - 1
	case t.kind == kindHop:
		left = int(t.n) - 1
	case t.kind == kindPage && f.shape == shapeRedirectLoop:
		to.kind, to.n = kindLoop, 0
		return to, status
	case t.kind == kindLoop:
		to.n = (t.n + 1) % loopSteps
		return to, status
	case t.kind == kindPage && f.shape == shapeRedirectAway:
		return target{host: int32(w.away(hash))}, status
	default:
		return target{}, 0
	}
	to.kind, to.n = kindHop, uint8(left)
	if left == 0 {
		to.kind = kindLand
	}
	return to, status
}

// away draws a host that has others hanging on it and so is never denied.
func (w *World) away(hash uint64) int {
	r := rng(hash)
	return max(0, r.zipf(w.c.Hosts)-1) / w.c.HostFanout
}
