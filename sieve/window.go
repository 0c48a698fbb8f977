package sieve

import "fmt"

// windowBlocks is how many blocks one read or write moves when many are wanted: 256 KiB, where a disk that turns and
// a system call that costs a microsecond both stop mattering.
const windowBlocks = 64

// window reads blocks of a run through a buffer of up to windowBlocks blocks.
type window struct {
	r      *run
	ahead  int // blocks per read
	first  int // blocks [first, end) are in buf
	end    int
	buf    []byte
	blocks uint64 // given
	bytes  int64  // read from the file
}

func newWindow(r *run, ahead int) window {
	return window{r: r, ahead: ahead, buf: make([]byte, min(ahead, r.blocks())*blockBytes+blockPad)}
}

// fetch gives block b and blockPad bytes behind it. It reads it, unless the last read brought it too.
func (w *window) fetch(b int) ([]byte, error) {
	if b < w.first || b >= w.end {
		end := min(b+w.ahead, w.r.blocks())
		w.first, w.end = 0, 0 // nothing is there if the read fails
		if err := readAt(w.r.file, w.buf[:(end-b)*blockBytes], int64(b)*blockBytes); err != nil {
			return nil, err
		}
		w.first, w.end = b, end
		w.bytes += int64(end-b) * blockBytes
	}
	w.blocks++
	at := (b - w.first) * blockBytes
	return w.buf[at : at+blockBytes+blockPad], nil
}

// source gives ascending keys, a stretch at a time.
type source interface {
	// next gives the keys that follow, none at the end. What it gave before is no longer good.
	next() (keys, error)
}

// runSource gives the keys of a run.
type runSource struct {
	w     window
	block keyBlock
	at    int // next block
	seen  uint64
}

func fromRun(r *run) *runSource { return &runSource{w: newWindow(r, windowBlocks)} }

// next decodes one more block and verifies it against the index.
func (s *runSource) next() (keys, error) {
	r, b := s.w.r, s.at
	if b == r.blocks() {
		if s.seen != r.count {
			return keys{}, r.corrupt(int64(b)*blockBytes, fmt.Sprintf("%d keys, the footer says %d", s.seen, r.count))
		}
		return keys{}, nil
	}
	src, err := s.w.fetch(b)
	if err != nil {
		return keys{}, err
	}
	k, fault := s.block.decode(src, uint32(b))
	if fault == "" {
		// Neighbouring blocks must not overlap, else the run is not ascending although each block is.
		last := k.at(k.len() - 1)
		if k.at(0) != r.first(b) || b+1 < r.blocks() && !last.less(r.first(b+1)) || b+1 == r.blocks() && last != r.last {
			fault = "block does not agree with the index"
		}
	}
	if fault != "" {
		return keys{}, r.corrupt(int64(b)*blockBytes, fault)
	}
	s.at++
	s.seen += uint64(k.len())
	return k, nil
}
