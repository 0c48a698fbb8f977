//go:build !unix

package growth

import "time"

// CPU is not measured here.
func CPU() time.Duration { return 0 }
