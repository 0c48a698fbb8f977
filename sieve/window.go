package sieve

import "fmt"

// windowBlocks is the number of blocks per read or write when many are needed: 256 KiB. At this size neither the seek
// time of a rotating disk nor the time of a system call matters.
const windowBlocks = 64

// window reads blocks of a run through a buffer of up to windowBlocks blocks.
type window struct {
	r      *run
	ahead  int // blocks per read
	first  int // blocks first to end-1 are in buf
	end    int
	buf    []byte
	blocks uint64 // returned
	bytes  int64  // read from the file
}

func newWindow(r *run, ahead int) window {
	return window{r: r, ahead: ahead, buf: make([]byte, min(ahead, r.blocks())*blockBytes+blockPad)}
}

// fetch returns block b and blockPad bytes after it. It reads the block unless it is in the buffer. The result is valid
// until the next fetch.
func (w *window) fetch(b int) ([]byte, error) {
	if b < w.first || b >= w.end {
		end := min(b+w.ahead, w.r.blocks())
		w.first, w.end = 0, 0 // nothing is in the buffer if the read fails
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

// source returns ascending keys, some at a time.
type source interface {
	// next returns the next keys, or none at the end. The keys that it returned before are no longer valid.
	next() (keys, error)
}

// runSource returns the keys of a run.
type runSource struct {
	w     window
	block keyBlock
	at    int // next block
	seen  uint64
}

func fromRun(r *run) *runSource { return &runSource{w: newWindow(r, windowBlocks)} }

// next decodes the next block and verifies it against the index.
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
		// Adjacent blocks must not overlap, otherwise the run does not ascend.
		last := k.at(k.len() - 1)
		if k.at(0) != r.first(b) || b+1 < r.blocks() && !last.less(r.first(b+1)) ||
			b+1 == r.blocks() && last != r.last {
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
