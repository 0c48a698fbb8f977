package layout

import (
	"errors"
	"strings"
	"testing"

	"orbweaver/internal/vfs"
)

// Only one process works in a crawl directory, and the error names the other one.
func TestLock_admitsOneProcess(t *testing.T) {
	disk := vfs.NewMem(1)
	lock, err := Lock(disk, "crawl")
	if err != nil {
		t.Fatal(err)
	}
	if err := WriteOwner(disk, "crawl/"+FrontierDir, "boot-1"); err != nil {
		t.Fatal(err)
	}
	if _, err := Lock(disk, "crawl"); !errors.Is(err, ErrInUse) || !strings.Contains(err.Error(), "boot boot-1") {
		t.Errorf("the second lock: %v", err)
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	if lock, err = Lock(disk, "crawl"); err != nil {
		t.Fatalf("after Close: %v", err)
	}
	if err := lock.Close(); err != nil {
		t.Error(err)
	}
}
