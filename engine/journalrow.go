package engine

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"strings"

	"orbweaver/internal/vfs"
)

// Journals follow each other without a gap: each begins with the generation and the length of the one before.
//
//	+------------+-----------------------+--------------------------+-----+
//	| "OWJRNL3\n" | generation before u64 | its length in bytes u64  | crc |
//	+------------+-----------------------+--------------------------+-----+
//
// Without that a power cut could keep entries of a younger journal that were not synced yet and lose the end of an older
// one; their records would stay between those that count, and their URLs would be fetched and stored again.
type journalHead struct {
	generation uint64
	length     int64
}

const (
	journalMagic    = "OWJRNL3\n"
	journalHeadSize = len(journalMagic) + 8 + 8 + 4
)

func (h journalHead) append(dst []byte) []byte {
	start := len(dst)
	dst = append(dst, journalMagic...)
	dst = binary.LittleEndian.AppendUint64(dst, h.generation)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(h.length))
	return binary.LittleEndian.AppendUint32(dst, crc32.Checksum(dst[start:], castagnoli()))
}

// decodeJournalHead reads the head of a journal; one that was not synced is no head, and then there is nothing behind it.
func decodeJournalHead(b []byte) (h journalHead, ok bool) {
	if len(b) < journalHeadSize || string(b[:len(journalMagic)]) != journalMagic ||
		crc32.Checksum(b[:journalHeadSize-4], castagnoli()) != binary.LittleEndian.Uint32(b[journalHeadSize-4:]) {
		return h, false
	}
	b = b[len(journalMagic):]
	return journalHead{generation: binary.LittleEndian.Uint64(b), length: int64(binary.LittleEndian.Uint64(b[8:]))}, true
}

// follow writes the head, which says what comes before; nil for nothing. Nothing is appended to either meanwhile.
func (j *journal) follow(before *journal) error {
	var h journalHead
	if before != nil {
		h = journalHead{before.generation, before.size}
	}
	if _, err := j.file.WriteAt(h.append(nil), 0); err != nil {
		return fmt.Errorf("engine: journal: %w", err)
	}
	return nil
}

// eachJournal calls read for the journals from a generation on, which says where the last whole entry of each ends, until
// one does not follow: its name is stray. Journals without entries belong to cuts that failed, and are passed over. When
// the first is missing the error wraps fs.ErrNotExist.
func eachJournal(fsys vfs.FS, dir string, from uint64, read func(name string) (end int64, err error)) (stray string, err error) {
	last := journalHead{generation: from}
	for g := from; ; g++ {
		name := journalName(dir, g)
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
	_, err = readJournal(fsys, name, func(*journalEntry) error { return found })
	if filled = errors.Is(err, found); !filled {
		return head, false, err
	}
	f, err := fsys.Open(name)
	if err != nil {
		return head, false, fmt.Errorf("engine: journal: %w", err)
	}
	b := make([]byte, journalHeadSize)
	if _, err = f.ReadAt(b, 0); err != nil && !errors.Is(err, io.EOF) {
		return head, false, errors.Join(fmt.Errorf("engine: journal: %w", err), f.Close())
	}
	head, _ = decodeJournalHead(b)
	return head, true, f.Close()
}

// eachGeneration calls f for the bench, aloft, outbox and journal files in the directory.
func eachGeneration(fsys vfs.FS, dir string, f func(name, kind string, generation uint64) error) error {
	names, err := fsys.List(dir)
	if err != nil {
		return fmt.Errorf("engine: checkpoint: %w", err)
	}
	for _, name := range names {
		for _, kind := range []string{"bench-", "aloft-", "outbox-", "journal-"} {
			var g uint64
			number, ok := strings.CutPrefix(name, kind)
			if !ok {
				continue
			}
			if _, err := fmt.Sscanf(number, "%d", &g); err != nil {
				continue
			}
			if err := f(dir+"/"+name, kind, g); err != nil {
				return fmt.Errorf("engine: checkpoint: %w", err)
			}
		}
	}
	return nil
}

// removeOlder deletes the files of generations before keep, but for what is named.
func removeOlder(fsys vfs.FS, dir string, keep uint64, named benchChain) error {
	return eachGeneration(fsys, dir, func(name, kind string, g uint64) error {
		if g >= keep || (kind == "bench-" && named.names(g)) {
			return nil
		}
		return vfs.RemoveIfExists(fsys, name)
	})
}

// youngest is the highest generation that any file has. A new one must be higher: what a power cut left of an older file
// of the same name could show through.
func youngest(fsys vfs.FS, dir string) (generation uint64, err error) {
	err = eachGeneration(fsys, dir, func(_, _ string, g uint64) error {
		generation = max(generation, g)
		return nil
	})
	return generation, err
}
