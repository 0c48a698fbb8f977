package lookup

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path"
	"slices"
	"sort"

	"orbweaver/internal/extsort"
	"orbweaver/warc"
	"orbweaver/warc/cdxj"
)

// Entry is an index line with the place of its record.
type Entry struct {
	Line []byte // borrowed, without its end
	At   warc.Checkpoint
}

// EachInOrder calls do with the lines of all records from a place of the archive up to another, in the order in which
// they were stored: that of the serials in the names of files, and then that of the names which have none. Lines are
// sorted in temporary files if there are many. An error of do ends the scan and is returned.
func (f *Files) EachInOrder(ctx context.Context, from, to warc.Checkpoint, do func(Entry) error) error {
	if !from.Before(to) {
		return nil
	}
	written, err := f.o.Writing.OpenLines(ctx) // before the list: see open
	if err != nil {
		return err
	}
	files, err := f.list()
	if err != nil {
		return fmt.Errorf("lookup: %w", err)
	}
	serials := bySerial(files)
	for _, file := range serials {
		if file.serial < from.Serial || file.serial > to.Serial {
			continue
		}
		part := span{begin: 0, end: math.MaxInt64}
		if file.serial == from.Serial {
			part.begin = from.Length
		}
		if file.serial == to.Serial {
			part.end = to.Length
		}
		if err := f.eachOfFile(ctx, file, written, part, do); err != nil {
			return err
		}
	}
	return nil
}

// span is a part of a file: records whose offsets are begin or more, and less than end.
type span struct{ begin, end int64 }

// numberedFile is a file with its place in the order of the archive.
type numberedFile struct {
	archiveFile

	serial uint32
}

// bySerial returns all files in the order of the archive. A name of this program's form has the serial of its file. The
// other files come behind them, by name, and so does a file whose serial an earlier one has.
func bySerial(files []archiveFile) (numbered []numberedFile) {
	next := uint64(0)
	taken := make(map[uint32]bool)
	var others []archiveFile
	for _, file := range files {
		info, ok := warc.ParseName(path.Base(file.path))
		if !ok || taken[info.Serial] {
			others = append(others, file)
			continue
		}
		taken[info.Serial] = true
		next = max(next, uint64(info.Serial)+1)
		numbered = append(numbered, numberedFile{file, info.Serial})
	}
	slices.SortFunc(numbered, func(a, b numberedFile) int { return cmp.Compare(a.serial, b.serial) })
	for _, file := range others {
		numbered = append(numbered, numberedFile{file, uint32(min(next, math.MaxUint32))})
		next++
	}
	return numbered
}

// eachOfFile calls do with the lines of a part of one file.
func (f *Files) eachOfFile(
	ctx context.Context, file numberedFile, written []warc.OpenLines, part span, do func(Entry) error,
) error {
	each := func(line []byte, offset int64) error {
		return do(Entry{Line: line, At: warc.Checkpoint{Serial: file.serial, Length: offset}})
	}
	for _, w := range written {
		if w.Final != file.name {
			continue
		}
		for _, lines := range w.Parts {
			if err := eachOfLines(ctx, lines, file.name, part, each); err != nil {
				return err
			}
		}
		return nil
	}
	if size, err := f.o.FS.Size(file.path); err == nil && part.begin >= size {
		return nil
	}
	if !file.open || f.hasDone { // with a Writer here, a file that is not in written was finished meanwhile
		err := f.eachOfIndex(ctx, warc.IndexName(file.final), part, each)
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	all := Range{nil, []byte{0xff}}
	lines, err := f.linesOf(file.archiveFile, all)
	if f.leaveOut(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("lookup: %w", err)
	}
	return byOffset(ctx, part, each, func(add func(line []byte, offset int64) error) error {
		return eachLine(lines, all, func(line []byte) error { return add(line, cdxj.Offset(line)) })
	})
}

// eachOfLines calls do with a part of lines that are in memory in the order of their records.
func eachOfLines(
	ctx context.Context, lines *cdxj.Lines, name string, part span, do func(line []byte, offset int64) error,
) error {
	offsetOf := func(i int) int64 { return cdxj.Offset(lines.Line(i)) }
	first := sort.Search(lines.Len(), func(i int) bool { return offsetOf(i) >= part.begin })
	var whole []byte
	for i := first; i < lines.Len(); i++ {
		offset := offsetOf(i)
		if offset >= part.end {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		whole = cdxj.Complete(whole[:0], lines.Line(i), name)
		if err := do(whole, offset); err != nil {
			return err
		}
	}
	return nil
}

// eachOfIndex calls do with the lines of an index whose records are in a part of the file, in the order of the records.
// Damaged lines are left out.
func (f *Files) eachOfIndex(
	ctx context.Context, name string, part span, do func(line []byte, offset int64) error,
) error {
	file, err := f.o.FS.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // opened for reading
	return byOffset(ctx, part, do, func(add func(line []byte, offset int64) error) error {
		err := cdxj.ScanLines(file, func(line []byte, said *cdxj.Line, damage error) error {
			if damage != nil {
				f.tellOnce(warc.LineFault(path.Base(name), said.At, damage))
				return nil
			}
			return add(line[:len(line)-1], said.Offset)
		})
		if err != nil {
			err = fmt.Errorf("lookup: %s: %w", name, err)
		}
		return err
	})
}

// orderMemory is the memory of lines before they are sorted on the disk, in bytes.
const orderMemory = 32 << 20

// byOffset calls do with the lines that each gives of a part of a file, in the order of their records.
func byOffset(
	ctx context.Context, part span, do func(line []byte, offset int64) error,
	each func(add func(line []byte, offset int64) error) error,
) (err error) {
	scratch := extsort.NewScratch()
	defer func() { err = errors.Join(err, scratch.Close()) }()
	lines := extsort.NewLines(scratch, orderMemory)
	var placed []byte
	err = each(func(line []byte, offset int64) error {
		if offset < part.begin || offset >= part.end {
			return ctx.Err()
		}
		placed = append(binary.BigEndian.AppendUint64(placed[:0], uint64(offset)), line...)
		return cmp.Or(ctx.Err(), lines.Add(placed))
	})
	if err != nil {
		return err
	}
	for placed, err := range lines.Sorted() {
		if err == nil {
			err = do(placed[8:], int64(binary.BigEndian.Uint64(placed)))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// FirstSince returns the place of the first record, in the order of the archive, that was captured at this time or
// later; stamp has 14 digits. It returns end if there is none before.
func (f *Files) FirstSince(ctx context.Context, stamp string, end warc.Checkpoint) (warc.Checkpoint, error) {
	files, err := f.list()
	if err != nil {
		return end, fmt.Errorf("lookup: %w", err)
	}
	var from warc.Checkpoint
	for _, file := range bySerial(files) {
		created := warc.FileInfo{Name: file.name}.Created()
		if !created.IsZero() && created.Format(stampLayout) < stamp {
			from.Serial = file.serial
		}
	}
	found := end
	err = f.EachInOrder(ctx, from, end, func(e Entry) error {
		if stampOf(e.Line) < stamp {
			return nil
		}
		found = e.At
		return errEnough
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return found, err
}

// stampOf is the time in an index line.
func stampOf(line []byte) string {
	_, stamp := cdxj.Key(line)
	return string(stamp)
}
