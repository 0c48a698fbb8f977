package agent

import (
	"net/netip"
	"testing"
	"time"

	"orbweaver/engine/cluster/leasing"
	"orbweaver/engine/peering/ownership"
)

// minority is a quorum that does not let this agent fetch.
type minority struct{ noQuorum }

func (minority) MayFetch() bool { return false }

// An agent without a majority grants no lease of an address: on the other side of a partition another agent does.
func TestLeases_withoutAMajorityNoneIsGranted(t *testing.T) {
	for _, c := range []struct {
		quorum quorumRule
		grants bool
	}{{noQuorum{}, true}, {minority{}, false}} {
		self := ownership.Agent{ID: "a0", Capacity: 1, Store: 1}
		v, err := ownership.NewView(ownership.Consistent, []ownership.Agent{self}, nil, 0, "a0")
		if err != nil {
			t.Fatal(err)
		}
		p := &agent{self: self, views: ownership.NewTimeline(hostGrace), quorum: c.quorum}
		p.views.Arrive(time.Time{})
		p.leases = p.newLeases(func(netip.Addr) time.Duration { return time.Second })
		p.leases.UseView(v, nil, time.Now())
		if grants := time.Until(p.leases.GrantsFrom(leasing.Addr{15: 1})) <= 0; grants != c.grants {
			t.Errorf("%T: grants %v", c.quorum, grants)
		}
	}
}
