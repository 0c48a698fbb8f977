package operator

import (
	"cmp"
	"context"
	"errors"

	"orbweaver/engine/operate/hosts"
	"orbweaver/engine/operate/logreport"
)

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
