package members_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/engine/members"
)

func TestG03_anAgentComesBackAtOnce(t *testing.T) {
	for _, c := range []struct {
		name string
		at   int
	}{{"at its address", 3}, {"at another address", 9}} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newTown(t, 1)
				defer w.close()
				w.populate(5)
				w.kill(name(3))
				began := time.Now()
				w.join(name(3), place(c.at), 2, place(1))
				took, ok := w.agreeWithin(20 * time.Second)
				if !ok {
					t.Fatalf("no agreement: %s", w.views())
				}
				t.Logf("joined and agreed after %v", time.Since(began))
				if c.at == 3 && took > time.Second {
					t.Errorf("agreement took %v", took)
				}
				time.Sleep(time.Minute)
				if !w.agree() {
					t.Errorf("a minute later: %s", w.views())
				}
			})
		})
	}
}

func TestG04_aNameIsTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t, 1)
		defer w.close()
		w.populate(4)
		serial := w.agents[name(2)].View().Serial
		for _, incarnation := range []uint64{0, 1, 99} {
			o, _ := w.make(name(1), place(7), incarnation, place(0))
			g, err := members.Join(t.Context(), o)
			if !errors.Is(err, members.ErrName) || g != nil {
				t.Fatalf("the second %s: %v", name(1), err)
			}
		}
		time.Sleep(30 * time.Second)
		if !w.agree() || w.agents[name(2)].View().Serial != serial {
			t.Errorf("the others noticed: %s", w.views())
		}
	})
}

func TestG04_twoOfANameThatMeetLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t, 1)
		defer w.close()
		w.populate(3)
		// It starts while nobody answers.
		w.net.Split(places(0, 3), places(7, 8))
		o, _ := w.make(name(1), place(7), 5, place(0))
		lonely := w.stranger(o)
		w.net.Heal()
		select {
		case <-lonely.Lost():
		case <-time.After(time.Minute):
			t.Fatal("both go on")
		}
		if !errors.Is(lonely.Err(), members.ErrName) {
			t.Errorf("lost for %v", lonely.Err())
		}
		time.Sleep(30 * time.Second)
		if !w.agree() {
			t.Errorf("the first does not go on: %s", w.views())
		}
	})
}

func TestLeavingIsNoDeath(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t, 1)
		defer w.close()
		w.populate(8)
		left := w.agents[name(5)]
		delete(w.agents, name(5))
		if err := left.Leave(t.Context()); err != nil {
			t.Fatal(err)
		}
		if took, ok := w.agreeWithin(time.Second); !ok {
			t.Fatalf("not gone after %v: %s", took, w.views())
		}
		w.kill(name(6))
		w.agreeWithin(20 * time.Second)
		for id, r := range w.agents {
			gone := r.View().Gone
			if len(gone) != 2 || gone[0].Agent.ID != name(5) || !gone[0].Left || gone[1].Agent.ID != name(6) || gone[1].Left {
				t.Errorf("%s thinks of the absent: %+v", id, gone)
			}
		}
		w.join(name(5), place(5), 2, place(0))
		if _, ok := w.agreeWithin(10 * time.Second); !ok {
			t.Errorf("it does not come back: %s", w.views())
		}
		if gone := w.agents[name(0)].View().Gone; len(gone) != 1 {
			t.Errorf("absent: %+v", gone)
		}
	})
}

func TestAgentsStartInAnyOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t, 1)
		defer w.close()
		w.join("b", place(1), 1, place(0))
		w.join("c", place(2), 1, place(1))
		time.Sleep(10 * time.Second)
		if v := w.agents["b"].View(); len(v.Agents) != 2 {
			t.Errorf("b sees %v", ids(v))
		}
		w.join("a", place(0), 1)
		if took, ok := w.agreeWithin(10 * time.Second); !ok {
			t.Errorf("no agreement after %v: %s", took, w.views())
		}
	})
}

func TestChangedIsPoked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t, 1)
		defer w.close()
		a := w.join("a", place(0), 1)
		if v := a.View(); v.Serial != 1 || len(v.Agents) != 1 || v.Agents[0] != v.Self || v.Self != a.Self() {
			t.Fatalf("alone: %+v", v)
		}
		w.join("b", place(1), 1, place(0))
		<-a.Changed()
		synctest.Wait()
		if v := a.View(); v.Serial != 2 || len(v.Agents) != 2 {
			t.Errorf("together: %+v", v)
		}
		w.kill("b")
		<-a.Changed()
		if v := a.View(); v.Serial != 3 || len(v.Agents) != 1 {
			t.Errorf("alone again: %+v", v)
		}
		select {
		case <-a.Changed():
			t.Error("poked without a change")
		case <-time.After(time.Minute):
		}
	})
}

func TestJoinEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t, 1)
		defer w.close()
		w.populate(3)
		// The old one is cut off from the newcomer, so that it cannot answer: only its death would settle the name.
		w.net.Split(places(1, 2), places(7, 8))
		o, _ := w.make(name(1), place(7), 2, place(0))
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		if _, err := members.Join(ctx, o); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("joined: %v", err)
		}
		if !w.agree() {
			t.Errorf("the others noticed: %s", w.views())
		}
	})
}
