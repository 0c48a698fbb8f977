package derive

import (
	"context"
	"errors"
	"fmt"
	"path"

	"orbweaver/warc"
	"orbweaver/warc/block"
	"orbweaver/warc/member"
)

// pass reads one file for the products that need it.
type pass struct {
	run    *run
	source *Source
	memory *memory
	// isRemoved is true if the file was removed here: what is read comes from an object store.
	isRemoved bool
	products  []int // their numbers
	writers   []FileWriter
	outputs   []*Outputs
	position  int64 // bytes of the file that are in the progress
	kept      int64 // bytes of blocks that were kept for products
	isCut     bool  // a block was cut, since that was too much
	records   int64
	faults    int64
}

// make reads the file and completes the outputs. marks gets the marker of each product.
func (p *pass) make(ctx context.Context, marks []marker) (err error) {
	defer func() {
		if err != nil {
			for _, w := range p.writers {
				w.Abandon()
			}
		}
		for _, out := range p.outputs {
			err = errors.Join(err, out.abandon())
		}
	}()
	most := int64(0)
	for _, number := range p.products {
		product := p.run.o.Products[number]
		if product.Needs().Bodies {
			most = max(p.run.o.BlockMax, block.HeadMax)
		}
		out := &Outputs{fsys: p.run.fsys, dir: p.run.o.Dir, step: func(string) {}}
		p.outputs = append(p.outputs, out)
		w, err := product.Open(*p.source, out)
		if err != nil {
			return err
		}
		p.writers = append(p.writers, w)
	}
	if err := p.read(ctx, most); err != nil {
		return err
	}
	for i, number := range p.products {
		if err := p.writers[i].Close(); err != nil {
			return err
		}
		all, err := p.outputs[i].commit()
		if err != nil {
			return err
		}
		product := p.run.o.Products[number]
		marks[number] = marker{
			Input: p.source.Path, Size: p.source.Size, Crawl: p.source.Crawl, Settings: product.Settings(),
			Outputs: all, Records: p.records, Faults: p.faults,
		}
		if err := writeMarker(p.run.fsys, p.run.o.Dir, product, p.source, &marks[number]); err != nil {
			return err
		}
	}
	return nil
}

// read passes each record to the writers, with the first most bytes of its block: see memory.read.
func (p *pass) read(ctx context.Context, most int64) error {
	info := warc.FileInfo{Name: path.Base(p.source.Path)}
	var o warc.ReaderOptions
	if most == 0 {
		o.LengthAt = readLengths(p.run.fsys, p.source).at
	}
	return warc.ReadFile(p.run.fsys, path.Dir(p.source.Path), info, p.source.Size, o,
		func(z *warc.Reader) error {
			return warc.ScanRecords(z, func(rec *warc.RecordRead) error {
				if err := context.Cause(ctx); err != nil {
					return err
				}
				return p.add(rec, most)
			}, p.damage)
		})
}

// What is kept of all blocks of a file: keptFree bytes, and keptMost for each byte of the file before the record. Text
// and links take a second of processor time for 50 to 100 MiB.
const (
	keptFree = 32 << 20
	keptMost = 32
	// keptLeast is kept of each block: more than its head.
	keptLeast = 16 << 10
)

// room returns how much of the block of a record is kept, at most most.
func (p *pass) room(offset, most int64) int64 {
	return min(most, max(keptLeast, keptFree+keptMost*offset-p.kept))
}

// add passes one record to the writers. If a writer cannot use the record, the others still get it.
func (p *pass) add(rec *warc.RecordRead, most int64) error {
	defer p.memory.doneWith()
	room := p.room(rec.Offset, most)
	r, err := p.memory.read(rec, room)
	if err != nil {
		return err
	}
	p.kept += int64(len(r.Block))
	if room < most && !r.IsWhole && !p.isCut {
		p.isCut = true
		err := p.damage(&warc.Fault{Kind: member.ErrTooLarge, File: path.Base(p.source.Path), Offset: rec.Offset,
			What: fmt.Sprintf("this record and further ones are read up to %d KiB: more than %d MiB and %d bytes are "+
				"unpacked for each byte of the file: unpack it with gzip -d, and name the result",
				keptLeast>>10, keptFree>>20, keptMost)})
		if err != nil {
			return err
		}
	}
	p.records++
	p.advance(rec.Offset)
	for i, w := range p.writers {
		err := w.Add(r)
		if err == nil {
			continue
		}
		var damage *warc.Fault
		switch {
		case errors.As(err, &damage):
			if err := p.damage(damage); err != nil {
				return err
			}
		default:
			return fmt.Errorf("derive: %s of %s: %w", p.run.o.Products[p.products[i]].Name(), p.source.Path, err)
		}
	}
	return nil
}

// damage counts and reports a fault. The scan continues after it.
func (p *pass) damage(f *warc.Fault) error {
	p.faults++
	p.run.mu.Lock()
	defer p.run.mu.Unlock()
	p.run.o.OnFault(f)
	return nil
}

// progressRecords is how many records are read between two reports of progress.
const progressRecords = 256

// advance reports progress.
func (p *pass) advance(offset int64) {
	if p.records%progressRecords != 0 {
		return
	}
	p.run.mu.Lock()
	defer p.run.mu.Unlock()
	p.run.progress.Bytes += offset - p.position
	if p.isRemoved {
		p.run.progress.StoreBytes += offset - p.position
	}
	p.run.progress.Records += progressRecords
	p.position = offset
	p.run.o.OnProgress(p.run.progress)
}
