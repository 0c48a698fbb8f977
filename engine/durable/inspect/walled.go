package inspect

import (
	"time"

	"orbweaver/engine/state/site"
	"orbweaver/internal/outcome"
	"orbweaver/internal/urlx"
	"orbweaver/internal/vfs"
	"orbweaver/workbench"
)

// Walled are the sites of a host that wait behind a wall.
type Walled struct {
	URLs    uint64    // that wait in their queues
	FirstAt time.Time // the first failure since the last answer
}

// WalledHosts returns the hosts that wait behind a wall at the last checkpoint of the crawl in dir, which may run. It
// loads the workbench.
func WalledHosts(fsys vfs.FS, dir string) (map[string]Walled, error) {
	for {
		c, err := Open(fsys, dir)
		if err != nil {
			return nil, err
		}
		w, err := c.Workbench()
		if err == nil {
			return w.walled(), nil
		}
		// A crawl that runs removes the files of a checkpoint when the next one is complete.
		if again, openErr := Open(fsys, dir); openErr != nil || again.Generation == c.Generation {
			return nil, err
		}
	}
}

func (w *Workbench) walled() map[string]Walled {
	hosts := map[string]Walled{}
	var views []workbench.View[site.State]
	var keys []byte
	for from := uint64(1); from != 0; {
		views, keys, from = w.sites.Listing().Views(from, views[:0], keys[:0])
		for i := range views {
			v := &views[i]
			urls, streak := uint64(v.Queued+v.InVisit)+v.OnDisk, v.Data.FailureStreak()
			if urls == 0 || v.State == workbench.Dead || streak.LastOutcome != outcome.Wall {
				continue
			}
			h := hosts[string(urlx.Host(v.Key))]
			h.URLs += urls
			if since := time.Unix(int64(streak.FirstAt), 0); h.FirstAt.IsZero() || since.Before(h.FirstAt) {
				h.FirstAt = since
			}
			hosts[string(urlx.Host(v.Key))] = h
		}
	}
	return hosts
}
