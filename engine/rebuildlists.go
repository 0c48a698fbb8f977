package engine

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"orbweaver/engine/admission"
	"orbweaver/engine/layout"
	"orbweaver/engine/seen"
	"orbweaver/engine/urlx"
	"orbweaver/internal/extsort"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

type sorted = extsort.Sorter

const listMemory = 32 << 20 // of each map

func openRebuildLists(fsys vfs.FS, dir string) (l *rebuildLists, err error) {
	l = &rebuildLists{fs: fsys, dir: dir}
	for _, m := range []struct {
		to   **seen.Map
		name string
	}{{&l.first, "first"}, {&l.others, "others"}, {&l.named, "named"}} {
		if *m.to, err = seen.Open(fsys, seen.Options{Dir: dir + "/" + m.name, MemoryBytes: listMemory}, nil); err != nil {
			return nil, errors.Join(err, l.close())
		}
	}
	for _, s := range []struct {
		to   **sorted
		name string
	}{{&l.tries, "tries"}, {&l.lasts, "lasts"}} {
		if *s.to, err = extsort.New(fsys, extsort.Options{File: dir + "/" + s.name}); err != nil {
			return nil, errors.Join(err, l.close())
		}
	}
	return l, nil
}

// close lets go of the lists; their files go with the directory.
func (l *rebuildLists) close() error {
	var errs []error
	for _, m := range []*seen.Map{l.first, l.others, l.named} {
		if m != nil {
			errs = append(errs, m.Close())
		}
	}
	for _, s := range []*sorted{l.tries, l.lasts} {
		if s != nil {
			errs = append(errs, s.Close())
		}
	}
	return errors.Join(errs...)
}

// payload notes a response that has one.
func (l *rebuildLists) payload(rec *warc.RecordRead, at warc.Position) error {
	d := seen.Digest(*rec.PayloadDigest)
	f := seen.First{RecordID: rec.ID, URI: formatPlace(at, d), Date: rec.Date}
	_, fresh, err := l.first.Insert(d, f)
	if err == nil && !fresh {
		_, _, err = l.others.Insert(keyOfID(rec.ID), f)
	}
	return err
}

// resolve finds out whether the record that a revisit names is there and has the payload. asFirst says that it names it
// as the first one that has.
func (l *rebuildLists) resolve(d seen.Digest, to warc.ID, asFirst bool) (bool, error) {
	first, ok, err := l.first.Lookup(d)
	if err != nil || ok && warc.ID(first.RecordID) == to {
		return ok, err
	}
	other, ok, err := l.others.Lookup(keyOfID(to))
	if err != nil || !ok {
		return false, err
	}
	if _, have, err := parsePlace(other.URI); err != nil || have != d {
		return false, err
	}
	if asFirst {
		_, _, err = l.named.Insert(d, other)
	}
	return true, err
}

// mayBeFirst says whether content-seen may name this response for its payload: what revisits name, or else the first
// that comes.
func (l *rebuildLists) mayBeFirst(d seen.Digest, id warc.ID) (bool, error) {
	if l.named.Len() == 0 {
		return true, nil
	}
	named, ok, err := l.named.Lookup(d)
	return !ok || warc.ID(named.RecordID) == id, err
}

// place says where the payload with a digest lies.
func (l *rebuildLists) place(d seen.Digest) (at warc.Position, ok bool, err error) {
	first, ok, err := l.first.Lookup(d)
	if err != nil || !ok {
		return at, false, err
	}
	at, _, err = parsePlace(first.URI)
	return at, err == nil, err
}

func keyOfID(id warc.ID) (d seen.Digest) {
	copy(d[:], id[:])
	return d
}

func formatPlace(at warc.Position, d seen.Digest) string {
	return fmt.Sprintf("%d %d %d %x", at.Serial, at.Offset, at.Length, d[:])
}

func parsePlace(s string) (at warc.Position, d seen.Digest, err error) {
	var sum []byte
	if _, err := fmt.Sscanf(s, "%d %d %d %x", &at.Serial, &at.Offset, &at.Length, &sum); err != nil || len(sum) != len(d) {
		return at, d, fmt.Errorf("engine: a list of the rebuild is damaged: %q", s)
	}
	copy(d[:], sum)
	return at, d, nil
}

// rebuildMark is a file in the frontier that is there until a rebuild has ended. It holds the name of the directory
// with the frontier before.
const rebuildMark = "REBUILDING"

// beginRebuild empties the frontier but for its lock: what is in it is moved aside, or, if it was left by a rebuild
// that did not end, removed. It returns the name of the directory with the old one, relative to dir, "" if there was
// none.
func beginRebuild(fsys vfs.FS, dir string) (aside string, err error) {
	front := dir + "/" + layout.FrontierDir
	mark, err := vfs.ReadFile(fsys, front+"/"+rebuildMark)
	switch {
	case err == nil:
		aside = string(mark)
		return aside, clearFrontier(fsys, front, true)
	case !errors.Is(err, fs.ErrNotExist):
		return "", err
	}
	names, err := fsys.List(front)
	if err != nil {
		return "", err
	}
	if len(names) > 1 { // more than the lock
		if aside, err = freeAside(fsys, dir); err != nil {
			return "", err
		}
		if err := moveFrontier(fsys, front, dir+"/"+aside); err != nil {
			return "", err
		}
	}
	return aside, vfs.WriteAtomic(fsys, front+"/"+rebuildMark, func(w io.Writer) error {
		_, err := io.WriteString(w, aside)
		return err
	})
}

// endRebuild removes what only the rebuild needed.
func endRebuild(fsys vfs.FS, front string) error {
	if err := clearDir(fsys, front+"/"+rebuildDir, nil); err != nil {
		return err
	}
	if err := fsys.Remove(front + "/" + rebuildMark); err != nil {
		return err
	}
	return fsys.SyncDir(front)
}

// freeAside finds a name for the old frontier.
func freeAside(fsys vfs.FS, dir string) (string, error) {
	for n := 1; ; n++ {
		name := fmt.Sprintf("%s.broken-%d", layout.FrontierDir, n)
		switch _, err := fsys.List(dir + "/" + name); {
		case errors.Is(err, fs.ErrNotExist):
			return name, nil
		case err != nil:
			return "", err
		}
	}
}

// moveFrontier moves everything but the lock, the manifest first: without it the rest is no frontier.
func moveFrontier(fsys vfs.FS, from, to string) error {
	if err := fsys.MkdirAll(to); err != nil {
		return err
	}
	if err := moveOne(fsys, from+"/MANIFEST", to+"/MANIFEST"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	names, err := fsys.List(from)
	if err != nil {
		return err
	}
	for _, name := range names {
		if name == "lock" {
			continue
		}
		if err := moveTree(fsys, from+"/"+name, to+"/"+name); err != nil {
			return err
		}
	}
	return errors.Join(fsys.SyncDir(to), fsys.SyncDir(from))
}

func moveOne(fsys vfs.FS, from, to string) error { return fsys.Rename(from, to) }

// moveTree moves a file, or a directory file by file: not every disk can do it in one.
func moveTree(fsys vfs.FS, from, to string) error {
	names, err := fsys.List(from)
	if err != nil {
		return moveOne(fsys, from, to) // a file
	}
	if err := fsys.MkdirAll(to); err != nil {
		return err
	}
	for _, name := range names {
		if err := moveTree(fsys, from+"/"+name, to+"/"+name); err != nil {
			return err
		}
	}
	return errors.Join(fsys.SyncDir(to), fsys.Remove(from))
}

// clearFrontier removes what a rebuild made.
func clearFrontier(fsys vfs.FS, front string, keepMark bool) error {
	return clearDir(fsys, front, func(name string) bool { return name == "lock" || keepMark && name == rebuildMark })
}

// clearDir removes what is in a directory, all that keep does not want, and the directory if that is all.
func clearDir(fsys vfs.FS, dir string, keep func(name string) bool) error {
	names, err := fsys.List(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, name := range names {
		if keep != nil && keep(name) {
			continue
		}
		name = dir + "/" + name
		if _, err := fsys.List(name); err == nil {
			err = clearDir(fsys, name, nil)
			if err != nil {
				return err
			}
			continue
		}
		if err := fsys.Remove(name); err != nil {
			return err
		}
	}
	if keep != nil {
		return nil
	}
	return fsys.Remove(dir)
}

// rebuilding says whether a rebuild began in this frontier and did not end.
func rebuilding(fsys vfs.FS, front string) bool {
	_, err := fsys.Size(front + "/" + rebuildMark)
	return err == nil
}

// seedChain is an admission.SeedSource of several, nil ones among them.
type seedChain []admission.SeedSource

// Each implements SeedSource.
func (c seedChain) Each(f func(where string, url []byte) error) error {
	for _, s := range c {
		if s == nil {
			continue
		}
		if err := s.Each(f); err != nil {
			return err
		}
	}
	return nil
}

// seedsLeft are the seeds of an old frontier, as far as they are still URLs in normal form. There is no checksum over
// them.
type seedsLeft struct {
	fs   vfs.FS
	name string
	bad  int
}

// Each implements SeedSource.
func (s *seedsLeft) Each(f func(where string, url []byte) error) error {
	file, err := s.fs.Open(s.name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	in := bufio.NewReaderSize(file, urlx.LengthMax+2)
	var url []byte
	for n := 1; ; n++ {
		line, err := in.ReadSlice('\n')
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = in.ReadSlice('\n')
			line = nil
		}
		if text := bytes.TrimSuffix(line, []byte("\n")); err == nil || len(text) > 0 {
			if url, nerr := urlx.Normalize(url[:0], text); nerr != nil || !bytes.Equal(url, text) {
				s.bad++
			} else if ferr := f(fmt.Sprintf("%s:%d", strings.TrimPrefix(s.name, "./"), n), text); ferr != nil {
				return ferr
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
