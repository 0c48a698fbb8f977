package upload

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"sync"
	"time"

	"orbweaver/engine/state/layout"
	"orbweaver/engine/store/receipts"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
	"orbweaver/warc/fixity"
)

// Confirmer is a Receiver that can be asked for what it has got. Files may be removed here if it has them.
type Confirmer interface {
	Receiver

	// Confirm asks for an object and its index. The error wraps ErrLost if one of them is not there as it was sent.
	Confirm(ctx context.Context, f *File, r *receipts.Receipt) error
}

// ErrLost says that an object is not there as it was sent.
var ErrLost = errors.New("the object is not there as it was sent")

// remover removes files that were sent.
type remover interface {
	// removeSent removes what may be removed now. It reports whether nothing is left that may be removed later without
	// a further checkpoint.
	removeSent(ctx context.Context, now time.Time) (isDone bool)
	writeReceipt(r *receipts.Receipt) error
	// freeing returns the length of what may be removed when it is sent. Safe for concurrent use.
	freeing() (int64, error)
}

// noRemoval removes nothing.
type noRemoval struct{ *sender }

func (noRemoval) removeSent(context.Context, time.Time) bool { return true }

func (k noRemoval) writeReceipt(r *receipts.Receipt) error { return k.receipts.Write(r) }

func (noRemoval) freeing() (int64, error) { return 0, nil }

// removal removes the files that all receivers have (UL5). Only the goroutine of its sender uses it.
type removal struct {
	*sender

	confirmer Confirmer
	others    []Receiver      // that must have a file, too
	kept      map[string]bool // files that are not removed in this run; guarded by mu for other goroutines
	misses    int             // failures to confirm since the last success
	notBefore time.Time       // no question before
}

func newRemoval(s *sender, to Confirmer, others []Receiver) *removal {
	return &removal{sender: s, confirmer: to, others: others, kept: map[string]bool{}}
}

// removeSent implements remover.
func (r *removal) removeSent(ctx context.Context, now time.Time) (isDone bool) {
	r.reserve()
	isDone, err := r.removeAll(ctx, now)
	if err != nil && ctx.Err() == nil {
		r.misses++
		r.notBefore = now.Add(backOff(r.misses))
		r.warn("a WARC file that was sent could not be removed; it stays, and the next try is later", "error", err)
	}
	return isDone && err == nil
}

// freeing implements remover.
func (r *removal) freeing() (int64, error) {
	return Removable(r.fsys, r.dir, func(name string) bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.kept[name] || r.damaged[name]
	})
}

// removeAll looks at all closed files, except the last of the archive: a resume may continue behind it.
func (r *removal) removeAll(ctx context.Context, now time.Time) (isDone bool, err error) {
	files, err := warc.Files(r.fsys, r.dir+"/"+layout.ArchiveDir)
	if err != nil {
		return false, err
	}
	isDone = true
	end := new(warc.Checkpoint) // read when a file is found that was sent
	for _, info := range files {
		if _, isSent := r.known[info.Name]; isSent {
			if end, err = durableEnd(r.fsys, r.dir); err != nil {
				return false, err
			}
			break
		}
	}
	// The manifest is read at most once, however many files may be removed.
	listed := sync.OnceValues(func() (map[string]fixity.File, error) { return listedFiles(r.fsys, r.dir) })
	for _, info := range files[:max(len(files)-1, 0)] {
		if info.Open || r.kept[info.Name] || r.damaged[info.Name] {
			continue
		}
		f := File{
			FS: r.fsys, Dir: r.dir + "/" + layout.ArchiveDir, Name: info.Name, Index: info.Index(), Serial: info.Serial,
		}
		if f.Length, err = r.fsys.Size(f.Path()); err != nil {
			return false, fmt.Errorf("upload: %w", err)
		}
		if info.Serial < end.Serial { // otherwise a resume may need it
			isRemoved, err := r.remove(ctx, now, &f, listed)
			if err != nil {
				return false, err
			}
			isDone = isDone && (isRemoved || r.kept[f.Name])
		}
	}
	return isDone, nil
}

// listing returns the lines of the manifest, by name.
type listing func() (map[string]fixity.File, error)

// remove removes a file if all receivers have it.
func (r *removal) remove(ctx context.Context, now time.Time, f *File, listed listing) (isRemoved bool, err error) {
	receipt, ok := r.known[f.Name]
	if !ok || now.Before(r.notBefore) {
		return false, nil
	}
	for _, other := range r.others {
		l := receipts.List{FS: r.fsys, Dir: r.dir + "/" + receipts.Dir(other.Name())}
		if one, ok, err := l.Read(f.Name); err != nil || !ok || one.Target != other.Target() {
			return false, err
		}
	}
	if why, err := r.whyKept(f, &receipt, listed); err != nil || why != "" {
		r.keep(f, why)
		return false, err
	}
	err = r.confirmer.Confirm(ctx, f, &receipt)
	if errors.Is(err, ErrLost) {
		r.warn("the object store has lost a WARC file; it is sent again", "file", f.Name, "error", err)
		delete(r.known, f.Name)
		return false, r.receipts.Remove(f.Name)
	}
	if err != nil {
		return false, err
	}
	if err := r.unlink(f); err != nil {
		return false, err
	}
	r.misses = 0
	r.mu.Lock()
	r.stats.removed++
	r.stats.removedBytes += f.Length
	r.mu.Unlock()
	r.log.Info("WARC file removed: the object store has it", "file", f.Name, "bytes", f.Length, "object", receipt.Place())
	return true, nil
}

// whyKept says why a file that was sent must not be removed; "" if it may be.
func (r *removal) whyKept(f *File, receipt *receipts.Receipt, listed listing) (why string, err error) {
	lines, err := listed()
	if err != nil {
		return "", err
	}
	_, indexErr := r.fsys.Size(f.Dir + "/" + f.Index)
	line, ok := lines[f.Name]
	switch {
	case errors.Is(indexErr, fs.ErrNotExist):
		return "it has no index: 'orbweaver warc index --write' makes it", nil
	case indexErr != nil:
		return "", fmt.Errorf("upload: %w", indexErr)
	case !ok:
		return "it has no line in the manifest: 'orbweaver manifest' adds it", nil
	case line.Bytes != receipt.Length || line.Bytes != f.Length || hex.EncodeToString(line.SHA256[:]) != receipt.SHA256:
		return "the file or its object is not what its line in the manifest says: see 'orbweaver fsck'", nil
	case receipt.Verified == "":
		return "its receipt names no proof", nil
	}
	return "", nil
}

func (r *removal) keep(f *File, why string) {
	if why == "" {
		return
	}
	r.mu.Lock()
	r.kept[f.Name] = true
	r.mu.Unlock()
	r.log.Error("a WARC file that was sent is not removed", "file", f.Name, "reason", why)
}

// unlink removes a file. The receipt is made durable before: a killed process may have left its name in memory alone.
func (r *removal) unlink(f *File) error {
	for _, dir := range []string{r.receipts.Dir, path.Dir(r.receipts.Dir), r.dir} {
		if err := r.fsys.SyncDir(dir); err != nil {
			return fmt.Errorf("upload: receipt: %w", err)
		}
	}
	if err := r.fsys.Remove(f.Path()); err != nil {
		return fmt.Errorf("upload: %w", err)
	}
	if err := r.fsys.SyncDir(f.Dir); err != nil {
		return fmt.Errorf("upload: %w", err)
	}
	return nil
}

// reserveBytes is room for receipts on a full disk: without it nothing could be removed.
const reserveBytes = 256 << 10

func (r *removal) reserveFile() string { return r.receipts.Dir + "/reserve" }

// reserve reserves room for receipts. Without success it is tried again later.
func (r *removal) reserve() {
	if _, err := r.fsys.Size(r.reserveFile()); !errors.Is(err, fs.ErrNotExist) {
		return
	}
	file, err := r.fsys.Create(r.reserveFile())
	if err != nil {
		return
	}
	if err = errors.Join(file.Allocate(0, reserveBytes), file.Close()); err != nil {
		_ = r.fsys.Remove(r.reserveFile())
	}
}

// writeReceipt implements remover. If the disk is full, it uses the reserve.
func (r *removal) writeReceipt(one *receipts.Receipt) error {
	err := r.receipts.Write(one)
	if vfs.IsFull(err) && r.fsys.Remove(r.reserveFile()) == nil {
		err = r.receipts.Write(one)
	}
	return err
}

// listedFiles are the lines of the manifest of the archive, by name; none without a manifest.
func listedFiles(fsys vfs.FS, dir string) (map[string]fixity.File, error) {
	name := dir + "/" + layout.ArchiveDir + "/" + fixity.ManifestName
	f, err := fsys.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // an empty map
	}
	if err != nil {
		return nil, fmt.Errorf("upload: %w", err)
	}
	list, err := fixity.Read(f)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("upload: %s: %w", name, err)
	}
	files := make(map[string]fixity.File, len(list.Files))
	for _, one := range list.Files {
		files[one.Name] = one
	}
	return files, nil
}

// Removable returns how many bytes of WARC files a crawl will remove when they are sent, without those that stay.
func Removable(fsys vfs.FS, dir string, stays func(name string) bool) (total int64, err error) {
	files, err := warc.Files(fsys, dir+"/"+layout.ArchiveDir)
	if err != nil {
		return 0, err
	}
	for _, info := range files[:max(len(files)-1, 0)] {
		if info.Open || stays(info.Name) {
			continue
		}
		length, err := fsys.Size(dir + "/" + layout.ArchiveDir + "/" + info.Name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed meanwhile
		}
		if err != nil {
			return 0, fmt.Errorf("upload: %w", err)
		}
		total += length
	}
	return total, nil
}
