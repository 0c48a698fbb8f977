package fetchers

import (
	"context"

	"orbweaver/engine/state/site"
	"orbweaver/internal/outcome"
)

func (k *checker) isExcluded(_ context.Context, c *current) (verdict, error) {
	c.settings = k.Live.Hosts.Terms(c.result.Visit.Key)
	if !c.site.Blocked && !c.settings.Exclude {
		return pass, nil
	}
	c.site.Blocked = true
	c.giveUpSite(outcome.Blocked)
	return giveBack, nil
}

func (k *checker) isPostponed(_ context.Context, c *current) (verdict, error) {
	if c.foreign || !c.settings.NotBefore.After(c.now) {
		return pass, nil
	}
	c.result.Release.SiteDue = c.settings.NotBefore
	return giveBack, nil
}

func (k *checker) hasOtherGroup(_ context.Context, c *current) (verdict, error) {
	if c.foreign {
		return pass, nil
	}
	place := c.result.Visit.Addr
	addr := c.site.Addrs().Current(place)
	key := k.Groups.KeyOf(&c.settings, addr, place)
	if key == place {
		return pass, nil
	}
	site.KeepAddr(&c.site, addr)
	c.result.Release.Replace = key
	return giveBack, nil
}
