package upload

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	"orbweaver/engine/layout"
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

	SHA256   string `json:"sha256,omitempty"`   // of the file
	ETag     string `json:"etag,omitempty"`     // of the object
	Verified string `json:"verified,omitempty"` // how it was proved that the object has the bytes of the file
}

// receiptFormat is the format that this package writes.
const receiptFormat = 1

const receiptSuffix = ".json"

// receipts are those of one receiver: a file each, in one directory.
type receipts struct {
	fsys vfs.FS
	dir  string
}

// Dir is the directory of the receipts of a receiver, relative to the crawl directory.
func Dir(receiver string) string { return layout.UploadsDir + "/" + receiver }

// open makes the directory, and reads all receipts for a target by the names of their files.
func (r *receipts) open(target string) (map[string]Receipt, error) {
	if err := r.fsys.MkdirAll(r.dir); err != nil {
		return nil, fmt.Errorf("upload: %w", err)
	}
	return r.of(target)
}

// of reads the receipts for a target.
func (r *receipts) of(target string) (map[string]Receipt, error) {
	known := map[string]Receipt{}
	return known, r.each(func(one *Receipt) {
		if one.Target == target {
			known[one.File] = *one
		}
	})
}

// Receipts returns the receipts of a receiver by the names of their files.
func Receipts(fsys vfs.FS, dir string, of Receiver) (map[string]Receipt, error) {
	r := receipts{fsys: fsys, dir: dir + "/" + Dir(of.Name())}
	return r.of(of.Target())
}

// each visits all receipts. A receipt that cannot be read does not count: its file is sent again.
func (r *receipts) each(visit func(*Receipt)) error {
	names, err := r.fsys.List(r.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("upload: %w", err)
	}
	for _, name := range names {
		file, ok := strings.CutSuffix(name, receiptSuffix)
		if !ok {
			continue
		}
		b, err := vfs.ReadFile(r.fsys, r.dir+"/"+name)
		if err != nil {
			return fmt.Errorf("upload: %w", err)
		}
		var one Receipt
		if json.Unmarshal(b, &one) == nil && one.Format == receiptFormat && one.File == file {
			visit(&one)
		}
	}
	return nil
}

// write makes a receipt durable.
func (r *receipts) write(one *Receipt) error {
	one.Format = receiptFormat
	b, err := json.MarshalIndent(one, "", "  ")
	if err != nil {
		return fmt.Errorf("upload: %w", err)
	}
	err = vfs.WriteAtomic(r.fsys, r.dir+"/"+one.File+receiptSuffix, func(w io.Writer) error {
		_, err := w.Write(append(b, '\n'))
		return err
	})
	if err != nil {
		return fmt.Errorf("upload: receipt: %w", err)
	}
	return nil
}
