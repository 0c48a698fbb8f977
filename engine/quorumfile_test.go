package engine

import (
	"slices"
	"testing"

	"orbweaver/internal/vfs"
)

// One that has begun with a quorum, and was stopped before it had agreed with anybody, goes by itself: that gives it no say. What was begun without a
// quorum was agreed on by all that were there.
func TestQuorum_whoHasAgreedToNothingHasNoSay(t *testing.T) {
	for _, was := range []struct {
		name   string
		quorum bool
		sets   int
	}{{"begun with a quorum", true, 0}, {"begun without", false, 1}} {
		t.Run(was.name, func(t *testing.T) {
			disk := vfs.NewMem(1)
			if err := disk.MkdirAll("d"); err != nil {
				t.Fatal(err)
			}
			self := Peer{ID: "a2", Capacity: 1, Store: 3}
			p := &peers{line: self.line()}
			if was.quorum {
				if _, err := newQuorum(p, disk, "d", nil); err != nil {
					t.Fatal(err)
				}
			}
			cut := &peersCut{Peers: []Peer{self}, Begun: true}
			for range 2 { // and again
				q, err := newQuorum(p, disk, "d", cut)
				if err != nil {
					t.Fatal(err)
				}
				if len(q.sets) != was.sets || len(q.sets) == 1 && !slices.Equal(q.sets[0].Lines, []string{self.line()}) {
					t.Errorf("it has a say in %v", q.sets)
				}
			}
		})
	}
}
