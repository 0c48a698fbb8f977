package outbox

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"orbweaver/internal/vfs"
	"orbweaver/virtualize/diskq"
)

// Options say where an outbox lies and how large batches are. The zero value of every field but Dir is the default.
type Options struct {
	Dir          string // of the queues; each has a directory of its own in it
	SegmentBytes int64  // of a file of a queue [16 MiB]
	BatchBytes   int    // a batch ends with the item that reaches this [128 KiB]
	BatchItems   int    // or this [4096]
}

// WithDefaults returns a copy with zero values replaced.
func (o Options) WithDefaults() Options {
	if o.BatchBytes == 0 {
		o.BatchBytes = 128 << 10
	}
	if o.BatchItems == 0 {
		o.BatchItems = 4096
	}
	return o
}

// Outbox is what waits for other agents. All methods may be called at the same time, but that nobody is in a call during
// Cut.
type Outbox struct {
	fsys vfs.FS
	o    Options

	mu    sync.Mutex
	lines map[string]*line
	next  int   // number of the next line's directory
	gone  []int // numbers of lines that were given up, whose files the last cut may need
	err   error // of a queue: nothing is taken any more
}

// line is what waits for one agent, and what it was told since there is a line for it.
type line struct {
	number int
	wake   chan struct{} // capacity 1

	// Guarded by the outbox's lock, as far as they are not their own masters.
	out   shelf    // to be sent
	told  shelf    // all that was put, sent or not
	again []*Batch // to be sent again, the oldest first
	under []*Batch // under way
	gone  bool     // see Retell
}

// Batch is some items on their way. It belongs to who took it, until Done or Back.
type Batch struct {
	Items int
	Bytes []byte // the items, each behind its length as a uvarint
	line  *line  // nil when the line was given up meanwhile
}

// Open opens an outbox, empty without a cut.
func Open(fsys vfs.FS, o Options, cut *Cut, image []byte) (_ *Outbox, err error) {
	b := &Outbox{fsys: fsys, o: o.WithDefaults(), lines: make(map[string]*line)}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.Close())
		}
	}()
	if cut == nil {
		return b, nil
	}
	b.next = cut.Next
	for to, c := range cut.Lines {
		if err := b.open(to, c.Number, &c); err != nil {
			return nil, err
		}
	}
	return b, b.load(image)
}

// open adds a line, whose queues are new without a cut.
func (b *Outbox) open(to string, number int, cut *LineCut) (err error) {
	l := &line{number: number, wake: make(chan struct{}, 1)}
	var out, told *diskq.Cut
	if cut != nil {
		out, told = &cut.Queue, &cut.Told
	}
	if l.out.queue, err = b.queue(number, "out", out); err != nil {
		return err
	}
	if l.told.queue, err = b.queue(number, "told", told); err != nil {
		return errors.Join(err, l.out.queue.Close())
	}
	b.lines[to] = l
	if l.out.queue.Len() > 0 {
		poke(l.wake)
	}
	return nil
}

func (b *Outbox) queue(number int, what string, cut *diskq.Cut) (*diskq.Queue, error) {
	dir := fmt.Sprintf("%s/%d-%s", b.o.Dir, number, what)
	q, err := diskq.Open(b.fsys, diskq.Options{Dir: dir, SegmentBytes: b.o.SegmentBytes}, cut)
	if err != nil {
		return nil, fmt.Errorf("outbox: %w", err)
	}
	return q, nil
}

// Line makes sure that there is a line for an agent, and returns the channel that is poked when it has something to take.
func (b *Outbox) Line(to string) (wake <-chan struct{}, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.lines[to] == nil {
		if err := b.open(to, b.next, nil); err != nil {
			return nil, err
		}
		b.next++
	}
	return b.lines[to].wake, nil
}

// Put adds an item to the line of an agent, which there must be. It borrows the item, and never waits.
func (b *Outbox) Put(to string, item []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.lines[to]
	if l == nil {
		panic(fmt.Sprintf("BUG: outbox: no line for %q", to))
	}
	b.meet(errors.Join(l.out.put(item), l.told.put(item)))
	poke(l.wake)
}

// Send is Put of an item that nobody else is to be told if the agent is gone. It does nothing if there is no line.
func (b *Outbox) Send(to string, item []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if l := b.lines[to]; l != nil {
		b.meet(l.out.put(item))
		poke(l.wake)
	}
}

// Note adds an item to what an agent was told, without sending it: the agent knows it, and if it is gone somebody else is to be told.
// It does nothing if there is no line.
func (b *Outbox) Note(to string, item []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if l := b.lines[to]; l != nil {
		b.meet(l.told.put(item))
	}
}

// meet keeps an error that does not pass.
func (b *Outbox) meet(err error) {
	if err != nil && b.err == nil && !vfs.IsPassing(err) {
		b.err = fmt.Errorf("outbox: %w", err)
	}
}

// Short says that items are kept in memory for want of disk: nobody should bring more before Spill has returned nil.
func (b *Outbox) Short() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err != nil || b.overs() > 0
}

func (b *Outbox) overs() (n int) {
	for _, l := range b.lines {
		n += l.out.overs + l.told.overs
	}
	return n
}

// Spill writes what is in memory for want of room. The error of a disk that is still full is one of those that vfs.IsPassing knows.
func (b *Outbox) Spill() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err != nil {
		return b.err
	}
	for _, l := range b.lines {
		for _, shelf := range []*shelf{&l.out, &l.told} {
			if err := shelf.spill(); err != nil {
				b.meet(err)
				return err
			}
		}
		poke(l.wake)
	}
	return nil
}

// Take takes the next batch of a line; nil if nothing waits.
func (b *Outbox) Take(to string) (*Batch, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.lines[to]
	if l == nil || l.gone || b.err != nil {
		return nil, b.err
	}
	batch := &Batch{line: l}
	if len(l.again) > 0 {
		batch, l.again = l.again[0], l.again[1:]
	} else if err := b.fill(batch); err != nil {
		return nil, err
	}
	if batch.Items == 0 {
		return nil, nil //nolint:nilnil // as the comment says
	}
	l.under = append(l.under, batch)
	if len(l.again) > 0 || l.out.queue.Len() > 0 {
		poke(l.wake) // for whoever else takes from this line
	}
	return batch, nil
}

// fill reads items from the queue.
func (b *Outbox) fill(batch *Batch) error {
	var item []byte
	for batch.Items < b.o.BatchItems && len(batch.Bytes) < b.o.BatchBytes {
		var ok bool
		var err error
		item, ok, err = batch.line.out.queue.Read(item[:0])
		if err != nil {
			b.meet(err)
			err = fmt.Errorf("outbox: %w", err)
		}
		if err != nil && batch.Items == 0 {
			return err
		}
		if err != nil || !ok {
			return nil //nolint:nilerr // what was read goes out; the error comes again
		}
		batch.Bytes = AppendItem(batch.Bytes, item)
		batch.Items++
	}
	return nil
}

// Done forgets a batch: the other agent has it for good.
func (b *Outbox) Done(batch *Batch) {
	b.mu.Lock()
	defer b.mu.Unlock()
	batch.leave()
}

// Back gives a batch back that is not known to have arrived. It is taken again before anything that came later.
func (b *Outbox) Back(batch *Batch) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if l := batch.leave(); l != nil {
		batch.line = l
		l.again = append(l.again, batch)
		poke(l.wake)
	}
}

// leave takes a batch from those under way; nil if its line was given up.
func (b *Batch) leave() *line {
	l := b.line
	if l == nil {
		return nil
	}
	i := slices.Index(l.under, b)
	if i < 0 {
		panic("BUG: outbox: a batch that is not under way")
	}
	l.under, b.line = slices.Delete(l.under, i, i+1), nil
	return l
}

// Retell lends f the next items, n at most, of all that an agent was told: it is gone, and somebody else is to be told. When there are
// none left it removes the line, and says so. From the first call on Take has nothing to give of this line, and Done and Back of its
// batches do nothing. f must not call the outbox. After an error those that f has not seen are still there.
func (b *Outbox) Retell(to string, n int, f func(item []byte)) (over bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.lines[to]
	if l == nil {
		return true, nil
	}
	for _, batches := range [2]*[]*Batch{&l.under, &l.again} {
		for _, batch := range *batches {
			batch.line = nil
		}
		*batches = nil
	}
	l.out.over, l.out.overs, l.gone = nil, 0, true
	var item []byte
	for range n {
		var ok bool
		if item, ok, err = l.told.queue.Read(item[:0]); err != nil {
			b.meet(err)
			return false, fmt.Errorf("outbox: %w", err)
		}
		if !ok {
			each(l.told.over, f)
			delete(b.lines, to)
			b.gone = append(b.gone, l.number)
			return true, l.close()
		}
		f(item)
	}
	return false, nil
}

func (l *line) close() error { return errors.Join(l.out.queue.Close(), l.told.queue.Close()) }

// Waiting is how many items wait for an agent, and how many of them are in batches under way.
func (b *Outbox) Waiting(to string) (all, under int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.lines[to]
	if l == nil {
		return 0, 0
	}
	for _, batch := range l.under {
		under += batch.Items
	}
	all = under + l.out.overs + int(l.out.queue.Len())
	for _, batch := range l.again {
		all += batch.Items
	}
	return all, under
}

// Lines are the agents for whom there are lines, in order.
func (b *Outbox) Lines() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Sorted(maps.Keys(b.lines))
}

// Close closes the files. What no Cut has seen is forgotten.
func (b *Outbox) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	var errs []error
	for _, l := range b.lines {
		errs = append(errs, l.close())
	}
	b.lines = nil
	return errors.Join(errs...)
}

func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Recite lends f the next items, n at most, of all that an agent was told, and forgets that it was: somebody else keeps it from now on. It
// says whether there are none left. What is to be sent stays. f must not call the outbox.
func (b *Outbox) Recite(to string, n int, f func(item []byte)) (over bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.lines[to]
	if l == nil {
		return true, nil
	}
	var item []byte
	for range n {
		var ok bool
		if item, ok, err = l.told.queue.Read(item[:0]); err != nil {
			b.meet(err)
			return false, fmt.Errorf("outbox: %w", err)
		}
		if !ok {
			each(l.told.over, f)
			l.told.over, l.told.overs = nil, 0
			return true, nil
		}
		f(item)
	}
	return false, nil
}

// Forget removes the line of an agent for which nothing waits: it is gone, and others know all that it knew.
func (b *Outbox) Forget(to string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.lines[to]
	if l == nil {
		return nil
	}
	delete(b.lines, to)
	b.gone = append(b.gone, l.number)
	return l.close()
}
