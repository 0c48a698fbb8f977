package upload

import (
	"encoding/json"
	"fmt"
	"io"

	"orbweaver/internal/vfs"
)

// Draft keeps what a receiver must know to continue with a file after an interruption. It is gone once there is a
// receipt.
type Draft interface {
	// Load reads what was saved into v. It reports false if there is nothing, or nothing that can be read.
	Load(v any) bool
	// Save is durable when it returns.
	Save(v any) error
	Remove() error
}

// NoDraft keeps nothing.
type NoDraft struct{}

// Load implements Draft.
func (NoDraft) Load(any) bool { return false }

// Save implements Draft.
func (NoDraft) Save(any) error { return nil }

// Remove implements Draft.
func (NoDraft) Remove() error { return nil }

// DraftFile is a Draft in a file.
type DraftFile struct {
	FS   vfs.FS
	Name string
}

// draftSuffix ends the names of drafts.
const draftSuffix = ".part"

// Load implements Draft.
func (d *DraftFile) Load(v any) bool {
	b, err := vfs.ReadFile(d.FS, d.Name)
	return err == nil && json.Unmarshal(b, v) == nil
}

// Save implements Draft.
func (d *DraftFile) Save(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("upload: %w", err)
	}
	err = vfs.WriteAtomic(d.FS, d.Name, func(w io.Writer) error {
		_, err := w.Write(append(b, '\n'))
		return err
	})
	if err != nil {
		return fmt.Errorf("upload: %w", err)
	}
	return nil
}

// Remove implements Draft.
func (d *DraftFile) Remove() error {
	if err := vfs.RemoveIfExists(d.FS, d.Name); err != nil {
		return fmt.Errorf("upload: %w", err)
	}
	return nil
}
