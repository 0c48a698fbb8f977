package process

import (
	"os"
	"strconv"
	"strings"
	"time"
)

// BootClock tells which run of this machine it is, and for how long, where the system says so: on Linux. Elsewhere
// nothing is known.
func BootClock() (boot string, up time.Duration) {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", 0
	}
	text, err := os.ReadFile("/proc/uptime")
	if err != nil {
		return "", 0
	}
	first, _, _ := strings.Cut(string(text), " ")
	seconds, err := strconv.ParseFloat(first, 64)
	if err != nil {
		return "", 0
	}
	return strings.TrimSpace(string(id)), time.Duration(seconds * float64(time.Second))
}
