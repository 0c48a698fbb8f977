package invitro

import (
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/engine"
)

// An application is down for as long as a deploy takes, and the server in front of it answers robots.txt from its disk. That costs no URL.
func TestOutage_ofAnApplicationBehindAServerCostsNoURL(t *testing.T) {
	for _, status := range []int{500, 502, 503, 504} {
		for _, last := range []time.Duration{time.Minute, 10 * time.Minute, 25 * time.Minute} {
			synctest.Test(t, func(t *testing.T) {
				o := &outageWeb{sites: 1, pages: 100, condition: func(_ int, since time.Duration) condition {
					if from := 100 * time.Second; since >= from && since < from+last {
						return condition{status: status, robotsUp: true}
					}
					return condition{}
				}}
				o.begin()
				rig, cfg := o.config(t)
				if o.complete(t, o.crawl(t, rig, cfg, rig.FS)); t.Failed() {
					t.Logf("status %d for %v", status, last)
				}
			})
		}
	}
}

// The same for a day. A server that says that the application behind it is down loses few URLs: each of them needs five tries, an hour apart.
func TestOutage_ofAnApplicationForADayCostsFewURLs(t *testing.T) {
	for _, status := range []int{502, 503, 521} {
		synctest.Test(t, func(t *testing.T) {
			o := &outageWeb{sites: 1, pages: 300, condition: func(_ int, since time.Duration) condition {
				if from := 100 * time.Second; since >= from && since < from+24*time.Hour {
					return condition{status: status, robotsUp: true}
				}
				return condition{}
			}}
			o.begin()
			rig, cfg := o.config(t)
			if r := o.crawl(t, rig, cfg, rig.FS); r.State != engine.StateFinished || r.PagesStored+r.RevisitsStored < 280 {
				t.Errorf("status %d: %s, %d of 300 stored, outcomes %v", status, r.State, r.PagesStored, r.Outcomes)
			}
		})
	}
}

// Some pages of a site in a row are broken for ever. The crawl passes them and ends complete.
func TestOutage_pagesInARowThatAreBrokenEndAlone(t *testing.T) {
	for _, n := range []int64{1, 10} {
		synctest.Test(t, func(t *testing.T) {
			o := &outageWeb{sites: 1, pages: 100, condition: func(int, time.Duration) condition { return condition{} }}
			o.broken = func(page int) bool { return page >= 50 && int64(page) < 50+n }
			o.begin()
			rig, cfg := o.config(t)
			r := o.crawl(t, rig, cfg, rig.FS)
			if took := time.Since(o.began); r.State != engine.StateFinished || r.Outcomes["server-error"] != n || r.Outcomes["ok"] != 100-n || took > 2*time.Hour {
				t.Errorf("%d broken pages: %s after %v, outcomes %v", n, r.State, took, r.Outcomes)
			}
		})
	}
}
