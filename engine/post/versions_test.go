package post

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Builds that differ by a version speak the highest that both know, in either direction, for letters and for questions.
func TestG07_theHighestVersionInCommonIsSpoken(t *testing.T) {
	for name, c := range map[string]struct {
		a, b versions
		want int
	}{
		"the same":               {versions{1, 1}, versions{1, 1}, 1},
		"one before":             {versions{1, 2}, versions{1, 1}, 1},
		"one behind":             {versions{1, 2}, versions{1, 3}, 2},
		"the oldest is given up": {versions{1, 2}, versions{2, 3}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := newVillage(t, true)
				answer := func(_ context.Context, _ string, _ byte, q []byte) ([]byte, error) { return q, nil }
				a, toA := v.agent("a", Options{Oldest: int(c.a.from), Newest: int(c.a.to), Answer: answer})
				b, toB := v.agent("b", Options{Oldest: int(c.b.from), Newest: int(c.b.to), Answer: answer})
				for _, way := range []struct {
					from *Office
					to   Peer
				}{{a, toB}, {b, toA}} {
					if err := way.from.Send(t.Context(), way.to, []byte("letter")); err != nil {
						t.Error(err)
					}
					if got, err := way.from.Ask(t.Context(), way.to, 7, []byte("what?")); err != nil || string(got) != "what?" {
						t.Errorf("%q, %v", got, err)
					}
					if got := way.from.Stats().Peers[0].Version; got != c.want {
						t.Errorf("version %d is spoken, want %d", got, c.want)
					}
				}
			})
		})
	}
}

// Builds that have no version in common say so at both ends, at once, and name both; the peer is left alone for a while, and is
// found when it has been replaced by a build of today.
func TestG07_noVersionInCommon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVillage(t, true)
		a, _ := v.agent("a", Options{Oldest: 1, Newest: 2})
		b, toB := v.agent("b", Options{Oldest: 3, Newest: 4})
		began := time.Now()
		for range 100 {
			err := a.Send(t.Context(), toB, []byte("letter"))
			if !errors.Is(err, ErrVersion) || !strings.Contains(err.Error(), "versions 1 to 2") || !strings.Contains(err.Error(), "versions 3 to 4") {
				t.Fatal(err)
			}
		}
		if got := b.Stats().Refused[RefusedVersion]; got != 1 || time.Since(began) > time.Second {
			t.Errorf("refused %d times in %v", got, time.Since(began))
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		v.next--
		_, toB = v.agent("b", Options{Oldest: 2, Newest: 4})
		time.Sleep(rest)
		if err := a.Send(t.Context(), toB, []byte("letter")); err != nil || a.Stats().Peers[0].Version != 2 {
			t.Error(err)
		}
	})
}

// A hello of a later build that has grown at its end is understood; what a peer chooses that we do not speak is not.
func TestG07_helloMayGrow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVillage(t, true)
		_, toB := v.agent("b", Options{})
		s := v.stranger(t, toB, issue(t, v.authority, "x", time.Hour))
		h := hello{Versions: versions{1, 9}, Crawl: "crawl-1", From: "x", To: "b"}
		stream, err := s.say(append(h.append(nil), "and what nobody knows yet"...))
		if err != nil {
			t.Fatal(err)
		}
		var in incoming
		defer in.free()
		if err := stream.RecvMsg(&in); err != nil {
			t.Fatal(err)
		}
		if w, err := parseWelcome(append(in.frame.ReadOnlyData(), 1, 2, 3)); err != nil || w.Version != 1 || w.Window != 4 || w.BatchMax != 1<<20 {
			t.Errorf("%+v, %v", w, err)
		}
	})
}
