package warctool

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path"
	"strings"

	"orbweaver/internal/vfs"
	"orbweaver/warc/cdxj"
)

// multiProfile is the profile of a list of WACZ files that belong together. It is no part of WACZ 1.1.1, and what
// Browsertrix writes and ReplayWeb.page reads.
const multiProfile = "multi-wacz-package"

// multiWACZ is the list of several WACZ files.
type multiWACZ struct {
	Profile   string         `json:"profile"`
	Title     string         `json:"title,omitempty"`
	Software  string         `json:"software,omitempty"`
	Created   string         `json:"created,omitempty"`
	Resources []waczResource `json:"resources"`
}

// packParts writes several WACZ files and their list.
func packParts(x *indexes, out string, o WACZOptions, files []string) error {
	fsys, stem := x.fsys, strings.TrimSuffix(out, ".wacz")
	var parts [][]string
	homes := make(map[string]string, len(files))
	for rest := files; len(rest) > 0; {
		n, err := filesOfPart(fsys, o.SizeMost, rest)
		if err != nil {
			return err
		}
		parts = append(parts, rest[:n])
		for _, name := range rest[:n] {
			homes[name] = partName(stem, len(parts))
		}
		rest = rest[n:]
	}
	list := multiWACZ{Profile: multiProfile, Title: o.Title, Software: o.Software, Created: waczTime(o.Now)}
	for i, some := range parts {
		p := packer{fsys: fsys, o: o, out: partName(stem, i+1), files: some, indexes: x, homes: homes}
		entry, err := p.pack()
		if err != nil {
			return err
		}
		list.Resources = append(list.Resources, entry)
	}
	text, err := json.MarshalIndent(list, "", "  ")
	if err != nil {
		return fmt.Errorf("wacz: %w", err)
	}
	return vfs.WriteAtomic(fsys, stem+".json", func(w io.Writer) error {
		_, err := w.Write(append(text, '\n'))
		return err
	})
}

// partName is the name of a WACZ file of several, counted from 1.
func partName(stem string, n int) string { return fmt.Sprintf("%s-%04d.wacz", stem, n) }

// requirement is how datapackage.json names another WACZ file. It is a convention of Browsertrix, which ReplayWeb.page
// reads: the name is that in the list.
type requirement struct {
	Filename string `json:"filename"`
}

func requirements(names []string) (all []requirement) {
	for _, name := range names {
		all = append(all, requirement{plainName(path.Base(name))})
	}
	return all
}

// filesOfPart returns how many of the first files fit into one WACZ, at least one.
func filesOfPart(fsys vfs.FS, most int64, files []string) (n int, err error) {
	var total int64
	for _, name := range files {
		size, err := fsys.Size(name)
		if err != nil {
			return 0, fmt.Errorf("wacz: %w", err)
		}
		if total += size; n > 0 && total > most {
			break
		}
		n++
	}
	return n, nil
}

// besideOf returns the path of a file that a list names, which must be beside or below the list.
func besideOf(list, name string) string { return path.Join(path.Dir(list), name) }

// verifyParts checks a list of WACZ files.
func verifyParts(fsys vfs.FS, name string, r *WACZResult, complain func(error)) error {
	text, err := vfs.ReadFile(fsys, name)
	if err != nil {
		return fmt.Errorf("wacz: %w", err)
	}
	var list multiWACZ
	if err := json.Unmarshal(text, &list); err != nil || list.Profile != multiProfile {
		complain(fmt.Errorf("%s: no list of WACZ files: its profile is not %s", name, multiProfile))
		return nil //nolint:nilerr // complain has told it
	}
	if len(list.Resources) == 0 {
		complain(fmt.Errorf("%s: it lists no WACZ file", name))
	}
	seen := make(map[string]bool)
	for _, part := range list.Resources {
		if seen[part.Path] {
			complain(fmt.Errorf("%s: %s is listed twice", name, part.Path))
			continue
		}
		seen[part.Path] = true
		if !fs.ValidPath(part.Path) {
			complain(fmt.Errorf("%s: %q is no path beside it", name, part.Path))
			continue
		}
		got, err := verifyPackage(fsys, besideOf(name, part.Path), r, complain)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			complain(fmt.Errorf("%s: %s is missing", name, part.Path))
		case err != nil:
			return err
		case got.Hash != part.Hash || got.Bytes != part.Bytes:
			complain(fmt.Errorf("%s: %s is not as listed", name, part.Path))
		}
	}
	return nil
}

// What a file in a WACZ may unpack to, in bytes: waczFree, and waczMost for each packed byte. A line counts lineCost
// more, since it is decoded alone. Lists of pages have about five bytes for each packed one. Beyond faultsMost faults a
// file is not read on.
const (
	waczFree   = 96 << 20
	waczMost   = 48
	lineCost   = 64
	faultsMost = 1000
)

// errExpands is the error of a file that unpacks to more.
var errExpands = fmt.Errorf("it unpacks to more than %d MiB and %d times its length", waczFree>>20, waczMost)

// errFaults ends the check of a file.
var errFaults = fmt.Errorf("more than %d faults: it is not read on", faultsMost)

// openEntry opens a file in a WACZ.
func openEntry(e *zip.File) (*unpacked, error) {
	f, err := e.Open()
	return bounded(f, e.CompressedSize64), err
}

// bounded returns a reader of what a file of so many bytes unpacks to.
func bounded(f io.ReadCloser, packed uint64) *unpacked {
	return &unpacked{f, waczFree + waczMost*int64(min(packed, math.MaxInt64/(2*waczMost)))}
}

type unpacked struct {
	io.ReadCloser

	room int64 // in bytes
}

func (u *unpacked) Read(p []byte) (int, error) {
	n, err := u.ReadCloser.Read(p)
	if u.room -= int64(n); u.room < 0 {
		err = errExpands
	}
	return n, err
}

// scanLines calls f for each line, numbered from 1, until f returns false. f borrows the line. onDamage is told of a
// line that is too long.
func scanLines(in io.Reader, f func(n int, line []byte) bool, onDamage func(error)) error {
	lines := cdxj.ReadLines(in, waczLineMost)
	for {
		line, err := lines.Next()
		switch {
		case err == io.EOF: //nolint:errorlint // Next returns it unwrapped
			return nil
		case errors.Is(err, cdxj.ErrLine):
			onDamage(err)
		case err != nil:
			return fmt.Errorf("line %d: %w", lines.Number, err)
		case !f(lines.Number, bytes.TrimRight(line, "\r\n")):
			return nil
		}
	}
}
