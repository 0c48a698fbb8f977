package virtualize

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime/debug"
)

// Check reads every block of every queue and verifies links, ordinals, checksums, items, the live bytes of each
// segment, the relocation table and the totals. It takes as long as reading all items.
func (v *Virtualizer) Check() (err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.closed {
		return ErrClosed
	}
	defer v.guard(reading, debug.SetPanicOnFault(true), &err)
	live := make([]int64, len(v.segments))
	reached := make(map[address]struct{}, v.reloc.count)
	var disk, buffered uint64
	err = v.idx.each(func(id uint32, e *entry) error {
		if found, ok := v.idx.find(e.key); !ok || found != id {
			return corrupt("queue %x is not found by its key", e.key)
		}
		if e.disk == 0 && e.buffered == 0 {
			return corrupt("queue %x is empty and known", e.key)
		}
		disk += uint64(e.disk)
		buffered += uint64(e.buffered)
		return v.checkQueue(*e, live, reached)
	})
	if err != nil {
		return err
	}
	if disk+buffered != v.total || buffered != v.buf.items {
		return fmt.Errorf("%w: %d items on disk and %d buffered, want %d with %d buffered",
			ErrCorrupt, disk, buffered, v.total, v.buf.items)
	}
	if len(reached) != v.reloc.count {
		return fmt.Errorf("%w: %d blocks were moved, and %d are in the table", ErrCorrupt, len(reached), v.reloc.count)
	}
	return v.checkSegments(live)
}

// checkQueue verifies one queue. It adds the size of its blocks to live, and the addresses of moved ones to reached.
func (v *Virtualizer) checkQueue(e entry, live []int64, reached map[address]struct{}) error {
	for at := e.head; e.disk > 0; at = e.head {
		b, left, after, err := v.headBlock(&e)
		if err != nil {
			return err
		}
		if err := v.items(&b, at, left, func([]byte) bool { return true }); err != nil {
			return err
		}
		if !v.unpack.atEnd() {
			return corrupt("block %v: something follows its items", at)
		}
		s, i := v.locate(at)
		_, moved := v.reloc.get(at)
		if moved {
			reached[at] = struct{}{}
		}
		if moved != b.moved {
			return corrupt("block %v: moved %v, and in the table: %v", at, b.moved, moved)
		}
		_, _, body, err := s.body(i)
		if err != nil {
			return err
		}
		if b.moved && address(binary.LittleEndian.Uint64(body)) != at {
			return corrupt("block %v: moved, and it says that it was born elsewhere", at)
		}
		live[s.number] += cost(body)
		e = after
	}
	return nil
}

func (v *Virtualizer) checkSegments(live []int64) error {
	var errs []error
	moved := make([]uint32, len(v.segments))
	for _, table := range v.reloc.tables {
		for born := range table {
			moved[born.segment()]++
		}
	}
	for n, s := range v.segments {
		if s == nil {
			continue
		}
		// After the drop of a damaged queue, a segment may count more live bytes than were found, until Collect.
		if live[n] > s.live || live[n] < s.live && !v.leaky {
			errs = append(
				errs,
				fmt.Errorf("%w: segment %d has %d live bytes, accounts say %d", ErrCorrupt, n, live[n], s.live),
			)
		}
		if claimed := v.claimedBytes(s); claimed != live[n] {
			errs = append(
				errs,
				fmt.Errorf("%w: segment %d has blocks of %d bytes that no queue leads to, and that say they are live",
					ErrCorrupt, n, claimed-live[n]),
			)
		}
		if moved[n] != s.moved {
			errs = append(
				errs,
				fmt.Errorf("%w: segment %d lost %d blocks, accounts say %d", ErrCorrupt, n, moved[n], s.moved),
			)
		}
		if s.used() < s.live {
			errs = append(
				errs,
				fmt.Errorf("%w: segment %d has %d live bytes of %d used", ErrCorrupt, n, s.live, s.used()),
			)
		}
	}
	return errors.Join(errs...)
}

// claimedBytes returns the size of the blocks that Collect would treat as live. Damage in dead blocks is ignored.
func (v *Virtualizer) claimedBytes(s *segment) (sum int64) {
	for i := range s.slots {
		sl, _, body, err := s.body(i)
		if err != nil {
			continue
		}
		if _, e, _ := v.claims(s, i, sl, body); e != nil {
			sum += cost(body)
		}
	}
	return sum
}
