package seen

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path"
	"slices"

	"orbweaver/internal/vfs"
)

// scanBytes is the buffer for reading entries in a row.
const scanBytes = 1 << 20

// Open creates a new map if cut is nil, and removes an old one. Otherwise it restores exactly the Cut: it reads the
// filters of the runs and the entries after the last run, and removes everything that the Cut does not name. Errors
// wrap vfs.ErrCorrupt if the files do not match the Cut; the files are then unchanged. Other damage is found by the
// call that reads it: Lookup, Insert, Tend or Check.
func Open(fsys vfs.FS, o Options, cut *Cut) (*Map, error) {
	o = o.WithDefaults()
	if err := o.Validate(); err != nil {
		return nil, err
	}
	m := &Map{fsys: fsys, o: o, tableMax: o.tableDigests()}
	m.filling = newTable(m.tableMax)
	m.idle.L = &m.mu
	var err error
	if cut == nil {
		err = m.create()
	} else {
		err = m.load(cut)
	}
	if err != nil {
		_ = m.Close() // err says already why it is of no use
		return nil, err
	}
	m.view.Store(&view{runs: m.runs, kept: len(m.runs)})
	return m, nil
}

func (m *Map) entriesName() string { return path.Join(m.o.Dir, entriesLog) }

// create makes a file with nothing but its head, which is written with the first entries.
func (m *Map) create() (err error) {
	if err = m.fsys.MkdirAll(m.o.Dir); err != nil {
		return fmt.Errorf("seen: %w", err)
	}
	if m.file, err = m.fsys.Create(m.entriesName()); err != nil {
		return fmt.Errorf("seen: %w", err)
	}
	m.setSeed(rand.Uint64())
	m.entries.buf = appendHead(nil, m.seed)
	return m.sweep()
}

func (m *Map) setSeed(seed uint64) { m.seed, m.hash = seed, seededHash(seed) }

func (m *Map) load(cut *Cut) error {
	size, err := m.fsys.Size(m.entriesName()) // OpenRW would make a file that is missing
	if err != nil {
		return fmt.Errorf("seen: %w", err)
	}
	if m.file, err = m.fsys.OpenRW(m.entriesName()); err != nil {
		return fmt.Errorf("seen: %w", err)
	}
	if size < cut.Length || cut.Length < headBytes || cut.Length > offsetMax {
		return m.corrupt(size, fmt.Sprintf("%d bytes long, the cut has %d", size, cut.Length))
	}
	var head [headBytes]byte
	if err := readAt(m.file, head[:], 0); err != nil {
		return err
	}
	seed, fault := parseHead(head[:])
	if fault != "" {
		return m.corrupt(0, fault)
	}
	m.setSeed(seed)
	m.generation = max(cut.Generation, 1)
	begin, err := m.loadRuns(cut)
	if err != nil {
		return err
	}
	if err := m.loadRest(begin, cut); err != nil {
		return err
	}
	m.entries.written = cut.Length
	if size > cut.Length {
		if err := m.file.Truncate(cut.Length); err != nil {
			return fmt.Errorf("seen: %w", err)
		}
	}
	return m.sweep()
}

// loadRuns opens the runs and returns where the entries begin that are in none.
func (m *Map) loadRuns(cut *Cut) (begin int64, err error) {
	begin = headBytes
	for _, c := range cut.Runs {
		r, err := openRun(m.fsys, m.o.Dir, c)
		if err != nil {
			return 0, err
		}
		m.runs = append(m.runs, r)
		m.count += r.keys
		m.serial = max(m.serial, r.serial+1)
		r.firstCut = m.generation
		if r.start != begin || r.end > cut.Length || m.count > cut.Count {
			return 0, r.corrupt(0, fmt.Sprintf("it has entries %d to %d, where those from %d to at most %d are wanted",
				r.start, r.end, begin, cut.Length))
		}
		begin = r.end
	}
	return begin, nil
}

// loadRest reads the entries that are in no run into the table, which is made large enough.
func (m *Map) loadRest(begin int64, cut *Cut) error {
	rest := cut.Count - m.count
	if rest > uint64(cut.Length-begin)/bodyFixed {
		return m.corrupt(cut.Length, fmt.Sprintf("too short for the %d entries of the cut", cut.Count))
	}
	if rest > uint64(m.filling.limit) {
		m.filling = newTable(int(rest))
	}
	err := m.scan(begin, cut.Length, nil, func(offset int64, d Digest) error {
		if rest == 0 {
			return m.corrupt(offset, fmt.Sprintf("more entries than the %d of the cut", cut.Count))
		}
		rest--
		m.count++
		m.filling.insert(m.hash(d), offset)
		return nil
	})
	if err == nil && rest != 0 {
		err = m.corrupt(cut.Length, fmt.Sprintf("%d entries, the cut has %d", m.count, cut.Count))
	}
	return err
}

// scan reads the entries from begin to end, and then those of more, and visits each that holds; the first that does not
// is an error.
func (m *Map) scan(begin, end int64, more io.Reader, visit func(offset int64, d Digest) error) error {
	var from io.Reader = io.NewSectionReader(m.file, begin, end-begin)
	if more != nil {
		from = io.MultiReader(from, more)
	}
	r := bufio.NewReaderSize(from, int(min(scanBytes, end-begin+4096)))
	var b []byte
	for offset := begin; ; {
		head, err := r.Peek(entryHead)
		if len(head) == 0 && errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("seen: %w", err)
		}
		n, fault := entryBytes(head)
		if fault != "" {
			return m.corrupt(offset, fault)
		}
		b = slices.Grow(b[:0], n)[:n]
		if _, err := io.ReadFull(r, b); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return m.corrupt(offset, "entry ends early")
		} else if err != nil {
			return fmt.Errorf("seen: %w", err)
		}
		d, _, err := m.decoded(b, offset)
		if err != nil {
			return err
		}
		if err := visit(offset, d); err != nil {
			return err
		}
		offset += int64(n)
	}
}

// sweep removes the files of runs that are not live, and sees to it that their numbers are not used again.
func (m *Map) sweep() error {
	names, err := m.fsys.List(m.o.Dir)
	if err != nil {
		return fmt.Errorf("seen: %w", err)
	}
	for _, name := range names {
		serial, ok := runSerial(name)
		if !ok || slices.ContainsFunc(m.runs, func(r *run) bool { return r.serial == serial }) {
			continue
		}
		m.serial = max(m.serial, serial+1)
		if err := vfs.RemoveIfExists(m.fsys, path.Join(m.o.Dir, name)); err != nil {
			return fmt.Errorf("seen: %w", err)
		}
	}
	return nil
}
