package virtualize

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"testing"

	"orbweaver/internal/vfs"
)

// faulty is a Virtualizer on the real file system whose mappings fault, with the expected lists.
type faulty struct {
	t     *testing.T
	v     *Virtualizer
	opts  Options
	lists map[uint64][]string
}

func newFaulty(t *testing.T) *faulty {
	t.Helper()
	// Segments are so large that bodies and slots are on different pages, and so small that there are many.
	w := &faulty{
		t:     t,
		opts:  Options{Dir: t.TempDir(), SegmentBytes: int64(4 * os.Getpagesize()), BufferBytes: 4096},
		lists: map[uint64][]string{},
	}
	v, err := Open(vfs.Disk(), w.opts, nil)
	if err != nil {
		t.Fatal(err)
	}
	w.v = v
	return w
}

func (w *faulty) append(key uint64, item string) error {
	err := w.v.Append(key, []byte(item))
	if err == nil {
		w.lists[key] = append(w.lists[key], item)
	}
	return err
}

// take compares what it gets with the list, also before an error.
func (w *faulty) take(key uint64, limit int) error {
	w.t.Helper()
	var got []string
	n, err := w.v.Take(key, limit, func(item []byte) { got = append(got, string(item)) })
	want := w.lists[key]
	if n != len(got) || n > len(want) || !slices.Equal(got, want[:n]) || (err == nil && n != min(limit, len(want))) {
		w.t.Fatalf("queue %d gave %q (%d, %v), want the first of %d: %.200q", key, got, n, err, len(want), want)
	}
	w.lists[key] = want[n:]
	return err
}

// whole checks that nothing is changed incompletely.
func (w *faulty) whole() {
	w.t.Helper()
	must(w.t, w.v.Check())
	for key, list := range w.lists {
		if n := w.v.Len(key); n != uint64(len(list)) {
			w.t.Fatalf("queue %d has %d items, want %d", key, n, len(list))
		}
	}
}

// takeAll writes a cut, goes back to it, and empties every queue.
func (w *faulty) takeAll() {
	w.t.Helper()
	cut := mustCut(w.t, w.v)
	must(w.t, w.v.Sync())
	must(w.t, w.v.Close())
	v, err := Open(vfs.Disk(), w.opts, &cut)
	must(w.t, err)
	w.v = v
	w.whole()
	for key := range w.lists {
		must(w.t, w.take(key, 1<<30))
	}
	if n := w.v.Total(); n != 0 {
		w.t.Fatalf("%d items too many", n)
	}
	must(w.t, w.v.Close())
}

// fill appends items of 20 keys. Some do not pack, so that plain blocks are read, too.
func (w *faulty) fill(rng *rand.Rand, items int) {
	w.t.Helper()
	for i := range items {
		must(w.t, w.append(rng.Uint64N(20), randomItem(rng, i)))
	}
}

func randomItem(rng *rand.Rand, i int) string {
	if rng.IntN(3) > 0 {
		return fmt.Sprintf("/a/path/of/usual/length/%d/index.html", i)
	}
	b := make([]byte, 10+rng.IntN(60))
	for i := range b {
		b[i] = byte(128 + rng.IntN(128))
	}
	return string(b)
}

// The files are truncated under their mappings, so that access to the missing part raises SIGBUS. Each call returns an
// error and changes nothing. Everything works when the files are restored.
func TestMappedFault_aTruncatedSegmentIsAnErrorAndCostsNoItem(t *testing.T) {
	for _, pages := range []int64{0, 1, 3} {
		t.Run(fmt.Sprintf("to %d pages", pages), func(t *testing.T) {
			w := newFaulty(t)
			rng := rand.New(rand.NewPCG(1, uint64(pages)))
			w.fill(rng, 2000)
			names, err := filepath.Glob(filepath.Join(w.opts.Dir, "seg-*"))
			if err != nil || len(names) < 3 {
				t.Fatal(names, err)
			}
			content := map[string][]byte{}
			for _, name := range names {
				data, err := os.ReadFile(name)
				must(t, err)
				content[name] = data
				must(t, os.Truncate(name, pages*int64(os.Getpagesize())))
			}
			failed := map[string]int{}
			note := func(what string, err error) {
				t.Helper()
				if err == nil {
					return
				}
				if failed[what]++; !errors.Is(err, ErrMapped) || !errors.Is(err, syscall.EIO) || vfs.IsFull(err) {
					t.Fatalf("%s: %v", what, err)
				}
			}
			for i := range 400 {
				note("append", w.append(rng.Uint64N(20), randomItem(rng, i)))
			}
			for key := range uint64(20) {
				note("take", w.take(key, 3))
				note("each", w.v.Each(key, func([]byte) bool { return true }))
			}
			note("check", w.v.Check())
			for _, what := range []string{"append", "take", "each", "check"} {
				if failed[what] == 0 {
					t.Errorf("%s never failed", what)
				}
			}
			if n, err := w.v.Drop(3); n != 0 || !errors.Is(err, ErrMapped) {
				t.Errorf("drop: %d, %v", n, err)
			}
			for name, data := range content {
				file, err := os.OpenFile(name, os.O_RDWR, 0)
				must(t, err)
				_, err = file.WriteAt(data, 0)
				must(t, errors.Join(err, file.Close()))
			}
			w.whole()
			w.fill(rng, 1000)
			for key := range uint64(20) {
				must(t, w.take(key, 7))
			}
			w.whole()
			w.takeAll()
		})
	}
}

// protect makes some random pages of the mappings inaccessible, or only readable, until undo.
func (w *faulty) protect(rng *rand.Rand, prot int) (undo func()) {
	page := os.Getpagesize()
	var pages [][]byte
	one := 1 + rng.IntN(4)
	for _, s := range w.v.queues.log.segments.byNumber {
		if s == nil {
			continue
		}
		for at := 0; at < len(s.data); at += page {
			if rng.IntN(one) == 0 {
				pages = append(pages, s.data[at:at+page])
			}
		}
	}
	set := func(prot int) {
		for _, p := range pages {
			if err := syscall.Mprotect(p, prot); err != nil && !errors.Is(err, syscall.ENOMEM) {
				w.t.Fatal(err) // ENOMEM: the segment was deleted during the call
			}
		}
	}
	set(prot)
	return func() { set(syscall.PROT_READ | syscall.PROT_WRITE) }
}

// Any page may fault at any moment of any call. A page that can be read but not written means a full disk, as on a
// copy-on-write file system; a page that cannot be read does not. After each failed call everything is complete, and no
// item is lost or repeated.
func TestMappedFault_aFaultAtAnyPageInAnyCallLeavesTheQueuesWhole(t *testing.T) {
	failed := map[string]int{}
	for seed := range uint64(2) {
		rng := rand.New(rand.NewPCG(seed, 16))
		w := newFaulty(t)
		w.fill(rng, 500)
		for step := range 1000 {
			prot, kind := syscall.PROT_READ, "full"
			if rng.IntN(2) == 0 {
				prot, kind = syscall.PROT_NONE, "unreadable"
			}
			key, what, err := rng.Uint64N(20), "", error(nil)
			undo := w.protect(rng, prot)
			switch rng.IntN(8) {
			case 0, 1, 2:
				what = "append"
				for i := 0; i < 30 && err == nil; i++ {
					err = w.append(rng.Uint64N(20), randomItem(rng, step))
				}
			case 3, 4:
				what, err = "take", w.take(key, 1+rng.IntN(60))
			case 5:
				what = "drop"
				n := uint64(0)
				if n, err = w.v.Drop(key); err == nil && n != uint64(len(w.lists[key])) || err != nil && n != 0 {
					t.Fatalf("drop of %d items: %d, %v", len(w.lists[key]), n, err)
				} else if err == nil {
					delete(w.lists, key)
				}
			default:
				what = "collect"
				_, err = w.v.Collect(1 << 20)
			}
			undo()
			if err != nil {
				failed[kind+" "+what]++
				if full := prot == syscall.PROT_READ; vfs.IsFull(err) != full || errors.Is(err, ErrMapped) == full {
					t.Fatalf("seed %d step %d: %s of a page that is %s: %v", seed, step, what, kind, err)
				}
			}
			if err != nil || step%10 == 0 {
				w.whole()
			}
			if step%50 == 0 {
				must(t, w.v.Release(mustCut(t, w.v)))
			}
		}
		if w.v.Stats().FullFailures == 0 {
			t.Error("no full disk was counted")
		}
		w.takeAll()
	}
	for _, want := range []string{
		"full append", "full collect", "unreadable append", "unreadable take", "unreadable drop", "unreadable collect",
	} {
		if failed[want] == 0 {
			t.Errorf("never: %s (%v)", want, failed)
		}
	}
}

// A panic that is no fault of a mapping is a bug, so it is not recovered. The same holds for faults of other memory.
func TestMappedFault_otherFaultsStillPanic(t *testing.T) {
	other, err := syscall.Mmap(-1, 0, os.Getpagesize(), syscall.PROT_NONE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	must(t, err)
	defer func() { must(t, syscall.Munmap(other)) }()
	w := newFaulty(t)
	w.fill(rand.New(rand.NewPCG(1, 1)), 500)
	var sum byte
	var none *byte
	if t.Context().Err() != nil { // never
		none = &sum
	}
	for name, emit := range map[string]func([]byte){
		"a bug":        func([]byte) { panic("BUG: a test") },
		"nil":          func([]byte) { sum += *none },
		"other memory": func([]byte) { sum += other[0] },
	} {
		var cause any
		func() {
			defer func() { cause = recover() }()
			_, err := w.v.Take(1, 1, emit)
			t.Errorf("%s: no panic, and the error %v", name, err)
		}()
		if _, fault := cause.(runtime.Error); cause == nil || fault != (name != "a bug") {
			t.Errorf("%s: it panics with %v", name, cause)
		}
		if debug.SetPanicOnFault(false) {
			t.Errorf("%s: faults still panic after the call", name)
		}
	}
	w.whole() // the lock is free
	must(t, w.v.Close())
}

// Access to a mapping without guard ends the process.
func TestMappedFault_aFaultOutsideTheGuardEndsTheProcess(t *testing.T) {
	if os.Getenv("ORBWEAVER_TEST_FAULT") == "" {
		child := exec.CommandContext(t.Context(), os.Args[0],
			"-test.run=^TestMappedFault_aFaultOutsideTheGuardEndsTheProcess$")
		child.Env = append(os.Environ(), "ORBWEAVER_TEST_FAULT=1")
		said, err := child.CombinedOutput()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || !strings.Contains(string(said), "unexpected fault address") {
			t.Fatalf("%v\n%s", err, said)
		}
		return
	}
	w := newFaulty(t)
	w.fill(rand.New(rand.NewPCG(1, 1)), 500)
	s := w.v.queues.log.segments.active
	must(t, os.Truncate(segmentName(w.opts.Dir, s.number), 0))
	t.Fatalf("there is %d", s.slotAt(0)[0])
}
