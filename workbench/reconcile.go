package workbench

// reconcile updates everything that is derived from the fields of one site: its place in the heaps, the counts, the
// weight and the refill list. Every method calls it after a change. before is the state that was counted last.
func (c *contents[S]) reconcile(s *site[S], before State) {
	if s.queue != nil && s.queue.count == 0 {
		c.items.free(&s.queue)
	}
	now := s.state()
	c.sites.states[before]--
	c.sites.states[now]++
	if s.entry != 0 {
		e := c.ips.at(s.entry)
		switch {
		case now == Waiting:
			c.ips.addWaiting(e, s)
		case s.pos != 0:
			c.ips.removeWaiting(e, s)
		}
		c.ips.reconcile(s.entry)
	}
	held := c.held(s)
	if (held > 0) != s.has(flagHolds) {
		s.flags ^= flagHolds
		if held > 0 {
			c.items.holders++
		} else {
			c.items.holders--
		}
	}
	if c.wantsRefill(s) && s.flags&(flagListed|flagRefillGiven) == 0 {
		s.flags |= flagListed
		c.refill.add(s.id)
	}
}

func (c *contents[S]) wantsRefill(s *site[S]) bool {
	return s.onDisk > 0 && s.placement == addressed && !s.has(flagParked) && c.held(s) < minItemsInMemory
}
