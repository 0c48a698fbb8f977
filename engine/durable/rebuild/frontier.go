package rebuild

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"orbweaver/engine/state/layout"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

const (
	// markFile is a file in the frontier that exists until a rebuild has ended. It holds the name of the directory of
	// the old frontier, and movingPrefix before it while the old frontier is being moved there.
	markFile     = "REBUILDING"
	movingPrefix = "moving to "
	// listsDir holds the lists of a rebuild, in the frontier.
	listsDir = "rebuild"
)

// Begin empties the frontier of the crawl in dir except its lock: the old frontier is moved aside. What a rebuild left
// that did not end is removed, and a move that did not end is continued. It returns the name of the directory of the
// old frontier, relative to dir, "" if there was none.
func Begin(fsys vfs.FS, dir string) (aside string, err error) {
	front := dir + "/" + layout.FrontierDir
	mark, err := vfs.ReadFile(fsys, front+"/"+markFile)
	aside, isMoving := strings.CutPrefix(string(mark), movingPrefix)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		old, err := oldNames(fsys, front)
		if err != nil {
			return "", err
		}
		if len(old) == 0 {
			return "", writeMark(fsys, front, "")
		}
		if aside, err = unusedName(fsys, dir); err != nil {
			return "", err
		}
		if err := writeMark(fsys, front, movingPrefix+aside); err != nil {
			return "", err
		}
	case err != nil:
		return "", err
	case !isMoving:
		return aside, clearFrontier(fsys, front, true)
	}
	if err := moveFrontier(fsys, front, dir+"/"+aside); err != nil {
		return "", err
	}
	return aside, writeMark(fsys, front, aside)
}

func writeMark(fsys vfs.FS, front, text string) error {
	return vfs.WriteAtomic(fsys, front+"/"+markFile, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}

// End removes what only the rebuild needed, when the new frontier is durable.
func End(fsys vfs.FS, front string) error {
	if err := clearDir(fsys, front+"/"+listsDir, nil); err != nil {
		return err
	}
	if err := fsys.Remove(front + "/" + markFile); err != nil {
		return err
	}
	return fsys.SyncDir(front)
}

// unusedName finds a name for the directory of the old frontier.
func unusedName(fsys vfs.FS, dir string) (string, error) {
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

// oldNames lists what is in a frontier apart from its lock and the mark.
func oldNames(fsys vfs.FS, front string) ([]string, error) {
	names, err := fsys.List(front)
	return slices.DeleteFunc(names, func(name string) bool {
		return name == "lock" || name == markFile || name == markFile+vfs.TemporarySuffix
	}), err
}

// moveFrontier moves what oldNames lists, the manifest first: without it the rest is no frontier. It may be called
// again after a kill.
func moveFrontier(fsys vfs.FS, from, to string) error {
	if err := fsys.MkdirAll(to); err != nil {
		return err
	}
	if err := fsys.Rename(from+"/MANIFEST", to+"/MANIFEST"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	names, err := oldNames(fsys, from)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := moveTree(fsys, from+"/"+name, to+"/"+name); err != nil {
			return err
		}
	}
	return errors.Join(fsys.SyncDir(to), fsys.SyncDir(from))
}

// moveTree moves a file, or a directory file by file: not every disk can do it in one.
func moveTree(fsys vfs.FS, from, to string) error {
	names, err := fsys.List(from)
	if err != nil {
		return fsys.Rename(from, to) // a file
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
	return clearDir(fsys, front, func(name string) bool { return name == "lock" || keepMark && name == markFile })
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

// MayBegin returns why no crawl can begin in a directory without a manifest: ErrUnfinished or ErrFrontierLost. It
// returns nil for a directory that never held a crawl.
func MayBegin(fsys vfs.FS, dir string) error {
	if IsUnfinished(fsys, dir+"/"+layout.FrontierDir) {
		return ErrUnfinished
	}
	files, err := warc.Files(fsys, dir+"/"+layout.ArchiveDir)
	if err != nil {
		return fmt.Errorf("rebuild: archive: %w", err)
	}
	if len(files) > 0 {
		return fmt.Errorf("%w: %s", ErrFrontierLost, dir)
	}
	return nil
}

// IsUnfinished says whether a rebuild began in this frontier and did not end.
func IsUnfinished(fsys vfs.FS, front string) bool {
	_, err := fsys.Size(front + "/" + markFile)
	return err == nil
}

// depths counts pages by links from a seed. The metadata record beside a page says it, if there is one.
type depths struct {
	page    warc.ID // the last page, if its depth is not known yet; else zero
	unknown int64   // pages whose depth is not known
}

// notePage notes a page that was counted without its depth.
func (d *depths) notePage(id warc.ID) {
	d.page = id
	d.unknown++
}

// take returns the depth of the last page, if a metadata record says it.
func (d *depths) take(rec *warc.RecordRead) (depth int, isKnown bool) {
	if beside, _ := warc.ParseID(rec.Get("WARC-Concurrent-To")); d.page.IsZero() || beside != d.page {
		return 0, false
	}
	d.page = warc.ID{}
	if depth, isKnown = depthIn(rec.Block); isKnown { // of a long record it has the start
		d.unknown--
	}
	return depth, isKnown
}

// depthIn returns the number of links from a seed that the fields of a metadata record say. Redirects, and what a page
// embeds, are no links.
func depthIn(block []byte) (depth int, isKnown bool) {
	for line := range bytes.Lines(block) {
		name, value, _ := bytes.Cut(line, []byte(":"))
		switch string(bytes.TrimSpace(name)) {
		case "seed":
			return 0, true
		case "hopsFromSeed":
			for _, letter := range value {
				if bytes.IndexByte([]byte("LXSM"), letter) >= 0 {
					depth++
				}
			}
			return depth, true
		}
	}
	return 0, false
}
