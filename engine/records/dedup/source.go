package dedup

const (
	// windowBlocks is how many blocks a merge reads at once from each run.
	windowBlocks = 64
)

// source returns the slots of a run in ascending order, one segment at a time. A failed read may be repeated.
type source struct {
	r         *run
	segment   int
	at        uint32 // record within the segment
	number    uint32 // of the block at hand
	ready     bool   // a block is at hand
	buf       []byte
	first     uint32 // number of the first block in buf
	have      uint32 // blocks in buf
	last      slot   // the one before, to see that they ascend
	isStarted bool
}

func (s *source) enter(segment int) { s.segment, s.at, s.ready, s.isStarted = segment, 0, false, false }

// next returns the current slot; ok is false at the end of the segment. The slot stays current until skip.
func (s *source) next() (v slot, ok bool, err error) {
	seg := &s.r.segs[s.segment]
	if s.at >= seg.keys {
		return v, false, nil
	}
	number := seg.block + s.at/blockRecords
	if !s.ready || number != s.number {
		if err := s.load(number); err != nil {
			return v, false, err
		}
	}
	b := s.buf[(number-s.first)*blockBytes:][:blockBytes]
	v = getRecord(b, int(s.at%blockRecords), uint64(s.segment))
	if s.isStarted && v.compare(s.last) <= 0 {
		return v, false, s.r.corrupt(int64(number)*blockBytes, "records do not ascend")
	}
	if v.offset < s.r.start || v.offset >= s.r.end {
		return v, false, s.r.corrupt(int64(number)*blockBytes, errOutsideRun)
	}
	return v, true, nil
}

// skip goes on behind the slot that next gave.
func (s *source) skip(v slot) {
	s.last, s.isStarted = v, true
	s.at++
}

func (s *source) load(number uint32) error {
	if number < s.first || number >= s.first+s.have {
		if s.buf == nil {
			s.buf = make([]byte, windowBlocks*blockBytes)
		}
		n := min(windowBlocks, s.r.blocks-number)
		s.have = 0
		if err := readAt(s.r.file, s.buf[:n*blockBytes], int64(number)*blockBytes); err != nil {
			return err
		}
		s.first, s.have = number, n
	}
	s.number, s.ready = number, false
	b := s.buf[(number-s.first)*blockBytes:][:blockBytes]
	if fault := checkBlock(b, s.r.serial, number, s.r.segs[s.segment].recordsIn(number)); fault != "" {
		return s.r.corrupt(int64(number)*blockBytes, fault)
	}
	s.ready = true
	return nil
}

// merged gives the slots of several sources in ascending order.
type merged struct {
	sources []*source
	heads   []slot // of sources that have one
	live    []*source
	memory  []slot // one more source, used up from its front
}

// enter begins a segment. After an error it may be repeated.
func (m *merged) enter(segment int, memory []slot) error {
	m.heads, m.live, m.memory = m.heads[:0], m.live[:0], memory
	for _, s := range m.sources {
		s.enter(segment)
		head, ok, err := s.next()
		if err != nil {
			return err
		}
		if ok {
			m.heads, m.live = append(m.heads, head), append(m.live, s)
		}
	}
	return nil
}

// least returns the smallest slot and where it is from: -1 for memory, -2 at the end.
func (m *merged) least() (v slot, from int) {
	from = -2
	if len(m.memory) > 0 {
		v, from = m.memory[0], -1
	}
	for i, h := range m.heads {
		if from == -2 || h.compare(v) < 0 {
			v, from = h, i
		}
	}
	return v, from
}

// advance goes on behind what least gave. After an error it may be repeated.
func (m *merged) advance(from int) error {
	if from == -1 {
		m.memory = m.memory[1:]
		return nil
	}
	s := m.live[from]
	if !s.isStarted || s.last != m.heads[from] {
		s.skip(m.heads[from])
	}
	head, ok, err := s.next()
	if err != nil {
		return err
	}
	if ok {
		m.heads[from] = head
		return nil
	}
	m.heads = append(m.heads[:from], m.heads[from+1:]...)
	m.live = append(m.live[:from], m.live[from+1:]...)
	return nil
}
