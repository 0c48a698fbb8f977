package load

import (
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// inNamespace does something in the network namespace of a file, and waits for it; "" is the one we are in. A socket
// stays in the namespace where it was made.
func inNamespace(name string, do func() error) error {
	if name == "" {
		return do()
	}
	f, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("network namespace: %w", err)
	}
	defer f.Close()
	ended := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // permanently: the thread ends with the goroutine, so that no other goroutine gets it
		if err := unix.Setns(int(f.Fd()), unix.CLONE_NEWNET); err != nil {
			ended <- fmt.Errorf("network namespace %s: %w", name, err)
			return
		}
		ended <- do()
	}()
	return <-ended
}
