package components

import (
	"runtime"
	"time"

	"orbweaver/internal/cputime"
)

// Result is what the measurement of one component found.
type Result struct {
	Name string `json:"name"`
	What string `json:"what,omitempty"`
	Runs []*Run `json:"runs"`
}

// Run is the curve of one operation of a component.
type Run struct {
	Name    string   `json:"name"`
	Items   string   `json:"items"` // what is counted: "URLs", "hosts"
	Points  []Point  `json:"points"`
	Figures []Figure `json:"figures,omitempty"` // what does not depend on the size
}

// Point is what an item cost on the way to a size. Memory and disk are divided by all items held.
type Point struct {
	Items         int64         `json:"items"` // held at that size
	PerSecond     float64       `json:"items_per_second"`
	CPUPerItem    float64       `json:"cpu_ns_per_item"` // of the whole process, background work included
	MemoryPerItem float64       `json:"memory_bytes_per_item"`
	DiskPerItem   float64       `json:"disk_bytes_per_item"`
	LongestPause  time.Duration `json:"longest_pause_ns"` // of the goroutine that uses the component
}

// Figure is a number with its unit.
type Figure struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
}

// Add adds a figure.
func (r *Run) Add(name string, value float64, unit string) {
	r.Figures = append(r.Figures, Figure{name, value, unit})
}

// Meter measures a run. A Meter belongs to one goroutine.
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

// NewMeter begins a run. disk returns the bytes of the component's files; nil for a component without files. The
// present heap does not count as the component's.
func NewMeter(name, items string, disk func() int64) *Meter {
	if disk == nil {
		disk = func() int64 { return 0 }
	}
	m := &Meter{Run: &Run{Name: name, Items: items}, disk: disk, base: heap()}
	m.Resume()
	return m
}

// Resume leaves out the time since the last Mark.
func (m *Meter) Resume() { m.at, m.cpu = time.Now(), cputime.Process() }

// Except leaves out the time of f, which makes input for the component. Nothing else may run at the same time.
func (m *Meter) Except(f func()) {
	at, cpu := time.Now(), cputime.Process()
	f()
	m.at, m.cpu = m.at.Add(time.Since(at)), m.cpu+cputime.Process()-cpu
}

// Done counts n more items, handled in one step of the given duration.
func (m *Meter) Done(n int64, took time.Duration) {
	m.done += n
	m.longest = max(m.longest, took)
}

// Longest is the longest step since the last Mark.
func (m *Meter) Longest() time.Duration { return m.longest }

// Mark adds a Point: the component now holds so many items. The time of Mark itself does not count.
func (m *Meter) Mark(held int64) Point {
	wall, cpu, n := time.Since(m.at), cputime.Process()-m.cpu, float64(max(m.done-m.marked, 1))
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

// heap is the size of the live heap.
func heap() int64 {
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return int64(s.HeapAlloc)
}

// Sizes are the sizes at which a component that grows to last is measured: powers of ten from a million, and last.
func Sizes(last int64) []int64 {
	var sizes []int64
	for n := int64(1_000_000); n < last; n *= 10 {
		sizes = append(sizes, n)
	}
	return append(sizes, last)
}
