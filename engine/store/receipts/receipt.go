package receipts

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"time"

	"orbweaver/engine/state/layout"
	"orbweaver/internal/vfs"
)

// Receipt says that a receiver has a file.
type Receipt struct {
	Format int    `json:"format"` // 1
	File   string `json:"file"`   // name of the WARC file
	Length int64  `json:"length"`
	// Target says where the file went. A receipt of another target does not count.
	Target string    `json:"target"`
	Sent   time.Time `json:"sent_at"`

	Object   string `json:"object,omitempty"`   // s3://BUCKET/KEY; older receipts have none
	SHA256   string `json:"sha256,omitempty"`   // of the file
	ETag     string `json:"etag,omitempty"`     // of the object
	Verified string `json:"verified,omitempty"` // how it was proved that the object has the bytes of the file
}

// Place says where the object is, for people.
func (r *Receipt) Place() string {
	if r.Object != "" {
		return r.Object
	}
	return r.Target + "/" + r.File
}

// isProof reports whether the receiver is an object store that has proved to have the bytes.
func (r *Receipt) isProof() bool { return r.Verified != "" && r.SHA256 != "" }

// receiptFormat is the format that this package writes.
const receiptFormat = 1

const receiptSuffix = ".json"

// Store is the name of the receiver that is an object store.
const Store = "store"

// Dir is the directory of the receipts of a receiver, relative to the crawl directory.
func Dir(receiver string) string { return layout.UploadsDir + "/" + receiver }

// List are the receipts of one receiver: a file each, in one directory.
type List struct {
	FS  vfs.FS
	Dir string
}

// Of reads the receipts for a target by the names of their files.
func (l *List) Of(target string) (map[string]Receipt, error) {
	known := map[string]Receipt{}
	names, err := l.names()
	if err != nil {
		return nil, err
	}
	for _, file := range names {
		one, ok, err := l.Read(file)
		if err != nil {
			return nil, err
		}
		if ok && one.Target == target {
			known[file] = one
		}
	}
	return known, nil
}

// names are the names of the files that have a receipt.
func (l *List) names() (files []string, err error) {
	names, err := l.FS.List(l.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("upload receipts: %w", err)
	}
	for _, name := range names {
		if file, ok := strings.CutSuffix(name, receiptSuffix); ok {
			files = append(files, file)
		}
	}
	return files, nil
}

// Read reads the receipt of a file. A receipt that is missing or cannot be understood does not count.
func (l *List) Read(file string) (one Receipt, ok bool, err error) {
	b, err := vfs.ReadFile(l.FS, l.path(file))
	if errors.Is(err, fs.ErrNotExist) {
		return one, false, nil
	}
	if err != nil {
		return one, false, fmt.Errorf("upload receipts: %w", err)
	}
	isReceipt := json.Unmarshal(b, &one) == nil && one.Format == receiptFormat && one.File == file && one.Length >= 0
	return one, isReceipt, nil
}

// Write makes a receipt durable.
func (l *List) Write(one *Receipt) error {
	one.Format = receiptFormat
	b, err := json.MarshalIndent(one, "", "  ")
	if err != nil {
		return fmt.Errorf("upload receipts: %w", err)
	}
	err = vfs.WriteAtomic(l.FS, l.path(one.File), func(w io.Writer) error {
		_, err := w.Write(append(b, '\n'))
		return err
	})
	if err != nil {
		return fmt.Errorf("upload receipts: %w", err)
	}
	return nil
}

// Remove removes the receipt of a file: it has proved to be wrong.
func (l *List) Remove(file string) error {
	if err := vfs.RemoveIfExists(l.FS, l.path(file)); err != nil {
		return fmt.Errorf("upload receipts: %w", err)
	}
	if err := l.FS.SyncDir(l.Dir); err != nil {
		return fmt.Errorf("upload receipts: %w", err)
	}
	return nil
}

func (l *List) path(file string) string { return path.Join(l.Dir, file+receiptSuffix) }
