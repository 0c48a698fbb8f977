package journal

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"

	"orbweaver/internal/vfs"
)

// What is beside the hops; there are 15 hops at most.
const (
	journalIndex   = 1 << 6
	journalSitemap = 1 << 5
	journalListed  = 1 << 7
)

const (
	journalFixed = 4 + 1 + 16 + 1 + 2 + 3 + 1 + 4 + 7 + 4 + 8 + 8
	// JournalLinksMax is the most bytes of links that append writes in one entry. The reader takes every entry that
	// append takes, and larger ones of versions that had no limit here.
	JournalLinksMax = 64 << 20
)

// Castagnoli is the table of the checksum of journals, CRC-32C.
func Castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// File is one generation of the journal, open for appending. Its owner is the goroutine that holds the engine's commit
// lock.
type File struct {
	file       vfs.File
	generation uint64
	size       int64 // of the head and of whole entries
	reserved   int64 // bytes the file has disk space for
	Step       int64 // how much more is reserved at a time
	entries    int
	safe       Position // the last place that is known to be durable, in this journal or the one before
	marked     Position // what the last sync mark says
	buf        []byte
}

// journalLong is after how many entries a checkpoint does not wait for its time: reading back the links of a small page
// takes some 40 microseconds of CPU, all but six of them spread over the processors, and a resume should not take
// long.
const journalLong = 200_000

// JournalReserve is how much disk space is taken at a time: an entry must not fail for want of space after its record
// has been written.
const JournalReserve = 1 << 20

// Name is the name of the journal of a generation in a directory.
func Name(dir string, generation uint64) string {
	return fmt.Sprintf("%s/journal-%08d", dir, generation)
}

// Create begins a generation, with space for its head. Its name is durable at once: a group commit syncs the
// content only.
func Create(fsys vfs.FS, dir string, generation uint64) (*File, error) {
	f, err := fsys.Create(Name(dir, generation))
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	_, err = f.WriteAt(make([]byte, journalHeadSize), 0)
	if err == nil {
		err = fsys.SyncDir(dir)
	}
	if err != nil {
		return nil, fmt.Errorf("journal: %w", errors.Join(err, f.Close()))
	}
	return &File{file: f, generation: generation, size: int64(journalHeadSize), Step: JournalReserve}, nil
}

// reserve makes sure that entries of so many bytes, and a sync mark, have their place on disk.
func (j *File) reserve(bytes int) error {
	need := j.size + int64(bytes) + syncMarkSize
	if need <= j.reserved {
		return nil
	}
	grow := max(j.Step, need-j.reserved)
	if err := j.file.Allocate(j.reserved, grow); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	j.reserved += grow
	return nil
}

// append writes entries, with one write. After an error the journal is as before: the same append may be repeated,
// unless the error wraps errJournalRange.
func (j *File) append(entries ...*Entry) error {
	j.buf = j.appendSyncMark(j.buf[:0])
	for _, e := range entries {
		if err := e.check(); err != nil {
			return err
		}
		j.buf = appendJournalEntry(j.buf, e)
	}
	if _, err := j.file.WriteAt(j.buf, j.size); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	j.size += int64(len(j.buf))
	j.marked = j.safe
	j.entries += len(entries)
	return nil
}

func (j *File) sync() error { return j.file.Sync() }

// Close closes the file. It does not sync.
func (j *File) Close() error { return j.file.Close() }

// Read calls f for each whole entry of a generation and says where the last one ends; a torn tail ends it
// quietly, and a torn head: nothing was acknowledged behind it. f borrows the entry.
func Read(fsys vfs.FS, name string, f func(*Entry) error) (end int64, err error) {
	file, err := fsys.Open(name)
	if err != nil {
		return 0, fmt.Errorf("journal: %w", err)
	}
	defer file.Close()
	size, err := file.Size()
	if err != nil {
		return 0, fmt.Errorf("journal: %w", err)
	}
	in := bufio.NewReaderSize(file, 1<<20)
	head := make([]byte, journalHeadSize)
	if _, err := io.ReadFull(in, head); err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return 0, fmt.Errorf("journal: %w", err)
	}
	if _, ok := decodeJournalHead(head); !ok {
		return 0, nil
	}
	end = int64(journalHeadSize)
	for buf := []byte(nil); ; {
		if buf, err = readJournalEntry(in, io.NewSectionReader(file, end, max(size-end, 0)), buf[:0]); err != nil {
			if errors.Is(err, errJournalTorn) {
				return end, nil
			}
			return end, fmt.Errorf("journal: %w", err)
		}
		e, n, err := decodeJournalEntry(buf)
		if err != nil {
			return end, nil //nolint:nilerr // torn, as above
		}
		if e.Kind != kindSynced {
			if err := f(&e); err != nil {
				return end, err
			}
		}
		end += int64(n)
	}
}

// readJournalEntry appends the bytes of the next entry to dst, or as many as there are. rest is the file from that
// entry on. The length is foreign until the checksum has been seen: an entry that is larger than append writes is
// summed up before there is memory for it.
func readJournalEntry(in *bufio.Reader, rest *io.SectionReader, dst []byte) ([]byte, error) {
	head, err := in.Peek(4)
	if err == nil {
		links := int64(binary.LittleEndian.Uint32(head))
		size := journalFixed + links + 4
		if size > rest.Size() {
			return dst, errJournalTorn
		}
		if links > JournalLinksMax {
			if err := sumJournalEntry(rest, size); err != nil {
				return dst, err
			}
		}
		dst = slices.Grow(dst, int(size))[:size]
		_, err = io.ReadFull(in, dst)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return dst, errJournalTorn
	}
	return dst, err
}

// sumJournalEntry says whether the checksum of an entry of so many bytes holds, in constant memory.
func sumJournalEntry(rest *io.SectionReader, size int64) error {
	sum := crc32.New(Castagnoli())
	if _, err := io.Copy(sum, io.NewSectionReader(rest, 0, size-4)); err != nil {
		return err
	}
	var want [4]byte
	if _, err := rest.ReadAt(want[:], size-4); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if sum.Sum32() != binary.LittleEndian.Uint32(want[:]) {
		return errJournalTorn
	}
	return nil
}
