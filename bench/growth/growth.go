// Package growth measures a room while it grows: what an item costs in time, memory and disk when there are a million,
// ten million, a hundred million of them.
//
// A benchmark of a room makes a Meter for each thing it does (enqueue, dequeue), does it, and marks a Point whenever the
// room has reached the next size. Points are about what happened since the point before, so a curve that stays level says
// that an item costs the same however many there are.
package growth

import (
	"runtime"
	"time"
)

// Result is one benchmark.
type Result struct {
	Name string `json:"name"`
	Runs []*Run `json:"runs"`
}

// Run is the curve of one thing that a room does.
type Run struct {
	Name    string   `json:"name"`
	Items   string   `json:"items"` // what is counted: "URLs", "hosts"
	Points  []Point  `json:"points"`
	Figures []Figure `json:"figures,omitempty"` // what is no matter of size
}

// Point is what one item cost on the way to a size. Bytes are about all items that are held.
type Point struct {
	Items         int64         `json:"items"` // held at that size
	PerSecond     float64       `json:"items_per_second"`
	CPUPerItem    float64       `json:"cpu_ns_per_item"` // of the whole process, background work included
	MemoryPerItem float64       `json:"memory_bytes_per_item"`
	DiskPerItem   float64       `json:"disk_bytes_per_item"`
	LongestPause  time.Duration `json:"longest_pause_ns"` // of the one who uses the room
}

// Figure is a number with its unit.
type Figure struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
}

// Add notes a figure.
func (r *Run) Add(name string, value float64, unit string) {
	r.Figures = append(r.Figures, Figure{name, value, unit})
}

// Meter measures a run. It belongs to one goroutine.
type Meter struct {
	Run     *Run
	disk    func() int64
	base    int64
	done    int64
	marked  int64
	at      time.Time
	cpu     time.Duration
	longest time.Duration
}

// NewMeter begins a run. disk says how many bytes the room's files have now; nil for a room without files. The heap as
// it is now is not counted as the room's.
func NewMeter(name, items string, disk func() int64) *Meter {
	if disk == nil {
		disk = func() int64 { return 0 }
	}
	m := &Meter{Run: &Run{Name: name, Items: items}, disk: disk, base: heap()}
	m.Resume()
	return m
}

// Resume forgets the time since the last mark: something else was done in it.
func (m *Meter) Resume() { m.at, m.cpu = time.Now(), CPU() }

// Except does something in the middle of a stretch that is not to be measured: making what is fed to the room. Nothing
// else may be going on.
func (m *Meter) Except(f func()) {
	at, cpu := time.Now(), CPU()
	f()
	m.at, m.cpu = m.at.Add(time.Since(at)), m.cpu+CPU()-cpu
}

// Done says that n more items were handled, in one step that took so long.
func (m *Meter) Done(n int64, took time.Duration) {
	m.done += n
	m.longest = max(m.longest, took)
}

// Longest is the longest step since the last mark.
func (m *Meter) Longest() time.Duration { return m.longest }

// Handled is how many items were handled since the run began.
func (m *Meter) Handled() int64 { return m.done }

// Mark ends a stretch: the room now holds so many items. What the mark itself takes is not counted.
func (m *Meter) Mark(held int64) Point {
	wall, cpu, n := time.Since(m.at), CPU()-m.cpu, float64(max(m.done-m.marked, 1))
	each := float64(max(held, 1))
	p := Point{
		Items: held, PerSecond: n / max(wall.Seconds(), 1e-9), CPUPerItem: float64(cpu.Nanoseconds()) / n,
		MemoryPerItem: float64(heap()-m.base) / each, DiskPerItem: float64(m.disk()) / each, LongestPause: m.longest,
	}
	m.Run.Points = append(m.Run.Points, p)
	m.marked, m.longest = m.done, 0
	m.Resume()
	return p
}

// heap is the size of what is alive.
func heap() int64 {
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return int64(s.HeapAlloc)
}

// Sizes are the sizes at which a room that grows to last is looked at: powers of ten from a million, and last.
func Sizes(last int64) []int64 {
	var sizes []int64
	for n := int64(1_000_000); n < last; n *= 10 {
		sizes = append(sizes, n)
	}
	return append(sizes, last)
}
