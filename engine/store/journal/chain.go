package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"

	"orbweaver/internal/vfs"
)

// Journals follow each other without a gap: each begins with the generation and the length of the one before.
//
//	+------------+-----------------------+--------------------------+-----+
//	| "OWJRNL4\n" | generation before u64 | its length in bytes u64  | crc |
//	+------------+-----------------------+--------------------------+-----+
//
// Without that a power cut could keep entries of a younger journal that were not synced yet and lose the end of an
// older one; their records would stay between those that count, and their URLs would be fetched and stored again.
type journalHead struct {
	generation uint64
	length     int64
}

const (
	journalMagic    = "OWJRNL4\n"
	journalMagic3   = "OWJRNL3\n" // the same without embed hops and kinds of links: these are zero there
	journalHeadSize = len(journalMagic) + 8 + 8 + 4
)

func (h journalHead) append(dst []byte) []byte {
	start := len(dst)
	dst = append(dst, journalMagic...)
	dst = binary.LittleEndian.AppendUint64(dst, h.generation)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(h.length))
	return binary.LittleEndian.AppendUint32(dst, crc32.Checksum(dst[start:], Castagnoli()))
}

// decodeJournalHead reads the head of a journal; one that was not synced is no head, and then there is nothing behind
// it.
func decodeJournalHead(b []byte) (h journalHead, ok bool) {
	if len(b) < journalHeadSize ||
		string(b[:len(journalMagic)]) != journalMagic && string(b[:len(journalMagic)]) != journalMagic3 ||
		crc32.Checksum(b[:journalHeadSize-4], Castagnoli()) != binary.LittleEndian.Uint32(b[journalHeadSize-4:]) {
		return h, false
	}
	b = b[len(journalMagic):]
	return journalHead{
		generation: binary.LittleEndian.Uint64(b),
		length:     int64(binary.LittleEndian.Uint64(b[8:])),
	}, true
}

// Follow writes the head, which says what comes before; nil for nothing. Nothing is appended to either meanwhile.
func (j *File) Follow(before *File) error {
	var h journalHead
	if before != nil {
		h = journalHead{before.generation, before.size}
	}
	if _, err := j.file.WriteAt(h.append(nil), 0); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	return nil
}

// Each calls read for the journals from a generation on, which says where the last whole entry of each ends,
// until one does not follow: its name is stray. Journals without entries belong to cuts that failed, and are passed
// over. When the first is missing the error wraps fs.ErrNotExist.
func Each(
	fsys vfs.FS,
	dir string,
	from uint64,
	read func(name string) (end int64, err error),
) (stray string, err error) {
	last := journalHead{generation: from}
	for g := from; ; g++ {
		name := Name(dir, g)
		head, filled, err := beginOfJournal(fsys, name)
		if g > from && errors.Is(err, fs.ErrNotExist) {
			return "", nil
		}
		if err != nil {
			return "", err
		}
		if g > from && !filled {
			continue
		}
		if g > from && head != last {
			return name, nil
		}
		if last.length, err = read(name); err != nil {
			return "", err
		}
		last.generation = g
	}
}

// beginOfJournal reads the head of a journal, and says whether it has an entry.
func beginOfJournal(fsys vfs.FS, name string) (head journalHead, filled bool, err error) {
	found := errors.New("found")
	_, err = Read(fsys, name, func(*Entry) error { return found })
	if filled = errors.Is(err, found); !filled {
		return head, false, err
	}
	f, err := fsys.Open(name)
	if err != nil {
		return head, false, fmt.Errorf("journal: %w", err)
	}
	b := make([]byte, journalHeadSize)
	if _, err = f.ReadAt(b, 0); err != nil && !errors.Is(err, io.EOF) {
		return head, false, errors.Join(fmt.Errorf("journal: %w", err), f.Close())
	}
	head, _ = decodeJournalHead(b)
	return head, true, f.Close()
}
