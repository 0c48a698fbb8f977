package openindex

import (
	"math"
	"sync/atomic"
)

// Bytes of a WARC file between two marks. A full file has some 256 of them: after a kill, of a file of 1 GiB the last
// 4 MiB are read at most.
const (
	marksOfFile = 256
	stepLeast   = 4 << 10
	stepMost    = 4 << 20
)

// Marks decide when a File gets marks. The file is a hint: what cannot be written is left out. IsDue and Resume may be
// called while other methods run.
type Marks struct {
	File

	step       int64
	due        atomic.Int64 // end of the WARC file at which the next mark is written
	resumption atomic.Pointer[Resumption]
}

// Begin begins the marks of a new WARC file that is full at sizeMax.
func (m *Marks) Begin(sizeMax int64) {
	m.step = min(max(sizeMax/marksOfFile, stepLeast), stepMost)
	m.due.Store(m.step)
}

// Wait is Begin for a WARC file of an earlier run. Its marks begin with Resume.
func (m *Marks) Wait(sizeMax int64) {
	m.Begin(sizeMax)
	m.due.Store(math.MaxInt64)
}

// Resume continues the marks of an earlier run, with the next Add.
func (m *Marks) Resume(r *Resumption) {
	m.resumption.Store(r)
	m.due.Store(r.Part.End + m.step)
}

// IsDue says whether a mark is due when the WARC file ends here.
func (m *Marks) IsDue(end int64) bool { return end >= m.due.Load() }

// Add writes a mark. After an error the next one has its lines, too.
func (m *Marks) Add(mark Mark) {
	if r := m.resumption.Swap(nil); r != nil {
		m.resume(r)
	}
	_ = m.Mark(mark)
	m.due.Store(mark.End + m.step)
}

// Remove removes the file: the WARC file has its index. What an error or a kill leaves is removed by the next run.
func (m *Marks) Remove() {
	_ = m.Close()
	_ = m.FS.Remove(m.Name)
}
