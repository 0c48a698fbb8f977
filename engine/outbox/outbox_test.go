package outbox

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"orbweaver/internal/vfs"
)

// town is an outbox and, for each agent, what it should hold: what waits, in order, and what is under way.
type town struct {
	t     *testing.T
	rng   *rand.Rand
	disk  *vfs.Mem
	box   *Outbox
	wait  map[string][]string
	under map[string][]*Batch
	told  map[string][]string // all since the line was made
	next  int

	cut   *Cut
	image []byte
	saved map[string][]string // sorted: what is under way comes first again
	knew  map[string][]string // told then
}

func newTown(t *testing.T, seed uint64) *town {
	w := &town{t: t, rng: rand.New(rand.NewPCG(seed, 7)), disk: vfs.NewMem(seed), saved: map[string][]string{}}
	w.open()
	return w
}

func (w *town) open() {
	w.t.Helper()
	o := Options{Dir: "out", SegmentBytes: 4 << 10, BatchBytes: 700, BatchItems: 9}
	box, err := Open(w.disk, o, w.cut, w.image)
	if err != nil {
		w.t.Fatal(err)
	}
	w.box, w.wait, w.under, w.told = box, map[string][]string{}, map[string][]*Batch{}, map[string][]string{}
	for to, items := range w.knew {
		w.told[to] = slices.Clone(items)
	}
	for to, items := range w.saved {
		w.wait[to] = slices.Clone(items)
		wake, err := box.Line(to)
		if err != nil {
			w.t.Fatal(err)
		}
		select {
		case <-wake:
		default:
			if len(items) > 0 {
				w.t.Fatalf("%d items wait for %s, and nobody is told to send them", len(items), to)
			}
		}
	}
}

func (w *town) someone() string { return string(rune('A' + w.rng.IntN(4))) }

func (w *town) put(n int) {
	w.t.Helper()
	for range n {
		to := w.someone()
		if _, err := w.box.Line(to); err != nil {
			w.t.Fatal(err)
		}
		w.next++
		item := fmt.Sprintf("%d %s", w.next, make([]byte, w.rng.IntN(200)))
		w.wait[to] = append(w.wait[to], item)
		if w.rng.IntN(8) == 0 {
			w.box.Send(to, []byte(item))
			continue
		}
		w.box.Put(to, []byte(item))
		w.told[to] = append(w.told[to], item)
	}
}

// take sends a batch on its way: the oldest that wait are in it, in order, or those of a batch that came back.
func (w *town) take() {
	w.t.Helper()
	to := w.someone()
	batch, err := w.box.Take(to)
	if err != nil {
		w.t.Fatal(err)
	}
	if (batch == nil) != (len(w.wait[to]) == 0) {
		w.t.Fatalf("%s: a batch %v, with %d items waiting", to, batch != nil, len(w.wait[to]))
	}
	if batch == nil {
		return
	}
	if batch.Items > 9 || batch.Items < 1 {
		w.t.Fatalf("a batch of %d items", batch.Items)
	}
	for _, item := range contents(w.t, batch.Bytes) {
		i := slices.Index(w.wait[to], item)
		if i < 0 {
			w.t.Fatalf("%s: %.20q does not wait", to, item)
		}
		w.wait[to] = slices.Delete(w.wait[to], i, i+1)
	}
	w.under[to] = append(w.under[to], batch)
}

func contents(t *testing.T, batch []byte) (items []string) {
	t.Helper()
	for item, err := range Items(batch) {
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, string(item))
	}
	return items
}

// end acknowledges a batch, or gives it back.
func (w *town) end() {
	to := w.someone()
	if len(w.under[to]) == 0 {
		return
	}
	i := w.rng.IntN(len(w.under[to]))
	batch := w.under[to][i]
	w.under[to] = slices.Delete(w.under[to], i, i+1)
	if w.rng.IntN(3) > 0 {
		w.box.Done(batch)
		return
	}
	w.wait[to] = append(w.wait[to], contents(w.t, batch.Bytes)...)
	w.box.Back(batch)
}

// all is what an agent is owed, in no order.
func (w *town) all(to string) []string {
	items := slices.Clone(w.wait[to])
	for _, batch := range w.under[to] {
		items = append(items, contents(w.t, batch.Bytes)...)
	}
	slices.Sort(items)
	return items
}

func (w *town) checkpoint() {
	w.t.Helper()
	cut, image, err := w.box.Cut()
	if err != nil {
		w.t.Fatal(err)
	}
	saved, knew := map[string][]string{}, map[string][]string{}
	for to := range w.told {
		saved[to], knew[to] = w.all(to), slices.Clone(w.told[to])
	}
	if err := w.box.Sync(); err != nil {
		w.t.Fatal(err)
	}
	w.put(w.rng.IntN(5)) // between the sync and the manifest
	w.cut, w.image, w.saved, w.knew = &cut, image, saved, knew
	if err := w.box.Release(cut); err != nil {
		w.t.Fatal(err)
	}
}

// crash goes back to the last manifest: after a kill or after a power cut.
func (w *town) crash() {
	w.t.Helper()
	if err := w.box.Close(); err != nil {
		w.t.Fatal(err)
	}
	if w.rng.IntN(2) == 0 {
		w.disk = w.disk.KillClone()
	} else {
		w.disk = w.disk.CrashClone(w.rng)
	}
	w.open()
}

// retell gives a line up whose agent is gone: all that it was ever told comes out, in order, in some steps, with a crash between them
// perhaps.
func (w *town) retell() {
	w.t.Helper()
	to := w.someone()
	late := w.under[to]
	var got []string
	for {
		over, err := w.box.Retell(to, 1+w.rng.IntN(50), func(item []byte) { got = append(got, string(item)) })
		if err != nil {
			w.t.Fatal(err)
		}
		if over {
			break
		}
		if batch, err := w.box.Take(to); batch != nil || err != nil {
			w.t.Fatalf("%s is gone, and has a batch to send; %v", to, err)
		}
	}
	if !slices.Equal(got, w.told[to]) {
		w.t.Fatalf("%s: %d items came out, want %d", to, len(got), len(w.told[to]))
	}
	for _, batch := range late { // it was acknowledged too late, or came back too late
		if w.rng.IntN(2) == 0 {
			w.box.Done(batch)
		} else {
			w.box.Back(batch)
		}
	}
	delete(w.wait, to)
	delete(w.under, to)
	delete(w.told, to)
}

// recite takes some of what an agent was told, the oldest first. What is to be sent stays.
func (w *town) recite() {
	w.t.Helper()
	to := w.someone()
	var got []string
	over, err := w.box.Recite(to, w.rng.IntN(30), func(item []byte) { got = append(got, string(item)) })
	if err != nil {
		w.t.Fatal(err)
	}
	if told := w.told[to]; len(got) > len(told) || !slices.Equal(got, told[:len(got)]) || over && len(got) < len(told) {
		w.t.Fatalf("%s: %d items of %d, over: %v", to, len(got), len(told), over)
	}
	w.told[to] = w.told[to][len(got):]
}

// forget drops the line of an agent for which nothing waits.
func (w *town) forget() {
	w.t.Helper()
	to := w.someone()
	if len(w.all(to)) > 0 {
		return
	}
	if err := w.box.Forget(to); err != nil {
		w.t.Fatal(err)
	}
	if slices.Contains(w.box.Lines(), to) {
		w.t.Fatalf("%s is not forgotten", to)
	}
	delete(w.wait, to)
	delete(w.under, to)
	delete(w.told, to)
}

func (w *town) check() {
	w.t.Helper()
	for _, to := range []string{"A", "B", "C", "D"} {
		under := 0
		for _, batch := range w.under[to] {
			under += batch.Items
		}
		if all, moving := w.box.Waiting(to); all != len(w.all(to)) || moving != under {
			w.t.Fatalf("%s: %d items, %d under way; want %d, %d", to, all, moving, len(w.all(to)), under)
		}
	}
}

// Under random calls and crashes nothing is lost, nothing is there twice but what was under way at a crash, and order is kept but for
// what came back.
func TestNothingIsLost(t *testing.T) {
	for seed := range uint64(20) {
		w := newTown(t, seed)
		for range 300 {
			switch w.rng.IntN(22) {
			case 0, 1, 2, 3, 4, 5:
				w.put(w.rng.IntN(40))
			case 6, 7, 8, 9, 10, 11:
				w.take()
			case 12, 13, 14, 15, 16:
				w.end()
			case 17:
				w.checkpoint()
			case 18:
				w.crash()
			case 19:
				w.recite()
			case 20:
				w.forget()
			default:
				w.retell()
			}
			w.check()
		}
		for _, to := range []string{"A", "B", "C", "D"} {
			w.under[to] = nil
		}
		if err := w.box.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// An agent that takes nothing costs disk, and the items come in the order in which they were put.
func TestTheLineOfASlowAgentIsOnDisk(t *testing.T) {
	box, err := Open(vfs.NewMem(1), Options{Dir: "out"}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	wake, err := box.Line("slow")
	if err != nil {
		t.Fatal(err)
	}
	const n = 50_000
	for i := range n {
		box.Put("slow", fmt.Appendf(nil, "item %d", i))
	}
	<-wake
	next := 0
	for {
		batch, err := box.Take("slow")
		if err != nil {
			t.Fatal(err)
		}
		if batch == nil {
			break
		}
		for _, item := range contents(t, batch.Bytes) {
			if want := fmt.Sprintf("item %d", next); item != want {
				t.Fatalf("%q, want %q", item, want)
			}
			next++
		}
		box.Done(batch)
	}
	if next != n {
		t.Fatalf("%d items of %d", next, n)
	}
}

// On a full disk items stay in memory, whoever brings them can see it, and when there is room they are all there.
func TestAFullDiskIsSaidAndLosesNothing(t *testing.T) {
	disk := vfs.NewMem(1)
	box, err := Open(disk, Options{Dir: "out"}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	if _, err := box.Line("B"); err != nil {
		t.Fatal(err)
	}
	disk.SetLimit(disk.Used())
	n := 0
	for ; !box.Short(); n++ {
		box.Put("B", make([]byte, 1000))
	}
	for range 10 {
		box.Put("B", make([]byte, 1000))
		n++
	}
	if err := box.Spill(); !vfs.IsFull(err) {
		t.Fatalf("spilled to a full disk: %v", err)
	}
	if all, _ := box.Waiting("B"); all != n {
		t.Fatalf("%d items wait of %d", all, n)
	}
	disk.SetLimit(1 << 30)
	if err := box.Spill(); err != nil || box.Short() {
		t.Fatalf("there is room, but %v", err)
	}
	got := 0
	for {
		batch, err := box.Take("B")
		if err != nil {
			t.Fatal(err)
		}
		if batch == nil {
			break
		}
		got += batch.Items
		box.Done(batch)
	}
	if got != n {
		t.Fatalf("%d items of %d", got, n)
	}
}

// What another agent sends as a batch is read to its end or refused, and never believed.
func FuzzItems(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{3, 'a', 'b', 'c', 0, 1, 'x'})
	f.Add([]byte{200, 1})
	f.Fuzz(func(t *testing.T, batch []byte) {
		var again []byte
		for item, err := range Items(batch) {
			if err != nil {
				if !errors.Is(err, ErrFrame) || item != nil {
					t.Fatal(err)
				}
				return
			}
			again = AppendItem(again, item)
		}
		if len(again) > len(batch) {
			t.Fatalf("%d bytes hold %d", len(batch), len(again))
		}
	})
}
