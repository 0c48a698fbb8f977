package warctool

import (
	"encoding/json"
	"fmt"
	"io"
	"path"
	"strings"

	"orbweaver/internal/vfs"
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
func packParts(fsys vfs.FS, out string, o WACZOptions, files []string) error {
	stem := strings.TrimSuffix(out, ".wacz")
	known := newIndexes(fsys, files)
	list := multiWACZ{Profile: multiProfile, Title: o.Title, Software: o.Software, Created: waczTime(o.Now)}
	for len(files) > 0 {
		n, err := filesOfPart(fsys, o.SizeMost, files)
		if err != nil {
			return err
		}
		p := packer{
			fsys: fsys, o: o, out: fmt.Sprintf("%s-%04d.wacz", stem, len(list.Resources)+1), files: files[:n], indexes: known,
		}
		entry, err := p.pack()
		if err != nil {
			return err
		}
		list.Resources = append(list.Resources, entry)
		files = files[n:]
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
