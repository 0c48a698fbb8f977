package agent

import (
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/engine/cluster/message"
	"orbweaver/engine/peering"
	"orbweaver/engine/peering/outbox"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/state/site"
)

// brokenSites is a Returner whose disk fails.
type brokenSites struct{ relaySites }

var errBroken = errors.New("the disk is broken")

func (brokenSites) DeliverRobots(*site.RobotsResult) error { return errBroken }

func (brokenSites) RedirectRobots(*site.RobotsRedirect) error { return nil }

// A message that can be read and cannot be taken, since the disk fails, is no malformed one: its sender keeps it and
// sends it again.
func TestServer_aFaultOfTheDiskIsNotOneOfTheMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := sharedBy(t, "a", "b")
		a := g.members["a"]
		relay := &relay{
			views:      a.views,
			outbox:     a.files.outbox,
			sites:      brokenSites{},
			rules:      a.parts.Sites.Rules,
			isExcluded: func([]byte) bool { return false },
			steps:      new(atomic.Int64),
		}
		a.server.items.robots, a.server.authority.robots, g.members["b"].server.items.robots = relay, relay, relay
		own, theirs := []byte(a.linksTo("a", 1)[0]), []byte(a.linksTo("b", 1)[0])
		own, theirs = own[:len(own)-1], theirs[:len(theirs)-1]
		it := queued.URL{RobotsOf: own, Rest: []byte("/robots.txt")}
		relay.SendRedirect(&site.RobotsRedirect{Origin: own, Site: theirs, Item: queued.Append(nil, &it)})
		result := message.AppendRobotsResult(nil, &site.RobotsResult{Site: own, Unreachable: true}, time.Now())
		batch := message.WithAges(outbox.AppendItem(nil, result), time.Now())
		err := a.server.HandleMessage(t.Context(), "b", batch)
		if !errors.Is(err, errBroken) || errors.Is(err, peering.ErrMalformed) {
			t.Error(err)
		}
		g.stopAll()
	})
}
