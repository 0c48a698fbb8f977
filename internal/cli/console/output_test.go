package console

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
)

// Without a reader, code that writes a message goes on at once. Messages beyond the limit are counted, and the count is
// printed when there is a reader.
func TestHostile_S17_whoSaysSomethingNeverWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		read, write := io.Pipe()
		w := New(write)
		w.Start()
		line := strings.Repeat("x", 1023) + "\n"
		const lines = 3 * outputMax / 1024
		for range lines { // in a bubble a wait would be a deadlock
			fmt.Fprint(w, line)
		}
		closed := make(chan struct{})
		go func() { w.Close(); close(closed) }()
		synctest.Wait()
		select {
		case <-closed:
			t.Error("it did not wait for what is being written")
		default:
		}
		text := make(chan string)
		go func() {
			b, err := io.ReadAll(read)
			if err != nil {
				t.Error(err)
			}
			text <- string(b)
		}()
		<-closed
		fmt.Fprint(w, "the end\n") // at once again
		if err := write.Close(); err != nil {
			t.Error(err)
		}
		got := <-text
		n := strings.Count(got, line)
		lost := 0
		for line := range strings.Lines(got) { // the writer may have found time for the first of them in between
			count := 0
			if _, err := fmt.Sscanf(line, "orbweaver: %d lines were lost", &count); err == nil {
				lost += count
			}
		}
		if lost != lines-n || n < outputMax/1024 ||
			!strings.HasSuffix(got, "\nthe end\n") {
			t.Errorf("%d lines of %d, and %q", n, lines, got[max(0, len(got)-300):])
		}
	})
}
