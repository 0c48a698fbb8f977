package outbox

import (
	"errors"
	"fmt"
	"slices"

	"orbweaver/virtualize/diskq"
)

// Cut is where the lines of an outbox are. It goes into the manifest.
type Cut struct {
	Next  int                `json:"next"`
	Lines map[string]LineCut `json:"lines"`

	gone []int // lines that were there before, and are not in this cut
}

// LineCut is one line of a Cut.
type LineCut struct {
	Number int       `json:"number"`
	Queue  diskq.Cut `json:"queue"` // to be sent
	Told   diskq.Cut `json:"told"`
}

// Cut marks where everything is. The image, which is the caller's, is what the queues do not hold; it belongs to the Cut. Nobody may be
// in another call meanwhile.
func (b *Outbox) Cut() (c Cut, image []byte, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err != nil {
		return Cut{}, nil, b.err
	}
	c = Cut{Next: b.next, Lines: make(map[string]LineCut, len(b.lines)), gone: slices.Clone(b.gone)}
	for to, l := range b.lines {
		cut := LineCut{Number: l.number}
		if cut.Queue, err = l.out.queue.Cut(); err == nil {
			cut.Told, err = l.told.queue.Cut()
		}
		if err != nil {
			b.meet(err)
			return Cut{}, nil, fmt.Errorf("outbox: %w", err)
		}
		c.Lines[to] = cut
		var held []byte
		for _, batches := range [2][]*Batch{l.under, l.again} {
			for _, batch := range batches {
				held = append(held, batch.Bytes...)
			}
		}
		if held = append(held, l.out.over...); len(held)+len(l.told.over) > 0 {
			image = AppendItem(AppendItem(AppendItem(image, []byte(to)), held), l.told.over)
		}
	}
	return c, image, nil
}

// load takes an image: what was under way is sent again.
func (b *Outbox) load(image []byte) error {
	for len(image) > 0 {
		to, rest, ok := cut(image)
		held, rest, both := cut(rest)
		told, rest, all := cut(rest)
		if !ok || !both || !all {
			return ErrFrame
		}
		image = rest
		l := b.lines[string(to)]
		if l == nil {
			return fmt.Errorf("%w: for %q, who has no line", ErrFrame, to)
		}
		for item, err := range Items(told) {
			if err != nil {
				return err
			}
			if err := l.told.put(item); err != nil {
				b.meet(err)
			}
		}
		batch := &Batch{line: l}
		for item, err := range Items(held) {
			if err != nil {
				return err
			}
			batch.Bytes = AppendItem(batch.Bytes, item)
			if batch.Items++; batch.Items >= b.o.BatchItems || len(batch.Bytes) >= b.o.BatchBytes {
				l.again = append(l.again, batch)
				batch = &Batch{line: l}
			}
		}
		if batch.Items > 0 {
			l.again = append(l.again, batch)
		}
		poke(l.wake)
	}
	return nil
}

// Sync makes everything up to the last Cut durable.
func (b *Outbox) Sync() error {
	for _, pair := range b.queues() {
		for _, q := range pair {
			if err := q.Sync(); err != nil && !errors.Is(err, diskq.ErrClosed) {
				return fmt.Errorf("outbox: %w", err)
			}
		}
	}
	return nil
}

// Release says that the manifest that names c is durable: files that lie wholly before it go.
func (b *Outbox) Release(c Cut) error {
	queues := b.queues()
	for to, l := range c.Lines {
		if pair := queues[to]; pair[0] != nil {
			err := errors.Join(pair[0].Release(l.Queue), pair[1].Release(l.Told))
			if err != nil && !errors.Is(err, diskq.ErrClosed) {
				return fmt.Errorf("outbox: %w", err)
			}
		}
	}
	return b.clear(c.gone)
}

// clear removes the files of lines that are no more.
func (b *Outbox) clear(gone []int) error {
	for _, number := range gone {
		for _, what := range []string{"out", "told"} {
			q, err := b.queue(number, what, nil) // which removes what was there
			if err == nil {
				err = q.Close()
			}
			if err != nil {
				return fmt.Errorf("outbox: %w", err)
			}
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.gone = slices.DeleteFunc(b.gone, func(number int) bool { return slices.Contains(gone, number) })
	return nil
}

// queues are those there are now: of each line what is to be sent, and what was told. They may be closed meanwhile.
func (b *Outbox) queues() map[string][2]*diskq.Queue {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := make(map[string][2]*diskq.Queue, len(b.lines))
	for to, l := range b.lines {
		all[to] = [2]*diskq.Queue{l.out.queue, l.told.queue}
	}
	return all
}
