package admission

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"

	"github.com/zeebo/xxh3"

	"orbweaver/internal/urlx"
	"orbweaver/internal/vfs"
)

// BadSeedsLogged is how many seeds that are refused or changed get a line in the log.
const BadSeedsLogged = 20

// Offered is what the last checkpoint of a crawl has of its seeds.
type Offered struct {
	Bytes   int64 // of the file of seeds; 0 for all of it
	IsClean bool  // the run ended in order: the checkpoint also has the seeds that were added while it ran
}

// Kept are the seeds of a crawl that begins or goes on.
type Kept struct {
	Offer int   // how many must be offered: those that no checkpoint may have, and all that are given now
	Bytes int64 // length of the file of seeds
}

// KeepSeeds copies the seeds in normal form into the crawl directory, behind those of earlier runs, so that a kill
// before they are offered loses none and a source that can be read once is enough. Seeds that were added while an
// earlier run ran come behind those of that run.
func KeepSeeds(fsys vfs.FS, dir string, src SeedSource, last Offered, log *slog.Logger) (Kept, error) {
	old, err := vfs.ReadFile(fsys, SeedsFile(dir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Kept{}, fmt.Errorf("admission: seeds: %w", err)
	}
	more, err := readAddedSeeds(fsys, dir)
	if err != nil {
		return Kept{}, err
	}
	k := seedWriter{log: log, known: make(map[uint64]struct{}), size: int64(len(old))}
	k.addKnown(old)
	if 0 < last.Bytes && last.Bytes < int64(len(old)) {
		k.pending = bytes.Count(old[last.Bytes:], []byte("\n"))
	}
	if src != nil || len(more) > 0 {
		err = vfs.WriteAtomic(fsys, SeedsFile(dir), func(w io.Writer) error {
			if _, err := w.Write(old); err != nil {
				return err
			}
			if err := k.copyNew(w, more); err != nil || src == nil {
				return err
			}
			return src.Each(func(where string, raw []byte) error { return k.keep(w, where, raw) })
		})
	}
	if err == nil {
		err = vfs.RemoveIfExists(fsys, addedSeedsFile(dir))
	}
	if err != nil {
		return Kept{}, fmt.Errorf("admission: seeds: %w", err)
	}
	k.report(old)
	if last.IsClean {
		k.moved = 0
	}
	return Kept{k.pending + k.moved + k.added + k.repeated, k.size}, nil
}

// CheckSeeds logs what KeepSeeds would log of a source for a new crawl. It returns ErrNoSeeds if none is usable.
func CheckSeeds(src SeedSource, log *slog.Logger) error {
	k := seedWriter{log: log, known: make(map[uint64]struct{})}
	err := src.Each(func(where string, raw []byte) error { return k.keep(io.Discard, where, raw) })
	k.report(nil)
	if err == nil && k.added == 0 {
		err = ErrNoSeeds
	}
	return err
}

// knownSeedsMax bounds the seeds that are compared with each other: beyond it, a repeated seed is written again.
const knownSeedsMax = 4 << 20

// seedWriter writes seeds that are not known yet, and counts what became of all.
type seedWriter struct {
	log       *slog.Logger
	known     map[uint64]struct{} // hashes of seeds
	url       []byte
	size      int64 // of the file
	before    int   // seeds of earlier runs
	pending   int   // of these, seeds that a run had no time to offer
	moved     int   // of these, seeds that were added while one ran
	added     int
	repeated  int
	bad       int
	named     int    // with a user
	completed int    // hosts without a scheme
	firstHost string // of these
	titled    int    // with text beside the URL
}

// addKnown notes the seeds of earlier runs.
func (k *seedWriter) addKnown(old []byte) {
	for line := range bytes.Lines(old) {
		k.before++
		k.note(xxh3.Hash(bytes.TrimSuffix(line, []byte("\n"))))
	}
}

// copyNew writes the seeds that an operator has added to an earlier run, and notes them like those of that run.
func (k *seedWriter) copyNew(w io.Writer, lines []byte) error {
	for line := range bytes.Lines(lines) {
		hash := xxh3.Hash(bytes.TrimSuffix(line, []byte("\n")))
		if _, known := k.known[hash]; known {
			continue
		}
		k.before++
		k.moved++
		k.note(hash)
		if err := k.write(w, line); err != nil {
			return err
		}
	}
	return nil
}

func (k *seedWriter) note(hash uint64) {
	if len(k.known) < knownSeedsMax {
		k.known[hash] = struct{}{}
	}
}

// keep writes a seed, if it is one and new.
func (k *seedWriter) keep(w io.Writer, where string, raw []byte) error {
	shown := fmt.Sprintf("%.200s", raw)
	if urlx.HasUserinfo(raw) {
		shown = "not shown, since it names a user"
		if k.named++; k.named <= BadSeedsLogged {
			k.log.Warn("seed names a user; name and password are left out", "where", where)
		}
	}
	text, left := SeedURL(raw)
	if len(left) > 0 {
		if k.titled++; k.titled <= BadSeedsLogged {
			say := k.log.Info
			if bytes.Contains(left, []byte("://")) { // it may be a URL that is meant as a seed
				say = k.log.Warn
			}
			say("text beside the URL of a seed is left out", "where", where, "seed", shown,
				"left_out", fmt.Sprintf("%.200s", left))
		}
	}
	whole := CompleteSeed(text)
	if len(whole) > len(text) {
		if k.completed++; k.completed == 1 {
			k.firstHost = shown
		}
	}
	var err error
	if k.url, err = urlx.Normalize(k.url[:0], whole); err != nil {
		if k.bad++; k.bad <= BadSeedsLogged {
			k.log.Warn("seed is not a URL and is left out", "where", where, "seed", shown, "reason", urlx.Reason(err))
		}
		return nil
	}
	hash := xxh3.Hash(k.url)
	if _, known := k.known[hash]; known {
		k.repeated++
		return nil
	}
	k.note(hash)
	k.added++
	return k.write(w, append(k.url, '\n'))
}

func (k *seedWriter) write(w io.Writer, line []byte) error {
	n, err := w.Write(line)
	k.size += int64(n)
	return err
}

// report logs what the crawl begins or goes on with.
func (k *seedWriter) report(old []byte) {
	if k.bad > BadSeedsLogged {
		k.log.Warn("more seeds were no URLs", "bad", k.bad, "good", k.added+k.repeated)
	}
	if k.completed > 0 {
		k.log.Info("seeds without a scheme get http://", "seeds", k.completed, "first", k.firstHost)
	}
	if k.titled > BadSeedsLogged {
		k.log.Info("more seeds had text beside the URL", "lines", k.titled)
	}
	if k.before == 0 {
		return
	}
	first, _, _ := bytes.Cut(old, []byte("\n"))
	k.log.Info("resuming the crawl of this directory",
		"first_seed", string(first), "seeds", k.before, "new_seeds", k.added, "known_seeds", k.repeated)
}
