//go:build !unix

package post

import "time"

// processTime is not known here.
func processTime() time.Duration { return 0 }
