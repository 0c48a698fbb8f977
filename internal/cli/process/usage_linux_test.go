package process

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"testing"
)

// The memory of the process that starts the program is not that of the program.
func TestUsage_leavesOutTheParent(t *testing.T) {
	if os.Getenv("PRINT_USAGE") != "" {
		_, peak := Usage()
		fmt.Println(peak)
		os.Exit(0)
	}
	ballast := make([]byte, 256<<20)
	for i := 0; i < len(ballast); i += 4096 {
		ballast[i] = 1
	}
	cmd := exec.Command(os.Args[0], "-test.run", "TestUsage_leavesOutTheParent")
	cmd.Env = append(os.Environ(), "PRINT_USAGE=1")
	out, err := cmd.Output()
	runtime.KeepAlive(ballast)
	if err != nil {
		t.Fatal(err)
	}
	peak, err := strconv.ParseInt(string(out[:max(0, len(out)-1)]), 10, 64)
	if err != nil || peak <= 0 || peak > 128<<20 {
		t.Errorf("%q: %v", out, err)
	}
	if _, own := Usage(); own < 256<<20 {
		t.Errorf("%d bytes here", own)
	}
}
