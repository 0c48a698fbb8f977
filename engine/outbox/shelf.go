package outbox

import (
	"fmt"

	"orbweaver/virtualize/diskq"
)

// shelf is a queue on disk that takes items also when the disk is full: those stay in memory, behind all others.
type shelf struct {
	queue *diskq.Queue
	over  []byte // items, framed
	overs int    // their number
}

// put adds an item. It has it also after an error, which says that memory is where it is.
func (s *shelf) put(item []byte) (err error) {
	if s.overs == 0 {
		if err = s.queue.Append(item); err == nil {
			return nil
		}
		err = fmt.Errorf("outbox: %w", err)
	}
	s.over = AppendItem(s.over, item)
	s.overs++
	return err
}

// spill writes what is in memory.
func (s *shelf) spill() error {
	for s.overs > 0 {
		item, rest := mustCut(s.over)
		if err := s.queue.Append(item); err != nil {
			return fmt.Errorf("outbox: %w", err)
		}
		s.over, s.overs = rest, s.overs-1
	}
	s.over = nil
	return nil
}
