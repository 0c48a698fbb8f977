package outbox

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"orbweaver/internal/vfs"
)

// model is an Outbox, and what it should hold.
type model struct {
	t        *testing.T
	rng      *rand.Rand
	disk     *vfs.Mem
	box      *Outbox
	backlog  map[string][]string // by agent: not taken, in order
	inFlight map[string][]*Batch
	retained map[string][]string
	next     int // number of the next item

	checkpoint    *Checkpoint
	inMemory      []byte
	savedBacklog  map[string][]string // at the checkpoint, sorted, with the items in flight
	savedRetained map[string][]string
}

func newModel(t *testing.T, seed uint64) *model {
	m := &model{t: t, rng: rand.New(rand.NewPCG(seed, 7)), disk: vfs.NewMem(seed), savedBacklog: map[string][]string{}}
	m.open()
	return m
}

func (m *model) open() {
	m.t.Helper()
	o := Options{Dir: "out", SegmentBytes: 4 << 10, BatchBytes: 700, BatchItems: 9}
	box, err := Open(m.disk, o, m.checkpoint, m.inMemory)
	if err != nil {
		m.t.Fatal(err)
	}
	m.box, m.backlog, m.inFlight, m.retained = box, map[string][]string{}, map[string][]*Batch{}, map[string][]string{}
	for agent, items := range m.savedRetained {
		m.retained[agent] = slices.Clone(items)
	}
	for agent, items := range m.savedBacklog {
		m.backlog[agent] = slices.Clone(items)
		wake, err := box.EnsureAgent(agent)
		if err != nil {
			m.t.Fatal(err)
		}
		select {
		case <-wake:
		default:
			if len(items) > 0 {
				m.t.Fatalf("%s has a backlog of %d items, and its channel is empty", agent, len(items))
			}
		}
	}
}

func (m *model) randomAgent() string { return string(rune('A' + m.rng.IntN(4))) }

func (m *model) put(n int) {
	m.t.Helper()
	for range n {
		agent := m.randomAgent()
		if _, err := m.box.EnsureAgent(agent); err != nil {
			m.t.Fatal(err)
		}
		m.next++
		item := fmt.Sprintf("%d %s", m.next, make([]byte, m.rng.IntN(200)))
		m.backlog[agent] = append(m.backlog[agent], item)
		if m.rng.IntN(8) == 0 {
			m.box.PutBacklog(agent, []byte(item))
			continue
		}
		m.box.Put(agent, []byte(item))
		m.retained[agent] = append(m.retained[agent], item)
	}
}

// take takes a batch. It must contain items of the backlog.
func (m *model) take() {
	m.t.Helper()
	agent := m.randomAgent()
	batch, err := m.box.TakeBatch(agent)
	if err != nil {
		m.t.Fatal(err)
	}
	if (batch == nil) != (len(m.backlog[agent]) == 0) {
		m.t.Fatalf("%s: a batch: %v, with a backlog of %d items", agent, batch != nil, len(m.backlog[agent]))
	}
	if batch == nil {
		return
	}
	if batch.Items > 9 || batch.Items < 1 {
		m.t.Fatalf("a batch of %d items", batch.Items)
	}
	for _, item := range itemsOf(m.t, batch.Bytes) {
		i := slices.Index(m.backlog[agent], item)
		if i < 0 {
			m.t.Fatalf("%s: %.20q is not in the backlog", agent, item)
		}
		m.backlog[agent] = slices.Delete(m.backlog[agent], i, i+1)
	}
	m.inFlight[agent] = append(m.inFlight[agent], batch)
}

func itemsOf(t *testing.T, batch []byte) (items []string) {
	t.Helper()
	for item, err := range Items(batch) {
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, string(item))
	}
	return items
}

// endBatch acknowledges or returns a batch.
func (m *model) endBatch() {
	agent := m.randomAgent()
	if len(m.inFlight[agent]) == 0 {
		return
	}
	i := m.rng.IntN(len(m.inFlight[agent]))
	batch := m.inFlight[agent][i]
	m.inFlight[agent] = slices.Delete(m.inFlight[agent], i, i+1)
	if m.rng.IntN(3) > 0 {
		m.box.Acknowledge(batch)
		return
	}
	m.backlog[agent] = append(m.backlog[agent], itemsOf(m.t, batch.Bytes)...)
	m.box.Return(batch)
}

// unacknowledged returns the items of an agent that are in the backlog or in flight, sorted.
func (m *model) unacknowledged(agent string) []string {
	items := slices.Clone(m.backlog[agent])
	for _, batch := range m.inFlight[agent] {
		items = append(items, itemsOf(m.t, batch.Bytes)...)
	}
	slices.Sort(items)
	return items
}

func (m *model) takeCheckpoint() {
	m.t.Helper()
	c, inMemory, err := m.box.Checkpoint()
	if err != nil {
		m.t.Fatal(err)
	}
	backlog, retained := map[string][]string{}, map[string][]string{}
	for agent := range m.retained {
		backlog[agent], retained[agent] = m.unacknowledged(agent), slices.Clone(m.retained[agent])
	}
	if err := m.box.Sync(); err != nil {
		m.t.Fatal(err)
	}
	m.put(m.rng.IntN(5)) // between Sync and the manifest
	m.checkpoint, m.inMemory, m.savedBacklog, m.savedRetained = &c, inMemory, backlog, retained
	if err := m.box.Release(c); err != nil {
		m.t.Fatal(err)
	}
}

// crash goes back to the last checkpoint, after a kill or a power failure.
func (m *model) crash() {
	m.t.Helper()
	if err := m.box.Close(); err != nil {
		m.t.Fatal(err)
	}
	if m.rng.IntN(2) == 0 {
		m.disk = m.disk.KillClone()
	} else {
		m.disk = m.disk.CrashClone(m.rng)
	}
	m.open()
}

// removeAgent removes an agent, in steps. All its retained items must be yielded in order.
func (m *model) removeAgent() {
	m.t.Helper()
	agent := m.randomAgent()
	late := m.inFlight[agent]
	var got []string
	for {
		done, err := m.box.RemoveAgent(agent, 1+m.rng.IntN(50), func(item []byte) { got = append(got, string(item)) })
		if err != nil {
			m.t.Fatal(err)
		}
		if done {
			break
		}
		if batch, err := m.box.TakeBatch(agent); batch != nil || err != nil {
			m.t.Fatalf("%s is being removed, and has a batch; %v", agent, err)
		}
	}
	if !slices.Equal(got, m.retained[agent]) {
		m.t.Fatalf("%s: %d items, want %d", agent, len(got), len(m.retained[agent]))
	}
	for _, batch := range late {
		if m.rng.IntN(2) == 0 {
			m.box.Acknowledge(batch)
		} else {
			m.box.Return(batch)
		}
	}
	m.dropAgent(agent)
}

func (m *model) dropAgent(agent string) {
	delete(m.backlog, agent)
	delete(m.inFlight, agent)
	delete(m.retained, agent)
}

// drain takes some of the retained items of an agent. Its backlog must not change.
func (m *model) drain() {
	m.t.Helper()
	agent := m.randomAgent()
	var got []string
	done, err := m.box.DrainRetained(agent, m.rng.IntN(30), func(item []byte) { got = append(got, string(item)) })
	if err != nil {
		m.t.Fatal(err)
	}
	want := m.retained[agent]
	if len(got) > len(want) || !slices.Equal(got, want[:len(got)]) || done && len(got) < len(want) {
		m.t.Fatalf("%s: %d items of %d, done: %v", agent, len(got), len(want), done)
	}
	m.retained[agent] = want[len(got):]
}

// removeIdle removes an agent that has no backlog.
func (m *model) removeIdle() {
	m.t.Helper()
	agent := m.randomAgent()
	if len(m.unacknowledged(agent)) > 0 {
		return
	}
	if err := m.box.RemoveIdle(agent); err != nil {
		m.t.Fatal(err)
	}
	if slices.Contains(m.box.Agents(), agent) {
		m.t.Fatalf("%s is not removed", agent)
	}
	m.dropAgent(agent)
}

func (m *model) check() {
	m.t.Helper()
	for _, agent := range []string{"A", "B", "C", "D"} {
		want := 0
		for _, batch := range m.inFlight[agent] {
			want += batch.Items
		}
		if n := m.box.Counts(agent); n.Backlog != len(m.unacknowledged(agent)) || n.InFlight != want {
			m.t.Fatalf("%s: %d items, %d in flight; want %d, %d",
				agent, n.Backlog, n.InFlight, len(m.unacknowledged(agent)), want)
		}
	}
}

// Random calls and crashes: no item is lost, only items in flight at a crash are sent twice, and only returned items
// change their order. This also checks K3.
func TestK1_noItemIsLost(t *testing.T) {
	for seed := range uint64(20) {
		m := newModel(t, seed)
		for range 300 {
			switch m.rng.IntN(22) {
			case 0, 1, 2, 3, 4, 5:
				m.put(m.rng.IntN(40))
			case 6, 7, 8, 9, 10, 11:
				m.take()
			case 12, 13, 14, 15, 16:
				m.endBatch()
			case 17:
				m.takeCheckpoint()
			case 18:
				m.crash()
			case 19:
				m.drain()
			case 20:
				m.removeIdle()
			default:
				m.removeAgent()
			}
			m.check()
		}
		for _, agent := range []string{"A", "B", "C", "D"} {
			m.inFlight[agent] = nil
		}
		if err := m.box.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestK3_retainedItemsAreYieldedOnceInOrder(t *testing.T) {
	box, err := Open(vfs.NewMem(1), Options{Dir: "out"}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	if _, err := box.EnsureAgent("A"); err != nil {
		t.Fatal(err)
	}
	box.Put("A", []byte("1"))
	box.PutBacklog("A", []byte("not retained"))
	box.PutRetained("A", []byte("2"))
	box.Put("A", []byte("3"))
	var got []string
	add := func(item []byte) { got = append(got, string(item)) }
	if done, err := box.DrainRetained("A", 1, add); done || err != nil {
		t.Fatalf("done: %v, %v", done, err)
	}
	for done := false; !done; {
		if done, err = box.RemoveAgent("A", 1, add); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{"1", "2", "3"}; !slices.Equal(got, want) {
		t.Errorf("yielded %q, want %q", got, want)
	}
}

func TestK2_aLongBacklogIsOnDiskAndInOrder(t *testing.T) {
	box, err := Open(vfs.NewMem(1), Options{Dir: "out"}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	wake, err := box.EnsureAgent("slow")
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
		batch, err := box.TakeBatch("slow")
		if err != nil {
			t.Fatal(err)
		}
		if batch == nil {
			break
		}
		for _, item := range itemsOf(t, batch.Bytes) {
			if want := fmt.Sprintf("item %d", next); item != want {
				t.Fatalf("got %q, want %q", item, want)
			}
			next++
		}
		box.Acknowledge(batch)
	}
	if next != n {
		t.Fatalf("%d items of %d", next, n)
	}
}

func TestK4_aFullDiskLosesNoItem(t *testing.T) {
	disk := vfs.NewMem(1)
	box, err := Open(disk, Options{Dir: "out"}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	if _, err := box.EnsureAgent("B"); err != nil {
		t.Fatal(err)
	}
	disk.SetLimit(disk.Used())
	n := 0
	for ; !box.HasOverflow(); n++ {
		box.Put("B", make([]byte, 1000))
	}
	for range 10 {
		box.Put("B", make([]byte, 1000))
		n++
	}
	if err := box.Spill(); !vfs.IsFull(err) {
		t.Fatalf("Spill to a full disk: %v", err)
	}
	if total := box.Counts("B").Backlog; total != n {
		t.Fatalf("a backlog of %d items, want %d", total, n)
	}
	disk.SetLimit(1 << 30)
	if err := box.Spill(); err != nil || box.HasOverflow() {
		t.Fatalf("Spill to a disk with space: %v, overflow: %v", err, box.HasOverflow())
	}
	got := 0
	for {
		batch, err := box.TakeBatch("B")
		if err != nil {
			t.Fatal(err)
		}
		if batch == nil {
			break
		}
		got += batch.Items
		box.Acknowledge(batch)
	}
	if got != n {
		t.Fatalf("%d items, want %d", got, n)
	}
}

// Another agent can send any bytes as a batch.
func FuzzItems(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{3, 'a', 'b', 'c', 0, 1, 'x'})
	f.Add([]byte{200, 1})
	f.Fuzz(func(t *testing.T, batch []byte) {
		var again []byte
		for item, err := range Items(batch) {
			if err != nil {
				if !errors.Is(err, ErrMalformed) || item != nil {
					t.Fatal(err)
				}
				return
			}
			again = AppendItem(again, item)
		}
		if len(again) > len(batch) {
			t.Fatalf("%d bytes contain items of %d bytes", len(batch), len(again))
		}
	})
}

func TestTakeBatch_aReturnedBatchKeepsItsSequence(t *testing.T) {
	box, err := Open(vfs.NewMem(1), Options{Dir: "out", BatchItems: 1}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	take := func(agent string) *Batch {
		t.Helper()
		batch, err := box.TakeBatch(agent)
		if err != nil || batch == nil {
			t.Fatalf("%v, %v", batch, err)
		}
		return batch
	}
	seen := make(map[uint64]bool)
	for _, agent := range []string{"a", "b", "a", "b"} {
		if _, err := box.EnsureAgent(agent); err != nil {
			t.Fatal(err)
		}
		box.Put(agent, []byte(agent))
		batch := take(agent)
		sequence := batch.Sequence
		if sequence == 0 || seen[sequence] {
			t.Errorf("sequence %d", sequence)
		}
		seen[sequence] = true
		box.Return(batch)
		if again := take(agent); again.Sequence != sequence {
			t.Errorf("sequence %d after Return, want %d", again.Sequence, sequence)
		}
	}
	if err := box.Close(); err != nil {
		t.Error(err)
	}
}
