package sieve

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"

	"orbweaver/internal/vfs"
)

// model is the simplest sieve: the undecided arrivals in order, and what was emitted. The real sieve detects some known
// URLs earlier, but must emit the same.
type model struct {
	queue []arrival
	known map[uint64]bool
}

type arrival struct {
	number  uint64
	payload string
}

func (m *model) clone() model {
	return model{queue: slices.Clone(m.queue), known: maps.Clone(m.known)}
}

// flush returns what must be emitted if emit accepts at most `accepted` payloads.
func (m *model) flush(accepted int) (out []string) {
	for i, a := range m.queue {
		if m.known[a.number] {
			continue
		}
		if len(out) == accepted {
			m.queue = m.queue[i:]
			return out
		}
		m.known[a.number] = true
		out = append(out, a.payload)
	}
	m.queue = nil
	return out
}

var errRefused = errors.New("refused")

// modelRun is a sieve with its disk and model, and the state of both at the last durable checkpoint.
type modelRun struct {
	t      *testing.T
	rng    *rand.Rand
	disk   *vfs.Mem
	s      *Sieve
	m      model
	cut    *Checkpoint
	cutM   model
	serial int
	o      Options
}

func TestModel(t *testing.T) {
	for seed := range uint64(12) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 7))
			o := small
			o.RunsMax = 1 + rng.IntN(8)
			r := &modelRun{t: t, rng: rng, disk: vfs.NewMem(seed), o: o}
			r.m.known, r.cutM.known = map[uint64]bool{}, map[uint64]bool{}
			r.reopen()
			for range 400 {
				r.step()
			}
			r.flush(1 << 30)
			if r.s.Len() != uint64(len(r.m.known)) || r.s.Pending() != 0 {
				t.Fatalf("%d in the store, %d pending, the model has %d", r.s.Len(), r.s.Pending(), len(r.m.known))
			}
			must(t, r.s.Check())
			t.Logf("%+v", r.s.Stats())
			must(t, r.s.Close())
		})
	}
}

func (r *modelRun) step() {
	switch n := r.rng.IntN(100); {
	case n < 60:
		r.add()
	case n < 70:
		r.flush(1 << 30)
	case n < 78:
		r.flush(r.rng.IntN(50))
	case n < 83:
		r.flushOnFullDisk()
	case n < 92:
		r.takeCut()
	case n < 94:
		must(r.t, r.s.Check())
	case n < 97:
		r.disk = r.disk.KillClone()
		r.reopen()
	default:
		r.disk = r.disk.CrashClone(r.rng)
		r.reopen()
	}
	balanced(r.t, r.s)
}

func (r *modelRun) add() {
	for range r.rng.IntN(60) {
		askRoom(r.t, r.s)
		r.serial++
		a := arrival{number: r.rng.Uint64N(4000), payload: fmt.Sprintf("%d.%0*d", r.serial, r.rng.IntN(40), 0)}
		r.s.Add(fpOf(a.number), []byte(a.payload))
		r.m.queue = append(r.m.queue, a)
	}
}

// takeCut takes a snapshot, adds URLs, and writes the snapshot or not, sometimes on a full disk.
func (r *modelRun) takeCut() {
	im, err := r.s.Snapshot()
	must(r.t, err)
	marked := r.m.clone()
	r.add()
	if r.rng.IntN(8) == 0 {
		im.Abandon()
		return
	}
	if r.rng.IntN(4) == 0 {
		r.disk.SetLimit(r.disk.Used() + r.rng.Int64N(2000))
	}
	c, err := im.Write()
	r.disk.SetLimit(-1)
	if errors.Is(err, syscall.ENOSPC) {
		return
	}
	must(r.t, err)
	r.add()
	if r.rng.IntN(4) == 0 {
		return // the manifest was never written: the checkpoint before is still valid
	}
	must(r.t, r.s.Sync())
	r.cut, r.cutM = &c, marked
	if r.rng.IntN(4) > 0 {
		must(r.t, r.s.Release(c))
	}
}

// flush lets emit refuse after some payloads, and compares the results.
func (r *modelRun) flush(accepted int) {
	r.t.Helper()
	var got []string
	_, err := r.s.Flush(func(p []byte) error {
		if len(got) == accepted {
			return errRefused
		}
		got = append(got, string(p))
		return nil
	})
	if err != nil && !errors.Is(err, errRefused) {
		r.t.Fatal(err)
	}
	want(r.t, got, r.m.flush(accepted))
}

// flushOnFullDisk leaves little space on the disk. What is emitted must be right, whether the new run fits or not.
func (r *modelRun) flushOnFullDisk() {
	r.disk.SetLimit(r.disk.Used() + r.rng.Int64N(6*blockBytes))
	var got []string
	_, err := r.s.Flush(func(p []byte) error { got = append(got, string(p)); return nil })
	r.disk.SetLimit(-1)
	if err == nil {
		want(r.t, got, r.m.flush(1<<30))
		return
	}
	if !errors.Is(err, syscall.ENOSPC) {
		r.t.Fatal(err)
	}
	// A bucket of an earlier Flush may have been emitted before the disk was full.
	want(r.t, got, r.m.flush(len(got)))
}

func (r *modelRun) reopen() {
	if r.s != nil {
		must(r.t, r.s.Close())
	}
	s, err := Open(r.disk, r.o, r.cut)
	must(r.t, err)
	must(r.t, s.Check())
	r.s, r.m = s, r.cutM.clone()
	if names, _ := r.disk.List(r.o.Dir); r.cut == nil && len(names) != 0 {
		r.t.Fatalf("a new sieve has files %q", names)
	}
}
