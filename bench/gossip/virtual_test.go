package gossip

import (
	"flag"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

var (
	sizes  = flag.String("sizes", "10", "sizes of groups that are simulated in virtual time")
	deaths = flag.Int("deaths", 20, "agents that are killed in all groups of a size together")
	quiet  = flag.Duration("quiet", 30*time.Second, "how long they are listened to while nothing happens")
)

// Groups in virtual time: no machine is too slow for them, and none too busy.
func TestGroupsInVirtualTime(t *testing.T) {
	for size := range strings.SplitSeq(*sizes, ",") {
		n, err := strconv.Atoi(size)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(size, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				o := Options{Sizes: []int{n}, Agents: 100, Deaths: *deaths, Quiet: *quiet, Pace: 1, Seed: 1, Say: t.Output()}
				r, err := Simulate(t.Context(), o)
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Minute) // the library's goroutines end by themselves
				r.Print(t.Output())
				t.Logf("virtual time %v", time.Since(began))
				run := r.Runs[0]
				if run.False > 0 || run.Agreed.Worst > 10*time.Second || run.Welcomed.Worst > 10*time.Second || run.Ring.Strays > 0 {
					t.Error("a living agent was missed, or a death or return was noticed too late")
				}
			})
		})
	}
}
