package receivers

import (
	"orbweaver/engine/upload/receipts"
	"orbweaver/internal/vfs"
	"orbweaver/warc/waczfs"
)

// Disk returns the disk for commands that read archives: WACZ files are directories, and WARC files that were removed
// here are listed.
func Disk() *receipts.Disk { return receipts.Over(waczfs.Over(vfs.Disk())) }
