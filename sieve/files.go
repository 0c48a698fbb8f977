package sieve

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	"orbweaver/internal/vfs"
)

// kind is the kind of a file and the first part of its name.
type kind string

const (
	kindRun     kind = "run"
	kindPending kind = "pending"
	kindMask    kind = "mask"
)

func fileName(dir string, k kind, serial uint64) string {
	return path.Join(dir, fmt.Sprintf("%s-%012d", k, serial))
}

// ours reports whether fileName can return this base name.
func ours(base string) bool {
	for _, k := range []kind{kindRun, kindPending, kindMask} {
		if digits, ok := strings.CutPrefix(base, string(k)+"-"); ok {
			serial, err := strconv.ParseUint(digits, 10, 64)
			return err == nil && path.Base(fileName("", k, serial)) == base
		}
	}
	return false
}

// storeFile is a file of the sieve with its state on disk. The file of a run never changes. A pending file grows at its
// end, and is overwritten when no checkpoint names it.
type storeFile struct {
	vfs.File
	kind   kind
	serial uint64
	// firstCheckpoint is the generation of the first checkpoint that names the file; zero if there is none.
	firstCheckpoint uint64
	synced          bool
	checkpointBytes int64 // length of a pending file in the last checkpoint
}
